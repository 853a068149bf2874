//! Events and metrics: exact, and as estimated by six multiplexed counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use sim_machine::caveats;
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, FormulaCore, Linked, MetricFormula};
use sim_metrics::validator::{Tolerance, Validator};
use sim_pmu::perf::Reading;

use super::observed::Observed;
use super::ratio::percent;
use crate::a53_counts::ClusterCounts;
use crate::stat::{self, Selected};

/// Counts of one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventCount {
    /// Arm's mnemonic, such as `L1D_CACHE_REFILL`.
    pub event: String,
    /// Name in perf, such as `l1d_cache_refill`, which `n2sim stat -j` prints.
    pub perf_name: String,
    /// Number as programmed into an event counter.
    pub code: u16,
    /// Section of the PMU guide.
    pub section: String,
    /// Heading under which the guide lists it.
    pub group: String,
    /// Exact count, summed over all cores.
    pub count: u64,
    /// Exact count of each thread.
    pub by_thread: Vec<u64>,
    /// Estimate of perf with all events requested at once. Absent if the event never had a counter,
    /// cannot be counted, or the run is too short.
    pub six_counters: Option<SixCounters>,
    /// Reason why the count is doubtful, such as data missing from the trace; absent if it is
    /// reliable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// Reading of one of six counters that all events share by multiplexing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SixCounters {
    /// Count scaled up by enabled over running time.
    pub estimate: u64,
    /// Share of the time on a counter, in percent.
    pub percent_running: f64,
    /// Error of the estimate, in percent of the exact count; absent if only the exact count is 0.
    pub percent_error: Option<f64>,
}

/// Value of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValue {
    /// Name, as `n2sim stat -M` accepts it.
    pub metric: String,
    /// Description.
    pub description: String,
    /// Groups of the metric.
    pub groups: Vec<String>,
    /// Unit.
    pub unit: String,
    /// Significant decimals.
    pub decimals: u8,
    /// Formula as text.
    pub formula: String,
    /// Value from exact counts; absent if there is none, as for a ratio to 0.
    pub value: Option<f64>,
    /// Ground-truth value of the metric's claim; absent if it is unknown.
    pub truth: Option<f64>,
    /// Value from six counters that all events share by multiplexing.
    pub six_counters: Option<f64>,
}

impl EventCount {
    /// Returns every event, chapter by chapter.
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
    /// Returns every built-in metric.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<MetricValue> {
        let catalog = builtin::catalog();
        let one = |metric| MetricValue::of(metric, &catalog, observed);
        catalog.metrics().iter().filter_map(one).collect()
    }

    /// Returns the value of a metric on exact counts of a Cortex-A53. The truths of its claims need
    /// a validation.
    pub(super) fn of_a53(
        metric: &MetricFormula,
        catalog: &Catalog,
        counts: &ClusterCounts<'_>,
    ) -> Option<MetricValue> {
        let formula = metric.formula.as_ref().ok()?;
        let linked = Linked::on(FormulaCore::CortexA53, &metric.name, formula, catalog).ok()?;
        let value = Some(counts.value(&linked) * metric.scale.factor).filter(|v| v.is_finite());
        Some(MetricValue { value, ..MetricValue::named(metric, formula.text()) })
    }

    /// Returns a metric without a value.
    fn named(metric: &MetricFormula, formula: &str) -> MetricValue {
        MetricValue {
            metric: metric.name.clone(),
            description: metric.description.clone(),
            groups: metric.groups.clone(),
            unit: metric.scale.unit.clone(),
            decimals: u8::try_from(metric.scale.decimals()).unwrap_or(u8::MAX),
            formula: formula.to_owned(),
            value: None,
            truth: None,
            six_counters: None,
        }
    }

    fn of(
        metric: &MetricFormula,
        catalog: &Catalog,
        observed: &Observed<'_>,
    ) -> Option<MetricValue> {
        let evidence = &observed.evidence;
        // A test checks that the built-in metrics parse, link and claim known values.
        let formula = metric.formula.as_ref().ok()?;
        let linked = Linked::named(&metric.name, formula, catalog).ok()?;
        let judge = Validator::new(metric, catalog, Tolerance::default()).ok()?;
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
            value: value(&|event| evidence.count(event, evidence.patch)),
            truth: real.map(|real| real * metric.scale.factor / judge.factor()),
            six_counters: value(&estimate),
            ..MetricValue::named(metric, formula.text())
        })
    }
}
