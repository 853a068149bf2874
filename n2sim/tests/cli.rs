//! The program as a user meets it: what it prints, what it refuses, with which exit code.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A committed trace of a real program.
fn trace() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    path.display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Runs the program, demands success, gives what it printed.
fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// Runs the program, demands exit code 2 and no output, gives the message.
fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{args:?}");
    let message = stderr(&output);
    assert!(!message.contains("panicked"), "{message}");
    message
}

fn file_with(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn stat_prints_chosen_events_like_perf() {
    let trace = trace();
    let text = printed(&["stat", &trace, "--limit", "20k", "-e", "inst_retired,r11,L1D_CACHE:u"]);
    assert!(
        text.starts_with(&format!("\n Performance counter stats for '{trace}':\n\n")),
        "{text}"
    );
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("     ")).collect();
    assert_eq!(rows.len(), 4, "three events and the time: {text}");
    assert!(rows[0].starts_with("            20,000      inst_retired "), "{text}");
    assert!(rows[0].ends_with("  insn per cycle"), "{text}");
    assert!(rows[1].contains(" r11 ") && rows[1].ends_with("2.750 GHz"), "{text}");
    assert!(rows[2].contains(" L1D_CACHE:u"), "{text}");
    assert!(rows[3].ends_with(" seconds time elapsed (modeled)"), "{text}");
}

#[test]
fn csv_and_json_hold_the_same_counts() {
    let trace = trace();
    let start = ["stat", &trace, "--limit", "20k"];
    let csv = printed(&[&start[..], &["-x,"]].concat());
    let json = printed(&[&start[..], &["-j"]].concat());
    assert_eq!(csv.lines().count(), 147);
    for (csv, json) in csv.lines().zip(json.lines()) {
        let fields: Vec<&str> = csv.split(',').collect();
        let object: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(object["event"], fields[2]);
        assert_eq!(object["counter-value"], format!("{}.000000", fields[0]));
        assert_eq!(object["event-runtime"].to_string(), fields[3]);
    }
}

#[test]
fn two_runs_are_identical_and_their_header_says_how_to_repeat_them() {
    let trace = trace();
    let args = ["stat", &trace, "--limit", "20k", "-x;", "--seed", "9", "--profile", "silicon"];
    let (one, two) = (n2sim(&args), n2sim(&args));
    assert_eq!((&one.stdout, &one.stderr), (&two.stdout, &two.stderr));
    let header = stderr(&one);
    let version = env!("CARGO_PKG_VERSION");
    assert!(header.starts_with(&format!("# n2sim {version}\n# configuration neoverse-n2.toml")));
    assert!(header.contains("+ neoverse-n2-silicon.toml + --set run.seed=9 (hash "), "{header}");
    assert!(header.contains(&format!("# trace {trace} (hash ")), "{header}");
    assert!(header.ends_with("# seed 9\n"), "{header}");
}

#[test]
fn a_report_file_appears_whole_and_only_on_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv").display().to_string();
    let trace = trace();
    assert_eq!(printed(&["stat", &trace, "--limit", "5k", "-x,", "-o", &path]), "");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 147, "counts and nothing else: {text}");

    let path = folder.path().join("never.csv").display().to_string();
    refused(&["stat", &trace, "--roi", "no_such_function,other", "-o", &path]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written stays");
    let message = refused(&["stat", &trace, "--limit", "1k", "-o", "/nowhere/out.csv"]);
    assert!(message.contains("cannot write /nowhere/out.csv"), "{message}");
}

