//! Ends writing commands by signals at random times and counts what they leave behind.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

/// Which program is ended, and how often.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Runs that are ended, over all commands and signals
    #[arg(long, default_value_t = 1000)]
    runs: usize,
    /// The program
    #[arg(long, default_value = "target/release/n2sim")]
    program: PathBuf,
    /// Start of the random times
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Commands that write, and their results. `IN` is a trace.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("stat", &["stat", "IN", "-o", "out.txt"]),
    ("record", &["record", "IN", "-o", "out.perf"]),
    ("report", &["report", "IN", "--json", "-o", "out.json"]),
    ("repack", &["trace", "repack", "IN", "-o", "out.n2t"]),
    ("export", &["trace", "export", "--to", "text", "IN", "-o", "out.text"]),
    ("regions", &["trace", "regions", "IN", "-o", "out.toml"]),
    ("validate", &["validate", "IN", "-o", "out.txt"]),
];
const SIGNALS: [&str; 4] = ["-INT", "-TERM", "-HUP", "-KILL"];

/// What was seen of one command and signal.
#[derive(Default)]
struct Seen {
    runs: u32,
    /// Ended before the signal came.
    finished: u32,
    /// Left a temporary file.
    leftovers: u32,
    /// Left one even after the next run in the folder.
    kept: u32,
    /// Gave a name to something that is not a whole result.
    halves: u32,
}

/// Ends commands and prints a table; false if something is left that should not be.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let program = args.program.canonicalize().context("build n2sim first, or give --program")?;
    let input = Path::new("traces/hash.n2t").canonicalize()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let mut is_good = true;
    println!("command   signal  runs  finished  leftovers  kept  halves");
    let each = args.runs.div_ceil(COMMANDS.len() * SIGNALS.len());
    for (name, words) in COMMANDS {
        let words: Vec<String> =
            words.iter().map(|word| word.replace("IN", &input.display().to_string())).collect();
        for signal in SIGNALS {
            let mut seen = Seen::default();
            for _ in 0..each {
                let micros = random.random_range(0..400_000);
                one(&program, &words, signal, Duration::from_micros(micros), &mut seen)?;
            }
            let Seen { runs, finished, leftovers, kept, halves } = seen;
            println!(
                "{name:<9} {signal:<6} {runs:5} {finished:9} {leftovers:10} {kept:5} {halves:7}"
            );
            is_good &= halves == 0 && kept == 0 && (signal == "-KILL" || leftovers == 0);
        }
    }
    Ok(is_good)
}

fn one(
    program: &Path,
    words: &[String],
    signal: &str,
    after: Duration,
    seen: &mut Seen,
) -> Result<()> {
    let folder = TempDir::new()?;
    let mut child = start(program, words, folder.path())?;
    std::thread::sleep(after);
    let is_over = child.try_wait()?.is_some();
    if !is_over {
        Command::new("kill").args([signal, &child.id().to_string()]).status()?;
    }
    child.wait()?;
    seen.runs += 1;
    seen.finished += u32::from(is_over);
    let names = names(folder.path())?;
    seen.leftovers += u32::from(names.iter().any(|name| !name.starts_with("out.")));
    for name in names.iter().filter(|name| name.starts_with("out.")) {
        seen.halves += u32::from(!is_whole(program, &folder.path().join(name))?);
    }
    let next = ["stat", "--limit", "1k", "-o", "out.next"].map(str::to_owned);
    let input = words.iter().find(|word| word.ends_with(".n2t")).cloned();
    let next: Vec<String> = next.into_iter().chain(input).collect();
    ensure!(start(program, &next, folder.path())?.wait()?.success(), "the next run failed");
    let left = self::names(folder.path())?;
    seen.kept += u32::from(left.iter().any(|name| !name.starts_with("out.")));
    Ok(())
}

fn start(program: &Path, words: &[String], folder: &Path) -> Result<Child> {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().with_context(|| format!("cannot run {}", program.display()))
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = folder.read_dir()?.collect::<Result<Vec<_>, _>>()?;
    Ok(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

/// True if the result ends as a whole one does.
fn is_whole(program: &Path, path: &Path) -> Result<bool> {
    let bytes = std::fs::read(path)?;
    Ok(match path.extension().and_then(|ending| ending.to_str()) {
        Some("n2t") => Command::new(program)
            .args(["trace", "verify"])
            .arg(path)
            .stdout(Stdio::null())
            .status()?
            .success(),
        Some("json") => serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(),
        Some("toml") => toml::from_slice::<toml::Table>(&bytes).is_ok(),
        Some("perf") => bytes.starts_with(b"PERFILE2"),
        Some("elf") => bytes.starts_with(b"\x7fELF"),
        Some("txt" | "text") => bytes.ends_with(b"\n"),
        _ => !bytes.is_empty(),
    })
}
