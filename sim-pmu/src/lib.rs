//! The performance monitoring unit of one core: what software can read of the events.
//!
//! * [`pmu`]: the unit: six event counters and the cycle counter, which hear the same events as the
//!   ground truth; [`register_file`]: the registers as `MRS` and `MSR` see them;
//! * [`register`]: the registers by name and encoding; [`access`]: who may use them, and where an
//!   access that may not goes;
//! * [`counter`]: the counters by number; [`counting`]: which of them count now, overflow, the
//!   interrupt line; [`filter`]: the levels at which one counts;
//! * [`control`]: `PMCR`, `PMUSERENR`, `MDCR_EL2`, `MDCR_EL3` and the partition they make;
//! * [`identification`]: `PMCEID`, `PMMIR` and their other views, from the event table;
//! * [`perf`]: how Linux counts with it: groups in turn, scaled totals, the fewest passes;
//! * [`overflow`]: samples of what makes counters overflow; [`call_stack`]: who called whom;
//! * [`other_core`]: the events of other cores, as data; [`event_bus`]: the bus of one of them, in a run;
//! * [`program`]: the unit driven by the traced program itself.
//!
//! ```
//! use sim_core::{EventSink, PmuEvent};
//! use sim_pmu::{ExceptionLevel, PeState, Pmu, PmuVersion, Register};
//!
//! let kernel = PeState::non_secure(ExceptionLevel::El1);
//! let mut pmu = Pmu::with_version(PmuVersion::V8p4);
//! pmu.set_state(kernel);
//! pmu.msr(Register::PMEVTYPER_EL0(2), u64::from(PmuEvent::INST_RETIRED.code()))?;
//! pmu.msr(Register::PMCNTENSET_EL0, 1 << 2)?;
//! pmu.msr(Register::PMCR_EL0, 1)?;
//! pmu.count(PmuEvent::INST_RETIRED, 7);
//! assert_eq!(pmu.mrs(Register::PMEVCNTR_EL0(2)), Ok(7));
//! # Ok::<(), sim_pmu::AccessError>(())
//! ```
//!
//! [`spe`] is the Statistical Profiling Extension.
//!
//! Not modeled: registers from the external debugger (only their offsets are given), nested
//! virtualization. Fine-grained traps came after this core.

pub mod access;
pub mod call_stack;
pub mod control;
pub mod counter;
pub mod counting;
pub mod event_bus;
pub mod filter;
pub mod identification;
pub mod other_core;
pub mod overflow;
pub mod pe_state;
pub mod perf;
pub mod pmu;
pub mod program;
pub mod register;
pub mod register_file;
pub mod spe;
pub mod version;

pub use access::{Access, AccessError};
pub use counter::CounterIndex;
pub use event_bus::EventBus;
pub use filter::Filter;
pub use identification::{CommonEventWord, pmceid};
pub use other_core::{OtherCore, OtherEvent, Presence};
pub use pe_state::{ExceptionLevel, PeState};
pub use pmu::Pmu;
pub use program::{ProgramAccess, ProgramPmu};
pub use register::{Encoding, Register};
pub use spe::{Spe, SpeConfig, SpeRegister};
pub use version::PmuVersion;