/// Output for programs holds only counts. Its origin goes to stderr, or into the first line on
/// request; a file for people contains it.
#[test]
fn files_for_programs_have_one_kind_of_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out").display().to_string();
    let trace = trace();
    let file = |args: &[&str]| {
        let run = ["stat", &trace, "--limit", "5k", "-e", "cycles,instructions", "-o", &path];
        let output = n2sim(&[&run[..], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (std::fs::read_to_string(&path).unwrap(), stderr(&output))
    };
    let objects = |text: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (json, message) = file(&["-j"]);
    assert!(objects(&json).iter().all(|row| row["counter-value"].is_string()), "{json}");
    assert!(message.starts_with("# n2sim "), "{message}");
    let (json, _) = file(&["-j", "--header"]);
    let rows = objects(&json);
    assert_eq!((rows.len(), &rows[0]["trace"]), (3, &trace.as_str().into()));
    assert_eq!(rows[0]["configuration-hash"].as_str().unwrap().len(), 16);

    let (csv, message) = file(&["-x,"]);
    assert!(csv.lines().count() == 2 && csv.lines().all(|line| line.split(',').count() == 7));
    assert!(message.starts_with("# n2sim "), "{message}");
    let (csv, _) = file(&["-x;", "--header", "--per-thread"]);
    let lines: Vec<&str> = csv.lines().collect();
    let names =
        "thread;counter-value;unit;event;event-runtime;pcnt-running;metric-value;metric-unit";
    assert_eq!((lines.len(), lines[0]), (3, names));
    assert!(lines.iter().all(|line| line.split(';').count() == 8), "{csv}");

    let (text, message) = file(&[]);
    assert!(text.starts_with("# n2sim ") && !message.contains("# n2sim"), "{text}{message}");
    assert!(refused(&["stat", &trace, "--header"]).contains("--json"), "text has no columns");
}

/// Without `-e` the events that matter, and the metrics; `--all` prints every event, zeros too.
#[test]
fn a_run_without_events_prints_what_matters() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace();
    let run = ["stat", &trace, "--limit", "50k"];
    let short = printed(&run);
    let counts: Vec<&str> = short.split(" Metrics:").next().unwrap().lines().collect();
    let rows = counts.iter().filter(|line| line.starts_with("       ")).count();
    assert!((8..=14).contains(&rows), "13 events and the time, without zeros: {short}");
    assert!(!counts.iter().any(|line| line.trim_start().starts_with("0 ")), "{short}");
    for name in ["inst_retired", " retiring", " backend_bound", " ipc", " branch_mpki", "--all"] {
        assert!(short.contains(name), "{name}: {short}");
    }
    let all = printed(&[&run[..], &["--all"]].concat());
    assert!(all.lines().filter(|line| line.starts_with("      ")).count() == 148, "{all}");
    assert!(all.contains("                 0      exc_smc") && !all.contains("Metrics"), "{all}");
    // Numbers are those of the whole table, and the table of the rows is one that can be checked.
    for line in counts.iter().filter(|line| line.contains(" # ")) {
        assert!(all.contains(*line), "{line} is in {all}");
    }
    let path = file_with(&folder, "short.txt", &short);
    assert!(printed(&["check", &path]).contains("rules tested, 0 do not hold"));
    assert!(refused(&["stat", &trace, "--all", "-e", "cycles"]).contains("cannot be used with"));
}

