//! Writes the tables and the figure of `docs/regions.md`: sampled simulation beside whole runs.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sim_core::PmuEvent;
use sim_lab::{Estimate, RegionOptions, Regions};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};
use sim_report::figure::regions::{self as figure, Estimated};
use sim_tests::repository;
use sim_trace::StatesReader;
use tempfile::NamedTempFile;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Traces that the method was tuned with, each of one thread: those of `traces/debian.sh
    /// FOLDER`
    #[arg(required_unless_present = "held_out")]
    traces: Vec<PathBuf>,
    /// Traces that nothing was tuned with: those of `traces/debian.sh FOLDER held-out`
    #[arg(long, num_args = 1..)]
    held_out: Vec<PathBuf>,
}

/// Traces whose tables are together.
struct Group<'a> {
    /// Marker in the page at which the tables begin.
    begin: &'static str,
    /// Description of the traces.
    what: &'static str,
    /// File name of their figure.
    figure: &'static str,
    traces: &'a [PathBuf],
}

/// Marker in the page at which a group's tables end.
const END: &str = "<!-- end -->\n";
/// Largest error of an estimate, in percent, and largest share of the run time for the windows.
const AIM: f64 = 3.0;
const AIM_SECONDS: f64 = 0.1;
/// Events that must be accurate together with CPI. They were chosen after the first nine programs
/// had been measured, and before any held-out program.
const NAMED: [PmuEvent; 12] = [
    PmuEvent::MEM_ACCESS,
    PmuEvent::OP_SPEC,
    PmuEvent::L1D_CACHE,
    PmuEvent::L1I_CACHE,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::L1D_TLB_REFILL,
    PmuEvent::L2D_CACHE,
    PmuEvent::BR_MIS_PRED_RETIRED,
    PmuEvent::STALL_FRONTEND,
    PmuEvent::L2D_CACHE_REFILL,
    PmuEvent::BUS_ACCESS,
    PmuEvent::DTLB_WALK,
];
/// The events, frequent ones first. `CPU_CYCLES` represents CPI, because instructions are exact.
const EVENTS: [PmuEvent; 16] = [
    PmuEvent::CPU_CYCLES,
    PmuEvent::MEM_ACCESS,
    PmuEvent::OP_SPEC,
    PmuEvent::L1D_CACHE,
    PmuEvent::L1I_CACHE,
    PmuEvent::L1D_CACHE_REFILL,
    PmuEvent::L1D_TLB_REFILL,
    PmuEvent::L2D_CACHE,
    PmuEvent::BR_MIS_PRED_RETIRED,
    PmuEvent::STALL_FRONTEND,
    PmuEvent::STALL_BACKEND,
    PmuEvent::L2D_CACHE_REFILL,
    PmuEvent::BUS_ACCESS,
    PmuEvent::LL_CACHE_MISS_RD,
    PmuEvent::L1I_CACHE_REFILL,
    PmuEvent::DTLB_WALK,
];

/// One trace: its estimates, event rates per 1000 instructions, and CPU seconds.
struct Row {
    estimated: Estimated,
    rates: Vec<f64>,
    instructions: u64,
    whole: f64,
    windows: f64,
    find: f64,
    /// Seconds of writing the states, and their bytes.
    states: (f64, u64),
}

impl Row {
    /// Returns true if the errors of CPI and the named events are within the aim.
    fn is_near(&self) -> bool {
        let is_meant = |event: &PmuEvent| *event == PmuEvent::CPU_CYCLES || NAMED.contains(event);
        let errors = EVENTS.iter().zip(&self.estimated.events);
        errors.filter(|(event, _)| is_meant(event)).all(|(_, (error, _))| error.abs() <= AIM)
    }

    /// Returns true if the windows' share of the run time is within the aim.
    fn is_fast(&self) -> bool {
        self.windows < AIM_SECONDS * self.whole
    }
}

/// Runs every trace whole and in windows, and writes the page.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let groups = [
        Group {
            begin: "<!-- cargo xtask regions -->\n",
            what: "programs that the method was tuned with",
            figure: "docs/figures/regions.svg",
            traces: &args.traces,
        },
        Group {
            begin: "<!-- cargo xtask regions --held-out -->\n",
            what: "programs that were held out",
            figure: "docs/figures/regions-held-out.svg",
            traces: &args.held_out,
        },
    ];
    for group in groups.iter().filter(|group| !group.traces.is_empty()) {
        write(group)?;
    }
    Ok(true)
}

/// Measures a group and writes its tables and its figure.
fn write(group: &Group<'_>) -> Result<()> {
    let rows: Vec<Row> = group.traces.iter().map(|trace| measure(trace)).collect::<Result<_>>()?;
    let path = repository().join("docs/regions.md");
    let page =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let begin = group.begin;
    let (before, rest) = page.split_once(begin).context("the page has no marker for the tables")?;
    let (_, after) = rest.split_once(END).context("the marker for the tables has no end")?;
    let text = tables(&rows) + "\n" + &verdict(&rows, group.what);
    std::fs::write(&path, format!("{before}{begin}{text}{END}{after}"))?;
    let names: Vec<&str> = EVENTS.iter().map(|event| name(*event)).collect();
    let estimated: Vec<Estimated> = rows.into_iter().map(|row| row.estimated).collect();
    let figure_path = repository().join(group.figure);
    std::fs::write(&figure_path, figure::errors(&names, &estimated))?;
    println!("wrote {} and {}", path.display(), figure_path.display());
    Ok(())
}

