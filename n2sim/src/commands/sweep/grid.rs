//! The grid of a sweep, checked before the first run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;
use sim_core::config::{Document, units};
use sim_machine::{ConfigSource, Machine, Profile, RunOptions};
use sim_metrics::formula::{Linked, MetricFormula};
use sim_trace::TraceFile;

use super::core::{EventColumn, SweepCore};
use crate::files::{a53_config, input, open_trace};
use crate::host::memory;
use crate::shared_args::instructions;
use sim_core::Shown;

/// Maximum number of runs of a sweep.
const RUNS_MAX: usize = 100_000;

/// The grid file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct GridFile {
    traces: Vec<String>,
    #[serde(default)]
    core: SweepCore,
    #[serde(default)]
    profile: Option<FileProfile>,
    #[serde(default)]
    machine: Option<String>,
    config: Option<PathBuf>,
    #[serde(default)]
    set: Vec<String>,
    warmup: Option<Amount>,
    limit: Option<Amount>,
    events: Option<Vec<String>>,
    #[serde(default)]
    metrics: Vec<String>,
    #[serde(default)]
    vary: Vec<VaryFile>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileProfile {
    Guide,
    Silicon,
}

/// A number of instructions: `500000` or `"500k"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VaryFile {
    key: String,
    values: Vec<toml::Value>,
}

/// A key of the configuration and its values, in the file's spelling.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) key: String,
    pub(super) values: Vec<String>,
}

/// A trace of the sweep.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// The name in the grid.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) hash: u64,
}

/// One choice of a value for every axis.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    /// For each axis, the index of the chosen value.
    pub(super) chosen: Vec<usize>,
    /// Hash of the configuration.
    pub(super) hash: u64,
    /// Revision r0pN of its core, for metrics.
    pub(super) patch: u8,
    /// Clock of its core.
    pub(super) clock_hz: u64,
}

/// A column with a metric.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) linked: Linked,
    pub(super) factor: f64,
}

/// A trace on a combination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    /// Number of the run's row in the table, from 0.
    pub(super) number: usize,
    pub(super) trace: &'a Trace,
    pub(super) combination: &'a Combination,
    grid: &'a Grid,
}

/// The runs of a sweep.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) core: SweepCore,
    pub(super) traces: Vec<Trace>,
    pub(super) axes: Vec<Axis>,
    pub(super) combinations: Vec<Combination>,
    pub(super) options: RunOptions,
    pub(super) events: Vec<EventColumn>,
    pub(super) metrics: Vec<Metric>,
    profile: Profile,
    machine: Machine,
    config: Option<PathBuf>,
    set: Vec<String>,
}

impl Grid {
    /// Reads and checks everything. Opens each trace once and makes each configuration once.
    pub(super) fn read(path: &Path) -> anyhow::Result<Grid> {
        let name = path.shown().to_string();
        let text = input::text(path).with_context(|| format!("cannot read the grid {name}"))?;
        let file: GridFile = toml::from_str(&text).with_context(|| name.clone())?;
        let directory = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Grid::checked(file, &directory).with_context(|| name)
    }

    fn checked(file: GridFile, directory: &Path) -> anyhow::Result<Grid> {
        if file.core == SweepCore::CortexA53 {
            refuse_on_a53(&file)?;
        }
        let axes = file.vary.into_iter().map(axis).collect::<anyhow::Result<Vec<Axis>>>()?;
        for (number, axis) in axes.iter().enumerate() {
            if axes[..number].iter().any(|other| other.key == axis.key) {
                bail!("{} varies twice: give all of its values in one list", axis.key);
            }
        }
        let options = RunOptions {
            warmup: file.warmup.map_or(Ok(0), |amount| amount.instructions("warmup", 0))?,
            limit: file.limit.map(|amount| amount.instructions("limit", 1)).transpose()?,
            roi: None,
        };
        let profile = match file.profile {
            None | Some(FileProfile::Guide) => Profile::Guide,
            Some(FileProfile::Silicon) => Profile::Silicon,
        };
        let machine = file.machine.as_deref().map(Machine::from_name).transpose();
        let machine = machine.map_err(|error| anyhow::anyhow!("machine: {error}"))?;
        let machine = machine.unwrap_or_default();
        let mut grid = Grid {
            core: file.core,
            traces: Vec::new(),
            axes,
            combinations: Vec::new(),
            options,
            events: file.core.columns(file.events)?,
            metrics: metrics(&file.metrics, file.core)?,
            profile,
            machine,
            config: file.config.map(|config| directory.join(config)),
            set: file.set,
        };
        let each =
            grid.axes.iter().try_fold(1usize, |runs, axis| runs.checked_mul(axis.values.len()));
        let runs = each.and_then(|each| each.checked_mul(file.traces.len()));
        match runs {
            Some(0) => bail!("it has no trace: give traces = [\"FILE\", ...]"),
            Some(runs) if runs <= RUNS_MAX => {}
            _ => bail!("it has more than {RUNS_MAX} runs: split it"),
        }
        grid.combinations = grid.all_combinations()?;
        grid.traces =
            file.traces.iter().map(|name| trace(name, directory)).collect::<Result<_, _>>()?;
        Ok(grid)
    }

    /// Runs of the sweep.
    pub(super) fn len(&self) -> usize {
        self.traces.len() * self.combinations.len()
    }

