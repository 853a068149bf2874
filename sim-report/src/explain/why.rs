//! Reasons why an instruction raised its events, and why not others that one might expect.
//! Executions of the instruction that raised the same events are combined.
//!
//! A [`Witness`] observes a run and keeps the data of one instruction: the reports since the
//! previous operation. Executions with the same events, flow edges and outcome form one [`Course`];
//! at most [`COURSES`] are kept.

mod absent;
mod reasons;
pub mod text;

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::flow::FlowCounts;
use sim_core::pmu_event::Group;
use sim_core::{
    Counts, EventSink, FlowEdge, Lost, LostSlots as Slots, Operation, PmuEvent, RootCause,
    StallCause,
};
use sim_machine::scenario::Walked;

use crate::stalls;

pub use absent::Absent;
pub use reasons::Reason;

/// Most variants that are kept; executions of any further variant are only counted.
pub const COURSES: usize = 256;

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
pub struct Course {
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
pub struct Seen {
    /// Variants, the most frequent first.
    pub courses: Vec<Course>,
    /// Executions of variants that were not kept.
    pub others: u64,
}

/// Observer of the instruction at one address.
#[derive(Clone, Debug)]
pub struct Witness {
    pc: u64,
    cores: Vec<Listening>,
    now: usize,
    courses: BTreeMap<Vec<u64>, Course>,
    others: u64,
}

/// State of the observer for one core.
#[derive(Clone, Debug, Default)]
struct Listening {
    execution: Execution,
    is_counted: bool,
    /// Whether the last operation generated an exception, whose events are reported after it.
    has_exception: bool,
    /// Last operation, if it generated an exception and is the observed instruction.
    waiting: Option<Execution>,
}

impl Seen {
    /// Returns a step of a scenario, with all its repetitions combined. A step of several
    /// instructions is represented by the first.
    pub fn of_step(step: &Walked) -> Seen {
        let mut counts = Counts::default();
        for event in PmuEvent::ALL.into_iter().filter(|event| !is_time(*event)) {
            counts.count(event, step.counts.raised(event));
        }
        let (flows, operation) = (step.flows.clone(), step.operations.first().copied());
        let lost = Slots::default();
        let first = Execution { counts, flows, lost: lost.clone(), operation };
        let latency = first.latency();
        let course = Course { times: 1, first, latency: (latency, latency, latency), lost };
        Seen { courses: vec![course], others: 0 }
    }
}

impl Execution {
    /// Returns the cycles from issue to result.
    fn latency(&self) -> u64 {
        let life = self.operation.map(|operation| operation.life).unwrap_or_default();
        life.complete.saturating_sub(life.issue)
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

impl Witness {
    /// Creates an observer of the instruction at `pc` in the counted part of a run.
    pub fn new(pc: u64) -> Witness {
        let (cores, courses) = (vec![Listening::default()], BTreeMap::new());
        Witness { pc, cores, now: 0, courses, others: 0 }
    }

    /// Returns the observed executions, the most frequent variant first.
    pub fn seen(mut self) -> Seen {
        for core in 0..self.cores.len() {
            self.now = core;
            self.end_exception();
        }
        let mut courses: Vec<Course> = self.courses.into_values().collect();
        courses.sort_by_key(|course| std::cmp::Reverse(course.times));
        Seen { courses, others: self.others }
    }

    /// Ends the exception of the last operation: no further report belongs to it.
    fn end_exception(&mut self) {
        self.heard().has_exception = false;
        if let Some(execution) = self.heard().waiting.take() {
            self.keep(execution);
        }
    }

    fn heard(&mut self) -> &mut Listening {
        &mut self.cores[self.now]
    }

    fn keep(&mut self, execution: Execution) {
        let key = key_of(&execution);
        let latency = execution.latency();
        if let Some(course) = self.courses.get_mut(&key) {
            course.times += 1;
            let (least, most, sum) = course.latency;
            course.latency = (least.min(latency), most.max(latency), sum + latency);
            course.lost.plus(&execution.lost);
        } else if self.courses.len() < COURSES {
            let (lost, latency) = (execution.lost.clone(), (latency, latency, latency));
            self.courses.insert(key, Course { times: 1, first: execution, latency, lost });
        } else {
            self.others += 1;
        }
    }
}

/// Returns a key that is equal for executions of the same variant.
fn key_of(execution: &Execution) -> Vec<u64> {
    let mut key = Vec::new();
    if let Some(Operation { life, .. }) = &execution.operation {
        key.extend([u64::from(life.retired), u64::from(life.mispredicted), life.source as u64]);
        key.extend([u64::from(life.happened.0), u64::from(life.mops)]);
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

impl EventSink for Witness {
    const FOLLOWS_RUN: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if is_time(event) {
            return;
        }
        let heard = self.heard();
        if heard.has_exception && event.info().group == Group::Exception {
            if let Some(execution) = &mut heard.waiting {
                execution.counts.count(event, n);
            }
        } else {
            heard.execution.counts.count(event, n);
        }
    }

    fn edge(&mut self, edge: FlowEdge) {
        self.heard().execution.flows.edge(edge);
    }

    fn lost(&mut self, lost: Lost) {
        self.heard().execution.lost.add(lost.cause, lost.root, lost.slots);
    }

    fn core(&mut self, core: usize) {
        if core >= self.cores.len() {
            self.cores.resize_with(core + 1, Listening::default);
        }
        self.now = core;
    }

    fn counting(&mut self, is_counted: bool) {
        self.heard().is_counted = is_counted;
    }

    fn operation(&mut self, operation: &Operation) {
        self.end_exception();
        let pc = self.pc;
        let heard = self.heard();
        let execution = std::mem::take(&mut heard.execution);
        heard.has_exception = operation.exception;
        if operation.life.pc == pc && heard.is_counted {
            let execution = Execution { operation: Some(*operation), ..execution };
            match operation.exception {
                true => heard.waiting = Some(execution),
                false => self.keep(execution),
            }
        }
    }

    fn squashed(&mut self) {
        self.heard().execution = Execution::default();
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
pub struct ExplainedCourse {
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
    pub courses: Vec<ExplainedCourse>,
    /// Executions of variants that are not shown.
    pub not_shown: u64,
}

/// Explains the observed executions, at most `shown` variants.
pub fn explain(subject: String, seen: &Seen, setting: Setting, shown: usize) -> Why {
    let all: u64 = seen.courses.iter().map(|course| course.times).sum();
    let is_wrong = |course: &&Course| {
        course.first.operation.is_some_and(|operation| reasons::is_squashed(&operation))
    };
    let explained = |course: &Course| ExplainedCourse {
        times: course.times,
        summary: reasons::summary(course),
        ways: reasons::ways(&course.first.flows),
        raised: reasons::raised(&course.first),
        derived: reasons::derived(&course.first.counts),
        not_raised: absent::all(&course.first, setting),
        lost_slots: lost(course),
    };
    let hidden: u64 = seen.courses.iter().skip(shown).map(|course| course.times).sum();
    Why {
        subject,
        executions: all + seen.others,
        on_wrong_paths: seen.courses.iter().filter(is_wrong).map(|course| course.times).sum(),
        courses: seen.courses.iter().take(shown).map(explained).collect(),
        not_shown: hidden + seen.others,
    }
}

fn lost(course: &Course) -> Vec<LostSlots> {
    let all =
        StallCause::ALL.into_iter().flat_map(|cause| RootCause::ALL.map(|root| (cause, root)));
    let named = |(cause, root)| LostSlots {
        cause: stalls::reason(cause, root),
        slots: course.lost.at(cause, root),
    };
    let mut lost: Vec<LostSlots> = all.map(named).filter(|lost| lost.slots > 0).collect();
    lost.sort_by_key(|lost| std::cmp::Reverse(lost.slots));
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::OpLife;

    fn run(witness: &mut Witness, pc: u64, exception: bool) {
        let life = OpLife { pc, retired: true, mops: 1, ..OpLife::default() };
        witness.operation(&Operation { life, exception, ..Operation::default() });
    }

    fn counting_witness() -> Witness {
        let mut witness = Witness::new(8);
        witness.core(0);
        witness.counting(true);
        witness
    }

    #[test]
    fn only_reports_since_the_previous_operation_belong_to_an_operation() {
        let mut witness = counting_witness();
        witness.count(PmuEvent::LD_SPEC, 1);
        run(&mut witness, 4, false);
        witness.count(PmuEvent::ST_SPEC, 1);
        witness.squashed();
        witness.count(PmuEvent::DP_SPEC, 1);
        witness.count(PmuEvent::CPU_CYCLES, 9);
        run(&mut witness, 8, false);
        let seen = witness.seen();
        let counts = &seen.courses[0].first.counts;
        let raised: Vec<PmuEvent> =
            PmuEvent::ALL.into_iter().filter(|event| counts.raised(*event) > 0).collect();
        assert_eq!(raised, [PmuEvent::DP_SPEC]);
    }

    #[test]
    fn only_the_counted_part_is_observed() {
        let mut witness = Witness::new(8);
        run(&mut witness, 8, false);
        witness.counting(true);
        run(&mut witness, 8, false);
        witness.counting(false);
        run(&mut witness, 8, false);
        let seen = witness.seen();
        assert_eq!((seen.courses.len(), seen.courses[0].times), (1, 1));
    }

    #[test]
    fn exception_events_after_an_operation_belong_to_it() {
        let mut witness = counting_witness();
        run(&mut witness, 8, true);
        witness.count(PmuEvent::EXC_SVC, 1);
        run(&mut witness, 12, false);
        run(&mut witness, 4, true);
        witness.count(PmuEvent::EXC_TAKEN, 1);
        run(&mut witness, 8, false);
        let seen = witness.seen();
        let svc = |course: &Course| course.first.counts.raised(PmuEvent::EXC_SVC);
        let taken = |course: &Course| course.first.counts.raised(PmuEvent::EXC_TAKEN);
        assert_eq!(seen.courses.iter().map(svc).sum::<u64>(), 1);
        assert_eq!(seen.courses.iter().map(taken).sum::<u64>(), 0, "another one's");
    }

    #[test]
    fn memory_is_bounded_and_every_execution_is_counted() {
        let mut witness = counting_witness();
        for n in 0..2 * COURSES as u64 {
            witness.count(PmuEvent::LD_SPEC, n + 1);
            run(&mut witness, 8, false);
        }
        let seen = witness.seen();
        assert_eq!((seen.courses.len(), seen.others), (COURSES, COURSES as u64));
        let why = explain(String::new(), &seen, Setting { is_step: false }, 3);
        assert_eq!((why.executions, why.courses.len()), (2 * COURSES as u64, 3));
        assert_eq!(why.not_shown, 2 * COURSES as u64 - 3);
    }
}
