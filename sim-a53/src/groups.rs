//! Counts of groups of static instructions, such as the functions of a program.

use crate::event::{A53Condition, A53Counts, A53Event, A53Sink};

/// A sink that counts for each group of instructions.
///
/// Cycles and stalls belong to the instruction that the core waited for: those from the issue
/// before it to its own.
#[derive(Clone, Debug)]
pub(crate) struct GroupSink<'a> {
    /// Group of each static instruction.
    groups: &'a [u32],
    current: usize,
    /// Last cycle that has a group.
    until: u64,
    /// Counts by group.
    pub(crate) counts: Vec<A53Counts>,
    total: A53Counts,
}

impl<'a> GroupSink<'a> {
    /// Creates a sink for the groups from 0 to the largest in `groups`.
    pub(crate) fn new(groups: &'a [u32]) -> GroupSink<'a> {
        let count = groups.iter().max().map_or(1, |last| *last as usize + 1);
        let counts = vec![A53Counts::default(); count];
        GroupSink { groups, current: 0, until: 0, counts, total: A53Counts::default() }
    }
}

impl AsRef<A53Counts> for GroupSink<'_> {
    fn as_ref(&self) -> &A53Counts {
        &self.total
    }
}

fn is_clock(event: A53Event) -> bool {
    matches!(event, A53Event::CPU_CYCLES | A53Event::BUS_CYCLES)
}

impl A53Sink for GroupSink<'_> {
    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.total.raise(event, cycle, times);
        // The core raises all of its cycles when it ends, with the same number for both clocks.
        let times = if is_clock(event) { times.saturating_sub(self.until) } else { times };
        self.counts[self.current].raise(event, cycle, times);
    }

    #[inline]
    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.total.signal(condition, cycle, times);
        self.counts[self.current].signal(condition, cycle, times);
    }

    #[inline]
    fn begin(&mut self, inst: u32, cycle: u64) {
        for clock in [A53Event::CPU_CYCLES, A53Event::BUS_CYCLES] {
            self.counts[self.current].raise(clock, cycle, cycle - self.until);
        }
        self.until = cycle;
        self.current = self.groups[inst as usize] as usize;
    }
}
