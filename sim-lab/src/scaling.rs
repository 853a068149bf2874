//! Time of a program of several threads over the number of cores that they share, and what the
//! cores do in it.

use sim_core::{Cycle, PmuEvent};
use sim_machine::{Outcome, Waits};

/// A run on some number of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalingRow {
    /// Number of cores.
    pub cores: usize,
    /// Cycles from the beginning of the run to the end of its last thread.
    pub cycles: Cycle,
    /// Cycles in which threads were on cores, and did not wait there for other threads.
    pub busy: u64,
    /// Cycles in which threads waited on their cores for other threads.
    pub waiting: u64,
    /// Cycles in which threads could have run but had no core, in sum.
    pub queued: u64,
    /// Times that a core got another thread.
    pub switches: u64,
    /// Cycles of these switches.
    pub switching: u64,
    /// Times that a thread continued on another core than before.
    pub migrations: u64,
}

impl ScalingRow {
    /// Returns the row of a run on `cores` cores, of which every instruction was counted.
    pub fn of(cores: usize, outcome: &Outcome) -> ScalingRow {
        let sum =
            |of: fn(&Waits) -> u64| outcome.cores.iter().map(|one| of(&one.waits)).sum::<u64>();
        let waiting = sum(|waits| waits.on_core);
        let on_cores = outcome.total().value(PmuEvent::CPU_CYCLES);
        ScalingRow {
            cores,
            cycles: outcome.cores.iter().map(|one| one.waits.end).max().unwrap_or(0),
            busy: on_cores.saturating_sub(waiting),
            waiting,
            queued: sum(|waits| waits.queued),
            switches: sum(|waits| waits.switches),
            switching: sum(|waits| waits.switching),
            migrations: sum(|waits| waits.migrations),
        }
    }
}

/// Parts of the time of all cores. They add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreTime {
    /// The cycles that the threads need on the smallest number of cores.
    pub work: f64,
    /// Further cycles of the same instructions: lines that come from other cores, requests that
    /// wait for one another. Negative if they need fewer cycles, as with more cache.
    pub slower: f64,
    /// Waits for other threads on a core.
    pub waiting: f64,
    /// The core changes its thread.
    pub switching: f64,
    /// No thread is on the core.
    pub idle: f64,
}

/// Runs of one program, on ascending numbers of cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaling {
    /// The runs. The first is the one that others are compared with.
    pub rows: Vec<ScalingRow>,
}

impl Scaling {
    /// Returns how many times faster a run is than the first one.
    pub fn speed_up(&self, row: &ScalingRow) -> f64 {
        self.rows.first().map_or(1.0, |first| first.cycles as f64 / row.cycles.max(1) as f64)
    }

    /// Returns the speed-up of a run as a part of what its cores could reach at most.
    pub fn efficiency(&self, row: &ScalingRow) -> f64 {
        let cores = self.rows.first().map_or(1, |first| first.cores);
        self.speed_up(row) * cores as f64 / row.cores.max(1) as f64
    }

    /// Returns what the cores of a run do in its time.
    pub fn core_time(&self, row: &ScalingRow) -> CoreTime {
        let all = (row.cores as f64 * row.cycles as f64).max(1.0);
        let work = self.rows.first().map_or(0, |first| first.busy) as f64;
        let (busy, waiting) = (row.busy as f64, row.waiting as f64);
        let switching = row.switching as f64;
        CoreTime {
            work: work / all,
            slower: (busy - work) / all,
            waiting: waiting / all,
            switching: switching / all,
            idle: 1.0 - (busy + waiting + switching) / all,
        }
    }
}

/// Returns the numbers of cores for a scaling curve of this many threads: 1, 2, 4 and so on, and
/// as many as threads.
pub fn numbers_of_cores(threads: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1_usize), |cores| cores.checked_mul(2));
    doubled.take_while(|cores| *cores < threads).chain([threads]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{Counts, EventSink, Packed};
    use sim_machine::CoreOutcome;

    fn thread(cycles: u64, waits: Waits) -> CoreOutcome {
        let mut counts = Counts::default();
        counts.count(PmuEvent::CPU_CYCLES, cycles);
        CoreOutcome { counts: Packed::from(&counts), waits, ..CoreOutcome::default() }
    }

    #[test]
    fn the_parts_of_the_time_add_up() {
        // Two threads of 1000 cycles: one after the other on one core; side by side on two, 100
        // cycles slower each, and one of them waits for 200 cycles on its core.
        let one = Outcome {
            cores: vec![
                thread(1000, Waits { end: 1000, ..Waits::default() }),
                thread(
                    1000,
                    Waits {
                        queued: 1050,
                        switching: 50,
                        switches: 1,
                        end: 2050,
                        ..Waits::default()
                    },
                ),
            ],
            ..Outcome::default()
        };
        let two = Outcome {
            cores: vec![
                thread(1100, Waits { end: 1100, ..Waits::default() }),
                thread(1300, Waits { on_core: 200, end: 1300, ..Waits::default() }),
            ],
            ..Outcome::default()
        };
        let rows = vec![ScalingRow::of(1, &one), ScalingRow::of(2, &two)];
        let scaling = Scaling { rows };
        let [first, second] = [&scaling.rows[0], &scaling.rows[1]];
        assert_eq!((first.cycles, first.busy, first.queued), (2050, 2000, 1050));
        assert!((scaling.core_time(first).switching - 50.0 / 2050.0).abs() < 1e-12);
        assert_eq!((second.cycles, second.busy, second.waiting), (1300, 2200, 200));
        assert_eq!((scaling.speed_up(first), scaling.efficiency(first)), (1.0, 1.0));
        assert!((scaling.speed_up(second) - 2050.0 / 1300.0).abs() < 1e-12);
        assert!((scaling.efficiency(second) - 1025.0 / 1300.0).abs() < 1e-12);
        let CoreTime { work, slower, waiting, switching, idle } = scaling.core_time(second);
        let close = |part: f64, cycles: f64| (part - cycles / 2600.0).abs() < 1e-12;
        assert!(close(work, 2000.0) && close(slower, 200.0), "{work} {slower}");
        assert!(close(waiting, 200.0) && close(idle, 200.0), "{waiting} {idle}");
        assert_eq!(switching, 0.0);
    }

    #[test]
    fn cores_double_up_to_the_number_of_threads() {
        assert_eq!(numbers_of_cores(1), [1]);
        assert_eq!(numbers_of_cores(4), [1, 2, 4]);
        assert_eq!(numbers_of_cores(12), [1, 2, 4, 8, 12]);
    }
}
