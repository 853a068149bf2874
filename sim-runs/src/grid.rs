//! The runs of a grid, checked before the first one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sim_core::config::Document;
use sim_core::{MemoryBudget, Shown};
use sim_machine::{ConfigSource, Machine, Profile, RunOptions};

use crate::error::RunsError;
use crate::grid_file::GridFile;
use crate::key::{Inputs, sha256};
use crate::part::Part;
use crate::rows::{Row, Rows};
use crate::run_core::{Checked, EventColumn, MetricColumn, SweepCore};
use crate::shard::Shard;
use crate::trace::{PartRules, Trace};
use crate::windows::Windows;

/// Largest number of runs of a grid.
const RUNS_MAX: usize = 100_000;

/// A key of the configuration and its values, in the file's spelling but without units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Dotted key.
    pub key: String,
    /// Values, each once.
    pub values: Vec<String>,
}

/// One choice of a value for every axis.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    /// For each axis, the index of the chosen value.
    pub(crate) chosen: Vec<usize>,
    /// Hash of the configuration that the table shows.
    pub(crate) hash: u64,
    /// SHA-256 of the configuration.
    pub(crate) digest: String,
    /// Values of the configuration.
    pub(crate) checked: Checked,
}

/// One run of a grid: a trace or a part of it, and a value for each axis.
///
/// A point means something only to its own [`Grid`], which returns its trace, values and key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Number of the run, from 0.
    pub number: usize,
    /// Number of the row in the table, from 0. Runs of all parts of a trace share a row.
    pub row: usize,
    /// Number of the trace, from 0.
    pub trace: usize,
    pub(crate) combination: usize,
    pub(crate) part: usize,
}

/// The runs of a sweep.
#[derive(Clone, Debug)]
pub struct Grid {
    pub(crate) core: SweepCore,
    pub(crate) traces: Vec<Trace>,
    /// Number of the first run of each trace.
    begins: Vec<usize>,
    /// Number of all runs.
    runs: usize,
    pub(crate) axes: Vec<Axis>,
    pub(crate) combinations: Vec<Combination>,
    pub(crate) options: RunOptions,
    pub(crate) events: Vec<EventColumn>,
    pub(crate) metrics: Vec<MetricColumn>,
    profile: Profile,
    machine: Machine,
    config: Option<PathBuf>,
    set: Vec<String>,
}

impl Grid {
    /// Reads a grid file and checks everything: opens each trace once, within `memory`, and makes
    /// each configuration once. Names of files in the grid are relative to its directory.
    ///
    /// # Errors
    /// The file cannot be read, it has an unknown or missing key or a wrong value, a configuration
    /// is wrong, a trace is missing or is none, or windows or parts do not fit it. The text begins
    /// with the name of the grid.
    pub fn read(path: &Path, memory: &MemoryBudget) -> Result<Grid, RunsError> {
        let name = path.shown().to_string();
        let text = sim_files::text(path);
        let text = text.map_err(RunsError::io(&format!("cannot read the grid {name}")))?;
        let directory = path.parent().unwrap_or(Path::new(""));
        Grid::from_toml(&text, directory, memory).map_err(|error| error.at(name))
    }

    /// Reads the text of a grid, as [`Grid::read`] does. Names of files in it are relative to
    /// `directory`.
    ///
    /// # Errors
    /// The same as for [`Grid::read`], without the name of the grid.
    pub fn from_toml(
        text: &str,
        directory: &Path,
        memory: &MemoryBudget,
    ) -> Result<Grid, RunsError> {
        Grid::checked(toml::from_str(text)?, directory, memory)
    }

    fn checked(
        mut file: GridFile,
        directory: &Path,
        memory: &MemoryBudget,
    ) -> Result<Grid, RunsError> {
        file.refuse_other_keys()?;
        let (axes, options, profile) = (file.axes()?, file.options()?, file.profile());
        let machine = file.machine()?;
        let rules = part_rules(&file, directory)?;
        let mut grid = Grid {
            core: file.core,
            traces: Vec::new(),
            begins: Vec::new(),
            runs: 0,
            axes,
            combinations: Vec::new(),
            options,
            events: file.core.columns(file.events)?,
            metrics: file.core.metrics(&file.metrics)?,
            profile,
            machine,
            config: file.config.map(|config| directory.join(config)),
            set: file.set,
        };
        grid.check_number(file.traces.len())?;
        grid.combinations = grid.all_combinations()?;
        for name in &file.traces {
            let mut trace = Trace::open(name, directory, &rules, memory)?;
            trace.notes.extend(grid.note_on_states(&trace)?);
            grid.begins.push(grid.runs);
            grid.runs += trace.parts.len() * grid.combinations.len();
            grid.traces.push(trace);
        }
        grid.refuse_unused(rules)?;
        grid.check_number(grid.traces.iter().map(|trace| trace.parts.len()).sum())?;
        Ok(grid)
    }

