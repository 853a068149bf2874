//! Sensitivity of the oracle: each site of sim-cache that raises an event is muted, one at a time,
//! and the oracle must detect it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

use sim_core::{Counts, EventSink, PmuEvent};

use super::suite;
use super::suite::compare::{Totals, difference_in, memory_events};

/// Event and the place in the source that raises it.
type Site = (&'static str, &'static Location<'static>);

/// Number of geometries.
const CASES: u64 = 60;
const OPERATIONS: u64 = 1500;

/// Memory events that no sequence of the oracle raises, with the reason. Events that never count
/// according to the guide need no entry.
const NEVER_RAISED: [(&str, &str); 2] = [
    ("TTBR_WRITE_RETIRED", "raised by the pipeline, not by the memory system"),
    ("MEMORY_ERROR", "sequences inject no errors: directed tests do"),
];

/// Sink that counts every site but one, and collects the sites.
#[derive(Default)]
struct MutedSink {
    muted: Option<Site>,
    counts: Counts,
    sites: BTreeSet<Site>,
}

impl EventSink for MutedSink {
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let site = (event.mnemonic(), Location::caller());
        self.sites.insert(site);
        if self.muted != Some(site) {
            self.counts.count(event, n);
        }
    }
}

impl Totals for MutedSink {
    fn totals(&self) -> &Counts {
        &self.counts
    }
}

/// Returns every site that the cases reach, with the first case that does.
fn sites() -> BTreeMap<Site, u64> {
    let mut found = BTreeMap::new();
    for number in 0..CASES {
        let (geometry, groups) = suite::case(super::SEED, number, OPERATIONS);
        let mut sink = MutedSink::default();
        assert_eq!(difference_in(&mut sink, &geometry, &groups), None);
        for site in sink.sites {
            found.entry(site).or_insert(number);
        }
    }
    found
}

#[test]
fn muting_any_site_that_raises_an_event_is_detected() {
    for (site, number) in sites() {
        let (geometry, groups) = suite::case(super::SEED, number, OPERATIONS);
        let mut sink = MutedSink { muted: Some(site), ..MutedSink::default() };
        let difference = difference_in(&mut sink, &geometry, &groups);
        assert!(difference.is_some(), "{} of {} can be muted without a difference", site.0, site.1);
    }
}

#[test]
fn the_events_that_no_sequence_raises_are_listed() {
    let mut counts = Counts::default();
    for number in 0..CASES {
        let (geometry, groups) = suite::case(super::SEED, number, OPERATIONS);
        let mut sink = MutedSink::default();
        difference_in(&mut sink, &geometry, &groups);
        counts.add(&sink.counts);
    }
    let silent = memory_events()
        .filter(|event| counts.value(*event) == 0 && !event.never_counts())
        .map(PmuEvent::mnemonic);
    let listed: BTreeSet<&str> = NEVER_RAISED.iter().map(|(event, _)| *event).collect();
    assert_eq!(silent.collect::<BTreeSet<&str>>(), listed);
}
