//! Events whose counts are known for the whole trace.

use sim_core::PmuEvent;

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
