//! Estimates the counts of a run of all threads from windows at random places of it
//! ([`Session::run_samples`]), with confidence intervals.
//!
//! The run is cut into stretches, and each has one window at a random place (stratified sampling:
//! Cochran, "Sampling techniques", chapter 5). A thread's counts in the windows of some stretches
//! represent its instructions there (a ratio estimate, chapter 6). What a thread waits for others
//! on its core takes no instructions: functional warming has it in time, so it is not scaled.

use crate::estimate::{self, Estimate, NORMAL_95};
use crate::regression::TRUSTED;
use crate::sampled_waits::Waiting;
use sim_core::pmu_event::{COUNT, RelationKind};
use sim_core::{Counts, PmuEvent};
use sim_machine::{CoreOutcome, MachineError, Outcome, Samples, Session, Stretch, ThreadStretch};

/// Fewest instructions of a thread in the windows that represent it.
const LEAST: u64 = 500;
/// Relative standard error of the counts of a thread that ran in no window.
const UNSEEN: f64 = 0.5;

/// Further events that functional warming counts, with a standard deviation that is taken for all
/// of them. The length of its wrong paths, and the order of its turns, change them by some percent.
const NEARLY: [PmuEvent; 16] = [
    PmuEvent::BUS_ACCESS,
    PmuEvent::L1D_CACHE_REFILL_RD,
    PmuEvent::L1D_CACHE_REFILL_WR,
    PmuEvent::L1D_CACHE_REFILL_INNER,
    PmuEvent::L1D_CACHE_REFILL_OUTER,
    PmuEvent::L1D_CACHE_WB_VICTIM,
    PmuEvent::L1D_CACHE_WR,
    PmuEvent::L1D_TLB_REFILL_RD,
    PmuEvent::L1D_TLB_REFILL_WR,
    PmuEvent::L2D_CACHE_WB_VICTIM,
    PmuEvent::L2D_CACHE_WB_CLEAN,
    PmuEvent::L2D_TLB_RD,
    PmuEvent::L2D_TLB_WR,
    PmuEvent::L2D_TLB_REFILL_RD,
    PmuEvent::L2D_TLB_REFILL_WR,
    PmuEvent::LL_CACHE_RD,
];
/// Smallest correlation with mispredicted branches that corrects a count.
const LEAST_CORRELATION: f64 = 0.3;
/// Largest part of the mispredicted branches that windows may have too few or too many of.
const MOST_MISSING: f64 = 0.25;
/// Ratio of counts from which windows are taken to see what functional warming cannot.
const CONTENDED: f64 = 1.25;

/// Relative standard deviation of the counts of [`NEARLY`].
const NEAR: f64 = 0.05;

/// Mispredicted branches, which follow from program order, with the standard deviation of
/// functional warming's count.
const MISPREDICTED: (PmuEvent, f64) = (PmuEvent::BR_MIS_PRED_RETIRED, 0.001);

/// Standard errors between two counts that contradict each other.
const FAR: f64 = 3.0;

/// Choice of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleOptions {
    /// Number of windows.
    pub windows: u32,
    /// Length of a window in instructions of all threads together; by default a twentieth of its
    /// stretch.
    pub length: Option<u64>,
    /// Number of uncounted instructions before each window; by default as many as in the window.
    pub warmup: Option<u64>,
    /// Seed of the places of the windows.
    pub seed: u64,
}

impl Default for SampleOptions {
    fn default() -> SampleOptions {
        SampleOptions { windows: 100, length: None, warmup: None, seed: 1 }
    }
}

/// Instructions of the shortest window of one thread by default.
const SHORTEST: u64 = 1000;
/// A window by default is this part of its stretch.
const PART: u64 = 20;

