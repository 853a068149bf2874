//! One run, and many at a time.

use rayon::prelude::*;
use sim_a53::{A53Config, A53Event};
use sim_core::config::Document;
use sim_core::{MemoryBudget, PmuEvent, Shown};
use sim_machine::{MachineConfig, Outcome, RunHeader, Session};
use sim_trace::TraceFile;

use crate::error::RunsError;
use crate::grid::{Grid, Point};
use crate::key::sha256;
use crate::part::Part;
use crate::rows::{Counts, Row};
use crate::run_core::SweepCore;
use crate::trace::Trace;

/// End of the runs of [`run_all`].
#[derive(Debug, Default)]
pub struct Ended {
    /// Runs that were refused memory beside others and ran again, alone.
    pub again: usize,
    /// Runs without a row, and why: memory, a disk, or a damaged copy of a trace.
    pub refused: Vec<(Point, RunsError)>,
}

impl Grid {
    /// Makes one run, within the memory account of all runs.
    ///
    /// If trace and configuration do not fit each other, the row has the reason: every machine
    /// would fail with it.
    ///
    /// # Errors
    /// The run has no row, but may have one elsewhere or later: it was refused memory
    /// ([`RunsError::is_over_budget`]), or the trace cannot be read or is damaged.
    pub fn run(&self, point: &Point, memory: &MemoryBudget) -> Result<Row, RunsError> {
        let (trace, document) = (self.trace(point), self.document(point)?);
        // The key of the row is that of the grid as it was read.
        if sha256(&document.canonical()) != self.chosen(point).digest {
            return Err(changed("the configuration").at(self.name(point)));
        }
        let counts = match self.core {
            SweepCore::NeoverseN2 => self.on_n2(point, &document, memory),
            SweepCore::CortexA53 => self.on_a53(point, &document, memory),
        };
        match counts {
            Ok(counts) => Ok(Row::Counted(counts)),
            Err(error) if error.is_of_run() => {
                // Not the name of the trace, which does not belong to the key.
                let (path, sentence) = (trace.path.shown().to_string(), error.sentence());
                let names = [path.as_str(), trace.name.as_str()];
                let mut reasons =
                    names.iter().filter_map(|name| sentence.strip_prefix(name)?.strip_prefix(": "));
                let reason = reasons.next().unwrap_or(&sentence);
                Ok(Row::Failed { error: reason.replace(&path, "the trace") })
            }
            Err(error) => Err(error.at(self.name(point))),
        }
    }

    fn on_n2(
        &self,
        point: &Point,
        document: &Document,
        memory: &MemoryBudget,
    ) -> Result<Counts, RunsError> {
        let trace = self.trace(point);
        let config = MachineConfig::from_document(document)?;
        let header = RunHeader { trace: trace.name.clone(), ..RunHeader::default() };
        let session = Session::open_within(&trace.path, config, header, memory)?.without_roots();
        check_same(session.trace(), trace)?;
        let no_progress = &mut |_| {};
        let outcome = match self.part(point) {
            Part::Windows(windows, range) => return windows.count(&session, range),
            Part::Chunk(chunk) => session.run_windows(&[*chunk], no_progress)?.remove(0),
            Part::Whole | Part::A53Chunk { .. } => session.run(&self.options, no_progress)?,
        };
        Ok(counts_of(&outcome))
    }

    fn on_a53(
        &self,
        point: &Point,
        document: &Document,
        memory: &MemoryBudget,
    ) -> Result<Counts, RunsError> {
        let trace = self.trace(point);
        let config = A53Config::from_document(document)?;
        let (chunk, stream) = match self.part(point) {
            Part::A53Chunk { stream, part } => (part.clone(), Some(*stream)),
            _ => {
                let (warmup, part) = (self.options.warmup, self.options.limit.into());
                (sim_a53::Part { warmup, ..part }, None)
            }
        };
        let file = TraceFile::open_within(&trace.path, memory)?;
        check_same(&file, trace)?;
        let mut cores = sim_a53::run_part(&file, &config, &chunk)?;
        cores.retain(|core| stream.is_none_or(|stream| core.stream == stream));
        let sum = |event| cores.iter().map(|core| core.counts.value(event)).sum();
        Ok(Counts {
            cores: cores.len() as u32,
            longest: cores.iter().map(|core| core.cycles).max().unwrap_or_default(),
            counts: A53Event::ALL.map(sum).to_vec(),
        })
    }
}

fn counts_of(outcome: &Outcome) -> Counts {
    let total = outcome.total();
    let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
    Counts {
        cores: outcome.cores.len() as u32,
        longest: cycles.max().unwrap_or_default(),
        counts: PmuEvent::ALL.map(|event| total.value(event)).to_vec(),
    }
}

/// Refuses a trace that is another one than the grid has read.
fn check_same(file: &TraceFile, trace: &Trace) -> Result<(), RunsError> {
    if file.hash() == trace.hash { Ok(()) } else { Err(changed("the trace")) }
}

fn changed(what: &str) -> RunsError {
    RunsError::Wrong(format!("{what} changed after the grid was read; run the sweep again"))
}

/// Makes runs in parallel and passes each row to `done`; then, one after another, makes those that
/// were refused memory because others had it. `jobs` is the number of parallel runs; 0 is one for
/// each CPU of the host.
///
/// A run that gets no row does not keep the others from theirs.
///
/// # Errors
/// `done` fails, which ends all runs, or the threads cannot be started.
pub fn run_all(
    grid: &Grid,
    points: &[Point],
    jobs: usize,
    memory: &MemoryBudget,
    done: &(impl Fn(Point, Row) -> Result<(), RunsError> + Sync),
) -> Result<Ended, RunsError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(RunsError::Threads)?;
    let run = |point: &Point| match grid.run(point, memory) {
        Ok(row) => done(*point, row).map(|()| None),
        Err(error) => Ok(Some((*point, error))),
    };
    let first: Result<Vec<_>, RunsError> =
        pool.install(|| points.par_iter().map(run).filter_map(Result::transpose).collect());
    let (alone, refused): (Vec<_>, Vec<_>) =
        first?.into_iter().partition(|(_, error)| error.is_over_budget());
    let mut ended = Ended { again: alone.len(), refused };
    for (point, _) in &alone {
        ended.refused.extend(run(point)?);
    }
    ended.refused.sort_by_key(|(point, _)| point.number);
    Ok(ended)
}
