//! Runs that count events: the requested events, the counters, and the printed counts.

pub(crate) mod a53_events;
pub(crate) mod a53_metrics;
pub(crate) mod a53_run;
pub(crate) mod counted_run;
pub(crate) mod counts_file;
pub(crate) mod event_list;
pub(crate) mod ideal_run;
pub(crate) mod interval;
pub(crate) mod mesh_events;
pub(crate) mod mesh_names;
pub(crate) mod metric_events;
pub(crate) mod metric_name;
pub(crate) mod notes;
pub(crate) mod partial_run;
pub(crate) mod print;
pub(crate) mod setup;