impl SampleOptions {
    /// Chooses the windows of a trace of `threads` threads. A trace that is too short for windows
    /// gets one over everything.
    pub fn stretches(&self, instructions: u64, threads: u64) -> Vec<Stretch> {
        let shortest = SHORTEST * threads.max(1);
        let windows = u64::from(self.windows.max(1));
        let length = self.length.unwrap_or((instructions / windows / PART).max(shortest)).max(1);
        let warmup = self.warmup.unwrap_or(length);
        let room = (length + warmup).saturating_mul(2);
        let count = windows.min(instructions / room);
        if count < FEWEST {
            let whole = Stretch { begin: 0, window: 0, length: instructions, warmup: 0 };
            return vec![whole];
        }
        let place = |number: u64| {
            (u128::from(instructions) * u128::from(number) / u128::from(count)) as u64
        };
        let mut random = SplitMix(self.seed);
        let stretch = |number: u64| {
            let (begin, end) = (place(number), place(number + 1));
            let window = begin + random.below(end - begin - length + 1);
            Stretch { begin, window, length, warmup }
        };
        (0..count).map(stretch).collect()
    }
}

/// Fewest windows of an estimate.
const FEWEST: u64 = 10;

/// Random numbers for the places of windows (Steele and others, "Fast splittable pseudorandom
/// number generators", 2014).
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (u128::from(z) * u128::from(end) >> 64) as u64
    }
}

/// Runs the trace with these windows and estimates the counts of the whole run.
///
/// # Errors
/// As [`Session::run_samples`].
pub fn run_sampled(
    session: &Session,
    stretches: &[Stretch],
    progress: &mut dyn FnMut(u64),
) -> Result<Estimate, MachineError> {
    let samples = session.run_samples(stretches, progress)?;
    let core = &session.config().core;
    let ticks = core.counter_hz as f64 / core.clock_hz.max(1) as f64;
    Ok(estimate_of(&samples, ticks))
}

/// Windows of one thread that represent its instructions in some consecutive stretches.
struct Group {
    stretches: std::ops::Range<usize>,
    instructions: u64,
    counted: u64,
}

impl Group {
    fn weight(&self) -> f64 {
        self.instructions as f64 / self.counted as f64
    }
}

/// Divides the stretches of a thread into groups that have windows enough. Returns no group if the
/// thread ran in no window.
fn groups(parts: &[&ThreadStretch]) -> Vec<Group> {
    let all: u64 = parts.iter().map(|part| part.instructions).sum();
    let counted: u64 = parts.iter().map(|part| part.counted).sum();
    let usual = counted as f64 / all.max(1) as f64;
    let mut groups: Vec<Group> = Vec::new();
    let mut open = Group { stretches: 0..0, instructions: 0, counted: 0 };
    for (number, part) in parts.iter().enumerate() {
        open.stretches.end = number + 1;
        open.instructions += part.instructions;
        open.counted += part.counted;
        let is_whole = open.counted == open.instructions;
        let is_usual = open.counted as f64 >= usual * open.instructions as f64 / 2.0;
        if open.counted > 0 && (is_whole || open.counted >= LEAST && is_usual) {
            groups.push(open);
            open = Group { stretches: number + 1..number + 1, instructions: 0, counted: 0 };
        }
    }
    match groups.last_mut() {
        Some(last) => {
            last.stretches.end = open.stretches.end;
            last.instructions += open.instructions;
            last.counted += open.counted;
        }
        None if open.counted > 0 => groups.push(open),
        None => {}
    }
    groups
}

/// One window of a thread, without waits for other threads.
struct Rate {
    stretch: usize,
    counted: f64,
    weight: f64,
    values: Box<[f64]>,
}

