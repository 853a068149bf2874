//! Part 3 of the page: prediction and the wrong path on the committed traces.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use sim_core::pmu_event::Group;
use sim_core::{Counts, PmuEvent};
use sim_lab::targets::front_end::wrong_path;
use sim_machine::config::MachineConfig;
use sim_machine::{ConfigSource, RunHeader, RunOptions, Session};
use sim_tests::{files_below, repository};

/// Instructions of each thread that are run.
const LIMIT: u64 = 2_000_000;
/// Number of runs; the shortest one is the host time.
const TIMED_RUNS: usize = 3;
/// Least count for which a percentage is meaningful.
const ENOUGH: u64 = 200;

const HEAD: &str = "
## 3. Prediction and the wrong path

Measured on the first 2 million instructions of every thread of the committed traces, profile guide. A misprediction
is a correct-path branch after which the pipeline was flushed (`BR_MIS_PRED_RETIRED`). `tage` is the model of the
core's predictor, `gshare` is a simple two-level predictor, and `perfect` knows every direction and target
(`pipeline.branch.direction`). `atomics` is slower with perfect prediction: its two threads take the same lines from
each other. In the order of threads under perfect prediction, a line moves more often (`L1D_CACHE_REFILL_OUTER`: a
quarter more when this sentence was written). These moves cost far more than the few mispredictions.
";

const WRONG_PATH: &str = "
### Effect of the wrong path

With `pipeline.wrong-path.enabled = false` the front end waits after a mispredicted branch until it resolves. The
counts of the same program then lack the squashed work. Host time is the time of one run with the wrong path,
divided by the time of one without, on the machine that made this page. Every other figure is reproducible to the
last digit.
";

const KINDS: &str = "
The table gives the length of a wrong path in instructions per misprediction, by the wait of its branch, in loops with
a random branch. Rename can dispatch five operations a cycle until the branch resolves; this is the maximum of a wrong
path. After a branch that resolves at once, it is 6 to 20 operations. Published: a misprediction costs 10 cycles (Arm,
Hot Chips 33), 10.4 to 12 on related cores that document 11 (ocxtal, N1 and V1). Arm's telemetry data charges 4 cycles
of rename slots to each, some 20 operations.
";

const EVENTS: &str = "
Change in percent of the count without the wrong path, for each event of the groups of guide 4.1 to 4.10 and 4.13 that
a wrong path changes. `.` marks events that count fewer than 200 times in that trace.
";

/// One trace under the four machines.
struct Row {
    name: String,
    tage: Counts,
    gshare: Counts,
    perfect: Counts,
    without: Counts,
    host_ratio: f64,
}

/// Returns the text of the part.
///
/// # Errors
///
/// A committed trace cannot be run.
pub(crate) fn section() -> Result<String> {
    let traces = files_below(&repository().join("traces"), "n2t");
    let rows: Vec<Row> = traces.iter().map(|path| measure(path)).collect::<Result<_>>()?;
    let mut text = HEAD.to_owned();
    write_predictors(&mut text, &rows);
    text += WRONG_PATH;
    write_cost(&mut text, &rows);
    text += KINDS;
    write_kinds(&mut text);
    text += EVENTS;
    write_events(&mut text, &rows);
    Ok(text)
}

fn measure(path: &Path) -> Result<Row> {
    const OFF: &str = "pipeline.wrong-path.enabled=false";
    let with = session(path, &[])?;
    let without = session(path, &[OFF])?;
    let direction = |name: &str| session(path, &[&format!("pipeline.branch.direction={name:?}")]);
    let row = Row {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        tage: run(&with)?.0,
        gshare: run(&direction("gshare")?)?.0,
        perfect: run(&direction("perfect")?)?.0,
        without: run(&without)?.0,
        host_ratio: host_ratio(&with, &without)?,
    };
    if row.perfect.value(PmuEvent::BR_MIS_PRED_RETIRED) > 0 {
        bail!("{}: the perfect predictor mispredicts", row.name);
    }
    Ok(row)
}

fn session(path: &Path, overrides: &[&str]) -> Result<Session> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let config = MachineConfig::from_document(&source.document()?)?;
    let trace = path.display().to_string();
    let header = RunHeader { trace: trace.clone(), ..RunHeader::default() };
    Session::open(path, config, header).with_context(|| format!("opening {trace}"))
}

fn run(session: &Session) -> Result<(Counts, Duration)> {
    let start = Instant::now();
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    let outcome = session.run(&options, &mut |_| {})?;
    Ok((outcome.total(), start.elapsed()))
}

