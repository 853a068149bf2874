//! `n2sim explain` as a user meets it: every subject, every form, and single instructions.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use sim_report::explain::Index;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs the program at the top of the repository, as the examples say.
fn n2sim(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.current_dir(repository()).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&[args, &["--json"]].concat())).unwrap()
}

/// The words of a command as a shell splits them: blanks separate, quotes hold together.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (i, piece) in command.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(piece.split_whitespace()),
            _ => words.push(piece),
        }
    }
    words
}

/// The commands in an explanation print what it says.
#[test]
fn every_example_prints_what_the_explanation_says() {
    let index = Index::get();
    let entries = [&index.events, &index.metrics, &index.flows, &index.causes];
    let mut ran = 0;
    for entry in entries.into_iter().flatten() {
        let Some(example) = &entry.example else { continue };
        let command = words(&example.command);
        assert_eq!(command[0], "n2sim", "{}", entry.name);
        assert_eq!(printed(&command[1..]), example.output, "{}", example.command);
        ran += 1;
    }
    assert!(ran > 200, "{ran} examples");
}

#[test]
fn an_event_says_what_it_counts_where_and_what_proves_it() {
    let plain = printed(&["explain", "l1d_cache_refill"]);
    assert!(!plain.contains(".rs: "), "places in the model are for its developers: {plain}");
    let text = printed(&["explain", "l1d_cache_refill", "--code"]);
    for piece in [
        "L1D_CACHE_REFILL (r0003)  L1 data cache refill",
        "PMU guide 4.2.1",
        "does not count\n  - lines allocated by preload instructions",
        "|- sum of: L1D_CACHE_REFILL_RD, L1D_CACHE_REFILL_WR",
        "lower than misses",
        "sim-cache/src/flows/l1d_load.rs: refill_l1d",
        "$ n2sim check tests/scenarios/410-l1d-refill.toml --case 'T.L1D_CACHE_REFILL.1'",
    ] {
        assert!(text.contains(piece), "no '{piece}' in {text}");
    }
    let never = printed(&["explain", "r2b"]);
    assert!(never.contains("never counts: the counter stays 0"), "{never}");
    let extllc = printed(&["explain", "LL_CACHE_RD"]);
    assert!(extllc.contains("EXTLLC: counts only while"), "{extllc}");
    let slots = printed(&["explain", "stall_slot"]);
    assert!(slots.contains("erratum: revisions r0p0 to r0p2"), "{slots}");
}

#[test]
fn metrics_sections_and_causes_are_explained_in_every_form() {
    for name in ["l1d_mpki", "4.2", "5.7", "L1I miss", "bus_access"] {
        assert!(printed(&["explain", name]).contains("\nrelations\n"), "{name}");
        assert!(printed(&["explain", name, "--markdown"]).contains("**Relations**"), "{name}");
        assert!(printed(&["explain", name, "--dot"]).starts_with("digraph "), "{name}");
        let svg = printed(&["explain", name, "--svg"]);
        assert!(svg.starts_with("<svg ") && svg.contains("<title>"), "{name}");
        assert!(!json(&["explain", name])["counts"].as_array().unwrap().is_empty(), "{name}");
    }
    let metric = json(&["explain", "l1d_miss_ratio"]);
    assert_eq!(metric["formula"], "L1D_CACHE_REFILL / L1D_CACHE");
}

/// The value is the one that `stat` prints.
#[test]
fn the_value_on_a_trace_is_the_exact_count() {
    let run = ["--limit", "20k"];
    let value = |name: &str| {
        let args = [&["explain", name, "--trace", "traces/hash.n2t"], &run[..]].concat();
        json(&args)["on_trace"]["values"][0]["value"].as_f64().unwrap()
    };
    let stat = printed(&[&["stat", "traces/hash.n2t", "-j"], &run[..]].concat());
    let counted = |event: &str| {
        let lines = stat.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let row = lines.into_iter().find(|row| row["event"] == event).expect(event);
        row["counter-value"].as_str().unwrap().parse::<f64>().unwrap()
    };
    for event in ["inst_retired", "l1d_cache", "l1d_tlb_refill"] {
        assert_eq!(value(event), counted(event), "{event}");
    }
    let ipc = counted("inst_retired") / counted("cpu_cycles");
    assert!((value("ipc") - ipc).abs() < 1e-9);
    let text = printed(&["explain", "4.7", "--trace", "traces/hash.n2t", "--limit", "20k"]);
    assert!(text.contains("20,000 instructions)") && text.contains("  STALL_SLOT "), "{text}");
}

