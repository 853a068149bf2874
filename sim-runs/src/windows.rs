//! The windows of a trace that stand for the whole, and the states in which they begin.

use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use sim_core::{PmuEvent, Shown};
use sim_files::File;
use sim_lab::Regions;
use sim_machine::{MachineError, Session};
use sim_trace::{StatesReader, TraceFile};

use crate::error::RunsError;
use crate::key::hexadecimal;
use crate::rows::Counts;

/// A file of windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Name of the file, for messages.
    pub(crate) file: String,
    pub(crate) regions: Regions,
    states: Option<States>,
}

/// A file of states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct States {
    path: PathBuf,
    /// SHA-256 of the file.
    digest: String,
    /// Hash of the machine that was in these states.
    machine: u64,
}

impl Windows {
    /// Reads a file of windows, and the states that it names.
    pub(crate) fn read(path: &Path) -> Result<Windows, RunsError> {
        let file = path.shown().to_string();
        let doing = format!("cannot read the windows {file}");
        let text = sim_files::text(path).map_err(RunsError::io(&doing))?;
        let regions = Regions::parse(&file, &text)?;
        let states = regions.states.as_ref().map(|name| States::read(&path.with_file_name(name)));
        let states = states.transpose().map_err(|error| {
            let remedy = "find the windows again, or take the line `states` out";
            error.at(format!("{file}: {remedy}"))
        })?;
        Ok(Windows { file, regions, states })
    }

    /// Checks that windows and states are of this trace.
    pub(crate) fn check(&self, trace: &TraceFile) -> Result<(), RunsError> {
        self.regions.check_trace(&self.file, trace)?;
        if let Some(states) = &self.states {
            let reader = states.open()?;
            let fit = self.regions.fit_states(trace.hash(), states.machine, &reader);
            fit.map_err(MachineError::from)?;
        }
        Ok(())
    }

    /// Returns the SHA-256 of the states in which the windows begin on a machine with this hash;
    /// `None` if they begin after functional warming.
    pub(crate) fn states_on(&self, warm: u64) -> Option<&str> {
        self.states_of(warm).map(|states| states.digest.as_str())
    }

    /// Returns true if there are states, but of another machine than this one.
    pub(crate) fn are_states_of_another(&self, warm: u64) -> bool {
        self.states.is_some() && self.states_of(warm).is_none()
    }

    /// Counts some windows.
    pub(crate) fn count(
        &self,
        session: &Session,
        windows: &Range<usize>,
    ) -> Result<Counts, RunsError> {
        let states = self.states_of(session.config().warm_hash()).map(States::open);
        let mut states = states.transpose()?;
        let chosen = windows.clone();
        let outcomes = self.regions.count(session, states.as_mut(), chosen, &mut |_| {})?;
        let totals: Vec<_> = outcomes.iter().map(|outcome| outcome.total()).collect();
        let raised = |counts: &sim_core::Counts| PmuEvent::ALL.map(|event| counts.raised(event));
        let cycles = totals.iter().map(|counts| counts.value(PmuEvent::CPU_CYCLES));
        let (longest, counts) = (cycles.sum(), totals.iter().flat_map(raised).collect());
        Ok(Counts { cores: 1, longest, counts })
    }

    fn states_of(&self, warm: u64) -> Option<&States> {
        self.states.as_ref().filter(|states| states.machine == warm)
    }
}

impl States {
    fn read(path: &Path) -> Result<States, RunsError> {
        let (path, digest) = (path.to_owned(), digest(path)?);
        let machine = reader(&path)?.header().machine;
        Ok(States { path, digest, machine })
    }

    /// Opens the file again. Refuses it if it is not the one that was read.
    fn open(&self) -> Result<StatesReader, RunsError> {
        if digest(&self.path)? != self.digest {
            let file = self.path.shown();
            return Err(RunsError::Wrong(format!(
                "{file} changed after the grid was read: run the sweep again"
            )));
        }
        reader(&self.path)
    }
}

fn open(path: &Path) -> Result<File, RunsError> {
    File::open(path).map_err(RunsError::io(&cannot_read(path)))
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read the states {}", path.shown())
}

/// Returns the SHA-256 of a file.
fn digest(path: &Path) -> Result<String, RunsError> {
    let (mut file, mut hash) = (BufReader::new(open(path)?), Sha256::new());
    loop {
        let bytes = file.fill_buf().map_err(RunsError::io(&cannot_read(path)))?;
        if bytes.is_empty() {
            return Ok(hexadecimal(&hash.finalize()));
        }
        hash.update(bytes);
        let read = bytes.len();
        file.consume(read);
    }
}

fn reader(path: &Path) -> Result<StatesReader, RunsError> {
    let reader = StatesReader::new(BufReader::new(open(path)?), &path.shown().to_string());
    Ok(reader.map_err(MachineError::from)?)
}
