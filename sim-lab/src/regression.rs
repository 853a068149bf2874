//! What is known of the whole trace corrects what windows say of it.
//!
//! `n2sim trace regions` sends the whole trace through a machine without a pipeline and keeps what
//! that counts, in all and in each window. Where a count of the windows goes with one of these
//! counts, it is moved by as much as the windows saw too little or too much of that one (a
//! regression estimate, Cochran, "Sampling techniques", chapter 7); its error is what the line
//! leaves.
//!
//! What leaves the L2 and what walks tables is hardly changed by a pipeline. On the configuration
//! with which they were counted these counts themselves are good to some percent ([`TRUSTED`]),
//! which matters where they come in bursts that few windows meet: the correction counts for as much
//! as it is surer than that.

use sim_core::{Counts, PmuEvent};

use crate::known_events::KNOWN_EVENTS;
use crate::regions::windows::{Region, Regions};

/// Those of them that are good by themselves, and how far they may be from the run, as one standard
/// deviation: the root of the mean square of what they were off by over the nine programs of
/// `docs/regions.md` that it was tuned with.
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
/// Which branches these are follows from their order.
const MISPREDICTED: PmuEvent = PmuEvent::BR_MIS_PRED_RETIRED;
/// Those that do not depend on what caches and predictors hold, or hardly.
const PLAIN: [PmuEvent; 2] = [PmuEvent::MEM_ACCESS, PmuEvent::CPU_CYCLES];
/// How far windows may be from what they would count behind everything in order, as one standard
/// deviation: it is the same in all of them, so that their differences do not tell it. Over nine
/// programs it was 3 % at most.
const BIAS: f64 = 0.025;
/// How far the known number of mispredicted branches may be from the run, as one standard
/// deviation. Over nine programs it was off by 0.1 % at most.
const EXACT: f64 = 0.001;
/// The part of a column that its neighbor must leave unexplained to stand beside it.
const OWN: f64 = 0.05;
/// Correlation from which on a line is drawn.
const LEAST: f64 = 0.3;

/// The machine that windows ran on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What shapes the content of its caches and predictors
    /// ([`MachineConfig::warm_hash`](sim_machine::MachineConfig::warm_hash)).
    pub warm: u64,
    /// Windows began in the states of a file, not behind a lesson.
    pub is_warm: bool,
}

/// An estimate of a rate, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) mean: f64,
    pub(crate) error: f64,
}

/// Windows with their shares of the trace and what is known of them.
pub(crate) struct RegressionEstimate {
    shares: Vec<f64>,
    lengths: Vec<f64>,
    /// The part of what each window stands for that did not run.
    left_out: Vec<f64>,
    columns: Vec<Column>,
    is_same_machine: bool,
}

/// One of the known counts.
struct Column {
    event: PmuEvent,
    /// How often it happened per instruction of the trace.
    mean: f64,
    /// The same for each window.
    rates: Vec<f64>,
    /// How far windows may be from that in common, as a part of it.
    bias: f64,
}

impl RegressionEstimate {
    /// What the file knows, for windows that counted this on a machine of this configuration; none
    /// if it knows nothing or has too few windows to draw a line.
    pub(crate) fn new(
        regions: &Regions,
        machine: Machine,
        windows: &[Counts],
    ) -> Option<RegressionEstimate> {
        let all = regions.instructions as f64;
        if regions.known.is_empty() || regions.windows.len() < 3 {
            return None;
        }
        let is_same_machine = regions.known_on == Some(crate::regions::hash_text(machine.warm));
        let column = |(n, event): (usize, PmuEvent)| {
            let is_exact = is_same_machine && event == MISPREDICTED;
            let count = |(one, found): (&Region, &Counts)| {
                let count = if is_exact { found.raised(event) } else { one.known[n] };
                count as f64 / one.length as f64
            };
            let bias = match event {
                _ if is_exact => EXACT,
                _ if PLAIN.contains(&event) || machine.is_warm => 0.0,
                _ => BIAS,
            };
            let rates = regions.windows.iter().zip(windows).map(count).collect();
            Column { event, mean: regions.known[n] as f64 / all, rates, bias }
        };
        Some(RegressionEstimate {
            shares: regions.windows.iter().map(|one| one.represents as f64 / all).collect(),
            lengths: regions.windows.iter().map(|one| one.length as f64).collect(),
            left_out: regions.windows.iter().map(Region::left_out).collect(),
            columns: KNOWN_EVENTS.into_iter().enumerate().map(column).collect(),
            is_same_machine,
        })
    }

