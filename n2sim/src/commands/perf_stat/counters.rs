//! Counters that give each group of events the counters of a core for itself. A group that does not
//! fit even then is refused.

use sim_core::{DeferredSink, EventSink, Notice, PmuEvent};
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, PerfSession, PerfSetup, Reading};

use crate::counting::interval::Counters;

/// One session for each group, as a sink that observes the run.
#[derive(Clone, Debug)]
pub(super) struct IndependentGroups {
    sessions: Vec<PerfSession>,
}

impl IndependentGroups {
    /// Returns counters for these groups.
    pub(super) fn new(groups: &[Group], counters: CounterCount) -> IndependentGroups {
        let session = |group: &Group| {
            PerfSession::new(PerfSetup::new(std::slice::from_ref(group), counters), u64::MAX)
        };
        IndependentGroups { sessions: groups.iter().map(session).collect() }
    }
}

impl Counters for IndependentGroups {
    fn read(&mut self, core: usize) -> Vec<Reading> {
        self.sessions.iter_mut().flat_map(|session| session.read(core)).collect()
    }
}

impl EventSink for IndependentGroups {
    const OBSERVES_OPS: bool = true;

    #[inline]
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.sessions.as_mut_slice().count(event, n);
    }

    #[inline]
    fn counts_only(&self) -> bool {
        true
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        self.sessions.as_mut_slice().notify(notice);
    }
}

impl DeferredSink for IndependentGroups {
    fn cycles_to_deadline(&self) -> u64 {
        self.sessions.as_slice().cycles_to_deadline()
    }
}
