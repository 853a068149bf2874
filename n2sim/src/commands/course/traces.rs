//! Runs of the traces that lessons name.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sim_course::{TraceCounts, TraceRun, TraceSource};
use sim_files::Scratch;
use sim_machine::ConfigSource;

use crate::files::open_trace::{self, NamedTrace};
use crate::host::signals;

/// The traces of n2sim's own lessons.
const OWN: [(&str, &[u8]); 2] = [
    ("matrix.n2t", include_bytes!("../../../../traces/matrix.n2t")),
    ("interp.n2t", include_bytes!("../../../../traces/interp.n2t")),
];

/// Places where the traces of a lesson are.
pub(super) struct Traces {
    folders: Vec<PathBuf>,
}

impl Traces {
    /// Returns the places for the lessons of a folder: the folder itself and `traces` beside it.
    pub(super) fn of(folder: Option<&Path>) -> Traces {
        let places = |folder: &Path| vec![folder.to_owned(), folder.join("../traces")];
        Traces { folders: folder.map(places).unwrap_or_default() }
    }

    /// Returns the file of a trace; `None` for a trace of n2sim's own lessons.
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// Returns the bytes of a trace.
    pub(super) fn bytes(&self, name: &str) -> anyhow::Result<Cow<'static, [u8]>> {
        if let Some(path) = self.path(name) {
            let bytes = sim_files::read(&path);
            return Ok(Cow::Owned(bytes.with_context(|| format!("cannot read {name}"))?));
        }
        let own = OWN.iter().find(|(own, _)| *own == name).map(|(_, bytes)| Cow::Borrowed(*bytes));
        own.with_context(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> String {
        let own: Vec<&str> = OWN.iter().map(|(name, _)| *name).collect();
        let own = own.join(" and ");
        format!(
            "there is no trace {name}; put it beside the lesson or into a folder traces; n2sim has {own}"
        )
    }

    fn count(&self, run: &TraceRun) -> anyhow::Result<TraceCounts> {
        let Some(path) = self.path(&run.trace) else {
            let bytes = self.bytes(&run.trace)?;
            let copy = Scratch::new("n2sim-trace-", 0o600, &bytes)
                .with_context(|| format!("cannot write a copy of {}", run.trace))?;
            return count(copy.path(), run);
        };
        count(&path, run)
    }
}

impl TraceSource for Traces {
    fn run(&mut self, run: &TraceRun) -> Result<TraceCounts, String> {
        self.count(run).map_err(|error| crate::failure::message(&error))
    }
}

fn count(path: &Path, run: &TraceRun) -> anyhow::Result<TraceCounts> {
    let overrides = run.overrides();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let trace = NamedTrace { path, name: run.trace.clone(), program: None };
    let session = open_trace::on(trace, &source.document()?)?.stopped_by(signals::flag());
    run.count(&session).map_err(anyhow::Error::msg)
}
