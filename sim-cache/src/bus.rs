//! The bus port of one core: CHI transactions and data beats between the L2 and the mesh.
//!
//! PMU guide 4.6.2, facts on the 256-bit channels: one read beat and one write beat per cycle, and
//! not more than two transactions start in one cycle (a third waits).

use sim_core::{Cycle, EventSink, LINE_BYTES, PmuEvent};

use crate::calendar::Calendar;
use crate::config::{BusConfig, BusUnit};

/// Request and data channels of one core.
#[derive(Clone, Debug)]
pub(crate) struct BusPort {
    transactions: Calendar,
    read_beats: Calendar,
    read_lines: Calendar,
    write_beats: Calendar,
    beat_bytes: u64,
    unit: BusUnit,
}

impl BusPort {
    /// Idle channels.
    pub(crate) fn new(config: &BusConfig, unit: BusUnit) -> BusPort {
        BusPort {
            transactions: Calendar::per_cycle(config.transactions_per_cycle),
            read_beats: Calendar::per_cycle(1),
            read_lines: Calendar::rate(config.read_bytes_per_cycle, LINE_BYTES as u32),
            write_beats: Calendar::per_cycle(1),
            beat_bytes: config.beat_bytes.into(),
            unit,
        }
    }

    /// Starts a transaction at the first free cycle.
    pub(crate) fn start(&mut self, at: Cycle) -> Cycle {
        self.transactions.book(at)
    }

    /// Takes in the beats of a line; when the first (critical) one is here.
    pub(crate) fn receive_line(&mut self, at: Cycle) -> Cycle {
        let first = self.read_beats.book(self.read_lines.book(at));
        let mut last = first;
        for _ in 1..LINE_BYTES / self.beat_bytes {
            last = self.read_beats.book(last + 1);
        }
        first
    }

    /// Sends the beats of a line; when the last one has left.
    pub(crate) fn send_line(&mut self, at: Cycle) -> Cycle {
        let mut last = self.write_beats.book(at);
        for _ in 1..LINE_BYTES / self.beat_bytes {
            last = self.write_beats.book(last + 1);
        }
        last
    }

    /// Raises `BUS_ACCESS_RD` or `BUS_ACCESS_WR` for one transaction with `bytes` of data.
    pub(crate) fn count<S: EventSink>(&self, event: PmuEvent, bytes: u64, sink: &mut S) {
        match self.unit {
            BusUnit::Transaction => sink.raise(event),
            BusUnit::Beats => sink.count(event, bytes.div_ceil(self.beat_bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_two_beats_of_the_channel() {
        let config = BusConfig {
            interface_cycles: 6,
            transactions_per_cycle: 2,
            beat_bytes: 32,
            read_bytes_per_cycle: 32,
            peer_cycles: 50,
            remote_cycles: 500,
            device_cycles: 300,
        };
        let mut bus = BusPort::new(&config, BusUnit::Beats);
        assert_eq!(
            [bus.receive_line(10), bus.receive_line(10), bus.receive_line(10)],
            [10, 12, 14]
        );
        assert_eq!([bus.send_line(10), bus.send_line(10)], [11, 13]);
        assert_eq!([bus.start(5), bus.start(5), bus.start(5)], [5, 5, 6]);
    }
}
