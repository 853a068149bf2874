//! Runs one trace on several host threads: each runs a part of it after a warm-up of its own.
//!
//! A part starts with the cache and TLB contents that the last accesses before it leave. Then
//! uncounted instructions train predictors and prefetchers. What both miss is the error against a
//! run in one piece. The parts depend only on the trace and their number, so the same number gives
//! the same counts on any host.

use std::ops::Range;

use crate::estimate;
use sim_machine::{MachineError, Outcome, Session, Window, only_thread};

/// Instructions that run uncounted before each part but the first.
const CHUNK_WARMUP: u64 = 1_000_000;
/// Instructions of functional warming before the warm-up.
const CHUNK_FUNCTIONAL_WARMUP: u64 = 10_000_000;
/// Instructions of the shortest part; below it, warm-up would be most of the work.
const SHORTEST_CHUNK: u64 = 2 * CHUNK_WARMUP;

/// Runs the trace in `jobs` parts at the same time, or fewer if they would be too short, and adds
/// up their counts. `progress` receives the progress of the first part, scaled to all.
///
/// # Errors
/// As [`Session::run_windows`].
pub fn run_chunks(
    session: &Session,
    jobs: u32,
    progress: &mut dyn FnMut(u64),
) -> Result<Outcome, MachineError> {
    let instructions = only_thread(session.trace())?.instructions;
    let windows = chunks(instructions, jobs);
    let count = windows.len() as u64;
    let parts = std::thread::scope(|scope| {
        let run = |window: Window| session.run_windows(&[window], &mut |_| {});
        let others: Vec<_> =
            windows[1..].iter().map(|window| scope.spawn(move || run(*window))).collect();
        let mut of_all = |done: u64| progress((done * count).min(instructions));
        let first = session.run_windows(&windows[..1], &mut of_all);
        let join = |part: std::thread::ScopedJoinHandle<'_, _>| {
            part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let parts = std::iter::once(first).chain(others.into_iter().map(join));
        parts.collect::<Result<Vec<Vec<Outcome>>, MachineError>>()
    })?;
    let mut outcome = estimate::join(&parts.concat()).expect("there is a first part");
    if count > 1 {
        outcome.notes.push(format!(
            "counted in {count} parts at the same time: docs/regions.md says how far that is from a run in \
             one piece"
        ));
    }
    Ok(outcome)
}

/// Returns `jobs` parts of about equal length that cover the instructions of a thread, or fewer if
/// they would be too short. Each but the first begins with a warm-up.
pub fn chunks(instructions: u64, jobs: u32) -> Vec<Window> {
    let chunk = |range: Range<u64>| Window {
        begin: range.start,
        length: range.end - range.start,
        warmup: CHUNK_WARMUP,
        functional_warmup: CHUNK_FUNCTIONAL_WARMUP,
    };
    ranges(instructions, jobs, SHORTEST_CHUNK).into_iter().map(chunk).collect()
}

/// Cuts instructions into `jobs` ranges of about equal length, or fewer of at least `shortest`.
pub(crate) fn ranges(instructions: u64, jobs: u32, shortest: u64) -> Vec<Range<u64>> {
    let count = u64::from(jobs).min(instructions / shortest).max(1);
    let begin = |number: u64| {
        let place = u128::from(instructions) * u128::from(number) / u128::from(count);
        u64::try_from(place).unwrap_or(instructions)
    };
    (0..count).map(|number| begin(number)..begin(number + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_trace_without_overlap() {
        for (instructions, jobs, expected) in
            [(0, 4, 1), (1, 1, 1), (SHORTEST_CHUNK * 3 - 1, 8, 2), (100_000_007, 7, 7)]
        {
            let chunks = chunks(instructions, jobs);
            assert_eq!(chunks.len(), expected);
            let end =
                chunks.iter().try_fold(0, |at, one| (one.begin == at).then_some(at + one.length));
            assert_eq!(end, Some(instructions));
        }
    }
}
