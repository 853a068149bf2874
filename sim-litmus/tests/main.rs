//! Tests of the cases for real machines.

mod admission;
mod el1;
mod kernels;
mod recorded;
mod stand_in;
mod wrong_machines;
