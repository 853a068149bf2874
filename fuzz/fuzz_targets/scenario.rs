//! Fuzzes scenario files: reads them and runs every case on a small machine with both profiles.
//! Nothing may panic, hang or take much memory.
//!
//! Run: `cargo xtask fuzz scenario`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use sim_machine::{ConfigSource, MachineConfig, Profile};
use sim_scenario::{
    self as scenario, Case, CaseError, Reading, Recorded, Verdict, configure, reading_of, run_case,
    run_case_on,
};

/// Largest number of steps to run, in all cases of a text. The time of a million steps is not a
/// fault.
const STEPS: usize = 200;

/// Overrides for a complete machine that is built quickly.
static SMALL: LazyLock<Vec<String>> = LazyLock::new(|| {
    ["memory.slc.slice-bytes=4096", "memory.snoop-filter.slice-lines=64"].map(String::from).into()
});

/// Machines for cases that do not change them, because reading a configuration takes longer than a
/// case.
static MACHINES: LazyLock<[(MachineConfig, Reading); 2]> = LazyLock::new(|| {
    let case = scenario::parse_steps(("given", "K0"), ("steps", "NOP")).expect("ours");
    [Profile::Guide, Profile::Silicon].map(|profile| {
        let source = source(profile);
        (configure(&case, &source).expect("ours"), reading_of(&source))
    })
});

fn source(profile: Profile) -> ConfigSource<'static> {
    ConfigSource { profile, overrides: &SMALL, ..ConfigSource::default() }
}

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(data) else { return Corpus::Reject };
    match scenario::parse("fuzz.toml", text) {
        Ok(cases) => run(&cases),
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("fuzz.toml:"), "{message}");
            assert!(error.place.line <= text.lines().count() + 1, "{message}");
        }
    }
    Corpus::Keep
});

fn run(cases: &[Case]) {
    let steps: usize = cases.iter().map(|case| case.steps.len()).sum();
    if steps > STEPS {
        return;
    }
    for case in cases {
        if !case.given.set.is_empty() {
            check(case, run_case(case, &source(Profile::Guide)));
            continue;
        }
        for (config, reading) in &*MACHINES {
            let run = run_case_on(case, config, *reading, Recorded::default());
            check(case, run.map(|(verdict, _)| verdict));
        }
    }
}

fn check(case: &Case, run: Result<Verdict, CaseError>) {
    match run {
        Ok(verdict) => assert!(verdict.holds() || !verdict.explain("", case).is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
