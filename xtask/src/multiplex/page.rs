//! The page about turns on the counters: its words, tables and data.

use std::fmt::Write as _;

use sim_core::PmuEvent;
use sim_pmu::perf::{Reading, Status};
use sim_report::figure::turns::{TurnErrors, time_name};
use sim_tests::multiplex::Estimates;

/// Events that a trace raises less often are left out of the error figures: a few occurrences are seen
/// or missed by luck, whatever the method.
const LEAST_COUNT: u64 = 1_000;
/// Estimates without which their distribution says nothing.
const LEAST_ESTIMATES: usize = 20;
/// Bounds of the distribution, in percent of the truth.
const BOUNDS: [f64; 6] = [0.1, 1.0, 5.0, 10.0, 50.0, 100.0];
/// Turns for which the data table has a column, and the one that traces are compared at.
const COLUMNS_NS: [u64; 5] = [100, 1_000, 10_000, 100_000, 4_000_000];
const COMPARED_NS: u64 = 1_000;

const HEAD: &str = "\
# Six counters for 147 events

Written by `cargo xtask multiplex`; do not edit.

A Neoverse N2 has six event counters and the cycle counter. Who asks for more events than that gets
estimates: Linux lets the events take turns and scales what it saw by the part of the time that it looked.
Here every event of every committed trace is counted so, through the registers of the modeled PMU, and
the estimate is held against the truth that the same run knows.

With at most six events and cycles nothing takes turns, and every reading is exact: the test
`up_to_six_events_are_exact_on_every_trace` counts all 147 events of each trace in 25 passes.

![error over the length of a turn](figures/multiplexing.svg)

Most traces run for about a millisecond (all: 0.02 to 11.1 ms), so that perf's turn of 4 ms is longer: what
is not on a counter at once is never counted. What decides is how often every event has its turn. A
program of 10 s has 2500 turns of 4 ms, 17 rounds of 147 events; a run of 1 ms has as many in turns of
0.4 us. Five of the six traces of `traces/threads`, and `vector`, run for less than 50 us: they have less than one
round of turns of 1 us, and most of the events that are never counted there are theirs.
";

const BELOW: &str = "
## What to do

* Ask for no more than six events and cycles, or use `n2sim stat -e ... --no-multiplex`: it is exact. Metrics (`-M`) are
  exact without it, unless `--mux-interval` or `--truth` asks for multiplexing.
* `n2sim plan TRACE -e ...` says how many runs a list of events needs, and how wrong it is in one.
* Put what is divided by each other into one group, `{l1d_cache,l1d_cache_refill}`: both are seen at the
  same time. It helps the ratio, not the counts.
* `--truth` prints the error beside every estimate.
";

/// The whole page.
pub(super) fn page(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let mut page = String::from(HEAD);
    let _ = write!(page, "\n## By length of a turn\n\n{}", by_turn(ticks_ns, found));
    let _ = write!(page, "\n## How wrong\n\n{}", distribution(ticks_ns, found));
    let _ = write!(page, "\n## By trace\n\n{}", by_trace(ticks_ns, found));
    let _ = write!(
        page,
        "\nEvery estimate stands in [multiplexing.tsv](multiplexing.tsv): {} traces, 147 events, {} lengths \
         of a turn.\n",
        found.len(),
        COLUMNS_NS.len()
    );
    page + BELOW
}

/// Errors of one turn in all traces.
struct Errors {
    /// Sizes of the errors of frequent events that took turns, in percent, smallest first.
    sizes: Vec<f64>,
    /// Events of all traces that never had a turn, and all of them.
    never: usize,
    all: usize,
}

impl Errors {
    fn of(tick: usize, found: &[Estimates]) -> Errors {
        let mut errors = Errors { sizes: Vec::new(), never: 0, all: 0 };
        for estimates in found {
            let readings = &estimates.readings[tick];
            errors.all += readings.len();
            errors.never += readings.iter().filter(|r| r.status != Status::Counted).count();
            let sizes = readings.iter().zip(&estimates.truth).filter_map(|(reading, truth)| {
                let error = reading.error_percent(*truth)?;
                let is_estimate = reading.running < reading.enabled && *truth >= LEAST_COUNT;
                is_estimate.then_some(error.abs())
            });
            errors.sizes.extend(sizes);
        }
        errors.sizes.sort_by(f64::total_cmp);
        errors
    }

    /// The error below which a part of the estimates lies; none of too few estimates to say.
    fn quantile(&self, part: f64) -> Option<f64> {
        let last = self.sizes.len().checked_sub(1)?;
        let at = (part * last as f64).round() as usize;
        self.sizes.get(at).copied().filter(|_| self.sizes.len() >= LEAST_ESTIMATES)
    }

    /// The same as text.
    fn quantile_text(&self, part: f64) -> String {
        self.quantile(part).map_or_else(|| String::from("-"), |error| format!("{error:.2} %"))
    }

    fn never_percent(&self) -> f64 {
        100.0 * self.never as f64 / self.all.max(1) as f64
    }
}

