//! The result of a command that did not fail.

/// The result of a command's checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The command is done, and every check holds.
    Good,
    /// A check failed.
    Refuted,
}

/// The exit code.
impl From<Verdict> for u8 {
    fn from(verdict: Verdict) -> u8 {
        match verdict {
            Verdict::Good => 0,
            Verdict::Refuted => 1,
        }
    }
}
