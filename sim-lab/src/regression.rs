//! Regression estimates: counts known for the whole trace correct the counts of windows (Cochran,
//! "Sampling techniques", chapter 7).
//!
//! `n2sim trace regions` counts some events with functional warming, in the whole trace and in each
//! window. A count that correlates with one of them moves by the windows' deviation from the known
//! count. The residuals of the regression line determine its error.
//!
//! A pipeline hardly changes L2 misses and table walks. On the same configuration these known
//! counts are accurate to some percent by themselves ([`TRUSTED`]). That helps where events come in
//! bursts that few windows contain: both estimates are weighted by their variances.

use sim_core::{Counts, PmuEvent};

use crate::estimate::NORMAL_95;
use crate::known_events::{SHARED_EVENTS, known_events};
use crate::regions::windows::{Region, Regions};

/// Events whose known counts are accurate by themselves, each with its standard deviation from the
/// run. The deviations are root mean squares over the nine tuning programs of `docs/regions.md`.
const TRUSTED: [(PmuEvent, f64); 9] = [
    (PmuEvent::L2D_CACHE_RD, 0.026),
    (PmuEvent::L2D_CACHE_WR, 0.012),
    (PmuEvent::L2D_CACHE_REFILL, 0.012),
    (PmuEvent::L2D_CACHE_REFILL_RD, 0.012),
    (PmuEvent::BUS_ACCESS_RD, 0.018),
    (PmuEvent::BUS_ACCESS_WR, 0.021),
    (PmuEvent::LL_CACHE_MISS_RD, 0.024),
    (PmuEvent::DTLB_WALK, 0.005),
    (PmuEvent::L1I_CACHE_REFILL, 0.031),
];
/// Mispredicted branches, which depend only on the order of branches.
const MISPREDICTED: PmuEvent = PmuEvent::BR_MIS_PRED_RETIRED;
/// Events that hardly depend on the contents of caches and predictors.
const PLAIN: [PmuEvent; 2] = [PmuEvent::MEM_ACCESS, PmuEvent::CPU_CYCLES];
/// Standard deviation of windows from exact counts after complete functional warming. All windows
/// share it, so their spread does not include it. Over nine programs it was 3 % at most.
const BIAS: f64 = 0.025;
/// Standard deviation of the known mispredictions from the run. Over nine programs they deviated by
/// 0.1 % at most.
const EXACT: f64 = 0.001;
/// Standard deviation of the part of a count that only functional warming of several threads has,
/// relative to it.
const MOVED: f64 = 0.25;
/// Smallest unexplained fraction of a column that makes it a second regressor.
const OWN: f64 = 0.05;
/// Smallest correlation that is used for a regression.
const LEAST: f64 = 0.3;
/// Correlation of windows of several threads that is used, times the root of their number: smaller
/// ones come by chance.
const CHANCE: f64 = 2.0;

/// Machine that the windows ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Hash of the settings that shape its caches and predictors
    /// ([`MachineConfig::warm_hash`](sim_machine::MachineConfig::warm_hash)).
    pub warm: u64,
    /// Windows started in saved states, not after functional warming.
    pub is_warm: bool,
}

/// Estimate of a rate, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

/// Windows with their shares of the trace and their known counts.
pub(crate) struct RegressionEstimate {
    shares: Vec<f64>,
    lengths: Vec<f64>,
    /// Part of the represented instructions that did not run, by window.
    left_out: Vec<f64>,
    columns: Vec<Column>,
    is_same_machine: bool,
    /// The windows are of several threads: no known count is accurate by itself, and intervals are
    /// those of few windows.
    of_threads: bool,
}

/// One known count.
struct Column {
    event: PmuEvent,
    /// Rate per instruction in the whole trace.
    mean: f64,
    /// Rate per instruction in each window.
    rates: Vec<f64>,
    /// Common relative deviation of the windows.
    bias: f64,
}

