//! The PMU of the mesh (CMN-700): its events and watchpoints, and their values from the counts of
//! the model. Software selects them as with the driver `arm_cmn` of Linux.
//!
//! * [`kind`]: kinds of nodes; [`node`]: the nodes of a floor plan and their identifiers;
//! * [`events`]: the table of events, with the rule by which the model counts each ([`rule`]), or
//!   the reason for which it is always zero ([`reason`]); [`crosspoint`]: those of crosspoints;
//! * [`watchpoints`]: Arm's named watchpoints; [`flit`]: the fields of a flit that they match;
//! * [`selector`]: strings such as `arm_cmn_0/hnf_cache_miss/`; [`config`]: the bits of their
//!   fields; [`error`]: messages about wrong ones;
//! * [`mod@count`]: the value of a selector; [`counters`]: which selectors the hardware counts at
//!   once;
//! * [`layout`]: the mesh as a file for Arm's tools.
//!
//! ```
//! use sim_core::mesh_counts::{Crosspoint, FloorPlan, HomeEvent, MeshCounts};
//! use sim_pmu::cmn::{Nodes, Selector, count};
//!
//! let at = Crosspoint { column: 0, row: 1 };
//! let plan = FloorPlan { columns: 2, rows: 2, homes: vec![at], ..FloorPlan::default() };
//! let mut counts = MeshCounts::new(plan);
//! counts.raise(0, HomeEvent::CacheMiss);
//! let selector: Selector = "arm_cmn_0/hnf_cache_miss/".parse()?;
//! assert_eq!(count(&selector, &Nodes::new(&counts.plan), &counts)?.value, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod config;
pub mod count;
pub mod counters;
pub mod crosspoint;
pub mod error;
pub mod events;
pub mod flit;
pub mod kind;
pub mod layout;
pub mod node;
pub mod reason;
pub mod rule;
pub mod selector;
pub mod watchpoints;

pub use count::{CountError, Counted, count};
pub use counters::{Schedule, schedule};
pub use error::SelectorError;
pub use events::Event;
pub use kind::NodeKind;
pub use layout::Layout;
pub use node::{Node, Nodes};
pub use reason::Reason;
pub use selector::{Selector, Target};
pub use watchpoints::{NamedWatchpoint, Watchpoint};
