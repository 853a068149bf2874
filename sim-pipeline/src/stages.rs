//! Stages of the core, one file per stage. Each file is an `impl` of [`crate::Pipeline`] that takes
//! an operation through the units that the stage needs.

pub(crate) mod events;
pub(crate) mod exceptions;
pub(crate) mod execute;
pub(crate) mod fetch;
pub(crate) mod in_order;
pub mod in_order_access;
pub(crate) mod mem_request;
pub(crate) mod memory_order;
pub(crate) mod op_report;
pub(crate) mod ordering;
pub(crate) mod recorded_exceptions;
pub(crate) mod rename;
pub(crate) mod restart;
pub(crate) mod retire;
pub(crate) mod store_order;
pub(crate) mod sve_elements;
pub(crate) mod system_ops;
pub(crate) mod training;
pub(crate) mod wrong_path;
