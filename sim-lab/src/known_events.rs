//! Events whose counts are known for the whole trace.

use sim_core::{Counts, PmuEvent};

/// Events counted by functional warming, in the order of the file of windows.
pub(crate) const KNOWN_EVENTS: [PmuEvent; 17] = [
    PmuEvent::MEM_ACCESS,
    PmuEvent::CPU_CYCLES,
    PmuEvent::BR_MIS_PRED_RETIRED,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::L1D_TLB_REFILL,
    PmuEvent::L2D_CACHE_RD,
    PmuEvent::L2D_CACHE_WR,
    PmuEvent::L2D_CACHE_REFILL,
    PmuEvent::L2D_CACHE_REFILL_RD,
    PmuEvent::BUS_ACCESS_RD,
    PmuEvent::BUS_ACCESS_WR,
    PmuEvent::LL_CACHE_MISS_RD,
    PmuEvent::L1I_CACHE_REFILL,
    PmuEvent::L1I_TLB_REFILL,
    PmuEvent::DTLB_WALK,
    PmuEvent::STALL_FRONTEND,
    PmuEvent::STALL_BACKEND,
];

/// Further events that functional warming counts if there are several threads: lines that go from
/// one core to another, and branches, which show whether windows have the same code. They follow
/// the others in the file of windows.
pub(crate) const SHARED_EVENTS: [PmuEvent; 8] = [
    PmuEvent::BUS_ACCESS,
    PmuEvent::L1D_CACHE_REFILL_WR,
    PmuEvent::L1D_CACHE_WB_VICTIM,
    PmuEvent::L1D_CACHE_INVAL,
    PmuEvent::L2D_CACHE_WB_VICTIM,
    PmuEvent::L2D_CACHE_WB_CLEAN,
    PmuEvent::L2D_CACHE_INVAL,
    PmuEvent::BR_RETIRED,
];

/// Returns the events of `count` known counts, in their order.
pub(crate) fn known_events(count: usize) -> impl Iterator<Item = PmuEvent> {
    KNOWN_EVENTS.into_iter().chain(SHARED_EVENTS).take(count)
}

/// Returns the count of a known event as functional warming has it: for [`SHARED_EVENTS`] what is
/// raised under the event itself.
pub(crate) fn known_count(event: PmuEvent, counts: &Counts) -> u64 {
    match SHARED_EVENTS.contains(&event) {
        true => counts.raised(event),
        false => counts.value(event),
    }
}

/// Returns true if so many known counts include those of several threads.
pub(crate) fn has_shared(count: usize) -> bool {
    count == KNOWN_EVENTS.len() + SHARED_EVENTS.len()
}

/// Returns true if a file of windows has this number of known counts.
pub(crate) fn is_known_number(count: usize) -> bool {
    [0, KNOWN_EVENTS.len()].contains(&count) || has_shared(count)
}
