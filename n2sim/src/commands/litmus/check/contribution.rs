//! Whether results are fit for a collection of results.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sim_core::Shown;
use sim_litmus::contribution::faults;

use super::super::all_cases::AllCases;
use super::{own_cases, read};
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Prints each result with what keeps it from being published.
pub(super) fn run(
    results: &[PathBuf],
    output: Option<&Path>,
    all: &AllCases,
) -> anyhow::Result<Verdict> {
    let mut out = Output::create(output)?;
    let mut text = String::new();
    let mut is_fit = true;
    for path in results {
        let counted = read(path)?;
        let own = own_cases(path, &counted, all)?;
        let cases: Vec<&str> = own.candidates.iter().map(|litmus| litmus.id.as_str()).collect();
        let faults = faults(&counted, &cases);
        is_fit &= faults.is_empty();
        let path = path.shown();
        if faults.is_empty() {
            let (name, cases) = (counted.machine.name.shown(), counted.cases.len());
            let kernels = counted.kernels.len();
            writeln!(
                text,
                "{path}: fit to be published: {name}, cases: {cases}, kernels: {kernels}"
            )?;
        }
        for fault in faults {
            writeln!(text, "{path}: {fault}")?;
        }
    }
    out.write_all(text.as_bytes())?;
    out.finish()?;
    Ok(if is_fit { Verdict::Good } else { Verdict::Refuted })
}
