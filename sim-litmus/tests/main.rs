//! Tests of the cases for real machines.

mod admission;
mod recorded;
mod wrong_machines;
