//! Representative windows of a long trace (sampled simulation).
//!
//! The trace is read once with functional warming and divided into intervals. Intervals that run
//! the same blocks form clusters (`cluster`). Some are chosen by their activity (`choose`) and
//! weighted so that they have the means of the whole trace (`calibrate`). A file of windows names
//! its trace by hash; people may read and edit it.

mod calibrate;
mod choose;
mod cluster;
mod error;
mod features;
mod file;
mod find;
mod run;
mod states;
mod thread_vectors;
mod vectors;
pub(crate) mod windows;

pub use error::RegionsError;
pub(crate) use file::hash_text;
pub use find::{Found, MOST_INTERVALS, RegionOptions};
pub use windows::{MOST_WINDOWS, Region, Regions};