/// The events that a step of a scenario raised, and those that it did not, with reasons.
fn course(place: &str) -> (Vec<String>, Vec<(String, String)>) {
    let why = json(&["explain", "--why", place]);
    let course = &why["courses"][0];
    let name = |entry: &Value| entry["event"].as_str().unwrap().to_owned();
    let raised = course["raised"].as_array().unwrap().iter().map(name).collect();
    let absent = course["not_raised"].as_array().unwrap().iter();
    let absent = absent.map(|entry| (name(entry), entry["because"].as_str().unwrap().to_owned()));
    (raised, absent.collect())
}

#[test]
fn a_load_says_why_it_is_no_refill() {
    let step = |file: &str, case: &str, n: u32| format!("tests/scenarios/{file}.toml:{case}:{n}");
    let because = |place: &str, event: &str| {
        let (raised, absent) = course(place);
        assert!(!raised.contains(&event.to_owned()), "{place}: {raised:?}");
        let found = absent.iter().find(|(name, _)| name == event);
        found.unwrap_or_else(|| panic!("{place}: {event} in {absent:?}")).1.clone()
    };
    let refill = "L1D_CACHE_REFILL_RD";
    let first = step("410-l1d-refill", "T.L1D_CACHE_REFILL.2", 1);
    assert!(course(&first).0.contains(&refill.to_owned()));
    let merged = step("410-l1d-refill", "T.L1D_CACHE_REFILL.2", 2);
    assert!(because(&merged, refill).contains("already pending"));
    let hit = step("410-l1d-refill", "T.L1D_CACHE_REFILL.1", 2);
    assert!(because(&hit, refill).contains("was in the L1 D-cache"));
    let uncached = step("410-l1d-refill", "T.L1D_CACHE_REFILL.10", 1);
    assert!(because(&uncached, "L1D_CACHE_RD").contains("not cached"));
    let wrong_path = step("300-retirement", "T.L1D_CACHE_REFILL.9", 1);
    assert!(because(&wrong_path, "INST_RETIRED").contains("squashed"));
    let inner = step("410-l1d-refill", "T.L1D_CACHE_REFILL_OUTER.2", 1);
    assert!(because(&inner, "L2D_CACHE_REFILL_RD").contains("L2 held the line"));
    let slc = step("620-last-level", "T.LL_CACHE_RD.1", 1);
    assert!(because(&slc, "LL_CACHE_MISS_RD").contains("system level cache held the line"));
    let extllc = step("620-last-level", "T.LL_CACHE_RD.5", 1);
    assert!(because(&extllc, "LL_CACHE_RD").contains("EXTLLC is clear"));
}

/// Checks that all executions of an instruction are counted, and that those on the correct path
/// equal those in the trace.
#[test]
fn explain_counts_all_executions_of_an_instruction_of_a_trace() {
    let dump = printed(&["trace", "dump", "traces/hash.n2t", "--count", "20000"]);
    let pc_of = |line: &str| line.split_whitespace().nth(1).map(|pc| format!("0x{pc}"));
    let mut times = std::collections::BTreeMap::new();
    for pc in dump.lines().filter_map(pc_of) {
        *times.entry(pc).or_insert(0_u64) += 1;
    }
    let (pc, often) = times.iter().max_by_key(|(_, n)| **n).unwrap();
    let place = format!("traces/hash.n2t@{pc}");
    let why = json(&["explain", "--why", &place, "--limit", "20k", "--max-variants", "1000"]);
    let all = why["executions"].as_u64().unwrap();
    let wrong = why["on_wrong_paths"].as_u64().unwrap();
    assert_eq!(all - wrong, *often, "{pc}");
    let shown: u64 =
        why["courses"].as_array().unwrap().iter().map(|way| way["times"].as_u64().unwrap()).sum();
    assert_eq!(shown + why["not_shown"].as_u64().unwrap(), all);
    let text = printed(&["explain", "--why", &place, "--limit", "20k"]);
    assert!(text.contains("INST_RETIRED") && text.contains("it retired"), "{text}");
}

