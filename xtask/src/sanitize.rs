//! Runs tests under Miri, the thread sanitizer and the address sanitizer, and prints the figures of
//! the table in `docs/fuzzing.md`. Needs a nightly compiler with Miri and the standard library's
//! source.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};

/// Remedy for a missing compiler or component.
const INSTALL: &str = "a nightly compiler with Miri and the standard library's source is missing; \
    install it: rustup toolchain install nightly --component miri,rust-src";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Tools to run (default: all)
    tools: Vec<Tool>,
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Tool {
    /// Undefined behavior in code with `unsafe` and in readers
    Miri,
    /// Data races between threads
    Thread,
    /// Memory errors in the plugin and in C code below the trace reader
    Address,
}

/// One call of `cargo test` under a tool.
struct Run {
    tool: Tool,
    /// Package, targets and names of tests.
    tests: &'static str,
    /// Flags of Miri.
    flags: &'static str,
}

/// Memory shared with the plugin is never freed.
const LEAKS: &str = "-Zmiri-ignore-leaks";
/// Sixteen schedules of the threads, each with its own choice of the values that atomic loads may
/// return.
const SEEDS: &str = "-Zmiri-ignore-leaks -Zmiri-many-seeds=0..16";
/// Access to files, the clock and the environment.
const HOST: &str = "-Zmiri-disable-isolation";

/// Instruments C code. GCC marks the end of a variable's scope even where it made the variable a
/// constant of the program, as in zstd, so that check is off.
const C_FLAGS: &str = "-fsanitize=address -fno-sanitize-address-use-after-scope";

const fn under(tool: Tool, tests: &'static str, flags: &'static str) -> Run {
    Run { tool, tests, flags }
}

/// Readers of foreign traces and of the small parts of our own; whole blocks need zstd, which is C.
const TRACE_READERS: &str = "-p sim-trace --lib -- varint event page_map page_text foreign::words \
    foreign::lackey foreign::gem5 foreign::execlog foreign::tarmac foreign::elf scenario::elements";
/// Readers of metric files, without their review, which is slow under Miri.
const METRIC_READERS: &str = "-p sim-metrics --lib -- formula::lexer metric_file::likwid \
    metric_file::linux metric_file::own metric_file::papi metric_file::telemetry";

const RUNS: [Run; 12] = [
    under(Tool::Miri, "-p sim-capture", LEAKS),
    under(Tool::Miri, "-p sim-capture contention", SEEDS),
    under(Tool::Miri, "-p sim-core --lib -- config::tests::a_ config::tests::an_", HOST),
    under(Tool::Miri, "-p sim-pmu --lib -- spe::decode spe::packet", HOST),
    under(Tool::Miri, TRACE_READERS, HOST),
    under(Tool::Miri, "-p sim-scenario --lib -- language::elements", HOST),
    under(Tool::Miri, METRIC_READERS, HOST),
    under(Tool::Thread, "-p sim-capture", ""),
    under(Tool::Thread, "-p sim-trace --test all read_ahead::", ""),
    under(Tool::Thread, "-p sim-lab --test all windows::chunks", ""),
    under(Tool::Address, "-p sim-capture", ""),
    under(Tool::Address, "-p sim-trace --tests", ""),
];

/// Runs the tools one after the other. Returns whether all tests passed.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    require_nightly()?;
    println!("| Tool | Tests | Passed | Failed | Seconds |");
    println!("| --- | --- | --- | --- | --- |");
    let is_wanted = |run: &&Run| args.tools.is_empty() || args.tools.contains(&run.tool);
    let mut is_good = true;
    for run in RUNS.iter().filter(is_wanted) {
        let start = Instant::now();
        let (outcome, is_success) = test(run)?;
        let Outcome { passed, failed } = outcome;
        let seconds = start.elapsed().as_secs();
        println!("| {:?} | `{}` | {passed} | {failed} | {seconds} |", run.tool, run.tests);
        // A report ends its test program, so the counts may lack the test that failed.
        if !is_success {
            println!("{:?}: `{}` does not pass; its report is above", run.tool, run.tests);
        }
        if is_success && passed == 0 {
            println!("{:?}: `{}` runs no test: name tests that exist", run.tool, run.tests);
        }
        is_good &= is_success && passed > 0;
    }
    Ok(is_good)
}

/// Refuses to start without the compiler and its components.
fn require_nightly() -> anyhow::Result<()> {
    let output = Command::new("rustc").args(["+nightly", "--print", "sysroot"]).output();
    let output = output.ok().filter(|output| output.status.success()).context(INSTALL)?;
    let root = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let needed = ["bin/cargo-miri", "lib/rustlib/src/rust/library/std"];
    ensure!(needed.iter().all(|part| Path::new(&root).join(part).exists()), INSTALL);
    Ok(())
}

/// Tests that a run counted.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    passed: u64,
    failed: u64,
}

/// Runs tests under a tool. Returns their counts and whether cargo reports success.
fn test(run: &Run) -> anyhow::Result<(Outcome, bool)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut cargo = Command::new("cargo");
    cargo.arg("+nightly").current_dir(top).stderr(Stdio::inherit());
    match run.tool {
        Tool::Miri => {
            cargo.args(["miri", "test"]).env("MIRIFLAGS", run.flags);
            // The interpreter is some hundred times slower than the CPU.
            cargo.env("PROPTEST_CASES", "4");
        }
        Tool::Thread => {
            // The standard library has to be instrumented too, or its locks look like races.
            cargo.args(["test", "-Zbuild-std", "--target", &host]);
            cargo.env("RUSTFLAGS", "-Zsanitizer=thread");
        }
        Tool::Address => {
            cargo.args(["test", "--target", &host]).env("RUSTFLAGS", "-Zsanitizer=address");
            cargo.env("ASAN_OPTIONS", "detect_leaks=0");
            cargo.env(format!("CFLAGS_{}", host.replace('-', "_")), C_FLAGS);
        }
    }
    let output = cargo.args(run.tests.split(' ')).output().context("cargo does not start")?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        println!("{said}");
    }
    Ok((outcome(&said), output.status.success()))
}

/// Returns the sums of the summaries that test programs print.
fn outcome(said: &str) -> Outcome {
    let mut sum = Outcome::default();
    for line in said.lines().filter_map(|line| line.split_once("test result: ")) {
        let count = |what: &str| {
            let words = line.1.split(what).next().unwrap_or_default();
            words.rsplit(' ').find_map(|word| word.parse::<u64>().ok()).unwrap_or(0)
        };
        sum.passed += count(" passed");
        sum.failed += count(" failed");
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_all_programs_are_added() {
        let said = "test a ... ok\n\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\n\
            test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\n";
        assert_eq!(outcome(said), Outcome { passed: 15, failed: 2 });
        assert_eq!(outcome("error: no such package"), Outcome::default());
    }
}
