//! Tests of the calibration, on a small machine whose counts are known.

mod chance;
mod shapes;
mod twins;
