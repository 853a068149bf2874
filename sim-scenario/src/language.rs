//! Language of directed tests: initial state, steps, expected counts.
//!
//! A scenario file is TOML. It holds the keys of one case, or of several under `[[case]]`. A case
//! inherits the keys that it omits from the head of the file:
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
//! | `others` | `"zero"` (default): an unlisted event must be 0; `"any"`: it is not compared |
//! | `path` | paths through the guide's flows: `"5.1: 1,2,3,5,6,4"`, see [`flows`] |
//! | `silicon` | as `expect`, where published counts of an N2 contradict the guide |
//! | `source` | who published them |
//! | `on`, `tolerance`, `except` | statements about real machines, see [`on_machines`] |
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
//! [`profiling`] describes the clauses and expectations of profiling.
//!
//! The language is independent of the machine; the runner performs the steps.

mod action;
mod agents;
pub(crate) mod bound;
mod case;
pub mod counters;
pub(crate) mod cursor;
pub(crate) mod document;
pub mod elements;
pub(crate) mod error;
mod exceptions;
pub mod expect;
pub mod flows;
pub mod given;
mod meant;
pub mod mesh;
pub mod named_insts;
pub mod on_machines;
mod operand;
mod other_path;
mod other_pmu;
mod place;
pub mod pmu_registers;
pub mod pmu_statements;
pub mod profiling;
mod rename_step;
pub mod steps;
#[cfg(test)]
mod tests;
pub mod vector_insts;
pub mod vectors;

pub use action::{Action, Join, Step, Xt};
pub use bound::Bound;
pub use case::Case;
pub use counters::{ExpectedCounter, GivenCounter};
pub use document::{parse, parse_named_steps, parse_steps};
pub use elements::Elements;
pub use error::{Problem, ScenarioError};
pub use expect::{Expectation, Expected};
pub use flows::Way;
pub use given::{Base, Bits, Clause, Given, Ram, State};
pub use mesh::{MeshClaim, MeshExpectation, MeshName};
pub use on_machines::{Exception, OnMachines, Tolerance};
pub use other_pmu::{AccessResult, OtherPmuClaim, OtherPmuStatement};
pub use place::Place;
pub use pmu_registers::{ExpectedRegister, RegisterRead};
pub use pmu_statements::PmuStatement;
pub use profiling::{GivenFaultKind, GivenProfiling, ProfileClaim, RecordField, SampleSet};
pub use vectors::Reading;
