//! Windows of a long trace that stand for the whole of it, found by what the trace runs.
//!
//! The trace is read once, without simulation, and cut into intervals; intervals that run the same blocks
//! are put into groups (`cluster`), some are chosen by what happens in them (`choose`), and weighted so that they
//! have the means of the whole trace (`calibrate`). A file of windows names the
//! trace that they belong to by its hash; people may read and change it.

mod calibrate;
mod choose;
mod cluster;
mod file;
mod states;
mod traits;
mod vectors;

use crate::approach::{Approach, Places};
use crate::error::MachineError;
use crate::known::KNOWN;
use crate::session::Session;
use calibrate::Calibration;
pub use file::RegionsError;
pub(crate) use file::hash_text;
use sim_core::Counts;
use sim_core::Shown;
use sim_pipeline::Pipeline;
use sim_trace::{StreamInfo, TraceFile};
use traits::TraitReader;
use vectors::{Interval, Vector, VectorReader};

/// Most intervals that a trace is cut into: their vectors take 15 MB.
pub const MOST_INTERVALS: u64 = 100_000;
/// Most windows of a file.
pub const MOST_WINDOWS: usize = 10_000;
/// Intervals that a trace has if nobody says how long they are.
const USUAL_INTERVALS: u64 = 6000;
/// Instructions of the shortest and the longest interval then.
const USUAL_LENGTH: std::ops::RangeInclusive<u64> = 10_000..=10_000_000;
/// Instructions between two reports of progress.
const STEP: u64 = 10_000_000;

/// How windows are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionOptions {
    /// Instructions of an interval; a 6000th of the trace if that is not said.
    pub interval: Option<u64>,
    /// About so many windows are wanted.
    pub windows: usize,
    /// At most so many groups.
    pub clusters: usize,
    /// Instructions that run in front of each window and are not counted; half of an interval if that is
    /// not said.
    pub warmup: Option<u64>,
    /// Instructions in front of those that go through caches, TLBs, prefetchers and branch predictors in order;
    /// five times as many as an interval has if that is not said.
    pub lesson: Option<u64>,
    /// Seed of the projection and of the groups.
    pub seed: u64,
}

impl Default for RegionOptions {
    /// What `n2sim trace regions` does if it is told nothing.
    fn default() -> RegionOptions {
        RegionOptions {
            interval: None,
            windows: 120,
            clusters: 24,
            warmup: None,
            lesson: None,
            seed: 1,
        }
    }
}

/// A window that stands for a part of the trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Region {
    /// The group of intervals that it is of.
    pub cluster: u32,
    /// Instructions before it.
    pub begin: u64,
    /// Its instructions.
    pub length: u64,
    /// Instructions of the trace that it stands for.
    pub stands_for: u64,
    /// What the machine without a pipeline counted in it, as [`Regions::known`].
    #[serde(default)]
    pub known: Vec<u64>,
}

impl Region {
    /// The part of what it stands for that did not run.
    pub(crate) fn left_out(&self) -> f64 {
        (1.0 - self.length as f64 / self.stands_for as f64).max(0.0)
    }
}

/// The windows of one trace.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Regions {
    /// Name of the trace's file when it was read.
    pub trace: String,
    /// Hash of the trace's content, in hexadecimal.
    pub trace_hash: String,
    /// Instructions of the trace.
    pub instructions: u64,
    /// Instructions that run in front of each window and are not counted.
    pub warmup: u64,
    /// Instructions in front of those that go through caches, TLBs, prefetchers and branch predictors in order.
    pub lesson: u64,
    /// Hash of the machine without a pipeline ([`MachineConfig::warm_hash`](crate::MachineConfig::warm_hash)), in
    /// hexadecimal.
    #[serde(default)]
    pub known_on: Option<String>,
    /// Name of the file of states in which the windows begin, in the folder of this one; without it they begin
    /// behind a lesson.
    #[serde(default)]
    pub states: Option<String>,
    /// What that machine counted in the whole trace; empty where nobody knows.
    #[serde(default)]
    pub known: Vec<u64>,
    /// The windows, in the order of the trace.
    #[serde(rename = "window")]
    pub windows: Vec<Region>,
}

/// What was found, for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Intervals that the trace was cut into.
    pub intervals: usize,
    /// Groups of intervals.
    pub clusters: usize,
}

