//! However a recording ends, it leaves a whole trace or none, and says which: killed, interrupted,
//! out of space, replaced by another program.

use crate::recording::{Bench, LOADS, N2SIM};
use sim_trace::{TraceFile, verify};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for something that takes moments on an idle machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a recording and waits until the program says that it is ready.
fn start(bench: &Bench) -> Child {
    let mut command = bench.capture(&[]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("n2sim runs");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("the program says that it is ready");
    assert_eq!(line, "ready\n");
    child
}

fn send(signal: &str, pid: u32) {
    let status = Command::new("kill").arg(signal).arg(pid.to_string()).status();
    assert!(status.expect("kill runs").success(), "kill {signal} {pid}");
}

/// Parent and state of a process, as /proc has them; `None` once it is gone.
fn process(pid: u32) -> Option<(u32, String)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    let state = fields.next()?.to_owned();
    Some((fields.next()?.parse().ok()?, state))
}

/// The engine that `n2sim` with number `parent` started.
fn engine_of(parent: u32) -> u32 {
    let all = std::fs::read_dir("/proc").expect("Linux has /proc");
    let mut pids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| process(*pid).is_some_and(|(of, _)| of == parent);
    pids.find(is_child).expect("n2sim has started the engine")
}

/// Waits until `is_done`.
fn wait_for(what: &str, is_done: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < PATIENCE, "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Bytes of the unfinished trace in `folder`, and its name.
fn partial(folder: &Path) -> Option<(u64, PathBuf)> {
    let files = folder.read_dir().ok()?.filter_map(Result::ok);
    let mut partial = files.filter(|file| file.path().extension().is_some_and(|e| e == "partial"));
    let file = partial.next()?;
    Some((file.metadata().ok()?.len(), file.path()))
}

#[test]
fn a_program_killed_from_outside_leaves_what_it_did() {
    let Some(bench) = Bench::new("SPIN") else { return };
    let child = start(&bench);
    send("-KILL", engine_of(child.id()));
    let output = child.wait_with_output().expect("n2sim ends");
    let recording = bench.read(&output);
    assert!(recording.insts.len() > 4 * LOADS, "{}", recording.said);
    assert_eq!(recording.note("program-end"), Some("killed by signal 9"));
    assert_eq!(recording.signals(), [], "it never saw the signal");
    let said = "the program was killed by signal 9: the trace ends there";
    assert!(recording.said.contains(said), "{}", recording.said);
    assert!(!recording.said.contains("have no address"), "{}", recording.said);
}

#[test]
fn a_request_to_end_is_passed_on_and_the_recording_kept() {
    let Some(bench) = Bench::new("SPIN") else { return };
    let child = start(&bench);
    send("-TERM", child.id());
    let output = child.wait_with_output().expect("n2sim ends");
    let recording = bench.read(&output);
    assert_eq!(recording.note("program-end"), Some("killed by signal 15"));
    assert!(recording.said.contains("the recording was interrupted"), "{}", recording.said);
}

#[test]
fn a_killed_recorder_takes_the_program_with_it_and_its_chunks_can_be_recovered() {
    let Some(bench) = Bench::new("SPIN") else { return };
    let mut child = start(&bench);
    let engine = engine_of(child.id());
    let folder = bench.folder.path();
    // More than definitions: a chunk of a million instructions.
    let has_chunk = || {
        let Some((_, path)) = partial(folder) else { return false };
        TraceFile::recover(&path).is_ok_and(|(file, _)| file.instructions() > 0)
    };
    wait_for("the first chunk", has_chunk);
    send("-KILL", child.id());
    child.wait().expect("n2sim is gone");
    wait_for("the end of the engine", || {
        process(engine).is_none_or(|(_, state)| state == "Z" || state == "X")
    });
    assert!(!bench.trace().exists(), "only a whole trace gets its name");
    let (_, partial) = partial(folder).expect("the unfinished file is there");
    let mut command = Command::new(N2SIM);
    let command = command.args(["trace", "recover"]).arg(&partial).arg("-o").arg(bench.trace());
    let output = command.output().expect("n2sim runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(verify(&bench.trace()).expect("it opens").is_good());
    assert!(TraceFile::open(&bench.trace()).expect("it opens").instructions() >= 1_000_000);
}

/// Records the program into a file system of so many KiB: a mount of this process's own, or else a
/// limit on the size of files. What is in the folder then is said.
fn record_without_space(bench: &Bench, kib: u32) -> (Output, PathBuf) {
    let (full, saved) = (bench.folder.path().join("full"), bench.folder.path().join("kept.n2t"));
    std::fs::create_dir(&full).expect("it can be made");
    let (full, saved) = (full.display(), saved.display());
    let mount = format!("mount -t tmpfs -o size={kib}k none {full}");
    let has_mounts = Command::new("unshare").args(["-Urm", "sh", "-c", &mount]).output();
    let has_mounts = has_mounts.is_ok_and(|output| output.status.success());
    let program = bench.folder.path().join("program");
    let capture =
        format!("{N2SIM} capture -o {full}/program.n2t -- {} >/dev/null", program.display());
    let script =
        format!("{capture}; code=$?; ls {full} >&2; cp {full}/program.n2t {saved}; exit $code");
    let mut command = if has_mounts {
        let mut command = Command::new("unshare");
        command.args(["-Urm", "sh", "-c", &format!("{mount} && {{ {script}; }}")]);
        command
    } else {
        let mut command = Command::new("sh");
        // In blocks of 512 bytes; the signal would end n2sim before it sees the error.
        command.args(["-c", &format!("trap '' XFSZ; ulimit -f {}; {script}", 2 * kib)]);
        command
    };
    command.env_remove("N2SIM_PLUGIN").stdin(Stdio::null());
    (command.output().expect("sh runs"), bench.folder.path().join("kept.n2t"))
}

#[test]
fn a_full_disk_leaves_a_whole_shorter_trace_and_says_so() {
    let Some(bench) = Bench::new("RANDOM") else { return };
    let (output, kept) = record_without_space(&bench, 300);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("writing the trace"), "{said}");
    assert!(said.contains("a whole trace of the first"), "{said}");
    assert!(!said.contains("partial"), "nothing else is left: {said}");
    let report = verify(&kept).expect("the trace opens");
    assert!(report.is_good() && report.instructions > 0, "{report:?}\n{said}");
    let file = TraceFile::open(&kept).expect("the trace opens");
    assert!(file.meta().gaps.iter().any(|gap| gap.contains("the trace is truncated")), "{said}");
    assert!(file.meta().symbol("walk").is_some(), "its functions are named");
}

#[test]
fn a_disk_without_room_for_one_chunk_keeps_no_file_and_says_so() {
    let Some(bench) = Bench::new("RANDOM") else { return };
    let (output, kept) = record_without_space(&bench, 8);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the trace could not be written and no file is left"), "{said}");
    assert!(!said.contains("\nprogram.n2t"), "the folder is empty: {said}");
    assert!(!kept.exists());
}

#[test]
fn each_thread_has_its_stream() {
    let Some(bench) = Bench::new("THREADS") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(2);
    assert_eq!(recording.file.streams().len(), 2);
    let child = recording.file.streams()[1].accesses;
    assert!(child >= LOADS as u64, "{child} accesses: {}", recording.said);
    assert!(recording.said.contains("only the order in which they synchronized is recorded"));
}

#[test]
fn a_program_that_replaces_itself_is_followed_up_to_there() {
    let Some(bench) = Bench::new("EXECVE") else { return };
    let recording = bench.record(&[]);
    recording.assert_walks(1);
    assert_eq!(recording.note("program-end"), Some("exit status 0"), "{}", recording.said);
    assert_eq!(recording.syscalls(), [(221, None)]);
    let gap = "the program replaced itself (execve): not followed";
    assert!(recording.file.meta().gaps.iter().any(|text| text == gap), "{}", recording.said);
}
