//! The result of a command that did not fail.

use std::process::ExitCode;

/// The result of a command's checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The command is done, and every check holds.
    Good,
    /// A check failed.
    Refuted,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> ExitCode {
        match verdict {
            Verdict::Good => ExitCode::SUCCESS,
            Verdict::Refuted => ExitCode::from(1),
        }
    }
}
