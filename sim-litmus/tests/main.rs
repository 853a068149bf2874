//! Tests of the program of cases.

mod admission;
