//! Fuzzes metric files and formulas: reads, reviews, links and evaluates them with counts of many
//! sizes. Nothing may panic or hang. A result is a number, or has a reason.
//!
//! Run: `cargo xtask fuzz metrics`

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};
use sim_metrics::builtin;
use sim_metrics::formula::catalog::{Catalog, Scale};
use sim_metrics::formula::lint::COUNTERS;
use sim_metrics::formula::{EventUse, Linked, Machine, MetricFormula};
use sim_metrics::metric_file::{self, MetricFile, NamedText, review};

/// Largest number of formulas to evaluate.
const FORMULAS: usize = 50;
/// Counts of events, selected by event number: zero, small, large, the maximum.
const COUNTS: [f64; 4] = [0.0, 1.0, 1e9, u64::MAX as f64];

static BUILTIN: LazyLock<Catalog> = LazyLock::new(builtin::catalog);

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((&choice, bytes)) = data.split_first() else { return Corpus::Reject };
    let Ok(text) = std::str::from_utf8(bytes) else { return Corpus::Reject };
    let file = if choice.is_ascii_uppercase() {
        let metrics = vec![MetricFormula::new("own", text, "--formula")];
        let _ = Scale::parse(text);
        MetricFile { metrics, ..MetricFile::default() }
    } else {
        match metric_file::read(&[NamedText { name: "fuzz", text }]) {
            Ok(file) => file,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return Corpus::Keep;
            }
        }
    };
    judge(&file);
    Corpus::Keep
});

fn judge(file: &MetricFile) {
    let mut catalog = BUILTIN.clone();
    catalog.extend(file.metrics.iter().cloned());
    let machine = Machine::neoverse_n2(3, 1);
    for finding in review(file, &catalog, Some(&machine), COUNTERS) {
        assert!(!finding.message.is_empty());
    }
    for metric in file.metrics.iter().take(FORMULAS) {
        let formulas = [Some(&metric.formula), metric.threshold.as_ref()];
        for formula in formulas.into_iter().flatten() {
            match formula {
                Ok(formula) => match Linked::named(&metric.name, formula, &catalog) {
                    Ok(linked) => evaluate(&linked, &machine),
                    Err(error) => drop(error.to_string()),
                },
                Err(error) => drop(error.to_string()),
            }
        }
    }
}

fn evaluate(linked: &Linked, machine: &Machine) {
    for shift in 0..COUNTS.len() {
        let count = |event: &EventUse| {
            let code = usize::from(event.event()?.code());
            Some(COUNTS[(code + shift) % COUNTS.len()])
        };
        let evaluation = linked.evaluate(machine, count);
        if let Some(reason) = evaluation.nan_reason {
            assert!(!linked.explain(reason).is_empty());
        }
    }
    let _ = linked.needed(machine);
}