/// The points of the figure.
pub(super) fn points(ticks_ns: &[u64], found: &[Estimates]) -> Vec<TurnErrors> {
    let point = |(i, tick_ns): (usize, &u64)| {
        let errors = Errors::of(i, found);
        TurnErrors {
            tick_ns: *tick_ns,
            median_percent: errors.quantile(0.5),
            most_percent: errors.quantile(0.9),
            never_percent: errors.never_percent(),
        }
    };
    ticks_ns.iter().enumerate().map(point).collect()
}

/// One row for each length of a turn.
pub(super) fn by_turn(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let mut text = String::from(
        "| turn | rounds, on average | never counted | estimates | median error | 9 of 10 within | 99 of 100 within |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let run_ns = found.iter().map(|estimates| estimates.run_ns).sum::<f64>() / found.len() as f64;
    for (i, tick_ns) in ticks_ns.iter().enumerate() {
        let errors = Errors::of(i, found);
        let rounds = run_ns / (*tick_ns as f64 * PmuEvent::ALL.len() as f64);
        let _ = writeln!(
            text,
            "| {} | {rounds:.2} | {:.1} % | {} | {} | {} | {} |",
            time_name(*tick_ns as f64),
            errors.never_percent(),
            errors.sizes.len(),
            errors.quantile_text(0.5),
            errors.quantile_text(0.9),
            errors.quantile_text(0.99)
        );
    }
    let _ = writeln!(
        text,
        "\nErrors are those of the events that had a turn but not all the time, and that the trace raises at \
         least {LEAST_COUNT} times, in percent of the truth. Where a turn is longer than the run there are none."
    );
    text
}

/// How many estimates lie within which bounds.
fn distribution(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let mut text = String::from("| turn | estimates | exact |");
    BOUNDS.iter().for_each(|bound| {
        let _ = write!(text, " up to {bound} % |");
    });
    text.push_str(" more |\n| --- | --- | --- |");
    text.push_str(&" --- |".repeat(BOUNDS.len() + 1));
    text.push('\n');
    for (i, tick_ns) in ticks_ns.iter().enumerate() {
        let sizes = Errors::of(i, found).sizes;
        let exact = sizes.iter().filter(|size| **size == 0.0).count();
        let _ = write!(text, "| {} | {} | {exact} |", time_name(*tick_ns as f64), sizes.len());
        let mut below = exact;
        for bound in BOUNDS {
            let within = sizes.iter().filter(|size| **size <= bound).count();
            let _ = write!(text, " {} |", within - below);
            below = within;
        }
        let _ = writeln!(text, " {} |", sizes.len() - below);
    }
    text
}

/// One row for each trace, with its worst estimate.
fn by_trace(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let tick = ticks_ns.iter().position(|ns| *ns == COMPARED_NS).unwrap_or(0);
    let mut text = format!(
        "In turns of {}; the worst is the worst of the events that the trace raises at least {LEAST_COUNT} \
         times.\n\n| trace | run | never counted | median error | 9 of 10 within | worst event | estimate | \
         truth |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        time_name(ticks_ns[tick] as f64)
    );
    for estimates in found {
        let errors = Errors::of(tick, std::slice::from_ref(estimates));
        let Some((event, estimate, truth)) = worst(&estimates.readings[tick], &estimates.truth)
        else {
            continue;
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | `{event:?}` | {estimate} | {truth} |",
            estimates.trace,
            time_name(estimates.run_ns),
            errors.never,
            errors.quantile_text(0.5),
            errors.quantile_text(0.9)
        );
    }
    text
}

/// The event whose estimate is farthest from the truth, in parts of the truth.
fn worst(readings: &[Reading], truth: &[u64]) -> Option<(PmuEvent, u64, u64)> {
    let known =
        readings.iter().zip(truth).zip(PmuEvent::ALL).filter_map(|((reading, truth), event)| {
            let error = reading.error_percent(*truth)?.abs();
            (*truth >= LEAST_COUNT).then_some((error, event, reading.scaled()?, *truth))
        });
    let worst = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((worst.1, worst.2, worst.3))
}

/// Every estimate as tab-separated values; an event without one has an empty field.
pub(super) fn data(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let columns: Vec<usize> =
        COLUMNS_NS.iter().filter_map(|ns| ticks_ns.iter().position(|own| own == ns)).collect();
    let mut text = String::from("trace\tevent\ttruth");
    for &column in &columns {
        let _ = write!(text, "\t{}", time_name(ticks_ns[column] as f64).replace(' ', ""));
    }
    text.push('\n');
    for estimates in found {
        for (i, event) in PmuEvent::ALL.into_iter().enumerate() {
            let _ = write!(text, "{}\t{event:?}\t{}", estimates.trace, estimates.truth[i]);
            for &column in &columns {
                let scaled = estimates.readings[column][i].scaled();
                let _ = write!(text, "\t{}", scaled.map_or_else(String::new, |n| n.to_string()));
            }
            text.push('\n');
        }
    }
    text
}
