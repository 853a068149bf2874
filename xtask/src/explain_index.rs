//! Writes the index of `n2sim explain` from the scenario files.

use sim_tests::{explain_index, repository};

/// Runs every case and writes the index.
pub(crate) fn run() -> anyhow::Result<bool> {
    let text = explain_index::text().map_err(|error| anyhow::anyhow!("{error}"))?;
    let path = repository().join(explain_index::FILE);
    std::fs::write(&path, text)?;
    println!("wrote {}", path.display());
    Ok(true)
}
