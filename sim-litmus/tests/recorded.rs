//! The committed recordings of the program with all candidates, and their replay.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sim_litmus::replay::{self, Pages};
use sim_litmus::{CountedCase, LeftOut, Litmus, Reason, select, select_el1};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, Session};
use sim_scenario::Case;
use sim_trace::TraceFile;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the committed scenarios: their names and cases.
fn scenarios() -> &'static [(String, Vec<Case>)] {
    static FILES: OnceLock<Vec<(String, Vec<Case>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let entries = fs::read_dir(folder().join("../tests/scenarios")).expect("the scenarios");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        let read = |path: &PathBuf| {
            let text = fs::read_to_string(path).expect("a scenario is text");
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
            (name.to_owned(), sim_scenario::parse(name, &text).expect("a scenario"))
        };
        files.iter().map(read).collect()
    })
}

/// Returns the cases of the committed scenarios that user mode can run.
pub(crate) fn candidates() -> &'static [Litmus] {
    static CASES: OnceLock<Vec<Litmus>> = OnceLock::new();
    CASES.get_or_init(|| select(scenarios()).0)
}

/// Returns the cases that a module of the kernel can run.
pub(crate) fn candidates_el1() -> &'static [Litmus] {
    static CASES: OnceLock<Vec<Litmus>> = OnceLock::new();
    CASES.get_or_init(|| select_el1(scenarios()).0)
}

/// Returns the names of all cases.
pub(crate) fn all_ids() -> Vec<String> {
    let of_file = |(file, cases): &(String, Vec<Case>)| {
        cases.iter().map(|case| format!("{file}:{}", case.test)).collect::<Vec<_>>()
    };
    scenarios().iter().flat_map(of_file).collect()
}

/// Returns the cases that no program has, for another reason than that they need EL1.
pub(crate) fn left_out() -> Vec<LeftOut> {
    let all = select(scenarios()).1;
    all.into_iter().filter(|case| case.reason != Reason::NeedsEl1).collect()
}

/// Returns the cases that need EL1 and that the module does not have.
pub(crate) fn left_out_el1() -> Vec<LeftOut> {
    select_el1(scenarios()).1
}

/// Returns the counts of the recorded payload on the model.
pub(crate) fn replayed_el1() -> &'static [CountedCase] {
    static COUNTED: OnceLock<Vec<CountedCase>> = OnceLock::new();
    COUNTED.get_or_init(|| replay_with("recordings/el1.n2t", Pages::Small, candidates_el1()))
}

/// Recordings, and the pages of their cases: of those that need no elements of vectors, and of
/// those that do.
const RECORDINGS: [(&str, Pages); 3] = [
    ("recordings/all.n2t", Pages::Small),
    ("recordings/all.n2t", Pages::Blocks),
    ("recordings/vectors.n2t", Pages::Blocks),
];

/// Returns the counts of the recordings on the model, each case once.
pub(crate) fn replayed() -> &'static [CountedCase] {
    static COUNTED: OnceLock<Vec<CountedCase>> = OnceLock::new();
    COUNTED.get_or_init(|| {
        let mut counted: Vec<CountedCase> = Vec::new();
        for (name, pages) in RECORDINGS {
            let more = replay_with(name, pages, candidates());
            let is_new = |case: &CountedCase| !counted.iter().any(|known| known.case == case.case);
            let new: Vec<_> = more.into_iter().filter(is_new).collect();
            counted.extend(new);
        }
        counted
    })
}

fn replay_with(name: &str, pages: Pages, cases: &[Litmus]) -> Vec<CountedCase> {
    let path = folder().join(name);
    let file = TraceFile::open(&path).expect("the recording is committed");
    let code = replay::code(file.meta(), cases).unwrap_or_else(|| {
        panic!(
            "{} is a recording of other cases; docs/litmus.md says how to record it",
            path.display()
        )
    });
    let overrides: Vec<String> = pages.overrides().into_iter().map(str::to_owned).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("a configuration");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::of(file, config, RunHeader::default()).expect("a session");
    replay::replay(&session, pages, cases, &code, &mut |_| ()).expect("the run ends")
}
