//! Verdict of a case: wrong counts and paths, and their explanation.

use crate::language::{
    Bound, Case, Expectation, ExpectedCounter, ExpectedRegister, Place, Reading, RegisterRead, Step,
};
use sim_core::flow::{EdgeInfo, FlowCounts, FlowEdge};
use sim_core::{Counts, PmuEvent};
use sim_pmu::CounterIndex;

use super::mesh;
use super::pmu_registers;
use super::profiling::{self, WrongProfile};
use super::recorded::Recorded;
use super::statements::{self, WrongStatement};

/// An event with a wrong count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The event.
    pub event: PmuEvent,
    /// Expected counts.
    pub expected: Bound,
    /// Found count.
    pub counted: u64,
    /// Contribution of each step with all its repetitions, for steps with any.
    pub by_step: Vec<(String, Place, u64)>,
}

/// A flow edge that was taken more or less often than the case's paths say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongEdge {
    /// The edge.
    pub edge: FlowEdge,
    /// Number of times that it occurs on the paths.
    pub expected: u64,
    /// Number of times that the model took it.
    pub taken: u64,
}

/// A PMU counter with a wrong value or flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCounter {
    /// Expected state.
    pub expected: ExpectedCounter,
    /// Found value.
    pub value: u64,
    /// Found overflow flag.
    pub overflowed: bool,
}

/// A PMU register with a wrong value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongRegister {
    /// Expected result of a read.
    pub expected: ExpectedRegister,
    /// Found result of a read.
    pub read: RegisterRead,
}

/// Counts of one step with all its repetitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounts {
    /// Text of the step.
    pub step: String,
    /// Place of the text.
    pub place: Place,
    /// Number of repetitions.
    pub times: usize,
    /// Counts of all repetitions.
    pub counts: Counts,
}

/// Counts of one step while the case runs, with all its repetitions.
pub(super) struct Added<'a> {
    pub(super) step: &'a Step,
    pub(super) times: usize,
    pub(super) counts: Counts,
}

impl Added<'_> {
    fn step_counts(&self) -> StepCounts {
        let Step { text, place, .. } = self.step;
        let (step, times) = (text.clone(), self.times);
        StepCounts { step, place: *place, times, counts: self.counts.clone() }
    }
}

/// Verdict of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Wrong counts in the order of the event table.
    pub mismatches: Vec<Mismatch>,
    /// Wrong edges of the flows on the case's paths.
    pub wrong_edges: Vec<WrongEdge>,
    /// Wrong PMU counters.
    pub wrong_counters: Vec<WrongCounter>,
    /// Wrong PMU registers.
    pub wrong_registers: Vec<WrongRegister>,
    /// Failed expectations about sampled operations.
    pub wrong_profile: Vec<WrongProfile>,
    /// Other failed statements about the PMU, and those about the mesh.
    pub wrong_statements: Vec<WrongStatement>,
    /// Number of compared expectations.
    pub compared: usize,
    /// Counts of the case.
    pub counts: Counts,
    /// Counts of each step, without the final drain of the core.
    pub by_step: Vec<StepCounts>,
}

impl Verdict {
    /// Returns true if every expectation holds.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
            && self.wrong_edges.is_empty()
            && self.wrong_counters.is_empty()
            && self.wrong_registers.is_empty()
            && self.wrong_profile.is_empty()
            && self.wrong_statements.is_empty()
    }

    /// Explains a failed case: place, claim, section, and for each wrong event the expected count,
    /// the found count, and the steps that counted it.
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
                shown(expected.read),
                shown(*read)
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

fn shown(read: RegisterRead) -> String {
    match read {
        RegisterRead::Value(value) => format!("0x{value:x}"),
        RegisterRead::Undefined => String::from("undefined"),
        RegisterRead::TrappedTo(level) => format!("a trap to EL{level}"),
    }
}

/// Compares the recorded results with the expectation of one reading. Paths are the guide's.
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
    let wrong_statements = judged.filter_map(|said| statements::judge(said, recorded));
    let wrong_statements = wrong_statements.chain(mesh::wrong(&case.mesh, recorded)).collect();
    let compared = expectation.events.len()
        + expectation.counters.len()
        + expectation.registers.len()
        + expectation.statements.len()
        + expectation.profile.len()
        + case.mesh.claims.len()
        + usize::from(case.mesh.others_zero);
    Verdict {
        mismatches,
        wrong_edges,
        wrong_counters,
        wrong_registers,
        wrong_statements,
        wrong_profile,
        compared,
        counts: recorded.counts.clone(),
        by_step: by_step.iter().map(Added::step_counts).collect(),
    }
}

/// Returns the registers with wrong values.
fn wrong_registers(expectation: &Expectation, recorded: &Recorded) -> Vec<WrongRegister> {
    let read = |expected: &ExpectedRegister| pmu_registers::read(recorded, expected);
    let expected = expectation.registers.iter();
    let reads = expected.map(|expected| (expected, read(expected)));
    reads
        .filter(|(expected, read)| expected.read != *read)
        .map(|(expected, read)| WrongRegister { expected: expected.clone(), read })
        .collect()
}

/// Returns the counters with wrong values or flags. Without a PMU all are 0.
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

/// Returns the wrong edges of the flows on the case's paths.
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
