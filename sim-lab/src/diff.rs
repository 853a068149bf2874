//! Why two configurations count differently: each differing key is tried alone on top of the first
//! configuration, and taken away alone from the second.

use std::path::Path;

use sim_core::config::{ConfigError, Document, Setting};
use sim_core::{Counts, PmuEvent};

use sim_core::Shown;
use sim_machine::config::MachineConfig;
use sim_machine::error::MachineError;
use sim_machine::outcome::RunHeader;
use sim_machine::region::RunOptions;
use sim_machine::session::Session;

/// Part of an event's difference that a key must move to be named as a cause.
const PART_LEAST: f64 = 0.05;
/// Part of a count below which a change may be timing alone.
const TIMING_MOST: f64 = 0.01;
/// The table of the configuration that says what counts, not how long it takes.
const SEMANTICS: &str = "semantics.";

/// One key that has another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Dotted name.
    pub key: String,
    /// Value in the first configuration.
    pub from: String,
    /// Value in the second one.
    pub to: String,
    /// What the second configuration gives as its source.
    pub source: String,
}

/// Keys that can only change together; mostly a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The keys.
    pub changes: Vec<Change>,
}

impl Cause {
    /// The keys, as they are printed.
    pub fn name(&self) -> String {
        self.changes.iter().map(|change| change.key.as_str()).collect::<Vec<_>>().join("+")
    }

    fn is_semantics(&self) -> bool {
        self.changes.iter().all(|change| change.key.starts_with(SEMANTICS))
    }

    /// The document with these keys as in the second configuration, or as in the first.
    fn applied_to(&self, document: &Document, forward: bool) -> Result<Document, ConfigError> {
        self.changes.iter().try_fold(document.clone(), |document, change| {
            let value = if forward { &change.to } else { &change.from };
            document.set(&format!("{}={value}", change.key))
        })
    }
}

/// How a cause was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The key alone moves the count.
    Alone,
    /// The key moves the count only together with others: without it the count is another one.
    Together,
}

/// One event that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDiff {
    /// The event.
    pub event: PmuEvent,
    /// Its count under the first configuration.
    pub from: u64,
    /// Its count under the second one.
    pub to: u64,
    /// Causes (indices into [`Diff::causes`]), the strongest first.
    pub causes: Vec<usize>,
    /// How the causes were found.
    pub evidence: Evidence,
    /// No key that says what counts moved it, and it moved by less than one percent: the same things
    /// happened at other times.
    pub is_timing: bool,
}

impl EventDiff {
    /// Change as a part of the first count; `None` from zero.
    pub fn change(&self) -> Option<f64> {
        (self.from > 0).then(|| self.to as f64 / self.from as f64 - 1.0)
    }
}

/// The comparison of two configurations on one trace.
#[derive(Clone, Debug)]
pub struct Diff {
    /// What differs between the configurations.
    pub causes: Vec<Cause>,
    /// The events that differ, in the order of their numbers.
    pub events: Vec<EventDiff>,
    /// Events whose counts are the same.
    pub unchanged: usize,
    /// Instructions retired.
    pub instructions: u64,
}

/// Two configurations, and all that lie between them by one cause.
#[derive(Clone, Debug)]
pub struct Comparison {
    causes: Vec<Cause>,
    from: MachineConfig,
    to: MachineConfig,
    /// `alone[i]`: the first one with cause `i`.
    alone: Vec<MachineConfig>,
    /// `without[i]`: the second one without cause `i`.
    without: Vec<MachineConfig>,
}

impl Comparison {
    /// Finds what differs. Without any difference there are no causes.
    ///
    /// # Errors
    /// One of the documents describes no machine.
    pub fn new(from: &Document, to: &Document) -> Result<Comparison, ConfigError> {
        let causes = causes(from, to);
        let step = |document: &Document, forward: bool| {
            let one =
                |cause: &Cause| MachineConfig::from_document(&cause.applied_to(document, forward)?);
            causes.iter().map(one).collect::<Result<Vec<_>, _>>()
        };
        Ok(Comparison {
            from: MachineConfig::from_document(from)?,
            to: MachineConfig::from_document(to)?,
            alone: step(from, true)?,
            without: step(to, false)?,
            causes,
        })
    }

    /// What differs between the configurations.
    pub fn causes(&self) -> &[Cause] {
        &self.causes
    }

    /// Runs that one trace takes, at most.
    pub fn runs(&self) -> usize {
        2 + 2 * self.causes.len()
    }

