//! What a case is judged by: the counts of the events and the edges of the flows.

use sim_core::flow::FlowCounts;
use sim_core::{Counts, EventSink, FlowEdge, PmuEvent};
use sim_pmu::Pmu;

/// Everything that a case was heard to raise.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Totals of the events.
    pub counts: Counts,
    /// Totals of the edges.
    pub flows: FlowCounts,
    /// The counters of the PMU, if the case is given some.
    pub pmu: Option<Box<Pmu>>,
}

impl EventSink for Recorded {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
        if let Some(pmu) = &mut self.pmu {
            pmu.count(event, n);
        }
    }

    #[inline]
    fn software_increment(&mut self, counters: u32) {
        if let Some(pmu) = &mut self.pmu {
            pmu.software_increment(counters);
        }
    }

    #[inline]
    fn edge(&mut self, edge: FlowEdge) {
        self.flows.edge(edge);
    }
}

/// A sink that a case can be judged by. One that hears otherwise than it is told (a raise site left
/// out, say) stands in for a machine with that fault.
pub trait Tally: EventSink {
    /// What was heard so far.
    fn recorded(&self) -> &Recorded;

    /// The same, to give it counters.
    fn recorded_mut(&mut self) -> &mut Recorded;
}

impl Tally for Recorded {
    fn recorded(&self) -> &Recorded {
        self
    }

    fn recorded_mut(&mut self) -> &mut Recorded {
        self
    }
}
