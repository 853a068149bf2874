//! `n2sim stat`: replays a trace and prints its counts as `perf stat` would.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use sim_core::PmuEvent;
use sim_machine::{MachineConfig, Marker, Outcome, Roi, RunHeader, RunOptions, Session};
use sim_metrics::builtin;
use sim_metrics::formula::{Catalog, Machine};
use sim_pmu::perf::{Reading, Status};
use sim_report::metrics::{self, MetricRow};
use sim_report::perf_stat::Columns;
use sim_report::perf_stat::grouped;
use sim_report::stat::{self, Counted, StatOptions};
use sim_report::{Owner, Selected, StatReport, header, perf_stat, prefetches, stalls};

use crate::Verdict;
use crate::args::StatArgs;
use crate::counterfactual;
use crate::counts_file::CountsFile;
use crate::event_list::{self, EventGroup};
use crate::host;
use crate::interval;
use crate::measure::{Measured, Method, Replay, Request};
use crate::metric_files;
use crate::mode;
use crate::opened;
use crate::output::Output;
use crate::per_function;
use crate::plan;
use crate::program_pmu;
use crate::sampled::{self, Sampled};
use crate::signals::{self, Keeper};
use crate::stat_metrics::{Metrics, Sharing};
use sim_core::Shown;

/// Words unknown to the decoder that are listed by name.
const UNKNOWN_WORDS_SHOWN: usize = 8;
/// What is said of events that a trace of an application alone cannot answer.
const NO_KERNEL: &str =
    "n2sim: the trace has no kernel instructions: events for the kernel alone are not supported";
/// Metrics beside the counts of a report without `-e`: where the slots went, how fast, what missed how often.
const SHORT_METRICS: [&str; 3] = ["TopdownL1", "ipc", "MPKI"];
/// Time between two drawings of the progress bar.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Runs the trace and prints what was asked for.
pub(crate) fn run(args: &StatArgs) -> anyhow::Result<Verdict> {
    mode::check(args)?;
    let mut groups = event_list::parse_all(&args.event)?;
    let options = run_options(args)?;
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let config = MachineConfig::from_document(&document)?;
    let has_stall_slot_erratum = config.core.revision.has_stall_slot_erratum();
    let patch = config.core.revision.patch();
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: args.trace.shown().to_string(),
        ..RunHeader::default()
    };
    let session = opened::session(&args.trace, config, header)?.in_mode(args.mode.mode());
    // Only the table of lost slots shows what they waited for.
    let session = if args.stalls { session } else { session.without_roots() };
    let session = session.stopped_by(signals::flag());
    let metrics = metrics(args, &session, patch, &groups)?;
    groups.extend_from_slice(metrics.requested());
    let request = Request::new(&groups, &session);
    if request.lacks_kernel() {
        writeln!(io::stderr(), "{NO_KERNEL}")?;
    }
    let output = Output::create(args.output.as_deref())?;
    if args.counterfactual {
        counterfactual::run(output, args, &document, &options)?;
        return Ok(Verdict::Good);
    }
    if args.program_pmu {
        return program_pmu::run(output, args, &session, &options);
    }
    if args.plan {
        plan::run(output, args, &session, &options, &request)?;
        return Ok(Verdict::Good);
    }
    let perf_data = args.perf_data.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let replay =
        Replay { session: &session, options: &options, request: &request, has_stall_slot_erratum };
    let start = Instant::now();
    // Windows and parts of a trace stand for a whole only when all of them have run.
    let is_in_one_piece = args.regions.is_none() && args.jobs.is_none();
    let keeper = is_in_one_piece.then(Keeper::for_first);
    let (rounds, instructions) = match args.interval_print {
        _ if args.per_function => per_function::run(output, args, &replay)?,
        Some(milliseconds) => count_intervals(output, args, &replay, milliseconds)?,
        None => count_once(output, args, &replay, &metrics)?,
    };
    if args.verbose {
        host::write_speed(&mut io::stderr(), instructions, start.elapsed())?;
    }
    if let Some(mut file) = perf_data {
        rounds.write(&mut file)?;
        file.finish()?;
    }
    if let Some(keeper) = keeper {
        keeper.end(instructions, expected(&session, &options))?;
    }
    Ok(Verdict::Good)
}

