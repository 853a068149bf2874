//! Directed tests of the Cortex-A53: their language and their runner.
//!
//! A file begins with `core = "cortex-a53"` and holds the keys of one case, or of several under
//! `[[case]]`. A case inherits the keys that it omits from the head of the file:
//!
//! | key | meaning |
//! | --- | --- |
//! | `guide` | section of the Cortex-A53 manual, and the event: `"12.28, 0x03"` |
//! | `claim` | one sentence that the counts prove |
//! | `test` | name of the case |
//! | `given` | what caches and TLBs hold before, see [`given`]: `"warm, 0x8000 in L2"` |
//! | `set` | configuration keys to change |
//! | `do` | the instructions, see [`steps`]: `"ldr x0, [x1] @ 0x8000 ; add x3, x0, x4"` |
//! | `expect` | counts, see [`expect`]: `"LD_RETIRED 1, MEM_ACCESS 1"` |
//! | `others` | `"zero"` (default) or `"any"`: what an unlisted event must be |
//!
//! ```
//! let text = r#"
//!     core   = "cortex-a53"
//!     guide  = "12.28, 0x04"
//!     claim  = "a load that hits is an access to the L1 data cache, and no refill"
//!     test   = "a load hits"
//!     given  = "warm"
//!     do     = "ldr x0, [x1] @ 0x8000"
//!     expect = "LD_RETIRED 1, MEM_ACCESS 1, L1D_CACHE 1, CPU_CYCLES 8"
//! "#;
//! let cases = sim_scenario::a53::parse("example.toml", text)?;
//! let config = sim_scenario::a53::configure(&cases[0], sim_scenario::a53::defaults()?)?;
//! assert!(sim_scenario::a53::run_case(&cases[0], &config)?.holds());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
pub mod expect;
pub mod given;
mod insts;
mod runner;
pub mod steps;
mod verdict;

pub use document::{Case, is_a53, parse, parse_steps};
pub use expect::{Expected, Measure};
pub use given::Given;
pub use runner::{NotHeld, configure, defaults, run_case, run_case_on};
pub use steps::{Action, Step};
pub use verdict::{Mismatch, StepCounts, Verdict};
