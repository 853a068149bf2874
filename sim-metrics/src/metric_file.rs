//! Readers for published metric files and for the project's own format, with a common result.
//!
//! * [`linux`]: the arrays of Linux `tools/perf/pmu-events`; [`telemetry`]: Arm's telemetry JSON,
//!   and Arm's plain event lists;
//! * [`papi`]: presets of PAPI; [`likwid`]: performance groups of likwid;
//! * [`own`]: the project's TOML; [`mod@review`]: faults of any of them.
//!
//! A formula that cannot be parsed does not make the file unreadable. The error is kept with the
//! metric, so that all errors are reported at once.

pub mod likwid;
pub mod linux;
pub mod own;
pub mod papi;
pub mod review;
pub mod telemetry;

pub use review::review;

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

/// Reads files that belong together. Entries of Linux lists may refer to entries of another file.
///
/// # Errors
/// A file has none of the supported formats, or breaks the rules of its format.
pub fn read(files: &[NamedText<'_>]) -> Result<MetricFile, MetricFileError> {
    let mut all = MetricFile::default();
    let mut lists = Vec::new();
    for file in files {
        match Format::of(file) {
            Some(Format::Linux(list)) => lists.push((file.name, list)),
            Some(Format::Telemetry(value)) => all.join(telemetry::read(file.name, &value)),
            Some(Format::Papi) => all.join(papi::read(file)),
            Some(Format::Likwid) => all.join(likwid::read(file)),
            Some(Format::Own) => all.join(own::read(file)?),
            Some(Format::BrokenJson(message)) => {
                let source_name = file.name.to_owned();
                return Err(MetricFileError::Broken { source_name, message });
            }
            None => return Err(MetricFileError::UnknownForm(file.name.to_owned())),
        }
    }
    all.join(linux::read(&lists));
    Ok(all)
}

impl MetricFile {
    /// Adds the contents of another file.
    fn join(&mut self, mut other: MetricFile) {
        other.escape();
        self.metrics.extend(other.metrics);
        self.events.extend(other.events);
        self.faults.extend(other.faults);
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
        self.faults.iter_mut().for_each(escape);
        self.core.name.as_mut().map(escape);
    }
}

/// Format of a file, detected from its contents.
enum Format {
    Linux(Vec<serde_json::Value>),
    Telemetry(serde_json::Value),
    Papi,
    Likwid,
    Own,
    BrokenJson(String),
}

impl Format {
    fn of(file: &NamedText<'_>) -> Option<Format> {
        let text = file.text.trim_start_matches('\u{feff}').trim_start();
        let starts = |heads: &[&str]| {
            let mut lines = text.lines().map(str::trim_start);
            lines.any(|line| heads.iter().any(|head| line.starts_with(head)))
        };
        if text.starts_with('{') || is_list(text) {
            return Some(match serde_json::from_str(text) {
                Ok(serde_json::Value::Array(list)) => Format::Linux(list),
                Ok(value) => Format::Telemetry(value),
                Err(error) => Format::BrokenJson(error.to_string()),
            });
        }
        match () {
            () if starts(&["[metric."]) => Some(Format::Own),
            () if starts(&["PRESET,", "EVENT,"]) => Some(Format::Papi),
            () if starts(&["EVENTSET"]) && starts(&["METRICS"]) => Some(Format::Likwid),
            () => None,
        }
    }
}

/// Returns whether the text is a JSON array, whose first character also begins a TOML table.
fn is_list(text: &str) -> bool {
    let inner = text.strip_prefix('[').map(str::trim_start);
    inner.is_some_and(|inner| !inner.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        read(&[NamedText { name: "x", text }]).expect_err("not a metric file").to_string()
    }

    #[test]
    fn unsupported_files_are_refused_with_the_reason() {
        for text in ["", "hello", "EVENTSET only", "# comment", "\u{feff}"] {
            assert!(error_of(text).starts_with("x is not a metric file"), "{text}");
        }
        assert!(error_of("[{\"MetricName\": 3,").starts_with("x: EOF"));
        assert!(error_of("{\"events\": ").starts_with("x: EOF"));
        assert!(error_of(&"[{\"a\":".repeat(100_000)).contains("recursion"));
    }

    #[test]
    fn files_of_several_formats_are_read_together() {
        let own = "[metric.cpi]\nformula = \"CPU_CYCLES / INST_RETIRED\"\n";
        let linux = "[{\"MetricName\": \"ipc\", \"MetricExpr\": \"INST_RETIRED / CPU_CYCLES\"}]";
        let files = [NamedText { name: "a", text: own }, NamedText { name: "b", text: linux }];
        let file = read(&files).expect("two good files");
        let names: Vec<&str> = file.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!((names, file.faults), (vec!["cpi", "ipc"], Vec::new()));
    }
}
