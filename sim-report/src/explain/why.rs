//! Reasons why an instruction raised its events, and why not others that one might expect.
//! Executions of the instruction that raised the same events are combined.
//!
//! An [`InstObserver`] observes a run and keeps the data of one instruction: the reports since
//! the previous operation. Executions with the same events, flow edges and outcome form one
//! [`Variant`]; at most [`MAX_VARIANTS`] are kept.

mod absent;
mod reasons;
pub mod text;

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::flow::FlowCounts;
use sim_core::pmu_event::Group;
use sim_core::{
    Counts, EventSink, FlowEdge, LostSlots as Slots, Notice, Operation, PmuEvent, RootCause,
    StallCause,
};
use sim_scenario::Walked;

use crate::stalls;

pub use absent::Absent;
pub use reasons::Reason;

/// Most variants that are kept; executions of any further variant are only counted.
pub const MAX_VARIANTS: usize = 256;

/// Events of one execution.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// Events, without clocks and stalls, which belong to time and not to work.
    pub counts: Counts,
    /// Edges of the flows that were taken.
    pub flows: FlowCounts,
    /// Empty rename slots that it caused.
    pub lost: Slots,
    /// Operation in the core; absent for a step of a scenario that is not an instruction.
    pub operation: Option<Operation>,
}

/// Executions with the same events, flow edges and outcome.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Number of executions.
    pub times: u64,
    /// First execution.
    pub first: Execution,
    /// Cycles from issue to result: minimum, maximum and sum.
    pub latency: (u64, u64, u64),
    /// Empty rename slots that all executions caused, by cause.
    pub lost: Slots,
}

/// Observed executions of one instruction.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Variants, the most frequent first.
    pub variants: Vec<Variant>,
    /// Executions of variants that were not kept.
    pub others: u64,
}

/// Observer of the instruction at one address.
#[derive(Clone, Debug)]
pub struct InstObserver {
    pc: u64,
    cores: Vec<CoreState>,
    now: usize,
    variants: BTreeMap<Vec<u64>, Variant>,
    others: u64,
}

/// State of the observer for one core.
#[derive(Clone, Debug, Default)]
struct CoreState {
    execution: Execution,
    is_counted: bool,
    /// Whether the last operation generated an exception, whose events are reported after it.
    has_exception: bool,
    /// Last operation, if it generated an exception and is the observed instruction.
    waiting: Option<Execution>,
}

impl Observed {
    /// Returns a step of a scenario, with all its repetitions combined. A step of several
    /// instructions is represented by the first.
    pub fn of_step(step: &Walked) -> Observed {
        let mut counts = Counts::default();
        for event in PmuEvent::ALL.into_iter().filter(|event| !is_time(*event)) {
            counts.count(event, step.counts.raised(event));
        }
        let (flows, operation) = (step.flows.clone(), step.operations.first().copied());
        let lost = Slots::default();
        let first = Execution { counts, flows, lost: lost.clone(), operation };
        let latency = first.latency();
        let variant = Variant { times: 1, first, latency: (latency, latency, latency), lost };
        Observed { variants: vec![variant], others: 0 }
    }
}

impl Execution {
    /// Returns the cycles from issue to result.
    fn latency(&self) -> u64 {
        let timeline = self.operation.map(|operation| operation.timeline).unwrap_or_default();
        timeline.complete.saturating_sub(timeline.issue)
    }
}

/// Returns whether the event counts clock cycles or rename slots, whatever the instruction.
fn is_time(event: PmuEvent) -> bool {
    use PmuEvent::*;
    matches!(
        event,
        CPU_CYCLES
            | CNT_CYCLES
            | STALL_FRONTEND
            | STALL_BACKEND
            | STALL_BACKEND_MEM
            | STALL_SLOT_FRONTEND
            | STALL_SLOT_BACKEND
    )
}

impl InstObserver {
    /// Creates an observer of the instruction at `pc` in the counted part of a run.
    pub fn new(pc: u64) -> InstObserver {
        let (cores, variants) = (vec![CoreState::default()], BTreeMap::new());
        InstObserver { pc, cores, now: 0, variants, others: 0 }
    }

    /// Returns the observed executions, the most frequent variant first.
    pub fn finish(mut self) -> Observed {
        for core in 0..self.cores.len() {
            self.now = core;
            self.end_exception();
        }
        let mut variants: Vec<Variant> = self.variants.into_values().collect();
        variants.sort_by_key(|variant| std::cmp::Reverse(variant.times));
        Observed { variants, others: self.others }
    }

    /// Ends the exception of the last operation: no further report belongs to it.
    fn end_exception(&mut self) {
        self.state().has_exception = false;
        if let Some(execution) = self.state().waiting.take() {
            self.keep(execution);
        }
    }