/// Estimates the counts of a run. `ticks` is the number of ticks of the system counter in a cycle.
fn estimate_of(samples: &Samples, ticks: f64) -> Estimate {
    let mut outcome = samples.run.clone();
    let mut sums = Sums::new(samples.stretches.len());
    let mut unseen = Vec::new();
    for (number, core) in outcome.cores.iter_mut().enumerate() {
        let parts: Vec<&ThreadStretch> =
            samples.stretches.iter().map(|stretch| &stretch[number]).collect();
        let groups = groups(&parts);
        if groups.is_empty() && core.instructions > 0 {
            unseen.push(number);
        }
        let mut waited = core.waits.on_core;
        let mut rates = Vec::new();
        for group in &groups {
            let mut sum = CoreOutcome::default();
            for stretch in group.stretches.clone() {
                let Some(window) = &parts[stretch].window else { continue };
                let (rest, _) = Waiting::split(window, ticks);
                let on_core = window.waits.on_core;
                rates.push(Rate {
                    stretch,
                    counted: parts[stretch].counted as f64,
                    weight: group.weight(),
                    values: values(&rest.counts.unpack(), on_core),
                });
                waited = waited.saturating_sub(on_core);
                sum.waits.on_core += on_core;
                estimate::add(&mut sum, window.clone());
            }
            let (mut rest, waits) = Waiting::split(&sum, ticks);
            estimate::scale(&mut rest, group.weight());
            estimate::add(core, rest);
            waits.add_to(core);
        }
        sums.add(&rates);
        sums.unseen_waits.push(waited as f64);
        sums.ends.push(core.waits.end as f64);
        core.is_counted = true;
    }
    let unknown = unseen.len();
    let unseen = represent(&unseen, &mut outcome.cores);
    let waits = sums.waits(outcome.total().value(PmuEvent::CPU_CYCLES) as f64);
    for (core, cycles) in outcome.cores.iter_mut().zip(&sums.unseen_waits) {
        let cycles_left = (cycles * waits.factor).round() as u64;
        Waiting::new(cycles_left, ticks).add_to(core);
        core.waits.on_core = core.waits.on_core - *cycles as u64 + cycles_left;
    }
    let known = samples.known.iter().map(|core| core.raised(MISPREDICTED.0)).sum();
    let is_corrected = sums.correct(&mut outcome, known);
    let total = outcome.total();
    let mut errors = sums.errors(&total, &unseen, waits.error, ticks);
    if is_corrected {
        errors[MISPREDICTED.0 as usize] = 100.0 * NORMAL_95 * MISPREDICTED.1;
    }
    pull(&mut outcome, &samples.known, &total, &mut errors);
    outcome.header.contended_exclusives = outcome.memory().contended_exclusives;
    outcome.note_order();
    Estimate { outcome, errors, unknown }
}

/// Brings the events that functional warming counts well nearer to its counts, each by how sure
/// both are, and reduces their errors.
///
/// Functional warming counts too few of the lines that threads take from each other, because its
/// turns are long. So the windows alone decide where they count far more. Where they count fewer,
/// they missed a burst, of which their spread knows nothing.
fn pull(outcome: &mut Outcome, known: &[Counts], total: &Counts, errors: &mut [f64]) {
    let mut all = Counts::default();
    known.iter().for_each(|core| all.add(core));
    let mut weights = [1.0; COUNT];
    let nearly = NEARLY.into_iter().map(|event| (event, NEAR));
    for (event, trust) in TRUSTED.into_iter().chain([MISPREDICTED]).chain(nearly) {
        let (known, found) = (all.raised(event) as f64, total.raised(event) as f64);
        let whole = total.value(event) as f64;
        let error = errors[event as usize] / 100.0 / NORMAL_95 * whole;
        let own = trust * known;
        let difference = known - found;
        let is_contended = found > CONTENDED * known && difference < -FAR * own.hypot(error);
        // A count that is the same in all windows is known, unless they have none of it.
        if is_contended || error == 0.0 && found > 0.0 {
            continue;
        }
        let error = error.max(difference);
        let weight = own.powi(2) / (own.powi(2) + error.powi(2));
        let mean = known + weight * (found - known);
        if mean > 0.0 {
            weights[event as usize] = weight;
            let whole = whole + mean - found;
            errors[event as usize] = 100.0 * NORMAL_95 * weight.sqrt() * error / whole;
        }
    }
    for (core, known) in outcome.cores.iter_mut().zip(known) {
        pull_core(core, known, &weights);
    }
    let total = outcome.total();
    for event in PmuEvent::ALL {
        if let Some(error) = error_of_parts(event, &weights, &total, errors)
            && total.value(event) > 0
        {
            errors[event as usize] = error / total.value(event) as f64;
        }
    }
}

