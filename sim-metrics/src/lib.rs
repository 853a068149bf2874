//! Formulas over event counts: ratios that reports print, identities that every count must keep.
//!
//! * [`metrics`]: the built-in ratios, each a weighted sum over a weighted sum of events;
//! * [`identities`]: sums, aliases, subsets and the slot identity, derived from the event table.

pub mod identities;
pub mod metrics;

pub use identities::{Assumptions, Check, Violation};
pub use metrics::{Metric, Unit};
