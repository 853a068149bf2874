//! Local memory: channels with a rate and an access time, optional banks with open rows, and an
//! optional queue of writes at each channel. Not modeled: refresh, the turn from reads to writes,
//! groups of banks.

use sim_core::{Cycle, LINE_BYTES, LineAddr};

use crate::config::DramConfig;
use crate::uncore::home_node::fold;
use crate::uncore::write_queue::{Waiting, WriteQueue};
use crate::units::bandwidth::Bandwidth;

/// Memory channels of one chip.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    channels: Box<[Bandwidth]>,
    access_cycles: Cycle,
    /// Banks of all channels, those of one channel together; empty if rows are not modeled.
    banks: Box<[Bank]>,
    rows: Rows,
    /// Queues of writes, one for each channel; empty if they have no limit.
    writes: Box<[WriteQueue]>,
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
        let queues = if config.write_entries > 0 { config.channels } else { 0 };
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
            writes: vec![WriteQueue::new(config.write_entries); queues as usize].into(),
        }
    }

    /// Returns the channel of a line.
    pub(crate) fn channel_of(&self, line: LineAddr) -> u32 {
        fold(line.0, self.channels.len().trailing_zeros()) as u32
    }

    /// Reads a line whose request reaches its controller at `at`, or writes it if writes have no
    /// queue. Returns when it is done. A read does not wait for writes in a queue.
    pub(crate) fn access(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        // The time of an access includes the opening of its row.
        let opening = if self.banks.is_empty() { 0 } else { self.rows.activate };
        self.transfer(line, at) + self.access_cycles - opening
    }

    /// Returns the first free cycle of the channel of a line at or after `at`, in which its
    /// transfer begins, after its row is open.
    fn transfer(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let channel = self.channel_of(line) as usize;
        let open = if self.banks.is_empty() { at } else { self.open(line, at) };
        self.channels[channel].book(open)
    }

    /// Returns when the row of a line is open for an access at `at`.
    fn open(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let Rows { lines_log2, banks_log2, .. } = self.rows;
        let row = line.0 >> lines_log2;
        let channel = self.channel_of(line) as usize;
        let bank = channel << banks_log2 | fold(row, banks_log2) as usize;
        self.banks[bank].access(row, at, &self.rows)
    }

    /// Returns whether writes have queues of limited length.
    pub(crate) fn limits_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Puts a line whose write reaches its controller at `at` into the queue of its channel.
    /// Returns when the queue has room for it: at `at`, or when the transfer of a waiting line
    /// begins.
    pub(crate) fn write(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let channel = self.channel_of(line) as usize;
        let queue = &mut self.writes[channel];
        let mut room = at;
        if queue.is_full() {
            let waits = queue.is_full_at(at);
            let Some(first) = queue.take_first(at) else {
                self.transfer(line, at);
                return at;
            };
            let left = self.send_off(first, at);
            room = if waits { at.max(left) } else { at };
        }
        self.writes[channel].push(line, at, room);
        room
    }

    /// Sends a line of a queue to memory at `at`, or in an earlier cycle that its channel has had
    /// free. Returns the cycle in which its transfer begins.
    fn send_off(&mut self, waiting: Waiting, at: Cycle) -> Cycle {
        let channel = self.channel_of(waiting.line) as usize;
        let now = at.max(waiting.ready);
        // If it left earlier, its row took as many cycles to open as it takes now.
        let opening = if self.banks.is_empty() { 0 } else { self.open(waiting.line, now) - now };
        self.channels[channel].book(waiting.ready + opening)
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
            write_entries: 0,
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

    /// Returns a channel whose lines take 16 cycles each, with a queue of two writes.
    fn two_writes() -> Dram {
        Dram::new(&DramConfig { channels: 1, line_cycles: 16, write_entries: 2, ..config(0) })
    }

    /// Cycle in which the channel can begin with a line.
    const BEGIN: Cycle = 1600;

    #[test]
    fn a_write_that_finds_two_waiting_enters_when_the_first_of_them_leaves() {
        let mut dram = two_writes();
        let entered = [0, 1, 2, 3, 4].map(|line| dram.write(LineAddr(line), BEGIN) - BEGIN);
        // The third one sends the first off at once.
        assert_eq!(entered, [0, 0, 0, 16, 32]);
        // Both lines that wait came at the begin; the channel has been free since 48.
        let later = [5, 6, 7, 8].map(|line| dram.write(LineAddr(line), BEGIN + 100) - BEGIN);
        assert_eq!(later, [100, 100, 100, 112]);
    }

    #[test]
    fn a_read_does_not_wait_for_writes_in_the_queue_and_they_use_the_cycles_that_it_leaves() {
        let mut dram = two_writes();
        let access = 255;
        assert_eq!([0, 1].map(|line| dram.write(LineAddr(line), BEGIN)), [BEGIN; 2]);
        let reads = [2, 3].map(|line| dram.access(LineAddr(line), BEGIN) - BEGIN - access);
        assert_eq!(reads, [0, 16]);
        // Both slots are taken by reads: the queue is full until the third one.
        assert_eq!(dram.write(LineAddr(4), BEGIN) - BEGIN, 32);
        assert_eq!(dram.access(LineAddr(5), BEGIN) - BEGIN - access, 48);
    }

    #[test]
    fn a_write_does_not_wait_for_those_of_later_cycles() {
        let mut dram = two_writes();
        assert_eq!([0, 1].map(|line| dram.write(LineAddr(line), 9600)), [9600; 2]);
        assert_eq!([2, 3].map(|line| dram.write(LineAddr(line), BEGIN) - BEGIN), [0, 0]);
        assert_eq!([4, 5].map(|line| dram.write(LineAddr(line), 9600) - 9600), [0, 16]);
    }

    #[test]
    fn the_line_that_came_first_leaves_first_and_those_of_the_same_cycle_take_entries() {
        let mut dram = two_writes();
        // Lines 0 and 1 are met in the other order of time.
        assert_eq!(dram.write(LineAddr(0), BEGIN + 64), BEGIN + 64);
        assert_eq!(dram.write(LineAddr(1), BEGIN), BEGIN);
        assert_eq!(dram.write(LineAddr(2), BEGIN + 64), BEGIN + 64);
        assert_eq!(dram.access(LineAddr(9), BEGIN) - BEGIN - 255, 16, "line 1 has the first slot");
        // Both lines that wait came in this cycle: one leaves at once, the other a slot later.
        assert_eq!([3, 4].map(|line| dram.write(LineAddr(line), BEGIN + 64) - BEGIN), [64, 80]);
    }

    #[test]
    fn the_opening_of_a_row_delays_no_write_of_an_idle_channel() {
        let mut dram = Dram::new(&DramConfig { write_entries: 2, ..config(4) });
        let (row, other) = rows(&dram);
        for (n, line) in (0..).zip(&row[..8]) {
            assert_eq!(dram.write(*line, BEGIN + 1000 * n), BEGIN + 1000 * n);
        }
        assert_eq!(dram.write(other[0], BEGIN), BEGIN, "it came before all that wait");
    }

    #[test]
    fn a_bank_is_accessed_when_a_waiting_line_is_sent_off() {
        let mut dram = Dram::new(&DramConfig { write_entries: 1, ..config(4) });
        let (row, _) = rows(&dram);
        assert_eq!(dram.write(row[0], 1000), 1000);
        assert_eq!(dram.access(row[1], 5000), 5000 + 255, "the read opens the row");
        assert_eq!(dram.access(row[2], 5100), 5100 + 255 - 40);
        assert_eq!(dram.write(row[3], 5110), 5110, "the first line goes to the open row");
        assert_eq!(dram.access(row[4], 5150), 5150 + 255 - 40, "the row is still open");
    }

    #[test]
    fn a_write_waits_until_the_row_of_the_oldest_line_is_open() {
        let mut dram = Dram::new(&DramConfig { write_entries: 1, ..config(4) });
        let (row, other) = rows(&dram);
        let is_elsewhere = |line: &LineAddr| {
            dram.channel_of(*line) == 0 && fold(line.0 >> dram.rows.lines_log2, 2) != fold(0, 2)
        };
        let lines: Vec<LineAddr> = (0..1000).map(LineAddr).filter(is_elsewhere).collect();
        let all = [row[0], other[0], lines[0], lines[1]];
        let entered = all.map(|line| dram.write(line, BEGIN) - BEGIN);
        // The second line closes the row of the first, after 90 cycles, in 30. The third has
        // another bank, and no entry before 160: its row opens 40 cycles later.
        assert_eq!(entered, [0, 40, 40 + 120, 160 + 40]);
    }
}
