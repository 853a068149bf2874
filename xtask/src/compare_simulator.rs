//! Runs another simulator and n2sim on the same instructions, and prints speed and counts of both.
//!
//! The programs run alternately, so that other jobs of the host slow both. ChampSim gets each trace
//! through `n2sim trace export`.

mod champsim;
mod counts;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail, ensure};
use clap::ValueEnum;

use crate::bench_compare::{build, children_time, committed, middle, root_and_target};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The other simulator
    #[arg(value_enum)]
    simulator: Simulator,
    /// Its program, such as bin/champsim
    program: PathBuf,
    /// Traces (default: the committed ones with a single thread)
    traces: Vec<PathBuf>,
    /// Program n2sim (default: build the working tree)
    #[arg(long, value_name = "PROGRAM")]
    n2sim: Option<PathBuf>,
    /// Number of runs of each program on each trace
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Number of instructions that warm the caches and predictors of both
    #[arg(long, default_value_t = 200_000)]
    warmup: u64,
    /// Number of instructions that are counted
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
    instructions: u64,
}

/// Simulators that read traces of n2sim.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Simulator {
    Champsim,
}

/// Times and counts of both programs on one trace; ChampSim is first.
struct Pair {
    name: String,
    /// Instructions that each run simulates, warm-up included.
    instructions: u64,
    /// Seconds of user time of each run, in order of size.
    times: [Vec<f64>; 2],
    reports: [String; 2],
}

/// Head of the table of times.
const SPEED_HEADER: &str = "\
| trace | ChampSim, s: median (best) | MIPS | n2sim, s: median (best) | MIPS | n2sim / ChampSim, medians | best |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |";
/// Instructions that ChampSim reads past those it counts, at most.
const READ_PAST: u64 = 10_000;
const RECORD_BYTES: u64 = 64;

/// Runs both programs on every trace and prints the tables. Returns true.
///
/// # Errors
/// A program cannot run, a trace cannot be exported, or an output cannot be read.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let Simulator::Champsim = args.simulator;
    let program = args.program.display();
    ensure!(
        args.program.is_file(),
        "{program}: no such file; build ChampSim and give bin/champsim"
    );
    let (root, target) = root_and_target()?;
    let n2sim = match &args.n2sim {
        Some(path) => path.clone(),
        None => build(&root, &target, "release")?,
    };
    let traces = if args.traces.is_empty() { committed(&root)? } else { args.traces.clone() };
    let folder = tempfile::tempdir().context("a temporary directory")?;
    let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
    println!("{SPEED_HEADER}");
    for trace in &traces {
        let records = folder.path().join("trace.champsim");
        let wanted = args.warmup + args.instructions;
        match export(&n2sim, trace, &records, wanted + READ_PAST) {
            Err(reason) if args.traces.is_empty() => left_out.push(format!("left out: {reason}")),
            Err(reason) => return Err(reason),
            Ok(exported) => {
                let pair = compare(args, &n2sim, trace, &records, exported)?;
                println!("{}", speed_row(&pair));
                pairs.push(pair);
            }
        }
    }
    ensure!(!pairs.is_empty(), "no trace can be exported");
    print_mean(&pairs);
    left_out.iter().for_each(|line| println!("\n{line}"));
    for pair in &pairs {
        println!("\n{}\n", pair.name);
        print!("{}", counts::table(&pair.reports[0], &pair.reports[1])?);
    }
    println!("\n{}", counts::CAUSES);
    Ok(true)
}

/// Writes the first `most` instructions of a trace as records of ChampSim. Returns their number.
fn export(n2sim: &Path, trace: &Path, records: &Path, most: u64) -> anyhow::Result<u64> {
    let mut child = Command::new(n2sim)
        .args(["trace", "export", "--to", "champsim"])
        .arg(trace)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| n2sim.display().to_string())?;
    let output = child.stdout.take().context("the output of n2sim")?;
    let mut file = File::create(records)?;
    let bytes = std::io::copy(&mut output.take(most * RECORD_BYTES), &mut file)?;
    if bytes == most * RECORD_BYTES {
        // The rest of the trace is not needed.
        child.kill()?;
        child.wait()?;
        return Ok(most);
    }
    let ended = child.wait_with_output()?;
    let reason = String::from_utf8_lossy(&ended.stderr);
    let line = reason.lines().find(|line| !line.starts_with('#')).unwrap_or("no reason given");
    ensure!(ended.status.success(), "{}", line.trim_start_matches("n2sim: "));
    Ok(bytes / RECORD_BYTES)
}