/// The metrics of `-M`; their events stand after those of `-e`.
fn metrics(
    args: &StatArgs,
    session: &Session,
    patch: u8,
    own: &[EventGroup],
) -> anyhow::Result<Metrics> {
    let catalog = match args.metric.is_empty() {
        true => Catalog::default(),
        false => metric_files::catalog(&args.metrics)?,
    };
    let chosen = metric_files::chosen(&args.metric, &catalog)?;
    let own: Vec<Selected> = own.iter().flat_map(|group| group.events.clone()).collect();
    let sharing = match args.multiplexes() {
        true if args.plan => Sharing::Plan,
        true => Sharing::Groups,
        false => Sharing::Exact,
    };
    Metrics::new(&chosen, &catalog, machine(session, patch), &own, sharing)
}

/// What formulas may know of the machine.
fn machine(session: &Session, patch: u8) -> Machine {
    let cores = u32::try_from(session.trace().streams().len()).unwrap_or(u32::MAX);
    Machine::neoverse_n2(patch, cores)
}

/// Counts every event, or those that were asked for with the counters of a core.
fn measure(
    args: &StatArgs,
    session: &Session,
    options: &RunOptions,
    request: &Request,
) -> anyhow::Result<(Measured, u64)> {
    let method = match args.multiplexes() {
        true => Method::Turns(args.tick_ns()),
        false => Method::Passes,
    };
    with_progress(session, options, |progress| {
        if request.events.is_empty() {
            let outcome = session.run(options, progress)?;
            return Ok(Measured::of_all(outcome));
        }
        Ok(request.measure(session, options, method, progress)?)
    })
}

fn run_options(args: &StatArgs) -> anyhow::Result<RunOptions> {
    let roi = args.roi.as_deref().map(parse_roi).transpose()?;
    Ok(RunOptions { warmup: args.warmup, limit: args.limit, roi })
}

/// `40,41` (numbers of HINT instructions) or `begin,end` (names of functions).
pub(crate) fn parse_roi(text: &str) -> anyhow::Result<Roi> {
    let Some((begin, end)) = text.split_once(',') else {
        anyhow::bail!("--roi {text}: give both markers, such as 40,41 or work_begin,work_end");
    };
    Ok(Roi { begin: parse_marker(begin, text)?, end: parse_marker(end, text)? })
}

fn parse_marker(marker: &str, text: &str) -> anyhow::Result<Marker> {
    let marker = marker.trim();
    match marker.parse::<u32>() {
        Ok(number @ 0..=127) => Ok(Marker::Hint(number)),
        Ok(number) => anyhow::bail!("--roi {text}: HINT #{number} does not exist; use 0 to 127"),
        Err(_) if marker.is_empty() => anyhow::bail!("--roi {text}: a marker is empty"),
        Err(_) => Ok(Marker::Symbol(marker.to_owned())),
    }
}

/// Counts and prints the whole run.
fn count_once(
    out: Output,
    args: &StatArgs,
    replay: &Replay<'_>,
    metrics: &Metrics,
) -> anyhow::Result<(CountsFile, u64)> {
    let Replay { session, options, request, .. } = replay;
    let (sampled, ran) =
        with_progress(session, options, |progress| sampled::run(args, session, options, progress))?;
    let (measured, errors, instructions) = match sampled {
        Some(Sampled { outcome, errors }) => (request.of(outcome), errors, ran),
        None => {
            let (measured, instructions) = measure(args, session, options, request)?;
            (measured, None, instructions)
        }
    };
    let errors = errors.as_deref();
    match request.events.is_empty() && args.metric.is_empty() {
        false => write_chosen(out, args, replay, metrics, (&measured, errors))?,
        true if args.all || args.is_for_programs() => {
            let report = every_count(args, replay, &measured.outcome, errors);
            write_report(out, args, &measured.outcome, &report, &[])?;
        }
        true => write_short(out, args, replay, &measured.outcome, errors)?,
    }
    write_notes(&mut io::stderr(), args, request, &measured)?;
    for trouble in metrics.troubles(&measured) {
        writeln!(io::stderr(), "n2sim: note: {trouble}")?;
    }
    let outcome = &measured.outcome;
    let mut file = CountsFile::new(replay, outcome, None);
    match request.events.is_empty() {
        true => file.add(file.elapsed_ns(), &[stat::exact_sum(outcome, &stat::every_event())]),
        false => file.add(file.elapsed_ns(), &measured.readings),
    }
    Ok((file, instructions))
}

