//! Output in perf's forms, in intervals and by function; the stand-in for `perf stat`; and files
//! that real programs read: Python's csv and json, Linux' perf.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
/// Instructions that are run: enough for several turns and intervals.
const LIMIT: &str = "150k";

fn trace(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name);
    path.with_extension("n2t").display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{command:?}: {message}");
    output
}

/// Returns the output of `n2sim stat` for a trace.
fn stat(name: &str, args: &[&str]) -> String {
    let trace = trace(name);
    let all = [&["stat", &trace, "--limit", LIMIT], args].concat();
    text(&run(Command::new(N2SIM).args(all)).stdout)
}

/// Returns the fields of one line.
fn fields(line: &str) -> Vec<&str> {
    line.split(',').collect()
}

/// Returns sums of the counts at field `value` by the event in the next field.
fn sums(csv: &str, value: usize) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for line in csv.lines() {
        let fields = fields(line);
        let count: u64 = fields[value].parse().unwrap_or_else(|_| panic!("{line}"));
        *sums.entry(fields[value + 2].to_owned()).or_default() += count;
    }
    sums
}

/// True if a tool is there. Where the tools must be (`N2SIM_TOOLS=required`), its absence is a
/// failure.
fn has_tool(name: &str) -> bool {
    let is_there = Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let is_required = std::env::var("N2SIM_TOOLS").is_ok_and(|value| value == "required");
    assert!(is_there || !is_required, "{name} is missing");
    is_there
}

#[test]
fn intervals_add_up_to_the_run() {
    for name in ["hash", "btree", "vector"] {
        let whole = sums(&stat(name, &["-x,"]), 0);
        let csv = stat(name, &["-x,", "-I", "0.013"]);
        assert_eq!(sums(&csv, 1), whole, "{name}");
        let mut times: Vec<f64> =
            csv.lines().map(|line| fields(line)[0].parse().unwrap()).collect();
        times.dedup();
        assert!(times.len() > 1, "{name}: {} intervals", times.len());
        for (number, time) in (1..).zip(&times[..times.len() - 1]) {
            assert!((time - f64::from(number) * 13e-6).abs() < 1e-9, "{name}: {time}");
        }
        assert_eq!(csv.lines().count(), times.len() * 147, "{name}");
    }
}

#[test]
fn intervals_of_counters_in_turns_are_estimates_of_their_time() {
    let csv = stat(
        "hash",
        &["-x,", "-I", "0.01", "--mux-interval", "3us", "-e", "r8,r3,r4,r5,r14,r21,r22,r24"],
    );
    let of = |percent: &str| csv.lines().filter(|line| fields(line)[5] == percent).count();
    assert!(of("100.00") < csv.lines().count() / 2, "eight events share six counters: {csv}");
    assert!(csv.lines().all(|line| fields(line).len() == 8), "{csv}");
}

#[test]
fn functions_add_up_to_the_run() {
    for name in ["hash", "sort", "atomics"] {
        let whole = sums(&stat(name, &["-x,"]), 0);
        let csv = stat(name, &["-x,", "--per-function"]);
        assert_eq!(sums(&csv, 1), whole, "{name}");
        let functions: Vec<&str> = csv.lines().step_by(147).map(|line| fields(line)[0]).collect();
        assert!(functions.len() > 1, "{name}: {functions:?}");
    }
}

/// Retired instructions of a function, counted in the trace itself.
fn executed_in(name: &str, function: &str) -> usize {
    let file = sim_trace::TraceFile::open(Path::new(&trace(name))).unwrap();
    let symbol = file.meta().symbol(function).unwrap().clone();
    let mut reader = file.reader(file.streams()[0].stream).unwrap();
    let (mut batch, mut pcs) = (Vec::new(), Vec::new());
    while pcs.len() < 150_000 && reader.next_batch(&mut batch).unwrap() {
        pcs.extend(batch.iter().map(|inst| file.statics().insts()[inst.id as usize].pc));
    }
    let is_inside = |pc: &&u64| (symbol.addr..symbol.addr + symbol.size).contains(*pc);
    pcs[..150_000].iter().filter(is_inside).count()
}

#[test]
fn a_function_has_the_instructions_that_stand_in_it() {
    for (name, function) in [("hash", "insert"), ("hash", "run"), ("sort", "run")] {
        let csv = stat(name, &["-x,", "--per-function", "-e", "inst_retired"]);
        let start = format!("{function},");
        let line = csv.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("{name}: {csv}"));
        assert_eq!(fields(line)[1], executed_in(name, function).to_string(), "{name}: {csv}");
    }
}

