//! Published figures of the silicon core, each beside the model's result for the same kernel.
//!
//! A kernel of real A64 words on [`crate::core_bench`] measures each target; nothing is read from
//! the configuration. The numbers T1 ... T28 are those of the accuracy page.

pub mod back_end;
pub mod front_end;

/// A published figure and the model's.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Number on the accuracy page, such as `T16`, with a letter for parts of one number.
    pub id: &'static str,
    /// Measured quantity, with its unit.
    pub what: &'static str,
    /// Published value.
    pub published: f64,
    /// Value of the model.
    pub ours: f64,
    /// Publisher and platform.
    pub source: &'static str,
    /// Reason for a deviation of more than 10 %; otherwise empty.
    pub reason: &'static str,
}

impl Target {
    /// Returns the relative deviation from the published value: 0.1 is 10 % above.
    pub fn error(&self) -> f64 {
        self.ours / self.published - 1.0
    }
}
