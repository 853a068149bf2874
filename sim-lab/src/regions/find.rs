//! Finds representative windows in one pass over a trace, with functional warming.

use super::calibrate::Calibration;
use super::error::RegionsError;
use super::features::FeatureReader;
use super::file::hash_text;
use super::thread_vectors::thread_intervals;
use super::vectors::{Interval, Vector, VectorReader};
use super::windows::{MOST_WINDOWS, Region, Regions};
use super::{choose, cluster};
use crate::thread_errors::check_number;
use sim_core::{Counts, Shown};
use sim_machine::functional_warming::{BlockTable, FunctionalWarming};
use sim_machine::{MachineError, Session, only_thread};
use sim_pipeline::Pipeline;
use sim_trace::StreamInfo;

/// Most intervals of a trace; their vectors take 15 MB.
pub const MOST_INTERVALS: u64 = 100_000;
/// Number of intervals by default.
const USUAL_INTERVALS: u64 = 6000;
/// Shortest and longest default interval in instructions.
const USUAL_LENGTH: std::ops::RangeInclusive<u64> = 10_000..=10_000_000;
/// Instructions between two progress reports.
const STEP: u64 = 10_000_000;

/// Options of the search for windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionOptions {
    /// Length of an interval in instructions; by default a 6000th of the trace.
    pub interval: Option<u64>,
    /// Approximate number of windows.
    pub windows: usize,
    /// Most clusters.
    pub clusters: usize,
    /// Number of uncounted instructions before each window; by default half an interval.
    pub warmup: Option<u64>,
    /// Number of instructions of functional warming before the warm-up; by default five intervals.
    pub functional_warmup: Option<u64>,
    /// Seed of the projection, the clusters and the selection.
    pub seed: u64,
}

impl Default for RegionOptions {
    /// Returns the defaults of `n2sim trace regions`.
    fn default() -> RegionOptions {
        RegionOptions {
            interval: None,
            windows: 120,
            clusters: 24,
            warmup: None,
            functional_warmup: None,
            seed: 1,
        }
    }
}

/// Sizes of a search, for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Number of intervals.
    pub intervals: usize,
    /// Number of clusters.
    pub clusters: usize,
}

impl Regions {
    /// Reads the trace with functional warming and chooses windows. Windows of several threads are
    /// parts of a run of all of them. `progress` receives the number of instructions read so far.
    ///
    /// # Errors
    /// If the trace is damaged or has too many intervals, or if threads share cores.
    pub fn find(
        session: &Session,
        options: &RegionOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Regions, Found), RegionsError> {
        let trace = session.trace();
        let instructions = session.instructions();
        let usual =
            || (instructions / USUAL_INTERVALS).clamp(*USUAL_LENGTH.start(), *USUAL_LENGTH.end());
        let interval = options.interval.unwrap_or_else(usual).max(1);
        let expected = instructions / interval;
        if expected > MOST_INTERVALS {
            let (trace, most) = (trace.path().shown().to_string(), MOST_INTERVALS);
            return Err(RegionsError::TooManyIntervals { trace, interval, expected, most });
        }
        let (intervals, shared) = if session.has_threads() {
            // Known before all threads run.
            session.check_thread_windows()?;
            check_number(options.windows.min(instructions.div_ceil(interval) as usize), session)?;
            thread_intervals(session, interval, options.seed, progress)?
        } else {
            let stream = only_thread(trace)?;
            (intervals(session, stream, interval, options.seed, progress)?, Vec::new())
        };
        let known = |number: usize| {
            let own = shared.get(number).into_iter().flatten().copied();
            intervals[number].known().into_iter().chain(own).collect()
        };
        let points: Vec<Vector> = intervals.iter().map(|interval| interval.vector).collect();
        let groups = cluster::cluster(&points, options.clusters, options.seed);
        let chosen =
            choose::choose(&intervals, &groups, options.windows.min(MOST_WINDOWS), options.seed);
        if session.has_threads() {
            check_number(chosen.len(), session)?;
        }
        let weights = weights(&intervals, &chosen);
        let region = |(one, represents): (&choose::Chosen, u64)| {
            let interval = &intervals[one.interval];
            let Interval { begin, length, .. } = *interval;
            let known = known(one.interval);
            Region { cluster: one.group as u32, begin, length, represents, known }
        };
        let warmup = options.warmup.unwrap_or(interval.div_ceil(2));
        let regions = Regions {
            trace: trace.path().shown().to_string(),
            trace_hash: hash_text(trace.hash()),
            instructions,
            warmup,
            functional_warmup: options.functional_warmup.unwrap_or(interval.saturating_mul(5)),
            known_on: Some(hash_text(session.warm_hash())),
            states: None,
            known: sums((0..intervals.len()).map(known)),
            windows: chosen.iter().zip(weights).map(region).collect(),
        };
        Ok((regions, Found { intervals: intervals.len(), clusters: groups.centers.len() }))
    }
}

/// Returns the intervals of the trace with their blocks and features.
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

/// Returns the known counts of all intervals together.
fn sums(intervals: impl Iterator<Item = Vec<u64>>) -> Vec<u64> {
    let mut sums = Vec::new();
    for known in intervals {
        sums.resize(known.len(), 0);
        sums.iter_mut().zip(known).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// Returns the instructions that each chosen interval represents; together the whole trace.
fn weights(intervals: &[Interval], chosen: &[choose::Chosen]) -> Vec<u64> {
    let lengths: Vec<f64> = intervals.iter().map(|interval| interval.length as f64).collect();
    let features: Vec<Vec<f64>> = intervals.iter().map(Interval::calibration_row).collect();
    let calibration = Calibration { lengths: &lengths, features: &features };
    let numbers: Vec<usize> = chosen.iter().map(|one| one.interval).collect();
    let all: u64 = intervals.iter().map(|interval| interval.length).sum();
    let by_chance: f64 = chosen.iter().map(|one| one.represents).sum();
    let first: Vec<f64> =
        chosen.iter().map(|one| one.represents * all as f64 / by_chance).collect();
    let weights = calibration.weights(&numbers, &first);
    // The rounding error carries over from window to window, so that the sum is exact.
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
