//! The core of a grid: its events, metrics and configurations.

use serde::Deserialize;
use sim_a53::{A53Config, A53Event};
use sim_core::PmuEvent;
use sim_core::config::{ConfigError, Document};
use sim_machine::{ConfigSource, MachineConfig};
use sim_metrics::builtin;
use sim_metrics::formula::{
    Catalog, EventUse, FormulaCore, Linked, Machine, MetricFormula, Quantity,
};

use crate::error::RunsError;

/// The core of every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepCore {
    /// Neoverse N2.
    #[default]
    NeoverseN2,
    /// Cortex-A53.
    CortexA53,
}

/// A column with the count of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventColumn {
    /// Name in the table.
    pub(crate) name: String,
    /// Place of the count in a [`crate::Counts`].
    pub(crate) place: usize,
}

/// A column with a metric.
#[derive(Clone, Debug)]
pub(crate) struct MetricColumn {
    /// Name in the table.
    pub(crate) name: String,
    /// Its formula.
    pub(crate) linked: Linked,
    /// Factor between the value of the formula and that of the table.
    pub(crate) factor: f64,
}

/// Values of a configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    /// Revision r0pN of the core, for metrics.
    pub(crate) patch: u8,
    /// Clock of the core in Hz.
    pub(crate) clock_hz: u64,
    /// Hash of all that shapes the contents of caches and predictors; 0 on a Cortex-A53.
    pub(crate) warm: u64,
}

impl SweepCore {
    /// Returns the name of the core in a grid.
    pub fn name(self) -> &'static str {
        match self {
            SweepCore::NeoverseN2 => "neoverse-n2",
            SweepCore::CortexA53 => "cortex-a53",
        }
    }

    /// Returns the number of counts in a [`crate::Counts`].
    pub(crate) fn events(self) -> usize {
        match self {
            SweepCore::NeoverseN2 => PmuEvent::ALL.len(),
            SweepCore::CortexA53 => A53Event::ALL.len(),
        }
    }

    /// Returns the place of the event of a formula in a [`crate::Counts`].
    pub(crate) fn place(self, event: &EventUse) -> Option<usize> {
        match event.quantity {
            Quantity::Event(event) => Some(event as usize),
            Quantity::A53(event) => Some(event as usize),
            _ => None,
        }
    }

    /// Returns the core whose events formulas name.
    pub(crate) fn events_of(self) -> FormulaCore {
        match self {
            SweepCore::NeoverseN2 => FormulaCore::NeoverseN2,
            SweepCore::CortexA53 => FormulaCore::CortexA53,
        }
    }

    /// Returns the metrics of n2sim for the core.
    pub(crate) fn catalog(self) -> Catalog {
        match self {
            SweepCore::NeoverseN2 => builtin::catalog(),
            SweepCore::CortexA53 => builtin::a53_catalog(),
        }
    }

    /// Returns what `n2sim list metrics` needs for the core.
    pub(crate) fn option(self) -> &'static str {
        match self {
            SweepCore::NeoverseN2 => "",
            SweepCore::CortexA53 => " --core cortex-a53",
        }
    }

    /// Returns the machine that formulas see: cores of revision r0p`patch`.
    pub(crate) fn machine(self, patch: u8, cores: u32) -> Machine {
        match self {
            SweepCore::NeoverseN2 => Machine::neoverse_n2(patch, cores),
            SweepCore::CortexA53 => Machine::cortex_a53(cores),
        }
    }

    /// Returns the columns of these events, or of all events without a list.
    pub(crate) fn columns(self, names: Option<Vec<String>>) -> Result<Vec<EventColumn>, RunsError> {
        let n2 = |event: PmuEvent| EventColumn {
            name: event.perf_name().to_string(),
            place: event as usize,
        };
        let a53 = |event: A53Event| EventColumn {
            name: event.mnemonic().to_ascii_lowercase(),
            place: event as usize,
        };
        let column = |name: &String| match self {
            SweepCore::NeoverseN2 => {
                PmuEvent::from_name(name).map(n2).map_err(|error| error.to_string())
            }
            SweepCore::CortexA53 => {
                A53Event::from_name(name).map(a53).map_err(|error| format!("{name}: {error}"))
            }
        };
        match (names, self) {
            (Some(names), _) => names
                .iter()
                .map(|name| {
                    column(name).map_err(|error| RunsError::Wrong(format!("events: {error}")))
                })
                .collect(),
            (None, SweepCore::NeoverseN2) => Ok(PmuEvent::ALL.map(n2).to_vec()),
            (None, SweepCore::CortexA53) => Ok(A53Event::ALL.map(a53).to_vec()),
        }
    }

    /// Returns the configuration of a run. Profile and machine count on a Neoverse N2 only.
    pub(crate) fn document(self, source: &ConfigSource<'_>) -> Result<Document, RunsError> {
        Ok(match self {
            SweepCore::NeoverseN2 => source.document()?,
            SweepCore::CortexA53 => A53Config::document(source.file, source.overrides)?,
        })
    }

    /// Checks a configuration and returns what the table and windows need of it.
    pub(crate) fn check(self, document: &Document) -> Result<Checked, ConfigError> {
        Ok(match self {
            SweepCore::NeoverseN2 => {
                let config = MachineConfig::from_document(document)?;
                let (patch, clock_hz) = (config.core.revision.patch(), config.core.clock_hz);
                Checked { patch, clock_hz, warm: config.warm_hash() }
            }
            SweepCore::CortexA53 => {
                let clock_hz = A53Config::from_document(document)?.cluster.clock_hz;
                Checked { patch: 0, clock_hz, warm: 0 }
            }
        })
    }

    /// Returns the columns of these metrics and groups of metrics, each metric once.
    pub(crate) fn metrics(self, names: &[String]) -> Result<Vec<MetricColumn>, RunsError> {
        let catalog = self.catalog();
        let mut chosen: Vec<MetricColumn> = Vec::new();
        for name in names {
            let found: Vec<&MetricFormula> = catalog.named(name);
            if found.is_empty() {
                return Err(self.no_metric(name));
            }
            for metric in found {
                if chosen.iter().any(|own| own.name == metric.name) {
                    continue;
                }
                let place =
                    |error: String| RunsError::Wrong(format!("metrics: {}: {error}", metric.name));
                let formula = metric.formula.as_ref().map_err(|error| place(error.to_string()))?;
                let linked = Linked::on(self.events_of(), &metric.name, formula, &catalog)
                    .map_err(|error| place(error.to_string()))?;
                let (name, factor) = (metric.name.clone(), metric.scale.factor);
                chosen.push(MetricColumn { name, linked, factor });
            }
        }
        Ok(chosen)
    }

    /// Returns the error for a metric that the core does not have.
    fn no_metric(self, name: &str) -> RunsError {
        let see = format!("(see n2sim list metrics{})", self.option());
        RunsError::Wrong(match SweepCore::NeoverseN2.catalog().get(name) {
            Some(_) => format!(
                "metrics: '{name}' is a metric of the Neoverse N2, which the Cortex-A53 does not have {see}"
            ),
            None => format!("metrics: none is called '{name}' {see}"),
        })
    }
}
