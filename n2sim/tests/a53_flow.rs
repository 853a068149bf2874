//! `n2sim flow --core cortex-a53`: the flows as declared, with the counts of a trace, in all forms.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

const SCENARIOS: &str = "tests/scenarios-a53/100-retirement.toml";
const HASH: &str = "traces/hash.n2t";

fn n2sim(args: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let core = ["flow", "--core", "cortex-a53"];
    let program = env!("CARGO_BIN_EXE_n2sim");
    Command::new(program).current_dir(root).args(core).args(args).output().unwrap()
}

fn shown(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_flows_are_declared_with_their_events() {
    let text = shown(&[]);
    for words in [
        "Translation: micro-TLBs, main TLB, walk",
        "table not in the walk cache -> all tables",
        "miss of a stream -> gathered in read-allocate mode",
        "BUS_ACCESS x 4, BUS_ACCESS_LD x 4, L2D_CACHE",
        "another core has it -> L1 D-cache of another core",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let one = shown(&["--flow", "fetch"]);
    assert!(one.starts_with("Fetch: L1 I-cache\n") && !one.contains("micro-TLB"), "{one}");
}

#[test]
fn a_trace_has_counts_on_the_edges_and_accounts_for_the_events() {
    let text = shown(&[HASH, "--limit", "200k"]);
    let accounts = text.split("events of the boxes").nth(1).unwrap();
    let rows: Vec<Vec<&str>> =
        accounts.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.len() > 15, "{accounts}");
    for row in rows {
        assert_eq!(row[1], row[2], "{row:?}");
    }
    let stat = Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .args(["stat", "--core", "cortex-a53", &format!("../{HASH}")])
        .args(["-e", "l1d_cache_refill", "-x,", "--limit", "200k"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let count = String::from_utf8(stat.stdout).unwrap();
    let count: u64 = count.split(',').next().unwrap().parse().unwrap();
    let refills = accounts.lines().find(|line| line.contains("L1D_CACHE_REFILL")).unwrap();
    let visits = refills.split_whitespace().nth(1).unwrap().replace(',', "");
    assert_eq!(visits.parse::<u64>().unwrap(), count);
}

#[test]
fn every_form_has_the_same_boxes() {
    let svg = shown(&[HASH, "--limit", "50k", "--svg"]);
    assert!(svg.starts_with("<svg") && svg.contains("Flows of the Cortex-A53"));
    let dot = shown(&[HASH, "--limit", "50k", "--dot"]);
    let html = shown(&[HASH, "--limit", "50k", "--html"]);
    for words in ["lookup of L2 tags and L1 tags", "prefetch of the next line"] {
        assert!(svg.contains(words) && dot.contains(words) && html.contains(words), "{words}");
    }
    assert!(html.contains("Visits of the boxes that name an event"));
}

/// Given nothing in any cache, when a load and a store to the same line execute, then the charts
/// show the walk, the line from memory and the bytes in the store buffer, and nothing else.
#[test]
fn the_way_of_an_access_is_shown() {
    let steps = "ldr x0, [x1] @ 0x8000 ; str x2, [x1] @ 0x8008";
    let cold = shown(&["--access", steps, "--flow", "load,store,line"]);
    assert!(cold.starts_with(&format!("{steps}: given cold\n")), "{cold}");
    for part in ["lookup of the L1 D-cache", "takes an entry", "external memory"] {
        assert!(cold.contains(part), "{part}: {cold}");
    }
    let warm = shown(&["--access", steps, "--state", "warm"]);
    let absent = ["external memory", "all tables", "Request of a line"];
    assert!(absent.iter().all(|part| !warm.contains(part)), "{warm}");
    let account = warm.lines().rfind(|line| line.contains("MEM_ACCESS")).unwrap();
    assert_eq!(account.split_whitespace().filter(|word| *word == "2").count(), 2, "{account}");
}

#[test]
fn the_cases_of_a_file_are_shown() {
    let one = ["--case", "T.LD_RETIRED.2"];
    let text = shown(&[&[SCENARIOS][..], &one].concat());
    assert!(text.starts_with("T.LD_RETIRED.2: a store and a software prefetch "));
    let html = shown(&[&[SCENARIOS, "--html"][..], &one].concat());
    assert!(html.contains("T.LD_RETIRED.2") && html.contains("software prefetch"), "{html}");
    let loads = shown(&[SCENARIOS, "--flow", "load"]);
    assert!(loads.contains("T.LD_RETIRED.1") && !loads.contains("T.ST_RETIRED.1:"));
    let svg = shown(&[&[SCENARIOS, "--svg"][..], &one].concat());
    assert!(svg.starts_with("<svg"));
}

#[test]
fn what_belongs_to_the_other_core_is_refused() {
    for (args, message) in [
        (
            &["--flow", "5.4"][..],
            "a flow of the Neoverse N2; those of the Cortex-A53 are translation",
        ),
        (&["--flow", "luck"], "give a section from 5.1 to 5.8, or a name"),
        (&["--access", "LD8 0x8000"], "--access"),
        (&["--access", "ldr x0, [x1] @ 0x8000", "--state", "hot"], "--state"),
        (
            &["tests/scenarios/500-flows-dtlb.toml"],
            "these scenarios are of the Neoverse N2: leave --core cortex-a53 out",
        ),
        (&[SCENARIOS, "--case", "T.NONE"], "has no case 'T.NONE'; it has 'T.LD_RETIRED.1', "),
        (&[SCENARIOS, "--html"], "a page is of one case: choose with --case"),
        (&["--limit", "5"], "name one"),
    ] {
        let error = refused(args);
        assert!(error.contains(message), "{args:?}: {error}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    let output = program.current_dir(root).args(["flow", "--flow", "load"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("--flow load is a flow of the Cortex-A53"), "{error}");
}
