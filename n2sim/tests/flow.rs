//! `n2sim flow` as a user runs it: the declared flows, one access, scenarios, traces; all forms;
//! mistakes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

const SORT: &str = "traces/sort.n2t";

fn n2sim(args: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Command::new(env!("CARGO_BIN_EXE_n2sim")).current_dir(root).args(args).output().unwrap()
}

fn shown(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}");
    message
}

#[test]
fn the_declared_flows_fit_a_terminal() {
    let text = shown(&["flow"]);
    for section in 1..=8 {
        assert!(text.contains(&format!("\n5.{section} ")) || section == 1, "{text}");
    }
    assert!(text.starts_with("5.1 D-side TLB, load\n  1: load"), "{text}");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    let one = shown(&["flow", "--flow", "5.6"]);
    assert!(one.contains("miss: flow 5.7 -> 2: refill") && !one.contains("5.7 L2"), "{one}");
}

#[test]
fn one_access_shows_its_way_and_where_its_data_comes_from() {
    let cold = shown(&["flow", "--access", "LD8 0x8000"]);
    for line in ["data from DRAM", "miss -> 5: walk", "L2 missed -> 3: data from outside"] {
        assert!(cold.contains(line), "{line}: {cold}");
    }
    assert!(cold.starts_with("LD8 0x8000: given K0\n"), "{cold}");
    let hit = shown(&["flow", "--access", "LD8 0x8000", "--state", "L1 hit"]);
    assert!(hit.contains("data from the L1, 4 cycles"), "{hit}");
    assert!(!hit.contains("5.7") && !hit.contains("REFILL"), "{hit}");
    let victim = shown(&["flow", "--access", "LD8 0x8000", "--state", "dirty victim"]);
    assert!(victim.contains("4: victim written back            L1D_CACHE_WB_VICTIM"), "{victim}");
    assert!(victim.lines().all(|line| line.chars().count() <= 80), "{victim}");
    let own = ["flow", "--access", "LD8 0x8000", "--state", "K1, 0x8000 in remote"];
    assert!(shown(&own).contains("3: data from another chip         REMOTE_ACCESS"));
}

#[test]
fn a_scenario_is_shown_step_by_step() {
    let file = "tests/scenarios/500-flows-dtlb.toml";
    let all = shown(&["flow", file]);
    let name = all.lines().next().unwrap().split(": ").next().unwrap().to_owned();
    let one = shown(&["flow", file, "--case", &name]);
    assert!(one.len() < all.len() && all.starts_with(&one), "{one}");
    let page = shown(&["flow", file, "--case", &name, "--html"]);
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("href=\"#event-L1D_TLB"),
        "{page}"
    );
    let message = refused(&["flow", file, "--case", "no such case"]);
    assert!(message.contains("has no case 'no such case'; it has '"), "{message}");
    let message = refused(&["flow", file, "--html"]);
    assert!(message.contains("a page has at most 8 cases"), "{message}");
    let other = all.split("\n\n").filter_map(|part| part.split_once(": ")).map(|(name, _)| name);
    let other = other.into_iter().find(|other| other.starts_with("T") && *other != name);
    if let Some(other) = other {
        let page = shown(&["flow", file, "--case", &name, "--case", other, "--html"]);
        assert!(page.contains("Counts of the cases") && page.contains("id=\"case-1\""), "{page}");
    }
}

