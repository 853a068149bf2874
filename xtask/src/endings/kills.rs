//! Ends commands by signals at random times.

use std::time::Duration;

use anyhow::{Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

use super::commands::{Bench, COMMANDS, Writing, names};

const SIGNALS: [&str; 4] = ["-INT", "-TERM", "-HUP", "-KILL"];
/// Signals come within this time after the start.
const MICROS: u64 = 400_000;
/// Extension of a recording that a killed process left.
const RECORDING: &str = ".partial";
/// Bytes of the header of a trace (docs/trace-format.md). A recording with all of them can be
/// recovered.
const HEADER_BYTES: u64 = 64;

/// Results for one command and signal.
#[derive(Default)]
struct Seen {
    runs: u32,
    /// Ended before the signal came.
    finished: u32,
    /// Left a temporary file.
    leftovers: u32,
    /// Left a file that is neither a result nor a recording, even after the next run in the
    /// directory.
    kept: u32,
    /// Left a recording from which `trace recover` makes a whole trace.
    recordings: u32,
    /// Left a recording with a whole header from which `trace recover` makes none.
    lost: u32,
    /// Gave a name to a file that is not a whole result.
    halves: u32,
    /// Runs of the same command whose result differs from that of an undisturbed run.
    unlike: u32,
}

/// Ends commands and prints a table. Returns false if a file is left that should not be.
pub(super) fn run(bench: &Bench, runs: usize, seed: u64) -> Result<bool> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut is_good = true;
    println!("command   signal  runs  finished  leftovers  kept  recordings  lost  halves  unlike");
    let each = runs.div_ceil(COMMANDS.len() * SIGNALS.len());
    for command in &COMMANDS {
        let table = swept(bench, command)?;
        for signal in SIGNALS {
            let mut seen = Seen::default();
            for _ in 0..each {
                let after = Duration::from_micros(random.random_range(0..MICROS));
                one(bench, command, signal, after, table.as_deref(), &mut seen)?;
            }
            print_row(command.name, signal, &seen);
            is_good &= [seen.halves, seen.kept, seen.lost, seen.unlike] == [0; 4];
            is_good &= signal == "-KILL" || seen.leftovers == 0;
        }
    }
    Ok(is_good)
}

fn print_row(command: &str, signal: &str, seen: &Seen) {
    let Seen { runs, finished, leftovers, kept, recordings, lost, halves, unlike } = seen;
    println!(
        "{command:<9} {signal:<6} {runs:5} {finished:9} {leftovers:10} {kept:5} {recordings:11} {lost:5} {halves:7} \
         {unlike:7}"
    );
}

/// Returns the table of an undisturbed sweep: an interrupted one must end with the same.
fn swept(bench: &Bench, command: &Writing) -> Result<Option<Vec<u8>>> {
    if command.name != "sweep" {
        return Ok(None);
    }
    let folder = TempDir::new()?;
    let status = bench.command(&bench.words(command), folder.path()).status()?;
    ensure!(status.success(), "an undisturbed sweep fails");
    Ok(Some(std::fs::read(folder.path().join("out.csv"))?))
}

fn one(
    bench: &Bench,
    command: &Writing,
    signal: &str,
    after: Duration,
    table: Option<&[u8]>,
    seen: &mut Seen,
) -> Result<()> {
    let folder = TempDir::new()?;
    let words = bench.words(command);
    let mut child = bench.command(&words, folder.path()).spawn()?;
    std::thread::sleep(after);
    let is_over = child.try_wait()?.is_some();
    if !is_over {
        let mut kill = std::process::Command::new("kill");
        kill.args([signal, &child.id().to_string()]).status()?;
    }
    child.wait()?;
    seen.runs += 1;
    seen.finished += u32::from(is_over);
    let is_result = |name: &String| name.starts_with("out.") && !name.ends_with(RECORDING);
    let left = names(folder.path())?;
    seen.leftovers += u32::from(!left.iter().all(is_result));
    for name in left.iter().filter(|name| is_result(name)) {
        seen.halves += u32::from(!bench.is_whole(&folder.path().join(name))?);
    }
    bench.next_run(folder.path())?;
    for name in names(folder.path())?.iter().filter(|name| !is_result(name)) {
        if !name.ends_with(RECORDING) {
            seen.kept += 1;
            continue;
        }
        let recording = folder.path().join(name);
        let is_recovered = bench.is_recoverable(&recording)?;
        seen.recordings += u32::from(is_recovered);
        let has_header = recording.metadata()?.len() >= HEADER_BYTES;
        seen.lost += u32::from(has_header && !is_recovered);
    }
    if let Some(table) = table {
        // It continues where it stopped.
        bench.command(&words, folder.path()).status()?;
        let now = std::fs::read(folder.path().join("out.csv")).unwrap_or_default();
        seen.unlike += u32::from(now != table);
    }
    Ok(())
}