/// Gives the windows of a core these weights, and the rest to its known counts.
fn pull_core(core: &mut CoreOutcome, known: &Counts, weights: &[f64]) {
    let found = core.counts.unpack();
    let wanted = |event: PmuEvent| {
        let (known, found) = (known.raised(event) as f64, found.raised(event) as f64);
        known + weights[event as usize] * (found - known)
    };
    core.change_counts(|counts| {
        *counts = counts.map_events(|event, count| match found.raised(event) {
            0 => 0,
            _ if weights[event as usize] == 1.0 => count,
            all => (count as f64 * wanted(event) / all as f64).round() as u64,
        });
    });
    // What no window has counted belongs to no level yet.
    let missing = |event: PmuEvent, count: u64| {
        let is_known = weights[event as usize] < 1.0 && count == 0;
        if is_known { wanted(event).round() as u64 } else { 0 }
    };
    Waiting::of_counts(found.map_events(missing)).add_to(core);
}

/// Returns a bound of the error of a sum or of an alias of events that were changed; `None` for
/// others. Errors are percents of the counts, and the bound is percents times the count.
fn error_of_parts(
    event: PmuEvent,
    weights: &[f64],
    total: &Counts,
    errors: &[f64],
) -> Option<f64> {
    let kinds = [RelationKind::AliasOf, RelationKind::SumOf, RelationKind::ImpliedSumOf];
    let parts = kinds.into_iter().find_map(|kind| event.relation(kind))?;
    let own = |part: PmuEvent| errors[part as usize] * total.value(part) as f64;
    let changed = |part: &PmuEvent| {
        let is_changed = weights[*part as usize] < 1.0;
        error_of_parts(*part, weights, total, errors).or(is_changed.then(|| own(*part)))
    };
    let all: Vec<Option<f64>> = parts.iter().map(changed).collect();
    let any = all.iter().any(Option::is_some);
    let of_parts = parts.iter().zip(all).map(|(part, error)| error.unwrap_or_else(|| own(*part)));
    // What a sum has outside of its parts.
    let rest = 100.0 * NORMAL_95 * NEAR * total.raised(event) as f64;
    let sum = of_parts.sum::<f64>() + rest;
    any.then_some(sum)
}

/// Gives threads without a window the counts of all others by instruction. Returns these counts.
fn represent(unseen: &[usize], cores: &mut [CoreOutcome]) -> Counts {
    let mut all = CoreOutcome::default();
    let mut instructions = 0;
    for (number, core) in cores.iter().enumerate() {
        if !unseen.contains(&number) {
            instructions += core.instructions;
            estimate::add(&mut all, core.clone());
        }
    }
    let mut given = Counts::default();
    for number in unseen {
        let core = &mut cores[*number];
        let mut share = all.clone();
        estimate::scale(&mut share, core.instructions as f64 / instructions.max(1) as f64);
        given.add(&share.counts.unpack());
        estimate::add(core, share);
    }
    given
}

/// Returns the values of all events, and the cycles of waits on the core.
fn values(counts: &Counts, waited: u64) -> Box<[f64]> {
    let values = PmuEvent::ALL.into_iter().map(|event| counts.value(event));
    values.chain([waited]).map(|value| value as f64).collect()
}

/// Number of values of a window: the events, and the cycles of waits on the core.
const VALUES: usize = COUNT + 1;
/// Place of the cycles of waits among the values.
const WAITED: usize = COUNT;

