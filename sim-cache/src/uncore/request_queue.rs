//! The queue of requests of a home node (POCQ): a request takes an entry when it arrives and frees
//! it when its transaction ends. CMN-700, key `memory.slc.queue-entries`.
//!
//! A request that finds every entry taken is sent back. The home node reserves the entry that is
//! freed first for it and grants a credit, with which the request is sent again. A request to a
//! line of a transaction that has not ended waits in its entry (`memory.slc.line-hazards`).
//! Requests do not come in time order, so entries remember their gaps, as [`Mshrs`] do. Not
//! modeled: classes of service.

use sim_core::{Cycle, LineAddr};

use crate::config::SlcConfig;
use crate::units::mshr::{FreeRegister, Mshrs};

/// Transaction that held an entry last: active in `start..end`.
#[derive(Clone, Copy, Debug, Default)]
struct Transaction {
    line: LineAddr,
    start: Cycle,
    end: Cycle,
}

/// Queue of one home node.
#[derive(Clone, Debug)]
pub(crate) struct RequestQueue {
    entries: Mshrs,
    transactions: Box<[Transaction]>,
    line_hazards: bool,
}

/// Entry of a request whose end is not known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    free: FreeRegister,
    /// Cycle in which the request is accepted.
    pub(crate) accepted: Cycle,
}

impl RequestQueue {
    /// Creates an empty queue. Returns `None` if the number of entries is not limited.
    pub(crate) fn new(config: &SlcConfig) -> Option<RequestQueue> {
        let entries = config.queue_entries;
        (entries > 0).then(|| RequestQueue {
            entries: Mshrs::new(entries),
            transactions: vec![Transaction::default(); entries as usize].into(),
            line_hazards: config.line_hazards,
        })
    }

    /// Returns the entry for a request that arrives at `at`. It is free later than `at` if the
    /// request has to be sent back.
    pub(crate) fn find(&self, at: Cycle) -> FreeRegister {
        self.entries.find(at)
    }

    /// Returns when no earlier transaction of the line is active, for a request that is accepted at
    /// `at`.
    pub(crate) fn line_is_free(&self, line: LineAddr, at: Cycle) -> Cycle {
        if !self.line_hazards {
            return at;
        }
        let active = |transaction: &&Transaction| {
            transaction.line == line && (transaction.start..transaction.end).contains(&at)
        };
        let ends = self.transactions.iter().filter(active).map(|transaction| transaction.end);
        ends.max().unwrap_or(at)
    }

    /// Accepts a request at `at` into the entry that [`RequestQueue::find`] returned.
    pub(crate) fn accept(free: FreeRegister, at: Cycle) -> Entry {
        Entry { free, accepted: at }
    }

    /// Ends the transaction of a line at `end`. Returns the cycles for which its entry was taken,
    /// those of a reserved entry included.
    pub(crate) fn end(&mut self, entry: Entry, line: LineAddr, end: Cycle) -> Cycle {
        self.entries.hold(entry.free, end);
        let transaction = Transaction { line, start: entry.accepted, end };
        self.transactions[entry.free.index()] = transaction;
        end - entry.free.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReplacementKind;

    fn queue(entries: u32, line_hazards: bool) -> Option<RequestQueue> {
        RequestQueue::new(&SlcConfig {
            slices: 1,
            slice_bytes: 0,
            ways: 1,
            replacement: ReplacementKind::Lru,
            home_node_cycles: 0,
            queue_entries: entries,
            line_hazards,
        })
    }

    /// Runs a transaction that takes 100 cycles from its turn on; returns its turn.
    fn run(queue: &mut RequestQueue, line: u64, at: Cycle) -> Cycle {
        let free = queue.find(at);
        let accepted = free.from;
        let turn = queue.line_is_free(LineAddr(line), accepted);
        queue.end(RequestQueue::accept(free, accepted), LineAddr(line), turn + 100);
        turn
    }

    #[test]
    fn a_third_request_waits_for_the_first_of_two_entries() {
        let mut queue = queue(2, true).expect("two entries");
        let turns = [(1, 10), (2, 20), (3, 30)].map(|(line, at)| run(&mut queue, line, at));
        assert_eq!(turns, [10, 20, 110]);
    }

    #[test]
    fn requests_to_one_line_end_before_the_next_begins() {
        let mut exact = queue(8, true).expect("eight entries");
        let turns = [10, 20, 30].map(|at| run(&mut exact, 1, at));
        assert_eq!(turns, [10, 110, 210]);
        assert_eq!(run(&mut exact, 1, 310), 310, "the line is free again");
        let mut free = queue(8, false).expect("eight entries");
        assert_eq!([10, 20].map(|at| run(&mut free, 1, at)), [10, 20]);
    }

    #[test]
    fn a_request_of_an_earlier_cycle_does_not_wait_for_a_later_one() {
        let mut queue = queue(8, true).expect("eight entries");
        assert_eq!([1000, 500].map(|at| run(&mut queue, 1, at)), [1000, 500]);
    }

    #[test]
    fn no_entries_are_no_limit() {
        assert!(queue(0, true).is_none());
    }
}
