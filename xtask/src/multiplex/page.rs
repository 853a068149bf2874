//! The page about multiplexing: its words, tables and data.

use std::fmt::Write as _;

use sim_core::PmuEvent;
use sim_pmu::perf::{Reading, Status};
use sim_report::figure::multiplexing::{SliceErrors, time_name};
use sim_tests::multiplex::Estimates;

/// Least count of an event in a trace for the error figures. Of fewer occurrences, chance decides
/// how many are seen, whatever the method.
const LEAST_COUNT: u64 = 1_000;
/// Least number of estimates for which their distribution is meaningful.
const LEAST_ESTIMATES: usize = 20;
/// Bounds of the distribution, in percent of the true count.
const BOUNDS: [f64; 6] = [0.1, 1.0, 5.0, 10.0, 50.0, 100.0];
/// Time slices with a column in the data table, and the one at which traces are compared.
const COLUMNS_NS: [u64; 5] = [100, 1_000, 10_000, 100_000, 4_000_000];
const COMPARED_NS: u64 = 1_000;

const HEAD: &str = "\
# Six counters for 147 events

Written by `cargo xtask multiplex`; do not edit.

A Neoverse N2 has six event counters and the cycle counter. More events than that give estimates: Linux
multiplexes the events and scales each count by the part of the time in which the event had a counter. Here
every event of every committed trace is counted that way, through the registers of the modeled PMU, and each
estimate is compared with the true count of the same run.

With at most six events and cycles there is no multiplexing, and every reading is exact: the test
`up_to_six_events_are_exact_on_every_trace` counts all 147 events of each trace in 25 passes.

![error over the length of a time slice](figures/multiplexing.svg)

Most traces run for about a millisecond (all: 0.01 to 11.1 ms), so perf's time slice of 4 ms is longer: an event
without a counter at the start is never counted. The number of time slices per event is decisive. A program of 10 s
has 2500 slices of 4 ms, 17 rounds of 147 events; a run of 1 ms has the same number with slices of 0.4 us. Five of
the six traces of `traces/threads`, three of the four of `traces/parallel`, and `vector` run for less than 50 us. With
slices of 1 us these have less than one round, and most of the events that are never counted are theirs.
";

const BELOW: &str = "
## Recommendations

* Request no more than six events and cycles, or use `n2sim stat -e ... --no-multiplex`: it is exact. Metrics (`-M`) are
  exact without this option, unless `--mux-interval` or `--truth` requests multiplexing.
* `n2sim plan TRACE -e ...` prints the number of runs that a list of events needs, and the error of its counts in one
  run.
* Put the two events of a ratio into one group, `{l1d_cache,l1d_cache_refill}`: both are counted at the same time. This
  helps the ratio, not the counts.
* `--truth` prints the error beside every estimate.
";

/// Returns the whole page.
pub(super) fn page(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let mut page = String::from(HEAD);
    let _ = write!(page, "\n## By length of a time slice\n\n{}", by_slice(ticks_ns, found));
    let _ = write!(page, "\n## Distribution of errors\n\n{}", distribution(ticks_ns, found));
    let _ = write!(page, "\n## By trace\n\n{}", by_trace(ticks_ns, found));
    let _ = write!(
        page,
        "\nEvery estimate is in [multiplexing.tsv](multiplexing.tsv): {} traces, 147 events, {} lengths \
         of a time slice.\n",
        found.len(),
        COLUMNS_NS.len()
    );
    page + BELOW
}

/// Errors at one length of a time slice in all traces.
struct Errors {
    /// Sizes of the errors of frequent multiplexed events, in percent, smallest first.
    sizes: Vec<f64>,
    /// Number of events of all traces that never had a counter, and of all events.
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

    /// Returns the error below which a part of the estimates lies, or none for too few estimates.
    fn quantile(&self, part: f64) -> Option<f64> {
        let last = self.sizes.len().checked_sub(1)?;
        let at = (part * last as f64).round() as usize;
        self.sizes.get(at).copied().filter(|_| self.sizes.len() >= LEAST_ESTIMATES)
    }

    /// Returns the same quantile as text.
    fn quantile_text(&self, part: f64) -> String {
        self.quantile(part).map_or_else(|| String::from("-"), |error| format!("{error:.2} %"))
    }

    fn never_percent(&self) -> f64 {
        100.0 * self.never as f64 / self.all.max(1) as f64
    }
}

/// Returns the points of the figure.
pub(super) fn points(ticks_ns: &[u64], found: &[Estimates]) -> Vec<SliceErrors> {
    let point = |(i, tick_ns): (usize, &u64)| {
        let errors = Errors::of(i, found);
        SliceErrors {
            slice_ns: *tick_ns,
            median_percent: errors.quantile(0.5),
            p90_percent: errors.quantile(0.9),
            never_percent: errors.never_percent(),
        }
    };
    ticks_ns.iter().enumerate().map(point).collect()
}

/// Returns one row for each length of a time slice.
pub(super) fn by_slice(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let mut text = String::from(
        "| time slice | rounds, on average | never counted | estimates | median error | p90 | p99 |\n\
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
        "\nErrors are in percent of the true count, for events that had a counter for a part of the time and that \
         the trace raises at least {LEAST_COUNT} times. Where a time slice is longer than the run there are none."
    );
    text
}

/// Returns the number of estimates within each bound.
fn distribution(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let mut text = String::from("| time slice | estimates | exact |");
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

/// Returns one row for each trace, with its worst estimate.
fn by_trace(ticks_ns: &[u64], found: &[Estimates]) -> String {
    let tick = ticks_ns.iter().position(|ns| *ns == COMPARED_NS).unwrap_or(0);
    let mut text = format!(
        "With time slices of {}. The worst event is one that the trace raises at least {LEAST_COUNT} \
         times.\n\n| trace | run | never counted | median error | p90 | worst event | estimate | \
         true count |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
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

/// Returns the event with the largest relative error of its estimate.
fn worst(readings: &[Reading], truth: &[u64]) -> Option<(PmuEvent, u64, u64)> {
    let known =
        readings.iter().zip(truth).zip(PmuEvent::ALL).filter_map(|((reading, truth), event)| {
            let error = reading.error_percent(*truth)?.abs();
            (*truth >= LEAST_COUNT).then_some((error, event, reading.scaled()?, *truth))
        });
    let worst = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((worst.1, worst.2, worst.3))
}

/// Returns every estimate as tab-separated values; an event without one has an empty field.
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
