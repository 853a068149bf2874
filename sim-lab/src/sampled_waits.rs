//! Counts of a thread that waits on its core for another thread: cycles in which no operation is
//! renamed, with the back end to blame.

use sim_core::{Counts, EventSink, LostSlots, Packed, PmuEvent, RootCause, StallCause};
use sim_machine::{CoreOutcome, Level, LevelCounts};

/// Rename slots of a cycle.
const SLOTS: u64 = 5;

/// Counts of a wait.
pub(crate) struct Waiting {
    counts: Counts,
    slots: LostSlots,
}

/// Counts of one cycle of a wait.
pub(crate) struct WaitRates {
    ticks: f64,
}

impl WaitRates {
    /// Returns the count of an event in a cycle.
    pub(crate) fn value(&self, event: PmuEvent) -> f64 {
        // Enough cycles that no tick of the counter is lost.
        const CYCLES: u64 = 1_000_000;
        let counts = Waiting::new(CYCLES, self.ticks).counts;
        counts.value(event) as f64 / CYCLES as f64
    }
}

impl Waiting {
    /// Returns the counts of this many cycles. `ticks` is the number of ticks of the system counter
    /// in a cycle.
    pub(crate) fn new(cycles: u64, ticks: f64) -> Waiting {
        let mut counts = Counts::default();
        counts.count(PmuEvent::CPU_CYCLES, cycles);
        counts.count(PmuEvent::CNT_CYCLES, (cycles as f64 * ticks) as u64);
        counts.count(PmuEvent::STALL_BACKEND, cycles);
        counts.count(PmuEvent::STALL_SLOT_BACKEND, SLOTS * cycles);
        let mut slots = LostSlots::default();
        slots.add(StallCause::Serialize, RootCause::OtherThread, SLOTS * cycles);
        Waiting { counts, slots }
    }

    /// Returns counts of something else without lost slots.
    pub(crate) fn of_counts(counts: Counts) -> Waiting {
        Waiting { counts, slots: LostSlots::default() }
    }

    pub(crate) fn rates(ticks: f64) -> WaitRates {
        WaitRates { ticks }
    }

    /// Returns the counts of a window without its waits, and those of its waits. Together they are
    /// the counts of the window.
    pub(crate) fn split(window: &CoreOutcome, ticks: f64) -> (CoreOutcome, Waiting) {
        let wanted = Waiting::new(window.waits.on_core, ticks);
        let mut rest = window.clone();
        let mut counts = Counts::default();
        if let Some(level) = level_of(window)
            && let Some(part) = rest.levels.iter_mut().find(|part| part.level == level)
        {
            let of_level = part.counts.unpack();
            counts = of_level
                .map_events(|event, raised| raised.min(wanted.counts.raised(event)));
            part.counts = Packed::from(&of_level.since(&counts));
        }
        rest.counts = Packed::from(&window.counts.unpack().since(&counts));
        let stalls = window.stalls.unpack();
        let mut slots = LostSlots::default();
        let lost = |root| stalls.at(StallCause::Serialize, root);
        // A run without roots has them all in one.
        for root in [RootCause::OtherThread, RootCause::Latency] {
            let left = wanted.slots.total() - slots.total();
            slots.add(StallCause::Serialize, root, left.min(lost(root)));
        }
        rest.stalls = Packed::from(&stalls.since(&slots));
        (rest, Waiting { counts, slots })
    }

    /// Adds these counts to a thread, at the level at which it has most cycles.
    pub(crate) fn add_to(&self, core: &mut CoreOutcome) {
        let counts = Packed::from(&self.counts);
        let level = level_of(core).unwrap_or_default();
        let part = CoreOutcome {
            levels: Box::new([LevelCounts { level, counts: counts.clone() }]),
            counts,
            stalls: Packed::from(&self.slots),
            ..CoreOutcome::default()
        };
        core.add_counts(&part);
    }
}

/// Returns the level at which a thread has most cycles.
fn level_of(core: &CoreOutcome) -> Option<Level> {
    let levels = core.levels.iter();
    levels.max_by_key(|part| part.counts.raised(PmuEvent::CPU_CYCLES)).map(|part| part.level)
}
