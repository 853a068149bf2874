//! Runs of parts: windows that stand for all of a trace, chunks of it that run at the same time, or a part of
//! the machine. Each event has a counter of its own in them.

use std::path::Path;

use anyhow::Context;
use sim_machine::{Estimate, Mode, Outcome, Regions, RunOptions, Session};

use crate::args::StatArgs;
use crate::input;

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
    Ok(Some(Sampled { outcome: session.run_chunks(jobs, progress)?, errors: None }))
}

fn windows(
    path: &Path,
    session: &Session,
    progress: &mut dyn FnMut(u64),
) -> anyhow::Result<Sampled> {
    let file = path.display().to_string();
    let text = input::text(path).with_context(|| format!("{file}: the windows cannot be read"))?;
    let regions = Regions::parse(&file, &text)?;
    regions.check_trace(&file, session.trace())?;
    let estimate = session.run_regions(&regions, progress)?;
    let Estimate { mut outcome, errors, unknown } =
        estimate.context("a file of windows has one at least")?;
    let counted: u64 = regions.windows.iter().map(|window| window.length).sum();
    outcome.notes.push(format!(
        "estimated from {} windows, {:.2} % of the instructions; +- is half of the 95 % confidence interval \
         (docs/regions.md)",
        regions.windows.len(),
        100.0 * counted as f64 / regions.instructions as f64
    ));
    if unknown > 0 {
        outcome.notes.push(format!(
            "{unknown} clusters have one window only: what they add to the error is not known"
        ));
    }
    Ok(Sampled { outcome, errors: Some(errors) })
}
