//! Runs of parts: windows that stand for all of a trace, chunks of it that run at the same time, or a part of
//! the machine. Each event has a counter of its own in them.

use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use sim_files::File;
use sim_lab::{Estimate, Regions};
use sim_machine::{Mode, Outcome, RunOptions, Session};
use sim_trace::StatesReader;

use crate::args::StatArgs;
use crate::input;
use sim_core::Shown;

/// What the parts say of the whole.
pub(crate) struct Sampled {
    pub(crate) outcome: Outcome,
    /// For each event, by its number, how far the estimate may be from its count, in percent.
    pub(crate) errors: Option<Vec<f64>>,
}

/// Runs the parts that were asked for; none if the trace is to run in one piece.
pub(crate) fn run(
    args: &StatArgs,
    session: &Session,
    options: &RunOptions,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<Option<Sampled>> {
    if session.header().mode != Mode::Full {
        return Ok(Some(Sampled { outcome: session.run(options, progress)?, errors: None }));
    }
    if let Some(file) = &args.regions {
        return windows(file, session, progress).map(Some);
    }
    let Some(jobs) = args.jobs else { return Ok(None) };
    Ok(Some(Sampled { outcome: sim_lab::run_chunks(session, jobs, progress)?, errors: None }))
}

fn windows(
    path: &Path,
    session: &Session,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<Sampled> {
    let file = path.shown().to_string();
    let text = input::text(path).with_context(|| format!("{file}: the windows cannot be read"))?;
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
    if unknown > 0 {
        outcome.notes.push(format!(
            "{unknown} clusters have one window only: what they add to the error is not known"
        ));
    }
    Ok(Sampled { outcome, errors: Some(errors) })
}

/// The states in which the windows of `path` begin, if they are of this machine; else a word on it.
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
    if regions.fit_states(session, &states)? {
        return Ok((Some(states), None));
    }
    let note = "taken on another machine (memory, semantics, predictors, wrong paths, seed): the windows begin \
                behind a lesson";
    Ok((None, Some(format!("{shown}: {note}"))))
}