    fn state(&mut self) -> &mut CoreState {
        &mut self.cores[self.now]
    }

    fn keep(&mut self, execution: Execution) {
        let key = key_of(&execution);
        let latency = execution.latency();
        if let Some(variant) = self.variants.get_mut(&key) {
            variant.times += 1;
            let (least, most, sum) = variant.latency;
            variant.latency = (least.min(latency), most.max(latency), sum + latency);
            variant.lost.plus(&execution.lost);
        } else if self.variants.len() < MAX_VARIANTS {
            let (lost, latency) = (execution.lost.clone(), (latency, latency, latency));
            self.variants.insert(key, Variant { times: 1, first: execution, latency, lost });
        } else {
            self.others += 1;
        }
    }
}

/// Returns a key that is equal for executions of the same variant.
fn key_of(execution: &Execution) -> Vec<u64> {
    let mut key = Vec::new();
    if let Some(Operation { timeline, .. }) = &execution.operation {
        key.extend([
            u64::from(timeline.retired),
            u64::from(timeline.mispredicted),
            timeline.source as u64,
        ]);
        key.extend([u64::from(timeline.outcome.0), u64::from(timeline.mops)]);
    }
    for event in PmuEvent::ALL {
        let n = execution.counts.raised(event);
        if n > 0 {
            key.extend([event as u64, n]);
        }
    }
    for edge in FlowEdge::ALL {
        let n = execution.flows.taken(*edge);
        if n > 0 {
            key.extend([PmuEvent::ALL.len() as u64 + *edge as u64, n]);
        }
    }
    key
}

impl EventSink for InstObserver {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if is_time(event) {
            return;
        }
        let state = self.state();
        if state.has_exception && event.info().group == Group::Exception {
            if let Some(execution) = &mut state.waiting {
                execution.counts.count(event, n);
            }
        } else {
            state.execution.counts.count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Edge(edge) => {
                self.state().execution.flows.notify(Notice::Edge(edge));
            }
            Notice::Core(core) => {
                if core >= self.cores.len() {
                    self.cores.resize_with(core + 1, CoreState::default);
                }
                self.now = core;
            }
            Notice::Counting(is_counted) => {
                self.state().is_counted = is_counted;
            }
            Notice::Operation(operation) => {
                self.end_exception();
                let pc = self.pc;
                let state = self.state();
                let execution = std::mem::take(&mut state.execution);
                state.has_exception = operation.exception;
                if operation.timeline.pc == pc && state.is_counted {
                    let execution = Execution { operation: Some(*operation), ..execution };
                    match operation.exception {
                        true => state.waiting = Some(execution),
                        false => self.keep(execution),
                    }
                }
            }
            Notice::Lost(lost) => {
                self.state().execution.lost.add(lost.cause, lost.root, lost.slots);
            }
            Notice::Squashed => {
                self.state().execution = Execution::default();
            }
            _ => {}
        }
    }
}

/// Context of an execution on which some rules depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Whether it is a step of a scenario, whose own fetches are free by default.
    pub is_step: bool,
}

/// Explanation of one variant.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedVariant {
    /// Number of executions.
    pub times: u64,
    /// Path, data source and time in a sentence.
    pub summary: String,
    /// Path through each flow.
    pub ways: Vec<String>,
    /// Events that were raised, with reasons.
    pub raised: Vec<Reason>,
    /// Events that count it through their parts or under another name.
    pub derived: Vec<String>,
    /// Events that one might expect and that were not raised, with reasons.
    pub not_raised: Vec<Absent>,
    /// Empty rename slots that these executions caused.
    pub lost_slots: Vec<LostSlots>,
}

/// Slots that stayed empty for one cause.
#[derive(Clone, Debug, Serialize)]
pub struct LostSlots {
    /// The cause, as the stall ledger names it.
    pub cause: String,
    /// Number of slots.
    pub slots: u64,
}

/// Explanation of all variants of one instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    /// Instruction or step.
    pub subject: String,
    /// Executions, including wrong paths.
    pub executions: u64,
    /// Executions on wrong paths.
    pub on_wrong_paths: u64,
    /// Variants, the most frequent first.
    #[serde(rename = "courses")]
    pub variants: Vec<ExplainedVariant>,
    /// Executions of variants that are not shown.
    pub not_shown: u64,
}

