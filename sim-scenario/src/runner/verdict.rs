//! What became of a case: wrong counts, wrong ways, and what a reader needs to see of them.

use crate::language::{
    Bound, Case, Expectation, ExpectedCounter, ExpectedRegister, Place, Reading, RegisterRead, Step,
};
use sim_core::flow::{EdgeInfo, FlowCounts, FlowEdge};
use sim_core::{Counts, PmuEvent};
use sim_pmu::CounterIndex;

use super::pmu_registers;
use super::profiling::{self, WrongProfile};
use super::recorded::Recorded;
use super::statements::{self, WrongStatement};

/// An event whose count is not right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The event.
    pub event: PmuEvent,
    /// Its right counts.
    pub expected: Bound,
    /// What was counted.
    pub counted: u64,
    /// What each step added with all its repetitions, for steps that added something.
    pub by_step: Vec<(String, Place, u64)>,
}

/// An edge of a flow that was taken more or less often than the path of the case says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongEdge {
    /// The edge.
    pub edge: FlowEdge,
    /// How often it lies on the ways of the path.
    pub expected: u64,
    /// How often the model took it.
    pub taken: u64,
}

/// A counter of the PMU that does not show what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCounter {
    /// What it should show.
    pub expected: ExpectedCounter,
    /// Its value.
    pub value: u64,
    /// Its overflow flag.
    pub overflowed: bool,
}

/// A register of the PMU that does not give what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongRegister {
    /// What it should give.
    pub expected: ExpectedRegister,
    /// What reading it gives.
    pub read: RegisterRead,
}

/// What one step of the text added, all its repetitions together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// The step as written.
    pub step: String,
    /// Where it stands.
    pub place: Place,
    /// How often it was repeated.
    pub times: usize,
    /// What it added.
    pub counts: Counts,
}

/// What one step of the text added, all its repetitions together.
pub(super) struct Added<'a> {
    pub(super) step: &'a Step,
    pub(super) times: usize,
    pub(super) counts: Counts,
}

impl Added<'_> {
    fn told(&self) -> StepCounts {
        let Step { text, place, .. } = self.step;
        let (step, times) = (text.clone(), self.times);
        StepCounts { step, place: *place, times, counts: self.counts.clone() }
    }
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Every wrong count, in the order of the event table; none if the case holds.
    pub mismatches: Vec<Mismatch>,
    /// Every wrong edge of the flows that the path names.
    pub wrong_edges: Vec<WrongEdge>,
    /// Every wrong counter of the PMU.
    pub wrong_counters: Vec<WrongCounter>,
    /// Every wrong register of the PMU.
    pub wrong_registers: Vec<WrongRegister>,
    /// Every wrong statement about sampled operations.
    pub wrong_profile: Vec<WrongProfile>,
    /// Every other wrong statement about the PMU.
    pub wrong_statements: Vec<WrongStatement>,
    /// How many events were compared.
    pub compared: usize,
    /// What was counted.
    pub counts: Counts,
    /// What each step added to it; what the drain of the core adds behind the last one is in none.
    pub by_step: Vec<StepCounts>,
}

impl Verdict {
    /// True when every count and every way is right.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
            && self.wrong_edges.is_empty()
            && self.wrong_counters.is_empty()
            && self.wrong_registers.is_empty()
            && self.wrong_profile.is_empty()
            && self.wrong_statements.is_empty()
    }

    /// What a reader needs to see of a case that does not hold: place, claim, section, and for
    /// each wrong event what was expected, what was counted and which step counted it.
    pub fn explain(&self, file: &str, case: &Case) -> String {
        let mut text = format!(
            "{file}:{}: {} fails: {} ({})\n",
            case.place.line, case.test, case.claim, case.guide
        );
        for wrong in &self.mismatches {
            let name = wrong.event.mnemonic();
            text +=
                &format!("    {name}: expected {}, counted {}\n", wrong.expected, wrong.counted);
            for (step, place, n) in &wrong.by_step {
                text +=
                    &format!("        {n} by {step} ({file}:{}:{})\n", place.line, place.column);
            }
        }
        for WrongEdge { edge, expected, taken } in &self.wrong_edges {
            let EdgeInfo { flow, from, to, label } = edge.info();
            let section = flow.info().section;
            text += &format!(
                "    flow {section}, {from} -> {to} ({label}): expected {expected}, taken {taken}\n"
            );
        }
        for WrongCounter { expected, value, overflowed } in &self.wrong_counters {
            let flag = |set: bool| if set { " overflowed" } else { "" };
            let ExpectedCounter { counter, value: wanted, overflowed: wanted_flag } = expected;
            text += &format!(
                "    counter {counter}: expected {wanted}{}, shows {value}{}\n",
                flag(*wanted_flag),
                flag(*overflowed)
            );
        }
        for WrongRegister { expected, read } in &self.wrong_registers {
            text += &format!(
                "    {}: expected {}, gives {}\n",
                expected.name,
                told(expected.read),
                told(*read)
            );
        }
        for wrong in &self.wrong_profile {
            text += &format!("    {wrong}\n");
        }
        for WrongStatement { subject, expected, found } in &self.wrong_statements {
            text += &format!("    {subject}: expected {expected}, found {found}\n");
        }
        text
    }
}

