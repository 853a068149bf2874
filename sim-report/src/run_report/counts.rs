//! Events and metrics: exact, and as six counters would have shown them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use sim_machine::caveats;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, Linked, MetricFormula};
use sim_metrics::judge::{Judge, Tolerance};
use sim_pmu::perf::Reading;

use super::observed::Observed;
use super::ratio::percent;
use crate::stat::{self, Selected};

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventCount {
    /// Mnemonic of Arm, such as `L1D_CACHE_REFILL`.
    pub event: String,
    /// Its name in perf, such as `l1d_cache_refill`; `n2sim stat -j` prints this one.
    pub perf_name: String,
    /// Its number as programmed into an event counter.
    pub code: u16,
    /// Section of the PMU guide.
    pub section: String,
    /// Heading under which the guide lists it.
    pub group: String,
    /// The exact count of all cores together.
    pub count: u64,
    /// The same, thread by thread.
    pub by_thread: Vec<u64>,
    /// What perf would have read, had it asked for all events at once; absent where it was never on a
    /// counter, cannot be counted, or the run is too short to estimate.
    pub six_counters: Option<SixCounters>,
    /// Why the count cannot be trusted, what the trace lacks above all; absent if it can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// A reading of one of six counters that all events share in turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SixCounters {
    /// What was counted, scaled up by enabled over running time.
    pub estimate: u64,
    /// Part of the time for which it was on a counter, in percent.
    pub percent_running: f64,
    /// How far the estimate is from the exact count, in percent of that; absent if that is 0 and the
    /// estimate is not.
    pub percent_error: Option<f64>,
}

/// One metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValue {
    /// Its name, as `n2sim stat -M` takes it.
    pub metric: String,
    /// What it says.
    pub description: String,
    /// Groups that it belongs to.
    pub groups: Vec<String>,
    /// Unit of its values.
    pub unit: String,
    /// Digits behind the point that make sense.
    pub decimals: u8,
    /// Its formula as text.
    pub formula: String,
    /// Its value from exact counts; absent where it has none, such as a ratio over nothing.
    pub value: Option<f64>,
    /// What it claims to be, as it really was; absent if nothing is known of that.
    pub truth: Option<f64>,
    /// Its value from six counters that all events share in turns.
    pub six_counters: Option<f64>,
}

impl EventCount {
    /// Every event, chapter by chapter.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<EventCount> {
        let total = observed.outcome.total();
        let header = &observed.outcome.header;
        let selected = stat::every_event();
        let by_thread = by_thread(observed, &selected);
        let one = |(selected, by_thread): (Selected, Vec<u64>)| {
            let event = selected.event.event;
            let (info, count) = (event.info(), total.value(event));
            EventCount {
                event: event.mnemonic().to_owned(),
                perf_name: event.perf_name(),
                code: event.code(),
                section: info.section.to_owned(),
                group: info.group.title().to_owned(),
                count,
                by_thread,
                six_counters: SixCounters::of(&observed.reading(event), count),
                doubt: caveats::caveat(event, header).map(str::to_owned),
            }
        };
        selected.into_iter().zip(by_thread).map(one).collect()
    }
}

/// Returns the counts of all threads for each event. A thread's table is unpacked once.
fn by_thread(observed: &Observed<'_>, selected: &[Selected]) -> Vec<Vec<u64>> {
    let mut of_events = vec![Vec::with_capacity(observed.outcome.cores.len()); selected.len()];
    for core in &observed.outcome.cores {
        let counts = core.counts.unpack();
        for (selected, of_threads) in selected.iter().zip(&mut of_events) {
            of_threads.push(counts.value(selected.event.event));
        }
    }
    of_events
}

impl SixCounters {
    fn of(reading: &Reading, exact: u64) -> Option<SixCounters> {
        Some(SixCounters {
            estimate: reading.scaled()?,
            percent_running: percent(reading.running, reading.enabled),
            percent_error: reading.error_percent(exact),
        })
    }
}

impl MetricValue {
    /// Every built-in metric.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<MetricValue> {
        let catalog = builtin::catalog();
        let one = |metric| MetricValue::of(metric, &catalog, observed);
        catalog.metrics().iter().filter_map(one).collect()
    }

    fn of(
        metric: &MetricFormula,
        catalog: &Catalog,
        observed: &Observed<'_>,
    ) -> Option<MetricValue> {
        let evidence = &observed.evidence;
        // A test of the built-in metrics holds that they read, link and claim truths.
        let formula = metric.formula.as_ref().ok()?;
        let linked = Linked::named(&metric.name, formula, catalog).ok()?;
        let judge = Judge::new(metric, catalog, Tolerance::default()).ok()?;
        let finite = |value: f64| Some(value * metric.scale.factor).filter(|v| v.is_finite());
        let value = |count: &dyn Fn(PmuEvent) -> f64| {
            finite(evidence.evaluate(&linked, evidence.patch, count).value)
        };
        let estimate = |event| match observed.reading(event).scaled() {
            Some(estimate) => estimate as f64,
            None => f64::NAN,
        };
        let real = judge.truth().and_then(|truth| evidence.truths.value(truth));
        Some(MetricValue {
            metric: metric.name.clone(),
            description: metric.description.clone(),
            groups: metric.groups.clone(),
            unit: metric.scale.unit.clone(),
            decimals: u8::try_from(metric.scale.decimals()).unwrap_or(u8::MAX),
            formula: formula.text().to_owned(),
            value: value(&|event| evidence.count(event, evidence.patch)),
            truth: real.map(|real| real * metric.scale.factor / judge.factor()),
            six_counters: value(&estimate),
        })
    }
}