impl RegressionEstimate {
    /// Creates the estimator for windows with these counts. Returns `None` if the file has no known
    /// counts, or too few windows for a regression.
    pub(crate) fn new(
        regions: &Regions,
        machine: Machine,
        windows: &[Counts],
    ) -> Option<RegressionEstimate> {
        if regions.known.is_empty() || regions.windows.len() < 3 {
            return None;
        }
        let rate = |(one, found): (&Region, &Counts)| {
            found.raised(MISPREDICTED) as f64 / one.length as f64
        };
        let mispredicted: Vec<f64> = regions.windows.iter().zip(windows).map(rate).collect();
        Some(RegressionEstimate::of(regions, machine, &mispredicted))
    }

    /// Creates the estimator for windows with these rates of mispredicted branches.
    pub(crate) fn of(
        regions: &Regions,
        machine: Machine,
        mispredicted: &[f64],
    ) -> RegressionEstimate {
        let all = regions.instructions as f64;
        let is_same_machine = regions.known_on == Some(crate::regions::hash_text(machine.warm));
        let column = |(n, event): (usize, PmuEvent)| {
            let is_exact = is_same_machine && event == MISPREDICTED;
            let rate = |(one, found): (&Region, &f64)| match is_exact {
                true => *found,
                false => one.known[n] as f64 / one.length as f64,
            };
            let bias = match event {
                _ if is_exact => EXACT,
                _ if PLAIN.contains(&event) || machine.is_warm => 0.0,
                _ => BIAS,
            };
            let rates = regions.windows.iter().zip(mispredicted).map(rate).collect();
            Column { event, mean: regions.known[n] as f64 / all, rates, bias }
        };
        RegressionEstimate {
            shares: regions.windows.iter().map(|one| one.represents as f64 / all).collect(),
            lengths: regions.windows.iter().map(|one| one.length as f64).collect(),
            left_out: regions.windows.iter().map(Region::left_out).collect(),
            columns: known_events(regions.known.len()).enumerate().map(column).collect(),
            is_same_machine,
            of_threads: false,
        }
    }

    /// Makes the estimator one for windows of several threads. Known counts serve for regression
    /// only: they depend on the order of accesses, which functional warming has but roughly.
    pub(crate) fn for_threads(self) -> RegressionEstimate {
        RegressionEstimate { of_threads: true, ..self }
    }

    /// Estimates the rate of an event per instruction from its counts in the windows.
    pub(crate) fn rate(
        &self,
        event: PmuEvent,
        windows: &[Counts],
        of: impl Fn(&Counts) -> u64,
    ) -> Rate {
        let per_instruction = |(one, length): (&Counts, &f64)| of(one) as f64 / length;
        let rates: Vec<f64> = windows.iter().zip(&self.lengths).map(per_instruction).collect();
        self.rate_of(event, &rates)
    }

    /// Estimates the rate of an event from its rates in the windows.
    pub(crate) fn rate_of(&self, event: PmuEvent, rates: &[f64]) -> Rate {
        let found = self.corrected(event, rates);
        Rate { mean: found.mean.max(0.0), ..found }
    }

    fn corrected(&self, event: PmuEvent, rates: &[f64]) -> Rate {
        if self.is_same_machine
            && !self.of_threads
            && let Some((_, trust)) = TRUSTED.iter().find(|(trusted, _)| *trusted == event)
            && let Some(column) = self.columns.iter().find(|column| column.event == event)
        {
            return self.pulled(rates, column, *trust);
        }
        if SHARED_EVENTS.contains(&event)
            && self.is_same_machine
            && let Some(column) = self.columns.iter().find(|column| column.event == event)
        {
            return self.moved(rates, column);
        }
        let lines = self.columns.iter().map(|column| (self.slope(rates, column), column));
        let least =
            if self.of_threads { LEAST.max(CHANCE / (rates.len() as f64).sqrt()) } else { LEAST };
        let lines = lines.filter(|(line, _)| line.correlation.abs() >= least);
        let best = lines.max_by(|a, b| a.0.correlation.abs().total_cmp(&b.0.correlation.abs()));
        let Some((line, column)) = best else {
            return Rate { mean: self.mean(rates), error: self.error(rates, 0) };
        };
        match self.predictions() {
            Some(other) if other.event != column.event => self.between(rates, [column, other]),
            _ => self.along(rates, column, line.slope, 1),
        }
    }

