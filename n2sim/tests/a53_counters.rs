//! Shared counters, intervals and levels of a Cortex-A53, in `stat`, `plan` and `perf-stat`.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use crate::a53_commands::{n2sim, printed, refused};

const HASH: &str = "../traces/hash.n2t";
const EIGHT: &str =
    "inst_retired,ld_retired,st_retired,l1d_cache,br_pred,ld_dep_stall,agu_dep_stall,cycles";

/// Returns the fields of each line of `stat`.
fn fields(trace: &str, more: &[&str]) -> Vec<Vec<String>> {
    let csv = printed(&[&["stat", trace, "--core", "cortex-a53", "-x,"], more].concat());
    csv.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn number(field: &str) -> u64 {
    field.parse().unwrap()
}

#[test]
fn six_events_are_counted_all_the_time_and_more_take_turns() {
    let seven = EIGHT.split_once(',').unwrap().1;
    let turns = ["--limit", "100k", "--mux-interval", "1us", "--truth", "-e"];
    for row in fields(HASH, &[&turns[..], &[seven]].concat()) {
        assert_eq!((&row[4], &row[0]), (&"100.00".to_owned(), &row[7]), "{row:?}");
    }
    let rows = fields(HASH, &[&turns[..], &[EIGHT]].concat());
    assert!(rows.iter().any(|row| row[4] != "100.00"), "{rows:?}");
    let exact = fields(HASH, &["--limit", "100k", "-e", EIGHT]);
    for (row, exact) in rows.iter().zip(&exact) {
        assert_eq!((&row[7], &row[2]), (&exact[0], &exact[2]));
        let error = row[8].parse::<f64>().unwrap().abs();
        assert!(error < 5.0, "{row:?}");
    }
}

#[test]
fn a_time_slice_longer_than_the_run_is_noted() {
    let args = ["stat", HASH, "--core", "cortex-a53", "--limit", "10k", "--truth", "-e", EIGHT];
    let output = n2sim(&args);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("2 of 8 events were never on a counter"), "{note}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("<not counted>"));
}

#[test]
fn an_event_of_the_kernel_is_not_supported_and_not_explained_as_another() {
    let software = ["stat", HASH, "--core", "cortex-a53", "--limit", "10k", "-e", "cs,cycles"];
    let output = n2sim(&software);
    let (out, note) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
    assert!(out.contains("<not supported>") && !String::from_utf8(note).unwrap().contains("cs is"));
}

#[test]
fn intervals_add_up_to_the_run() {
    for more in [&["--limit", "100k"][..], &["--warmup", "5001", "--limit", "100k"]] {
        let events = ["-e", "ld_retired,cycles"];
        let whole = fields(HASH, &[more, &events].concat());
        let parts = fields(HASH, &[more, &events, &["-I", "0.05"]].concat());
        assert!(parts.len() > 4, "{parts:?}");
        for event in &whole {
            let of_event = parts.iter().filter(|row| row[3] == event[2]);
            assert_eq!(of_event.map(|row| number(&row[1])).sum::<u64>(), number(&event[0]));
        }
    }
    let text = printed(&["stat", HASH, "--core", "cortex-a53", "--limit", "100k", "-I", "0.05"]);
    assert!(text.starts_with("#           time"), "{text}");
    let wrong = refused(&["stat", HASH, "--core", "cortex-a53", "-I", "0"]);
    assert!(wrong.contains("milliseconds of modeled time"), "{wrong}");
}

#[test]
fn levels_of_a_trace_with_its_kernel_add_up() {
    let events = "{instructions,instructions:u,instructions:k}";
    let rows = fields("../traces/system.n2t", &["--limit", "200k", "-e", events]);
    let [all, user, kernel] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(number(&all[0]), number(&user[0]) + number(&kernel[0]));
    assert!(number(&user[0]) > 0 && number(&kernel[0]) > 0);
    let rows = fields(HASH, &["--limit", "10k", "-e", "cycles:k,cycles:u"]);
    assert_eq!((rows[0][0].as_str(), rows[0][2].as_str()), ("<not supported>", "cycles:k"));
    assert!(number(&rows[1][0]) > 0);
    let core = ["--core", "cortex-a53"];
    let functions = ["functions", "../traces/system.n2t", "-e", "cycles:u"];
    let wrong = refused(&[&functions[..], &core].concat());
    assert!(wrong.contains("leave the modifier out"), "{wrong}");
    let wrong = refused(&[&["stat", HASH, "-M", "ipc", "--truth"][..], &core].concat());
    assert!(wrong.contains("computed from exact counts"), "{wrong}");
    let wrong = refused(&[&["stat", HASH, "-e", "stall_slot"][..], &core].concat());
    assert!(wrong.contains("'stall_slot': the Cortex-A53 has no such event"), "{wrong}");
}

#[test]
fn a_plan_names_the_runs_and_the_error_of_one() {
    let plan = ["plan", HASH, "--core", "cortex-a53", "--limit", "100k", "--mux-interval", "1us"];
    let text = printed(&[&plan[..], &["-e", EIGHT]].concat());
    for part in ["8 counts in 2 runs", "   run  2: ", "no plan needs fewer", "mean error"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = printed(&[&plan[..], &["-M", "Stalls,Memory"]].concat());
    assert!(text.contains("mean error"), "{text}");
    let text = printed(&[&plan[..], &["-M", "slot_use"]].concat());
    assert!(text.contains("in 1 run without multiplexing"), "{text}");
    let wrong = refused(&[&plan[..], &["-e", "cycles:k"]].concat());
    assert!(wrong.contains("none of the events can be counted"), "{wrong}");
}

#[test]
fn a_tool_that_calls_perf_gets_the_counts_of_this_core() {
    let stat = ["perf-stat", "--core", "cortex-a53", "--trace", HASH, "--limit", "100k", "--"];
    let perf = |more: &[&str]| {
        let output = n2sim(&[&stat[..], more].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{more:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let rows = perf(&["-x,", "-e", "{ld_retired,cycles},task-clock,page-faults", "./hash"]);
    let lines: Vec<&str> = rows.lines().collect();
    let exact = fields(HASH, &["--limit", "100k", "-e", "ld_retired,cycles"]);
    assert_eq!(lines[0].split(',').next().unwrap(), exact[0][0]);
    assert_eq!(lines[1].split(',').next().unwrap(), exact[1][0]);
    assert!(lines[2].contains(",msec,task-clock,"), "{rows}");
    assert!(lines[3].starts_with("<not supported>,,page-faults,"), "{rows}");
    let rows = perf(&["-x,", "-e", "cs,cycles:k,ld_retired,cycles", "./hash"]);
    let values: Vec<&str> = rows.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(values, ["<not supported>", "<not supported>", &exact[0][0], &exact[1][0]]);
    let large = format!("{{{EIGHT},st_retired,br_return_retired}}");
    let rows = perf(&["-x,", "-e", &large, "./hash"]);
    let refused = rows.lines().filter(|line| line.starts_with("<not supported>")).count();
    assert_eq!(refused, 3, "six counters and that of cycles: {rows}");
    let text = perf(&["-v", "--per-thread", "./hash"]);
    assert!(text.contains("Using CPUID 0x00000000410fd034"), "{text}");
    assert!(text.contains("Performance counter stats for './hash'"), "{text}");
    let large = format!("{{{EIGHT},st_retired}},cycles");
    let rows = perf(&["-x,", "-e", &large, "./hash"]);
    assert!(rows.lines().last().unwrap().starts_with(&format!("{},", exact[1][0])), "{rows}");
    let intervals = perf(&["-I", "0.05", "--interval-count", "2", "-x,", "-e", "cycles", "./hash"]);
    assert_eq!(intervals.lines().count(), 2, "{intervals}");
}
