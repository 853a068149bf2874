//! `cargo xtask silicon --fit`: the method of `n2sim calibrate` on the public measurements, beside
//! the machine files that were made by hand.

mod cut;
mod kept;
mod keys;
mod model;
mod page;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use sim_calibrate::{Calibration, Key, Progress, RunError, Runs, Settings, calibrate};
use sim_core::config::Document;
use sim_machine::{Machine, MachineConfig};
use sim_tests::repository;

use super::rows::{MACHINES, Row};
use cut::Use;
use kept::Kept;
use keys::Start;
use model::{Replayed, Rows};

/// Result of the searches on one machine.
struct Fitted<'a> {
    machine: Machine,
    /// Rows of the comparison, with their use.
    rows: Vec<(&'a Row, Use)>,
    /// Errors of the rows at each place: both starts, and what was fitted from them.
    errors: Vec<(&'static str, Vec<f64>)>,
    searches: Vec<Searched>,
}

/// Result of one search.
struct Searched {
    start: Start,
    keys: Vec<Key>,
    /// Names of the fitted rows.
    rows: Vec<String>,
    found: Calibration,
    /// Runs of the model.
    runs: usize,
}

/// Fits both machines from both starts, and writes `docs/silicon-fit.md` after each search.
pub(super) fn run(rows: &[Row], folder: &Path, most_runs: usize) -> Result<()> {
    let kept = Kept::open(&folder.join("fit.runs"))?;
    let path = repository().join("docs/silicon-fit.md");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let mut all = Vec::new();
    for machine in MACHINES {
        let fit = Fit::new(machine, rows, folder, &kept)?;
        all.push(fit.before()?);
        for start in Start::BOTH {
            let fitted = all.last_mut().context("a machine was added")?;
            fit.search(start, most_runs, fitted)?;
            std::fs::write(&path, page::page(&all, page::conclusion(&before)))
                .with_context(|| format!("writing {}", path.display()))?;
            println!("wrote {}", path.display());
        }
    }
    Ok(())
}

/// Rows, model and kept replays of one machine, for all its searches.
struct Fit<'a> {
    machine: Machine,
    clock_hz: f64,
    used: Vec<(Replayed<'a>, Use)>,
    model: Rows<'a>,
    kept: &'a Kept,
}

impl<'a> Fit<'a> {
    /// Selects the rows of a machine.
    fn new(machine: Machine, rows: &'a [Row], folder: &Path, kept: &'a Kept) -> Result<Fit<'a>> {
        let mut used = Vec::new();
        let own = |row: &&Row| row.machine == machine && row.out_of_reach.is_none();
        for row in rows.iter().filter(own) {
            if let Some((path, share, used_as)) = cut::recording(row, folder)? {
                used.push((Replayed { row, path, share }, used_as));
            }
        }
        let fitted = used.iter().filter(|(_, used_as)| *used_as == Use::Fitted);
        let fitted = fitted.map(|(replayed, _)| replayed.clone()).collect();
        let document = Start::Plain.document(machine)?;
        let clock_hz = MachineConfig::from_document(&document)?.core.clock_hz as f64;
        let keys = keys::keys(machine, Start::Plain)?;
        let model = Rows::new(document, keys, fitted, kept);
        println!("{}: {} rows", machine.name(), model.rows.len());
        Ok(Fit { machine, clock_hz, used, model, kept })
    }

    /// Returns the errors at both starts.
    fn before(&self) -> Result<Fitted<'a>> {
        let rows = self.used.iter().map(|(replayed, used_as)| (replayed.row, *used_as)).collect();
        let at = |start: Start| Ok((start.name(), self.errors(&start.document(self.machine)?)?));
        let errors = Start::BOTH.into_iter().map(at).collect::<Result<_>>()?;
        Ok(Fitted { machine: self.machine, rows, errors, searches: Vec::new() })
    }

    fn errors(&self, document: &Document) -> Result<Vec<f64>> {
        let all: Vec<Replayed<'_>> =
            self.used.iter().map(|(replayed, _)| replayed.clone()).collect();
        model::errors(&all, document, self.clock_hz, self.kept)
    }

    /// Searches from a start, and adds what was found.
    fn search(&self, start: Start, most_runs: usize, fitted: &mut Fitted<'_>) -> Result<()> {
        let keys = keys::keys(self.machine, start)?;
        let searched = search(&self.model, start, keys, self.clock_hz, most_runs)?;
        let positions = searched.keys.iter().zip(&searched.found.keys);
        let values: Vec<i64> = positions.map(|(key, found)| key.value(found.position)).collect();
        fitted.errors.push((start.fitted_name(), self.errors(&self.model.with(&values)?)?));
        fitted.searches.push(searched);
        Ok(())
    }
}

/// Searches from a start.
fn search(
    model: &Rows<'_>,
    start: Start,
    keys: Vec<Key>,
    clock_hz: f64,
    most_runs: usize,
) -> Result<Searched> {
    let begin = Instant::now();
    let points = model::points(&model.rows, clock_hz);
    let show = |progress: Progress| {
        let Progress { runs, difference } = progress;
        println!("{} runs, {:.1} s, {difference:.2?}", runs, begin.elapsed().as_secs_f64());
    };
    let mut runs = Runs::new(&keys, model, None, &show, 0)?;
    let found = calibrate(&mut runs, &keys, &points, Settings { most_runs });
    let made = runs.made();
    let found = found.map_err(|error| match error {
        RunError::Model(error) => error,
        RunError::Journal(error) => anyhow!("{error:?}"),
    })?;
    let found = found.context("the model has no machine where the search starts")?;
    Ok(Searched { start, rows: points.kernels, keys, found, runs: made })
}
