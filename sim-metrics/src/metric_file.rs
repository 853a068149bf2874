//! Readers for published metric files and for the project's own format, with a common result.
//!
//! * [`linux`]: the arrays of Linux `tools/perf/pmu-events`; [`telemetry`]: Arm's telemetry JSON,
//!   and Arm's plain event lists; [`telemetry_mesh`]: Arm's telemetry JSON of a mesh;
//! * [`papi`]: presets of PAPI; [`likwid`]: performance groups of likwid;
//! * [`own`]: the project's TOML; [`mod@review`]: faults of any of them.
//!
//! A formula that cannot be parsed does not make the file unreadable. The error is kept with the
//! metric, so that all errors are reported at once.

mod contents;
pub mod likwid;
pub mod linux;
pub mod own;
pub mod papi;
pub mod review;
pub mod telemetry;
pub mod telemetry_mesh;

pub use contents::{DeclaredCore, DeclaredEvent, MetricFile, MetricFileError, NamedText};
pub use review::review;

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
            Some(Format::Telemetry(value)) if telemetry_mesh::is_of_mesh(&value) => {
                all.join(telemetry_mesh::read(file.name, &value));
            }
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
