//! The windows of a trace that stand for the whole, and the states in which they begin.

use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use sim_core::{PmuEvent, Shown};
use sim_files::File;
use sim_lab::{Region, Regions};
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
    /// Its content.
    pub(crate) regions: Regions,
    /// The states that it names.
    states: Option<States>,
}

/// A file of states.
#[derive(Clone, Debug, PartialEq, Eq)]
struct States {
    /// Place of the file.
    path: PathBuf,
    /// SHA-256 of the file.
    digest: String,
    /// Size and time of the file when it was read.
    stamp: (u64, Option<SystemTime>),
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
            let (fault, remedy) =
                (error.sentence(), "find the windows again, or take out the line");
            RunsError::Wrong(format!("{fault}; {file} names these states: {remedy} `states`"))
        })?;
        Ok(Windows { file, regions, states })
    }

    /// Checks that windows and states are of this trace.
    pub(crate) fn check(&self, trace: &TraceFile) -> Result<(), RunsError> {
        self.regions.check_trace(&self.file, trace)?;
        if let Some(states) = &self.states {
            let fit = self.regions.fit_states(trace.hash(), states.machine, &states.open()?);
            fit.map_err(MachineError::from)?;
        }
        Ok(())
    }

    /// Returns true if windows begin in the saved states on a machine with this hash, false if they
    /// begin after functional warming.
    pub(crate) fn begin_in_states(&self, warm: u64) -> bool {
        self.states_of(warm).is_some()
    }

    /// Returns true if there are states at all.
    pub(crate) fn have_states(&self) -> bool {
        self.states.is_some()
    }

    /// Returns, for the key of a run, the places of some windows and all that warms the machine
    /// before them.
    pub(crate) fn key_text(&self, windows: &Range<usize>, warm: u64) -> String {
        let place = |Region { begin, length, .. }: &Region| format!(" {begin}+{length}");
        let places: String = self.regions.windows[windows.clone()].iter().map(place).collect();
        let Regions { warmup, functional_warmup, .. } = &self.regions;
        let before = match self.states_of(warm) {
            Some(states) => format!("states {}", states.digest),
            None => format!("functional {functional_warmup}"),
        };
        format!("windows {before} {warmup}{places}")
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
        let (path, stamp, digest) = (path.to_owned(), stamp(path)?, digest(path)?);
        let machine = reader(&path)?.header().machine;
        Ok(States { path, digest, stamp, machine })
    }

    /// Opens the file again. Refuses it if it is not the one that was read; a change that leaves
    /// size and time is found by the checksums of the states.
    fn open(&self) -> Result<StatesReader, RunsError> {
        if stamp(&self.path)? != self.stamp {
            let file = self.path.shown();
            return Err(RunsError::Wrong(format!(
                "{file} changed after the grid was read; run the sweep again"
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

/// Returns size and time of a file.
fn stamp(path: &Path) -> Result<(u64, Option<SystemTime>), RunsError> {
    let about = std::fs::metadata(path).map_err(RunsError::io(&cannot_read(path)))?;
    Ok((about.len(), about.modified().ok()))
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
