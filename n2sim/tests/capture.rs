//! Records real programs under QEMU and reads the traces back.
//!
//! Where QEMU or the cross compiler is absent, each test checks the message that says what to
//! install instead: it never passes without having checked anything.

use crate::recording::{Bench, HERE, LOADS, N2SIM};
use sim_core::{InstFlags, TraceInst};
use sim_trace::{StreamEvent, TraceFile, verify};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn a_trace_has_as_many_instructions_as_the_engine_counts() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(1);
    let output = bench.capture(&["--count-only"]).output().expect("n2sim runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.trim(), format!("engine count: {}", recording.insts.len()));
    assert_eq!(recording.note("program-end"), Some("exit status 7"));
    assert_eq!(recording.syscalls(), [(94, None)]);
    assert!(recording.file.meta().symbol("walk").is_some());
    // Every executed word can be found in the code image, which the wrong path fetches from.
    for word in recording.file.statics().insts() {
        assert_eq!(recording.file.image().word_at(word.pc), Some(word.word), "{:#x}", word.pc);
    }
}

#[test]
fn skip_and_limit_cut_the_recording() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    let whole = bench.record(&[]).insts.len();
    let tail = bench.record(&["--skip", "1000"]);
    assert!((whole - 1200..=whole - 1000).contains(&tail.insts.len()), "{}", tail.insts.len());
    assert!(tail.said.contains("instructions were skipped"), "{}", tail.said);
}

#[test]
fn a_limit_ends_a_program_that_never_ends() {
    let Some(bench) = Bench::new("SPIN") else { return };
    let recording = bench.record(&["--limit", "2000000"]);
    assert!(recording.insts.len() >= 2_000_000);
    assert!(recording.said.contains("ended at its instruction limit"), "{}", recording.said);
    assert_eq!(recording.signals(), []);
}

#[test]
fn a_recording_of_nothing_is_refused_and_leaves_no_file() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    for (options, reason) in [
        (["--cpu", "no-such-cpu"], "the engine ended before the program began"),
        (["--skip", "9G"], "the program ended before --skip 9000000000"),
    ] {
        let output = bench.capture(&options).output().expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
        assert_eq!(bench.folder.path().read_dir().expect("readable").count(), 1, "{said}");
    }
}

#[test]
fn an_abort_leaves_the_whole_recording() {
    let Some(bench) = Bench::new("ABORT") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(1);
    assert_eq!(recording.note("program-end"), Some("killed by signal 6"));
    assert_eq!(recording.signals(), [(6, false)]);
    assert_eq!(recording.syscalls().last().map(|call| call.0), Some(129));
}

#[test]
fn closing_every_descriptor_does_not_disturb_the_recording() {
    let Some(bench) = Bench::new("CLOSE_ALL") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(2);
    let closes = recording.syscalls().iter().filter(|call| call.0 == 57).count();
    assert_eq!(closes, 1024);
}

#[test]
fn the_child_of_a_fork_is_left_out_and_said_to_be() {
    let Some(bench) = Bench::new("FORK") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(2);
    assert_eq!(recording.file.streams().len(), 1);
    let gap = "1 child processes were not recorded";
    assert!(recording.file.meta().gaps.iter().any(|text| text == gap), "{}", recording.said);
}

#[test]
fn a_handled_fault_is_an_abandoned_instruction_and_a_signal() {
    let Some(bench) = Bench::new("HANDLED_FAULT") else { return };
    let recording = bench.record(&[]);
    assert_eq!(recording.note("program-end"), Some("exit status 0"));
    assert_eq!(recording.signals(), [(11, true)]);
    let at = recording.events.iter().find(|at| matches!(at.event, StreamEvent::Signal { .. }));
    let at = at.expect("there is one").position as usize;
    let load = &recording.insts[at - 1];
    assert_eq!(recording.word(load), 0xf940_0129, "ldr x9, [x9]");
    assert!(!load.flags.has(InstFlags::HAS_ADDR));
    assert!(load.flags.has(InstFlags::ABANDONED));
    let handler = recording.file.meta().symbol("handler").expect("the program has symbols");
    assert_eq!(recording.pc(at), handler.addr);
    // The handler steps over the load: the next word runs after its return.
    let after_load = recording.pc(at - 1) + 4;
    assert!((at..recording.insts.len()).any(|index| recording.pc(index) == after_load));
    assert!(recording.events.iter().any(|at| at.event == StreamEvent::Redirect));
}

