//! The bus port of one core: CHI transactions and data beats between the L2 and the mesh.
//!
//! PMU guide 4.6.2, the 256-bit channels: one read beat and one write beat per cycle, and at most
//! two transactions start in one cycle (a third waits).

use sim_core::{Cycle, EventSink, LINE_BYTES, Notice, PmuEvent, VirtAddr};

use crate::config::{BusConfig, BusUnit};
use crate::units::bandwidth::Bandwidth;

/// Request and data channels of one core.
#[derive(Clone, Debug)]
pub(crate) struct BusPort {
    transactions: Bandwidth,
    read_beats: Bandwidth,
    read_lines: Bandwidth,
    write_beats: Bandwidth,
    write_lines: Bandwidth,
    beat_bytes: u64,
    unit: BusUnit,
    /// Bytes that passed the channels so far, whether events count them or not.
    moved: BytesMoved,
}

/// Bytes of data that passed a core's bus port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BytesMoved {
    /// Bytes into the core.
    pub(crate) read: u64,
    /// Bytes out of the core: written back, sent to an outer cache, or returned for a snoop.
    pub(crate) written: u64,
}

impl BusPort {
    /// Creates idle channels.
    pub(crate) fn new(config: &BusConfig, unit: BusUnit) -> BusPort {
        BusPort {
            transactions: Bandwidth::per_cycle(config.transactions_per_cycle),
            read_beats: Bandwidth::per_cycle(1),
            read_lines: Bandwidth::rate(config.read_bytes_per_cycle, LINE_BYTES as u32),
            write_beats: Bandwidth::per_cycle(1),
            write_lines: Bandwidth::rate(config.write_bytes_per_cycle, LINE_BYTES as u32),
            beat_bytes: config.beat_bytes.into(),
            unit,
            moved: BytesMoved::default(),
        }
    }

    /// Starts a transaction with `bytes` of data at the first free cycle and counts it under
    /// `event`. Returns that cycle. All transactions are counted here, so no cycle counts more than
    /// the bus starts.
    #[track_caller]
    pub(crate) fn transaction<S: EventSink>(
        &mut self,
        event: PmuEvent,
        bytes: u64,
        at: Cycle,
        sink: &mut S,
    ) -> Cycle {
        let start = self.transactions.book(at);
        sink.notify(Notice::At(start));
        match self.unit {
            BusUnit::Transaction => sink.raise(event),
            BusUnit::Beats => sink.count(event, bytes.div_ceil(self.beat_bytes)),
        }
        start
    }

    /// Returns the bytes of each transaction of an access inside a line of memory that no cache
    /// holds. Transactions are aligned and at most as wide as the bus (3.2.16, 4.6.2), so an access
    /// that crosses the width is split. A whole line is one transaction, as for cacheable memory.
    pub(crate) fn uncached_parts(
        &self,
        addr: VirtAddr,
        bytes: u64,
    ) -> impl Iterator<Item = u64> + use<> {
        let mut at = addr.0 % LINE_BYTES;
        let end = at + bytes;
        let width = if bytes < LINE_BYTES { self.beat_bytes } else { LINE_BYTES };
        std::iter::from_fn(move || {
            let part = end.min(at / width * width + width) - at;
            at += part;
            (part > 0).then_some(part)
        })
    }

    /// Starts a message without data, which no event counts, at the first free cycle. Returns that
    /// cycle.
    pub(crate) fn message(&mut self, at: Cycle) -> Cycle {
        self.transactions.book(at)
    }

    /// Adds the data of a transaction that is not a whole cache line to the totals.
    pub(crate) fn note_moved(&mut self, moved: BytesMoved) {
        self.moved.read += moved.read;
        self.moved.written += moved.written;
    }

    /// Returns the bytes moved so far.
    pub(crate) fn moved(&self) -> BytesMoved {
        self.moved
    }

    /// Receives the beats of a line. Returns when the first (critical) one arrives.
    pub(crate) fn receive_line(&mut self, at: Cycle) -> Cycle {
        self.moved.read += LINE_BYTES;
        let first = self.read_beats.book(self.read_lines.book(at));
        let mut last = first;
        for _ in 1..LINE_BYTES / self.beat_bytes {
            last = self.read_beats.book(last + 1);
        }
        first
    }

    /// Sends the beats of a line. Returns when the last one has left.
    pub(crate) fn send_line(&mut self, at: Cycle) -> Cycle {
        self.moved.written += LINE_BYTES;
        let mut last = self.write_beats.book(self.write_lines.book(at));
        for _ in 1..LINE_BYTES / self.beat_bytes {
            last = self.write_beats.book(last + 1);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Counts;

    fn port(unit: BusUnit) -> BusPort {
        let config = BusConfig {
            interface_cycles: 6,
            transactions_per_cycle: 2,
            beat_bytes: 32,
            read_bytes_per_cycle: 32,
            write_bytes_per_cycle: 32,
            peer_cycles: 50,
            device_cycles: 300,
        };
        BusPort::new(&config, unit)
    }

    #[test]
    fn a_line_takes_two_beats_of_the_channel() {
        let mut bus = port(BusUnit::Beats);
        assert_eq!(
            [bus.receive_line(10), bus.receive_line(10), bus.receive_line(10)],
            [10, 12, 14]
        );
        assert_eq!([bus.send_line(10), bus.send_line(10)], [11, 13]);
        assert_eq!(bus.moved(), BytesMoved { read: 3 * 64, written: 2 * 64 });
        let mut counts = Counts::default();
        bus.transaction(PmuEvent::BUS_ACCESS_RD, 64, 5, &mut counts);
        bus.transaction(PmuEvent::BUS_ACCESS_WR, 0, 5, &mut counts);
        assert_eq!(counts.value(PmuEvent::BUS_ACCESS), 2, "a message without data has no beat");
    }

    #[test]
    fn an_uncached_access_is_cut_at_the_width_of_the_bus() {
        let bus = port(BusUnit::Transaction);
        let parts = |addr, bytes| bus.uncached_parts(VirtAddr(addr), bytes).collect::<Vec<u64>>();
        assert_eq!(parts(0x8018, 8), [8]);
        assert_eq!(parts(0x801C, 8), [4, 4]);
        assert_eq!(parts(0x8001, 16), [16]);
        assert_eq!(parts(0x8038, 8), [8]);
        assert_eq!(parts(0x8000, 64), [64], "a whole line goes at once");
    }

    #[test]
    fn a_third_transaction_of_a_cycle_waits_and_none_is_lost() {
        // PMU guide 4.6.2: at most two counts in one cycle
        let (mut bus, mut counts) = (port(BusUnit::Transaction), Counts::default());
        let kinds = [PmuEvent::BUS_ACCESS_RD, PmuEvent::BUS_ACCESS_WR, PmuEvent::BUS_ACCESS];
        let starts = kinds.map(|kind| bus.transaction(kind, 64, 5, &mut counts));
        assert_eq!(starts, [5, 5, 6]);
        assert_eq!(counts.value(PmuEvent::BUS_ACCESS), 3);
    }
}
