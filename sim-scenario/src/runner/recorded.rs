//! What a case is judged by: the counts of the events and the edges of the flows.

use sim_core::flow::FlowCounts;
use sim_core::{Counts, Cycle, EventSink, FlowEdge, Operation, PmuEvent};
use sim_pmu::{Pmu, Spe};

use super::cycle_counts::CycleCounts;

/// Everything that a case was heard to raise.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Totals of the events.
    pub counts: Counts,
    /// Totals of the edges.
    pub flows: FlowCounts,
    /// The counters of the PMU, if the case is given some.
    pub pmu: Option<Box<Pmu>>,
    /// The profiling unit, if the case programs one.
    pub spe: Option<Box<Spe>>,
    /// What each cycle added, if the case looks at single cycles.
    pub cycles: Option<Box<CycleCounts>>,
}

impl EventSink for Recorded {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.counts.count(event, n);
        if let Some(pmu) = &mut self.pmu {
            pmu.count(event, n);
        }
        if let Some(cycles) = &mut self.cycles {
            cycles.count(event, n);
        }
    }

    #[inline]
    fn at(&mut self, cycle: Cycle) {
        if let Some(cycles) = &mut self.cycles {
            cycles.at(cycle);
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

    fn operation(&mut self, operation: &Operation) {
        self.profile(|spe, sink| spe.operation(operation, sink));
    }
}

/// A sink that a case can be judged by. One that hears otherwise than it is told (a raise site left
/// out, say) stands in for a machine with that fault.
pub trait Tally: EventSink + Sized {
    /// What was heard so far.
    fn recorded(&self) -> &Recorded;

    /// The same, to give it counters.
    fn recorded_mut(&mut self) -> &mut Recorded;

    /// Does something with the profiling unit, if there is one; what it raises is heard like all else.
    fn profile(&mut self, work: impl FnOnce(&mut Spe, &mut Self)) {
        if let Some(mut spe) = self.recorded_mut().spe.take() {
            work(&mut spe, self);
            self.recorded_mut().spe = Some(spe);
        }
    }
}

impl Tally for Recorded {
    fn recorded(&self) -> &Recorded {
        self
    }

    fn recorded_mut(&mut self) -> &mut Recorded {
        self
    }
}