#[test]
fn a_signal_between_instructions_abandons_none() {
    let Some(bench) = Bench::new("OWN_SIGNAL") else { return };
    let recording = bench.record(&[]);
    assert_eq!(recording.note("program-end"), Some("exit status 0"));
    assert_eq!(recording.signals(), [(10, false)]);
    assert!(recording.insts.iter().all(|inst| !inst.flags.has(InstFlags::ABANDONED)));
}

#[test]
fn a_fatal_fault_ends_the_trace_at_the_faulting_instruction() {
    let Some(bench) = Bench::new("FATAL_FAULT") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(1);
    assert_eq!(recording.note("program-end"), Some("killed by signal 11"));
    assert_eq!(recording.signals(), [(11, true)]);
    let last = recording.insts.last().expect("instructions were recorded");
    assert_eq!(recording.word(last), 0xf940_012a, "ldr x10, [x9]");
}

#[test]
fn zeroed_lines_have_their_addresses() {
    let Some(bench) = Bench::new("ZERO_LINES") else { return };
    let recording = bench.record(&[]);
    assert_eq!(recording.note("program-end"), Some("exit status 0"));
    let start = recording.walks()[0][0];
    let is_zva = |inst: &&TraceInst| recording.word(inst) & 0xffff_ffe0 == 0xd50b_7420;
    let lines: Vec<u64> = recording.insts.iter().filter(is_zva).map(|inst| inst.addr).collect();
    let expected: Vec<u64> = (0..124).map(|line| start + 64 * line).collect();
    assert_eq!(lines, expected);
    assert!(
        recording.said.contains("rebuilt from register values: 124 of 124"),
        "{}",
        recording.said
    );
}

#[test]
fn an_interrupt_ends_the_program_and_keeps_the_recording() {
    let Some(bench) = Bench::new("SPIN") else { return };
    let mut command = bench.capture(&[]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("n2sim runs");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("the program says that it is ready");
    assert_eq!(line, "ready\n");
    let status = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
    assert!(status.expect("kill runs").success());
    let output = child.wait_with_output().expect("n2sim ends");
    let recording = bench.read(&output);
    assert!(recording.insts.len() > 4 * LOADS, "{}", recording.said);
    assert!(recording.said.contains("the recording was interrupted"), "{}", recording.said);
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/bin/sh\n").expect("writes");
    let cases = [
        (script.clone(), "is a script"),
        (PathBuf::from(N2SIM), "is a program for"),
        (folder.path().join("absent"), "no program"),
    ];
    for (program, message) in cases {
        if cfg!(target_arch = "aarch64") && program == Path::new(N2SIM) {
            continue;
        }
        let output = Command::new(N2SIM).args(["capture", "--"]).arg(&program).output();
        let output = output.expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn a_machine_without_the_engine_says_what_to_install() {
    let Some(bench) = Bench::new("PLAIN") else { return };
    let empty = tempfile::tempdir().expect("a temporary folder");
    let output = bench.capture(&[]).env("PATH", empty.path()).output().expect("n2sim runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`apt-get install qemu-user`"), "{said}");
    let output =
        Command::new(N2SIM).arg("doctor").env("PATH", empty.path()).output().expect("n2sim runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("apt-get install qemu-user"));
}

#[test]
fn the_committed_traces_are_whole_and_have_their_counts() {
    for folder in ["../traces", "../traces/parallel"] {
        have_their_counts(&Path::new(HERE).join(folder));
    }
}

/// The traces of a folder are those of its `counts.tsv`.
fn have_their_counts(folder: &Path) {
    let counts =
        std::fs::read_to_string(folder.join("counts.tsv")).expect("counts.tsv is committed");
    let mut names = Vec::new();
    for line in counts.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, instructions, accesses, threads, said] = fields[..] else {
            panic!("counts.tsv: five fields expected in {line:?}");
        };
        names.push(name.to_owned());
        assert!(said.starts_with(&format!("{name}: ok ")), "{line}");
        let path = folder.join(format!("{name}.n2t"));
        let report = verify(&path).expect("the trace opens");
        assert!(report.is_good(), "{name}: {report:?}");
        assert_eq!(report.instructions.to_string(), instructions, "{name}");
        assert_eq!(report.accesses.to_string(), accesses, "{name}");
        let file = TraceFile::open(&path).expect("the trace opens");
        assert_eq!(file.streams().len().to_string(), threads, "{name}");
    }
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".n2t").map(str::to_owned))
        .collect();
    files.sort();
    assert_eq!(names, files, "counts.tsv lists the traces, in order");
}
