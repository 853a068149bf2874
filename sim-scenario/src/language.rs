//! Directed test cases as text: what is given, what is done, which counts are expected.
//!
//! A scenario file is TOML. Its keys are those of one case, or of several under `[[case]]`, which
//! take what they leave out from the head of the file:
//!
//! | key | meaning |
//! | --- | --- |
//! | `guide` | section of the PMU guide that the claim rests on |
//! | `claim` | one sentence that the counts prove |
//! | `test` | name of the case |
//! | `given` | base setup and clauses, see [`given`]: `"K3, TLBs empty"` |
//! | `set` | configuration keys to change: `{ "memory.slc.size-bytes" = 0 }` |
//! | `names` | names for addresses: `{ b = 0x9000 }`; `a0` to `a4` are five lines of one L1D set |
//! | `do` | the steps, see [`steps`]: `"LD8 0x8000 ; ST8 0x8008"` |
//! | `expect` | counts, see [`expect`]: `"V3 + walk ld"` or a table `L1D_TLB = 1` |
//! | `others` | `"zero"` (default): an event that is not listed must be 0; `"any"`: it is not looked at |
//! | `path` | ways through the guide's flows: `"5.1: 1,2,3,5,6,4"`, see [`flows`] |
//! | `silicon` | as `expect`, where published counts of an N2 contradict the guide |
//! | `source` | who published them |
//!
//! ```
//! let text = r#"
//!     guide  = "PMU guide 5.1"
//!     claim  = "a load that misses both TLB levels walks and refills both"
//!     test   = "both TLB levels miss"
//!     given  = "K3, TLBs empty"
//!     do     = "LD8 0x8000"
//!     expect = "V3 + walk ld"
//!     path   = "5.1: 1,2,3,5,6,4"
//! "#;
//! let cases = sim_scenario::parse("example.toml", text)?;
//! assert_eq!(cases[0].steps.len(), 1);
//! # Ok::<(), sim_scenario::ScenarioError>(())
//! ```
//!
//! Profiling is given and expected as [`profiling`] says.
//!
//! The language knows no hardware: what a step does to a machine is the runner's business.

mod agents;
pub mod counters;
mod cursor;
mod document;
pub mod elements;
mod error;
mod exceptions;
pub mod expect;
pub mod flows;
pub mod given;
pub mod named_insts;
mod other_path;
pub mod pmu_registers;
pub mod pmu_statements;
pub mod profiling;
mod rename_step;
pub mod steps;
#[cfg(test)]
mod tests;
pub mod vector_insts;
pub mod vectors;

pub use counters::{ExpectedCounter, GivenCounter};
pub use document::{parse, parse_steps};
pub use error::{Problem, ScenarioError};
pub use expect::{Bound, Expectation, Expected};
pub use flows::Way;
pub use given::{Base, Bits, Clause, Given, Ram, State};
pub use pmu_registers::{ExpectedRegister, RegisterRead};
pub use pmu_statements::PmuStatement;
pub use profiling::{GivenFaultKind, GivenProfiling, ProfileClaim, RecordField, SampleSet};
pub use steps::{Action, Join, Step, Xt};
pub use vectors::Reading;

/// A place in a scenario file, both counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

/// One case of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name of the case.
    pub test: String,
    /// Section of the PMU guide.
    pub guide: String,
    /// What the counts prove, in one sentence.
    pub claim: String,
    /// Where the case begins in its file.
    pub place: Place,
    /// State before the first step.
    pub given: Given,
    /// What is done.
    pub steps: Vec<Step>,
    /// What the counters must show.
    pub expect: Expectation,
    /// Which ways the accesses take through the flows of guide chapter 5.
    pub ways: Vec<Way>,
    /// What the counters must show in profile silicon.
    pub silicon: Expectation,
    /// Who published what profile silicon shows, where the case says it itself.
    pub source: Option<String>,
}
