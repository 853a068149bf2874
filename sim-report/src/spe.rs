//! Sample records of the Statistical Profiling Extension: reading, summing and printing.
//!
//! * [`input`]: raw bytes or a `perf.data` file; [`profile`]: sums;
//! * [`text`], [`json`]: sums as tables; [`columns`]: records as rows; [`csv`]: rows as files;
//! * [`truth`]: sampled distributions against the exact distribution; [`figure`]: figures.

pub mod columns;
pub mod csv;
pub mod figure;
pub mod input;
pub mod json;
pub mod profile;
pub mod text;
pub mod truth;