/// A script for real machines asks for events of the kernel too.
#[test]
fn events_of_the_kernel_are_not_supported() {
    let list = "branch-misses,page-faults,task-clock:u,context-switches";
    let args = ["stat", &trace(), "--limit", "5k", "-x,"];
    for more in [&[][..], &["--no-multiplex"], &["--truth"], &["-I", "0.01"], &["--jobs", "2"]] {
        let args = [&args[..], &["-e", list], more].concat();
        let args: Vec<&str> = match more.contains(&"--jobs") {
            true => args.into_iter().filter(|arg| !["--limit", "5k"].contains(arg)).collect(),
            false => args,
        };
        let output = n2sim(&args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        let csv = stdout(&output);
        let refused: Vec<&str> =
            csv.lines().filter(|line| line.contains("<not supported>")).collect();
        assert_eq!(refused.len() * 4, csv.lines().count() * 3, "{args:?}: {csv}");
        assert!(refused[1].contains(",task-clock:u,"), "{csv}");
        assert!(!stderr(&output).contains("kernel instructions"), "{}", stderr(&output));
    }
    let output = n2sim(&[&args[..], &["--per-function", "-e", list]].concat());
    assert!(stdout(&output).contains("<not supported>,,page-faults,"), "{}", stdout(&output));
    let record = ["record", &trace(), "-e", "page-faults", "-o", "/dev/null"];
    assert!(refused(&record).contains("no counter that overflows"));
}

/// A profile names its code by what it says was mapped, as perf does; no trace is needed.
#[test]
fn a_profile_is_read_with_names_and_without_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (data, elf) = (file("spe.data"), file("spe.data.elf"));
    let event = ["-e", "arm_spe_0//", "-c", "256", "--limit", "100k", "-o", &data];
    printed(&[&["record", &trace()], &event[..]].concat());
    let hot = |args: &[&str]| {
        let text = printed(&[&["spe", &data], args].concat());
        let lines = text.lines().skip_while(|line| !line.ends_with("hottest instructions"));
        lines.skip(1).take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let named = hot(&[]);
    assert!(named.len() == 20 && named.iter().any(|line| line.contains(" run+0x")), "{named:?}");
    assert_eq!(named, hot(&["--trace", &trace()]), "the trace names the same");
    assert_eq!(named, hot(&["--elf", &elf]), "and so does the file itself");
    let lines = printed(&["spe", &data]);
    let shown = lines.lines().skip_while(|line| !line.ends_with("hottest lines of 64 bytes"));
    for line in shown.skip(1).take_while(|line| line.contains("0x")) {
        let fields: Vec<u64> =
            line.split_whitespace().take(2).map(|n| n.parse().unwrap()).collect();
        assert!(fields[0] + fields[1] >= 3, "one or two samples are chance: {line}");
    }
    assert!(lines.contains("fewer than 3 samples each"), "{lines}");
    let other = file("other");
    std::fs::copy(&elf, &other).unwrap();
    assert_eq!(named, hot(&["--elf", &other]), "one file is mapped: another copy replaces it");
    let raw = file_with(&folder, "raw", "no profile");
    assert!(refused(&["spe", &raw, "--elf", &elf]).contains("does not say where it was loaded"));
}

/// K of a size is 1024, of anything else 1000, and the header says the number.
#[test]
fn values_of_the_configuration_may_have_units() {
    let list = |set: &str| printed(&["list", "config", "--set", set]);
    assert!(list("memory.l1d.size-bytes=128K").contains("size-bytes = 131072 # [set"));
    assert!(list("memory.l2-tlb.entries=4K").contains("entries = 4096 # [set"));
    assert!(list("core.clock-hz=3G").contains("clock-hz = 3000000000 # [set"));
    let output = n2sim(&[
        "stat",
        &trace(),
        "--limit",
        "1k",
        "--set",
        "memory.l1d.size-bytes=128K",
        "-e",
        "cycles",
    ]);
    let message = stderr(&output);
    assert!(message.contains("+ --set memory.l1d.size-bytes=131072 (hash "), "{message}");
    let message = refused(&["list", "config", "--set", "memory.l1d.size-bytes=1.5K"]);
    assert!(message.contains("memory.l1d.size-bytes"), "{message}");
}

#[test]
fn the_ledger_accounts_for_every_slot() {
    let text =
        printed(&["stat", &trace(), "--limit", "50k", "-e", "op_spec,stall_slot", "--stalls"]);
    assert!(text.contains("\n Rename slots "), "{text}");
    assert!(!text.contains("please report"), "{text}");
}

/// The output of the program is held to the identities by the program itself.
#[test]
fn counts_of_a_run_keep_every_identity() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace();
    for (i, extra) in
        [&["-x,"][..], &["-j"], &["-x,", "--set", "core.revision=r0p0"]].iter().enumerate()
    {
        let path = folder.path().join(format!("{i}.counts")).display().to_string();
        printed(&[&["stat", &trace, "--limit", "200k", "-o", &path], *extra].concat());
        let revision = if i == 2 { "r0p0" } else { "r0p3" };
        let text = printed(&["check", "--counts", "--revision", revision, &path]);
        assert!(
            text.contains("147 events") && text.contains(" 0 do not hold, 0 left out"),
            "{text}"
        );
    }
}

