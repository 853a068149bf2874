//! Runs one trace on a Cortex-A53 in parts at the same time, each after a warm-up of its own.
//!
//! A part begins with cold caches; uncounted instructions fill them. What they leave cold is the
//! error against a run in one piece. The parts depend only on the trace and their number.

use std::ops::Range;

use sim_a53::{A53Config, A53CoreOutcome, A53Error, Part, run_part};
use sim_trace::TraceFile;

use crate::chunks::ranges;

/// Instructions that run uncounted before each part but the first: they touch each line of an L2
/// cache of 512 KB once if one in sixty misses the L1 caches.
const WARMUP: u64 = 500_000;
/// Instructions of the shortest part; below it, warm-up would be most of the work.
const SHORTEST: u64 = 2 * WARMUP;

/// Sum of parts that cover a thread.
#[derive(Clone, Debug)]
pub struct A53Chunks {
    /// Result of the core.
    pub core: A53CoreOutcome,
    /// Number of parts.
    pub parts: usize,
}

/// Runs the only thread of a trace, of `instructions` instructions on stream `stream`, in `jobs`
/// parts at the same time, or fewer if they would be too short, and adds up their counts.
///
/// # Errors
/// As [`run_part`].
pub fn run_a53_chunks(
    trace: &TraceFile,
    config: &A53Config,
    (stream, instructions): (u32, u64),
    jobs: u32,
) -> Result<A53Chunks, A53Error> {
    let chunks = a53_chunks(instructions, jobs);
    let run = |chunk: &Part| {
        let cores = run_part(trace, config, chunk)?;
        Ok(cores.into_iter().filter(|core| core.stream == stream).collect())
    };
    let parts = std::thread::scope(|scope| {
        let started: Vec<_> = chunks.iter().map(|chunk| scope.spawn(move || run(chunk))).collect();
        let join = |part: std::thread::ScopedJoinHandle<'_, _>| {
            part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(join).collect::<Result<Vec<Vec<A53CoreOutcome>>, A53Error>>()
    })?;
    let mut cores = parts.into_iter().flatten();
    let mut core = cores.next().expect("there is a first part, of the thread");
    cores.for_each(|part| core.add(&part));
    Ok(A53Chunks { core, parts: chunks.len() })
}

/// Returns `jobs` parts of about equal length that cover the instructions of a thread, or fewer if
/// they would be too short. Each but the first begins with a warm-up.
pub fn a53_chunks(instructions: u64, jobs: u32) -> Vec<Part> {
    ranges(instructions, jobs, SHORTEST).iter().map(part_of).collect()
}

/// Returns the part of the thread that counts these instructions.
fn part_of(counted: &Range<u64>) -> Part {
    let start = counted.start.saturating_sub(WARMUP);
    Part { warmup: counted.start - start, span: Some(start..counted.end), ..Part::default() }
}