    /// Returns the column of mispredicted branches, if their number is known.
    fn predictions(&self) -> Option<&Column> {
        let column = self.columns.iter().find(|column| column.event == MISPREDICTED);
        column.filter(|_| self.is_same_machine)
    }

    /// Estimates a rate by regression on two columns, or on the first one if they are collinear.
    fn between(&self, rates: &[f64], [first, second]: [&Column; 2]) -> Rate {
        let [a, b] = [first, second].map(|column| self.spread(&column.rates, &column.rates));
        let both = self.spread(&first.rates, &second.rates);
        let [with_a, with_b] = [first, second].map(|column| self.spread(rates, &column.rates));
        let own = a * b - both * both;
        if own <= OWN * a * b {
            return self.along(rates, first, with_a / a, 1);
        }
        let slope = (with_b * a - with_a * both) / own;
        let left: Vec<f64> =
            rates.iter().zip(&second.rates).map(|(rate, other)| rate - slope * other).collect();
        let found = self.along(&left, first, (with_a * b - with_b * both) / own, 2);
        let error = found.error.hypot(slope * second.bias * second.mean);
        Rate { mean: found.mean + slope * second.mean, error }
    }

    /// Returns the covariance of two lists of rates.
    fn spread(&self, ones: &[f64], others: &[f64]) -> f64 {
        let (mean, other_mean) = (self.mean(ones), self.mean(others));
        let pairs = ones.iter().zip(others).zip(&self.shares);
        pairs.map(|((one, other), share)| share * (one - mean) * (other - other_mean)).sum()
    }

    /// Combines a known count with the windows' estimate, weighted by their variances.
    fn pulled(&self, rates: &[f64], column: &Column, trust: f64) -> Rate {
        let found = self.along(rates, column, 1.0, 0);
        let own = (trust * column.mean).powi(2);
        let weight = own / (own + found.error * found.error).max(f64::MIN_POSITIVE);
        let mean = column.mean + weight * (found.mean - column.mean);
        Rate { mean, error: weight.sqrt() * found.error }
    }

    /// Adds what the windows lack of the event's own known count. A part of that is uncertain.
    fn moved(&self, rates: &[f64], column: &Column) -> Rate {
        let found = self.along(rates, column, 1.0, 0);
        let moved = found.mean - self.mean(rates);
        Rate { mean: found.mean, error: found.error.hypot(MOVED * moved) }
    }

    /// Estimates a rate by regression on one column; the residuals determine the error. `fitted`
    /// slopes come from the windows themselves.
    fn along(&self, rates: &[f64], column: &Column, slope: f64, fitted: usize) -> Rate {
        let moved = slope * (column.mean - self.mean(&column.rates));
        let left: Vec<f64> =
            rates.iter().zip(&column.rates).map(|(rate, known)| rate - slope * known).collect();
        let error = self.error(&left, fitted).hypot(column.bias * slope * column.mean);
        Rate { mean: self.mean(rates) + moved, error }
    }

    fn mean(&self, rates: &[f64]) -> f64 {
        rates.iter().zip(&self.shares).map(|(rate, share)| rate * share).sum()
    }

    /// Returns the standard error of a mean. That of several threads, whose windows may be few,
    /// includes Student's factor for the windows that are left beside `fitted` slopes.
    fn error(&self, rates: &[f64], fitted: usize) -> f64 {
        let (mean, n) = (self.mean(rates), rates.len() as f64);
        let weights = self.shares.iter().zip(&self.left_out);
        let part = |(rate, (share, left_out)): (&f64, (&f64, &f64))| {
            (share * (rate - mean)).powi(2) * left_out
        };
        let squares = rates.iter().zip(weights).map(part).sum::<f64>();
        if !self.of_threads {
            return (n / (n - 1.0) * squares).sqrt();
        }
        let free = (n - 1.0 - fitted as f64).max(1.0);
        student(free) * (n / free * squares).sqrt()
    }