#[test]
fn what_cannot_be_explained_is_refused_with_the_remedy() {
    let cases: [(&[&str], &str); 12] = [
        (&["explain"], "required"),
        (&["explain", "nothing_like_it"], "it is not a metric"),
        (&["explain", "9.9"], "sections are 4.1 to 4.14"),
        (&["explain", "cycles", "--why", "x@0"], "cannot be used with"),
        (&["explain", "--why", "traces/hash.n2t"], "write TRACE@0xPC"),
        (&["explain", "--why", "traces/hash.n2t@0x4"], "the nearest one is at 0x"),
        (&["explain", "--why", "traces/hash.n2t@no_such_name"], "neither an address"),
        (&["explain", "--why", "none.n2t@0x4"], "none.n2t"),
        (&["explain", "--why", "tests/scenarios/410-l1d-refill.toml:1"], "write"),
        (
            &["explain", "--why", "tests/scenarios/410-l1d-refill.toml:T.L1D_CACHE_REFILL.1:3"],
            "steps 1 to 2",
        ),
        (&["explain", "--why", "tests/scenarios/410-l1d-refill.toml:none:1"], "no case is called"),
        (&["check", "tests/scenarios", "--case", "none"], "no case of these files"),
    ];
    for (args, expected) in cases {
        let message = refused(args);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}

/// Without `-v` two ways, of the second only what is not as in the first, and no source of the
/// model.
#[test]
fn why_is_short_unless_all_is_asked_for() {
    let place = "traces/hash.n2t@insert+0x24";
    let message = printed(&["explain", "--why", place, "--limit", "100k"]);
    let head = "0x40016c, insert+0x24: ldr x2, [x5, x2] (word 0xf86268a2), a load\n";
    assert!(message.starts_with(head), "{message}");
    assert!(!message.contains("sim-pipeline/") && !message.contains("sim-cache/"), "{message}");
    assert!(message.contains("\n2. ") && !message.contains("\n3. "), "{message}");
    let all = printed(&["explain", "--why", place, "--limit", "100k", "-v"]);
    assert!(!all.contains("[sim-"), "places in the model are for its developers: {all}");
    let code = printed(&["explain", "--why", place, "--limit", "100k", "-v", "--code"]);
    assert!(code.contains("[sim-"), "{code}");
    assert!(message.lines().count() * 3 < all.lines().count() * 2, "{message}");
    let second = |text: &str| text.split("\n2. ").nth(1).unwrap_or_default().to_owned();
    assert!(second(&all).contains("INST_RETIRED"), "{all}");
    assert!(!second(&message).contains("raised  INST_RETIRED"), "as in way 1: {message}");
}

#[test]
fn an_instruction_that_comes_later_says_where() {
    let place = "traces/hash.n2t@insert+0x24";
    let message = refused(&["explain", "--why", place, "--limit", "1k"]);
    let number = message.split("--limit ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(message.contains("it is first executed as instruction "), "{message}");
    let reached = printed(&["explain", "--why", place, "--limit", number]);
    assert!(reached.contains("correct path"), "{reached}");
    // One instruction less, and what is left of it was fetched on a wrong path.
    let before = (number.parse::<u64>().unwrap() - 1).to_string();
    let message = printed(&["explain", "--why", place, "--limit", &before]);
    assert!(message.contains("\nexecuted once\n"), "{message}");
    assert!(message.contains("1. once (100.0 %): wrong path, squashed"), "{message}");
    assert!(!message.contains("correct path"), "{message}");
}
