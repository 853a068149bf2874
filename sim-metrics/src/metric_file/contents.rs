//! Contents of metric files: metrics, declared events and cores, and errors.

use sim_core::{Shown, shown_lines};

use crate::formula::MetricFormula;

/// Contents of metric files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricFile {
    /// Metrics, in file order.
    pub metrics: Vec<MetricFormula>,
    /// Events that the file lists with their numbers.
    pub events: Vec<DeclaredEvent>,
    /// Core that the file is for.
    pub core: DeclaredCore,
    /// Unreadable entries, with their position.
    pub faults: Vec<String>,
    /// Groups of which a named metric could not be read, or does not exist.
    pub partial_groups: Vec<String>,
}

/// Event as a file lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredEvent {
    /// Name of the event.
    pub name: String,
    /// Number of the event, if the file gives one.
    pub code: Option<u32>,
    /// Name of the file.
    pub source: String,
}

/// Core as a file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredCore {
    /// Name of the core.
    pub name: Option<String>,
    /// Part number, as in MIDR_EL1.
    pub part: Option<u32>,
    /// Rename slots per cycle.
    pub slots: Option<u32>,
    /// Last revision `r0pN` that the formulas are for.
    pub patch: Option<u8>,
}

/// Error of a file without a supported format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricFileError {
    /// The text is in none of the formats.
    #[error(
        "{0} is not a metric file; supported are the JSON of Linux perf and of Arm's telemetry, presets of \
         PAPI, groups of likwid, and TOML with [metric.NAME]"
    )]
    UnknownForm(String),
    /// The text breaks the rules of its format.
    #[error("{source_name}: {message}")]
    Broken {
        /// Name of the file.
        source_name: String,
        /// Error, with its position.
        message: String,
    },
}

/// Text with the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct NamedText<'a> {
    /// Name of the file, for messages.
    pub name: &'a str,
    /// Contents of the file.
    pub text: &'a str,
}

impl MetricFile {
    /// Adds the contents of another file.
    pub(super) fn join(&mut self, mut other: MetricFile) {
        other.escape();
        self.metrics.extend(other.metrics);
        self.events.extend(other.events);
        self.faults.extend(other.faults);
        self.partial_groups.extend(other.partial_groups);
        let own = &mut self.core;
        own.name = own.name.take().or(other.core.name);
        own.part = own.part.or(other.core.part);
        own.slots = own.slots.or(other.core.slots);
        own.patch = own.patch.or(other.core.patch);
    }

    /// Makes all texts safe to print in terminals and tables.
    fn escape(&mut self) {
        let escape = |text: &mut String| *text = text.shown().to_string();
        for metric in &mut self.metrics {
            let texts = [&mut metric.name, &mut metric.scale.unit, &mut metric.source];
            texts.into_iter().chain(&mut metric.groups).for_each(escape);
            [&mut metric.claims, &mut metric.missing].into_iter().flatten().for_each(escape);
            metric.description = shown_lines(&metric.description).to_string();
        }
        self.events.iter_mut().flat_map(|e| [&mut e.name, &mut e.source]).for_each(escape);
        self.faults.iter_mut().chain(&mut self.partial_groups).for_each(escape);
        self.core.name.as_mut().map(escape);
    }
}