fn told(read: RegisterRead) -> String {
    match read {
        RegisterRead::Value(value) => format!("0x{value:x}"),
        RegisterRead::Undefined => String::from("undefined"),
        RegisterRead::TrappedTo(level) => format!("a trap to EL{level}"),
    }
}

/// Compares what was recorded with what the case expects in one reading. The ways are the guide's.
pub(super) fn judge(
    case: &Case,
    reading: Reading,
    recorded: &Recorded,
    by_step: &[Added<'_>],
) -> Verdict {
    let (expectation, wrong_edges) = match reading {
        Reading::Guide => (&case.expect, wrong_edges(case, &recorded.flows)),
        Reading::Silicon => (&case.silicon, Vec::new()),
    };
    let value = |event: PmuEvent| recorded.counts.value(event);
    let mismatches = expectation
        .events
        .iter()
        .filter(|expected| !expected.bound.holds(value(expected.event)))
        .map(|expected| Mismatch {
            event: expected.event,
            expected: expected.bound,
            counted: value(expected.event),
            by_step: contributions(by_step, expected.event),
        })
        .collect();
    let wrong_counters = wrong_counters(expectation, recorded);
    let wrong_registers = wrong_registers(expectation, recorded);
    let wrong_profile = profiling::wrong_profile(expectation, recorded);
    let judged = expectation.statements.iter();
    let wrong_statements = judged.filter_map(|said| statements::judge(said, recorded)).collect();
    let compared = expectation.events.len()
        + expectation.counters.len()
        + expectation.registers.len()
        + expectation.statements.len()
        + expectation.profile.len();
    Verdict {
        mismatches,
        wrong_edges,
        wrong_counters,
        wrong_registers,
        wrong_statements,
        wrong_profile,
        compared,
        counts: recorded.counts.clone(),
        by_step: by_step.iter().map(Added::told).collect(),
    }
}

/// The registers that give something else than they should.
fn wrong_registers(expectation: &Expectation, recorded: &Recorded) -> Vec<WrongRegister> {
    let read = |expected: &ExpectedRegister| pmu_registers::read(recorded, expected);
    let expected = expectation.registers.iter();
    let reads = expected.map(|expected| (expected, read(expected)));
    reads
        .filter(|(expected, read)| expected.read != *read)
        .map(|(expected, read)| WrongRegister { expected: expected.clone(), read })
        .collect()
}

/// The counters that show something else, or whose flags are others. Without a PMU all are 0.
fn wrong_counters(expectation: &Expectation, recorded: &Recorded) -> Vec<WrongCounter> {
    let shown = |expected: &ExpectedCounter| {
        let (pmu, counter) = recorded.pmu.as_ref().zip(CounterIndex::new(expected.counter))?;
        let overflowed = pmu.overflowed() & counter.bit() != 0;
        Some((u64::from(pmu.read(counter)), overflowed))
    };
    expectation
        .counters
        .iter()
        .map(|expected| {
            let (value, overflowed) = shown(expected).unwrap_or_default();
            WrongCounter { expected: *expected, value, overflowed }
        })
        .filter(|wrong| {
            (wrong.value, wrong.overflowed) != (wrong.expected.value, wrong.expected.overflowed)
        })
        .collect()
}

/// The edges of the flows that the path names, where they are not those of its ways.
fn wrong_edges(case: &Case, flows: &FlowCounts) -> Vec<WrongEdge> {
    let mut wanted = FlowCounts::default();
    for way in &case.ways {
        wanted.add_path(&way.path, way.times);
    }
    FlowEdge::ALL
        .iter()
        .filter(|edge| case.ways.iter().any(|way| way.flow == edge.info().flow))
        .map(|edge| WrongEdge {
            edge: *edge,
            expected: wanted.taken(*edge),
            taken: flows.taken(*edge),
        })
        .filter(|wrong| wrong.expected != wrong.taken)
        .collect()
}

fn contributions(by_step: &[Added<'_>], event: PmuEvent) -> Vec<(String, Place, u64)> {
    by_step
        .iter()
        .map(|added| (added.step.text.clone(), added.step.place, added.counts.value(event)))
        .filter(|(_, _, n)| *n > 0)
        .collect()
}
