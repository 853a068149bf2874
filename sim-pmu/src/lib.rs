//! Performance monitoring unit of one core: software's view of the events.
//!
//! * [`pmu`]: the unit, with six event counters and the cycle counter, which count the same events
//!   as the ground truth; [`register_file`]: the registers as `MRS` and `MSR` see them;
//! * [`register`]: the registers by name and encoding; [`access`]: access rights and traps;
//! * [`counter`]: the counters by number; [`counting`]: active counters, overflow and the interrupt
//!   line; [`filter`]: the levels at which a counter counts;
//! * [`control`]: `PMCR`, `PMUSERENR`, `MDCR_EL2`, `MDCR_EL3` and the partition that they define;
//! * [`identification`]: `PMCEID`, `PMMIR` and their other views, from the event table;
//! * [`description`]: what differs between cores, as data; [`routes`]: the events of each;
//!   [`aarch32`]: the registers in AArch32; [`external`]: the registers from outside;
//! * [`perf`]: counting as Linux does it: multiplexed groups, scaled totals, the fewest passes;
//! * [`overflow`]: sampling by counter overflow; [`call_stack`]: the callers of a sample;
//! * [`other_core`]: the events of other cores, as data; [`event_bus`]: the event bus of another
//!   core in a run;
//! * [`program`]: the unit driven by the traced program itself;
//! * [`spe`]: the Statistical Profiling Extension.
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
//! Not modeled: nested virtualization. Fine-grained traps are newer than these cores.

pub mod aarch32;
pub mod access;
pub mod call_stack;
pub mod cmn;
pub mod control;
pub mod counter;
pub mod counting;
pub mod description;
pub mod event_bus;
pub mod external;
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
pub mod routes;
pub mod spe;
pub mod version;

pub use aarch32::{Aarch32Register, Cp15};
pub use access::{Access, AccessError};
pub use counter::CounterIndex;
pub use description::PmuDescription;
pub use event_bus::EventBus;
pub use external::{ExternalError, ExternalState};
pub use filter::Filter;
pub use identification::{CommonEventWord, pmceid};
pub use other_core::{OtherCore, OtherEvent, Presence};
pub use pe_state::{ExceptionLevel, PeState};
pub use pmu::Pmu;
pub use program::{ProgramAccess, ProgramPmu, ProgramUnit};
pub use register::{Encoding, Register};
pub use routes::{A53Routes, CoreEvent, EventRoutes, N2Routes};
pub use spe::{Spe, SpeConfig, SpeRegister};
pub use version::PmuVersion;
