//! The model as the fit sees it: values of the keys in, counts of all kernels out.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use sim_calibrate::{Key, Model, Point, Points, is_held_out};
use sim_core::config::Document;
use sim_core::{PmuEvent, Shown};
use sim_litmus::replay::Pages;
use sim_litmus::{CountedKernel, kernels};
use sim_machine::{MachineConfig, RunHeader, RunOptions, Session};
use sim_trace::TraceFile;

use super::counted::{INSTRUCTIONS, Source};
use crate::host::memory;

const LACKS: &str = "the recording of the kernels lacks their functions";

/// A replay that a prediction needs.
#[derive(Clone, Debug, PartialEq)]
enum Replay {
    /// The kernels of the litmus program with such pages, which end after so many instructions.
    Kernels(Pages, u64),
    /// A whole trace.
    Trace(PathBuf),
}

/// The model with some keys to vary.
pub(super) struct Machine<'a> {
    document: &'a Document,
    keys: &'a [Key],
    replays: Vec<Replay>,
}

impl<'a> Machine<'a> {
    /// Returns the model of everything that was counted.
    pub(super) fn new(
        document: &'a Document,
        keys: &'a [Key],
        sources: &[Source],
    ) -> anyhow::Result<Machine<'a>> {
        refuse_twice(sources)?;
        let mut replays = Vec::new();
        if sources.iter().any(|source| source.trace.is_none()) {
            for pages in Pages::BOTH {
                replays.push(of_kernels(pages)?);
            }
        }
        for trace in sources.iter().filter_map(|source| source.trace.as_deref()) {
            ensure!(
                !replays.contains(&Replay::Trace(trace.to_owned())),
                "{}: this trace has two files of counts; give one",
                trace.shown()
            );
            replays.push(Replay::Trace(trace.to_owned()));
        }
        Ok(Machine { document, keys, replays })
    }

    /// Returns all points, in the order of the predictions.
    pub(super) fn points(
        &self,
        sources: &[Source],
        noise: f64,
        fits_all: bool,
    ) -> anyhow::Result<Points> {
        let mut points = Points { noise, ..Points::default() };
        for replay in &self.replays {
            for name in replay.kernels() {
                let samples = sources.iter().find_map(|source| {
                    let is_own = source.trace.as_deref() == replay.trace();
                    source.kernels.get(&name).filter(|_| is_own)
                });
                let held_out = !fits_all && is_held_out(&name);
                for event in kernels::counted_events() {
                    let counted = samples.and_then(|samples| samples.get(&event).copied());
                    let event = event.mnemonic().to_owned();
                    let kernel = points.kernels.len();
                    points.all.push(Point { kernel, event, counted, held_out });
                }
                points.kernels.push(name);
            }
        }
        let fitted = points.all.iter().filter(|point| point.counted.is_some() && !point.held_out);
        ensure!(
            fitted.count() > 0,
            "no kernel is left to fit: all measure the result; give more counts, or --fit-all"
        );
        Ok(points)
    }

    /// Returns the hashes of all traces.
    pub(super) fn hashes(&self) -> String {
        let hash = |replay: &Replay| match replay {
            Replay::Kernels(..) => kernels::open_recording()
                .map(|file| format!("{:?}", file.hash()))
                .unwrap_or_default(),
            Replay::Trace(path) => {
                TraceFile::open(path).map(|file| format!("{:?}", file.hash())).unwrap_or_default()
            }
        };
        self.replays.iter().map(hash).collect::<Vec<_>>().join(" ")
    }

    /// Returns the configuration with these values.
    fn document(&self, values: &[i64]) -> anyhow::Result<Document> {
        let assignments = self.keys.iter().zip(values);
        assignments.into_iter().try_fold(self.document.clone(), |document, (key, value)| {
            Ok(document.set(&format!("{}={value}", key.name))?)
        })
    }
}

impl Model for Machine<'_> {
    type Error = anyhow::Error;

    fn predict(&self, values: &[i64]) -> anyhow::Result<Option<Vec<f64>>> {
        let document = self.document(values)?;
        let mut counts = Vec::new();
        for replay in &self.replays {
            let mut document = document.clone();
            if let Some(pages) = replay.pages().and_then(Pages::overrides) {
                document = document.set(pages)?;
            }
            let Ok(config) = MachineConfig::from_document(&document) else { return Ok(None) };
            counts.extend(replay.run(config)?);
        }
        Ok(Some(counts))
    }
}

impl Replay {
    fn trace(&self) -> Option<&Path> {
        match self {
            Replay::Kernels(..) => None,
            Replay::Trace(path) => Some(path),
        }
    }

    fn pages(&self) -> Option<Pages> {
        match self {
            Replay::Kernels(pages, _) => Some(*pages),
            Replay::Trace(_) => None,
        }
    }

    /// Returns the names of its kernels.
    fn kernels(&self) -> Vec<String> {
        match self {
            Replay::Kernels(pages, _) => {
                let all = kernels::all().into_iter().filter(|kernel| kernel.pages == *pages);
                all.map(|kernel| kernel.id).collect()
            }
            Replay::Trace(path) => {
                vec![path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()]
            }
        }
    }

    /// Runs it, and returns the counts of its kernels per round, event by event.
    fn run(&self, config: MachineConfig) -> anyhow::Result<Vec<f64>> {
        let header = RunHeader::default();
        match self {
            Replay::Kernels(pages, end) => {
                let trace = kernels::open_recording()?;
                let session = Session::of(trace, config, header)?.without_roots();
                let code = kernels::code(session.trace().meta());
                let code = code.context(LACKS)?;
                let counted = kernels::replay(&session, *pages, &code, Some(*end), &mut |_| {})?;
                ensure!(
                    counted.len() == self.kernels().len(),
                    "the recording of the kernels lacks some of them"
                );
                Ok(counted.iter().flat_map(means).collect())
            }
            Replay::Trace(path) => {
                let session =
                    Session::open_within(path, config, header, &memory::budget())?.without_roots();
                let outcome = session.run(&RunOptions::default(), &mut |_| {})?;
                let (total, unit) = (outcome.total(), INSTRUCTIONS / session.instructions() as f64);
                Ok(kernels::counted_events()
                    .map(|event| total.value(event) as f64 * unit)
                    .collect())
            }
        }
    }
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

/// Returns the replay of the kernels with such pages.
fn of_kernels(pages: Pages) -> anyhow::Result<Replay> {
    let trace = kernels::open_recording()?;
    let code = kernels::code(trace.meta()).context(LACKS)?;
    Ok(Replay::Kernels(pages, kernels::end_of(&trace, pages, &code)?))
}

/// Returns the mean count of each event.
fn means(kernel: &CountedKernel) -> Vec<f64> {
    let mean = |event: PmuEvent| kernel.sample(event).map_or(0.0, |sample| sample.mean);
    kernels::counted_events().map(mean).collect()
}
