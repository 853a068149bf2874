//! The account of a recording: gaps for the trace, and a summary for the user.

use super::session::End;
use super::shared_memory::SharedMemory;
use super::system::ending::SystemTally;
use super::tally::{Known, Tally};
use super::wire::{MAX_VCPUS, control};
use anyhow::Result;
use sim_core::Shown;
use sim_trace::{MissingData, Summary};
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

const ILLEGAL_INSTRUCTION: i32 = 4;

/// The counts that the plugin reports besides the stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PluginTally {
    pub(crate) forks: u64,
    pub(crate) dropped: u64,
    pub(crate) pages_lost: u64,
    pub(crate) streams: u64,
    /// The streams are processors of a system, which ran in turn.
    pub(crate) is_system: bool,
    /// Set if a thread had a number beyond the limit of the plugin.
    pub(crate) has_beyond: bool,
    /// The engine's own count, if it is final.
    pub(crate) engine_count: Option<u64>,
}

impl PluginTally {
    pub(crate) fn read(memory: &mut SharedMemory) -> Result<PluginTally> {
        let has_exited = memory.control(control::EXITED)? == 1;
        let count = memory.control(control::ENGINE_COUNT)?;
        Ok(PluginTally {
            forks: memory.control(control::FORKS)?,
            dropped: memory.control(control::DROPPED)?,
            pages_lost: memory.control(control::PAGES_LOST)?,
            streams: memory.control(control::STREAMS)?,
            is_system: memory.control(control::BEGUN)? == 1,
            has_beyond: memory.control(control::BEYOND)? != 0,
            engine_count: has_exited.then_some(count),
        })
    }
}

/// Addresses and predicates that the trace does not have.
fn absent_operands(t: &Tally, gap: &mut impl FnMut(bool, String)) {
    for (what, known) in rebuilt(t) {
        let Known { executed, known: found } = known;
        let message = if t.is_rebuilt { "were rebuilt from register values" } else { "are known" };
        gap(
            if t.is_rebuilt { executed > 0 } else { known.absent() > 0 },
            format!(
                "addresses of {what} {message}: {found} of {executed}, {} absent",
                known.absent()
            ),
        );
    }
    gap(
        t.is_rebuilt,
        format!(
            "{} of {} addresses foretold by rebuilt register values were wrong",
            t.wrong_predictions, t.predictions
        ),
    );
    let lost = t.lost_accesses;
    gap(lost > 0, format!("{lost} loads or stores have no address: the engine reported none"));
    gap(
        t.sve_lost > 0,
        format!(
            "{} of {} SVE loads and stores have no address or no predicate: the engine reported none",
            t.sve_lost, t.sve_accesses
        ),
    );
    gap(
        t.untold_predicates > 0,
        format!("predicates of {} SVE instructions are absent", t.untold_predicates),
    );
}

/// Returns plain sentences on what the trace does not contain.
pub(crate) fn gaps(tally: &Tally, plugin: &PluginTally, end: &End) -> Vec<String> {
    let mut gaps = Vec::new();
    gaps.extend(tally.damage.as_ref().map(|what| {
        format!("the program wrote into the memory of its recording ({what}): the trace ends there")
    }));
    let mut gap = |is_there: bool, text: String| {
        if is_there {
            gaps.push(text);
        }
    };
    let t = tally;
    absent_operands(t, &mut gap);
    gap(t.skipped > 0, format!("the first {} instructions were skipped", t.skipped));
    gap(t.is_replaced, "the program replaced itself (execve): not followed".to_owned());
    gap(plugin.forks > 0, format!("{} child processes were not recorded", plugin.forks));
    gap(plugin.dropped > 0, "recording stopped early: the memory for it was full".to_owned());
    gap(
        plugin.has_beyond,
        format!("threads with engine numbers from {MAX_VCPUS} on were not recorded"),
    );
    let lost = plugin.pages_lost;
    gap(lost > 0, format!("{lost} code pages could not be copied: the wrong path ends there"));
    let interleaving = if plugin.is_system {
        "the processors ran in turn, up to millions of instructions at a time: of their \
         interleaving only the order in which they synchronized is recorded"
    } else {
        "of the threads' interleaving only the order in which they synchronized is recorded; \
         blocks cut short by a fault are inferred"
    };
    gap(plugin.streams > 1, interleaving.to_owned());
    gap(
        t.pauses > 0,
        match t.unrecorded {
            Some(n) => {
                format!("{n} instructions before and between the recorded regions are absent")
            }
            None => "instructions before and between the recorded regions are absent".to_owned(),
        },
    );
    gap(end.is_cut, "the recording ended at its instruction limit".to_owned());
    gap(end.is_over, "the recording ended at --to".to_owned());
    let is_killed = tally.damage.is_none()
        && !end.is_ended()
        && !end.is_interrupted
        && end.status.signal().is_some();
    gap(is_killed, format!("the program was {}: the trace ends there", ending(end)));
    gap(end.is_interrupted, "the recording was interrupted".to_owned());
    gap(
        t.syscalls > 0,
        "system calls: number, arguments and result only; the kernel's instructions are absent"
            .to_owned(),
    );
    gaps
}

