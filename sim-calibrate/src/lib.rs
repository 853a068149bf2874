//! Fits assumed values of a model to counts of a machine, and says what the counts leave open.
//!
//! A [`Key`] is a value of the model's configuration with a range. [`Points`] are the counts of the
//! machine, with their spread, and a [`Model`] predicts them. [`calibrate`] looks for the values
//! whose predictions differ least from the counts:
//!
//! 1. [`screen`](mod@screen): each key at both ends of its range. A key that changes no count is
//!    not fitted, nor is the size of a hashed table.
//! 2. [`fit`]: sums of the changes of single keys over their whole ranges, then least squares of
//!    the logarithms of the counts by Levenberg and Marquardt's method on whole numbers, and steps
//!    of single keys; from a second place too, if noise does not explain the counts.
//! 3. Doubt: counts that jump, or that depend on the kernels before, weigh less.
//! 4. [`interval`]: the values of each key that fit as well, if the others follow.
//! 5. [`tie`]: directions in which several keys can move and no count changes.
//! 6. [`residual`]: counts that no value explains, which refute the structure of the model.
//!
//! The method needs hundreds of predictions. [`Runs`] makes them in parallel and keeps them, so
//! that a search that was ended continues where it was.

mod calibrate;
mod chance;
mod curves;
mod doubt;
pub mod fit;
pub mod interval;
mod journal;
mod key;
mod lattice;
mod point;
pub mod residual;
mod runs;
pub mod screen;
mod slope;
pub mod tie;

pub use calibrate::{Calibration, FittedKey, Settings, calibrate};
pub use journal::{Journal, JournalError};
pub use key::Key;
pub use point::{Point, Points, Sample, digest, is_held_out};
pub use residual::{Cause, Errors, Unexplained};
pub use runs::{Model, Progress, RunError, Runs};
pub use tie::Tie;
