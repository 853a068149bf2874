//! Results of a case step by step: counts, flow edges, duration.

use crate::language::{Case, Step};
use sim_core::flow::{Flow, FlowCounts};
use sim_core::{Counts, Cycle, EventSink, FlowEdge, Notice, Operation, PmuEvent};

use super::error::CaseError;
use super::recorded::{Recorded, Tally};
use super::stepper::{Stepper, ends_group};
use super::{elements, statements};
use sim_machine::config::MachineConfig;

/// Most operations kept for a step, which may be repeated a million times.
pub const OPERATIONS_KEPT: usize = 64;
/// Raised events of time, in cycles and slots, without their sums and aliases.
const TIME: [PmuEvent; 7] = [
    PmuEvent::CPU_CYCLES,
    PmuEvent::CNT_CYCLES,
    PmuEvent::STALL_FRONTEND,
    PmuEvent::STALL_BACKEND,
    PmuEvent::STALL_BACKEND_MEM,
    PmuEvent::STALL_SLOT_FRONTEND,
    PmuEvent::STALL_SLOT_BACKEND,
];

/// Results of one step with all its repetitions.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The step.
    pub step: Step,
    /// Number of repetitions.
    pub times: u64,
    /// Counts of all repetitions.
    pub counts: Counts,
    /// Flow edges of all repetitions.
    pub flows: FlowCounts,
    /// Flows that the step entered, in order.
    pub order: Vec<Flow>,
    /// First [`OPERATIONS_KEPT`] operations in rename order.
    pub operations: Vec<Operation>,
    /// Cycles from the start of the step to the completion of its requests, for the longest
    /// repetition.
    pub cycles: Cycle,
    /// A later step is joined by `&`; the last step of the group counts their time.
    pub time_with_later: bool,
}

/// Runs a case on a fresh machine and returns the results of each step, without judging them.
///
/// # Errors
///
/// If the case needs an invalid state.
pub fn walk_case(case: &Case, config: &MachineConfig) -> Result<Vec<Walked>, CaseError> {
    elements::check(case)?;
    statements::check(case)?;
    let mut stepper = Stepper::new(case, config, Walker::default())?;
    let mut walked: Vec<Walked> = Vec::new();
    let mut time = Counts::default();
    stepper.sink.take();
    for (i, step) in case.steps.iter().enumerate() {
        stepper.run(case, i)?;
        let (begin, end) = stepper.span();
        let mut did = Walked { cycles: end.saturating_sub(begin), ..stepper.sink.take().of(step) };
        if ends_group(case, i) {
            did.counts.add(&std::mem::take(&mut time));
        } else {
            take_time(&mut did.counts, &mut time);
            did.time_with_later = true;
        }
        match walked.last_mut().filter(|last| last.step.place == step.place) {
            Some(last) => last.add(did),
            None => walked.push(did),
        }
    }
    let rest = stepper.finish().take();
    if let Some(last) = walked.last_mut() {
        let step = last.step.clone();
        last.add(Walked { times: 0, ..rest.of(&step) });
    }
    Ok(walked)
}

/// Moves the counts of time from a step to its group.
fn take_time(counts: &mut Counts, time: &mut Counts) {
    let is_time = |event: PmuEvent| TIME.contains(&event);
    time.add(&counts.map_events(|event, n| if is_time(event) { n } else { 0 }));
    *counts = counts.map_events(|event, n| if is_time(event) { 0 } else { n });
}

impl Walked {
    fn add(&mut self, more: Walked) {
        self.times += more.times;
        self.counts.add(&more.counts);
        for edge in FlowEdge::ALL {
            self.flows.add(*edge, more.flows.taken(*edge));
        }
        for flow in more.order {
            if !self.order.contains(&flow) {
                self.order.push(flow);
            }
        }
        let room = OPERATIONS_KEPT.saturating_sub(self.operations.len());
        self.operations.extend(more.operations.into_iter().take(room));
        self.cycles = self.cycles.max(more.cycles);
        self.time_with_later &= more.time_with_later;
    }
}

/// Sink that collects the results of one step at a time.
#[derive(Clone, Debug, Default)]
struct Walker {
    recorded: Recorded,
    step: StepResults,
    counts_before: Counts,
    flows_before: FlowCounts,
}

#[derive(Clone, Debug, Default)]
struct StepResults {
    counts: Counts,
    flows: FlowCounts,
    order: Vec<Flow>,
    operations: Vec<Operation>,
}

impl StepResults {
    fn of(self, step: &Step) -> Walked {
        let StepResults { counts, flows, order, operations } = self;
        let (step, times, cycles, time_with_later) = (step.clone(), 1, 0, false);
        Walked { step, times, counts, flows, order, operations, cycles, time_with_later }
    }
}

impl Walker {
    /// Returns the results since the last call.
    fn take(&mut self) -> StepResults {
        let mut step = std::mem::take(&mut self.step);
        let (counts, flows) = (&self.recorded.counts, &self.recorded.flows);
        step.counts = counts.since(&self.counts_before);
        step.flows = flows.since(&self.flows_before);
        (self.counts_before, self.flows_before) = (counts.clone(), flows.clone());
        step
    }
}

impl EventSink for Walker {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.recorded.count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.recorded.notify(Notice::At(cycle));
            }
            Notice::Edge(edge) => {
                let flow = edge.info().flow;
                if !self.step.order.contains(&flow) {
                    self.step.order.push(flow);
                }
                self.recorded.notify(Notice::Edge(edge));
            }
            Notice::SoftwareIncrement(counters) => {
                self.recorded.notify(Notice::SoftwareIncrement(counters));
            }
            Notice::Operation(operation) => {
                if self.step.operations.len() < OPERATIONS_KEPT {
                    self.step.operations.push(*operation);
                }
                self.profile(|spe, sink| spe.operation(operation, sink));
            }
            _ => {}
        }
    }
}

impl Tally for Walker {
    fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    fn recorded_mut(&mut self) -> &mut Recorded {
        &mut self.recorded
    }
}
