//! Writes the tables and the figure of `docs/regions.md`: windows of traces beside their whole runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sim_core::PmuEvent;
use sim_machine::{
    ConfigSource, Estimate, MachineConfig, RegionOptions, Regions, RunHeader, RunOptions, Session,
    Window,
};
use sim_report::figure::regions::{self as figure, Estimated};
use sim_tests::repository;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The traces, each of one thread; `traces/debian.sh` records some
    #[arg(required = true)]
    traces: Vec<PathBuf>,
}

/// Where the tables stand in the page.
const BEGIN: &str = "<!-- cargo xtask regions -->\n";
const END: &str = "<!-- end -->\n";
/// The events, frequent ones first; `CPU_CYCLES` stands for CPI, because instructions are exact.
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

/// One trace: its estimates, how often the events happen in 1000 instructions, and seconds of the processor.
struct Row {
    estimated: Estimated,
    rates: Vec<f64>,
    instructions: u64,
    whole: f64,
    windows: f64,
    find: f64,
}

/// Runs every trace whole and in windows, and writes the page.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let rows: Vec<Row> = args.traces.iter().map(|trace| measure(trace)).collect::<Result<_>>()?;
    let path = repository().join("docs/regions.md");
    let page =
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let (before, rest) = page.split_once(BEGIN).context("the page has no place for the tables")?;
    let (_, behind) = rest.split_once(END).context("the place for the tables has no end")?;
    std::fs::write(&path, format!("{before}{BEGIN}{}{END}{behind}", tables(&rows)))?;
    let names: Vec<&str> = EVENTS.iter().map(|event| name(*event)).collect();
    let estimated: Vec<Estimated> = rows.into_iter().map(|row| row.estimated).collect();
    let picture = repository().join("docs/figures/regions.svg");
    std::fs::write(&picture, figure::errors(&names, &estimated))?;
    println!("wrote {} and {}", path.display(), picture.display());
    Ok(true)
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
    let Regions { warmup, lesson, .. } = regions;
    let of =
        |one: &sim_machine::Region| Window { begin: one.begin, length: one.length, warmup, lesson };
    let parts: Vec<Window> = regions.windows.iter().map(of).collect();
    let (outcomes, windows) = timed(|| session.run_windows(&parts, &mut |_| {}))?;
    let estimate = Estimate::new(&outcomes, &regions).context("there is no window")?;
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
    })
}

/// What the work gives, and the seconds that this thread had a processor for it.
fn timed<T, E>(work: impl FnOnce() -> std::result::Result<T, E>) -> Result<(T, f64)>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let begin = processor_seconds()?;
    let done = work()?;
    Ok((done, processor_seconds()? - begin))
}

fn processor_seconds() -> Result<f64> {
    // Linux adds the running slice only when the thread gives way.
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
        ("`stat --regions`", (|row| row.windows) as fn(&Row) -> f64),
        ("`trace regions`, once", |row| row.find),
    ] {
        let _ = write!(text, "\n| {label} |");
        for row in rows {
            let _ =
                write!(text, " {:.1} ({:.1} %) |", seconds(row), 100.0 * seconds(row) / row.whole);
        }
    }
    text += "\n| instructions, millions |";
    rows.iter().for_each(|row| text += &format!(" {} |", row.instructions / 1_000_000));
    text += "\n";
    text
}
