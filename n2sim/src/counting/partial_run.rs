//! Runs of parts of a trace: windows that represent all of it, or chunks that run in parallel.

use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use sim_files::File;
use sim_lab::{Estimate, Regions};
use sim_machine::{Outcome, Session};
use sim_trace::StatesReader;

use sim_core::{PmuEvent, Shown};

/// The estimate of the whole trace from its parts.
pub(crate) struct PartialRun {
    pub(crate) outcome: Outcome,
    /// For each event, by its number, the possible error of the estimate in percent.
    pub(crate) errors: Option<Vec<f64>>,
}

/// Cuts the trace into `chunks` and runs them in parallel.
pub(crate) fn run_chunks(
    chunks: u32,
    session: &Session,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<PartialRun> {
    Ok(PartialRun { outcome: sim_lab::run_chunks(session, chunks, progress)?, errors: None })
}

/// Runs the windows of the file `path` and scales their counts to the whole trace.
pub(crate) fn run_windows(
    path: &Path,
    session: &Session,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<PartialRun> {
    let file = path.shown().to_string();
    let text =
        sim_files::text(path).with_context(|| format!("{file}: the windows cannot be read"))?;
    let regions = Regions::parse(&file, &text)?;
    regions.check_trace(&file, session.trace())?;
    let (mut states, note) = states(path, &regions, session)?;
    let estimate = regions.run(session, states.as_mut(), progress)?;
    let Estimate { mut outcome, errors, unknown } =
        estimate.context("a file of windows has one at least")?;
    let counted: u64 = regions.windows.iter().map(|window| window.length).sum();
    outcome.notes.push(format!(
        "estimated from {} windows, {:.2} % of the instructions; +- is half of the 95 % confidence interval \
         (docs/regions.md)",
        regions.windows.len(),
        100.0 * counted as f64 / regions.instructions as f64
    ));
    outcome.notes.extend(note);
    outcome.notes.extend(unknown_events(&errors));
    if unknown > 0 {
        outcome.notes.push(format!(
            "{unknown} clusters have one window only: what they add to the error is not known"
        ));
    }
    Ok(PartialRun { outcome, errors: Some(errors) })
}

/// Returns a note with the events that the estimate does not give.
fn unknown_events(errors: &[f64]) -> Option<String> {
    let is_unknown = |event: &PmuEvent| !errors[*event as usize].is_finite();
    let names: Vec<&str> =
        PmuEvent::ALL.into_iter().filter(is_unknown).map(|event| event.mnemonic()).collect();
    let note = || {
        format!(
            "not estimated, because half of the interval would be more than the count: {}",
            names.join(", ")
        )
    };
    (!names.is_empty()).then(note)
}

/// Returns the states in which the windows of `path` begin. If they are of another machine, returns
/// a note instead.
fn states(
    path: &Path,
    regions: &Regions,
    session: &Session,
) -> anyhow::Result<(Option<StatesReader>, Option<String>)> {
    let Some(name) = &regions.states else { return Ok((None, None)) };
    let file = path.with_file_name(name);
    let shown = file.shown().to_string();
    let input = File::open(&file).with_context(|| {
        format!(
            "{shown}: the states that {} names cannot be read; find the windows again, or take its line \
             `states` out",
            path.shown()
        )
    })?;
    let states = StatesReader::new(BufReader::new(input), &shown)?;
    if regions.fit_states(session.trace().hash(), session.warm_hash(), &states)? {
        return Ok((Some(states), None));
    }
    let note = "taken on another machine (memory, semantics, predictors, wrong paths, seed): the windows begin \
                after functional warm-up";
    Ok((None, Some(format!("{shown}: {note}"))))
}
