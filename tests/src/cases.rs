//! The scenario files of the repository and the counts of their cases, read and run once for all
//! tests that use them.

use std::path::PathBuf;
use std::sync::OnceLock;

use sim_machine::ConfigSource;
use sim_scenario::{self as scenario, Action, Case, Reading, Recorded, configure, run_case_on};

use crate::{files_below, read, repository};

/// A case with its file, relative to the top of the repository.
#[derive(Clone, Debug)]
pub struct FiledCase {
    /// The file.
    pub file: String,
    /// The case.
    pub case: Case,
}

/// A case, and what it raises on the machine of the guide.
#[derive(Clone, Debug)]
pub struct RecordedCase {
    /// The case.
    pub case: &'static Case,
    /// Totals of events and edges.
    pub recorded: Recorded,
}

impl RecordedCase {
    /// Returns true if all steps run on the core. Fetches and external agents do not run its clock,
    /// so relations of its cycles do not hold there.
    pub fn clock_runs(&self) -> bool {
        self.case.steps.iter().all(|step| matches!(step.action, Action::Execute { .. }))
    }
}

/// Returns every case below `tests/scenarios`, in the order of files and lines.
///
/// # Panics
///
/// When a file cannot be read or is not a scenario.
pub fn all_cases() -> &'static [FiledCase] {
    static CASES: OnceLock<Vec<FiledCase>> = OnceLock::new();
    CASES.get_or_init(|| {
        let top = repository();
        let read_cases = |path: &PathBuf| {
            let file = path.strip_prefix(&top).unwrap_or(path).display().to_string();
            let cases =
                scenario::parse(&file, &read(path)).unwrap_or_else(|fault| panic!("{fault}"));
            cases.into_iter().map(move |case| FiledCase { file: file.clone(), case })
        };
        let files = files_below(&top.join("tests/scenarios"), "toml");
        files.iter().flat_map(read_cases).collect()
    })
}

/// Returns every case of [`all_cases`] with what it raises.
///
/// # Panics
///
/// When a case cannot be run.
pub fn recorded_cases() -> &'static [RecordedCase] {
    static RECORDED: OnceLock<Vec<RecordedCase>> = OnceLock::new();
    RECORDED.get_or_init(|| all_cases().iter().map(|filed| run(&filed.case)).collect())
}

fn run(case: &'static Case) -> RecordedCase {
    let config = configure(case, &ConfigSource::default())
        .unwrap_or_else(|fault| panic!("{}: {fault}", case.test));
    let (_, recorded) = run_case_on(case, &config, Reading::Guide, Recorded::default())
        .unwrap_or_else(|fault| panic!("{}: {fault}", case.test));
    RecordedCase { case, recorded }
}
