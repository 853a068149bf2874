//! Compares the speed of another revision of n2sim with that of the working tree.
//!
//! Host instructions, which callgrind counts, decide. Beside them are CPU times: both programs run
//! the same traces alternately, because other jobs of the machine slow both. Without valgrind only
//! different output fails, since a faster program with different counts is another program.

mod host;
mod programs;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use nix::sys::resource::{UsageWho, getrusage};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Revision to compare with: a commit, tag or branch
    revision: String,
    /// Traces (default: all committed ones)
    traces: Vec<PathBuf>,
    /// Part to measure
    #[arg(long, value_enum, default_value_t = Part::Detail)]
    part: Part,
    /// Number of runs of each program on each trace
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    turns: u16,
    /// Number of instructions of each trace (0: whole traces; decoding always reads whole ones)
    #[arg(long, default_value = "2M")]
    limit: String,
    /// Profile of cargo for both builds
    #[arg(long, default_value = "release")]
    profile: String,
    /// Instructions of each trace over which callgrind counts host instructions (0: not counted)
    #[arg(long, default_value_t = 300_000, value_name = "N")]
    window: u64,
    /// Rise of the host instructions, in percent of their geometric mean, that is a failure
    #[arg(long, default_value_t = 1.0, value_name = "PERCENT")]
    worst: f64,
    /// Number of random programs on which counts, stalls and samples are compared
    #[arg(long, default_value_t = 0, value_name = "N")]
    programs: u64,
    /// Seed of the random programs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// More events than there are counters.
const TURNS: &str = "cycles,instructions,l1d_cache,l1d_cache_refill,l2d_cache,l2d_cache_refill,\
                     stall_slot,br_mis_pred,ll_cache_rd";

/// Parts of n2sim whose speed is measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// `stat`: the whole model
    Detail,
    /// `stat -e`: multiplexed events
    Counters,
    /// `stat --mode memory`: caches and TLBs alone
    Memory,
    /// `trace verify`: reading a trace
    Decode,
}

/// One trace, both programs.
#[derive(Debug)]
struct Comparison {
    name: String,
    /// Least CPU time, seconds, of the revision and of the working tree.
    least: [f64; 2],
    /// Time of the revision over that of the working tree, run by run, in order of size.
    ratios: Vec<f64>,
    is_same: bool,
}

/// Builds both programs, runs them and prints the table. Returns true if both print the same
/// everywhere and host instructions did not rise past the limit.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let (root, target) = root_and_target()?;
    let programs = [
        build_revision(&root, &args.revision, &target, &args.profile)?,
        build(&root, &target, &args.profile)?,
    ];
    if args.programs > 0 {
        let folder = target.join("bench-compare").join("programs");
        if programs::compare(&programs, args.programs, args.seed, &folder)? > 0 {
            return Ok(false);
        }
    }
    let traces = if args.traces.is_empty() { committed(&root)? } else { args.traces.clone() };
    let is_counted = args.part == Part::Detail && args.window > 0 && host::is_available();
    println!(
        "| trace | host instructions, {} | working tree | change | {}, s | working tree, s | \
         speedup | minimum to maximum | same output |",
        args.revision, args.revision
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    let (mut comparisons, mut costs) = (Vec::new(), Vec::new());
    for trace in &traces {
        let comparison = compare(&programs, args, trace)?;
        let cost = match is_counted {
            true => Some(host::cost(&programs, trace, args.window)?),
            false => None,
        };
        println!("{}", row(&comparison, cost.as_ref()));
        comparisons.push(comparison);
        costs.extend(cost);
    }
    let logs: f64 = comparisons.iter().map(|one| middle(&one.ratios).ln()).sum();
    let speedup = (logs / comparisons.len() as f64).exp();
    let is_same = comparisons.iter().all(|one| one.is_same);
    if costs.is_empty() {
        println!("| geometric mean | | | | | | {speedup:.3} | | |");
        println!("\nhost instructions were not counted (valgrind, --part detail, --window)");
        return Ok(is_same);
    }
    let change = host::mean_change(&costs);
    println!("| geometric mean | | | {change:+.2} % | | | {speedup:.3} | | |");
    let is_worse = change > args.worst;
    let verdict = if is_worse { "WORSE than allowed" } else { "within the limit" };
    println!("\nhost instructions: {change:+.2} %, limit {:+.2} %: {verdict}", args.worst);
    Ok(is_same && !is_worse)
}

fn row(one: &Comparison, cost: Option<&host::Cost>) -> String {
    let (least, most) = (one.ratios[0], one.ratios[one.ratios.len() - 1]);
    let same = if one.is_same { "yes" } else { "NO" };
    let [base, now] = one.least;
    let Comparison { name, ratios, .. } = one;
    let counted = cost.map_or("- | - | -".to_owned(), |cost| {
        format!("{:.0} | {:.0} | {:+.2} %", cost[0], cost[1], host::change(cost))
    });
    let speedup = middle(ratios);
    format!(
        "| {name} | {counted} | {base:.2} | {now:.2} | {speedup:.3} | {least:.3} to {most:.3} | \
         {same} |"
    )
}

/// Returns the checkout and cargo's target directory for it.
pub(crate) fn root_and_target() -> anyhow::Result<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    let target = root.join(target);
    Ok((root, target))
}

/// Returns every committed trace, in order of name.
pub(crate) fn committed(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries: Vec<_> = std::fs::read_dir(root.join("traces"))?.collect::<Result<_, _>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut traces: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "n2t")).collect();
    traces.sort();
    Ok(traces)
}