/// The numbers of events as `stat` prints them.
fn counts(args: &[&str]) -> BTreeMap<String, u64> {
    let text = shown(&[&["stat", "-j"], args].concat());
    let value = |line: &str, key: &str| {
        let rest = &line[line.find(&format!("\"{key}\""))? + key.len() + 2..];
        Some(rest.trim_start_matches([' ', ':', '"']).split(['"', ',']).next()?.to_owned())
    };
    let row = |line: &str| {
        let count = value(line, "counter-value")?.parse::<f64>().ok()? as u64;
        Some((value(line, "event")?.to_ascii_uppercase(), count))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn a_trace_shows_the_counts_of_stat() {
    let part = ["traces/btree.n2t", "--warmup", "400k", "--limit", "150k"];
    let text = shown(&[&["flow"], &part[..]].concat());
    let counts = counts(&part);
    let account = text.split("events of the boxes").nth(1).unwrap();
    let rows = account.lines().skip(1).filter(|line| !line.starts_with("   "));
    let mut compared = 0;
    for row in rows {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [event, _, counted] = words[..] else { panic!("{row}") };
        let counted: u64 = counted.replace(',', "").parse().unwrap();
        assert_eq!(counts.get(event), Some(&counted), "{event}");
        compared += 1;
    }
    assert!(compared > 15, "{compared} events: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let page = shown(&[&["flow", "--html"], &part[..]].concat());
    let reads = counts["L1D_CACHE_RD"];
    assert!(reads > 0 && page.contains(&format!("data-value=\"{reads}\"")), "{reads}");
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let access = ["--access", "LD8 0x8000 ; ST8 0x8000 ; IF 0x400000", "--html"];
    for args in [&["--html"][..], &access, &[SORT, "--limit", "50k", "--html"]] {
        let page = shown(&[&["flow"], args].concat());
        let links = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
        let mut count = 0;
        for link in links {
            assert!(page.contains(&format!("id=\"{link}\"")), "{args:?}: #{link}");
            count += 1;
        }
        assert!(count > 30, "{args:?}: {count}");
        for id in page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(page.matches(&format!(" id=\"{id}\"")).count(), 1, "{args:?}: {id}");
        }
    }
}

#[test]
fn pictures_come_in_two_languages() {
    let dot = shown(&["flow", "--dot"]);
    assert_eq!(dot.matches("subgraph cluster").count(), 8);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    let sheet = shown(&["flow", "--svg"]);
    assert!(sheet.starts_with("<svg ") && sheet.ends_with("</svg>\n"));
    for section in 1..=8 {
        assert!(sheet.contains(&format!(">5.{section} ")), "{section}");
    }
}

#[test]
fn mistakes_are_reported() {
    for (args, message) in [
        (&["flow", "nowhere.n2t"][..], "nowhere.n2t"),
        (&["flow", "nowhere.toml"], "cannot read the scenario nowhere.toml"),
        (&["flow", "Cargo.toml"], "Cargo.toml"),
        (&["flow", "README.md"], "README.md"),
        (&["flow", "--flow", "6.1"], "give a section from 5.1 to 5.8"),
        (&["flow", "--warmup", "5"], "--warmup and --limit are about a trace"),
        (&["flow", "--access", ""], "--access:1:1"),
        (&["flow", "--access", "LD9 0x8000"], "--access:1:1"),
        (
            &["flow", "--access", "LD8 0x8000", "--state", "warm"],
            "'warm' is not a state; use cold, TLB warm",
        ),
        (&["flow", "--access", "LD8 0x8000", "--svg", "--dot"], "cannot be used with"),
        (&["flow", "--state", "cold"], "--access"),
        (&["flow", "--case", "x"], "required"),
        (&["flow", SORT, "--case", "x"], "is none (*.toml)"),
        (&["flow", SORT, "--warmup", "100M"], "100000000"),
        (&["flow", "--access", "NOP", "--svg"], "go through none of the requested flows"),
        (&["flow", "-o", "nowhere/x.svg", "--svg"], "there is no directory nowhere"),
    ] {
        let error = refused(args);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn the_document_shows_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("docs/flows.md")).unwrap();
    let command = "$ n2sim flow --access 'LD8 0x8000' --state 'L2 hit'\n";
    let block = text.split(command).nth(1).unwrap().split("```").next().unwrap();
    let printed = shown(&["flow", "--access", "LD8 0x8000", "--state", "L2 hit"]);
    assert!(block.lines().count() > 20 && printed.starts_with(block), "{printed}");
    let shown = std::fs::read_to_string(root.join("docs/figures/flow-sort-l1d-read.svg")).unwrap();
    assert!(shown.contains(">5.4 L1 D-cache, read</text>"), "the figure of the document");
}

/// Returns the cycles of each step.
fn cycles(text: &str) -> Vec<u64> {
    let after = |line: &str| {
        let number = line.split("CPU_CYCLES ").nth(1)?.split([',', ' ']).next()?.replace(',', "");
        number.parse().ok()
    };
    let joined = text.replace("\n    ", " ");
    joined.lines().filter_map(after).collect()
}

#[test]
fn a_step_has_the_cycles_that_its_own_access_took() {
    let alone = shown(&["flow", "--access", "LD8 0x8000", "--state", "cold"]);
    let pair = shown(&["flow", "--access", "LD8 0x8000 ; LD8 0x8008", "--state", "cold"]);
    let hit = shown(&["flow", "--access", "LD8 0x8008", "--state", "L1 hit"]);
    let (alone, pair, hit) = (cycles(&alone), cycles(&pair), cycles(&hit));
    assert_eq!((alone, hit), (vec![477], vec![14]));
    assert_eq!(
        pair,
        [477, 13],
        "each as alone; cycle 0, in which nothing can be fetched, is the first one's"
    );
    let joined = shown(&["flow", "--access", "LD8 0x8000 & LD8 0x8008", "--state", "cold"]);
    assert_eq!(cycles(&joined).len(), 1, "their time is one: {joined}");
    assert!(joined.contains("its cycles and stalls are counted with the last step joined by &"));
}

#[test]
fn stalls_of_a_load_alone_are_explained() {
    let why = "Nothing is fetched after a step: while it waits, empty slots count as";
    let cold = shown(&["flow", "--access", "LD8 0x8000"]);
    assert!(cold.contains("STALL_FRONTEND 476") && cold.contains(why), "{cold}");
    let page = shown(&["flow", "--access", "LD8 0x8000", "--html"]);
    assert!(page.contains(why), "the page says so too");
    let slots = shown(&["flow", "--access", "rename 0"]);
    assert!(!slots.contains(why), "here the stall is what was asked for: {slots}");
}

#[test]
fn a_line_that_another_core_took_comes_back_from_there() {
    let access = "ST8 0x8000 ; SNP-U 0x8000 ; LD8 0x8000";
    let message = shown(&["flow", "--access", access, "--state", "K3"]);
    assert!(message.contains("0x8000: data from another core, 141 cycles"), "{message}");
    let shared = shown(&["flow", "--access", &access.replace("SNP-U", "SNP-S"), "--state", "K3"]);
    assert!(shared.contains("0x8000: data from the L1, 4 cycles"), "the copy stays: {shared}");
}
