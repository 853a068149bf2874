//! What is published about the silicon core, beside what this model gives for the same kernel.
//!
//! Each target is measured by a kernel of real A64 words on [`crate::core_bench`], never read from
//! the configuration. The numbers T1 ... T28 are those of the accuracy page.

pub mod back_end;
pub mod front_end;

/// One published quantity and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Number on the accuracy page, such as `T16`, with a letter where one number has several parts.
    pub id: &'static str,
    /// What is measured, with its unit.
    pub what: &'static str,
    /// The published value.
    pub published: f64,
    /// Ours.
    pub ours: f64,
    /// Who published it, on which platform.
    pub source: &'static str,
    /// Why ours differs, for one that is more than 10 % away; otherwise empty.
    pub reason: &'static str,
}

impl Target {
    /// Distance from the published value, as a part of it: 0.1 is 10 % above.
    pub fn error(&self) -> f64 {
        self.ours / self.published - 1.0
    }
}
