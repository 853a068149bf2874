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
    assert!(text.starts_with("# n2sim "), "{text}");
    assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 147);

    let path = folder.path().join("never.csv").display().to_string();
    refused(&["stat", &trace, "--roi", "no_such_function,other", "-o", &path]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written stays");
    let told = refused(&["stat", &trace, "--limit", "1k", "-o", "/nowhere/out.csv"]);
    assert!(told.contains("cannot write /nowhere/out.csv"), "{told}");
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
    let told = "L1D_CACHE = L1D_CACHE_RD + L1D_CACHE_WR does not hold: 5 against 4 (printed)";
    assert!(stdout(&output).contains(told), "{}", stdout(&output));
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
    let told = refused(&["stat", "/nowhere/x.n2t"]);
    assert!(told.contains("/nowhere/x.n2t"), "{told}");
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("empty.n2t", ""), ("foreign.n2t", "#!/bin/sh\necho no trace at all\n")] {
        let path = file_with(&folder, name, text);
        let told = refused(&["stat", &path]);
        assert!(told.starts_with("n2sim: ") && told.contains(&path), "{told}");
        assert_eq!(told.trim_end().lines().count(), 1, "one sentence: {told}");
    }
}

#[test]
fn unknown_events_are_refused_with_the_closest_name() {
    let told = refused(&["stat", &trace(), "-e", "l1d_cach_refil"]);
    assert!(told.contains("the closest name is L1D_CACHE_REFILL"), "{told}");
}

#[test]
fn wrong_configurations_are_refused_with_place_and_remedy() {
    let trace = trace();
    let told = refused(&["stat", &trace, "--set", "core.clok-hz=1"]);
    assert!(told.contains("the closest existing key is `core.clock-hz`"), "{told}");
    let told = refused(&["stat", &trace, "--set", "core.clock-hz"]);
    assert!(told.contains("write it as table.key=value"), "{told}");

    let folder = tempfile::tempdir().unwrap();
    let overlay = "base = \"neoverse-n2.toml\"\n[memory.l1d]\nsize-bites = 1\n";
    let path = file_with(&folder, "typo.toml", overlay);
    let told = refused(&["stat", &trace, "--config", &path]);
    assert!(told.contains(&format!("{path}:3:1: unknown key `memory.l1d.size-bites`")), "{told}");

    let overlay = "base = \"neoverse-n2.toml\"\n[memory.l1d]\nsize-bytes = 65000\n";
    let path = file_with(&folder, "shape.toml", overlay);
    let told = refused(&["stat", &trace, "--config", &path]);
    assert!(
        told.contains(&format!("{path}:3:1: ")) && told.contains("3 | size-bytes = 65000"),
        "{told}"
    );
    let told = refused(&["stat", &trace, "--config", "/nowhere.toml"]);
    assert!(told.contains("cannot read the configuration /nowhere.toml: No such file"), "{told}");
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

#[test]
fn a_trace_can_be_looked_into() {
    let trace = trace();
    assert!(printed(&["trace", "info", &trace]).contains("hash"));
    assert!(printed(&["trace", "verify", &trace]).ends_with("  intact\n"));
    let dump = printed(&["trace", "dump", &trace, "--start", "10", "--count", "5"]);
    let insts =
        dump.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(insts.count(), 5, "{dump}");
    assert!(refused(&["trace", "dump", &trace, "--stream", "77"]).contains("no stream 77"));
}

#[test]
fn a_part_of_a_trace_can_be_kept_and_parts_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (trace, first, second, both) = (trace(), file("1.n2t"), file("2.n2t"), file("both.n2t"));
    printed(&["trace", "slice", &trace, "--count", "1000", "-o", &first]);
    printed(&["trace", "slice", &trace, "--start", "1k", "--count", "1k", "-o", &second]);
    let text = printed(&["trace", "merge", "--as", "parts", &first, &second, "-o", &both]);
    assert!(text.contains("2000 instructions"), "{text}");
    let verified = printed(&["trace", "verify", &both]);
    assert!(verified.contains("1 gaps") && verified.ends_with("  intact\n"), "{verified}");
    // Positions differ by the slice's start, lines by nothing else.
    let lines = |trace: &str, start: &str| -> Vec<String> {
        let text = printed(&["trace", "dump", trace, "--start", start, "--count", "9"]);
        text.lines().map(|line| line.trim_start().split_once(' ').unwrap().1.to_owned()).collect()
    };
    assert_eq!(lines(&trace, "1500"), lines(&second, "500"));
    let told = refused(&["trace", "slice", &first, "--start", "1k", "-o", &both]);
    assert!(told.contains("the trace has no instructions 1000 and later"), "{told}");
    let told = refused(&["trace", "merge", "--as", "rows", &first, &second, "-o", &both]);
    assert!(told.contains("parts, threads"), "{told}");
    let told = refused(&["trace", "merge", "--as", "parts", &first, &second, "-o", &first]);
    assert!(told.contains("give another file"), "{told}");
}

