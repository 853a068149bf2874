//! Run of a report: trace, configuration, counted part, and notes that apply to all numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::PmuEvent::{CPU_CYCLES, INST_RETIRED};
use sim_core::Shown;
use sim_machine::{CoreOutcome, Outcome, UnknownWord};

use super::observed::Observed;
use super::ratio::over;

/// Head of a report: everything that is needed to repeat the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunInfo {
    /// Version of n2sim.
    pub version: String,
    /// The trace as named on the command line.
    pub trace: String,
    /// Hash of the trace's content, in hexadecimal.
    pub trace_hash: String,
    /// Name of the configuration, with the overrides in order.
    pub config: String,
    /// Hash of the merged configuration, in hexadecimal.
    pub config_hash: String,
    /// Revision of the core, such as `r0p3`.
    pub revision: String,
    /// Seed of random choices.
    pub seed: u64,
    /// Clock of the modeled core in Hz.
    pub clock_hz: u64,
    /// Warm-up instructions of each thread, which are not counted.
    pub warmup: u64,
    /// Most counted instructions of each thread; absent for all.
    pub limit: Option<u64>,
    /// Markers at the ends of the counted part; absent for the whole run.
    pub roi: Option<String>,
    /// Modeled time of the counted part in seconds, of the core that ran longest.
    pub seconds: f64,
    /// Counted cycles, summed over all cores.
    pub cycles: u64,
    /// Retired instructions, summed over all cores.
    pub instructions: u64,
    /// Retired instructions per cycle.
    pub ipc: Option<f64>,
    /// Time slice of multiplexing on the six counters, in nanoseconds of modeled time. Absent, as
    /// are all estimates, if the run is too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_ns: Option<u64>,
    /// Notes for readers of the counts, one sentence each.
    pub notes: Vec<String>,
    /// Unknown instruction words, most executed first.
    pub unknown_words: Vec<UnknownWordCount>,
}

/// Instruction word that the decoder does not know; it ran as an operation of one cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnknownWordCount {
    /// Address of its first location, in hexadecimal.
    pub address: String,
    /// Instruction word, in hexadecimal.
    pub word: String,
    /// Number of executions.
    pub executions: u64,
}

/// Thread with its own core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadInfo {
    /// Number of its stream in the trace.
    pub thread: u32,
    /// Counted cycles of its core.
    pub cycles: u64,
    /// Retired instructions.
    pub instructions: u64,
    /// Retired instructions per cycle.
    pub ipc: Option<f64>,
}

impl RunInfo {
    pub(super) fn of(observed: &Observed<'_>) -> RunInfo {
        let Observed { session, options, outcome, .. } = observed;
        let header = &outcome.header;
        let counts = outcome.total();
        let value = |event| counts.value(event);
        RunInfo {
            version: header.version.clone(),
            trace: header.trace.clone(),
            trace_hash: format!("{:016x}", header.trace_hash),
            config: header.config.clone(),
            config_hash: format!("{:016x}", header.config_hash),
            revision: format!("r0p{}", session.config().core.revision.patch()),
            seed: header.seed,
            clock_hz: outcome.clock_hz,
            warmup: options.warmup,
            limit: options.limit,
            roi: options.roi.as_ref().map(|roi| format!("from {} to {}", roi.begin, roi.end)),
            seconds: outcome.elapsed_cycles() as f64 / outcome.clock_hz.max(1) as f64,
            cycles: value(CPU_CYCLES),
            instructions: value(INST_RETIRED),
            ipc: over(value(INST_RETIRED), value(CPU_CYCLES), 1.0),
            tick_ns: observed.tick_ns,
            notes: notes(observed),
            unknown_words: unknown_words(outcome),
        }
    }
}

/// Returns the notes of the run, and the gaps of the recording.
fn notes(observed: &Observed<'_>) -> Vec<String> {
    let gaps = &observed.session.trace().meta().gaps;
    observed.outcome.notes.iter().chain(gaps).map(|note| note.shown().to_string()).collect()
}

/// Returns the unknown words of all threads; equal words at one address are combined.
fn unknown_words(outcome: &Outcome) -> Vec<UnknownWordCount> {
    let mut words: Vec<UnknownWord> = Vec::new();
    for word in outcome.cores.iter().flat_map(|core| &core.unknown_words) {
        match words.iter_mut().find(|known| (known.pc, known.word) == (word.pc, word.word)) {
            Some(known) => known.executions += word.executions,
            None => words.push(word.clone()),
        }
    }
    words.sort_by_key(|word| (std::cmp::Reverse(word.executions), word.pc));
    let count = |word: UnknownWord| UnknownWordCount {
        address: format!("{:#x}", word.pc),
        word: format!("{:08x}", word.word),
        executions: word.executions,
    };
    words.into_iter().map(count).collect()
}

impl ThreadInfo {
    pub(super) fn of(core: &CoreOutcome) -> ThreadInfo {
        let counts = core.counts.unpack();
        let value = |event| counts.value(event);
        ThreadInfo {
            thread: core.stream,
            cycles: value(CPU_CYCLES),
            instructions: value(INST_RETIRED),
            ipc: over(value(INST_RETIRED), value(CPU_CYCLES), 1.0),
        }
    }
}
