//! Structures of the core that keep state. A unit uses only its own state. It imports no stage and
//! no other part of the core.

pub(crate) mod address_predictor;
pub mod branch;
pub(crate) mod clocks;
pub(crate) mod critical_path;
pub(crate) mod dependence;
pub(crate) mod dispatch;
pub(crate) mod exception_state;
pub(crate) mod frontend;
pub(crate) mod issue_queue;
pub(crate) mod last_elements;
pub(crate) mod load_banks;
pub(crate) mod lsu;
pub(crate) mod pipes;
pub(crate) mod recorded_exception;
pub(crate) mod rename;
pub(crate) mod resource;
pub(crate) mod retire;
pub(crate) mod rob;
pub(crate) mod scoreboard;
pub(crate) mod slots;
pub(crate) mod stamp;
pub(crate) mod steering;
pub(crate) mod wait_timeline;
