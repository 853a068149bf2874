//! Errors of grids, runs and their files.

use std::error::Error;
use std::io;

use sim_a53::A53Error;
use sim_core::config::ConfigError;
use sim_lab::RegionsError;
use sim_machine::MachineError;
use sim_trace::TraceError;

/// A grid, a run, a journal or a table that is wrong or cannot be read or written.
///
/// [`RunsError::sentence`] returns the whole text with all causes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunsError {
    /// Something is wrong; the text says what would be right.
    #[error("{0}")]
    Wrong(String),
    /// Something is wrong at a place: in a file, a key or a run.
    #[error("{place}: {source}")]
    At {
        /// Name of the file, the key or the run.
        place: String,
        /// Error at that place.
        source: Box<RunsError>,
    },
    /// A file cannot be read or written.
    #[error("{doing}: {source}")]
    Io {
        /// Failed action, with the name of the file.
        doing: String,
        /// Reason.
        source: io::Error,
    },
    /// The grid is not TOML, or has a wrong key.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// The configuration of a run is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A file of windows is wrong, or is of another trace.
    #[error(transparent)]
    Regions(#[from] RegionsError),
    /// A run on a Neoverse N2 failed.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A run on a Cortex-A53 failed.
    #[error(transparent)]
    A53(#[from] A53Error),
    /// A line of a journal cannot be made.
    #[error("a line of the journal: {0}")]
    Line(serde_json::Error),
    /// The threads of parallel runs cannot be started.
    #[error("cannot start the threads of --jobs: {0}")]
    Threads(rayon::ThreadPoolBuildError),
    /// A row of the table cannot be written.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// The end of the table cannot be written.
    #[error("cannot write the table: {0}")]
    Table(io::Error),
    /// The table cannot be written as Parquet.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl RunsError {
    /// Returns the error with a place in front.
    pub(crate) fn at(self, place: impl Into<String>) -> RunsError {
        RunsError::At { place: place.into(), source: Box::new(self) }
    }

    /// Returns a function that turns an error of the system into one that names a file.
    pub(crate) fn io(doing: &str) -> impl Fn(io::Error) -> RunsError + '_ {
        move |source| RunsError::Io { doing: doing.to_owned(), source }
    }

    /// Returns the error and its causes as one sentence.
    pub fn sentence(&self) -> String {
        sentence(self)
    }

    /// Returns true if the run was refused memory, which other runs may have released since.
    pub fn is_over_budget(&self) -> bool {
        let refused = |error: &TraceError| matches!(error, TraceError::Memory { .. });
        match self {
            RunsError::At { source, .. } => source.is_over_budget(),
            RunsError::Machine(error) => error.is_over_budget(),
            RunsError::Trace(error) | RunsError::A53(A53Error::Trace(error)) => refused(error),
            _ => false,
        }
    }

    /// Returns true if trace and configuration do not fit each other, so that the run fails on
    /// every machine. Other failures, such as too little memory or a damaged copy of a trace, may
    /// pass.
    pub(crate) fn is_of_run(&self) -> bool {
        match self {
            RunsError::At { source, .. } => source.is_of_run(),
            RunsError::Machine(error) => !matches!(
                error,
                MachineError::Trace(_) | MachineError::States(_) | MachineError::Stopped { .. }
            ),
            RunsError::A53(error) => !matches!(error, A53Error::Trace(_)),
            _ => false,
        }
    }
}

/// Returns an error and its causes as one sentence, each cause once.
pub fn sentence(error: &(dyn Error + 'static)) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_cause_is_said_once() {
        let error = RunsError::io("cannot write x.csv")(io::Error::other("no room")).at("grid");
        assert_eq!(error.sentence(), "grid: cannot write x.csv: no room");
    }

    #[test]
    fn only_what_fails_everywhere_belongs_to_the_run() {
        let long = A53Error::WarmupTooLong { trace: "a".to_owned(), warmup: 9, instructions: 5 };
        assert!(RunsError::from(long).at("a rob=64").is_of_run());
        let absent = TraceError::NotFound("a.n2t".into());
        assert!(!RunsError::from(A53Error::Trace(absent)).is_of_run());
        let stopped = MachineError::Stopped { trace: "a".to_owned(), instructions: 5 };
        assert!(!RunsError::from(stopped).is_of_run());
    }
}
