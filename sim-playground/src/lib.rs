//! The model of the playground page. A page asks in JSON and gets JSON: the state and the events of
//! each step of a case, the counts of a scenario file or of a trace, the pipeline of a window, the
//! counters of a core beside the exact counts.
//!
//! [`Playground::answer`] takes a request of [`Request`]. The library is compiled to WebAssembly
//! (`exports`) and embedded in the page; on other targets it serves tests. It has no clock, reads
//! no file and keeps nothing between requests but the traces that the page has given to it and the
//! answers of the last lesson.

mod assembly;
#[cfg(target_family = "wasm")]
pub mod exports;
mod fault;
mod lessons;
mod machine;
mod operations;
mod request;
mod scenarios;
mod steps;
mod tables;
mod traces;

pub use request::{Playground, Request};
