//! Files that commands read and write.

pub(crate) mod a53_config;
pub(crate) mod command_line;
pub(crate) mod metric_files;
pub(crate) mod open_trace;
pub(crate) mod output;
pub(crate) mod packed;
pub(crate) mod source_text;
pub(crate) mod symbols;