    /// Returns the regression line of the rates on a known rate.
    fn slope(&self, rates: &[f64], column: &Column) -> Line {
        let both = self.spread(rates, &column.rates);
        let known = self.spread(&column.rates, &column.rates);
        let own = self.spread(rates, rates);
        match (known * own).sqrt() {
            scale if scale > 1e-24 => Line { slope: both / known, correlation: both / scale },
            _ => Line { slope: 0.0, correlation: 0.0 },
        }
    }
}

/// Returns Student's 95 % point for so many degrees of freedom, in that of the normal distribution:
/// the first two terms of its expansion.
fn student(free: f64) -> f64 {
    let square = NORMAL_95 * NORMAL_95;
    let second = (5.0 * square * square + 16.0 * square + 3.0) / (96.0 * free * free);
    1.0 + (square + 1.0) / (4.0 * free) + second
}

struct Line {
    slope: f64,
    correlation: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known_events::KNOWN_EVENTS;
    use crate::regions::hash_text;
    use sim_core::EventSink;

    /// Windows of ten instructions that represent a trace of 1000, with known counts of one event.
    fn known(event: PmuEvent, all: u64, windows: &[u64]) -> RegressionEstimate {
        known_beside(event, all, windows, &vec![Counts::default(); windows.len()])
    }

    /// Known counts as above, for windows with these counts of their own.
    fn known_beside(
        event: PmuEvent,
        all: u64,
        windows: &[u64],
        found: &[Counts],
    ) -> RegressionEstimate {
        known_on(event, all, windows, found, Machine { warm: 7, is_warm: false })
    }

    fn known_on(
        event: PmuEvent,
        all: u64,
        windows: &[u64],
        found: &[Counts],
        machine: Machine,
    ) -> RegressionEstimate {
        let at = KNOWN_EVENTS.iter().position(|one| *one == event).expect("it is known");
        let counts = |count: u64| {
            let mut counts = vec![0; KNOWN_EVENTS.len()];
            counts[at] = count;
            counts
        };
        let represents = 1000 / windows.len() as u64;
        let region = |count: &u64| Region {
            cluster: 0,
            begin: 0,
            length: 10,
            represents,
            known: counts(*count),
        };
        let regions = Regions {
            trace: String::new(),
            trace_hash: String::new(),
            instructions: 1000,
            warmup: 0,
            functional_warmup: 0,
            known_on: Some(hash_text(7)),
            states: None,
            known: counts(all),
            windows: windows.iter().map(region).collect(),
        };
        RegressionEstimate::new(&regions, machine, found).expect("there is something known")
    }

    /// Returns windows with these counts of an event.
    fn counted(event: PmuEvent, counts: &[u64]) -> Vec<Counts> {
        let count = |n: &u64| {
            let mut counts = Counts::default();
            counts.count(event, *n);
            counts
        };
        counts.iter().map(count).collect()
    }

    fn rate(known: &RegressionEstimate, event: PmuEvent, counts: &[u64]) -> Rate {
        known.rate(event, &counted(event, counts), |one| one.raised(event))
    }

    #[test]
    fn few_windows_have_wider_intervals() {
        // The 95 % points are 2.228 for 10 degrees of freedom and 2.776 for 4.
        assert!((NORMAL_95 * student(10.0) - 2.228).abs() < 0.01);
        assert!((NORMAL_95 * student(4.0) - 2.776).abs() < 0.1);
    }

