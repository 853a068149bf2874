//! One trace on several threads of the host: each runs a part of it, behind a warm-up of its own.
//!
//! A part begins with the caches and TLBs that the last touches of everything before it leave, and with
//! instructions that run without being counted, for predictors and prefetchers. What that misses is the
//! error against a run in one piece. What is in front of a part takes time, so later parts are shorter. The parts follow from the trace and their number alone, so the same
//! number gives the same counts on any host.

use super::{Session, Window};
use crate::error::MachineError;
use crate::estimate;
use crate::outcome::Outcome;
use crate::regions::only_thread;

/// Instructions that run in front of each part but the first.
const CHUNK_WARMUP: u64 = 1_000_000;
/// Instructions in front of those that go through caches, TLBs, prefetchers and predictors in order.
const CHUNK_LESSON: u64 = 10_000_000;
/// How many instructions go through caches and predictors in order in the time that one takes in the whole machine.
const LESSON_SPEED: u64 = 6;
/// How many are read for their last touches in that time.
const TOUCH_SPEED: u64 = 20;
/// Instructions of the shortest part: below, warming up would be most of the work.
const SHORTEST_CHUNK: u64 = 2 * CHUNK_WARMUP;

impl Session {
    /// Runs the trace in so many parts at the same time, or in fewer if they would be too short, and adds
    /// up what they count. `progress` hears of the first part, scaled to all.
    ///
    /// # Errors
    /// As [`Session::run_windows`].
    pub fn run_chunks(
        &self,
        jobs: u32,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Outcome, MachineError> {
        let instructions = only_thread(&self.trace)?.instructions;
        let windows = chunks(instructions, jobs);
        let count = windows.len() as u64;
        let parts = std::thread::scope(|scope| {
            let run = |window: Window| self.run_windows(&[window], &mut |_| {});
            let others: Vec<_> =
                windows[1..].iter().map(|window| scope.spawn(move || run(*window))).collect();
            let mut of_all = |done: u64| progress((done * count).min(instructions));
            let first = self.run_windows(&windows[..1], &mut of_all);
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
}

/// Parts that take about the same time, of which each but the first has a warm-up.
fn chunks(instructions: u64, jobs: u32) -> Vec<Window> {
    let count = u64::from(jobs).min(instructions / SHORTEST_CHUNK).max(1);
    let (mut less, mut enough) = (0, instructions);
    while less < enough {
        let cost = less.midpoint(enough);
        match places(cost, count).last() {
            Some(end) if *end >= instructions => enough = cost,
            _ => less = cost + 1,
        }
    }
    let ends = places(enough, count);
    let chunk = |pair: &[u64]| {
        let (begin, end) = (pair[0].min(instructions), pair[1].min(instructions));
        let length = end - begin;
        Window { begin, length, warmup: CHUNK_WARMUP, lesson: CHUNK_LESSON }
    };
    ends.windows(2).map(chunk).collect()
}

/// Where so many parts begin, and the last ends, if each costs as much as so many instructions run.
fn places(cost: u64, count: u64) -> Vec<u64> {
    let mut places = vec![0, cost];
    while (places.len() as u64) <= count {
        let begin = places[places.len() - 1];
        let before = CHUNK_WARMUP + CHUNK_LESSON / LESSON_SPEED + begin / TOUCH_SPEED;
        places.push(begin + cost.saturating_sub(before).max(1));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_tile_the_trace() {
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

    #[test]
    fn chunks_cost_the_same_with_what_is_in_front_of_them() {
        let chunks = chunks(400_000_000, 4);
        let cost = |one: &Window| match one.begin {
            0 => one.length,
            begin => one.length + CHUNK_WARMUP + CHUNK_LESSON / LESSON_SPEED + begin / TOUCH_SPEED,
        };
        let costs: Vec<u64> = chunks.iter().map(cost).collect();
        assert!(costs.iter().all(|cost| cost.abs_diff(costs[0]) <= 4), "{costs:?}");
    }
}
