//! Can the oracle fail? Each place of sim-cache that raises an event is silenced, one at a time, and
//! the oracle must notice.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

use sim_core::{Counts, EventSink, PmuEvent};

use crate::suite;
use crate::suite::compare::{Totals, difference_heard_by, memory_events};

/// An event and the place in the source that raises it.
type Site = (&'static str, &'static Location<'static>);

/// Geometries looked at.
const CASES: u64 = 60;
const OPERATIONS: u64 = 1500;

/// Memory events that no sequence of the oracle raises, and why. Those that never count by the guide
/// need no entry.
const NEVER_RAISED: [(&str, &str); 2] = [
    ("TTBR_WRITE_RETIRED", "raised by the pipeline, not by the memory system"),
    ("MEMORY_ERROR", "sequences inject no errors: directed tests do"),
];

/// Hears everything but one site, and notes the sites.
#[derive(Default)]
struct Deaf {
    to: Option<Site>,
    heard: Counts,
    sites: BTreeSet<Site>,
}

impl EventSink for Deaf {
    #[track_caller]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let site = (event.mnemonic(), Location::caller());
        self.sites.insert(site);
        if self.to != Some(site) {
            self.heard.count(event, n);
        }
    }
}

impl Totals for Deaf {
    fn totals(&self) -> &Counts {
        &self.heard
    }
}

/// Every site that the cases reach, with the first case that does.
fn sites() -> BTreeMap<Site, u64> {
    let mut found = BTreeMap::new();
    for number in 0..CASES {
        let (geometry, groups) = suite::case(crate::SEED, number, OPERATIONS);
        let mut sink = Deaf::default();
        assert_eq!(difference_heard_by(&mut sink, &geometry, &groups), None);
        for site in sink.sites {
            found.entry(site).or_insert(number);
        }
    }
    found
}

#[test]
fn muting_any_site_that_raises_an_event_is_detected() {
    for (site, number) in sites() {
        let (geometry, groups) = suite::case(crate::SEED, number, OPERATIONS);
        let mut sink = Deaf { to: Some(site), ..Deaf::default() };
        let difference = difference_heard_by(&mut sink, &geometry, &groups);
        assert!(difference.is_some(), "{} of {} is not missed", site.0, site.1);
    }
}

#[test]
fn the_events_that_no_sequence_raises_are_listed() {
    let mut heard = Counts::default();
    for number in 0..CASES {
        let (geometry, groups) = suite::case(crate::SEED, number, OPERATIONS);
        let mut sink = Deaf::default();
        difference_heard_by(&mut sink, &geometry, &groups);
        heard.add(&sink.heard);
    }
    let silent = memory_events()
        .filter(|event| heard.value(*event) == 0 && !event.never_counts())
        .map(PmuEvent::mnemonic);
    let listed: BTreeSet<&str> = NEVER_RAISED.iter().map(|(event, _)| *event).collect();
    assert_eq!(silent.collect::<BTreeSet<&str>>(), listed);
}