#[test]
fn python_reads_the_same_of_csv_and_json() {
    if !has_tool("python3") {
        return;
    }
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_perf_stat.py");
    let read = |args: &[&str], input: &str| {
        let mut child = Command::new("python3")
            .arg(&reader)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {input}");
        text(&output.stdout)
    };
    let multiplexed = ["--mux-interval", "5us", "-e", "r8,r11,r3,r4,r5,r14,r21,r22,r24:k"];
    let interval = [&multiplexed[..], &["-I", "0.02"]].concat();
    let cases = [
        (&[][..], "0", "false"),
        (&multiplexed, "0", "false"),
        (&interval, "0", "true"),
        (&["--per-thread"], "1", "false"),
        (&["--per-function"], "1", "false"),
        (&["--per-thread", "-I", "0.02", "-e", "r8,r11"], "1", "true"),
    ];
    for (args, owners, has_time) in cases {
        for separator in [",", ";", "\t"] {
            let csv = stat("hash", &[args, &["-x", separator]].concat());
            let csv = read(&["csv", separator, owners, has_time], &csv);
            let json = read(&["json"], &stat("hash", &[args, &["-j"]].concat()));
            assert_eq!(csv, json, "{args:?}");
            assert!(csv.lines().count() > 1, "{csv}");
        }
    }
}

/// A folder with the program under the name of perf.
fn perf(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("perf");
    std::os::unix::fs::symlink(N2SIM, &path).unwrap();
    path
}

#[test]
fn a_tool_that_probes_the_counters_finds_six() {
    let folder = tempfile::tempdir().unwrap();
    let perf = perf(&folder);
    // The way in which Arm's topdown-tool asks; cycles have a counter of their own.
    for (count, all) in [(6, true), (7, false), (31, false)] {
        let events = format!("{{{}}}", vec!["r8:u"; count].join(","));
        let output = run(Command::new(&perf)
            .args(["stat", "-e", &events, "-C", "0", "-x", "\\t"])
            .args([perf.to_str().unwrap(), "-v"])
            .env("N2SIM_TRACE", trace("hash"))
            .env("N2SIM_ARGS", "--limit 1k"));
        let message = text(&output.stderr);
        let rows: Vec<Vec<&str>> = message.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(rows.len(), count, "{message}");
        assert!(rows.iter().all(|row| row[2] == "r8:u" && row.len() == 7), "{message}");
        assert_eq!(rows.iter().all(|row| row[0] == "1000"), all, "{message}");
    }
}

#[test]
fn the_stand_in_prints_where_and_what_perf_would() {
    let folder = tempfile::tempdir().unwrap();
    let perf = perf(&folder);
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let call = |args: &[&str]| {
        let mut command = Command::new(&perf);
        command.args(args).env("N2SIM_TRACE", &traces).env("N2SIM_ARGS", "--limit 20k");
        run(&mut command)
    };
    let output = call(&["stat", "-x,", "-e", "instructions,{r8,r1b}:u", "./sort", "-x", "9"]);
    assert_eq!(text(&output.stdout), "");
    let message = text(&output.stderr);
    let events: Vec<&str> = message.lines().map(|line| fields(line)[2]).collect();
    assert_eq!(events, ["instructions", "r8:u", "r1b:u"]);
    assert!(message.starts_with("20000,,instructions,"), "{message}");

    let message = text(&call(&["stat", "--", "hash", "1"]).stderr);
    assert!(message.contains(" Performance counter stats for 'hash 1':"), "{message}");
    assert!(
        message.contains(" msec task-clock\n")
            && message.contains("<not supported>      page-faults")
    );

    let message = text(&call(&["stat", "-j", "-A", "-C", "0-1", "-e", "r8", "hash"]).stderr);
    let rows: Vec<serde_json::Value> =
        message.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["cpu"], &rows[0]["counter-value"]), (&"0".into(), &"20000.000000".into()));
    assert_eq!(rows[1]["counter-value"], "<not counted>", "no thread runs there");
    assert!(text(&call(&["--version"]).stdout).starts_with("perf version "));
}

/// Tools choose their tables of events by it; recordings of other machines count on the modeled
/// core too.
#[test]
fn the_core_that_is_named_is_the_modeled_one() {
    let folder = tempfile::tempdir().unwrap();
    let perf = perf(&folder);
    for (name, options, midr) in [
        ("atomics", "--limit 1k", "0x00000000410fd493"),
        ("hash", "--limit 1k --set core.revision=r0p1", "0x00000000410fd491"),
    ] {
        let mut command = Command::new(&perf);
        command.args(["stat", "-v", "-e", "r8", "true"]);
        command.env("N2SIM_TRACE", trace(name)).env("N2SIM_ARGS", options);
        let message = text(&run(&mut command).stderr);
        assert!(message.contains(&format!("Using CPUID {midr}\n")), "{message}");
    }
}

