//! The committed recording of the program with all cases, replayed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sim_litmus::admission::{self, Admission};
use sim_litmus::replay::{self, Pages};
use sim_litmus::{CountedCase, LeftOut, Litmus, program, select};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, Session};
use sim_trace::TraceFile;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the cases of the committed scenarios.
fn all_cases() -> (Vec<Litmus>, Vec<LeftOut>) {
    let folder = workspace().join("tests/scenarios");
    let entries = fs::read_dir(folder).expect("the scenarios are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a scenario is text");
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        // Files of the Cortex-A53 have a language of their own.
        Some((name.clone(), sim_scenario::parse(&name, &text).ok()?))
    };
    select(&files.iter().filter_map(read).collect::<Vec<_>>())
}

/// Replays the committed recording.
fn replayed(cases: &[Litmus], more: &[&str]) -> Vec<CountedCase> {
    let mut counted = Vec::new();
    for pages in Pages::BOTH {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings/all.n2t");
        let file = TraceFile::open(&path).expect("the trace is committed");
        let code = replay::code(file.meta(), cases).unwrap_or_else(|| {
            panic!("recordings/all.n2t is a recording of other cases; docs/litmus.md says how to record it")
        });
        let overrides: Vec<String> =
            pages.overrides().into_iter().chain(more.iter().copied()).map(str::to_owned).collect();
        let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
        let document = source.document().expect("a configuration");
        let config = MachineConfig::from_document(&document).expect("a machine");
        let session = Session::of(file, config, RunHeader::default()).expect("a session");
        let of_pages = replay::replay(&session, pages, cases, &code, &mut |_| ());
        counted.extend(of_pages.expect("the run ends"));
    }
    counted
}

#[test]
fn the_replay_gives_back_the_claims_of_the_admitted_cases() {
    let (cases, _) = all_cases();
    if let Some(path) = std::env::var_os("N2SIM_LITMUS_PROGRAM") {
        fs::write(path, program::text(&cases)).expect("the program is written");
        return;
    }
    let counted: BTreeMap<String, CountedCase> =
        replayed(&cases, &[]).into_iter().map(|case| (case.case.clone(), case)).collect();
    let mut admission = Admission::default();
    for litmus in &cases {
        match admission::admit(litmus, counted.get(&litmus.id)) {
            Ok(admitted) => admission.cases.push(admitted),
            Err(wrong) => {
                let shown: Vec<String> = wrong
                    .iter()
                    .take(4)
                    .map(|wrong| {
                        format!(
                            "{} {} not {:?}",
                            wrong.expected.event.mnemonic(),
                            wrong.expected.bound,
                            wrong.counted
                        )
                    })
                    .collect();
                println!("{} | {}", litmus.id, shown.join(", "));
            }
        }
    }
    println!("{} of {}", admission.cases.len(), cases.len());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("admitted.toml");
    let text = toml::to_string(&admission).expect("a table");
    if std::env::var_os("N2SIM_BLESS").is_some() {
        fs::write(path, text).expect("the file is written");
    } else {
        assert_eq!(text, fs::read_to_string(path).expect("the file is committed"));
    }
}
