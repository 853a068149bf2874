//! `n2sim stat -e`: events on the counters of a core, as a user asks for them.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

/// Six events and cycles.
const SEVEN: &str = "cycles,r08,r03,r04,r05,r14,r21";
/// Four more.
const ELEVEN: &str = "r08,r1b,r03,r04,r05,r14,r21,r22,r24,r10,cycles";

fn stat(args: &[&str]) -> Output {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.arg("stat").arg(trace).args(["--limit", "50k"]).args(args).output().unwrap()
}

/// Returns the standard output and the messages of a successful run.
fn printed(args: &[&str]) -> (String, String) {
    let output = stat(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    (String::from_utf8(output.stdout).unwrap(), message)
}

fn refused(args: &[&str]) -> String {
    let output = stat(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The fields of every line of CSV.
fn fields(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn what_fits_is_exact() {
    let (csv, message) = printed(&["-e", SEVEN, "-x,", "--truth"]);
    let rows = fields(&csv);
    assert_eq!(rows.len(), 7);
    for row in rows {
        assert_eq!((row[0], row[4]), (row[7], "100.00"), "{row:?}");
        assert_eq!(row[8], "0.0000", "{row:?}");
    }
    assert!(!message.contains("note"), "{message}");
}

#[test]
fn what_waits_for_a_turn_that_never_comes_is_not_counted() {
    let (csv, message) = printed(&["-e", ELEVEN, "-x,"]);
    let missed = fields(&csv).iter().filter(|row| row[0] == "<not counted>").count();
    assert_eq!(missed, 5, "six of eleven find a counter, and cycles come after one that waits");
    assert!(message.contains("5 of 11 events were never on a counter"), "{message}");
    assert!(message.contains("--mux-interval") && message.contains("--no-multiplex"), "{message}");
}

#[test]
fn pinned_events_without_a_counter_are_reported_as_such() {
    let (csv, message) = printed(&["-e", "{r03,r04,r05,r14,r21,r22}:D,r24,r25:D", "-x,"]);
    let rows = fields(&csv);
    assert_eq!((rows[6][0], rows[6][4]), ("<not counted>", "0.00"), "it waits: {csv}");
    assert_eq!((rows[7][0], rows[7][4]), ("<not counted>", "100.00"), "it is in error: {csv}");
    assert!(message.contains("2 of 8") && message.contains("pinned events (:D)"), "{message}");
}

/// Metrics are exact unless multiplexing is requested, which a note reports.
#[test]
fn metrics_are_exact_unless_counters_are_multiplexed() {
    let metric = |csv: &str, name: &str| -> f64 {
        let row = fields(csv).into_iter().find(|row| row.len() > 6 && row[6].ends_with(name));
        row.unwrap()[5].parse().unwrap()
    };
    let list = ["-M", "ipc,TopdownL1,TopdownL2", "-x,"];
    let (csv, message) = printed(&list);
    assert!(
        message.contains("exact counts, for which a machine would have needed 2 runs"),
        "{message}"
    );
    let (truth, _) = printed(&["-x,", "-e", "cycles,instructions"]);
    let count = |at: usize| fields(&truth)[at][0].parse::<f64>().unwrap();
    assert_eq!(metric(&csv, "  ipc"), count(1) / count(0), "every digit");
    let shares = ["retiring", "bad_speculation", "frontend_bound", "backend_bound"];
    let whole: f64 = shares.iter().map(|name| metric(&csv, &format!("slots  {name}"))).sum();
    assert!((whole - 100.0).abs() < 1e-9, "{whole}");
    let mut names: Vec<&str> =
        fields(&csv).iter().map(|row| row[2]).filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!((names.len(), all), (9, 9), "each event once: {csv}");

    for more in [&["--mux-interval", "500ns"][..], &["--mux-interval", "500ns", "--truth"]] {
        let (csv, message) = printed(&[&list[..], more].concat());
        assert!(
            message.contains("values are estimates: the counters were multiplexed"),
            "{message}"
        );
        assert!(
            message.contains("10 of 10 counts are scaled"),
            "two groups share cycles: {message}"
        );
        assert_eq!(fields(&csv).iter().filter(|row| row[2] == "CPU_CYCLES").count(), 1, "{csv}");
        assert_ne!(metric(&csv, "  ipc"), count(1) / count(0), "{csv}");
    }
    // One group holds the six events and cycles of level 1 and of ipc, so nothing is multiplexed.
    let (csv, message) = printed(&["-M", "ipc,TopdownL1", "-x,", "--mux-interval", "500ns"]);
    assert_eq!(metric(&csv, "  ipc"), count(1) / count(0), "{csv}");
    assert!(!message.contains("note"), "{message}");
}

/// An event of `-e` is not counted again for a metric.
#[test]
fn metrics_share_the_events_of_the_list() {
    let (csv, _) = printed(&["-e", "cycles,page-faults", "-M", "ipc", "-x,"]);
    let names: Vec<&str> = fields(&csv).iter().map(|row| row[2]).collect();
    assert_eq!(names, ["cycles", "page-faults", "INST_RETIRED", ""], "{csv}");
}

/// 25 different events on six counters, in pairs that share some of them.
#[test]
fn a_plan_for_metrics_takes_as_few_runs_as_their_events() {
    let (text, _) =
        printed(&["-M", "TopdownL1,MPKI,Miss_Ratio", "--plan", "--mux-interval", "1us"]);
    assert!(text.contains("in 5 runs without multiplexing"), "{text}");
    assert!(text.contains("no plan needs fewer"), "{text}");
}

#[test]
fn turns_make_estimates_and_more_runs_make_counts() {
    let (csv, _) = printed(&["-e", ELEVEN, "-x,", "--truth", "--mux-interval", "500ns"]);
    let rows = fields(&csv);
    assert!(rows.iter().all(|row| row[0] != "<not counted>" && row[4] != "100.00"), "{csv}");
    assert!(rows.iter().any(|row| row[0] != row[7]), "some estimate is wrong: {csv}");
    let (csv, message) = printed(&["-e", ELEVEN, "-x,", "--truth", "--no-multiplex"]);
    assert!(fields(&csv).iter().all(|row| row[0] == row[7] && row[4] == "100.00"), "{csv}");
    assert!(message.contains("would have needed 2 runs"), "{message}");
    let (all, _) = printed(&["-x,"]);
    for row in fields(&csv) {
        let same = |own: &Vec<&str>| own[0] == row[0];
        assert!(fields(&all).iter().any(same), "{row:?}");
    }
}

#[test]
fn groups_stay_together() {
    let list = "{r08,r1b,r03,r04}:S,{r05,r14,r21,r22}";
    let (csv, _) = printed(&["-e", list, "-x,", "--mux-interval", "500ns"]);
    let rows = fields(&csv);
    let times: Vec<&str> = rows.iter().map(|row| row[3]).collect();
    assert!(times[..4].iter().all(|time| *time == times[0]), "{csv}");
    assert!(times[4..].iter().all(|time| *time == times[4]), "{csv}");
    let (csv, _) = printed(&["-e", "{r08,r1b,r03,r04,r05,r14,r21,r22}", "-x,"]);
    let refused = fields(&csv).iter().filter(|row| row[0] == "<not supported>").count();
    assert_eq!(refused, 2, "a group of eight never fits: {csv}");
}

#[test]
fn a_plan_names_the_runs_and_the_error_of_one() {
    let (text, _) = printed(&["-e", ELEVEN, "--plan", "--mux-interval", "1us"]);
    for part in ["11 counts in 2 runs", "   run  2: ", "no plan needs fewer", "mean error"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (text, _) = printed(&["-e", SEVEN, "--plan"]);
    assert!(text.contains("7 counts in 1 run ") && !text.contains("mean error"), "{text}");
}

/// Runs a command on the part of the trace that the other tests use.
fn run(command: &str, args: &[&str]) -> Output {
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    let mut process = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    process.arg(command).arg(trace).args(["--limit", "50k"]).args(args).output().unwrap()
}

/// Given a machine with N counters, when seven events and cycles are asked for, then N of them and
/// cycles are counted exactly, and the others wait.
#[test]
fn a_machine_with_other_counters_counts_as_many_events() {
    for core in ["neoverse-n2", "cortex-a53"] {
        for counters in [2, 3, 5, 7, 31] {
            let n = counters.to_string();
            let options = ["--core", core, "--counters", &n, "-e"];
            let list = "r08,r03,r04,r05,r14,r01,r13,r11";
            let (csv, _) = printed(&[&options[..], &[list, "-x,", "--truth"]].concat());
            let rows = fields(&csv);
            let counted: Vec<_> = rows.iter().filter(|row| row[0] != "<not counted>").collect();
            // Cycles are asked for last, so they are on their counter only if no event waits.
            let expected = if counters < 7 { counters } else { 8 };
            assert_eq!(counted.len(), expected, "{core}, {counters}: {csv}");
            assert!(counted.iter().all(|row| row[0] == row[7]), "{csv}");
            let plan = run("plan", &[&options[..], &[list]].concat());
            let plan = String::from_utf8(plan.stdout).unwrap();
            let runs = 7usize.div_ceil(counters);
            let word = if runs == 1 { "run" } else { "runs" };
            assert!(plan.contains(&format!(" counts in {runs} {word} without")), "{plan}");
            assert!(plan.contains(&format!("The machine has {n} event counters and")), "{plan}");
        }
    }
    let turns = ["--counters", "2", "-e", SEVEN, "-x,", "--mux-interval", "1us", "--truth"];
    let share = |row: &Vec<&str>| row[4].parse::<f64>().unwrap();
    let (csv, _) = printed(&turns);
    let shares: Vec<f64> = fields(&csv).iter().map(share).collect();
    assert!(shares.iter().all(|share| *share > 15.0), "{shares:?}");
    // Cycles are the first, and have a counter of their own.
    let on_two: f64 = shares[1..].iter().sum();
    assert!((150.0..201.0).contains(&on_two), "two counters all the time: {shares:?}");

    let codes =
        [0x01, 0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x12, 0x13, 0x14, 0x15];
    let more = (0x16..=0x1d).chain(0x20..=0x26).chain([0x29, 0x2a]);
    let list: Vec<String> =
        codes.into_iter().chain(more).map(|code| format!("r{code:02x}")).collect();
    assert_eq!(list.len(), 31);
    for (counters, missed) in [("31", 0), ("30", 1)] {
        let (csv, _) = printed(&["--counters", counters, "-e", &list.join(","), "-x,", "--truth"]);
        let rows = fields(&csv);
        let counted = rows.iter().filter(|row| row[0] != "<not counted>");
        assert_eq!(rows.len() - counted.clone().count(), missed, "{csv}");
        assert!(counted.into_iter().all(|row| row[0] == row[7]), "{csv}");
    }
}

#[test]
fn a_verdict_names_the_counters_that_the_formulas_share() {
    for (options, column) in [(&[][..], " 6 counters "), (&["--counters", "3"], " 3 counters ")] {
        let output = run("validate", &[&["-M", "l1d_mpki"], options].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(column), "{options:?}: {text}");
    }
}

/// Given a formula of three events, then a machine with two counters cannot count them at once.
#[test]
fn lint_knows_the_counters_of_the_machine() {
    let formula = "(LD_SPEC + ST_SPEC + DP_SPEC) / CPU_CYCLES";
    let lint = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
        let output = command.args(["lint", "--formula", formula]).args(options).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let finding = "3 events besides CPU_CYCLES and 2 counters";
    assert!(lint(&["--counters", "2"]).contains(finding));
    assert!(!lint(&["--counters", "3"]).contains("counters:") && !lint(&[]).contains("besides"));
}

#[test]
fn a_number_of_counters_that_no_machine_has_is_refused() {
    for n in ["0", "1", "32", "-3", "six"] {
        for command in ["stat", "plan", "validate"] {
            let output = run(
                command,
                &["-e", "r08", "--counters", n][if command == "validate" { 2 } else { 0 }..],
            );
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command} {n}: {said}");
            assert!(said.contains("a machine has 2 to 31 event counters"), "{command} {n}: {said}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    for (args, remedy) in [
        (["--truth"].as_slice(), "--event"),
        (&["--plan"], "--event"),
        (&["--no-multiplex"], "--event"),
        (&["--mux-interval", "1ms"], "--event"),
        (&["-e", "r08", "--mux-interval", "0"], "100ns to"),
        (&["-e", "r08", "--mux-interval", "soon"], "such as 4ms"),
        (&["-e", "r08:k", "--plan"], "none of the events can be counted"),
        (&["-e", "{r08,r1b"], "not closed"),
        (&["-e", "{r08}:z"], "unknown modifier 'z'"),
        (&["-e", "{r08,}"], "empty event name"),
    ] {
        let message = refused(args);
        assert!(message.contains(remedy), "{args:?}: {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}
