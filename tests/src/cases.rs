//! The scenario files of the repository, read once for all tests that use them.

use sim_scenario::{self as scenario, Case};

use crate::{files_below, read, repository};

/// A case with its file, relative to the top of the repository.
#[derive(Clone, Debug)]
pub struct FiledCase {
    /// The file.
    pub file: String,
    /// The case.
    pub case: Case,
}

/// Returns every case below `tests/scenarios`, in the order of files and lines.
///
/// # Panics
///
/// When a file cannot be read or is not a scenario.
pub fn all_cases() -> Vec<FiledCase> {
    let top = repository();
    let mut cases = Vec::new();
    for path in files_below(&top.join("tests/scenarios"), "toml") {
        let file = path.strip_prefix(&top).unwrap_or(&path).display().to_string();
        let parsed = scenario::parse(&file, &read(&path)).unwrap_or_else(|error| panic!("{error}"));
        cases.extend(parsed.into_iter().map(|case| FiledCase { file: file.clone(), case }));
    }
    cases
}
