//! `n2sim stat`: replays a trace and prints its counts as `perf stat` would.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use sim_core::PmuEvent;
use sim_machine::{MachineConfig, Marker, Outcome, Roi, RunHeader, RunOptions, Session};
use sim_report::perf_stat::grouped;
use sim_report::stat::StatOptions;
use sim_report::{Selected, StatReport, header, perf_stat, prefetches, stalls};

use crate::Verdict;
use crate::args::StatArgs;
use crate::event_list;
use crate::host;
use crate::output::Output;

/// Words unknown to the decoder that are listed by name.
const UNKNOWN_WORDS_SHOWN: usize = 8;
/// Time between two drawings of the progress bar.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Runs the trace and prints what was asked for.
pub(crate) fn run(args: &StatArgs) -> anyhow::Result<Verdict> {
    let selected = event_list::parse_all(&args.event)?;
    let options = run_options(args)?;
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let config = MachineConfig::from_document(&document)?;
    let has_stall_slot_erratum = config.core.revision.has_stall_slot_erratum();
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: args.trace.display().to_string(),
        ..RunHeader::default()
    };
    let session = Session::open(&args.trace, config, header)?;
    check_levels(&session, &selected)?;
    let output = Output::create(args.output.as_deref())?;

    let start = Instant::now();
    let (outcome, instructions) = run_session(&session, &options)?;
    if args.verbose {
        host::write_speed(&mut io::stderr(), instructions, start.elapsed())?;
    }
    let options =
        StatOptions { selected: &selected, per_thread: args.per_thread, has_stall_slot_erratum };
    write_report(output, args, &outcome, &StatReport::new(&outcome, &options))?;
    write_unknown_words(&mut io::stderr(), &outcome)?;
    for note in &outcome.notes {
        writeln!(io::stderr(), "n2sim: note: {note}")?;
    }
    Ok(Verdict::Good)
}

fn run_options(args: &StatArgs) -> anyhow::Result<RunOptions> {
    let roi = args.roi.as_deref().map(parse_roi).transpose()?;
    Ok(RunOptions { warmup: args.warmup, limit: args.limit, roi })
}

/// `40,41` (numbers of HINT instructions) or `begin,end` (names of functions).
fn parse_roi(text: &str) -> anyhow::Result<Roi> {
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

/// Modifiers are honest on user-mode traces only: the model counts all levels together.
fn check_levels(session: &Session, selected: &[Selected]) -> anyhow::Result<()> {
    let has_kernel = session.trace().meta().machine.full_system;
    if let Some(event) = selected.iter().find(|event| has_kernel && event.name.contains(':')) {
        anyhow::bail!(
            "'{}': the trace contains the kernel and levels are counted together; leave the \
             modifier out",
            event.name
        );
    }
    if selected.iter().any(|event| !event.counts_user) {
        writeln!(
            io::stderr(),
            "n2sim: the trace has no kernel instructions: events for the kernel alone are not \
             supported"
        )?;
    }
    Ok(())
}

/// Runs with a progress bar, if stderr is a terminal; also gives the instructions that ran.
fn run_session(session: &Session, options: &RunOptions) -> anyhow::Result<(Outcome, u64)> {
    let bar = ProgressBar::new(session.instructions());
    let style = ProgressStyle::with_template(
        "{bar:40} {percent:>3}%  {human_pos} of {human_len} instructions  {per_sec}  {eta}",
    )?;
    bar.set_style(style);
    let mut done = 0;
    let mut drawn = Instant::now();
    let outcome = session.run(options, &mut |instructions| {
        done = instructions;
        if drawn.elapsed() >= PROGRESS_INTERVAL {
            bar.set_position(instructions);
            drawn = Instant::now();
        }
    });
    bar.finish_and_clear();
    Ok((outcome?, done))
}

fn write_report(
    mut out: Output,
    args: &StatArgs,
    outcome: &Outcome,
    report: &StatReport,
) -> anyhow::Result<()> {
    if out.is_file() {
        header::write(&mut out, &outcome.header)?;
    } else {
        header::write(&mut io::stderr(), &outcome.header)?;
    }
    if args.json {
        perf_stat::write_json(&mut out, report)?;
    } else if let Some(separator) = &args.field_separator {
        perf_stat::write_csv(&mut out, report, &separator.replace("\\t", "\t"))?;
    } else {
        perf_stat::write_text(&mut out, report)?;
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

/// Says what the decoder did not know, so that nobody takes the counts for complete.
fn write_unknown_words(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
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
