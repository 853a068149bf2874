//! Progress of a run: a bar on a terminal, a line every few seconds elsewhere.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use sim_machine::{RunOptions, Session};
use sim_report::perf_stat::grouped;

use crate::host::call;

/// Time between two drawings of the progress bar.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time before the first line and between two lines, where stderr is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);
/// Environment variable that turns the lines off with the value `off`.
const LINES_VARIABLE: &str = "N2SIM_PROGRESS";

/// Progress that is printed as lines, for a stderr that is a file or a pipe.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Time of the last line, or of the start. `None` if no lines are wanted.
    last: Option<Instant>,
    start: Instant,
    length: u64,
    unit: &'static str,
}

impl Lines {
    /// Starts progress towards `length` of `unit`, such as instructions.
    pub(crate) fn new(length: u64, unit: &'static str) -> Lines {
        let start = Instant::now();
        let is_off = std::env::var_os(LINES_VARIABLE).is_some_and(|value| value == "off");
        let wanted = !is_off && call::stop().is_none() && !io::stderr().is_terminal();
        Lines { last: wanted.then_some(start), start, length, unit }
    }

    /// Prints a line if the last one is long ago. A failure to print changes no result.
    pub(crate) fn reached(&mut self, done: u64) {
        if self.last.is_none_or(|last| last.elapsed() < LINE_INTERVAL) {
            return;
        }
        self.last = Some(Instant::now());
        let line = line(done, self.length, self.unit, self.start.elapsed());
        let _ = writeln!(call::stderr(), "{line}");
    }
}

/// Returns one line of progress.
fn line(done: u64, length: u64, unit: &str, elapsed: Duration) -> String {
    let percent = done.min(length) * 100 / length.max(1);
    let (done, length, seconds) = (grouped(done), grouped(length), elapsed.as_secs());
    format!("n2sim: {percent} % ({done} of {length} {unit}) after {seconds} s")
}

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

/// Runs work on a number of instructions with a progress bar if stderr is a terminal, and with a
/// line every few seconds if it is not. Returns the
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
    let mut lines = Lines::new(instructions, "instructions");
    let result = run(&mut |instructions| {
        done = instructions;
        if drawn.elapsed() >= INTERVAL {
            bar.set_position(instructions);
            lines.reached(instructions);
            drawn = Instant::now();
        }
    });
    bar.finish_and_clear();
    Ok((result?, done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_share_and_both_numbers() {
        let text = line(1_500_000, 6_000_000, "instructions", Duration::from_secs(21));
        assert_eq!(text, "n2sim: 25 % (1,500,000 of 6,000,000 instructions) after 21 s");
        assert_eq!(line(3, 0, "points", Duration::ZERO), "n2sim: 0 % (3 of 0 points) after 0 s");
    }
}