/// Runs both programs alternately on one trace, of which `exported` instructions are in `records`.
fn compare(
    args: &Args,
    n2sim: &Path,
    trace: &Path,
    records: &Path,
    exported: u64,
) -> anyhow::Result<Pair> {
    ensure!(
        exported > args.warmup + READ_PAST,
        "{}: {exported} instructions are too few after a warm-up of {}; use a smaller --warmup",
        trace.display(),
        args.warmup
    );
    // ChampSim starts again at the end of a trace; n2sim ends there.
    let counted = args.instructions.min(exported - args.warmup - READ_PAST);
    let numbers = [args.warmup.to_string(), counted.to_string()];
    let mut theirs = Command::new(&args.program);
    theirs.args(["--hide-heartbeat", "-w", &numbers[0], "-i", &numbers[1]]).arg(records);
    let mut ours = Command::new(n2sim);
    ours.args(["stat", "-j", "--warmup", &numbers[0], "--limit", &numbers[1]]).arg(trace);
    let name = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut pair = Pair {
        name,
        instructions: args.warmup + counted,
        times: [Vec::new(), Vec::new()],
        reports: [String::new(), String::new()],
    };
    for _ in 0..args.rounds {
        for (at, command) in [&mut theirs, &mut ours].into_iter().enumerate() {
            let (time, report) = timed(command)?;
            if at == 0 {
                champsim::check(&report).map_err(|reason| no_champsim(&args.program, &reason))?;
            }
            pair.times[at].push(time);
            pair.reports[at] = report;
        }
    }
    pair.times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    Ok(pair)
}

fn no_champsim(program: &Path, reason: &str) -> anyhow::Error {
    anyhow!("{}: {reason}", program.display())
}

/// Runs a command. Returns its user time in seconds, and its output.
fn timed(command: &mut Command) -> anyhow::Result<(f64, String)> {
    let program = command.get_program().to_string_lossy().into_owned();
    let before = children_time()?;
    let output = match command.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(reason) => bail!("{program}: cannot be run: {reason}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = errors.lines().next_back().unwrap_or("no message");
    ensure!(output.status.success(), "{program}: ends with {}: {line}", output.status);
    let time = children_time()?.saturating_sub(before).as_secs_f64().max(1e-6);
    Ok((time, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Prints the geometric means of the ratios.
fn print_mean(pairs: &[Pair]) {
    if !pairs.iter().all(is_measurable) {
        println!("\nno mean: a run took less than {MEASURABLE} s; use more --instructions");
        return;
    }
    let mean = |ratio: fn(&Pair) -> f64| {
        let logs: f64 = pairs.iter().map(|pair| ratio(pair).ln()).sum();
        (logs / pairs.len() as f64).exp()
    };
    let (medians, best) = (mean(median_ratio), mean(best_ratio));
    println!("| geometric mean | | | | | {medians:.2} | {best:.2} |");
}

/// Least user time that the system resolves well enough for a ratio, in seconds.
const MEASURABLE: f64 = 0.1;

/// Returns true if every run was long enough for its time to mean something.
fn is_measurable(pair: &Pair) -> bool {
    pair.times.iter().all(|times| times[0] >= MEASURABLE)
}

fn median_ratio(pair: &Pair) -> f64 {
    middle(&pair.times[0]) / middle(&pair.times[1])
}

fn best_ratio(pair: &Pair) -> f64 {
    pair.times[0][0] / pair.times[1][0]
}

fn speed_row(pair: &Pair) -> String {
    let cells = pair.times.each_ref().map(|times| {
        let (median, best) = (middle(times), times[0]);
        let mips = |seconds: f64| pair.instructions as f64 / seconds / 1e6;
        format!("{median:.2} ({best:.2}) | {:.2} ({:.2})", mips(median), mips(best))
    });
    let [theirs, ours] = cells;
    if !is_measurable(pair) {
        return format!("| {} | {theirs} | {ours} | too short | too short |", pair.name);
    }
    let (medians, best) = (median_ratio(pair), best_ratio(pair));
    format!("| {} | {theirs} | {ours} | {medians:.2} | {best:.2} |", pair.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_medians_best_runs_and_ratios() {
        let pair = Pair {
            name: "hash".to_owned(),
            instructions: 1_000_000,
            times: [vec![2.0, 4.0, 5.0], vec![0.5, 1.0, 2.0]],
            reports: [String::new(), String::new()],
        };
        let expected =
            "| hash | 4.00 (2.00) | 0.25 (0.50) | 1.00 (0.50) | 1.00 (2.00) | 4.00 | 4.00 |";
        assert_eq!(speed_row(&pair), expected);
    }

    #[test]
    fn a_program_that_is_missing_or_fails_gives_one_message() {
        let missing = timed(&mut Command::new("/nonexistent/champsim")).expect_err("no program");
        assert!(missing.to_string().starts_with("/nonexistent/champsim: cannot be run: "));
        let failing = timed(&mut Command::new("false")).expect_err("a failing program");
        assert_eq!(failing.to_string(), "false: ends with exit status: 1: no message");
    }
}
