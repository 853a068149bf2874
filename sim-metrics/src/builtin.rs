//! Built-in metrics from `configs/neoverse-n2/metrics.toml`, for its mesh from `mesh-metrics.toml`
//! there, and from `configs/cortex-a53/metrics.toml`. They are read like any other metric file.

use crate::formula::Catalog;
use crate::metric_file::{self, NamedText};

/// Name of the file in messages.
pub const FILE: &str = "neoverse-n2/metrics.toml";

/// Name of the file of the Cortex-A53 in messages.
pub const A53_FILE: &str = "cortex-a53/metrics.toml";

/// Returns the metrics of the Neoverse N2.
pub fn catalog() -> Catalog {
    read(FILE, include_str!("../../configs/neoverse-n2/metrics.toml"))
}

/// Name of the file of the mesh in messages.
pub const MESH_FILE: &str = "neoverse-n2/mesh-metrics.toml";

/// Returns the metrics of the mesh of Neoverse N2 cores.
pub fn mesh_catalog() -> Catalog {
    read(MESH_FILE, include_str!("../../configs/neoverse-n2/mesh-metrics.toml"))
}

/// Returns the metrics of the Cortex-A53.
pub fn a53_catalog() -> Catalog {
    read(A53_FILE, include_str!("../../configs/cortex-a53/metrics.toml"))
}

fn read(name: &str, text: &str) -> Catalog {
    let file = metric_file::read(&[NamedText { name, text }]);
    file.expect("the embedded file is valid").metrics.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a53_truth;
    use crate::formula::lint::COUNTERS;
    use crate::formula::{EventUse, Linked, Machine, Severity, lint};
    use crate::truth::Truth;

    #[test]
    fn every_metric_parses_links_and_has_a_value() {
        let catalog = catalog();
        assert!(catalog.metrics().len() > 50);
        for metric in catalog.metrics() {
            let formula =
                metric.formula.as_ref().unwrap_or_else(|e| panic!("{}: {e}", metric.name));
            let linked = Linked::named(&metric.name, formula, &catalog).expect(&metric.name);
            let count = |event: &EventUse| event.event().map(|event| f64::from(event.code()) + 1.0);
            let evaluation = linked.evaluate(&Machine::neoverse_n2(3, 1), count);
            let why = evaluation.nan_reason.map(|reason| linked.explain(reason));
            assert_eq!((why, evaluation.value.is_finite()), (None, true), "{}", metric.name);
            assert!(!metric.description.is_empty() && !metric.description.ends_with('.'));
            assert!(!metric.scale.unit.is_empty() && !metric.groups.is_empty(), "{}", metric.name);
        }
    }

    #[test]
    fn built_in_metrics_raise_no_alarm() {
        let catalog = catalog();
        for metric in catalog.metrics() {
            let alarms: Vec<_> = lint(metric, &catalog, None)
                .into_iter()
                .filter(|finding| finding.severity > Severity::Note)
                .collect();
            assert_eq!(alarms, [], "{}", metric.name);
        }
    }

    #[test]
    fn every_claim_is_a_truth() {
        for metric in catalog().metrics() {
            if let Some(claim) = &metric.claims {
                assert!(Truth::from_name(claim).is_some(), "{}: {claim}", metric.name);
            }
        }
    }

    #[test]
    fn every_metric_of_the_cortex_a53_is_sound() {
        let (catalog, machine) = (a53_catalog(), Machine::cortex_a53(1));
        assert!(catalog.metrics().len() > 35);
        for metric in catalog.metrics() {
            let formula = metric.formula.as_ref().expect(&metric.name);
            let core = machine.events_of();
            let linked = Linked::on(core, &metric.name, formula, &catalog).expect(&metric.name);
            let count =
                |event: &EventUse| event.a53_event().map(|event| f64::from(event.code()) + 1.0);
            let value = linked.evaluate(&machine, count).value;
            assert!(value.is_finite(), "{}", metric.name);
            assert!(!metric.description.is_empty() && !metric.description.ends_with('.'));
            assert!(!metric.scale.unit.is_empty() && !metric.groups.is_empty(), "{}", metric.name);
            let claim = metric.claims.as_deref();
            assert!(claim.is_none_or(|claim| a53_truth::from_name(claim).is_some()), "{claim:?}");
        }
        let metrics = catalog.metrics().to_vec();
        let file = metric_file::MetricFile { metrics, ..Default::default() };
        assert_eq!(metric_file::review(&file, &catalog, Some(&machine), COUNTERS), []);
    }

    /// The four shares add up to all slots, with and without the erratum.
    #[test]
    fn top_down_level_1_shares_add_up_to_one() {
        let catalog = catalog();
        for patch in [2, 3] {
            let machine = Machine::neoverse_n2(patch, 1);
            let surplus = if patch < 3 { 100.0 } else { 0.0 };
            let count = |event: &EventUse| {
                Some(match event.name.as_str() {
                    "CPU_CYCLES" => 100.0,
                    "OP_SPEC" => 180.0,
                    "OP_RETIRED" => 150.0,
                    "STALL_SLOT_FRONTEND" => 220.0 + surplus,
                    "STALL_SLOT_BACKEND" => 100.0,
                    other => panic!("{other}"),
                })
            };
            let share = |metric: &str| {
                let metric = catalog.get(metric).expect("the metric exists");
                let formula = metric.formula.as_ref().expect("the formula parses");
                let linked =
                    Linked::named(&metric.name, formula, &catalog).expect("the formula links");
                metric.scale.factor * linked.evaluate(&machine, count).value
            };
            let shares =
                ["retiring", "bad_speculation", "frontend_bound", "backend_bound"].map(share);
            let expected = [30.0, 6.0, 44.0, 20.0];
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
            assert!(shares.iter().zip(&expected).all(is_near), "r0p{patch}: {shares:?}");
        }
    }
}