/// Returns the kinds of instructions whose addresses engines do not report, each with the number of
/// known addresses.
fn rebuilt(t: &Tally) -> [(&'static str, Known); 3] {
    [("DC ZVA", t.zero_lines), ("PRFM", t.prefetches), ("DC and IC", t.maintenance)]
}

/// Returns the number of known operands of maintenance, for the trace's notes.
pub(crate) fn operands(t: &Tally) -> (String, String) {
    let Known { executed, known } = t.maintenance;
    (sim_trace::OPERANDS.to_owned(), format!("{known} of {executed} known"))
}

/// Returns the missing data of the recording that makes counts doubtful.
pub(crate) fn lacks(t: &Tally) -> Vec<MissingData> {
    let all = [
        (t.lost_accesses > 0, MissingData::SomeAddresses),
        (t.sve_lost > 0, MissingData::SveAccesses),
        (t.zero_lines.absent() > 0, MissingData::ZeroedLines),
        (t.maintenance.absent() > 0, MissingData::Maintenance),
        (t.prefetches.absent() > 0, MissingData::Prefetches),
        (t.untold_predicates > 0, MissingData::Predicates),
    ];
    all.into_iter().filter(|(is_lacking, _)| *is_lacking).map(|(_, lack)| lack).collect()
}

/// Describes the end of the program.
pub(crate) fn ending(end: &End) -> String {
    match (end.status.code(), end.status.signal()) {
        _ if end.is_cut => "ended at the limit".to_owned(),
        _ if end.is_over => "ended at --to".to_owned(),
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// Wall and CPU time of this process and its children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    begin: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch { begin: Instant::now(), cpu: cpu_time() }
    }

    /// Returns wall time and CPU time since the start.
    pub(crate) fn elapsed(&self) -> (Duration, Duration) {
        (self.begin.elapsed(), cpu_time().saturating_sub(self.cpu))
    }
}

/// Returns user and system time of this process and its ended children. The system counts in
/// hundredths of a second.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, in parentheses, may contain anything.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 =
        fields.split_whitespace().skip(11).take(4).filter_map(|n| n.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The name that a summary gives to a recording, and its length.
#[derive(Clone, Debug)]
pub(crate) struct Title {
    pub(crate) name: String,
    /// The summary has only its first line, and the gaps.
    pub(crate) is_brief: bool,
}

impl From<&Path> for Title {
    fn from(path: &Path) -> Title {
        Title { name: path.shown().to_string(), is_brief: false }
    }
}

/// Returns the closing words of a recording.
pub(crate) fn summary(
    title: &Title,
    tally: &Tally,
    plugin: &PluginTally,
    written: &Summary,
    end: &End,
    times: (Duration, Duration),
    gaps: &[String],
) -> String {
    let mut text = String::new();
    let n = written.instructions;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} instructions, {} blocks, {} accesses, {} thread{}; {}",
        title.name,
        thousands(n),
        thousands(written.blocks),
        thousands(written.accesses),
        written.streams,
        if written.streams == 1 { "" } else { "s" },
        ending(end)
    );
    if !title.is_brief {
        text.push_str(&details(tally, plugin, written, end, times));
    }
    for gap in gaps {
        let _ = writeln!(text, "  gap: {gap}");
    }
    text
}

