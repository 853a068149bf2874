//! `cargo xtask modes`: runs every committed trace on parts of the machine and on all of it. It
//! writes the error of each event and the speed of each mode into `docs/modes.md`.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use sim_core::{Counts, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, Mode, RunHeader, RunOptions, Session};
use sim_tests::{files_below, repository};

/// Line of the page after which the tables follow.
const MARK: &str = "<!-- written by `cargo run --release -p xtask -- modes` -->\n";
/// Least count in all traces together for an event to be compared; smaller ones are not meaningful.
const RARE: u64 = 100;

/// Options of `cargo xtask modes`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of instructions of each thread (default: all); print the tables and write nothing
    #[arg(long)]
    limit: Option<u64>,
}

/// One trace, in every mode.
struct Column {
    name: String,
    instructions: u64,
    full: Timed,
    correct_path: Counts,
    parts: Vec<Timed>,
    /// Time of reading alone.
    decode_seconds: f64,
}

/// Counts, and the CPU time that they took.
struct Timed {
    counts: Counts,
    seconds: f64,
}

const PARTS: [Mode; 2] = [Mode::Memory, Mode::Frontend];

/// Measures and writes the page.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut columns = Vec::new();
    for path in files_below(&repository().join("traces"), "n2t") {
        println!("{}", path.display());
        columns.push(Column::of(&path, args.limit)?);
    }
    let tables = tables(&columns)?;
    if args.limit.is_some() {
        print!("{tables}");
        return Ok(true);
    }
    let page = repository().join("docs/modes.md");
    let text = std::fs::read_to_string(&page).context("reading docs/modes.md")?;
    let (head, _) = text.split_once(MARK).context("docs/modes.md lacks its marker")?;
    std::fs::write(&page, format!("{head}{MARK}{tables}")).context("writing docs/modes.md")?;
    println!("wrote {}", page.display());
    Ok(true)
}

impl Column {
    fn of(path: &Path, limit: Option<u64>) -> Result<Column> {
        let options = RunOptions { limit, ..RunOptions::default() };
        let timed = |mode, overrides: &[&str]| -> Result<Timed> {
            let session = open(path, overrides)?.in_mode(mode);
            let begin = cpu_seconds()?;
            let outcome = session.run(&options, &mut |_| {})?;
            Ok(Timed { counts: outcome.total(), seconds: cpu_seconds()? - begin })
        };
        let full = timed(Mode::Full, &[])?;
        Ok(Column {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            instructions: full.counts.value(PmuEvent::INST_RETIRED),
            full,
            correct_path: timed(Mode::Full, &["pipeline.wrong-path.enabled=false"])?.counts,
            parts: PARTS.into_iter().map(|mode| timed(mode, &[])).collect::<Result<_>>()?,
            decode_seconds: decode(path)?,
        })
    }
}

fn open(path: &Path, overrides: &[&str]) -> Result<Session> {
    let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let config = MachineConfig::from_document(&source.document()?)?;
    Ok(Session::open(path, config, RunHeader::default())?)
}

/// Returns the CPU time of this thread so far.
fn cpu_seconds() -> Result<f64> {
    // The system updates its account of a thread when the thread yields.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")
        .context("the system does not give the CPU time of a thread")?;
    let ns: f64 = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(ns / 1e9)
}

/// Returns the seconds that reading every instruction of a trace takes.
fn decode(path: &Path) -> Result<f64> {
    let session = open(path, &[])?;
    let begin = cpu_seconds()?;
    let (mut batch, mut sum) = (Vec::new(), 0u64);
    for stream in session.trace().streams() {
        let mut reader = session.trace().reader(stream.stream)?;
        while reader.next_batch(&mut batch)? {
            sum = batch.iter().fold(sum, |sum, inst| sum.wrapping_add(inst.addr));
        }
    }
    std::hint::black_box(sum);
    Ok(cpu_seconds()? - begin)
}

fn tables(columns: &[Column]) -> Result<String> {
    let mut out = String::new();
    speed(&mut out, columns)?;
    for (part, mode) in PARTS.into_iter().enumerate() {
        writeln!(out, "\n## Difference of `--mode {}` from the whole machine\n", mode.name())?;
        writeln!(
            out,
            "Difference of each count in percent: from the whole machine, and after the bar from the whole machine \
             without wrong paths. `=` is the same count; `-` means no count. Events that occur less than \
             {RARE} times in all traces together are left out.\n"
        )?;
        differences(&mut out, columns, part, mode)?;
    }
    Ok(out)
}

fn speed(out: &mut String, columns: &[Column]) -> Result<()> {
    writeln!(out, "\n## Speed\n")?;
    writeln!(out, "Million instructions per second of CPU time, one thread, each trace once.\n")?;
    write!(out, "| trace | full |")?;
    PARTS.iter().try_for_each(|mode| write!(out, " {} |", mode.name()))?;
    writeln!(out, " reading the trace alone |\n| --- |{}", " ---: |".repeat(PARTS.len() + 2))?;
    let mut logs = vec![0.0; PARTS.len() + 2];
    for column in columns {
        let parts = column.parts.iter().map(|part| part.seconds);
        let seconds = std::iter::once(column.full.seconds).chain(parts);
        write!(out, "| {} |", column.name)?;
        for (log, seconds) in logs.iter_mut().zip(seconds.chain([column.decode_seconds])) {
            let mips = column.instructions as f64 / seconds / 1e6;
            *log += mips.ln();
            write!(out, " {mips:.1} |")?;
        }
        writeln!(out)?;
    }
    write!(out, "| geometric mean |")?;
    let count = columns.len() as f64;
    logs.iter().try_for_each(|log| write!(out, " {:.1} |", (log / count).exp()))?;
    writeln!(out)?;
    Ok(())
}

fn differences(out: &mut String, columns: &[Column], part: usize, mode: Mode) -> Result<()> {
    write!(out, "| event |")?;
    columns.iter().try_for_each(|column| write!(out, " {} |", column.name))?;
    writeln!(out, "\n| --- |{}", " ---: |".repeat(columns.len()))?;
    for event in PmuEvent::ALL.into_iter().filter(|event| mode.gives(*event)) {
        let total: u64 = columns.iter().map(|column| column.full.counts.value(event)).sum();
        if total < RARE {
            continue;
        }
        write!(out, "| `{}` |", event.mnemonic())?;
        for column in columns {
            let found = column.parts[part].counts.value(event);
            let whole = difference(found, column.full.counts.value(event));
            let right = difference(found, column.correct_path.value(event));
            write!(out, " {whole} \\| {right} |")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Returns the difference of a count from another, in percent.
fn difference(found: u64, expected: u64) -> String {
    match (found, expected) {
        (0, 0) => "-".to_owned(),
        _ if found == expected => "=".to_owned(),
        (_, 0) => format!("{found} for 0"),
        _ => format!("{:+.1}", 100.0 * (found as f64 - expected as f64) / expected as f64),
    }
}