#[test]
fn the_good_part_of_a_cut_trace_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(trace()).unwrap();
    let cut = folder.path().join("cut.n2t").display().to_string();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let told = refused(&["stat", &cut]);
    assert!(told.contains("n2sim trace recover"), "{told}");

    let good = folder.path().join("good.n2t").display().to_string();
    let text = printed(&["trace", "recover", &cut, "-o", &good]);
    assert!(text.contains("cut.n2t: chunk "), "{text}");
    let counts = printed(&["stat", &good, "-x,", "-e", "inst_retired", "--limit", "1k"]);
    assert!(counts.starts_with("1000,,inst_retired,"), "{counts}");
    assert!(refused(&["trace", "repack", &good, "-o", &good]).contains("give another file"));
    assert!(printed(&["trace", "verify", &good]).ends_with("  intact\n"));
}

#[test]
fn a_trace_can_be_given_a_page_map() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mapped.n2t").display().to_string();
    let bad = file_with(&folder, "bad.csv", "0x400000,4096,0,shared\n");
    let told = refused(&["trace", "map", &trace(), &bad, "-o", &out]);
    assert!(told.contains(&format!("{bad}: no page map: line 1: unknown attribute")), "{told}");
    let good = "granule,16384\n0x400000,16384,0x80000000,execute # code\n";
    let good = file_with(&folder, "good.csv", good);
    printed(&["trace", "map", &trace(), &good, "-o", &out]);
    let info = printed(&["trace", "info", &out]);
    assert!(info.contains("page map      1 entries, 16384 bytes mapped, granule 16384"), "{info}");
    let told = refused(&["stat", &out]);
    assert!(told.contains("run it with --set memory.pages.page-bytes=16384"), "{told}");
    let set = ["stat", &out, "--limit", "1000", "--set", "memory.pages.page-bytes=16384"];
    assert!(printed(&set).contains("instructions"));
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
    assert!(row("r60 ").contains("BUS_ACCESS_LD") && row("r60 ").contains("(here BUS_ACCESS_RD)"));
    assert!(row("r06 ").contains("LD_RETIRED") && row("r06 ").ends_with("(not here)"));

    let text = printed(&["explain", "BUS_ACCESS_LD", "--core", "cortex-a53"]);
    assert!(text.contains("bus_access_rd") && text.contains("event bus: none"), "{text}");
    assert!(text.contains("the same number is BUS_ACCESS_RD here"), "{text}");
    let text = printed(&["explain", "r0e", "--core", "cortex-a53"]);
    assert!(
        text.contains("not on the Neoverse N2") && text.contains("BR_RETURN_RETIRED"),
        "{text}"
    );
    let text = printed(&["explain", "L2D_TLB", "--core", "cortex-a32"]);
    assert!(text.contains("no event has the number 0x2F; PMCEID1_EL0 bit 15 is 0"), "{text}");
    let text = printed(&["explain", "cpu_cycles", "--core", "cortex-a32"]);
    assert!(text.contains("on cortex-a32: not known"), "{text}");
    let text = printed(&["explain", "l3d_cache"]);
    assert!(text.contains("identified by: PMCEID1_EL0 bit 11, 0"), "{text}");
    assert!(refused(&["explain", "l1d_cach"]).contains("the closest name is L1D_CACHE"));
    assert!(refused(&["list", "events", "--core", "m1"]).contains("cortex-a32, cortex-a53"));
}
