//! Metric files as they are published, and our own: what a reader finds in one, whatever its form.
//!
//! * [`linux`]: the arrays of Linux' `tools/perf/pmu-events`; [`telemetry`]: Arm's telemetry JSON, and
//!   Arm's plain event lists;
//! * [`papi`]: the presets of PAPI; [`likwid`]: a performance group of likwid;
//! * [`own`]: our TOML; [`mod@review`]: what is wrong with any of them.
//!
//! A formula that cannot be read does not make the file unreadable: it stays with its metric, so that
//! everything that is wrong is told at once.

pub mod likwid;
pub mod linux;
pub mod own;
pub mod papi;
pub mod review;
pub mod telemetry;

pub use review::review;

use sim_core::{Shown, shown_lines};

use crate::formula::MetricFormula;

/// What a file defines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricFile {
    /// The metrics, in the order of the file.
    pub metrics: Vec<MetricFormula>,
    /// The events that the file lists with their numbers.
    pub events: Vec<DeclaredEvent>,
    /// The core that the file says it is for.
    pub core: DeclaredCore,
    /// What cannot be read, with its place.
    pub faults: Vec<String>,
}

/// An event as a file lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredEvent {
    /// Its name.
    pub name: String,
    /// Its number, if the file gives one.
    pub code: Option<u32>,
    /// The file.
    pub source: String,
}

/// What a file says about the core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredCore {
    /// Its name.
    pub name: Option<String>,
    /// Its part number, as in MIDR_EL1.
    pub part: Option<u32>,
    /// Rename slots per cycle.
    pub slots: Option<u32>,
    /// The last revision `r0pN` that the formulas are for.
    pub patch: Option<u8>,
}

/// A file that is none of the known ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricFileError {
    /// The text is in none of the forms.
    #[error(
        "{0} is no metric file: known are the JSON of Linux perf and of Arm's telemetry, presets of \
         PAPI, groups of likwid, and TOML with [metric.NAME]"
    )]
    UnknownForm(String),
    /// The text breaks the rules of its form.
    #[error("{source_name}: {message}")]
    Broken {
        /// The file.
        source_name: String,
        /// What is wrong, with the place.
        message: String,
    },
}

/// A text with the name of its file.
#[derive(Clone, Copy, Debug)]
pub struct NamedText<'a> {
    /// The file, for messages.
    pub name: &'a str,
    /// Its contents.
    pub text: &'a str,
}

/// Reads files that belong together: entries of Linux' lists may refer to those of another file.
///
/// # Errors
/// A file has none of the known forms, or breaks the rules of its form.
pub fn read(files: &[NamedText<'_>]) -> Result<MetricFile, MetricFileError> {
    let mut all = MetricFile::default();
    let mut lists = Vec::new();
    for file in files {
        match Form::of(file) {
            Some(Form::Linux(list)) => lists.push((file.name, list)),
            Some(Form::Telemetry(value)) => all.join(telemetry::read(file.name, &value)),
            Some(Form::Papi) => all.join(papi::read(file)),
            Some(Form::Likwid) => all.join(likwid::read(file)),
            Some(Form::Own) => all.join(own::read(file)?),
            Some(Form::BrokenJson(message)) => {
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
    /// Takes in what another file defines.
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

    /// Makes all texts safe to print: they go to terminals and tables.
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

/// The form of a file, from what stands in it.
enum Form {
    Linux(Vec<serde_json::Value>),
    Telemetry(serde_json::Value),
    Papi,
    Likwid,
    Own,
    BrokenJson(String),
}

impl Form {
    fn of(file: &NamedText<'_>) -> Option<Form> {
        let text = file.text.trim_start_matches('\u{feff}').trim_start();
        let starts = |heads: &[&str]| {
            let mut lines = text.lines().map(str::trim_start);
            lines.any(|line| heads.iter().any(|head| line.starts_with(head)))
        };
        if text.starts_with('{') || is_list(text) {
            return Some(match serde_json::from_str(text) {
                Ok(serde_json::Value::Array(list)) => Form::Linux(list),
                Ok(value) => Form::Telemetry(value),
                Err(error) => Form::BrokenJson(error.to_string()),
            });
        }
        match () {
            () if starts(&["[metric."]) => Some(Form::Own),
            () if starts(&["PRESET,", "EVENT,"]) => Some(Form::Papi),
            () if starts(&["EVENTSET"]) && starts(&["METRICS"]) => Some(Form::Likwid),
            () => None,
        }
    }
}

/// True for a JSON array, which a TOML heading resembles in its first character.
fn is_list(text: &str) -> bool {
    let inner = text.strip_prefix('[').map(str::trim_start);
    inner.is_some_and(|inner| !inner.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        read(&[NamedText { name: "x", text }]).expect_err("no metric file").to_string()
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        for text in ["", "hello", "EVENTSET only", "# comment", "\u{feff}"] {
            assert!(told(text).starts_with("x is no metric file"), "{text}");
        }
        assert!(told("[{\"MetricName\": 3,").starts_with("x: EOF"));
        assert!(told("{\"events\": ").starts_with("x: EOF"));
        assert!(told(&"[{\"a\":".repeat(100_000)).contains("recursion"));
    }

    #[test]
    fn files_of_several_forms_are_read_together() {
        let own = "[metric.cpi]\nformula = \"CPU_CYCLES / INST_RETIRED\"\n";
        let linux = "[{\"MetricName\": \"ipc\", \"MetricExpr\": \"INST_RETIRED / CPU_CYCLES\"}]";
        let files = [NamedText { name: "a", text: own }, NamedText { name: "b", text: linux }];
        let file = read(&files).expect("two good files");
        let names: Vec<&str> = file.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!((names, file.faults), (vec!["cpi", "ipc"], Vec::new()));
    }
}
