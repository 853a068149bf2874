//! The file of a sweep's table: CSV, or Parquet in a build with the feature `parquet`.

use std::path::Path;

use anyhow::ensure;
use sim_core::Shown;
use sim_runs::Table;

use crate::files::output::Output;

/// Ending of the names of Parquet files.
const PARQUET: &str = "parquet";

/// Refuses a table whose form this build does not write.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    ensure!(
        cfg!(feature = "parquet") || !is_parquet(path),
        "cannot write {}: this n2sim was built without Parquet; give a name that ends in .csv, or build it \
         with --features parquet",
        path.shown()
    );
    Ok(())
}

/// Writes the table in the form that its name ends in.
pub(super) fn write(table: &Table, path: &Path) -> anyhow::Result<()> {
    check(path)?;
    #[cfg(feature = "parquet")]
    if is_parquet(path) {
        return write_parquet(table, path);
    }
    table.write_csv(Output::create(Some(path))?)?.finish()
}

/// Writes the table as Parquet.
#[cfg(feature = "parquet")]
pub(super) fn write_parquet(table: &Table, path: &Path) -> anyhow::Result<()> {
    use anyhow::Context;
    let written = table.write_parquet(Output::create(Some(path))?);
    written.with_context(|| format!("cannot write {}", path.shown()))?.finish()
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(PARQUET))
}