/// Returns the size of a trace, the time of its recording, and a comparison with the engine's own
/// count.
fn details(
    tally: &Tally,
    plugin: &PluginTally,
    written: &Summary,
    end: &End,
    (wall, cpu): (Duration, Duration),
) -> String {
    let mut text = String::new();
    let n = written.instructions;
    let per = |bytes: u64| bytes as f64 / n.max(1) as f64;
    let rate = n as f64 / 1e6 / cpu.as_secs_f64().max(0.01);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "  {} bytes, {:.3} a instruction; {} distinct blocks; {} system calls, {} signals",
        thousands(written.file_bytes),
        per(written.file_bytes),
        thousands(written.distinct_blocks.into()),
        tally.syscalls,
        tally.signals
    );
    let _ = writeln!(
        text,
        "  {:.2} s wall, {:.2} s of CPU time (program, engine, recorder): \
         {rate:.0} M instructions/s",
        wall.as_secs_f64(),
        cpu.as_secs_f64()
    );
    if let Some(count) = plugin.engine_count {
        let ours = tally.instructions + tally.skipped + tally.unrecorded.unwrap_or(0);
        let verdict = if (tally.pauses > 0 || end.is_over) && count != ours {
            "with what is outside the regions"
        } else if plugin.streams > 1 {
            "approximate: one counter for all threads"
        } else if count == ours {
            "equal"
        } else {
            "different: re-run or interrupted instructions are counted twice"
        };
        let _ = writeln!(text, "  the engine's own count: {} ({verdict})", thousands(count));
    }
    text
}

/// Returns the remedy for missing data in a recording on the CPU model `cpu`; empty without missing
/// data.
pub(crate) fn advice(t: &Tally, end: &End, cpu: &str) -> String {
    let mut text = String::new();
    if t.sve_lost > 0 || t.untold_predicates > 0 {
        text.push_str(
            "  SVE: this engine does not show where SVE loads and stores go, nor predicates; counts that \
             need them will be marked as doubtful. `--second-run` records them, with the N2's vectors \
             of 128 bits\n",
        );
    }
    let has_all = cpu.starts_with("max") && !cpu.contains("sve=off");
    if end.status.signal() == Some(ILLEGAL_INSTRUCTION) && !has_all {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  SIGILL: the CPU model {cpu} may lack what the program uses, such as SVE: try `--cpu max`, \
             or `--second-run` if it uses SVE"
        );
    }
    text
}

/// Returns the closing words of the recording of a whole system.
pub(crate) fn system_summary(
    path: &Path,
    tally: &SystemTally,
    written: &Summary,
    ending: &str,
    times: (Duration, Duration),
    gaps: &[String],
) -> String {
    let mut text = String::new();
    let n = written.instructions;
    let share = tally.kernel_instructions as f64 * 100.0 / n.max(1) as f64;
    let processors = match written.streams {
        0 | 1 => String::new(),
        several => format!("{several} processors, "),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {} instructions, {} blocks, {} accesses, {processors}{share:.1} % in the kernel; {ending}",
        path.shown(),
        thousands(n),
        thousands(written.blocks),
        thousands(written.accesses),
    );
    let _ = writeln!(
        text,
        "  {} bytes, {:.3} a instruction; {} calls and faults, {} interrupts; writes of TTBR {}, of \
         CONTEXTIDR {}",
        thousands(written.file_bytes),
        written.file_bytes as f64 / n.max(1) as f64,
        thousands(tally.synchronous),
        thousands(tally.interrupts),
        thousands(tally.table_writes),
        thousands(tally.context_writes)
    );
    let _ = writeln!(
        text,
        "  {:.2} s wall, {:.2} s of CPU time, the start of the system included",
        times.0.as_secs_f64(),
        times.1.as_secs_f64()
    );
    for gap in gaps {
        let _ = writeln!(text, "  gap: {gap}");
    }
    text
}

/// Returns a number with separators, such as `1,234,567`.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_the_plugin_has_no_place_for_are_a_gap() {
        let mut plugin = PluginTally {
            forks: 0,
            dropped: 0,
            pages_lost: 0,
            streams: 1,
            is_system: false,
            has_beyond: false,
            engine_count: None,
        };
        let status = std::process::ExitStatus::default();
        let end = End { status, is_cut: false, is_over: false, is_interrupted: false };
        assert!(gaps(&Tally::default(), &plugin, &end).is_empty());
        plugin.has_beyond = true;
        let message = gaps(&Tally::default(), &plugin, &end);
        assert_eq!(message, ["threads with engine numbers from 4096 on were not recorded"]);
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(12_345_678), "12,345,678");
    }

    #[test]
    fn work_shows_in_the_cpu_time() {
        let watch = Stopwatch::start();
        let mut n = 0u64;
        while watch.elapsed().1 < Duration::from_millis(20) {
            assert!(watch.elapsed().0 < Duration::from_secs(60), "no CPU time seen");
            for _ in 0..100_000 {
                n = std::hint::black_box(n.wrapping_mul(31).wrapping_add(1));
            }
        }
        let (wall, cpu) = watch.elapsed();
        assert!(cpu <= wall * 64, "{cpu:?} in {wall:?}");
    }
}
