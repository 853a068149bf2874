//! Why an instruction raised what it raised, and why not what one might expect: the executions of one
//! instruction, put together where they went the same way.
//!
//! A [`Witness`] listens to a run and keeps what belongs to the
//! instruction: what was told since the operation before it. Each different way through the core is a
//! [`Course`]; at most [`COURSES`] are kept apart.

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
use sim_scenario::Walked;

use crate::stalls;

pub use absent::Absent;
pub use reasons::Reason;

/// Different ways that are kept apart; executions that go any other way are only counted.
pub const COURSES: usize = 256;

/// What one execution raised.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// Its events, without clocks and stalls: those are time, not work.
    pub counts: Counts,
    /// The edges of the flows that it took.
    pub flows: FlowCounts,
    /// Empty rename slots that it was the cause of.
    pub lost: Slots,
    /// What went through the core; none for a step of a scenario that is no instruction.
    pub operation: Option<Operation>,
}

/// Executions that went the same way.
#[derive(Clone, Debug)]
pub struct Course {
    /// How many.
    pub times: u64,
    /// The first of them.
    pub first: Execution,
    /// Cycles from issue to result: fewest, most, all together.
    pub latency: (u64, u64, u64),
    /// Empty rename slots that all of them were the cause of, by cause.
    pub lost: Slots,
}

/// All that was seen of one instruction.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Ways, the most frequent first.
    pub courses: Vec<Course>,
    /// Executions that went other ways than those kept.
    pub others: u64,
}

/// Listens for the instruction at one address.
#[derive(Clone, Debug)]
pub struct Witness {
    pc: u64,
    cores: Vec<Listening>,
    now: usize,
    courses: BTreeMap<Vec<u64>, Course>,
    others: u64,
}

/// What is heard of one core.
#[derive(Clone, Debug, Default)]
struct Listening {
    execution: Execution,
    is_counted: bool,
    /// The last operation generated an exception, whose events are told behind it.
    has_exception: bool,
    /// That operation, if it is the one that is listened for.
    waiting: Option<Execution>,
}

impl Seen {
    /// A step of a scenario, all its repetitions as one. Of a step that is more than one instruction the first
    /// speaks for it.
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
    /// Cycles from its issue to its result.
    fn latency(&self) -> u64 {
        let life = self.operation.map(|operation| operation.life).unwrap_or_default();
        life.complete.saturating_sub(life.issue)
    }
}

/// Told by the PMU's clocks and the slots of rename, whichever instruction is there.
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
    /// Listens for the instruction at `pc` in the counted part of a run.
    pub fn new(pc: u64) -> Witness {
        let (cores, courses) = (vec![Listening::default()], BTreeMap::new());
        Witness { pc, cores, now: 0, courses, others: 0 }
    }

    /// What was seen, the most frequent way first.
    pub fn seen(mut self) -> Seen {
        for core in 0..self.cores.len() {
            self.now = core;
            self.settle();
        }
        let mut courses: Vec<Course> = self.courses.into_values().collect();
        courses.sort_by_key(|course| std::cmp::Reverse(course.times));
        Seen { courses, others: self.others }
    }

    /// No more is told of the exception of the last operation.
    fn settle(&mut self) {
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

/// Two executions with the same key went the same way.
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
        self.settle();
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

/// Where an execution took place: what some rules depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// A step of a scenario, whose own fetches are free unless it says otherwise.
    pub is_step: bool,
}

/// One way, explained.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedCourse {
    /// Executions that went it.
    pub times: u64,
    /// In a sentence: path, data, time.
    pub summary: String,
    /// The way through each flow that was walked.
    pub ways: Vec<String>,
    /// What was raised, and why.
    pub raised: Vec<Reason>,
    /// Events that count it through their parts or under another name.
    pub derived: Vec<String>,
    /// What was not raised though one might expect it, and why.
    pub not_raised: Vec<Absent>,
    /// Empty rename slots that these executions were the cause of.
    pub lost_slots: Vec<LostSlots>,
}

