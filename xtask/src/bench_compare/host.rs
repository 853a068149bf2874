//! Host instructions of two programs on one trace, counted by callgrind. Unlike time, they do not
//! depend on other jobs of the host.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use sim_trace::TraceFile;

/// Instructions of a run that is taken off: the start of the program, and the header of the trace.
const START: u64 = 1_000;

/// Host instructions per simulated one, of the revision and of the working tree.
pub(super) type Cost = [f64; 2];

/// Returns true if valgrind is installed.
pub(super) fn is_available() -> bool {
    let status = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Returns the cost of both programs over the first `window` instructions of a trace, without
/// start-up.
///
/// # Errors
/// If a program fails, callgrind prints no count, or the trace has no instruction after start-up.
pub(super) fn cost(programs: &[PathBuf; 2], trace: &Path, window: u64) -> anyhow::Result<Cost> {
    let streams = TraceFile::open(trace)?;
    let whole: u64 = streams.streams().iter().map(|stream| stream.instructions).sum();
    let ran = whole.saturating_sub(START).min(window);
    ensure!(ran > 0, "{}: fewer than {START} instructions cannot be compared", trace.display());
    let mut cost = [0.0; 2];
    for (program, cost) in programs.iter().zip(&mut cost) {
        let (all, start) = (count(program, trace, START + window)?, count(program, trace, START)?);
        ensure!(all > start, "{}: {ran} instructions cost nothing", trace.display());
        *cost = (all - start) as f64 / ran as f64;
    }
    Ok(cost)
}

/// Returns the change in percent.
pub(super) fn change(cost: &Cost) -> f64 {
    100.0 * (cost[1] / cost[0] - 1.0)
}

/// Returns the geometric mean of the changes, in percent.
pub(super) fn mean_change(costs: &[Cost]) -> f64 {
    let logs: f64 = costs.iter().map(|cost| (cost[1] / cost[0]).ln()).sum();
    100.0 * ((logs / costs.len() as f64).exp() - 1.0)
}

fn count(program: &Path, trace: &Path, limit: u64) -> anyhow::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["stat", "-j", "--limit", &limit.to_string()])
        .arg(trace)
        .stdin(Stdio::null())
        .output()
        .context("valgrind")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {}", trace.display(), errors.trim());
    collected(&errors).with_context(|| format!("{}: callgrind prints no count", trace.display()))
}

/// Returns the count in the messages of callgrind.
fn collected(messages: &str) -> Option<u64> {
    let line = messages.lines().find(|line| line.contains("Collected :"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_the_last_word_of_its_line() {
        let messages = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n";
        assert_eq!(collected(messages), Some(123_456));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }

    #[test]
    fn the_mean_of_a_rise_and_an_equal_fall_is_zero() {
        assert!((change(&[1000.0, 1100.0]) - 10.0).abs() < 1e-9);
        assert!(mean_change(&[[1000.0, 2000.0], [2000.0, 1000.0]]).abs() < 1e-9);
    }
}
