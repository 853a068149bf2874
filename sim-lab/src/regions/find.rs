//! Finds the windows of a trace: one pass over it, without simulation of a pipeline.

use super::calibrate::Calibration;
use super::error::RegionsError;
use super::features::FeatureReader;
use super::file::hash_text;
use super::vectors::{Interval, Vector, VectorReader};
use super::windows::{MOST_WINDOWS, Region, Regions};
use super::{choose, cluster};
use crate::known_events::KNOWN_EVENTS;
use sim_core::{Counts, Shown};
use sim_machine::functional_warming::{BlockTable, FunctionalWarming};
use sim_machine::{MachineError, Session, only_thread};
use sim_pipeline::Pipeline;
use sim_trace::StreamInfo;

/// Most intervals that a trace is cut into: their vectors take 15 MB.
pub const MOST_INTERVALS: u64 = 100_000;
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
    ) -> Result<(Regions, Found), RegionsError> {
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
            return Err(RegionsError::TooManyIntervals { trace, interval, expected, most });
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
    let blocks = BlockTable::new(trace.statics(), &program);
    let sink = Counts::default();
    let machine =
        FunctionalWarming::new(0, &blocks, &mut program, &mut pipeline, &mut memory, 0, sink);
    let count = trace.statics().blocks();
    let features = FeatureReader::new(count, machine);
    let mut vectors = VectorReader::new(count, interval, seed, features);
    let mut reader = trace.reader(stream.stream)?;
    while reader.position() < stream.instructions {
        reader.skim(reader.position() + STEP, &mut vectors)?;
        progress(reader.position());
    }
    Ok(vectors.finish())
}

/// What is known of all intervals together.
fn sums(intervals: &[Interval]) -> Vec<u64> {
    let mut sums = vec![0; KNOWN_EVENTS.len()];
    for interval in intervals {
        sums.iter_mut().zip(interval.known()).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// Instructions that each chosen interval stands for: all of the trace together.
fn weights(intervals: &[Interval], chosen: &[choose::Chosen]) -> Vec<u64> {
    let lengths: Vec<f64> = intervals.iter().map(|interval| interval.length as f64).collect();
    let features: Vec<Vec<f64>> = intervals.iter().map(Interval::calibration_row).collect();
    let calibration = Calibration { lengths: &lengths, features: &features };
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