    /// Refuses more runs than a table holds. `parts` is the number of parts of all traces.
    fn check_number(&self, parts: usize) -> Result<(), RunsError> {
        let each =
            self.axes.iter().try_fold(1usize, |runs, axis| runs.checked_mul(axis.values.len()));
        let what = match each.and_then(|each| each.checked_mul(parts)) {
            Some(0) => String::from("it has no trace: give traces = [\"FILE\", ...]"),
            Some(runs) if runs <= RUNS_MAX => return Ok(()),
            _ => format!("it has more than {RUNS_MAX} runs: split it, or give fewer parts"),
        };
        Err(RunsError::Wrong(what))
    }

    /// Refuses a file of windows of no trace.
    fn refuse_unused(&self, rules: PartRules) -> Result<(), RunsError> {
        let is_unused = |windows: &Arc<Windows>| {
            let mut used = self.traces.iter().filter_map(|trace| trace.windows.as_ref());
            !used.any(|used| Arc::ptr_eq(used, windows))
        };
        match rules.windows.unwrap_or_default().into_iter().find(is_unused) {
            None => Ok(()),
            Some(windows) => Err(RunsError::Wrong(format!(
                "regions: {} has the windows of {}, which the grid does not have among its traces",
                windows.file, windows.regions.trace
            ))),
        }
    }

    /// Returns how many configurations cannot use the states of a trace.
    ///
    /// # Errors
    /// The windows are in several parts, and a configuration has no states for them. Each part
    /// would lose what earlier windows leave in caches and predictors: percents of the counts.
    fn note_on_states(&self, trace: &Trace) -> Result<Option<String>, RunsError> {
        let Some(windows) = &trace.windows else { return Ok(None) };
        let is_without = |chosen: &&Combination| !windows.begin_in_states(chosen.checked.warm);
        let all = self.combinations.len();
        let without = self.combinations.iter().filter(is_without).count();
        let which = "other caches, memory, predictors, wrong paths or another seed than the states";
        match (without, windows.have_states()) {
            (0, _) => Ok(None),
            (_, false) if trace.parts.len() > 1 => Err(RunsError::Wrong(format!(
                "parts: {} has no states; find the windows of {} again, with states, or take out parts",
                windows.file, trace.name
            ))),
            _ if trace.parts.len() > 1 => Err(RunsError::Wrong(format!(
                "parts: {without} of {all} configurations have {which} of {}; vary these without parts",
                windows.file
            ))),
            (_, false) => Ok(None),
            _ => Ok(Some(format!(
                "{without} of {all} configurations have {which}: their windows begin after functional \
                 warming, and differ by that from the others, too"
            ))),
        }
    }

    /// Returns the number of runs. A grid has at least one.
    #[allow(clippy::len_without_is_empty, reason = "no grid is empty")]
    pub fn len(&self) -> usize {
        self.runs
    }

    /// Returns the number of rows of the table.
    pub fn rows(&self) -> usize {
        self.traces.len() * self.combinations.len()
    }

    /// Returns the core of every run.
    pub fn core(&self) -> SweepCore {
        self.core
    }

    /// Returns the traces, in the order of the grid.
    pub fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// Returns what varies, in the order of the grid.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the names of the events that are columns of the table.
    pub fn events(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(|event| event.name.as_str())
    }

