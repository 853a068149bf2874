//! The text of `docs/silicon-fit.md`.

use super::Fitted;

/// Writes the page.
pub(super) fn page(_machines: &[Fitted<'_>]) -> String {
    String::new()
}
