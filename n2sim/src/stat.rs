//! `n2sim stat`: replays a trace and prints its counts as `perf stat` would.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use sim_core::PmuEvent;
use sim_machine::{MachineConfig, Marker, Outcome, Roi, RunHeader, RunOptions, Session};
use sim_metrics::formula::{Catalog, Machine};
use sim_pmu::perf::{Reading, Status};
use sim_report::metrics::{self, MetricRow};
use sim_report::perf_stat::grouped;
use sim_report::stat::{self, Counted, StatOptions};
use sim_report::{Owner, StatReport, header, perf_stat, prefetches, stalls};

use crate::Verdict;
use crate::args::StatArgs;
use crate::counts_file::CountsFile;
use crate::event_list;
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
use crate::stat_metrics::Metrics;

/// Words unknown to the decoder that are listed by name.
const UNKNOWN_WORDS_SHOWN: usize = 8;
/// What is said of events that a trace of an application alone cannot answer.
const NO_KERNEL: &str =
    "n2sim: the trace has no kernel instructions: events for the kernel alone are not supported";
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
        trace: args.trace.display().to_string(),
        ..RunHeader::default()
    };
    let session = opened::session(&args.trace, config, header)?.in_mode(args.mode.mode());
    let own_events = groups.iter().map(|group| group.events.len()).sum();
    let metrics = metrics(args, &session, patch, own_events)?;
    groups.extend(event_list::parse_all(&metrics.event_lists())?);
    let request = Request::new(&groups, &session);
    if !request.is_supported() {
        writeln!(io::stderr(), "{NO_KERNEL}")?;
    }
    let output = Output::create(args.output.as_deref())?;
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
    Ok(Verdict::Good)
}

/// The metrics of `-M`; their events stand behind the `own_events` of `-e`.
fn metrics(
    args: &StatArgs,
    session: &Session,
    patch: u8,
    own_events: usize,
) -> anyhow::Result<Metrics> {
    let catalog = match args.metric.is_empty() {
        true => Catalog::default(),
        false => metric_files::catalog(&args.metrics)?,
    };
    let chosen = metric_files::chosen(&args.metric, &catalog)?;
    let cores = u32::try_from(session.trace().streams().len()).unwrap_or(u32::MAX);
    Metrics::new(&chosen, &catalog, Machine::neoverse_n2(patch, cores), own_events)
}

/// Counts every event, or those that were asked for with the counters of a core.
fn measure(
    args: &StatArgs,
    session: &Session,
    options: &RunOptions,
    request: &Request,
) -> anyhow::Result<(Measured, u64)> {
    let method = if args.no_multiplex { Method::Passes } else { Method::Turns(args.tick) };
    with_progress(session, |progress| {
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
        with_progress(session, |progress| sampled::run(args, session, options, progress))?;
    let (measured, errors, instructions) = match sampled {
        Some(Sampled { outcome, errors }) => (request.of(outcome), errors, ran),
        None => {
            let (measured, instructions) = measure(args, session, options, request)?;
            (measured, None, instructions)
        }
    };
    let outcome = &measured.outcome;
    let counted = (!request.events.is_empty()).then_some(Counted {
        events: &request.events,
        readings: &measured.readings,
        truth: args.truth.then_some(&measured.truth),
    });
    let threads = args.per_thread.then(|| Owner::threads(outcome));
    let options = StatOptions {
        counted,
        owners: threads.as_deref(),
        has_stall_slot_erratum: replay.has_stall_slot_erratum,
        errors: errors.as_deref(),
    };
    let rows = metrics.rows(&measured, args.per_thread, args.truth);
    write_report(out, args, outcome, &StatReport::new(outcome, &options), &rows)?;
    write_notes(&mut io::stderr(), args, request, &measured)?;
    for trouble in metrics.troubles(&measured) {
        writeln!(io::stderr(), "n2sim: note: {trouble}")?;
    }
    let mut file = CountsFile::new(replay, outcome, None);
    match request.events.is_empty() {
        true => file.add(file.elapsed_ns(), &stat::exact(outcome, &stat::every_event())),
        false => file.add(file.elapsed_ns(), &measured.readings),
    }
    Ok((file, instructions))
}

/// Counts and prints the run interval by interval.
fn count_intervals(
    mut out: Output,
    args: &StatArgs,
    replay: &Replay<'_>,
    milliseconds: f64,
) -> anyhow::Result<(CountsFile, u64)> {
    let ((outcome, intervals), instructions) = with_progress(replay.session, |progress| {
        interval::measure(args, replay, milliseconds, progress)
    })?;
    write_header(&mut out, &outcome)?;
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
    run: impl FnOnce(&mut dyn FnMut(u64)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    with_bar(session.instructions(), run)
}

/// The same for any work on so many instructions.
pub(crate) fn with_bar<T>(
    instructions: u64,
    run: impl FnOnce(&mut dyn FnMut(u64)) -> anyhow::Result<T>,
) -> anyhow::Result<(T, u64)> {
    let bar = ProgressBar::new(instructions);
    let style = ProgressStyle::with_template(
        "{bar:40} {percent:>3}%  {human_pos} of {human_len} instructions  {per_sec}  {eta}",
    )?;
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
    write_header(&mut out, outcome)?;
    if args.json {
        perf_stat::write_json(&mut out, report)?;
        metrics::write_json(&mut out, metrics)?;
    } else if let Some(separator) = &args.field_separator {
        let separator = separator.replace("\\t", "\t");
        perf_stat::write_csv(&mut out, report, &separator)?;
        metrics::write_csv(&mut out, metrics, &separator)?;
    } else {
        perf_stat::write_text(&mut out, report)?;
        if !metrics.is_empty() {
            metrics::write_text(&mut out, metrics)?;
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

/// Says what produced a report: in its file, or beside it.
pub(crate) fn write_header(out: &mut Output, outcome: &Outcome) -> io::Result<()> {
    if out.is_file() {
        header::write(out, &outcome.header)
    } else {
        header::write(&mut io::stderr(), &outcome.header)
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
        writeln!(out, "n2sim: note: a machine would have needed {} runs", measured.passes)?;
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
        writeln!(
            out,
            "n2sim: note: {missed} of {events} events were never on a counter: {pinned}turns take {} ms and \
             the run {ms:.3} ms; use fewer events, a shorter --tick, or --no-multiplex for exact counts",
            args.tick as f64 / 1e6
        )?;
    }
    for note in &outcome.notes {
        writeln!(out, "n2sim: note: {note}")?;
    }
    Ok(())
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
