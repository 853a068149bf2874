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
    minutes: f64,
}

/// Fits both machines from both starts and writes `docs/silicon-fit.md`.
pub(super) fn run(rows: &[Row], folder: &Path, most_runs: usize) -> Result<()> {
    let kept = Kept::open(&folder.join("fit.runs"))?;
    let machines = MACHINES.map(|machine| fit(machine, rows, folder, &kept, most_runs));
    let mut fitted = Vec::new();
    for machine in machines {
        fitted.push(machine?);
    }
    let path = repository().join("docs/silicon-fit.md");
    std::fs::write(&path, page::page(&fitted))
        .with_context(|| format!("writing {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Fits a machine from both starts.
fn fit<'a>(
    machine: Machine,
    rows: &'a [Row],
    folder: &Path,
    kept: &'a Kept,
    most_runs: usize,
) -> Result<Fitted<'a>> {
    let mut used = Vec::new();
    let own = |row: &&Row| row.machine == machine && row.out_of_reach.is_none();
    for row in rows.iter().filter(own) {
        if let Some((path, share, used_as)) = cut::recording(row, folder)? {
            used.push((Replayed { row, path, share }, used_as));
        }
    }
    let replayed = |wanted: &dyn Fn(Use) -> bool| -> Vec<Replayed<'a>> {
        let of_use = used.iter().filter(|(_, used_as)| wanted(*used_as));
        of_use.map(|(replayed, _)| replayed.clone()).collect()
    };
    let document = Start::Plain.document(machine)?;
    let clock_hz = MachineConfig::from_document(&document)?.core.clock_hz as f64;
    let keys = Start::BOTH.map(|start| keys::keys(machine, start));
    let [plain, hand_made] = keys;
    let (plain, hand_made) = (plain?, hand_made?);
    let other: Vec<usize> = hand_made.iter().map(|key| key.start).collect();
    let begin = Instant::now();
    let fitted_rows = replayed(&|used| used == Use::Fitted);
    let model = Rows::new(document, plain.clone(), fitted_rows, &other, kept)?;
    println!(
        "{}: {} rows, {:.1} of {} keys change a row, {:.1} minutes",
        machine.name(),
        model.rows.len(),
        model.keys_of_a_row(),
        plain.len(),
        begin.elapsed().as_secs_f64() / 60.0
    );
    let all = replayed(&|_| true);
    let mut errors = Vec::new();
    let mut searches = Vec::new();
    for (start, keys) in [(Start::Plain, plain), (Start::HandMade, hand_made)] {
        errors
            .push((start.name(), model::errors(&all, &start.document(machine)?, clock_hz, kept)?));
        searches.push(search(&model, start, keys, clock_hz, most_runs)?);
    }
    for search in &searches {
        let positions = search.keys.iter().zip(&search.found.keys);
        let values: Vec<i64> = positions.map(|(key, found)| key.value(found.position)).collect();
        let fitted = model::errors(&all, &model.with(&values)?, clock_hz, kept)?;
        errors.push((search.start.fitted_name(), fitted));
    }
    let rows = used.iter().map(|(replayed, used_as)| (replayed.row, *used_as)).collect();
    Ok(Fitted { machine, rows, errors, searches })
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
    let minutes = begin.elapsed().as_secs_f64() / 60.0;
    Ok(Searched { start, rows: points.kernels, keys, found, runs: made, minutes })
}
