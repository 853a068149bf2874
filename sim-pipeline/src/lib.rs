//! The out-of-order core: every operation walks the stages once, in program order.
pub mod branch;
pub mod calendar;
pub mod config;
pub mod resource;
pub mod slots;
