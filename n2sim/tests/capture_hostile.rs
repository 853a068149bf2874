//! Programs that attack the recorder: what they did before is kept, and the trace says what became
//! of the rest. Where the system keeps them from the memory of their recording (they end with
//! status 3), everything is.

use crate::recording::{Bench, N2SIM, Recording};
use std::process::Command;

/// The gap in a trace whose shared memory was overwritten.
const DAMAGED: &str = "the program wrote into the memory of its recording";

fn gap(recording: &Recording) -> bool {
    recording.file.meta().gaps.iter().any(|gap| gap.contains(DAMAGED))
}

#[test]
fn a_program_that_takes_the_memory_away_is_refused_and_recorded_whole() {
    let Some(bench) = Bench::new("TRUNCATES") else { return };
    let recording = bench.record(&[]);
    let walks = if recording.note("program-end") == Some("exit status 3") { 1 } else { 2 };
    recording.assert_walks(walks);
    assert!(!gap(&recording), "{}", recording.said);
}

#[test]
fn a_program_that_forges_the_memory_loses_only_the_rest_of_its_recording() {
    for pitfall in ["FORGES_HEADERS", "FORGES_WORDS", "FORGES_CONTROL"] {
        let Some(bench) = Bench::new(pitfall) else { return };
        let recording = bench.record(&[]);
        let is_kept_out = recording.note("program-end") == Some("exit status 3");
        assert_eq!(gap(&recording), !is_kept_out, "{pitfall}: {}", recording.said);
        assert!(recording.insts.len() > 500, "{pitfall}: {}", recording.said);
    }
}

#[test]
fn the_doctor_names_the_embedded_plugin_or_the_file_that_replaces_it() {
    let doctor = |plugin: Option<&str>| {
        let mut command = Command::new(N2SIM);
        command.arg("doctor").env_remove("N2SIM_PLUGIN");
        command.envs(plugin.map(|path| ("N2SIM_PLUGIN", path)));
        String::from_utf8(command.output().expect("n2sim runs").stdout).expect("it is text")
    };
    let message = doctor(None);
    assert!(message.contains("embedded, for QEMU before 9.1; embedded, for QEMU 9.1"), "{message}");
    let message = doctor(Some("/nowhere/x.so"));
    assert!(message.contains("/nowhere/x.so (N2SIM_PLUGIN names it): No such file"), "{message}");
    assert!(message.contains("cannot work yet"), "{message}");
}