    /// Returns the names of the metrics that are columns of the table.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|metric| metric.name.as_str())
    }

    /// Returns all runs, in the order of the table: the last key varies fastest, the trace last of
    /// all. Runs of the parts of a trace follow each other.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        (0..self.len()).filter_map(|number| self.point(number))
    }

    /// Returns the run with a number; `None` if the grid has fewer.
    pub fn point(&self, number: usize) -> Option<Point> {
        let trace = self.begins.partition_point(|begin| *begin <= number).checked_sub(1)?;
        let (parts, inside) = (self.traces[trace].parts.len(), number - self.begins[trace]);
        let (combination, part) = (inside / parts, inside % parts);
        let row = trace * self.combinations.len() + combination;
        (number < self.runs).then_some(Point { number, row, trace, combination, part })
    }

    /// Returns the runs of a row of the table, in the order of the parts.
    pub(crate) fn points_of_row(&self, row: usize) -> impl Iterator<Item = Point> {
        let each = self.combinations.len();
        let (trace, combination) = (row / each, row % each);
        let parts = self.traces[trace].parts.len();
        let first = self.begins[trace] + combination * parts;
        (first..first + parts).filter_map(|number| self.point(number))
    }

    /// Returns the first run of each row of the table, in its order.
    pub fn first_points(&self) -> impl Iterator<Item = Point> {
        (0..self.rows()).filter_map(|row| self.points_of_row(row).next())
    }

    /// Returns the runs of one machine.
    pub fn share(&self, shard: Shard) -> Vec<Point> {
        shard.range(self.len()).filter_map(|number| self.point(number)).collect()
    }

    /// Returns the trace of a run.
    pub fn trace(&self, point: &Point) -> &Trace {
        &self.traces[point.trace]
    }

    /// Returns the value of each axis in a run, in the order of the axes.
    pub fn values(&self, point: &Point) -> Vec<&str> {
        let chosen = &self.chosen(point).chosen;
        self.axes.iter().zip(chosen).map(|(axis, value)| axis.values[*value].as_str()).collect()
    }

    /// Returns the index of the value of an axis in a run.
    pub fn value_index(&self, point: &Point, axis: usize) -> usize {
        self.chosen(point).chosen[axis]
    }

    /// Returns the trace, the part if there are several, and what varies, for messages:
    /// `hash.n2t part 2 of 8 pipeline.window.rob=64`.
    pub fn name(&self, point: &Point) -> String {
        let values = self.axes.iter().zip(self.values(point));
        let values = values.map(|(axis, value)| format!(" {}={value}", axis.key));
        let Trace { name, parts, .. } = self.trace(point);
        let part = match parts.len() {
            1 => String::new(),
            count => format!(" part {} of {count}", point.part + 1),
        };
        format!("{name}{part}{}", values.collect::<String>())
    }

    /// Returns the key of a run: the SHA-256, in hexadecimal digits, of the content hash of the
    /// trace, all values of the configuration, the core, the part of the trace and the version of
    /// n2sim. These determine the counts. Names of files and the order of the grid do not matter.
    pub fn key(&self, point: &Point) -> String {
        let inputs = Inputs {
            trace: self.trace(point).hash,
            core: self.core.name(),
            config: &self.chosen(point).digest,
            warmup: self.options.warmup,
            limit: self.options.limit,
            part: &self.part(point).key_text(self.chosen(point).checked.warm),
        };
        inputs.key()
    }

    /// Returns what a run counts of its trace.
    pub(crate) fn part(&self, point: &Point) -> &Part {
        &self.trace(point).parts[point.part]
    }

    /// Returns the keys of all runs, each with its first run. Several runs have one key if the grid
    /// has a trace twice.
    pub(crate) fn keys(&self) -> BTreeMap<String, Point> {
        let mut keys = BTreeMap::new();
        for point in self.points() {
            keys.entry(self.key(&point)).or_insert(point);
        }
        keys
    }

    /// Returns a hash of the keys of all runs, whatever their order.
    pub(crate) fn identity(&self) -> String {
        sha256(&self.keys().into_keys().collect::<Vec<_>>().join("\n"))
    }

    /// Returns the runs without a row, each key once.
    pub fn missing(&self, points: &[Point], rows: &Rows) -> Vec<Point> {
        let mut seen = BTreeSet::new();
        let is_missing = |point: &&Point| {
            let key = self.key(point);
            rows.get(&key).is_none() && seen.insert(key)
        };
        points.iter().filter(is_missing).copied().collect()
    }

    /// Returns true if a row has a count for each event of the core, in each window of the run.
    pub fn fits(&self, point: &Point, row: &Row) -> bool {
        let expected = self.core.events() * self.part(point).windows();
        match row {
            Row::Counted(counts) => counts.counts.len() == expected,
            Row::Failed { .. } => true,
        }
    }

    pub(crate) fn chosen(&self, point: &Point) -> &Combination {
        &self.combinations[point.combination]
    }

    /// Returns the configuration of a run.
    pub(crate) fn document(&self, point: &Point) -> Result<Document, RunsError> {
        self.document_of(&self.chosen(point).chosen)
    }

    fn document_of(&self, chosen: &[usize]) -> Result<Document, RunsError> {
        let varied = self.axes.iter().zip(chosen);
        let varied = varied.map(|(axis, value)| format!("{}={}", axis.key, axis.values[*value]));
        let overrides: Vec<String> = self.set.iter().cloned().chain(varied).collect();
        let source = ConfigSource {
            profile: self.profile,
            machine: self.machine,
            file: self.config.as_deref(),
            overrides: &overrides,
        };
        self.core.document(&source)
    }

    fn all_combinations(&self) -> Result<Vec<Combination>, RunsError> {
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
            let checked = self.core.check(&document)?;
            let (hash, digest) = (document.hash(), sha256(&document.canonical()));
            Ok(Combination { chosen, hash, digest, checked })
        };
        choices.into_iter().map(combination).collect()
    }
}

/// Returns the rules by which the traces of a grid are cut into parts.
fn part_rules(file: &GridFile, directory: &Path) -> Result<PartRules, RunsError> {
    let read = |names: &Vec<String>| -> Result<Vec<Arc<Windows>>, RunsError> {
        let windows = names.iter().map(|name| Windows::read(&directory.join(name)));
        windows.map(|windows| windows.map(Arc::new)).collect()
    };
    let windows = file.regions.as_ref().map(read).transpose()?;
    let all = windows.as_deref().unwrap_or_default();
    for (number, one) in all.iter().enumerate() {
        let is_same = |other: &&Arc<Windows>| other.regions.trace_hash == one.regions.trace_hash;
        if let Some(other) = all[..number].iter().find(is_same) {
            return Err(RunsError::Wrong(format!(
                "regions: {} and {} both have windows of {}; give one of them",
                other.file, one.file, one.regions.trace
            )));
        }
    }
    Ok(PartRules { core: file.core, parts: file.parts()?, windows })
}