/// Returns a sentence with the number of traces within the aims.
fn verdict(rows: &[Row], what: &str) -> String {
    let count = rows.len();
    let near = listed(rows, Row::is_near);
    let both = listed(rows, |row| row.is_near() && row.is_fast());
    let errors = || rows.iter().flat_map(|row| &row.estimated.events);
    let within = errors().filter(|(error, _)| error.abs() <= AIM).count();
    let held = errors().filter(|(error, half)| error.abs() <= *half).count();
    let cells = errors().count();
    let percent = AIM_SECONDS * 100.0;
    format!(
        "{count} {what}. CPI and the twelve named events are within {AIM} % in {near}; the windows also take less than {percent} % of \
         the time in {both}. Of all {cells} figures {within} are within {AIM} %, and the interval contains {held}.\n"
    )
}

/// Returns number and names of the traces that satisfy a condition.
fn listed(rows: &[Row], satisfies: impl Fn(&Row) -> bool) -> String {
    let names = rows.iter().filter(|row| satisfies(row));
    let names: Vec<String> = names.map(|row| format!("`{}`", row.estimated.trace)).collect();
    match names.len() {
        0 => "none".to_owned(),
        count => format!("{count} ({})", names.join(", ")),
    }
}

fn name(event: PmuEvent) -> &'static str {
    if event == PmuEvent::CPU_CYCLES { "CPI" } else { event.mnemonic() }
}

fn measure(trace: &Path) -> Result<Row> {
    let document = ConfigSource::default().document()?;
    let header = RunHeader {
        trace: trace.display().to_string(),
        config_hash: document.hash(),
        ..RunHeader::default()
    };
    let session = Session::open(trace, MachineConfig::from_document(&document)?, header)?;
    let (whole, whole_seconds) = timed(|| session.run(&RunOptions::default(), &mut |_| {}))?;
    let options = RegionOptions::default();
    let ((regions, _), find) = timed(|| Regions::find(&session, &options, &mut |_| {}))?;
    let (file, states) = timed(|| states(&session, &regions))?;
    let (estimate, windows) = timed(|| estimate(&session, &regions, file.path()))?;
    let bytes = file.path().metadata()?.len();
    let estimate = estimate.context("there is no window")?;
    let (found, expected) = (estimate.outcome.total(), whole.total());
    let error = |event: PmuEvent| {
        let (found, expected) = (found.value(event) as f64, expected.value(event) as f64);
        let percent = if expected > 0.0 { 100.0 * (found / expected - 1.0) } else { 0.0 };
        (percent, estimate.errors[event as usize])
    };
    let instructions = expected.value(PmuEvent::INST_RETIRED);
    ensure!(instructions > 0, "{}: no instructions", trace.display());
    let rate = |event: PmuEvent| 1000.0 * expected.value(event) as f64 / instructions as f64;
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    println!("{stem}: {windows:.1} of {whole_seconds:.1} s");
    Ok(Row {
        estimated: Estimated { trace: stem, events: EVENTS.into_iter().map(error).collect() },
        rates: EVENTS.into_iter().map(rate).collect(),
        instructions,
        whole: whole_seconds,
        windows,
        find,
        states: (states, bytes),
    })
}

/// Writes the states in which the windows begin.
fn states(session: &Session, regions: &Regions) -> Result<NamedTempFile> {
    let file = NamedTempFile::new()?;
    let out = BufWriter::new(file.as_file());
    regions.write_states(session, out, "states", &mut |_| {})?;
    Ok(file)
}

/// Runs the windows in their states, as `n2sim stat` does.
fn estimate(session: &Session, regions: &Regions, states: &Path) -> Result<Option<Estimate>> {
    let mut states = StatesReader::new(BufReader::new(File::open(states)?), "states")?;
    Ok(regions.run(session, Some(&mut states), &mut |_| {})?)
}

/// Returns the result of the work, and the CPU seconds of this thread for it.
fn timed<T, E>(work: impl FnOnce() -> std::result::Result<T, E>) -> Result<(T, f64)>
where
    anyhow::Error: From<E>,
{
    let begin = cpu_seconds()?;
    let done = work()?;
    Ok((done, cpu_seconds()? - begin))
}

fn cpu_seconds() -> Result<f64> {
    // Linux adds the running slice only when the thread yields.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().context("schedstat is empty")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn tables(rows: &[Row]) -> String {
    let mut text = String::from("| |");
    rows.iter().for_each(|row| text += &format!(" {} |", row.estimated.trace));
    text += &format!("\n|---|{}\n", "---|".repeat(rows.len()));
    for (at, event) in EVENTS.into_iter().enumerate() {
        let shown = name(event);
        let _ =
            write!(text, "| {} |", if at == 0 { shown.to_owned() } else { format!("`{shown}`") });
        for row in rows {
            let ((error, half), rate) = (row.estimated.events[at], row.rates[at]);
            let _ = write!(text, " {error:+.1} ±{half:.0} ({rate:.3}) |");
        }
        text += "\n";
    }
    text += "\n| Seconds |";
    rows.iter().for_each(|row| text += &format!(" {} |", row.estimated.trace));
    text += &format!("\n|---|{}\n| whole run |", "---|".repeat(rows.len()));
    rows.iter().for_each(|row| text += &format!(" {:.1} |", row.whole));
    for (label, seconds) in [
        ("`estimate --regions`", (|row| row.windows) as fn(&Row) -> f64),
        ("finding windows, once", |row| row.find),
        ("writing their states, once", |row| row.states.0),
    ] {
        let _ = write!(text, "\n| {label} |");
        for row in rows {
            let _ =
                write!(text, " {:.1} ({:.1} %) |", seconds(row), 100.0 * seconds(row) / row.whole);
        }
    }
    text += "\n| states, MB |";
    rows.iter().for_each(|row| text += &format!(" {:.1} |", row.states.1 as f64 / 1e6));
    text += "\n| instructions, millions |";
    rows.iter().for_each(|row| text += &format!(" {} |", row.instructions / 1_000_000));
    text += "\n";
    text
}
