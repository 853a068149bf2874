//! The out-of-order core of Neoverse N2: every operation walks the stages once, in program order.
//!
//! In scope: front end with prediction ([`frontend`], [`branch`]), rename and dispatch ([`window`],
//! [`slots`], [`mod@dispatch`]), issue ([`issue_queue`]) to thirteen pipes ([`calendar`]), execution,
//! load/store ordering and forwarding ([`lsu`]), retirement ([`retire`]), wrong-path execution. Out of
//! scope: caches and TLBs, which are behind [`sim_core::MemoryPort`], and the trace file, which the
//! machine reads.
//!
//! Reading order: [`pipeline::Pipeline::run_inst`], then the units in the order of the stages. A
//! stage is a function from an operation and its resources to a cycle; no cycle is ever stepped.

mod abandoned;
pub mod branch;
pub mod calendar;
mod clocks;
pub mod config;
mod critical_path;
mod dependence;
pub mod dispatch;
mod elements;
pub mod entry_log;
mod exception;
mod execute;
pub mod frontend;
pub mod issue_queue;
mod learn;
mod load_banks;
pub mod lsu;
mod maintain;
mod memory_order;
mod offer;
mod op;
mod ordering;
pub mod pipeline;
mod program_order;
mod raise;
mod recorded;
mod rename_wait;
mod request;
pub mod resource;
mod restart;
pub mod retire;
pub mod scoreboard;
mod short_way;
pub mod slots;
pub mod stamp;
mod steering;
mod tell;
mod wait_timeline;
pub mod window;
mod wrong_path;

pub use config::PipelineConfig;
pub use learn::Astray;
pub use offer::Offer;
pub use op::Step;
pub use pipeline::Pipeline;
pub use program_order::{Part, ProgramOrder, Stretch};
pub use recorded::RecordedException;
pub use slots::SLOTS;
