//! Writes `docs/conformance.md` from the scenario files.

use sim_tests::{conformance, repository};

/// Runs every case and writes the page.
pub(crate) fn run() -> anyhow::Result<bool> {
    let page = conformance::page().map_err(|error| anyhow::anyhow!("{error}"))?;
    let path = repository().join("docs/conformance.md");
    std::fs::write(&path, page)?;
    println!("wrote {}", path.display());
    Ok(true)
}
