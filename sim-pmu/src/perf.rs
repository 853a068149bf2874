//! Linux perf on the six event counters and the cycle counter of a core. The events of a group are
//! counted together. Groups that do not all fit are multiplexed, and their totals are scaled to the
//! whole time. PMU guide: chapter 3.1. Everything else follows the kernel's event scheduler and its
//! driver.
//!
//! * [`event`]: an event as software requests it, and groups of events;
//! * [`slots`]: the counter of each event; [`driver`]: the driver's use of one core's registers;
//! * [`context`]: the active groups and their rotation; [`session`]: the cores of a run;
//! * [`reading`]: the values read at the end, and their scaling; [`mod@plan`]: the fewest runs that
//!   need no multiplexing; [`passes`]: counting in these runs.
//!
//! Counting costs the program nothing here: neither interrupts nor rotations take time.

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
