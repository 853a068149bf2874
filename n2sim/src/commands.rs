//! The commands, one file each: the arguments and what is done with them.

pub(crate) mod capture;
pub(crate) mod check;
pub(crate) mod counterfactual;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod estimate;
pub(crate) mod event_bus;
mod event_bus_a53;
pub(crate) mod explain;
pub(crate) mod flow;
pub(crate) mod functions;
mod functions_a53;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod membench;
pub(crate) mod perf_stat;
pub(crate) mod pipeline;
pub(crate) mod plan;
pub(crate) mod program_pmu;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod spe;
pub(crate) mod stat;
mod stat_a53;
pub(crate) mod sweep;
pub(crate) mod trace;
pub(crate) mod validate;
