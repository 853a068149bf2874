//! Types that all parts of n2sim share. This crate contains no hardware behavior.
//!
//! - [`pmu_event`]: the one list of PMU events; [`a53_event`]: those of the Cortex-A53;
//!   [`event_name`]: their names in Linux tools; [`event_meaning`], [`spelling`]: events and names
//!   that a reader means; [`core_event`]: what both have in common;
//!   [`cores`]: every core, as its folder describes it;
//!   [`sink`]: the interface through which units report them; [`deferred_sink`]: sinks that accept
//!   sums; [`part_of_inst`]: the part of the program that an instruction belongs to.
//! - [`time`], [`addr`], [`trace_inst`]: cycles, addresses, one record of the instruction stream.
//! - [`memory_port`]: requests of the pipeline to the memory system; [`maintenance`]: cache and TLB
//!   maintenance; [`flow`]: the flows of guide chapter 5.
//! - [`privilege`], [`exception`]: exception level, kinds of exceptions.
//! - [`register_access`]: accesses of the program to the PMU's registers.
//! - [`stall`], [`root_cause`]: reasons for empty rename slots; [`op_timeline`]: the timeline of
//!   one operation; [`operation`]: that timeline with the properties of the instruction, for
//!   observers of a run.
//! - [`chi`]: messages between cores, home nodes and memory; [`mesh_counts`]: what a mesh counts;
//!   [`core_pairs`]: what cores cause at one another; [`mesh_sums`]: sums that it keeps;
//!   [`mesh_sites`]: places that count, for tests.
//! - [`warm_state`]: state of a unit that outlives the instructions that wrote it, as words.
//! - [`packed`]: compact tables of counts.
//! - [`memory_budget`]: limit on the host memory of a replay.
//! - [`shown`]: foreign names and texts, made safe to print.
//! - [`config`]: reading of a configuration document into a type, with errors that name the place.

pub mod a53_event;
pub mod access;
pub mod addr;
pub mod batching_sink;
pub mod chi;
pub mod config;
pub mod core_event;
pub mod core_pairs;
pub mod cores;
pub mod counts;
pub mod deferred_sink;
pub mod event_meaning;
pub mod event_name;
pub mod event_tally;
pub mod exception;
pub mod flow;
pub mod maintenance;
pub mod memory_budget;
pub mod memory_port;
pub mod mesh_counts;
pub mod mesh_sites;
pub mod mesh_sums;
pub mod op_stage;
pub mod op_timeline;
pub mod operation;
pub mod packed;
pub mod part_of_inst;
pub mod pmu_event;
pub mod privilege;
pub mod register_access;
pub mod root_cause;
pub mod shown;
pub mod sink;
pub mod spelling;
pub mod stall;
pub mod time;
pub mod trace_inst;
pub mod warm_state;

pub use a53_event::A53Event;
pub use access::{AccessOutcome, DataSource, LoadWait, MemKind, MemReply, MemRequest, TagUse};
pub use addr::{LINE_BYTES, LINE_SHIFT, LineAddr, PhysAddr, VirtAddr};
pub use batching_sink::BatchingSink;
pub use core_event::CoreEvent;
pub use cores::{CoreDescription, PipelineKind};
pub use counts::Counts;
pub use deferred_sink::{DeferredSink, DynDeferredSink};
pub use event_name::EventName;
pub use event_tally::EventTally;
pub use exception::{AbortCause, ExceptionControls, ExceptionKind};
pub use flow::{Flow, FlowEdge};
pub use maintenance::{CacheOp, Maintenance, Snoop, TlbScope};
pub use memory_budget::{MemoryBudget, OverBudget, Reserved};
pub use memory_port::MemoryPort;
pub use op_stage::{Span, Stage};
pub use op_timeline::OpTimeline;
pub use operation::{AccessKind, AccessShape, BranchCourse, Operation, OperationKind};
pub use packed::{Numbers, Packed};
pub use part_of_inst::PartOfInst;
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