/// Writes the events and metrics that were asked for, each event once.
fn write_chosen(
    out: Output,
    args: &StatArgs,
    replay: &Replay<'_>,
    metrics: &Metrics,
    (measured, errors): (&Measured, Option<&[f64]>),
) -> anyhow::Result<()> {
    let (outcome, all) = (&measured.outcome, &replay.request.events);
    let listed = metrics.listed(all, &measured.readings);
    let events: Vec<Selected> = listed.iter().map(|at| all[*at].clone()).collect();
    let of_core =
        |core: &Vec<Reading>| listed.iter().filter_map(|at| core.get(*at).copied()).collect();
    let of_listed = |cores: &[Vec<Reading>]| cores.iter().map(of_core).collect::<Vec<_>>();
    let (readings, truth) = (of_listed(&measured.readings), of_listed(&measured.truth));
    let counted = Counted {
        events: &events,
        readings: &readings,
        truth: args.truth.then_some(truth.as_slice()),
    };
    let threads = args.per_thread.then(|| Owner::threads(outcome));
    let options = StatOptions {
        counted: Some(counted),
        owners: threads.as_deref(),
        has_stall_slot_erratum: replay.has_stall_slot_erratum,
        errors,
    };
    let rows = match measured.readings.is_empty() {
        false => metrics.rows(measured, args.per_thread, args.truth),
        // A metric of times alone counts nothing.
        true => metrics.rows_of(outcome, &[], &[], args.per_thread),
    };
    write_report(out, args, outcome, &StatReport::new(outcome, &options), &rows)
}

/// The exact counts of all events.
fn every_count(
    args: &StatArgs,
    replay: &Replay<'_>,
    outcome: &Outcome,
    errors: Option<&[f64]>,
) -> StatReport {
    let threads = args.per_thread.then(|| Owner::threads(outcome));
    let options = StatOptions {
        counted: None,
        owners: threads.as_deref(),
        has_stall_slot_erratum: replay.has_stall_slot_erratum,
        errors,
    };
    StatReport::new(outcome, &options)
}

/// Writes the events that matter most, and the metrics that say where the time went.
fn write_short(
    out: Output,
    args: &StatArgs,
    replay: &Replay<'_>,
    outcome: &Outcome,
    errors: Option<&[f64]>,
) -> anyhow::Result<()> {
    let report = every_count(args, replay, outcome, errors).short(false);
    let catalog = builtin::catalog();
    let names = SHORT_METRICS.map(str::to_owned);
    let chosen = metric_files::chosen(&names, &catalog)?;
    let patch = replay.session.config().core.revision.patch();
    let machine = machine(replay.session, patch);
    let metrics = Metrics::new(&chosen, &catalog, machine, &[], Sharing::Exact)?;
    let groups = metrics.requested().iter();
    let events: Vec<Selected> = groups.flat_map(|group| group.events.clone()).collect();
    let readings = match args.per_thread {
        true => stat::exact(outcome, &events),
        false => vec![stat::exact_sum(outcome, &events)],
    };
    let mut rows = metrics.rows_of(outcome, &readings, &[], args.per_thread);
    // A part of the machine has not all of them.
    rows.retain(|row| !row.value.is_nan());
    write_report(out, args, outcome, &report, &rows)
}

/// Counts and prints the run interval by interval.
fn count_intervals(
    mut out: Output,
    args: &StatArgs,
    replay: &Replay<'_>,
    milliseconds: f64,
) -> anyhow::Result<(CountsFile, u64)> {
    let Replay { session, options, .. } = replay;
    let ((outcome, intervals), instructions) = with_progress(session, options, |progress| {
        interval::measure(args, replay, milliseconds, progress)
    })?;
    write_header(&mut out, args, &outcome)?;
    interval::write(&mut out, args, replay, &outcome, &intervals)?;
    out.finish()?;
    write_unknown_words(&mut io::stderr(), &outcome)?;
    let mut file = CountsFile::new(replay, &outcome, Some(milliseconds));
    for interval in &intervals {
        file.add(interval.time_ns, &interval.cores);
    }
    Ok((file, instructions))
}

