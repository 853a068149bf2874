//! Builds the fuzz targets, runs each for a time, and prints the results as the table of
//! `docs/fuzzing.md`. Needs a nightly compiler and cargo-fuzz.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// Every target, with its kind of input.
const TARGETS: [(&str, &str); 12] = [
    ("n2t_reader", "traces of our own format"),
    ("replay", "traces of our own format, replayed in little memory"),
    ("foreign_reader", "traces of other tools, packed or not"),
    ("program_file", "ELF files with symbols and lines"),
    ("spe_decoder", "sample records, bare or in perf.data"),
    ("scenario", "scenarios, read and run"),
    ("metrics", "metric files and formulas"),
    ("config", "configurations and `--set`, with a machine run"),
    ("regions", "files of windows, and estimates from them"),
    ("states", "files of the states in which windows begin"),
    ("kernel_symbols", "symbols of a kernel: `System.map`, ELF"),
    ("count_table", "counts of `perf stat`, event lists, reports"),
];
/// Time limit of an input, in seconds. A longer run is a fault.
const TIMEOUT: &str = "-timeout=20";
/// Memory limit of an input, MiB.
const MEMORY: &str = "-rss_limit_mb=4096";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Targets (default: all)
    targets: Vec<String>,
    /// Seconds that each runs
    #[arg(long, default_value_t = 1800)]
    seconds: u32,
}

/// Figures that a run of a target printed.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    executions: u64,
    edges: u64,
    inputs: u64,
    peak_mib: u64,
}

/// Runs the targets one after the other. Returns true if none found a fault.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").canonicalize()?;
    for name in &args.targets {
        let is_known = TARGETS.iter().any(|(target, _)| target == name);
        ensure!(
            is_known,
            "no target is called '{name}'; known are {}",
            TARGETS.map(|t| t.0).join(", ")
        );
    }
    println!("| Target | Reads | Seconds | Executions | Edges | Inputs kept | Peak MiB | Found |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let is_wanted =
        |name: &str| args.targets.is_empty() || args.targets.iter().any(|own| own == name);
    let mut is_good = true;
    for (name, what) in TARGETS.into_iter().filter(|(name, _)| is_wanted(name)) {
        let (figures, found) = fuzz(&folder, name, args.seconds)?;
        let Figures { executions, edges, inputs, peak_mib } = figures;
        println!(
            "| `{name}` | {what} | {} | {executions} | {edges} | {inputs} | {peak_mib} | {found} |",
            args.seconds
        );
        is_good &= found == 0;
    }
    Ok(is_good)
}

/// Builds and runs a target. Returns its figures and the number of failing inputs.
fn fuzz(folder: &Path, name: &str, seconds: u32) -> anyhow::Result<(Figures, usize)> {
    let built = Command::new("cargo")
        .args(["+nightly", "fuzz", "build", name])
        .current_dir(folder.join(".."))
        .status()
        .context("cargo +nightly fuzz build: install a nightly compiler and cargo-fuzz")?;
    ensure!(built.success(), "the target {name} does not build");
    let (corpus, artifacts) =
        (folder.join("corpus").join(name), folder.join("artifacts").join(name));
    std::fs::create_dir_all(&corpus)?;
    std::fs::create_dir_all(&artifacts)?;
    let before = files(&artifacts)?;
    let mut command = Command::new(binary(folder, name)?);
    command.args([format!("-max_total_time={seconds}"), TIMEOUT.into(), MEMORY.into()]);
    command.args(["-print_final_stats=1", &format!("-artifact_prefix={}/", artifacts.display())]);
    let dictionary = folder.join("dictionaries").join(name).with_extension("dict");
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    let output = command.arg(corpus).arg(folder.join("seeds").join(name)).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    std::fs::write(artifacts.with_extension("log"), said.as_bytes())?;
    Ok((figures(&said), files(&artifacts)? - before))
}

/// Returns the path of a target that cargo-fuzz built.
fn binary(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(folder.join("target"), PathBuf::from);
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let path = target.join(host).join("release").join(name);
    ensure!(path.is_file(), "{}: cargo-fuzz left no such program", path.display());
    Ok(path)
}

fn files(folder: &Path) -> anyhow::Result<usize> {
    Ok(std::fs::read_dir(folder)?.count())
}

/// Returns the last coverage and the final statistics of libFuzzer.
fn figures(said: &str) -> Figures {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    };
    let after =
        |mark: &str| said.rsplit_once(mark).map_or(0, |(_, rest)| number(rest.trim_start()));
    Figures {
        executions: after("stat::number_of_executed_units:"),
        edges: after(" cov: "),
        inputs: after(" corp: "),
        peak_mib: after("stat::peak_rss_mb:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_end() {
        let said = "#2 INITED cov: 7 ft: 9 corp: 1/1b exec/s: 0 rss: 40Mb\n\
            #77 DONE   cov: 812 ft: 900 corp: 31/9Kb lim: 8 exec/s: 5 rss: 41Mb\n\
            stat::number_of_executed_units: 77\nstat::peak_rss_mb:              52\n";
        let expected = Figures { executions: 77, edges: 812, inputs: 31, peak_mib: 52 };
        assert_eq!(figures(said), expected);
        assert_eq!(figures(""), Figures::default());
    }

    #[test]
    fn every_target_has_its_file_and_seeds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("the manifest");
        for (name, _) in TARGETS {
            assert!(
                folder.join("fuzz_targets").join(name).with_extension("rs").is_file(),
                "{name}"
            );
            assert!(files(&folder.join("seeds").join(name)).is_ok_and(|n| n > 0), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
        let sources = files(&folder.join("fuzz_targets")).expect("the targets");
        assert_eq!(sources, TARGETS.len(), "a target is missing here");
    }
}
