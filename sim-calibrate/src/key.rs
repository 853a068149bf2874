//! A value of the configuration that a fit may change.

use sim_core::config::Range;

/// A value with a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Dotted key of the configuration.
    pub name: String,
    /// Values that it may have.
    pub range: Range,
    /// Position in the range at which the search starts.
    pub start: usize,
}

impl Key {
    /// Returns the value at a position.
    pub fn value(&self, position: usize) -> i64 {
        self.range.value(position)
    }

    /// Returns the last position.
    pub fn last(&self) -> usize {
        self.range.len() - 1
    }

    /// Returns a position moved by some steps, and kept inside the range.
    pub fn moved(&self, position: usize, steps: f64) -> usize {
        let moved = position as f64 + steps;
        moved.round().clamp(0.0, self.last() as f64) as usize
    }
}