    /// Replays the trace on all of them. `progress` hears of each finished run.
    ///
    /// # Errors
    /// The trace cannot be read, or has nothing in the part that was asked for.
    pub fn run(
        &self,
        trace: &Path,
        options: &RunOptions,
        progress: &mut dyn FnMut(),
    ) -> Result<Diff, MachineError> {
        let mut count = |config: &MachineConfig| {
            let counts = counts(trace, config, options);
            progress();
            counts
        };
        let (from, to) = (count(&self.from)?, count(&self.to)?);
        let alone = self.alone.iter().map(&mut count).collect::<Result<Vec<_>, _>>()?;
        let mut events = self.events(&from, &to, &from, &alone, Evidence::Alone);
        if events.iter().any(|event| event.causes.is_empty()) {
            let without = self.without.iter().map(&mut count).collect::<Result<Vec<_>, _>>()?;
            let together = self.events(&from, &to, &to, &without, Evidence::Together);
            for (event, other) in events.iter_mut().zip(together) {
                if event.causes.is_empty() {
                    *event = other;
                }
            }
        }
        Ok(Diff {
            causes: self.causes.clone(),
            unchanged: PmuEvent::ALL.len() - events.len(),
            instructions: from.value(PmuEvent::INST_RETIRED),
            events,
        })
    }

    /// The events that differ, with the causes whose step away from `at` moves them.
    fn events(
        &self,
        from: &Counts,
        to: &Counts,
        at: &Counts,
        steps: &[Counts],
        evidence: Evidence,
    ) -> Vec<EventDiff> {
        let differing = PmuEvent::ALL.into_iter().filter(|&e| from.value(e) != to.value(e));
        differing
            .map(|event| {
                let (first, second) = (from.value(event), to.value(event));
                let moved = |step: &Counts| step.value(event).abs_diff(at.value(event));
                let least = first.abs_diff(second) as f64 * PART_LEAST;
                let mut causes: Vec<usize> = (0..steps.len())
                    .filter(|&i| moved(&steps[i]) > 0 && moved(&steps[i]) as f64 >= least)
                    .collect();
                causes.sort_by_key(|&i| std::cmp::Reverse(moved(&steps[i])));
                let is_direct = causes.iter().any(|&i| self.causes[i].is_semantics());
                let is_small = (first.abs_diff(second) as f64) < first as f64 * TIMING_MOST;
                let is_timing = is_small && !is_direct;
                EventDiff { event, from: first, to: second, causes, evidence, is_timing }
            })
            .collect()
    }
}

fn counts(
    trace: &Path,
    config: &MachineConfig,
    options: &RunOptions,
) -> Result<Counts, MachineError> {
    let header = RunHeader { trace: trace.shown().to_string(), ..RunHeader::default() };
    let session = Session::open(trace, config.clone(), header)?;
    Ok(session.run(options, &mut |_| ())?.total())
}

/// The differing keys; those of one table are one cause if any of them makes no machine alone.
fn causes(from: &Document, to: &Document) -> Vec<Cause> {
    let mut tables: Vec<(String, Vec<Change>)> = Vec::new();
    for change in changes(from, to) {
        let table = change.key.rsplit_once('.').map_or("", |(table, _)| table).to_owned();
        match tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, changes)) => changes.push(change),
            None => tables.push((table, vec![change])),
        }
    }
    let is_machine = |cause: &Cause, document: &Document, forward| {
        let document = cause.applied_to(document, forward);
        document.and_then(|document| MachineConfig::from_document(&document)).is_ok()
    };
    let is_possible = |cause: &Cause| is_machine(cause, from, true) && is_machine(cause, to, false);
    let mut causes = Vec::new();
    for (_, changes) in tables {
        let single = |change: &Change| Cause { changes: vec![change.clone()] };
        let singles: Vec<Cause> = changes.iter().map(single).collect();
        if singles.iter().all(is_possible) {
            causes.extend(singles);
        } else {
            causes.push(Cause { changes });
        }
    }
    causes
}

fn changes(from: &Document, to: &Document) -> Vec<Change> {
    let changed = to.settings().into_iter().filter_map(|Setting { key, value, source }| {
        let old = from.get(&key).filter(|old| *old != value)?;
        // Behind it stands which file set the value, and what it was: that is known here.
        let source = source.split(" [set ").next().unwrap_or_default().to_owned();
        Some(Change { key, from: old, to: value, source })
    });
    changed.collect()
}
