//! The directed cases of the Cortex-A53, below `tests/scenarios-a53`.

mod errors;
mod mutation;
mod page;

use std::path::{Path, PathBuf};

use sim_scenario::a53::{Case, configure, defaults, parse, run_case};

/// A case with its file, relative to the top of the repository.
pub(crate) struct FiledCase {
    pub(crate) file: String,
    pub(crate) case: Case,
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_owned()
}

/// Returns every case, in the order of files and lines.
pub(crate) fn all_cases() -> Vec<FiledCase> {
    let folder = repository().join("tests/scenarios-a53");
    let entries = std::fs::read_dir(folder).expect("the folder of the cases");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let file = format!("tests/scenarios-a53/{name}");
        let text = std::fs::read_to_string(&path).expect("a scenario file");
        let parsed = parse(&file, &text).unwrap_or_else(|error| panic!("{error}"));
        cases.extend(parsed.into_iter().map(|case| FiledCase { file: file.clone(), case }));
    }
    cases
}

/// Returns the sources of the model that can raise events: file as the compiler names it, and text.
pub(crate) fn model_sources() -> Vec<(String, String)> {
    let mut folders = vec![repository().join("sim-a53/src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(repository()).expect("below the top").to_string_lossy();
            // Sinks, and a test of the memory side.
            let is_left_out = [
                "event.rs",
                "event_bus.rs",
                "src/flow.rs",
                "src/groups.rs",
                "src/mispredictions.rs",
                "src/overflow.rs",
                "src/perf.rs",
                "src/pmu.rs",
                "src/profile.rs",
                "memory/tests.rs",
            ];
            if !is_left_out.iter().any(|end| name.ends_with(end)) {
                let text = std::fs::read_to_string(&path).expect("a source");
                sources.push((name.into_owned(), text));
            }
        }
    }
    sources.sort();
    sources
}

#[test]
fn every_case_holds() {
    let mut failures = Vec::new();
    let cases = all_cases();
    for FiledCase { file, case } in &cases {
        let document = defaults().expect("the built-in configuration");
        let config = configure(case, document).unwrap_or_else(|error| panic!("{file}: {error}"));
        let verdict = run_case(case, &config).unwrap_or_else(|error| panic!("{file}: {error}"));
        if !verdict.holds() {
            failures.push(verdict.explain(file, case));
        }
    }
    let (failed, all) = (failures.len(), cases.len());
    assert!(failures.is_empty(), "{failed} of {all} cases fail:\n{}", failures.join("\n"));
}
