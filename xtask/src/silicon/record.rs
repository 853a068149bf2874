//! The recordings: `xtask/silicon/record.sh` makes the missing ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use sim_tests::repository;

use super::rows::Row;

/// Makes the recordings of `rows` that `folder` lacks.
pub(super) fn record(rows: &[Row], folder: &Path, n2sim: Option<&Path>) -> Result<()> {
    let reached = rows.iter().filter(|row| row.out_of_reach.is_none());
    let wanted: BTreeMap<&str, &str> =
        reached.map(|row| (row.trace.as_str(), row.recipe.as_str())).collect();
    let mut list = String::new();
    for (trace, recipe) in wanted {
        if !folder.join(format!("{trace}.n2t")).exists() {
            let _ = writeln!(list, "{trace} {recipe}");
        }
    }
    if list.is_empty() {
        return Ok(());
    }
    // The script works in another directory.
    let n2sim = match n2sim {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        None => build()?,
    };
    println!("recording {} programs in {}", list.lines().count(), folder.display());
    let mut script = Command::new(repository().join("xtask/silicon/record.sh"));
    let mut script = script.arg(folder).arg(n2sim).stdin(Stdio::piped()).spawn()?;
    script.stdin.take().context("the script reads a list")?.write_all(list.as_bytes())?;
    ensure!(script.wait()?.success(), "record.sh failed");
    Ok(())
}

/// Builds n2sim of the working tree. Returns its path.
fn build() -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "-p", "n2sim"]);
    ensure!(cargo.current_dir(repository()).status()?.success(), "n2sim cannot be built");
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    Ok(target.unwrap_or_else(|| repository().join("target")).join("release/n2sim"))
}