/// The counts of a function obey the rules of a run, except those on cycles, in every form that
/// holds all events.
#[test]
fn counts_of_functions_keep_every_rule_but_those_on_cycles() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace();
    let list = "cycles,op_spec,stall_slot,l1d_cache,l1d_cache_rd,l1d_cache_wr";
    for (i, more) in
        [&["-x,"][..], &["-j"], &["-e", list], &["-x;", "-e", list], &["-j", "--header"]]
            .iter()
            .enumerate()
    {
        let path = folder.path().join(format!("{i}.counts")).display().to_string();
        let run = ["stat", &trace, "--limit", "200k", "--per-function", "-o", &path];
        printed(&[&run[..], *more].concat());
        let text = printed(&["check", "--counts", &path]);
        let tables = text.lines().filter(|line| line.contains(" rules tested, 0 do not hold"));
        assert!(tables.count() >= 2 && text.contains(" (run): "), "{more:?}: {text}");
        assert!(
            text.contains("functions share cycles, so rules on cycles were left out"),
            "{text}"
        );
    }
    let path = folder.path().join("table.txt").display().to_string();
    printed(&["stat", &trace, "--limit", "50k", "--per-function", "-o", &path]);
    let message = refused(&["check", "--counts", &path]);
    assert!(
        message.contains("table.txt:6: a table by function") && message.contains("-x, or -j"),
        "{message}"
    );
}

/// A table of which nothing can be said is no pass.
#[test]
fn counts_that_answer_no_rule_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let lone =
        file_with(&folder, "lone.csv", "5,,l1d_cache_wr,1,100.00,,\n2,,l1d_cache_rd,1,100.00,,\n");
    let output = n2sim(&["check", &lone]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("2 events, 0 rules tested"), "{}", stdout(&output));
    let expected = format!(
        "n2sim: {lone}: nothing could be checked: no rule has all of its events in one table; count \
         l1d_cache together with them, for L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR\n"
    );
    assert_eq!(stderr(&output), expected);
}