    /// How often an event happens per instruction, by what the windows counted of it.
    pub(crate) fn rate(
        &self,
        event: PmuEvent,
        windows: &[Counts],
        of: impl Fn(&Counts) -> u64,
    ) -> Rate {
        let per_instruction = |(one, length): (&Counts, &f64)| of(one) as f64 / length;
        let rates: Vec<f64> = windows.iter().zip(&self.lengths).map(per_instruction).collect();
        let found = self.corrected(event, &rates);
        Rate { mean: found.mean.max(0.0), ..found }
    }

    fn corrected(&self, event: PmuEvent, rates: &[f64]) -> Rate {
        if self.is_same_machine
            && let Some((_, trust)) = TRUSTED.iter().find(|(trusted, _)| *trusted == event)
            && let Some(column) = self.columns.iter().find(|column| column.event == event)
        {
            return self.pulled(rates, column, *trust);
        }
        let lines = self.columns.iter().map(|column| (self.slope(rates, column), column));
        let lines = lines.filter(|(line, _)| line.correlation.abs() >= LEAST);
        let best = lines.max_by(|a, b| a.0.correlation.abs().total_cmp(&b.0.correlation.abs()));
        let Some((line, column)) = best else {
            return Rate { mean: self.mean(rates), error: self.error(rates) };
        };
        match self.predictions() {
            Some(other) if other.event != column.event => self.between(rates, [column, other]),
            _ => self.along(rates, column, line.slope),
        }
    }

    /// The mispredicted branches, where their number is known.
    fn predictions(&self) -> Option<&Column> {
        let column = self.columns.iter().find(|column| column.event == MISPREDICTED);
        column.filter(|_| self.is_same_machine)
    }

    /// Rates moved along the plane through the windows over two columns, or along the line over the
    /// first if the second says the same.
    fn between(&self, rates: &[f64], [first, second]: [&Column; 2]) -> Rate {
        let [a, b] = [first, second].map(|column| self.spread(&column.rates, &column.rates));
        let both = self.spread(&first.rates, &second.rates);
        let [with_a, with_b] = [first, second].map(|column| self.spread(rates, &column.rates));
        let own = a * b - both * both;
        if own <= OWN * a * b {
            return self.along(rates, first, with_a / a);
        }
        let slope = (with_b * a - with_a * both) / own;
        let left: Vec<f64> =
            rates.iter().zip(&second.rates).map(|(rate, other)| rate - slope * other).collect();
        let found = self.along(&left, first, (with_a * b - with_b * both) / own);
        let error = found.error.hypot(slope * second.bias * second.mean);
        Rate { mean: found.mean + slope * second.mean, error }
    }

    /// How two lists of rates vary together.
    fn spread(&self, ones: &[f64], others: &[f64]) -> f64 {
        let (mean, other_mean) = (self.mean(ones), self.mean(others));
        let pairs = ones.iter().zip(others).zip(&self.shares);
        pairs.map(|((one, other), share)| share * (one - mean) * (other - other_mean)).sum()
    }

    /// The known count itself, moved towards what the windows say of it by how sure they are.
    fn pulled(&self, rates: &[f64], column: &Column, trust: f64) -> Rate {
        let found = self.along(rates, column, 1.0);
        let own = (trust * column.mean).powi(2);
        let weight = own / (own + found.error * found.error).max(f64::MIN_POSITIVE);
        let mean = column.mean + weight * (found.mean - column.mean);
        Rate { mean, error: weight.sqrt() * found.error }
    }

    /// The mean moved along a line, and what the line leaves.
    fn along(&self, rates: &[f64], column: &Column, slope: f64) -> Rate {
        let moved = slope * (column.mean - self.mean(&column.rates));
        let left: Vec<f64> =
            rates.iter().zip(&column.rates).map(|(rate, known)| rate - slope * known).collect();
        let error = self.error(&left).hypot(column.bias * slope * column.mean);
        Rate { mean: self.mean(rates) + moved, error }
    }

    fn mean(&self, rates: &[f64]) -> f64 {
        rates.iter().zip(&self.shares).map(|(rate, share)| rate * share).sum()
    }

    /// Standard error of a mean.
    fn error(&self, rates: &[f64]) -> f64 {
        let (mean, n) = (self.mean(rates), rates.len() as f64);
        let weights = self.shares.iter().zip(&self.left_out);
        let part = |(rate, (share, left_out)): (&f64, (&f64, &f64))| {
            (share * (rate - mean)).powi(2) * left_out
        };
        (n / (n - 1.0) * rates.iter().zip(weights).map(part).sum::<f64>()).sqrt()
    }

    /// The line through the windows, rate over known rate.
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

struct Line {
    slope: f64,
    correlation: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regions::hash_text;
    use sim_core::EventSink;