/// Slots that stayed empty for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct LostSlots {
    /// The cause, as the stall ledger names it.
    pub cause: String,
    /// How many.
    pub slots: u64,
}

/// All ways of one instruction, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    /// The instruction or step.
    pub subject: String,
    /// Executions, wrong paths included.
    pub executions: u64,
    /// Those whose path was thrown away.
    pub on_wrong_paths: u64,
    /// Ways, the most frequent first.
    pub courses: Vec<ExplainedCourse>,
    /// Executions that went ways which are not shown.
    pub not_shown: u64,
}

/// Explains what was seen; at most `shown` ways.
pub fn explain(subject: String, seen: &Seen, setting: Setting, shown: usize) -> Why {
    let all: u64 = seen.courses.iter().map(|course| course.times).sum();
    let is_wrong = |course: &&Course| {
        course.first.operation.is_some_and(|operation| reasons::is_abandoned(&operation))
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

    fn told(witness: &mut Witness, pc: u64, exception: bool) {
        let life = OpLife { pc, retired: true, mops: 1, ..OpLife::default() };
        witness.operation(&Operation { life, exception, ..Operation::default() });
    }

    fn listening() -> Witness {
        let mut witness = Witness::new(8);
        witness.core(0);
        witness.counting(true);
        witness
    }

    #[test]
    fn what_is_told_before_an_operation_is_its_own_and_nothing_else_is() {
        let mut witness = listening();
        witness.count(PmuEvent::LD_SPEC, 1);
        told(&mut witness, 4, false);
        witness.count(PmuEvent::ST_SPEC, 1);
        witness.squashed();
        witness.count(PmuEvent::DP_SPEC, 1);
        witness.count(PmuEvent::CPU_CYCLES, 9);
        told(&mut witness, 8, false);
        let seen = witness.seen();
        let counts = &seen.courses[0].first.counts;
        let raised: Vec<PmuEvent> =
            PmuEvent::ALL.into_iter().filter(|event| counts.raised(*event) > 0).collect();
        assert_eq!(raised, [PmuEvent::DP_SPEC]);
    }

    #[test]
    fn only_the_counted_part_is_listened_to() {
        let mut witness = Witness::new(8);
        told(&mut witness, 8, false);
        witness.counting(true);
        told(&mut witness, 8, false);
        witness.counting(false);
        told(&mut witness, 8, false);
        let seen = witness.seen();
        assert_eq!((seen.courses.len(), seen.courses[0].times), (1, 1));
    }

    #[test]
    fn the_exception_of_an_operation_is_told_behind_it() {
        let mut witness = listening();
        told(&mut witness, 8, true);
        witness.count(PmuEvent::EXC_SVC, 1);
        told(&mut witness, 12, false);
        told(&mut witness, 4, true);
        witness.count(PmuEvent::EXC_TAKEN, 1);
        told(&mut witness, 8, false);
        let seen = witness.seen();
        let svc = |course: &Course| course.first.counts.raised(PmuEvent::EXC_SVC);
        let taken = |course: &Course| course.first.counts.raised(PmuEvent::EXC_TAKEN);
        assert_eq!(seen.courses.iter().map(svc).sum::<u64>(), 1);
        assert_eq!(seen.courses.iter().map(taken).sum::<u64>(), 0, "another one's");
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let mut witness = listening();
        for n in 0..2 * COURSES as u64 {
            witness.count(PmuEvent::LD_SPEC, n + 1);
            told(&mut witness, 8, false);
        }
        let seen = witness.seen();
        assert_eq!((seen.courses.len(), seen.others), (COURSES, COURSES as u64));
        let why = explain(String::new(), &seen, Setting { is_step: false }, 3);
        assert_eq!((why.executions, why.courses.len()), (2 * COURSES as u64, 3));
        assert_eq!(why.not_shown, 2 * COURSES as u64 - 3);
    }
}