/// Explains the observed executions, at most `shown` variants.
pub fn explain(subject: String, observed: &Observed, setting: Setting, shown: usize) -> Why {
    let all: u64 = observed.variants.iter().map(|variant| variant.times).sum();
    let is_wrong = |variant: &&Variant| {
        variant.first.operation.is_some_and(|operation| reasons::is_squashed(&operation))
    };
    let explained = |variant: &Variant| ExplainedVariant {
        times: variant.times,
        summary: reasons::summary(variant),
        ways: reasons::ways(&variant.first.flows),
        raised: reasons::raised(&variant.first),
        derived: reasons::derived(&variant.first.counts),
        not_raised: absent::all(&variant.first, setting),
        lost_slots: lost(variant),
    };
    let hidden: u64 = observed.variants.iter().skip(shown).map(|variant| variant.times).sum();
    Why {
        subject,
        executions: all + observed.others,
        on_wrong_paths: observed
            .variants
            .iter()
            .filter(is_wrong)
            .map(|variant| variant.times)
            .sum(),
        variants: observed.variants.iter().take(shown).map(explained).collect(),
        not_shown: hidden + observed.others,
    }
}

fn lost(variant: &Variant) -> Vec<LostSlots> {
    let all =
        StallCause::ALL.into_iter().flat_map(|cause| RootCause::ALL.map(|root| (cause, root)));
    let named = |(cause, root)| LostSlots {
        cause: stalls::reason(cause, root),
        slots: variant.lost.at(cause, root),
    };
    let mut lost: Vec<LostSlots> = all.map(named).filter(|lost| lost.slots > 0).collect();
    lost.sort_by_key(|lost| std::cmp::Reverse(lost.slots));
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::OpTimeline;

    fn run(observer: &mut InstObserver, pc: u64, exception: bool) {
        let timeline = OpTimeline { pc, retired: true, mops: 1, ..OpTimeline::default() };
        observer.notify(Notice::Operation(&Operation {
            timeline,
            exception,
            ..Operation::default()
        }));
    }

    fn counting_observer() -> InstObserver {
        let mut observer = InstObserver::new(8);
        observer.notify(Notice::Core(0));
        observer.notify(Notice::Counting(true));
        observer
    }

    #[test]
    fn only_reports_since_the_previous_operation_belong_to_an_operation() {
        let mut observer = counting_observer();
        observer.count(PmuEvent::LD_SPEC, 1);
        run(&mut observer, 4, false);
        observer.count(PmuEvent::ST_SPEC, 1);
        observer.notify(Notice::Squashed);
        observer.count(PmuEvent::DP_SPEC, 1);
        observer.count(PmuEvent::CPU_CYCLES, 9);
        run(&mut observer, 8, false);
        let observed = observer.finish();
        let counts = &observed.variants[0].first.counts;
        let raised: Vec<PmuEvent> =
            PmuEvent::ALL.into_iter().filter(|event| counts.raised(*event) > 0).collect();
        assert_eq!(raised, [PmuEvent::DP_SPEC]);
    }

    #[test]
    fn only_the_counted_part_is_observed() {
        let mut observer = InstObserver::new(8);
        run(&mut observer, 8, false);
        observer.notify(Notice::Counting(true));
        run(&mut observer, 8, false);
        observer.notify(Notice::Counting(false));
        run(&mut observer, 8, false);
        let observed = observer.finish();
        assert_eq!((observed.variants.len(), observed.variants[0].times), (1, 1));
    }

    #[test]
    fn exception_events_after_an_operation_belong_to_it() {
        let mut observer = counting_observer();
        run(&mut observer, 8, true);
        observer.count(PmuEvent::EXC_SVC, 1);
        run(&mut observer, 12, false);
        run(&mut observer, 4, true);
        observer.count(PmuEvent::EXC_TAKEN, 1);
        run(&mut observer, 8, false);
        let observed = observer.finish();
        let svc = |variant: &Variant| variant.first.counts.raised(PmuEvent::EXC_SVC);
        let taken = |variant: &Variant| variant.first.counts.raised(PmuEvent::EXC_TAKEN);
        assert_eq!(observed.variants.iter().map(svc).sum::<u64>(), 1);
        assert_eq!(observed.variants.iter().map(taken).sum::<u64>(), 0, "another one's");
    }

    #[test]
    fn memory_is_bounded_and_every_execution_is_counted() {
        let mut observer = counting_observer();
        for n in 0..2 * MAX_VARIANTS as u64 {
            observer.count(PmuEvent::LD_SPEC, n + 1);
            run(&mut observer, 8, false);
        }
        let observed = observer.finish();
        assert_eq!((observed.variants.len(), observed.others), (MAX_VARIANTS, MAX_VARIANTS as u64));
        let why = explain(String::new(), &observed, Setting { is_step: false }, 3);
        assert_eq!((why.executions, why.variants.len()), (2 * MAX_VARIANTS as u64, 3));
        assert_eq!(why.not_shown, 2 * MAX_VARIANTS as u64 - 3);
    }
}