    /// Windows of ten instructions that stand for all of a trace of 1000, of which the machine
    /// without a pipeline counted this event so often: in all, and in each window.
    fn known(event: PmuEvent, all: u64, windows: &[u64]) -> RegressionEstimate {
        known_beside(event, all, windows, &vec![Counts::default(); windows.len()])
    }

    /// The same, for windows that counted this themselves.
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

    /// Windows that counted an event so often.
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
    fn a_predictor_that_saw_too_little_is_made_up_for() {
        // Half of the mispredictions of the trace are missing in the windows; two operations go
        // with each.
        let found = counted(MISPREDICTED, &[0, 1, 0, 1]);
        let known = known_beside(MISPREDICTED, 100, &[1, 1, 1, 1], &found);
        let itself = rate(&known, MISPREDICTED, &[0, 1, 0, 1]);
        assert!((itself.mean - 0.1).abs() < 1e-12, "{itself:?}");
        assert!((itself.error - EXACT * 0.1).abs() < 1e-9, "{itself:?}");
        let operations = rate(&known, PmuEvent::OP_SPEC, &[10, 12, 10, 12]);
        assert!((operations.mean - 1.2).abs() < 1e-12, "{operations:?}");
    }

    #[test]
    fn mispredictions_count_beside_what_goes_best() {
        // A refill is worth 3 cycles of stalls, a misprediction 1, of which the windows saw half.
        let (event, stalls) = (PmuEvent::L1D_CACHE_REFILL, PmuEvent::STALL_BACKEND);
        let found = counted(MISPREDICTED, &[1, 0, 0, 1]);
        let mut known = known_beside(event, 600, &[2, 4, 4, 6], &found);
        let column = known.columns.iter_mut().find(|column| column.event == MISPREDICTED);
        column.expect("it is known").mean = 0.1;
        let told = rate(&known, stalls, &[7, 12, 12, 19]);
        assert!((told.mean - (3.0 * 0.6 + 0.1)).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn what_goes_with_a_known_count_is_as_right_as_that() {
        // The windows saw 4 in ten instructions, the trace has 6; three stalls go with each.
        let known = known(PmuEvent::L1D_CACHE_REFILL, 600, &[2, 4, 4, 6]);
        let found = rate(&known, PmuEvent::STALL_BACKEND, &[6, 12, 12, 18]);
        assert!((found.mean - 1.8).abs() < 1e-12, "{found:?}");
        assert!((found.error - BIAS * 1.8).abs() < 1e-9, "no more than the bias: {found:?}");
        let alone = rate(&known, PmuEvent::SW_INCR, &[1, 0, 2, 1]);
        assert!((alone.mean - 0.1).abs() < 1e-12 && alone.error > 0.01, "no line: {alone:?}");
    }

    /// Behind a lesson all windows may lack the same; in their states they do not.
    #[test]
    fn windows_in_their_states_have_nothing_wrong_in_common() {
        let (event, windows) = (PmuEvent::L1D_CACHE_REFILL, [2, 4, 4, 6]);
        let found = vec![Counts::default(); 4];
        let known = |is_warm| {
            let machine = Machine { warm: 7, is_warm };
            known_on(event, 600, &windows, &found, machine)
        };
        let told = |is_warm| rate(&known(is_warm), PmuEvent::STALL_BACKEND, &[6, 12, 12, 18]);
        assert_eq!(told(true).mean, told(false).mean);
        assert!((told(false).error - BIAS * 1.8).abs() < 1e-9, "{:?}", told(false));
        assert!(told(true).error < 1e-9, "{:?}", told(true));
    }

    #[test]
    fn a_burst_that_no_window_met_is_counted_on_the_same_machine_only() {
        let event = PmuEvent::DTLB_WALK;
        let mut known = known(event, 100, &[0, 0, 1, 1]);
        let found = rate(&known, event, &[0, 1, 0, 1]);
        assert!((found.mean - 0.1).abs() < 0.01, "{found:?}");
        known.is_same_machine = false;
        let other = rate(&known, event, &[0, 1, 0, 1]);
        assert!((other.mean - 0.05).abs() < 1e-12, "{other:?}");
    }

    #[test]
    fn windows_that_agree_move_a_known_count_by_how_sure_they_are() {
        let event = PmuEvent::LL_CACHE_MISS_RD;
        let known = known(event, 300, &[2, 4, 2, 4]);
        // Each window counted one less than the machine without a pipeline.
        let found = rate(&known, event, &[1, 3, 1, 3]);
        // Sure to 2.5 % of 0.3, against 2.4 % of 0.3 for the known count.
        let trust = 0.024_f64;
        let weight = trust.powi(2) / (trust.powi(2) + BIAS.powi(2));
        assert!((found.mean - (0.3 - 0.1 * weight)).abs() < 1e-9, "{found:?}");
    }
}
