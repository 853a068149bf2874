//! Local memory: channels with a rate and an access time, and optional banks with open rows. Not
//! modeled: refresh, the turn from reads to writes, groups of banks.

use sim_core::{Cycle, LINE_BYTES, LineAddr};

use crate::config::DramConfig;
use crate::uncore::home_node::fold;
use crate::units::bandwidth::Bandwidth;

/// Memory channels of one chip.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    channels: Box<[Bandwidth]>,
    access_cycles: Cycle,
    /// Banks of all channels, those of one channel together; empty if rows are not modeled.
    banks: Box<[Bank]>,
    rows: Rows,
}

/// Sizes and times of the rows of banks.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// Binary logarithm of the lines that the rows of all channels with one number have.
    lines_log2: u32,
    /// Binary logarithm of the banks of a channel.
    banks_log2: u32,
    activate: Cycle,
    precharge: Cycle,
    active: Cycle,
}

/// A bank: the row that it opened last.
#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    /// Number of the row plus 1; 0 if it never opened one.
    row: u64,
    /// Cycle in which the row began to open.
    opened: Cycle,
    /// Cycle of the last access to it.
    last: Cycle,
}

impl Bank {
    /// Accesses a row at `at`, and opens it if it is not open. Returns the cycle in which the row
    /// is open for the access. A row that had no access for the shortest time that it is open is
    /// closed meanwhile; before that it is closed for another row.
    fn access(&mut self, row: u64, at: Cycle, rows: &Rows) -> Cycle {
        let is_idle = at > self.last.saturating_add(rows.active);
        let is_open = self.row == row + 1 && !is_idle;
        if !is_open {
            let closed = self.opened.saturating_add(rows.active + rows.precharge);
            self.opened = match self.row {
                0 => at,
                _ if is_idle => at.max(closed),
                _ => closed.max(at.saturating_add(rows.precharge)),
            };
            self.row = row + 1;
        }
        self.last = at.max(self.opened.saturating_add(rows.activate));
        self.last
    }
}

impl Dram {
    /// Creates idle channels, with closed rows.
    pub(crate) fn new(config: &DramConfig) -> Dram {
        let lines = u64::from(config.row_bytes) / LINE_BYTES * u64::from(config.channels);
        let banks = config.channels as usize * config.banks as usize;
        Dram {
            channels: vec![Bandwidth::rate(1, config.line_cycles); config.channels as usize].into(),
            access_cycles: config.access_cycles.into(),
            banks: vec![Bank::default(); banks].into(),
            rows: Rows {
                lines_log2: lines.max(1).ilog2(),
                banks_log2: config.banks.max(1).ilog2(),
                activate: config.activate_cycles.into(),
                precharge: config.precharge_cycles.into(),
                active: config.active_cycles.into(),
            },
        }
    }

    /// Returns the channel of a line.
    pub(crate) fn channel_of(&self, line: LineAddr) -> u32 {
        fold(line.0, self.channels.len().trailing_zeros()) as u32
    }

    /// Reads or writes a line whose request reaches its controller at `at`. Returns when it is
    /// done.
    pub(crate) fn access(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let channel = self.channel_of(line) as usize;
        if self.banks.is_empty() {
            return self.channels[channel].book(at) + self.access_cycles;
        }
        let Rows { lines_log2, banks_log2, activate, .. } = self.rows;
        let row = line.0 >> lines_log2;
        let bank = channel << banks_log2 | fold(row, banks_log2) as usize;
        let open = self.banks[bank].access(row, at, &self.rows);
        // The time of an access includes the opening of its row.
        self.channels[channel].book(open) + self.access_cycles - activate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(banks: u32) -> DramConfig {
        DramConfig {
            access_cycles: 255,
            channels: 2,
            line_cycles: 5,
            banks,
            row_bytes: 1024,
            activate_cycles: 40,
            precharge_cycles: 30,
            active_cycles: 90,
        }
    }

    /// Returns the lines of channel 0 in a row, and those in another row of the same bank.
    fn rows(dram: &Dram) -> (Vec<LineAddr>, Vec<LineAddr>) {
        let of_channel = |row: u64| {
            let lines = (row * 32..(row + 1) * 32).map(LineAddr);
            lines.filter(|line| dram.channel_of(*line) == 0).collect::<Vec<_>>()
        };
        let bank = |row: u64| fold(row, 2);
        let other = (1..).find(|row| bank(*row) == bank(0)).expect("a bank has many rows");
        (of_channel(0), of_channel(other))
    }

    #[test]
    fn an_open_row_saves_its_opening_and_an_idle_one_is_closed() {
        let mut dram = Dram::new(&config(4));
        let (row, _) = rows(&dram);
        assert_eq!(row.len(), 16, "half of the lines of two channels with rows of 1024 bytes");
        assert_eq!(dram.access(row[0], 1000), 1255, "a closed row");
        assert_eq!(dram.access(row[1], 1060), 1060 + 255 - 40, "an open row");
        assert_eq!(dram.access(row[2], 1150), 1150 + 255 - 40, "90 cycles later it is open");
        assert_eq!(dram.access(row[3], 1241), 1241 + 255, "after 91 cycles it is closed");
    }

    #[test]
    fn no_line_comes_from_a_row_before_it_is_open() {
        let mut dram = Dram::new(&config(4));
        let (row, _) = rows(&dram);
        assert_eq!(dram.access(row[0], 1000), 1255);
        for line in &row[1..4] {
            let done = dram.access(*line, 1001);
            assert!(done >= 1255, "the row opens at 1040: {done}");
        }
    }

    #[test]
    fn another_row_of_the_bank_waits_until_the_open_one_is_closed() {
        let mut dram = Dram::new(&config(4));
        let (row, other) = rows(&dram);
        assert_eq!(dram.access(row[0], 1000), 1255);
        // The row stays open for 90 cycles and takes 30 to close: the other one opens at 1120.
        assert_eq!(dram.access(other[0], 1020), 1120 + 255);
        assert_eq!(dram.access(other[1], 1200), 1200 + 255 - 40);
        // At 1260 the row has been open long enough, so that it only takes 30 to close.
        assert_eq!(dram.access(row[0], 1260), 1260 + 30 + 255);
    }

    #[test]
    fn a_closed_row_opens_no_sooner_than_its_bank_can() {
        let mut dram = Dram::new(&DramConfig { precharge_cycles: 300, ..config(4) });
        let (row, other) = rows(&dram);
        assert_eq!(dram.access(row[0], 1000), 1255);
        assert_eq!(dram.access(other[0], 1140), 1000 + 90 + 300 + 255);
    }

    #[test]
    fn without_banks_every_access_takes_the_same_time() {
        let mut dram = Dram::new(&config(0));
        for (n, line) in (0..).map(|n| (n, LineAddr(n * 77))).take(200) {
            assert_eq!(dram.access(line, 1000 * n), 1000 * n + 255);
        }
    }
}
