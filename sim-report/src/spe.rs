//! Sample records of the Statistical Profiling Extension: found in files, summed up, printed.
//!
//! * [`input`]: raw bytes or a `perf.data` file; [`profile`]: the sums;
//! * [`text`], [`json`]: the sums as tables; [`columns`]: records as rows; [`csv`]: those rows as files;
//! * [`truth`]: sampled distributions beside the exact one; [`figure`]: pictures.

pub mod columns;
pub mod csv;
pub mod figure;
pub mod input;
pub mod json;
pub mod profile;
pub mod text;
pub mod truth;
