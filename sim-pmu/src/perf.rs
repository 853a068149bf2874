//! How Linux' perf counts with the six counters and the cycle counter of a core: events in groups that
//! go on all or none, in turns when they do not all fit, with totals scaled up to the whole time.
//! Guide: chapter 3.1; everything else is what the kernel's scheduler of events and its driver do.
//!
//! * [`event`]: an event as software asks for it, and groups of them;
//! * [`slots`]: which counter an event gets; [`driver`]: the registers of one core in the driver's hands;
//! * [`context`]: which groups are on, and whose turn is next; [`session`]: the cores of a run;
//! * [`reading`]: what is read at the end, and how it is scaled; [`mod@plan`]: the fewest runs in which
//!   nothing needs to take turns; [`passes`]: counting in that many.
//!
//! Counting costs the program nothing here: neither interrupts nor turns take time.

pub mod context;
pub mod driver;
pub mod event;
pub mod passes;
pub mod plan;
pub mod reading;
pub mod session;
pub mod slots;

pub use event::{Group, Levels, PerfEvent};
pub use passes::Passes;
pub use plan::{Plan, PlanError, plan};
pub use reading::{Reading, Status};
pub use session::{PerfSession, PerfSetup};
