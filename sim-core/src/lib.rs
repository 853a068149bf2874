//! The vocabulary that all parts of n2sim share. It contains no hardware behaviour.
//!
//! * [`pmu_event`]: the one list of PMU events; [`event_name`]: what Linux tools call them; [`sink`]:
//!   where units report them;
//! * [`time`], [`addr`], [`trace_inst`]: cycles, addresses, one record of the instruction stream;
//! * [`memory_port`]: what the pipeline may ask of the memory system; [`maintenance`]: its cache and
//!   TLB maintenance; [`flow`]: the flows of guide chapter 5 that an access walks;
//! * [`privilege`], [`exception`]: exception level, kinds of exceptions;
//! * [`register_access`]: what the program did to the PMU's registers;
//! * [`stall`], [`root_cause`], [`op_timeline`]: why a rename slot stayed empty, what one operation lived through;
//!   [`operation`]: that life with what the instruction is, for those who follow a run;
//! * [`warm_state`]: what outlives the instructions that left it in a unit, as words;
//! * [`packed`]: tables of counts kept small;
//! * [`memory_budget`]: how much memory of the host a replay may take;
//! * [`shown`]: names and texts from outside, made safe to print;
//! * [`config`]: reading a configuration document into a type, with errors that name the place.

pub mod access;
pub mod addr;
pub mod batching_sink;
pub mod config;
pub mod counts;
pub mod event_name;
pub mod event_tally;
pub mod exception;
pub mod flow;
pub mod maintenance;
pub mod memory_budget;
pub mod memory_port;
pub mod op_timeline;
pub mod operation;
pub mod packed;
pub mod pmu_event;
pub mod privilege;
pub mod register_access;
pub mod root_cause;
pub mod shown;
pub mod sink;
pub mod stall;
pub mod time;
pub mod trace_inst;
pub mod warm_state;

pub use access::{AccessOutcome, DataSource, LoadWait, MemKind, MemReply, MemRequest, TagUse};
pub use addr::{LINE_BYTES, LINE_SHIFT, LineAddr, PhysAddr, VirtAddr};
pub use batching_sink::BatchingSink;
pub use counts::Counts;
pub use event_name::EventName;
pub use event_tally::EventTally;
pub use exception::{AbortCause, ExceptionControls, ExceptionKind};
pub use flow::{Flow, FlowEdge};
pub use maintenance::{CacheOp, Maintenance, Snoop, TlbScope};
pub use memory_budget::{MemoryBudget, OverBudget, Reserved};
pub use memory_port::MemoryPort;
pub use op_timeline::OpTimeline;
pub use operation::{AccessKind, AccessShape, BranchCourse, Operation, OperationKind};
pub use packed::{Numbers, Packed};
pub use pmu_event::PmuEvent;
pub use privilege::Privilege;
pub use register_access::RegisterAccess;
pub use root_cause::{Lost, LostSlots, RootCause};
pub use shown::{Shown, shown_lines};
pub use sink::{EventSink, Notice, NullSink};
pub use stall::StallCause;
pub use time::Cycle;
pub use trace_inst::{Activity, InstFlags, InstId, MAX_FURTHER, TraceInst};
pub use warm_state::{StateLoader, StateSaver, StateVisitor, Stored, WarmState};