/// Returns host time with the wrong path, divided by host time without; runs of both alternate.
fn host_ratio(with: &Session, without: &Session) -> Result<f64> {
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..TIMED_RUNS {
        for (session, shortest) in [with, without].iter().zip(&mut shortest) {
            *shortest = run(session)?.1.min(*shortest);
        }
    }
    Ok(shortest[0].as_secs_f64() / shortest[1].as_secs_f64())
}

fn ratio(counts: &Counts, event: PmuEvent, per: PmuEvent) -> f64 {
    counts.value(event) as f64 / counts.value(per).max(1) as f64
}

fn per_kilo(counts: &Counts, event: PmuEvent) -> f64 {
    1000.0 * ratio(counts, event, PmuEvent::INST_RETIRED)
}

fn ipc(counts: &Counts) -> f64 {
    ratio(counts, PmuEvent::INST_RETIRED, PmuEvent::CPU_CYCLES)
}

fn write_predictors(text: &mut String, rows: &[Row]) {
    *text += "\n| trace | branches per 1000 instructions | mispredicted: tage | gshare | perfect | IPC: tage \
              | gshare | perfect |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for row in rows {
        let missed = |counts: &Counts| per_kilo(counts, PmuEvent::BR_MIS_PRED_RETIRED);
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            row.name,
            per_kilo(&row.tage, PmuEvent::BR_RETIRED),
            missed(&row.tage),
            missed(&row.gshare),
            missed(&row.perfect),
            ipc(&row.tage),
            ipc(&row.gshare),
            ipc(&row.perfect),
        );
    }
}

fn write_cost(text: &mut String, rows: &[Row]) {
    *text += "\n| trace | operations executed per operation retired | wrong-path operations per misprediction \
              | IPC without | IPC with | change | host time, with / without |\n\
              | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for row in rows {
        let value = |event: PmuEvent| row.tage.value(event);
        let squashed = value(PmuEvent::OP_SPEC) - value(PmuEvent::OP_RETIRED);
        let flushes = value(PmuEvent::BR_MIS_PRED_RETIRED);
        let per_flush = match flushes >= ENOUGH {
            true => format!("{:.1}", squashed as f64 / flushes as f64),
            false => ".".to_owned(),
        };
        let (before, after) = (ipc(&row.without), ipc(&row.tage));
        let _ = writeln!(
            text,
            "| {} | {:.2} | {per_flush} | {before:.3} | {after:.3} | {:+.1} % | {:.2} |",
            row.name,
            ratio(&row.tage, PmuEvent::OP_SPEC, PmuEvent::OP_RETIRED),
            100.0 * (after / before - 1.0),
            row.host_ratio,
        );
    }
}

fn write_kinds(text: &mut String) {
    let config = sim_tests::accuracy::default_config();
    *text += "\n| branch | cycles from rename to resolution | instructions on the wrong path | at most |\n\
              | --- | ---: | ---: | ---: |\n";
    for row in wrong_path::measure(&config) {
        let (cycles, insts, most) = (row.resolves_after, row.insts, row.most);
        let _ = writeln!(text, "| {} | {cycles:.1} | {insts:.1} | {most:.1} |", row.what);
    }
    for targets in [2, 16] {
        let cycles = wrong_path::indirect_cycles(&config, targets);
        let _ = writeln!(
            text,
            "\nMisprediction of an indirect branch of {targets} targets: {cycles:.1} cycles."
        );
    }
}

/// Returns whether a wrong path can add to the event: instructions, operations, caches and TLBs.
fn is_shown(event: PmuEvent, rows: &[Row]) -> bool {
    let group = event.info().group;
    let touched = !matches!(group, Group::Exception | Group::Cpu | Group::Spe);
    let speculative = event.mnemonic().ends_with("_SPEC");
    let changes = |row: &Row| {
        let (before, after) = (row.without.value(event), row.tage.value(event));
        before >= ENOUGH && percent(before, after).abs() >= 0.05
    };
    (touched || speculative) && rows.iter().any(changes)
}

fn percent(before: u64, after: u64) -> f64 {
    100.0 * (after as f64 / before as f64 - 1.0)
}

fn write_events(text: &mut String, rows: &[Row]) {
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let _ = writeln!(text, "\n| event | {} |", names.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(rows.len()));
    for event in PmuEvent::ALL.into_iter().filter(|event| is_shown(*event, rows)) {
        let _ = write!(text, "| `{}` |", event.mnemonic());
        for row in rows {
            let (before, after) = (row.without.value(event), row.tage.value(event));
            let _ = match before >= ENOUGH {
                true => write!(text, " {:+.1} |", percent(before, after)),
                false => write!(text, " . |"),
            };
        }
        *text += "\n";
    }
}
