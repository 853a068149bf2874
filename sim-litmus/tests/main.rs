//! Tests of the cases for real machines.

mod admission;
mod kernels;
mod recorded;
mod wrong_machines;
