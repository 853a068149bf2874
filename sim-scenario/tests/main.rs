//! Tests of the scenarios of the Cortex-A53.

mod a53;
