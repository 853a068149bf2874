//! Filters between a completed sample and the buffer (SPE supplement 3.2.2 and 3.2.3). Decision
//! A38: an event filter without events and a latency filter without a latency are off.

use sim_core::{AccessKind, Operation, OperationKind};

use super::events::Events;
use super::registers::{Registers, pmsfcr};

/// Operation type of a sample, for the type filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FilterType {
    /// Any other operation, including address parts of split accesses, preloads and cache
    /// maintenance.
    #[default]
    Other,
    /// Load.
    Load,
    /// Store, or an atomic without result.
    Store,
    /// Atomic with a result, which is both a load and a store.
    LoadAndStore,
    /// Branch or exception return.
    Branch,
}

impl FilterType {
    /// Returns the type of the first micro-operation of an instruction.
    pub(crate) fn of(operation: &Operation) -> FilterType {
        match operation.kind {
            OperationKind::Other => FilterType::Other,
            OperationKind::Branch(_) => FilterType::Branch,
            OperationKind::Access(shape) => match shape.kind {
                AccessKind::Load => FilterType::Load,
                AccessKind::Store | AccessKind::ZeroLine | AccessKind::AtomicStore => {
                    FilterType::Store
                }
                AccessKind::AtomicLoad | AccessKind::AtomicSwap => FilterType::LoadAndStore,
            },
        }
    }

    /// Returns the bits of `PMSFCR_EL1`, any one of which collects the type.
    fn passes_on(self) -> u64 {
        match self {
            FilterType::Other => 0,
            FilterType::Load => pmsfcr::LD,
            FilterType::Store => pmsfcr::ST,
            FilterType::LoadAndStore => pmsfcr::LD | pmsfcr::ST,
            FilterType::Branch => pmsfcr::B,
        }
    }
}

impl Registers {
    /// Returns whether a sample passes all enabled filters.
    pub(crate) fn collects(&self, events: Events, total_latency: u16, kind: FilterType) -> bool {
        let is_on = |bit: u64| self.pmsfcr & bit != 0;
        // PMSEVFR has no bits outside the mask; a MINLAT of 0 accepts every latency.
        let lacks_event = self.pmsevfr & !events.0 != 0;
        let is_too_fast = u64::from(total_latency) < self.pmslatfr;
        !(is_on(pmsfcr::FE) && lacks_event
            || is_on(pmsfcr::FT) && self.pmsfcr & kind.passes_on() == 0
            || is_on(pmsfcr::FL) && is_too_fast)
    }
}

#[cfg(test)]
mod tests {
    use super::super::registers::{FILTERABLE_EVENTS, MINLAT};
    use super::*;
    use proptest::prelude::*;

    const KINDS: [FilterType; 5] = [
        FilterType::Other,
        FilterType::Load,
        FilterType::Store,
        FilterType::LoadAndStore,
        FilterType::Branch,
    ];

    /// Returns the decision in the order of the supplement's pseudocode.
    fn decision(registers: &Registers, events: u64, latency: u16, kind: FilterType) -> bool {
        let Registers { pmsfcr: sfcr, pmsevfr, pmslatfr, .. } = *registers;
        if sfcr & pmsfcr::FE != 0 {
            for bit in 0..64 {
                if pmsevfr >> bit & 1 == 1 && events >> bit & 1 == 0 {
                    return false;
                }
            }
        }
        if sfcr & pmsfcr::FT != 0 {
            let (b, ld, st) =
                (sfcr & pmsfcr::B != 0, sfcr & pmsfcr::LD != 0, sfcr & pmsfcr::ST != 0);
            let passes = match kind {
                FilterType::Branch => b,
                FilterType::Load => ld,
                FilterType::Store => st,
                FilterType::LoadAndStore => ld || st,
                FilterType::Other => false,
            };
            if !passes {
                return false;
            }
        }
        !(sfcr & pmsfcr::FL != 0 && pmslatfr != 0 && u64::from(latency) < pmslatfr)
    }

    proptest! {
        #[test]
        fn the_filters_decide_as_the_architecture_specifies(
            sfcr: u64, evfr: u64, latfr: u64, events: u64, latency in 0u16..=0xFFF, kind in 0usize..5,
        ) {
            let registers = Registers {
                pmsfcr: sfcr & pmsfcr::ALL,
                pmsevfr: evfr & FILTERABLE_EVENTS,
                pmslatfr: latfr & MINLAT,
                ..Registers::default()
            };
            let kind = KINDS[kind];
            let expected = decision(&registers, events, latency, kind);
            prop_assert_eq!(registers.collects(Events(events), latency, kind), expected);
        }
    }
}
