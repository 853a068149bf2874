//! Directed tests of the model: their language and their runner.
//!
//! [`language`] reads scenario files into cases: the state before the first step, the steps, and
//! the expected counts. [`runner`] runs a case on a machine and compares every count. [`a53`] has
//! both for the Cortex-A53.

pub mod a53;
pub mod language;
pub mod runner;

pub use language::{
    Action, Base, Bits, Bound, Case, Clause, Elements, Exception, Expectation, Expected,
    ExpectedCounter, ExpectedRegister, Given, GivenCounter, GivenFaultKind, GivenProfiling, Join,
    OnMachines, Place, PmuStatement, Problem, ProfileClaim, Ram, Reading, RecordField,
    RegisterRead, SampleSet, ScenarioError, State, Step, Tolerance, Way, Xt, parse,
    parse_named_steps, parse_steps,
};
pub use runner::{
    CaseError, CycleCounts, Logged, Mismatch, OPERATIONS_KEPT, Recorded, Reported, STEPS_WATCHED,
    StepCounts, Tally, Verdict, Walked, Watched, WatchedStep, WrongCounter, WrongEdge,
    WrongProfile, WrongStatement, configure, reading_of, run_case, run_case_on, walk_case,
    watch_case,
};
