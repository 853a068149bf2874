//! The core of a sweep: its events, its configuration and its runs.

use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use sim_a53::{A53Config, A53Error, A53Event, Part};
use sim_core::config::{ConfigError, Document};
use sim_core::{MemoryBudget, PmuEvent};
use sim_machine::{MachineConfig, MachineError, RunHeader, Session};
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, EventUse, FormulaCore, Machine, Quantity};
use sim_trace::{TraceError, TraceFile};

use super::grid::{Grid, Point};
use super::journal::Row;
use crate::counting::a53_events;

/// The core of every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SweepCore {
    /// Neoverse N2.
    #[default]
    NeoverseN2,
    /// Cortex-A53.
    CortexA53,
}

/// A column with the count of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventColumn {
    /// Name in the table.
    pub(super) name: String,
    /// Place of the count in a [`Row`].
    pub(super) place: usize,
}

impl SweepCore {
    /// Returns the number of counts in a [`Row`].
    pub(super) fn events(self) -> usize {
        match self {
            SweepCore::NeoverseN2 => PmuEvent::ALL.len(),
            SweepCore::CortexA53 => A53Event::ALL.len(),
        }
    }

    /// Returns the place of the event of a formula in a [`Row`].
    pub(super) fn place(self, event: &EventUse) -> Option<usize> {
        match event.quantity {
            Quantity::Event(event) => Some(event as usize),
            Quantity::A53(event) => Some(event as usize),
            _ => None,
        }
    }

    /// Returns the core whose events formulas name.
    pub(super) fn events_of(self) -> FormulaCore {
        match self {
            SweepCore::NeoverseN2 => FormulaCore::NeoverseN2,
            SweepCore::CortexA53 => FormulaCore::CortexA53,
        }
    }

    /// Returns the metrics of n2sim for the core.
    pub(super) fn catalog(self) -> Catalog {
        match self {
            SweepCore::NeoverseN2 => builtin::catalog(),
            SweepCore::CortexA53 => builtin::a53_catalog(),
        }
    }

    /// Returns what `n2sim list metrics` needs for the core.
    pub(super) fn option(self) -> &'static str {
        match self {
            SweepCore::NeoverseN2 => "",
            SweepCore::CortexA53 => " --core cortex-a53",
        }
    }

    /// Returns the machine that formulas see: cores of revision r0p`patch`.
    pub(super) fn machine(self, patch: u8, cores: u32) -> Machine {
        match self {
            SweepCore::NeoverseN2 => Machine::neoverse_n2(patch, cores),
            SweepCore::CortexA53 => Machine::cortex_a53(cores),
        }
    }

    /// Returns the columns of these events, or of all events without a list.
    pub(super) fn columns(self, names: Option<Vec<String>>) -> anyhow::Result<Vec<EventColumn>> {
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
                a53_events::named(name).map(a53).map_err(|error| format!("{name}: {error}"))
            }
        };
        match (names, self) {
            (Some(names), _) => names
                .iter()
                .map(|name| column(name).map_err(|error| anyhow::anyhow!("events: {error}")))
                .collect(),
            (None, SweepCore::NeoverseN2) => Ok(PmuEvent::ALL.map(n2).to_vec()),
            (None, SweepCore::CortexA53) => Ok(A53Event::ALL.map(a53).to_vec()),
        }
    }

    /// Checks a configuration. Returns the revision r0pN of its core and its clock in Hz.
    pub(super) fn check(self, document: &Document) -> Result<(u8, u64), ConfigError> {
        Ok(match self {
            SweepCore::NeoverseN2 => {
                let config = MachineConfig::from_document(document)?;
                (config.core.revision.patch(), config.core.clock_hz)
            }
            SweepCore::CortexA53 => (0, A53Config::from_document(document)?.cluster.clock_hz),
        })
    }

    /// Runs one trace on one configuration, within the memory account of all runs.
    pub(super) fn run(
        self,
        grid: &Grid,
        point: &Point<'_>,
        memory: &MemoryBudget,
    ) -> anyhow::Result<Row> {
        let document = grid.document(point.combination)?;
        match self {
            SweepCore::NeoverseN2 => on_n2(grid, point, &document, memory),
            SweepCore::CortexA53 => {
                let part = Part { warmup: grid.options.warmup, ..grid.options.limit.into() };
                on_a53(&point.trace.path, &document, &part, memory).with_context(|| point.name())
            }
        }
    }
}

fn on_n2(
    grid: &Grid,
    point: &Point<'_>,
    document: &Document,
    memory: &MemoryBudget,
) -> anyhow::Result<Row> {
    let place = || point.name();
    let config = MachineConfig::from_document(document)?;
    let header = RunHeader { trace: point.trace.name.clone(), ..RunHeader::default() };
    let session =
        Session::open_within(&point.trace.path, config, header, memory).with_context(place)?;
    let session = session.without_roots();
    let outcome = session.run(&grid.options, &mut |_| {}).with_context(place)?;
    let total = outcome.total();
    let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
    Ok(Row {
        cores: outcome.cores.len() as u32,
        longest: cycles.max().unwrap_or_default(),
        counts: PmuEvent::ALL.map(|event| total.value(event)).to_vec(),
    })
}

fn on_a53(
    trace: &Path,
    document: &Document,
    part: &Part,
    memory: &MemoryBudget,
) -> anyhow::Result<Row> {
    let config = A53Config::from_document(document)?;
    let trace = TraceFile::open_within(trace, memory)?;
    let cores = sim_a53::run_part(&trace, &config, part)?;
    let sum = |event| cores.iter().map(|core| core.counts.value(event)).sum();
    Ok(Row {
        cores: cores.len() as u32,
        longest: cores.iter().map(|core| core.cycles).max().unwrap_or_default(),
        counts: A53Event::ALL.map(sum).to_vec(),
    })
}

/// Returns whether a run was refused memory.
pub(super) fn is_over_budget(error: &anyhow::Error) -> bool {
    let refused = |error: &TraceError| matches!(error, TraceError::Memory { .. });
    error.downcast_ref().is_some_and(MachineError::is_over_budget)
        || error.downcast_ref().is_some_and(refused)
        || matches!(error.downcast_ref(), Some(A53Error::Trace(error)) if refused(error))
}
