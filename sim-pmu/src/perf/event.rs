//! Events as software requests them from the kernel: the event, its levels and its group.

use sim_core::PmuEvent;

use crate::filter::Filter;
use crate::pe_state::ExceptionLevel;

/// Levels that count, as perf names them: modifiers `u`, `k` and `h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Levels {
    /// Count at EL0.
    pub user: bool,
    /// Count at the kernel's level: EL1, or EL2 where the kernel is the hypervisor.
    pub kernel: bool,
    /// Count at EL2 when the kernel runs at EL1.
    pub hypervisor: bool,
}

impl Levels {
    /// All levels: the setting without a modifier.
    pub const ALL: Levels = Levels { user: true, kernel: true, hypervisor: true };

    /// Returns the filter that the driver of a kernel at `kernel` writes. A kernel at EL2 is the
    /// hypervisor itself and ignores the hypervisor setting.
    pub(crate) fn filter(self, kernel: ExceptionLevel) -> Filter {
        let is_host = kernel == ExceptionLevel::El2;
        let counts_el2 = if is_host { self.kernel } else { self.hypervisor };
        let bits = [(!self.user, Filter::U), (!self.kernel, Filter::P), (counts_el2, Filter::NSH)];
        let bits = bits.iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| u64::from(*bit));
        Filter::from_bits(bits.sum())
    }
}

/// Event with its levels and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerfEvent<E = PmuEvent> {
    /// Event to count.
    pub event: E,
    /// Levels at which it counts.
    pub levels: Levels,
    /// The driver's `long=1`: 64 bits in hardware, in two chained counters.
    pub is_long: bool,
}

impl<E> PerfEvent<E> {
    /// Creates a request for `event` at every level, in one counter.
    pub fn new(event: E) -> PerfEvent<E> {
        PerfEvent { event, levels: Levels::ALL, is_long: false }
    }
}

/// Events that are counted at the same time or not at all. A single event is a group of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<E = PmuEvent> {
    /// Events, the leader first.
    pub events: Vec<PerfEvent<E>>,
    /// Modifier `D`: always active, before all other groups; in error if it does not fit.
    pub pinned: bool,
    /// Modifier `e`: never active together with another group.
    pub exclusive: bool,
    /// Modifier `W`: split into single events if it can never be active.
    pub weak: bool,
}

impl<E> Default for Group<E> {
    fn default() -> Group<E> {
        Group { events: Vec::new(), pinned: false, exclusive: false, weak: false }
    }
}

impl<E> Group<E> {
    /// Creates a group of one event at every level.
    pub fn single(event: E) -> Group<E> {
        Group { events: vec![PerfEvent::new(event)], ..Group::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pe_state::PeState;
    use ExceptionLevel::{El0, El1, El2};

    /// Returns whether EL0, EL1 and EL2 count.
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
    fn a_kernel_at_el2_replaces_the_hypervisor() {
        assert_eq!(counts(true, true, true, El2), [true, true, true]);
        assert_eq!(counts(true, false, false, El2), [true, false, false], ":u");
        assert_eq!(counts(false, true, false, El2), [false, true, true], ":k");
        assert_eq!(counts(false, false, true, El2), [false, false, false], ":h");
    }
}