#[test]
fn whoever_controls_is_answered_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (perf, out) = (perf(&folder), folder.path().join("out.csv"));
    let [control, answer] = ["control", "answer"].map(|name| folder.path().join(name));
    for fifo in [&control, &answer] {
        run(Command::new("mkfifo").arg(fifo));
    }
    let mut child = Command::new(&perf)
        .args(["stat", "-x", ";", "-o", out.to_str().unwrap(), "--per-core", "-C", "0"])
        .args(["-e", "{r8,r11}", "--delay", "-1", "--control"])
        .arg(format!("fifo:{},{}", control.display(), answer.display()))
        .env("N2SIM_TRACE", trace("hash"))
        .env("N2SIM_ARGS", "--limit 20k")
        .spawn()
        .unwrap();
    let mut answers = std::fs::File::open(&answer).unwrap();
    let mut commands = std::fs::File::options().write(true).open(&control).unwrap();
    commands.write_all(b"enable").unwrap();
    let mut answered = [0; 5];
    answers.read_exact(&mut answered).unwrap();
    assert_eq!(&answered, b"ack\n\0");
    assert!(!out.exists(), "nothing is printed before the end");
    run(Command::new("kill").args(["-INT", &child.id().to_string()]));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let csv = std::fs::read_to_string(&out).unwrap();
    let rows: Vec<&str> =
        csv.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 2, "{csv}");
    assert!(rows[0].starts_with("S0-D0-C0;1;20000;;r8;"), "{csv}");
}

#[test]
fn what_the_stand_in_cannot_do_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let perf = perf(&folder);
    let refused = |args: &[&str], trace: &str| {
        let output = Command::new(&perf).args(args).env("N2SIM_TRACE", trace).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    let hash = trace("hash");
    assert!(refused(&["list"], &hash).contains("n2sim acts as `perf stat` only"));
    assert!(refused(&[], &hash).contains("call it as perf stat"));
    assert!(refused(&["stat", "ls"], "").contains("set N2SIM_TRACE"));
    assert!(refused(&["stat", "ls"], "/nowhere").contains("/nowhere"));
    assert!(refused(&["stat", "-e", "bogus_event", "ls"], &hash).contains("bogus_event"));
    assert!(refused(&["stat", "-I", "0", "ls"], &hash).contains("from 0.001 on"));
    assert!(refused(&["stat", "-C", "1-0", "ls"], &hash).contains("such as 0,2-3"));
    assert!(refused(&["stat", "--control", "fd:9999", "ls"], &hash).contains("--control fd:9999"));
    assert!(refused(&["stat", "-o", "/nowhere/x", "ls"], &hash).contains("cannot write"));
    let traces = Path::new(&hash).parent().unwrap().display().to_string();
    assert!(refused(&["stat", "-a"], &traces).contains("a directory needs a command"));
    assert!(refused(&["stat", "nope"], &traces).contains("nope.n2t"));
}

#[test]
fn the_perf_of_linux_reads_the_counts_back() {
    if !has_tool("perf") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stat.data").display().to_string();
    let read = |args: &[&str]| {
        let all = [&["stat"], args, &["report", "-i", &file]].concat();
        // This report goes to standard error.
        text(&run(Command::new("perf").args(all)).stderr)
    };
    for name in ["hash", "matrix", "atomics"] {
        let own = stat(name, &["-x,", "--perf-data", &file]);
        assert_eq!(sums(&read(&["-x,"]), 0), sums(&own, 0), "{name}");
        let json = read(&["-j"]);
        assert_eq!(json.lines().count(), 147, "{name}");
        for (json, csv) in json.lines().zip(own.lines()) {
            let object: serde_json::Value = serde_json::from_str(json).unwrap();
            let value = format!("{}.000000", fields(csv)[0]);
            assert_eq!(
                (&object["event"], &object["counter-value"]),
                (&fields(csv)[2].into(), &value.into()),
                "{name}"
            );
        }
    }
    let turns = ["-x,", "--mux-interval", "5us", "-e", "r8,r11:u,r3,r4,r5,r14,r21,r22,r24"];
    let own = stat("hash", &[&turns[..], &["--perf-data", &file]].concat());
    for (ours, theirs) in own.lines().zip(read(&["-x,"]).lines()) {
        let (ours, theirs) = (fields(ours), fields(theirs));
        let count = |fields: &[&str]| fields[0].parse::<f64>().unwrap();
        // perf scales by nanoseconds, a core by cycles.
        assert!((count(&ours) / count(&theirs) - 1.0).abs() < 1e-3, "{ours:?} {theirs:?}");
        assert_eq!(ours[2..5], theirs[2..5]);
    }
}
