//! The cost of a run on the host: speed in simulated instructions per second, and memory.

use std::io::{self, Write};
use std::time::Duration;

use sim_report::perf_stat::grouped;

/// Ticks per second in `/proc/self/stat`: fixed in the interface of Linux.
const TICKS_PER_SECOND: f64 = 100.0;
/// Fields of `/proc/self/stat` between the program's name and the user time.
const FIELDS_BEFORE_USER_TIME: usize = 11;

/// Writes instructions, time, MIPS and peak memory in one line. User time is the measure of speed
/// that other work on the host disturbs least.
pub(crate) fn write_speed(
    out: &mut impl Write,
    instructions: u64,
    elapsed: Duration,
) -> io::Result<()> {
    let seconds = elapsed.as_secs_f64();
    let mips = |seconds: f64| instructions as f64 / seconds.max(1e-9) / 1e6;
    write!(out, "n2sim: {} instructions in {seconds:.2} s", grouped(instructions))?;
    write!(out, ", {:.2} MIPS", mips(seconds))?;
    if let Some(user) = user_seconds().filter(|user| *user > 0.0) {
        write!(out, "; user time {user:.2} s, {:.2} MIPS", mips(user))?;
    }
    if let Some(kib) = peak_kib() {
        write!(out, "; peak memory {:.1} MiB", kib as f64 / 1024.0)?;
    }
    writeln!(out)
}

/// Returns the CPU time of this process outside the kernel, or `None` without `/proc`.
fn user_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name is in parentheses and may contain spaces.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: f64 = fields.split_whitespace().nth(FIELDS_BEFORE_USER_TIME)?.parse().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}

/// Returns the peak memory of the process, or `None` without `/proc`.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_instructions_over_time() {
        let mut out = Vec::new();
        write_speed(&mut out, 5_000_000, Duration::from_secs(2)).expect("memory can be written");
        let text = String::from_utf8(out).expect("text");
        assert!(text.starts_with("n2sim: 5,000,000 instructions in 2.00 s, 2.50 MIPS"), "{text}");
    }

    #[test]
    fn linux_reports_time_and_memory() {
        if cfg!(target_os = "linux") {
            assert!(user_seconds().is_some_and(|seconds| seconds >= 0.0));
            assert!(peak_kib().is_some_and(|kib| kib > 0));
        }
    }
}