/// Runs with a progress bar, if stderr is a terminal; also gives the instructions that ran.
pub(crate) fn with_progress<T>(
    session: &Session,
    options: &RunOptions,
    run: impl FnOnce(&mut dyn FnMut(u64)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    with_bar(expected(session, options), run)
}

/// Instructions that a run comes to at most: those of each thread until its limit.
pub(crate) fn expected(session: &Session, options: &RunOptions) -> u64 {
    // A limit counts from the first marker of a region, which only the run finds.
    let end = match (options.limit, &options.roi) {
        (Some(limit), None) => limit.saturating_add(options.warmup),
        _ => u64::MAX,
    };
    session.trace().streams().iter().map(|stream| stream.instructions.min(end)).sum()
}

/// The same for any work on so many instructions.
pub(crate) fn with_bar<T>(
    instructions: u64,
    run: impl FnOnce(&mut dyn FnMut(u64)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    let bar = ProgressBar::new(instructions);
    let style = ProgressStyle::with_template(
        "{bar:40} {percent:>3}%  {human_pos} of {human_len} instructions  {rate}/s  {eta}",
    )?
    .with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be drawn says nothing wrong.
        let _ = out.write_str(&grouped(state.per_sec() as u64));
    });
    bar.set_style(style);
    let mut done = 0;
    let mut drawn = Instant::now();
    let result = run(&mut |instructions| {
        done = instructions;
        if drawn.elapsed() >= PROGRESS_INTERVAL {
            bar.set_position(instructions);
            drawn = Instant::now();
        }
    });
    bar.finish_and_clear();
    Ok((result?, done))
}

fn write_report(
    mut out: Output,
    args: &StatArgs,
    outcome: &Outcome,
    report: &StatReport,
    metrics: &[MetricRow],
) -> anyhow::Result<()> {
    write_header(&mut out, args, outcome)?;
    if args.json {
        perf_stat::write_json(&mut out, report)?;
        metrics::write_json(&mut out, metrics)?;
    } else if let Some(separator) = &args.separator() {
        perf_stat::write_csv(&mut out, report, separator)?;
        metrics::write_csv(&mut out, metrics, separator, args.regions.is_some())?;
    } else {
        perf_stat::write_text(&mut out, report)?;
        if !metrics.is_empty() {
            metrics::write_text(&mut out, metrics)?;
        }
        if let Some(whole) = report.short_of {
            writeln!(
                out,
                " {whole} events were counted: --all prints every one, -e some of them\n"
            )?;
        }
    }
    if args.stalls {
        stalls::write(&mut out, outcome, args.per_thread)?;
    }
    match (args.prefetch, args.json) {
        (false, _) => {}
        (true, false) => prefetches::write_text(&mut out, outcome)?,
        (true, true) => prefetches::write_json(&mut out, outcome)?,
    }
    out.finish()
}

/// Says what produced a report: in its file if people read it, else on stderr, so that programs find nothing but
/// counts. With `--header` programs get the names of the columns, or an object, first.
pub(crate) fn write_header(out: &mut Output, args: &StatArgs, outcome: &Outcome) -> io::Result<()> {
    if out.is_file() && !args.is_for_programs() {
        return header::write(out, &outcome.header);
    }
    header::write(&mut io::stderr(), &outcome.header)?;
    match args.separator() {
        _ if !args.header => Ok(()),
        None => header::write_json(out, &outcome.header),
        Some(separator) => {
            let columns = Columns {
                time: args.interval_print.is_some(),
                thread: args.per_thread,
                function: args.per_function,
                variance: args.regions.is_some(),
                truth: args.truth,
            };
            perf_stat::write_csv_head(out, &separator, columns)
        }
    }
}