    #[test]
    fn missing_mispredictions_are_corrected() {
        // The windows lack half of the trace's mispredictions; two operations go with each.
        let found = counted(MISPREDICTED, &[0, 1, 0, 1]);
        let known = known_beside(MISPREDICTED, 100, &[1, 1, 1, 1], &found);
        let itself = rate(&known, MISPREDICTED, &[0, 1, 0, 1]);
        assert!((itself.mean - 0.1).abs() < 1e-12, "{itself:?}");
        assert!((itself.error - EXACT * 0.1).abs() < 1e-9, "{itself:?}");
        let operations = rate(&known, PmuEvent::OP_SPEC, &[10, 12, 10, 12]);
        assert!((operations.mean - 1.2).abs() < 1e-12, "{operations:?}");
    }

    #[test]
    fn mispredictions_are_a_second_regressor() {
        // A refill costs 3 stall cycles, a misprediction 1; the windows have half of the latter.
        let (event, stalls) = (PmuEvent::L1D_CACHE_REFILL, PmuEvent::STALL_BACKEND);
        let found = counted(MISPREDICTED, &[1, 0, 0, 1]);
        let mut known = known_beside(event, 600, &[2, 4, 4, 6], &found);
        let column = known.columns.iter_mut().find(|column| column.event == MISPREDICTED);
        column.expect("it is known").mean = 0.1;
        let found = rate(&known, stalls, &[7, 12, 12, 19]);
        assert!((found.mean - (3.0 * 0.6 + 0.1)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_correlated_count_is_as_accurate_as_the_known_one() {
        // The windows have 4 in ten instructions, the trace 6; three stalls go with each.
        let known = known(PmuEvent::L1D_CACHE_REFILL, 600, &[2, 4, 4, 6]);
        let found = rate(&known, PmuEvent::STALL_BACKEND, &[6, 12, 12, 18]);
        assert!((found.mean - 1.8).abs() < 1e-12, "{found:?}");
        assert!((found.error - BIAS * 1.8).abs() < 1e-9, "no more than the bias: {found:?}");
        let alone = rate(&known, PmuEvent::SW_INCR, &[1, 0, 2, 1]);
        assert!((alone.mean - 0.1).abs() < 1e-12 && alone.error > 0.01, "no line: {alone:?}");
    }

    /// After functional warming all windows may share a deviation; in saved states they do not.
    #[test]
    fn windows_in_saved_states_share_no_deviation() {
        let (event, windows) = (PmuEvent::L1D_CACHE_REFILL, [2, 4, 4, 6]);
        let found = vec![Counts::default(); 4];
        let known = |is_warm| {
            let machine = Machine { warm: 7, is_warm };
            known_on(event, 600, &windows, &found, machine)
        };
        let found = |is_warm| rate(&known(is_warm), PmuEvent::STALL_BACKEND, &[6, 12, 12, 18]);
        assert_eq!(found(true).mean, found(false).mean);
        assert!((found(false).error - BIAS * 1.8).abs() < 1e-9, "{:?}", found(false));
        assert!(found(true).error < 1e-9, "{:?}", found(true));
    }

    #[test]
    fn a_burst_outside_all_windows_counts_on_the_same_machine_only() {
        let event = PmuEvent::DTLB_WALK;
        let mut known = known(event, 100, &[0, 0, 1, 1]);
        let found = rate(&known, event, &[0, 1, 0, 1]);
        assert!((found.mean - 0.1).abs() < 0.01, "{found:?}");
        known.is_same_machine = false;
        let other = rate(&known, event, &[0, 1, 0, 1]);
        assert!((other.mean - 0.05).abs() < 1e-12, "{other:?}");
    }

    #[test]
    fn windows_move_a_known_count_by_their_accuracy() {
        let event = PmuEvent::LL_CACHE_MISS_RD;
        let known = known(event, 300, &[2, 4, 2, 4]);
        // Each window counted one less than functional warming.
        let found = rate(&known, event, &[1, 3, 1, 3]);
        // A standard deviation of 2.5 % of 0.3, against 2.4 % for the known count.
        let trust = 0.024_f64;
        let weight = trust.powi(2) / (trust.powi(2) + BIAS.powi(2));
        assert!((found.mean - (0.3 - 0.1 * weight)).abs() < 1e-9, "{found:?}");
    }
}
