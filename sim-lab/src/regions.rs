//! Windows of a long trace that stand for the whole of it, found by what the trace runs.
//!
//! The trace is read once, without simulation, and cut into intervals; intervals that run the same
//! blocks are put into groups (`cluster`), some are chosen by what happens in them (`choose`), and
//! weighted so that they have the means of the whole trace (`calibrate`). A file of windows names
//! the trace that they belong to by its hash; people may read and change it.

mod calibrate;
mod choose;
mod cluster;
mod error;
mod features;
mod file;
mod find;
mod run;
mod states;
mod vectors;
pub(crate) mod windows;

pub use error::RegionsError;
pub(crate) use file::hash_text;
pub use find::{Found, MOST_INTERVALS, RegionOptions};
pub use windows::{MOST_WINDOWS, Region, Regions};
