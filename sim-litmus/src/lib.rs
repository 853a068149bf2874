//! Directed cases on real machines.
//!
//! A case of the scenario language states what an event counts. This crate writes the cases that
//! user mode can run as one C program ([`program`]), which counts them with the PMU of the machine
//! that it runs on, and compares its result ([`counts`]) with the claims ([`judge`]).
//!
//! Cases that need EL1 ([`el1`]) are in a module of the Linux kernel ([`module`]), and in a payload
//! for a machine without an operating system ([`payload`]), whose recording the model replays.
//!
//! A case is in the program only if the model reproduces its claim when it replays the compiled
//! program ([`replay`], [`admission`]), so that no machine is judged by a faulty preparation.

pub mod admission;
mod assembly;
mod c_text;
mod call_counts;
pub mod contribution;
pub mod counts;
pub mod el1;
pub mod judge;
pub mod kernels;
pub mod machine;
mod memory;
pub mod module;
pub mod noise;
pub mod operands;
mod pages;
pub mod payload;
pub mod plan;
pub mod program;
mod reason;
pub mod replay;
pub mod rules;
pub mod vectors;

pub use admission::{Admission, Admitted};
pub use counts::{Counted, CountedCase, CountedKernel, MachineFacts, ResultError};
pub use judge::{Answer, JudgedCase, JudgedClaim};
pub use kernels::Kernel;
pub use machine::Midr;
pub use plan::Plan;
pub use program::{LeftOut, Litmus, select, select_el1};
pub use reason::Reason;
