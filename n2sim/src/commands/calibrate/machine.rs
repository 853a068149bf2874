//! The model as the fit sees it: values of the keys in, counts of one kernel out.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use rayon::prelude::*;
use sim_calibrate::{Key, Model, Point, Points, is_held_out};
use sim_core::config::Document;
use sim_core::{PmuEvent, Shown};
use sim_files::ScratchDirectory;
use sim_litmus::replay::Pages;
use sim_litmus::{CountedKernel, kernels};
use sim_machine::{MachineConfig, RunHeader, RunOptions, Session};
use sim_trace::{Slice, TraceFile, WriterOptions};

use super::counted::{INSTRUCTIONS, Source};
use crate::host::memory;

const LACKS: &str = "the recording of the kernels lacks their functions";

/// A kernel and its trace.
#[derive(Clone, Debug)]
struct Kernel {
    name: String,
    trace: PathBuf,
    /// One event, in the unit of the counts: rounds, or instructions of a trace.
    step: f64,
    /// Pages of a kernel of the litmus program; `None` for the trace of another program.
    pages: Option<Pages>,
}

/// The model with some keys to vary.
pub(super) struct Machine<'a> {
    document: &'a Document,
    keys: &'a [Key],
    kernels: Vec<Kernel>,
    /// The recording of each kernel of the litmus program alone, while this value lives.
    parts: Option<ScratchDirectory>,
}

impl<'a> Machine<'a> {
    /// Returns the model of everything that was counted.
    pub(super) fn new(
        document: &'a Document,
        keys: &'a [Key],
        sources: &[Source],
    ) -> anyhow::Result<Machine<'a>> {
        refuse_twice(sources)?;
        let (mut kernels, mut parts) = (Vec::new(), None);
        if sources.iter().any(|source| source.trace.is_none()) {
            let directory = ScratchDirectory::new().context("cannot make a temporary directory")?;
            kernels = cut(directory.path())?;
            parts = Some(directory);
        }
        for trace in sources.iter().filter_map(|source| source.trace.as_deref()) {
            ensure!(
                !kernels.iter().any(|kernel: &Kernel| kernel.trace == trace),
                "{}: this trace has two files of counts; give one",
                trace.shown()
            );
            let name = trace.file_stem().unwrap_or(trace.as_os_str());
            let name = name.to_string_lossy().into_owned();
            let step = INSTRUCTIONS / open(trace)?.instructions().max(1) as f64;
            kernels.push(Kernel { name, trace: trace.to_owned(), step, pages: None });
        }
        Ok(Machine { document, keys, kernels, parts })
    }

    /// Returns all points, in the order of the predictions.
    pub(super) fn points(
        &self,
        sources: &[Source],
        noise: f64,
        fits_all: bool,
    ) -> anyhow::Result<Points> {
        let mut points = Points { noise, ..Points::default() };
        for kernel in &self.kernels {
            let trace = kernel.pages.is_none().then_some(&kernel.trace);
            let samples = sources.iter().find_map(|source| {
                let is_own = source.trace.as_ref() == trace;
                source.kernels.get(&kernel.name).filter(|_| is_own)
            });
            let held_out = !fits_all && is_held_out(&kernel.name);
            for event in kernels::counted_events() {
                let counted = samples.and_then(|samples| samples.get(&event).copied());
                let (number, event) = (points.kernels.len(), event.mnemonic().to_owned());
                let step = kernel.step;
                points.all.push(Point { kernel: number, event, counted, step, held_out });
            }
            points.kernels.push(kernel.name.clone());
        }
        let fitted = points.all.iter().filter(|point| point.counted.is_some() && !point.held_out);
        ensure!(
            fitted.count() > 0,
            "no kernel is left to fit: all measure the result; give more counts, or --fit-all"
        );
        Ok(points)
    }

    /// Returns the hashes of all traces.
    ///
    /// # Errors
    /// A trace cannot be read.
    pub(super) fn hashes(&self) -> anyhow::Result<String> {
        let hash = |kernel: &Kernel| Ok(format!("{:016x}", open(&kernel.trace)?.hash()));
        let hashes: anyhow::Result<Vec<String>> = self.kernels.iter().map(hash).collect();
        Ok(hashes?.join(" "))
    }

    /// Returns the machine with these values; `None` if there is none.
    fn config(
        &self,
        values: &[i64],
        pages: Option<Pages>,
    ) -> anyhow::Result<Option<MachineConfig>> {
        let mut document = self.document.clone();
        for (key, value) in self.keys.iter().zip(values) {
            document = document.set(&format!("{}={value}", key.name))?;
        }
        if let Some(pages) = pages.and_then(Pages::overrides) {
            document = document.set(pages)?;
        }
        Ok(MachineConfig::from_document(&document).ok())
    }
}

