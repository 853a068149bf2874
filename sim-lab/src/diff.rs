//! Explains why two configurations count differently. Each differing key is tried alone on top of
//! the first configuration and removed alone from the second.

use std::path::Path;

use sim_core::config::{ConfigError, Document, Setting};
use sim_core::{Counts, PmuEvent};

use sim_core::Shown;
use sim_machine::config::MachineConfig;
use sim_machine::error::MachineError;
use sim_machine::outcome::RunHeader;
use sim_machine::region::RunOptions;
use sim_machine::session::Session;

/// Fraction of an event's difference that a key must cause to be named.
const PART_LEAST: f64 = 0.05;
/// Fraction of a count below which a change may be timing alone.
const TIMING_MOST: f64 = 0.01;
/// Configuration table of counting rules, without timing.
const SEMANTICS: &str = "semantics.";

/// A key with two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Dotted name.
    pub key: String,
    /// Value in the first configuration.
    pub from: String,
    /// Value in the second configuration.
    pub to: String,
    /// Source of the value in the second configuration.
    pub source: String,
}

/// Keys that can only change together; usually a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The keys.
    pub changes: Vec<Change>,
}

impl Cause {
    /// Returns the keys as they are printed.
    pub fn name(&self) -> String {
        self.changes.iter().map(|change| change.key.as_str()).collect::<Vec<_>>().join("+")
    }

    fn is_semantics(&self) -> bool {
        self.changes.iter().all(|change| change.key.starts_with(SEMANTICS))
    }

    /// Returns the document with these keys as in the second configuration, or as in the first.
    fn applied_to(&self, document: &Document, forward: bool) -> Result<Document, ConfigError> {
        self.changes.iter().try_fold(document.clone(), |document, change| {
            let value = if forward { &change.to } else { &change.from };
            document.set(&format!("{}={value}", change.key))
        })
    }
}

/// Method by which a cause was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The key alone changes the count.
    Alone,
    /// The key changes the count only together with others: removing it changes the count.
    Together,
}

/// An event with two counts.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDiff {
    /// The event.
    pub event: PmuEvent,
    /// Count under the first configuration.
    pub from: u64,
    /// Count under the second configuration.
    pub to: u64,
    /// Causes as indices into [`Diff::causes`], the strongest first.
    pub causes: Vec<usize>,
    /// Method by which the causes were found.
    pub evidence: Evidence,
    /// No counting rule changed the count, and it changed by less than one percent: the same things
    /// happened at other times.
    pub is_timing: bool,
}

impl EventDiff {
    /// Returns the change as a fraction of the first count; `None` if that is zero.
    pub fn change(&self) -> Option<f64> {
        (self.from > 0).then(|| self.to as f64 / self.from as f64 - 1.0)
    }
}

/// Comparison of two configurations on one trace.
#[derive(Clone, Debug)]
pub struct Diff {
    /// Differences between the configurations.
    pub causes: Vec<Cause>,
    /// Events that differ, in the order of their numbers.
    pub events: Vec<EventDiff>,
    /// Number of events with equal counts.
    pub unchanged: usize,
    /// Number of retired instructions.
    pub instructions: u64,
}

/// Two configurations, and all variants of them by one cause.
#[derive(Clone, Debug)]
pub struct Comparison {
    causes: Vec<Cause>,
    from: MachineConfig,
    to: MachineConfig,
    /// First configuration with cause `i`.
    alone: Vec<MachineConfig>,
    /// Second configuration without cause `i`.
    without: Vec<MachineConfig>,
}

impl Comparison {
    /// Finds the differences between two configurations. Equal ones have no causes.
    ///
    /// # Errors
    /// If one of the documents is not a valid machine.
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

    /// Returns the differences between the configurations.
    pub fn causes(&self) -> &[Cause] {
        &self.causes
    }

    /// Returns the largest number of runs for one trace.
    pub fn runs(&self) -> usize {
        2 + 2 * self.causes.len()
    }

    /// Replays the trace on all variants. `progress` is called after each run.
    ///
    /// # Errors
    /// If the trace cannot be read, or if its selected part is empty.
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

    /// Returns the differing events with the causes whose change from `at` changes them.
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

/// Returns the differing keys. Keys of one table are one cause if any of them alone is invalid.
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
        // The rest names the file that set the value and the earlier value, which are known here.
        let source = source.split(" [set ").next().unwrap_or_default().to_owned();
        Some(Change { key, from: old, to: value, source })
    });
    changed.collect()
}