/// The slot identity has two forms; without a revision the answer is which one the counts have.
#[test]
fn counts_say_which_revision_they_fit() {
    let folder = tempfile::tempdir().unwrap();
    let table = |stalled: u64| {
        format!(
            "19500000000,,op_spec,1,100.00,,\n{stalled},,stall_slot,1,100.00,,\n\
             10000000000,,cpu_cycles,1,100.00,,\n"
        )
    };
    let path = file_with(&folder, "six.csv", &table(40_500_000_000));
    let message = printed(&["check", &path]);
    assert!(message.contains("6 x CPU_CYCLES fits r0p0 to r0p2 only"), "{message}");
    let output = n2sim(&["check", &path, "--revision", "r0p3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stdout(&output).contains("fits"), "{}", stdout(&output));
    let path = file_with(&folder, "five.csv", &table(30_500_000_000));
    assert!(printed(&["check", &path]).contains("5 x CPU_CYCLES fits r0p3 only"));
}

/// A page in place of a table: the message shows the beginning of its line.
#[test]
fn a_message_shows_the_beginning_of_a_long_line() {
    let folder = tempfile::tempdir().unwrap();
    let page = format!("1<!doctype html>{}\n", "<p>text".repeat(500));
    let path = file_with(&folder, "report.html", &page);
    let message = refused(&["check", "--counts", &path]);
    assert!(
        message.len() < path.len() + 150 && message.contains("...' is not a perf stat row"),
        "{message}"
    );
}

#[test]
fn counts_that_break_an_identity_give_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with(
        &folder,
        "bad.csv",
        "5,,l1d_cache,1,100.00,,\n2,,l1d_cache_rd,1,100.00,,\n2,,l1d_cache_wr,1,100.00,,\n",
    );
    let output = n2sim(&["check", "--counts", &path]);
    assert_eq!(output.status.code(), Some(1));
    let message = "L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR does not hold: 5 against 4 (printed)";
    assert!(stdout(&output).contains(message), "{}", stdout(&output));
}

/// Cases of one step side by side; a case of several with its steps; a repeated step once.
#[test]
fn check_shows_what_cases_count() {
    let folder = tempfile::tempdir().unwrap();
    let head = "guide = 'PMU guide 4.2.1'\nclaim = 'c'\nothers = 'any'\nexpect = 'L1D_CACHE 2'\n";
    let case = |test, steps| format!("[[case]]\ntest = '{test}'\ngiven = 'K1'\ndo = '{steps}'\n");
    let two = case("a", "LD8 0x8000") + &case("b", "LD8 0x8000 step 64 &x 2");
    let path = file_with(&folder, "two.toml", &format!("{head}{two}"));
    let output = n2sim(&["check", &path, "-e", "l1d_cache,l1d_cache_refill,l1i_cache"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "the first case counts one: {text}");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    for row in [
        &["1", "2"][..],
        &["2", "b:", "LD8", "0x8000,", "2", "times", "(line", "9)"],
        &["L1D_CACHE", "1", "2"],
        &["L1D_CACHE_REFILL", "1", "2"],
        &["L1I_CACHE", ".", "."],
    ] {
        assert!(rows.iter().any(|found| found[..] == *row), "{row:?} in {text}");
    }
    let path = file_with(&folder, "one.toml", &format!("{head}{}", case("c", "LD8 8 ; ST8 8")));
    let text = printed(&["check", &path, "--show"]);
    assert!(text.contains("     1  LD8 8\n     2  ST8 8\n"), "{text}");
    assert!(text.contains("L1D_CACHE_WR                1      .      1\n"), "{text}");
    assert!(!text.contains("CYCLES") && !text.contains("STALL"), "clocks are left out: {text}");
    assert!(refused(&["check", &path, "-e", "l1d_cach"]).contains("unknown event"));
    assert!(refused(&["check", "--counts", &path, "--show"]).contains("cannot be used with"));
    let counts = file_with(&folder, "a.csv", "5,,l1d_cache,1,100.00,,\n");
    assert!(refused(&["check", &counts, "--show"]).contains("about scenarios"));
}

#[test]
fn wrong_options_are_refused() {
    assert!(refused(&["stat", &trace(), "--evnt", "cycles"]).contains("--event"));
    assert!(refused(&["stat", &trace(), "-j", "-x,"]).contains("cannot be used with"));
    assert!(refused(&["stat", &trace(), "--limit", "many"]).contains("such as 2000000 or 2M"));
    assert!(refused(&["stat", &trace(), "--limit", "0"]).contains("at least one instruction"));
    assert!(refused(&["stat", &trace(), "--warmup", "-1"]).contains("such as 2000000 or 2M"));
    assert!(refused(&["stat", &trace(), "--seed", "18446744073709551615"]).contains("not in 0..="));
    assert!(
        refused(&["trace", "dump", &trace(), "--start", "7M"]).contains("6711218 instructions")
    );
    assert!(refused(&["stat", "/dev/zero"]).contains("a device or a pipe"));
    assert!(refused(&["trace", "repack", &trace(), "-o", "/dev/null"]).contains("a device"));
    assert!(refused(&["check", "/dev/null"]).contains("no line holds the count"));
    assert!(refused(&["stat"]).contains("<TRACE>"));
    assert!(refused(&["stta"]).contains("stat"));
}

#[test]
fn missing_and_foreign_traces_are_refused_by_name() {
    let message = refused(&["stat", "/nowhere/x.n2t"]);
    assert!(message.contains("/nowhere/x.n2t"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("empty.n2t", ""), ("foreign.n2t", "#!/bin/sh\necho no trace at all\n")] {
        let path = file_with(&folder, name, text);
        let message = refused(&["stat", &path]);
        assert!(message.starts_with("n2sim: ") && message.contains(&path), "{message}");
        assert_eq!(message.trim_end().lines().count(), 1, "one sentence: {message}");
    }
}

#[test]
fn unknown_events_are_refused_with_the_closest_name() {
    let message = refused(&["stat", &trace(), "-e", "l1d_cach_refil"]);
    assert!(message.contains("the closest name is L1D_CACHE_REFILL"), "{message}");
}

#[test]
fn wrong_configurations_are_refused_with_place_and_remedy() {
    let trace = trace();
    let message = refused(&["stat", &trace, "--set", "core.clok-hz=1"]);
    assert!(message.contains("the closest existing key is `core.clock-hz`"), "{message}");
    let message = refused(&["stat", &trace, "--set", "core.clock-hz"]);
    assert!(message.contains("write it as table.key=value"), "{message}");

    let folder = tempfile::tempdir().unwrap();
    let overlay = "base = \"neoverse-n2.toml\"\n[memory.l1d]\nsize-bites = 1\n";
    let path = file_with(&folder, "typo.toml", overlay);
    let message = refused(&["stat", &trace, "--config", &path]);
    assert!(
        message.contains(&format!("{path}:3:1: unknown key `memory.l1d.size-bites`")),
        "{message}"
    );

    let overlay = "base = \"neoverse-n2.toml\"\n[memory.l1d]\nsize-bytes = 65000\n";
    let path = file_with(&folder, "shape.toml", overlay);
    let message = refused(&["stat", &trace, "--config", &path]);
    assert!(
        message.contains(&format!("{path}:3:1: ")) && message.contains("3 | size-bytes = 65000"),
        "{message}"
    );
    let message = refused(&["stat", &trace, "--config", "/nowhere.toml"]);
    assert!(
        message.contains("cannot read the configuration /nowhere.toml: No such file"),
        "{message}"
    );
}

#[test]
fn lists_are_complete() {
    let events = printed(&["list", "events"]);
    assert_eq!(events.lines().filter(|line| line.starts_with("  r")).count(), 147 + 9);
    let long = printed(&["list", "events", "--long"]);
    assert!(long.contains("sum of: l1d_cache_rd, l1d_cache_wr"), "{long}");
    assert!(printed(&["list", "metrics"]).contains("INST_RETIRED / CPU_CYCLES"));
}

#[test]
fn the_printed_configuration_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["list", "config", "--profile", "silicon", "--set", "core.revision=r0p1"];
    let text = printed(&args);
    assert!(
        text.contains("revision = \"r0p1\" # [set on the command line; was \"r0p3\""),
        "{text}"
    );
    assert!(text.contains("[set in neoverse-n2-silicon.toml; was 40: [PMU guide"), "{text}");
    let path = file_with(&folder, "merged.toml", &text);
    let again = printed(&["list", "config", "--config", &path]);
    let hash = |text: &str| text.lines().nth(1).unwrap().split("(hash ").nth(1).unwrap().to_owned();
    assert_eq!(hash(&text), hash(&again), "what is printed can be read back");
}

/// Clock and seconds of a machine that can be bought, on any profile, with single values on top.
#[test]
fn a_machine_lies_between_the_profile_and_single_values() {
    let trace = trace();
    let stat = ["stat", &trace, "--limit", "20k", "-e", "cpu_cycles"];
    let plain = printed(&stat);
    assert!(plain.contains("2.750 GHz"), "{plain}");
    for (machine, clock) in [("generic", "2.750"), ("cobalt-100", "3.400"), ("yitian-710", "2.980")]
    {
        let text = printed(&[&stat[..], &["--machine", machine, "--profile", "silicon"]].concat());
        assert!(text.contains(&format!("{clock} GHz")), "{text}");
        let config = printed(&["list", "config", "--machine", machine, "--profile", "silicon"]);
        let named = config.contains(&format!("neoverse-n2-silicon.toml + machines/{machine}.toml"));
        assert_eq!(named, machine != "generic", "{config}");
    }
    let set = ["--machine", "cobalt-100", "--set", "core.clock-hz=1G"];
    let text = printed(&[&stat[..], &set].concat());
    assert!(text.contains("1.000 GHz"), "{text}");
    let seconds = |text: &str| -> f64 {
        let line = text.lines().find(|line| line.contains("seconds time elapsed")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let cycles = printed(&[&stat[..], &set[..2], &["-x,"]].concat());
    let cycles = cycles.lines().find(|line| line.contains("cpu_cycles")).unwrap();
    let cycles: f64 = cycles.split(',').next().unwrap().parse().unwrap();
    assert!((seconds(&text) - cycles / 1e9).abs() < 2e-9, "{text}");
}

#[test]
fn a_machine_that_does_not_exist_is_refused_with_those_that_do() {
    let output = n2sim(&["stat", &trace(), "--machine", "graviton"]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message
            .contains("'graviton' is not a machine; choose one of generic, cobalt-100, yitian-710"),
        "{message}"
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .args(["list", "events", "--long"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[test]
fn stat_says_what_became_of_prefetched_lines() {
    let trace = trace();
    let common = ["stat", &trace, "--limit", "200k", "-e", "cycles", "--prefetch"];
    let text = printed(&common);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(row(" Prefetches").ends_with(" accuracy  coverage"), "{text}");
    assert!(row(" L2 ").ends_with('%'), "{text}");
    let json = printed(&[&common[..], &["-j"]].concat());
    assert!(json.contains("{\"accuracy\":") && json.contains("\"prefetcher\":\"L1D\""), "{json}");
    refused(&[&common[..], &["-x,"]].concat());
}

#[test]
fn events_of_other_cores_are_listed_and_explained() {
    let list = printed(&["list", "events", "--core", "cortex-a53"]);
    let row = |start: &str| {
        let is_row = |line: &&str| line.trim_start().starts_with(start);
        list.lines().find(is_row).unwrap_or_else(|| panic!("{start}: {list}")).to_owned()
    };
    assert!(row("r08 ").contains(" 7    7 "), "{}", row("r08 "));
    let (loads, retired) = (row("r60 "), row("r06 "));
    assert!(
        loads.contains("BUS_ACCESS_LD") && loads.contains("(in the Neoverse N2 BUS_ACCESS_RD)")
    );
    assert!(retired.contains("LD_RETIRED") && retired.ends_with("(not in the Neoverse N2)"));

    let text = printed(&["explain", "BUS_ACCESS_LD", "--core", "cortex-a53"]);
    assert!(text.contains("bus_access_rd") && text.contains("event bus: none"), "{text}");
    assert!(text.contains("the same number is BUS_ACCESS_RD here"), "{text}");
    let text = printed(&["explain", "r0e", "--core", "cortex-a53"]);
    assert!(text.contains("not on the Neoverse N2"), "{text}");
    assert!(text.contains("BR_RETURN_RETIRED"), "{text}");
    let text = printed(&["explain", "L2D_TLB", "--core", "cortex-a32"]);
    assert!(text.contains("no event has the number 0x2F; PMCEID1_EL0 bit 15 is 0"), "{text}");
    let text = printed(&["explain", "cpu_cycles", "--core", "cortex-a32"]);
    assert!(text.contains("on cortex-a32: not known"), "{text}");
    let text = printed(&["explain", "l3d_cache"]);
    assert!(text.contains("identified by: PMCEID1_EL0 bit 11, 0"), "{text}");
    assert!(refused(&["explain", "l1d_cach"]).contains("the closest name is L1D_CACHE"));
    assert!(refused(&["list", "events", "--core", "m1"]).contains("cortex-a53, neoverse-n1"));
}