impl Model for Machine<'_> {
    type Error = anyhow::Error;

    fn has_machine(&self, values: &[i64]) -> bool {
        self.config(values, None).is_ok_and(|config| config.is_some())
    }

    fn predict(&self, kernel: usize, values: &[i64]) -> anyhow::Result<Option<Vec<f64>>> {
        let kernel = &self.kernels[kernel];
        let Some(config) = self.config(values, kernel.pages)? else { return Ok(None) };
        Ok(Some(match kernel.pages {
            Some(pages) => {
                let session = Session::of(open(&kernel.trace)?, config, RunHeader::default())?;
                let all = of_program(&session.without_roots(), pages, None)?;
                let [counted] = all.as_slice() else { anyhow::bail!("{LACKS}") };
                means(counted)
            }
            None => of_trace(&kernel.trace, config)?,
        }))
    }

    fn predict_together(&self, values: &[i64]) -> anyhow::Result<Option<Vec<f64>>> {
        if self.parts.is_none() {
            return Ok(None);
        }
        let mut all = vec![Vec::new(); self.kernels.len()];
        for pages in Pages::BOTH {
            let Some(config) = self.config(values, Some(pages))? else { return Ok(None) };
            let session = Session::of(kernels::open_recording()?, config, RunHeader::default())?;
            let session = session.without_roots();
            for counted in of_program(&session, pages, Some(end_of(&session, pages)?))? {
                let is_own =
                    |kernel: &Kernel| kernel.pages == Some(pages) && kernel.name == counted.kernel;
                let at = self.kernels.iter().position(is_own).context(LACKS)?;
                all[at] = means(&counted);
            }
        }
        for (at, kernel) in self.kernels.iter().enumerate() {
            if kernel.pages.is_none() {
                let Some(alone) = self.predict(at, values)? else { return Ok(None) };
                all[at] = alone;
            }
        }
        ensure!(all.iter().all(|counts| !counts.is_empty()), "{LACKS}");
        Ok(Some(all.concat()))
    }
}

fn open(path: &Path) -> anyhow::Result<TraceFile> {
    TraceFile::open(path).with_context(|| format!("cannot read {}", path.shown()))
}

/// Cuts the recording of the litmus program into one trace for each kernel.
fn cut(directory: &Path) -> anyhow::Result<Vec<Kernel>> {
    let recording = kernels::open_recording()?;
    let code = kernels::code(recording.meta()).context(LACKS)?;
    let parts = kernels::parts(&recording, &code)?;
    let numbered: Vec<_> = kernels::all().into_iter().zip(parts).enumerate().collect();
    let one = |(number, (kernel, range)): (usize, (sim_litmus::Kernel, _))| {
        let trace = directory.join(format!("{number}.n2t"));
        let slice = Slice { streams: Vec::new(), range, without_order: true };
        sim_trace::slice(&kernels::open_recording()?, &slice, &trace, WriterOptions::default())?;
        let step = 1.0 / kernel.rounds as f64;
        Ok(Kernel { name: kernel.id, trace, step, pages: Some(kernel.pages) })
    };
    numbered.into_par_iter().map(one).collect()
}

/// Returns the counts of the kernels with such pages, and with a `limit` of instructions.
fn of_program(
    session: &Session,
    pages: Pages,
    limit: Option<u64>,
) -> anyhow::Result<Vec<CountedKernel>> {
    let code = kernels::code(session.trace().meta()).context(LACKS)?;
    Ok(kernels::replay(session, pages, &code, limit, &mut |_| {})?)
}

/// Returns the number of instructions of the recording after which no kernel with such pages runs.
fn end_of(session: &Session, pages: Pages) -> anyhow::Result<u64> {
    let code = kernels::code(session.trace().meta()).context(LACKS)?;
    let parts = kernels::parts(session.trace(), &code)?;
    let all = kernels::all();
    let own = all.iter().zip(parts).filter(|(kernel, _)| kernel.pages == pages);
    Ok(own.map(|(_, part)| part.end).max().unwrap_or(0))
}

/// Returns the counts of a trace.
fn of_trace(path: &Path, config: MachineConfig) -> anyhow::Result<Vec<f64>> {
    let header = RunHeader::default();
    let session = Session::open_within(path, config, header, &memory::budget())?.without_roots();
    let outcome = session.run(&RunOptions::default(), &mut |_| {})?;
    let (total, unit) = (outcome.total(), INSTRUCTIONS / session.instructions() as f64);
    Ok(kernels::counted_events().map(|event| total.value(event) as f64 * unit).collect())
}

/// Refuses two counts of one kernel.
fn refuse_twice(sources: &[Source]) -> anyhow::Result<()> {
    for (number, source) in sources.iter().enumerate() {
        for other in sources[..number].iter().filter(|other| other.trace == source.trace) {
            let twice = source.kernels.keys().find(|kernel| other.kernels.contains_key(*kernel));
            if let Some(kernel) = twice {
                let (one, two, kernel) = (&other.name, &source.name, kernel.shown());
                anyhow::bail!("{kernel} is counted in {one} and in {two}; give one of these files");
            }
        }
    }
    Ok(())
}

/// Returns the mean count of each event.
fn means(kernel: &CountedKernel) -> Vec<f64> {
    let mean = |event: PmuEvent| kernel.sample(event).map_or(0.0, |sample| sample.mean);
    kernels::counted_events().map(mean).collect()
}
