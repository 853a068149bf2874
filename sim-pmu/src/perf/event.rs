//! An event as software asks the kernel for it: what, at which levels, in which company.

use sim_core::PmuEvent;

use crate::filter::Filter;
use crate::pe_state::ExceptionLevel;

/// The levels that count, in perf's words: modifiers `u`, `k` and `h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Levels {
    /// EL0.
    pub user: bool,
    /// The level of the kernel: EL1, or EL2 where the kernel is the hypervisor.
    pub kernel: bool,
    /// EL2 below a kernel at EL1.
    pub hypervisor: bool,
}

impl Levels {
    /// Without a modifier every level counts.
    pub const ALL: Levels = Levels { user: true, kernel: true, hypervisor: true };

    /// The filter that the driver of a kernel at `kernel` writes. A kernel at EL2 is the hypervisor, and
    /// what is asked of a hypervisor means nothing to it.
    pub(crate) fn filter(self, kernel: ExceptionLevel) -> Filter {
        let is_host = kernel == ExceptionLevel::El2;
        let counts_el2 = if is_host { self.kernel } else { self.hypervisor };
        let bits = [(!self.user, Filter::U), (!self.kernel, Filter::P), (counts_el2, Filter::NSH)];
        let bits = bits.iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| u64::from(*bit));
        Filter::from_bits(bits.sum())
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerfEvent {
    /// What is counted.
    pub event: PmuEvent,
    /// Where.
    pub levels: Levels,
    /// The driver's `long=1`: 64 bits in hardware, of two chained counters.
    pub is_long: bool,
}

impl PerfEvent {
    /// `event` at every level, in one counter.
    pub fn new(event: PmuEvent) -> PerfEvent {
        PerfEvent { event, levels: Levels::ALL, is_long: false }
    }
}

/// Events that are counted at the same time or not at all. An event on its own is a group of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The events, the leader first.
    pub events: Vec<PerfEvent>,
    /// Modifier `D`: always on, before all others; in error if there is no room.
    pub pinned: bool,
    /// Modifier `e`: never on together with another group.
    pub exclusive: bool,
    /// Modifier `W`: falls apart into single events if it can never be on.
    pub weak: bool,
}

impl Group {
    /// A group of one event at every level.
    pub fn single(event: PmuEvent) -> Group {
        Group { events: vec![PerfEvent::new(event)], ..Group::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe_state::PeState;
    use ExceptionLevel::{El0, El1, El2};

    /// Whether EL0, EL1 and EL2 count.
    fn counts(user: bool, kernel: bool, hypervisor: bool, at: ExceptionLevel) -> [bool; 3] {
        let filter = Levels { user, kernel, hypervisor }.filter(at);
        [El0, El1, El2].map(|level| filter.passes(PeState::non_secure(level)))
    }

    #[test]
    fn a_kernel_at_el1_filters_each_level() {
        assert_eq!(counts(true, true, true, El1), [true, true, true]);
        assert_eq!(counts(true, false, false, El1), [true, false, false], ":u");
        assert_eq!(counts(false, true, false, El1), [false, true, false], ":k");
        assert_eq!(counts(false, false, true, El1), [false, false, true], ":h");
    }

    #[test]
    fn a_kernel_at_el2_takes_the_hypervisors_place() {
        assert_eq!(counts(true, true, true, El2), [true, true, true]);
        assert_eq!(counts(true, false, false, El2), [true, false, false], ":u");
        assert_eq!(counts(false, true, false, El2), [false, true, true], ":k");
        assert_eq!(counts(false, false, true, El2), [false, false, false], ":h");
    }
}