/// Distances of windows from those around them, over all threads.
struct Sums {
    /// For each stretch, the distances of its window by value.
    off: Vec<Option<Box<[f64]>>>,
    /// Cycles of waits that the windows have by themselves, and scaled.
    seen_waits: (f64, f64),
    /// Number of windows of threads with waits.
    with_waits: f64,
    /// For each thread, the cycles of waits that no window has.
    unseen_waits: Vec<f64>,
    /// For each thread, its last cycle.
    ends: Vec<f64>,
}

/// Waits that no window has: the part of those in functional warming that counts, and the standard
/// error of their cycles.
struct UnseenWaits {
    factor: f64,
    error: f64,
}

impl Sums {
    fn new(stretches: usize) -> Sums {
        Sums {
            off: vec![None; stretches],
            seen_waits: (0.0, 0.0),
            with_waits: 0.0,
            unseen_waits: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Estimates the waits in two ways, each weighted by its variance: the modeled time of
    /// functional warming, and the waits in windows, scaled. Windows know short waits well and
    /// long ones badly, with functional warming it is the other way round. Each error is at least
    /// as large as what the other way suggests. `cycles` is the number of cycles without them.
    fn waits(&self, cycles: f64) -> UnseenWaits {
        let unseen: f64 = self.unseen_waits.iter().sum();
        let (seen, scaled) = self.seen_waits;
        let modeled = seen + unseen;
        let pace = self.spread(PmuEvent::CPU_CYCLES as usize) / cycles.max(1.0);
        let ends = self.unseen_waits.iter().zip(&self.ends);
        let off: f64 = ends.map(|(waited, end)| waited.min(pace * end)).sum();
        let by_time = off.max((modeled - scaled).abs());
        let by_windows =
            self.spread(WAITED).max(modeled.max(scaled) / (1.0 + self.with_waits).sqrt());
        let both = by_time.hypot(by_windows);
        if unseen == 0.0 || both == 0.0 {
            return UnseenWaits { factor: 1.0, error: 0.0 };
        }
        let mean = scaled + (by_windows / both).powi(2) * (modeled - scaled);
        let factor = ((mean - seen) / unseen).max(0.0);
        UnseenWaits { factor, error: by_time * by_windows / both }
    }

    /// Returns the standard error of a value in all stretches together.
    fn spread(&self, value: usize) -> f64 {
        self.product(value, value).sqrt()
    }

    /// Returns the covariance of two values in all stretches together.
    fn product(&self, one: usize, other: usize) -> f64 {
        self.off.iter().flatten().map(|off| off[one] * off[other]).sum()
    }

    /// Corrects the counts that go with mispredicted branches, of which `known` is the number in the
    /// run, and takes from the distances of the windows what mispredictions explain (a regression
    /// estimate: Cochran, chapter 7). Returns false if windows and run differ too much for that.
    fn correct(&mut self, outcome: &mut Outcome, known: u64) -> bool {
        let mispredicted = MISPREDICTED.0 as usize;
        let own = self.product(mispredicted, mispredicted);
        let total = outcome.total();
        let missing = known as f64 - total.raised(MISPREDICTED.0) as f64;
        if known == 0 || own <= 0.0 || missing.abs() > MOST_MISSING * known as f64 {
            return false;
        }
        let slopes: Vec<f64> = (0..COUNT)
            .map(|value| {
                let both = self.product(value, mispredicted);
                let correlation = both / (own * self.product(value, value)).sqrt();
                if correlation.abs() >= LEAST_CORRELATION { both / own } else { 0.0 }
            })
            .collect();
        let factor = |event: PmuEvent| match total.value(event) as f64 {
            0.0 => 1.0,
            value => (1.0 + slopes[event as usize] * missing / value).max(0.0),
        };
        let factors: Vec<f64> = PmuEvent::ALL.into_iter().map(factor).collect();
        for core in &mut outcome.cores {
            core.change_counts(|counts| {
                *counts = counts.map_events(|event, count| {
                    (count as f64 * factors[event as usize]).round() as u64
                });
            });
        }
        for off in self.off.iter_mut().flatten() {
            let by = off[mispredicted];
            off.iter_mut().zip(&slopes).for_each(|(off, slope)| *off -= slope * by);
        }
        true
    }

    /// Adds the windows of one thread: each differs from the mean of those around it.
    fn add(&mut self, rates: &[Rate]) {
        for (number, rate) in rates.iter().enumerate() {
            let waited = rate.values[WAITED];
            self.seen_waits.0 += waited;
            self.seen_waits.1 += waited * rate.weight;
            self.with_waits += f64::from(waited > 0.0);
            let around = &rates[number.saturating_sub(1)..rates.len().min(number + 2)];
            let count = around.len() as f64;
            let left_out = (1.0 - rate.weight.recip()).max(0.0);
            // A mean of few windows is nearer to each of them than that of the stretch is.
            let factor = match around.len() {
                1 => continue,
                _ => rate.weight * (count / (count - 1.0) * left_out).sqrt(),
            };
            let counted: f64 = around.iter().map(|one| one.counted).sum();
            let off =
                self.off[rate.stretch].get_or_insert_with(|| vec![0.0; VALUES].into_boxed_slice());
            for (value, off) in off.iter_mut().enumerate() {
                let sum: f64 = around.iter().map(|one| one.values[value]).sum();
                *off += factor * (rate.values[value] - sum / counted * rate.counted);
            }
        }
    }

    /// Returns half of each event's confidence interval in percent of the count. `waits` is the
    /// standard error of the waits.
    fn errors(&self, total: &Counts, unseen: &Counts, waits: f64, ticks: f64) -> Vec<f64> {
        let windows = self.off.iter().flatten().count();
        // First term of Student's distribution.
        let degrees = (windows as f64 * 2.0 / 3.0).max(1.0);
        let student = NORMAL_95 * (1.0 + (NORMAL_95 * NORMAL_95 + 1.0) / (4.0 * degrees));
        let waiting = Waiting::rates(ticks);
        let percent = |event: PmuEvent| {
            let of_waits = waits * waiting.value(event);
            let of_unseen = UNSEEN * unseen.value(event) as f64;
            match total.value(event) {
                0 => 0.0,
                value => {
                    let error = self.spread(event as usize).hypot(of_unseen).hypot(of_waits);
                    100.0 * student * error / value as f64
                }
            }
        };
        PmuEvent::ALL.into_iter().map(percent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{EventSink, Packed};
    use sim_machine::{Outcome, Waits};

    /// A thread in a stretch: its instructions, those in the window, and the cycles of these.
    fn part((instructions, counted, cycles): (u64, u64, u64)) -> ThreadStretch {
        let mut counts = Counts::default();
        counts.count(PmuEvent::CPU_CYCLES, cycles);
        counts.count(PmuEvent::INST_RETIRED, counted);
        let counts = Packed::from(&counts);
        let window = CoreOutcome { counts, ..CoreOutcome::default() };
        ThreadStretch { instructions, counted, window: (counted > 0).then_some(window) }
    }

    /// Estimates a run of these threads: their waits on the core, and their stretches.
    fn estimate(threads: &[(u64, Vec<(u64, u64, u64)>)]) -> Estimate {
        let core = |(on_core, parts): &(u64, Vec<(u64, u64, u64)>)| CoreOutcome {
            instructions: parts.iter().map(|part| part.0).sum(),
            waits: Waits { on_core: *on_core, away: 0, end: 10_000 },
            ..CoreOutcome::default()
        };
        let cores = threads.iter().map(core).collect();
        let count = threads.first().map_or(0, |thread| thread.1.len());
        let stretch = |n: usize| threads.iter().map(|thread| part(thread.1[n])).collect();
        let run = Outcome { cores, clock_hz: 1, ..Outcome::default() };
        let stretches = (0..count).map(stretch).collect();
        let known = vec![Counts::default(); threads.len()];
        estimate_of(&Samples { run, known, stretches }, 0.0)
    }

    fn cycles(estimate: &Estimate) -> (u64, f64) {
        let event = PmuEvent::CPU_CYCLES;
        (estimate.outcome.total().value(event), estimate.errors[event as usize])
    }

    #[test]
    fn each_thread_counts_by_its_own_instructions() {
        // 2 and 3 cycles per instruction, in all windows alike.
        let slow = vec![(2000, 1000, 3000), (1000, 1000, 3000), (3000, 1000, 3000)];
        let fast = vec![(3000, 1000, 2000), (3000, 1000, 2000), (1000, 1000, 2000)];
        let found = estimate(&[(0, slow), (0, fast)]);
        assert_eq!(cycles(&found), (3 * 6000 + 2 * 7000, 0.0));
        assert_eq!(found.outcome.total().value(PmuEvent::INST_RETIRED), 13_000);
    }

    #[test]
    fn a_wait_counts_once_and_is_not_scaled() {
        let windows = vec![(4000, 1000, 2000); 3];
        let found = estimate(&[(500, windows)]);
        assert_eq!(cycles(&found), (24_000 + 500, 0.0), "2 cycles for each instruction");
        let total = found.outcome.total();
        assert_eq!(total.value(PmuEvent::STALL_BACKEND), 500);
        assert_eq!(total.value(PmuEvent::STALL_SLOT_BACKEND), 2500);
    }

    #[test]
    fn windows_that_differ_from_their_neighbours_make_the_error() {
        // Rates 1 and 3, half of the instructions: each window is 1000 cycles off the mean of both.
        let found = estimate(&[(0, vec![(2000, 1000, 1000), (2000, 1000, 3000)])]);
        let (count, percent) = cycles(&found);
        assert_eq!(count, 8000);
        let degrees = 4.0 / 3.0;
        let student = NORMAL_95 * (1.0 + (NORMAL_95 * NORMAL_95 + 1.0) / (4.0 * degrees));
        // Each off by 1000, times 2 by weight, 2 for two windows, 0.5 left out; two of them.
        let expected = 100.0 * student * 2.0 * 1000.0 * 2.0_f64.sqrt() / 8000.0;
        assert!((percent - expected).abs() < 1e-9, "{percent}, not {expected}");
    }

    #[test]
    fn stretches_without_a_window_of_a_thread_join_the_next() {
        // No instruction of the second stretch was counted; the third represents both.
        let found = estimate(&[(0, vec![(1000, 1000, 1000), (500, 0, 0), (500, 500, 1000)])]);
        assert_eq!(cycles(&found).0, 1000 + 2000);
    }

    #[test]
    fn a_thread_without_a_window_counts_as_the_others() {
        let found = estimate(&[(0, vec![(2000, 1000, 2000); 3]), (0, vec![(20, 0, 0); 3])]);
        let (count, percent) = cycles(&found);
        assert_eq!((count, found.unknown), (12_000 + 120, 1));
        assert!(percent > 0.0, "nothing is known of its rate");
    }

    #[test]
    fn windows_lie_in_their_stretches_and_short_traces_have_one() {
        let options = SampleOptions::default();
        let stretches = options.stretches(10_000_000, 8);
        assert_eq!(stretches.len(), 100);
        for (number, one) in stretches.iter().enumerate() {
            assert_eq!((one.begin, one.length), (number as u64 * 100_000, 8000));
            assert!(one.window >= one.begin && one.window + one.length <= one.begin + 100_000);
        }
        let places = stretches.iter().map(|one| one.window - one.begin);
        assert!(places.clone().min() < Some(10_000) && places.max() > Some(80_000));
        let whole = Stretch { begin: 0, window: 0, length: 100_000, warmup: 0 };
        assert_eq!(options.stretches(100_000, 8), [whole]);
        let long = options.stretches(1 << 40, 2);
        assert_eq!(long[0].length, (1 << 40) / 100 / 20);
    }
}