    /// Returns all runs, in the order of the table: the last key varies fastest, the trace last of
    /// all.
    pub(super) fn points(&self) -> impl Iterator<Item = Point<'_>> {
        let pairs = self.traces.iter().flat_map(|trace| {
            self.combinations.iter().map(move |combination| (trace, combination))
        });
        let point =
            |(number, (trace, combination))| Point { number, trace, combination, grid: self };
        pairs.enumerate().map(point)
    }

    /// Returns the configuration of a combination.
    pub(super) fn document(&self, combination: &Combination) -> anyhow::Result<Document> {
        self.document_of(&combination.chosen)
    }

    /// Returns the column of a metric, by its name.
    pub(super) fn metric(&self, name: &str) -> anyhow::Result<usize> {
        let found = self.metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(name));
        found.with_context(|| {
            let names: Vec<&str> = self.metrics.iter().map(|metric| metric.name.as_str()).collect();
            format!(
                "--plot-metric {name}: the grid has the metrics [{}]; add it there",
                names.join(", ")
            )
        })
    }

    fn document_of(&self, chosen: &[usize]) -> anyhow::Result<Document> {
        let varied = self.axes.iter().zip(chosen);
        let varied = varied.map(|(axis, value)| format!("{}={}", axis.key, axis.values[*value]));
        let overrides: Vec<String> = self.set.iter().cloned().chain(varied).collect();
        if self.core == SweepCore::CortexA53 {
            return a53_config::merged(self.config.as_deref(), &overrides);
        }
        let source = ConfigSource {
            profile: self.profile,
            machine: self.machine,
            file: self.config.as_deref(),
            overrides: &overrides,
        };
        Ok(source.document()?)
    }

    fn all_combinations(&self) -> anyhow::Result<Vec<Combination>> {
        let mut choices: Vec<Vec<usize>> = vec![Vec::new()];
        for axis in &self.axes {
            let longer = |chosen: &Vec<usize>| {
                let chosen = chosen.clone();
                (0..axis.values.len()).map(move |value| [chosen.clone(), vec![value]].concat())
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        let combination = |chosen: Vec<usize>| {
            let document = self.document_of(&chosen)?;
            let (patch, clock_hz) = self.core.check(&document)?;
            Ok(Combination { chosen, hash: document.hash(), patch, clock_hz })
        };
        choices.into_iter().map(combination).collect()
    }
}

impl Point<'_> {
    /// Returns the trace and what varies, for messages.
    pub(super) fn name(&self) -> String {
        let values = self.grid.axes.iter().zip(&self.combination.chosen);
        let values = values.map(|(axis, value)| format!(" {}={}", axis.key, axis.values[*value]));
        format!("{}{}", self.trace.name, values.collect::<String>())
    }
}

impl Amount {
    fn instructions(&self, key: &str, least: u64) -> anyhow::Result<u64> {
        let number = match self {
            Amount::Number(number) => Ok(*number),
            Amount::Text(text) => instructions(text),
        };
        match number {
            Ok(number) if number >= least => Ok(number),
            Ok(_) => bail!("{key}: give at least one instruction"),
            Err(error) => bail!("{key}: {error}"),
        }
    }
}

fn axis(file: VaryFile) -> anyhow::Result<Axis> {
    let key = file.key;
    let spelled = |value: &toml::Value| match value {
        // The table shows the number without its unit.
        toml::Value::String(text) => {
            Ok(units::resolve(&key, text).map_or_else(|| text.clone(), |number| number.to_string()))
        }
        toml::Value::Table(_) | toml::Value::Array(_) => {
            bail!("vary {key}: {value} is not a single value")
        }
        value => Ok(value.to_string()),
    };
    let values = file.values.iter().map(spelled).collect::<anyhow::Result<Vec<String>>>()?;
    if values.is_empty() {
        bail!("vary {key}: it has no values");
    }
    for (number, value) in values.iter().enumerate() {
        if values[..number].contains(value) {
            bail!("vary {key}: the value {value} is there twice");
        }
    }
    Ok(Axis { key, values })
}

/// Opens a trace far enough to check that it is one.
fn trace(name: &str, directory: &Path) -> anyhow::Result<Trace> {
    let path = directory.join(name);
    let file = TraceFile::open_within(&path, &memory::budget())?;
    open_trace::write_lacks(&mut std::io::stderr(), &path, &file)?;
    Ok(Trace { name: name.to_owned(), path, hash: file.hash() })
}

/// Refuses the keys of a grid that only the Neoverse N2 has.
fn refuse_on_a53(file: &GridFile) -> anyhow::Result<()> {
    let refused = [(file.profile.is_some(), "profile"), (file.machine.is_some(), "machine")];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, key)) => bail!("{key}: works with core = \"neoverse-n2\" only"),
        None => Ok(()),
    }
}

/// Returns the metrics that are columns, from names and groups.
fn metrics(names: &[String], core: SweepCore) -> anyhow::Result<Vec<Metric>> {
    let catalog = core.catalog();
    let mut chosen: Vec<Metric> = Vec::new();
    for name in names {
        let found: Vec<&MetricFormula> = catalog.named(name);
        if found.is_empty() {
            let see = format!("(see n2sim list metrics{})", core.option());
            if SweepCore::NeoverseN2.catalog().get(name).is_some() {
                bail!(
                    "metrics: '{name}' is a metric of the Neoverse N2, which the Cortex-A53 does not have {see}"
                );
            }
            bail!("metrics: none is called '{name}' {see}");
        }
        for metric in found {
            if chosen.iter().any(|own| own.name == metric.name) {
                continue;
            }
            let place = |error: String| anyhow::anyhow!("metrics: {}: {error}", metric.name);
            let formula = metric.formula.as_ref().map_err(|error| place(error.to_string()))?;
            let linked = Linked::on(core.events_of(), &metric.name, formula, &catalog)
                .map_err(|error| place(error.to_string()))?;
            chosen.push(Metric { name: metric.name.clone(), linked, factor: metric.scale.factor });
        }
    }
    Ok(chosen)
}