impl Regions {
    /// Sends the trace through the machine without a pipeline and chooses windows. `progress` hears the
    /// instructions read so far.
    ///
    /// # Errors
    /// If the trace is damaged, has instructions of several threads, or would be cut into too many intervals.
    pub fn find(
        session: &Session,
        options: &RegionOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Regions, Found), MachineError> {
        let trace = session.trace();
        let stream = only_thread(trace)?;
        let usual = || {
            (stream.instructions / USUAL_INTERVALS)
                .clamp(*USUAL_LENGTH.start(), *USUAL_LENGTH.end())
        };
        let interval = options.interval.unwrap_or_else(usual).max(1);
        let expected = stream.instructions / interval;
        if expected > MOST_INTERVALS {
            let (trace, most) = (trace.path().shown().to_string(), MOST_INTERVALS);
            return Err(MachineError::TooManyIntervals { trace, interval, expected, most });
        }
        let intervals = intervals(session, stream, interval, options.seed, progress)?;
        let points: Vec<Vector> = intervals.iter().map(|interval| interval.vector).collect();
        let groups = cluster::cluster(&points, options.clusters, options.seed);
        let chosen =
            choose::choose(&intervals, &groups, options.windows.min(MOST_WINDOWS), options.seed);
        let weights = weights(&intervals, &chosen);
        let region = |(one, stands_for): (&choose::Chosen, u64)| {
            let interval = &intervals[one.interval];
            let Interval { begin, length, .. } = *interval;
            Region { cluster: one.group as u32, begin, length, stands_for, known: interval.known() }
        };
        let warmup = options.warmup.unwrap_or(interval.div_ceil(2));
        let regions = Regions {
            trace: trace.path().shown().to_string(),
            trace_hash: hash_text(trace.hash()),
            instructions: stream.instructions,
            warmup,
            lesson: options.lesson.unwrap_or(interval.saturating_mul(5)),
            known_on: Some(hash_text(session.config().warm_hash())),
            states: None,
            known: sums(&intervals),
            windows: chosen.iter().zip(weights).map(region).collect(),
        };
        Ok((regions, Found { intervals: intervals.len(), clusters: groups.centers.len() }))
    }
}

/// The trace in parts, with what they run and what the machine without a pipeline counts in them.
fn intervals(
    session: &Session,
    stream: &StreamInfo,
    interval: u64,
    seed: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<Interval>, MachineError> {
    let trace = session.trace();
    let (mut program, mut memory) = (session.program()?, session.memory_of_one()?);
    let mut pipeline = Pipeline::new(&session.config().pipeline);
    let places = Places::new(trace.statics(), &program);
    let sink = Counts::default();
    let machine = Approach::new(0, &places, &mut program, &mut pipeline, &mut memory, 0, sink);
    let blocks = trace.statics().blocks();
    let traits = TraitReader::new(blocks, machine);
    let mut vectors = VectorReader::new(blocks, interval, seed, traits);
    let mut reader = trace.reader(stream.stream)?;
    while reader.position() < stream.instructions {
        reader.skim(reader.position() + STEP, &mut vectors)?;
        progress(reader.position());
    }
    Ok(vectors.finish())
}

/// What is known of all intervals together.
fn sums(intervals: &[Interval]) -> Vec<u64> {
    let mut sums = vec![0; KNOWN.len()];
    for interval in intervals {
        sums.iter_mut().zip(interval.known()).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// Instructions that each chosen interval stands for: all of the trace together.
fn weights(intervals: &[Interval], chosen: &[choose::Chosen]) -> Vec<u64> {
    let lengths: Vec<f64> = intervals.iter().map(|interval| interval.length as f64).collect();
    let traits: Vec<Vec<f64>> = intervals.iter().map(Interval::features).collect();
    let calibration = Calibration { lengths: &lengths, traits: &traits };
    let numbers: Vec<usize> = chosen.iter().map(|one| one.interval).collect();
    let all: u64 = intervals.iter().map(|interval| interval.length).sum();
    let by_chance: f64 = chosen.iter().map(|one| one.stands_for).sum();
    let first: Vec<f64> =
        chosen.iter().map(|one| one.stands_for * all as f64 / by_chance).collect();
    let weights = calibration.weights(&numbers, &first);
    // What rounding leaves goes on from window to window, so that the sum is exact.
    let (mut sum, mut given) = (0.0, 0);
    let mut whole = |weight: f64| {
        sum += weight;
        let next = (sum.round() as u64).clamp(given, all);
        next - std::mem::replace(&mut given, next)
    };
    let mut weights: Vec<u64> = weights.into_iter().map(&mut whole).collect();
    if let Some(last) = weights.last_mut() {
        *last += all - given;
    }
    weights
}

/// The thread of a trace that has one only: where others stand when it is at some place, no trace says.
pub(crate) fn only_thread(trace: &TraceFile) -> Result<&StreamInfo, MachineError> {
    let mut threads = trace.streams().iter().filter(|stream| stream.instructions > 0);
    let name = || trace.path().shown().to_string();
    let thread = threads.next().ok_or_else(|| MachineError::Empty { trace: name() })?;
    match threads.count() {
        0 => Ok(thread),
        others => Err(MachineError::Threads { trace: name(), threads: others + 1 }),
    }
}