/// Says what a reader of the counts should know.
fn write_notes(
    out: &mut impl Write,
    args: &StatArgs,
    request: &Request,
    measured: &Measured,
) -> io::Result<()> {
    let outcome = &measured.outcome;
    write_unknown_words(out, outcome)?;
    if measured.passes > 1 {
        let passes = measured.passes;
        writeln!(
            out,
            "n2sim: note: exact counts, for which a machine would have needed {passes} runs"
        )?;
    }
    if !args.metric.is_empty() {
        write_multiplexing(out, measured)?;
    }
    let has_none = |reading: &Reading| reading.status == Status::NotCounted;
    let events = measured.readings.first().map_or(0, Vec::len);
    let nowhere = |event: &usize| measured.readings.iter().all(|core| has_none(&core[*event]));
    let missed = (0..events).filter(nowhere).count();
    if missed > 0 {
        let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
        let ms = cycles.max().unwrap_or(0) as f64 * 1e3 / outcome.clock_hz as f64;
        let is_pinned = request.groups.iter().any(|group| group.pinned);
        let pinned = if is_pinned { "pinned events (:D) never give up theirs, " } else { "" };
        let remedy = match args.metric.is_empty() {
            true => "use fewer events, a shorter --tick, or --no-multiplex for exact counts",
            false => "use a shorter --tick; without --tick and --truth the values are exact",
        };
        writeln!(
            out,
            "n2sim: note: {missed} of {events} events were never on a counter: {pinned}turns take {} ms and \
             the run {ms:.3} ms; {remedy}",
            args.tick_ns() as f64 / 1e6
        )?;
    }
    for note in &outcome.notes {
        writeln!(out, "n2sim: note: {note}")?;
    }
    Ok(())
}

/// Says that values of metrics come from counters that did not count all the time.
fn write_multiplexing(out: &mut impl Write, measured: &Measured) -> io::Result<()> {
    let all: Vec<Reading> = stat::sum(&measured.readings);
    let is_scaled = |reading: &&Reading| reading.running > 0 && reading.running < reading.enabled;
    let scaled: Vec<&Reading> = all.iter().filter(is_scaled).collect();
    let Some(least) = scaled.iter().map(|reading| reading.share()).reduce(f64::min) else {
        return Ok(());
    };
    let (some, events, percent) = (scaled.len(), all.len(), 100.0 * least);
    writeln!(
        out,
        "n2sim: note: values are estimates: the counters were multiplexed, {some} of {events} counts are scaled from \
         a part of the run ({percent:.1} % or more); without --tick and --truth they are exact"
    )
}

/// Says what the decoder did not know, so that nobody takes the counts for complete.
pub(crate) fn write_unknown_words(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let mut words: Vec<_> = outcome.cores.iter().flat_map(|core| &core.unknown_words).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.executions));
    let executions: u64 = words.iter().map(|word| word.executions).sum();
    if words.is_empty() {
        return Ok(());
    }
    let retired = outcome.total().value(PmuEvent::INST_RETIRED);
    writeln!(
        out,
        "n2sim: {} words are unknown to the decoder and ran as one-cycle operations, {} of {} \
         instructions:",
        words.len(),
        grouped(executions),
        grouped(retired)
    )?;
    for word in words.iter().take(UNKNOWN_WORDS_SHOWN) {
        let times = grouped(word.executions);
        writeln!(out, "  {:08x} at 0x{:x}, {times} times", word.word, word.pc)?;
    }
    if words.len() > UNKNOWN_WORDS_SHOWN {
        writeln!(out, "  and {} more", words.len() - UNKNOWN_WORDS_SHOWN)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_numbers_or_names() {
        let roi = parse_roi("40, 41").expect("two hints");
        assert_eq!(roi, Roi { begin: Marker::Hint(40), end: Marker::Hint(41) });
        let roi = parse_roi("begin,end").expect("two names");
        assert_eq!(roi.end, Marker::Symbol("end".to_owned()));
        for (text, remedy) in
            [("40", "give both markers"), ("40,200", "use 0 to 127"), ("40,", "a marker is empty")]
        {
            let told = parse_roi(text).expect_err("no region").to_string();
            assert!(told.contains(remedy), "{told}");
        }
    }
}
