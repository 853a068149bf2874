//! Counters that give each group of events the counters of a core for itself. A group that does not
//! fit even then is refused.

use sim_core::{EventSink, PmuEvent, Privilege};
use sim_pmu::perf::{Group, PerfSession, PerfSetup, Reading};

use crate::counting::interval::Counters;

/// One session for each group, as a sink that observes the run.
#[derive(Clone, Debug)]
pub(super) struct IndependentGroups {
    sessions: Vec<PerfSession>,
}

impl IndependentGroups {
    /// Returns counters for these groups.
    pub(super) fn new(groups: &[Group]) -> IndependentGroups {
        let session =
            |group: &Group| PerfSession::new(PerfSetup::new(std::slice::from_ref(group)), u64::MAX);
        IndependentGroups { sessions: groups.iter().map(session).collect() }
    }
}

impl Counters for IndependentGroups {
    fn read(&mut self, core: usize) -> Vec<Reading> {
        self.sessions.iter_mut().flat_map(|session| session.read(core)).collect()
    }
}

impl EventSink for IndependentGroups {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn hears_counts_alone(&self) -> bool {
        true
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.sessions.iter_mut().for_each(|session| session.count(event, n));
    }

    fn software_increment(&mut self, counters: u32) {
        self.sessions.iter_mut().for_each(|session| session.software_increment(counters));
    }

    fn core(&mut self, core: usize) {
        self.sessions.iter_mut().for_each(|session| session.core(core));
    }

    fn counting(&mut self, is_counted: bool) {
        self.sessions.iter_mut().for_each(|session| session.counting(is_counted));
    }

    fn privilege(&mut self, privilege: Privilege) {
        self.sessions.iter_mut().for_each(|session| session.privilege(privilege));
    }
}