/// Builds n2sim of a revision in a temporary checkout.
fn build_revision(
    root: &Path,
    revision: &str,
    target: &Path,
    profile: &str,
) -> anyhow::Result<PathBuf> {
    let target = target.join("bench-compare");
    let tree = target.join("tree");
    let git = |args: &[&str]| -> anyhow::Result<bool> {
        let status = Command::new("git").args(args).current_dir(root).status().context("git")?;
        Ok(status.success())
    };
    std::fs::create_dir_all(&target)?;
    let place = tree.to_string_lossy();
    if tree.exists() {
        git(&["worktree", "remove", "--force", &place])?;
    }
    let is_there = git(&["worktree", "add", "--quiet", "--detach", &place, revision])?;
    ensure!(is_there, "git has no revision '{revision}'");
    let built = build(&tree, &target, profile);
    git(&["worktree", "remove", "--force", &place])?;
    built
}

/// Builds n2sim of a checkout with a profile of cargo; `release` is that of users. Returns the path
/// of the program.
pub(crate) fn build(checkout: &Path, target: &Path, profile: &str) -> anyhow::Result<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--profile", profile, "--quiet", "--locked", "-p", "n2sim", "--target-dir"])
        .arg(target)
        .current_dir(checkout)
        .stdout(Stdio::null())
        .status()
        .context("cargo")?;
    ensure!(built.success(), "{}: n2sim does not build", checkout.display());
    Ok(target.join(profile).join("n2sim"))
}

fn compare(programs: &[PathBuf; 2], args: &Args, trace: &Path) -> anyhow::Result<Comparison> {
    let name = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut comparison =
        Comparison { name, least: [f64::MAX; 2], ratios: Vec::new(), is_same: true };
    for _ in 0..args.turns {
        let (base, base_output) = measure(&programs[0], args, trace)?;
        let (now, new_output) = measure(&programs[1], args, trace)?;
        comparison.least = [comparison.least[0].min(base), comparison.least[1].min(now)];
        comparison.ratios.push(base / now);
        comparison.is_same &= base_output == new_output;
    }
    comparison.ratios.sort_by(f64::total_cmp);
    Ok(comparison)
}

/// Returns the CPU time of one run, in seconds, and its output.
fn measure(program: &Path, args: &Args, trace: &Path) -> anyhow::Result<(f64, Vec<u8>)> {
    let before = children_time()?;
    let output = Command::new(program)
        .args(arguments(args.part, &args.limit))
        .arg(trace)
        .stdin(Stdio::null())
        .output()
        .with_context(|| program.display().to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {}", trace.display(), errors.trim());
    let time = children_time()?.saturating_sub(before).max(Duration::from_micros(1));
    Ok((time.as_secs_f64(), output.stdout))
}

/// Returns the command line of a part, without the trace.
fn arguments(part: Part, limit: &str) -> Vec<&str> {
    let mut arguments = match part {
        Part::Detail => vec!["stat", "-j"],
        Part::Counters => vec!["stat", "-j", "-e", TURNS],
        Part::Memory => vec!["stat", "-j", "--mode", "memory"],
        Part::Decode => return vec!["trace", "verify"],
    };
    if limit != "0" {
        arguments.extend(["--limit", limit]);
    }
    arguments
}

/// Returns the user time of all children that have ended.
pub(crate) fn children_time() -> anyhow::Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    let time = usage.user_time();
    Ok(Duration::new(time.tv_sec().try_into()?, u32::try_from(time.tv_usec())? * 1000))
}

/// Returns the median of an ordered list.
pub(crate) fn middle(ordered: &[f64]) -> f64 {
    let half = ordered.len() / 2;
    match ordered.len() % 2 {
        0 => (ordered[half - 1] + ordered[half]) / 2.0,
        _ => ordered[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        assert_eq!(middle(&[1.0, 2.0, 9.0]), 2.0);
        assert_eq!(middle(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }

    #[test]
    fn a_row_has_the_faster_program_and_whether_the_output_changed() {
        let one = Comparison {
            name: "hash".to_owned(),
            least: [2.0, 1.0],
            ratios: vec![1.9, 2.0, 2.2],
            is_same: false,
        };
        let times = "| 2.00 | 1.00 | 2.000 | 1.900 to 2.200 | NO |";
        assert_eq!(row(&one, None), format!("| hash | - | - | - {times}"));
        let counted = row(&one, Some(&[1000.0, 900.0]));
        assert_eq!(counted, format!("| hash | 1000 | 900 | -10.00 % {times}"));
    }

    #[test]
    fn whole_traces_have_no_limit() {
        assert_eq!(arguments(Part::Detail, "0"), ["stat", "-j"]);
        assert_eq!(arguments(Part::Decode, "2M"), ["trace", "verify"]);
        assert_eq!(arguments(Part::Counters, "0"), ["stat", "-j", "-e", TURNS]);
        assert_eq!(
            arguments(Part::Memory, "1M"),
            ["stat", "-j", "--mode", "memory", "--limit", "1M"]
        );
    }

    #[test]
    fn cpu_time_of_children_does_not_go_back() {
        let before = children_time().expect("a system that counts");
        let status = Command::new("cargo").arg("--version").stdout(Stdio::null()).status();
        assert!(status.expect("cargo runs its tests").success());
        assert!(children_time().expect("the same") >= before);
    }
}
