//! Metrics of a Cortex-A53 and their values from exact counts.

use anyhow::Context;
use sim_metrics::formula::event_use::{Levels, Time};
use sim_metrics::formula::{Catalog, EventUse, FormulaCore, Linked, MetricFormula, Quantity};
use sim_report::a53_counts::ClusterCounts;
use sim_report::metrics::MetricRow;

/// A metric whose events a Cortex-A53 has.
#[derive(Clone, Debug)]
pub(crate) struct A53Metric {
    metric: MetricFormula,
    pub(crate) linked: Linked,
    threshold: Option<Linked>,
}

impl A53Metric {
    /// Links a metric.
    ///
    /// The error names the metric and the first name in its formula that is no event of the core.
    pub(crate) fn new(metric: &MetricFormula, catalog: &Catalog) -> anyhow::Result<A53Metric> {
        let place = || format!("{}: {}", metric.source, metric.name);
        let formula = metric.formula.as_ref().map_err(Clone::clone).with_context(place)?;
        let linked = Linked::on(FormulaCore::CortexA53, &metric.name, formula, catalog)
            .with_context(place)?;
        check(&linked).with_context(place)?;
        let threshold = match &metric.threshold {
            None => None,
            Some(threshold) => {
                let place = || format!("{}, threshold", place());
                let formula = threshold.as_ref().map_err(Clone::clone).with_context(place)?;
                let linked =
                    Linked::on(FormulaCore::CortexA53, "", formula, catalog).with_context(place)?;
                check(&linked).with_context(place)?;
                Some(linked)
            }
        };
        Ok(A53Metric { metric: metric.clone(), linked, threshold })
    }

    /// Returns the value of the metric on counts of some cores, in its unit; NaN if it has none.
    pub(crate) fn value(&self, counts: &ClusterCounts<'_>) -> f64 {
        self.metric.scale.factor * counts.value(&self.linked)
    }

    /// Returns the value on counts, with its name and unit. `thread` is the owner of the counts.
    pub(crate) fn row(&self, counts: &ClusterCounts<'_>, thread: Option<String>) -> MetricRow {
        let limit = self.threshold.as_ref().map_or(0.0, |limit| counts.value(limit));
        let scale = &self.metric.scale;
        MetricRow {
            thread,
            name: self.metric.name.clone(),
            value: self.value(counts),
            exact: None,
            unit: scale.unit.clone(),
            decimals: scale.decimals(),
            is_bad: !limit.is_nan() && limit != 0.0,
            doubt: None,
        }
    }

    /// Returns the reason why the metric has no value on these counts.
    pub(crate) fn trouble(&self, counts: &ClusterCounts<'_>) -> Option<String> {
        let count = |event: &EventUse| counts.of(event);
        let reason = self.linked.evaluate(&counts.machine(), count).nan_reason?;
        Some(format!("{} has no value: {}", self.metric.name, self.linked.explain(reason)))
    }
}

/// Refuses a formula with a name that is no event of the core, or with an exception level.
fn check(linked: &Linked) -> anyhow::Result<()> {
    for event in linked.events() {
        match &event.quantity {
            Quantity::NotOnA53(name, n2) => {
                let why = sim_metrics::formula::event_use::absent_on_a53(name, *n2);
                anyhow::bail!("{why}; `n2sim list events --core cortex-a53` lists its events");
            }
            Quantity::Misspelt(error) => anyhow::bail!("{error}"),
            Quantity::Mesh => anyhow::bail!(
                "{} is an event of the mesh of Neoverse N2 cores, which a Cortex-A53 does not have",
                event.name
            ),
            Quantity::OtherPmu(pmu) => {
                anyhow::bail!("{} is an event of {pmu}, which is not part of the core", event.name)
            }
            Quantity::Time(Time::User | Time::System) => {
                anyhow::bail!("{} is not known on a Cortex-A53; use duration_time", event.name)
            }
            _ if event.levels != Levels::ALL => anyhow::bail!(
                "{}: a run on a Cortex-A53 counts all exception levels together; leave the modifier out",
                event.name
            ),
            _ => {}
        }
    }
    Ok(())
}
