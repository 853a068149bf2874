//! The progress bar of a run.

use std::fmt;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use sim_machine::{RunOptions, Session};
use sim_report::perf_stat::grouped;

use crate::host::call;

/// Time between two drawings of the progress bar.
const INTERVAL: Duration = Duration::from_millis(100);

/// Runs with a progress bar if stderr is a terminal. Returns the result and the number of
/// instructions that ran.
pub(crate) fn with_progress<T>(
    session: &Session,
    options: &RunOptions,
    run: impl FnOnce(&mut dyn FnMut(u64)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    with_bar(expected(session, options), run)
}

/// Returns the largest number of instructions that a run can have: those of each thread up to its
/// limit.
pub(crate) fn expected(session: &Session, options: &RunOptions) -> u64 {
    // A limit counts from the first marker of a region, which only the run finds.
    let end = match (options.limit, &options.roi) {
        (Some(limit), None) => limit.saturating_add(options.warmup),
        _ => u64::MAX,
    };
    session.trace().streams().iter().map(|stream| stream.instructions.min(end)).sum()
}

/// Returns a progress bar, which is drawn if stderr is a terminal of this program.
pub(crate) fn bar(length: u64) -> ProgressBar {
    match call::stop() {
        None => ProgressBar::new(length),
        // The terminal belongs to the program that has loaded n2sim.
        Some(_) => ProgressBar::hidden(),
    }
}

/// Runs work on a number of instructions with a progress bar if stderr is a terminal. Returns the
/// result and the number of instructions that were done.
pub(crate) fn with_bar<T>(
    instructions: u64,
    run: impl FnOnce(&mut dyn FnMut(u64)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    let bar = bar(instructions);
    let style = ProgressStyle::with_template(
        "{bar:40} {percent:>3}%  {human_pos} of {human_len} instructions  {rate}/s  {eta}",
    )?
    .with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A failure to draw the bar changes no result.
        let _ = out.write_str(&grouped(state.per_sec() as u64));
    });
    bar.set_style(style);
    let mut done = 0;
    let mut drawn = Instant::now();
    let result = run(&mut |instructions| {
        done = instructions;
        if drawn.elapsed() >= INTERVAL {
            bar.set_position(instructions);
            drawn = Instant::now();
        }
    });
    bar.finish_and_clear();
    Ok((result?, done))
}
