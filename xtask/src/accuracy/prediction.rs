//! Part 3 of the page: prediction and the wrong path on the committed traces.

use anyhow::Result;

/// The text of the part.
pub(crate) fn section() -> Result<String> {
    Ok(String::new())
}
