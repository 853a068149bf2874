//! Every event that differs between two configurations is explained by the keys that change it.

use std::path::{Path, PathBuf};

use sim_core::PmuEvent;
use sim_lab::diff::{Comparison, Diff, EventDiff, Evidence};
use sim_machine::{ConfigSource, Profile, RunOptions};

fn comparison(from: (Profile, &[&str]), to: (Profile, &[&str])) -> Comparison {
    let document = |(profile, overrides): (Profile, &[&str])| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let source = ConfigSource { profile, overrides: &overrides, ..ConfigSource::default() };
        source.document().expect("the profiles are embedded")
    };
    Comparison::new(&document(from), &document(to)).expect("both are machines")
}

fn run(comparison: &Comparison, limit: u64) -> Diff {
    let trace: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/hash.n2t");
    let options = RunOptions { limit: Some(limit), ..RunOptions::default() };
    comparison.run(&trace, &options, &mut || ()).expect("a committed trace runs")
}

fn of(diff: &Diff, event: PmuEvent) -> &EventDiff {
    diff.events.iter().find(|d| d.event == event).unwrap_or_else(|| panic!("{event:?} differs"))
}

fn names(diff: &Diff, event: PmuEvent) -> Vec<String> {
    of(diff, event).causes.iter().map(|&cause| diff.causes[cause].name()).collect()
}

#[test]
fn the_profiles_differ_by_these_keys() {
    let comparison = comparison((Profile::Guide, &[]), (Profile::Silicon, &[]));
    let mut names: Vec<String> = comparison.causes().iter().map(|cause| cause.name()).collect();
    names.sort();
    assert!(names.contains(&"memory.dtlb.entries".to_owned()), "{names:?}");
    assert!(names.contains(&"semantics.bus-unit".to_owned()), "{names:?}");
    // 1280 entries in 4 ways, or 2048 in 5, are invalid, so the two keys are one cause.
    assert!(names.contains(&"memory.l2-tlb.entries+memory.l2-tlb.ways".to_owned()), "{names:?}");
    let sources = comparison.causes().iter().flat_map(|cause| &cause.changes);
    for change in sources {
        let source = &change.source;
        assert!(source.starts_with('[') && !source.contains("[set "), "{}: {source}", change.key);
    }
}

#[test]
fn every_event_that_differs_between_the_profiles_has_a_cause() {
    let comparison = comparison((Profile::Guide, &[]), (Profile::Silicon, &[]));
    let diff = run(&comparison, 300_000);
    assert!(diff.events.len() > 5 && diff.unchanged > 20, "{diff:?}");
    for event in &diff.events {
        assert!(!event.causes.is_empty(), "{:?} has no cause", event.event);
    }
    assert_eq!(names(&diff, PmuEvent::BUS_ACCESS_RD)[0], "semantics.bus-unit");
    assert!(of(&diff, PmuEvent::BUS_ACCESS_RD).change().is_some_and(|change| change > 0.5));
}

#[test]
fn a_key_that_changes_only_the_time_is_marked() {
    let slower = ["memory.dram.access-cycles=256"];
    let diff = run(&comparison((Profile::Guide, &[]), (Profile::Guide, &slower)), 100_000);
    let cycles = of(&diff, PmuEvent::CPU_CYCLES);
    assert!(cycles.is_timing && cycles.evidence == Evidence::Alone, "{cycles:?}");
    assert_eq!(names(&diff, PmuEvent::CPU_CYCLES), ["memory.dram.access-cycles"]);
    assert!(diff.events.iter().all(|event| event.event != PmuEvent::INST_RETIRED));
}

/// Prefetches refill the TLB only if they are on and may cross pages.
#[test]
fn keys_that_work_only_together_are_found() {
    let off = ["memory.prefetch.l1d=false", "memory.prefetch.l1d-page-cross=stop"];
    let diff = run(&comparison((Profile::Guide, &off), (Profile::Guide, &[])), 300_000);
    let together: Vec<&EventDiff> =
        diff.events.iter().filter(|event| event.evidence == Evidence::Together).collect();
    for event in &diff.events {
        assert!(!event.causes.is_empty(), "{:?} has no cause", event.event);
    }
    assert!(together.iter().any(|event| event.causes.len() == 2), "{diff:?}");
}

#[test]
fn equal_configurations_differ_in_nothing() {
    let comparison = comparison((Profile::Guide, &[]), (Profile::Guide, &["run.seed=1"]));
    assert!(comparison.causes().is_empty());
    assert!(run(&comparison, 10_000).events.is_empty());
}
