//! Recorded results of a case: event counts and flow edges.

use sim_core::flow::FlowCounts;
use sim_core::mesh_counts::MeshCounts;
use sim_core::{Counts, EventSink, Notice, PmuEvent};
use sim_pmu::{Pmu, Spe};

use super::cycle_counts::CycleCounts;
use super::other_pmus::OtherPmus;

/// Everything that a case raised.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Totals by event.
    pub counts: Counts,
    /// Totals by edge.
    pub flows: FlowCounts,
    /// The PMU, if the case uses it.
    pub pmu: Option<Box<Pmu>>,
    /// PMUs of the other cores that the case names.
    pub others: OtherPmus,
    /// The profiling unit, if the case uses it.
    pub spe: Option<Box<Spe>>,
    /// Counts of the mesh, if the case expects some.
    pub mesh: Option<Box<MeshCounts>>,
    /// Counts of each cycle, if the case expects something of single cycles.
    pub cycles: Option<Box<CycleCounts>>,
}

impl EventSink for Recorded {
    const OBSERVES_OPS: bool = true;

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
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                if let Some(cycles) = &mut self.cycles {
                    cycles.at(cycle);
                }
            }
            Notice::Edge(edge) => {
                self.flows.notify(Notice::Edge(edge));
            }
            Notice::SoftwareIncrement(counters) => {
                if let Some(pmu) = &mut self.pmu {
                    pmu.software_increment(counters);
                }
                self.others.software_increment(counters);
            }
            Notice::Operation(operation) => {
                self.profile(|spe, sink| spe.operation(operation, sink));
            }
            _ => {}
        }
    }
}

/// A sink that a case can be judged by. A sink that drops some reports, for example those of one
/// raise site, represents a machine with that fault.
pub trait Tally: EventSink + Sized {
    /// Returns the results so far.
    fn recorded(&self) -> &Recorded;

    /// Returns the results so far, for changes of PMU and profiling unit.
    fn recorded_mut(&mut self) -> &mut Recorded;

    /// Runs `work` on the profiling unit, if there is one. Events of the unit go to this sink.
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
