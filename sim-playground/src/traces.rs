//! Runs of a dropped trace: counts, the pipeline of a window, counters that take turns, samples.

mod samples;
mod turns;
mod window;

use std::path::Path;

use serde::{Deserialize, Serialize};
use sim_core::{PmuEvent, RootCause, StallCause};
use sim_files::File;
use sim_machine::{Outcome, RunHeader, RunOptions, Session};
use sim_trace::TraceFile;

pub(crate) use samples::samples;
pub(crate) use turns::turns;
pub(crate) use window::pipeline;

use crate::fault::Fault;
use crate::machine::Choice;
use crate::operations::Slots;
use crate::scenarios::{Counted, counted};

/// Name of the trace in messages.
const NAME: &str = "the trace";

/// Part of the trace, and the machine.
#[derive(Clone, Debug, Deserialize)]
pub struct Part {
    /// Instructions of each thread that only warm the machine.
    #[serde(default)]
    warmup: u64,
    /// Instructions of each thread that are counted; all without it.
    #[serde(default)]
    limit: Option<u64>,
    /// The machine.
    #[serde(default)]
    machine: Choice,
}

impl Part {
    /// Returns the options of a run of this part.
    fn options(&self) -> RunOptions {
        RunOptions { warmup: self.warmup, limit: self.limit, roi: None }
    }
}

/// Counts of a trace.
#[derive(Debug, Serialize)]
pub(crate) struct Totals {
    counts: Counted,
    /// Counts of each thread, by its number in the trace.
    threads: Vec<(u32, Counted)>,
    /// Rename slots: offered, and used by operations.
    slots: u64,
    used: u64,
    /// Empty slots by cause, the most first.
    lost: Vec<Slots>,
    notes: Vec<String>,
}

/// Opens the trace on a machine.
pub(crate) fn session(trace: &[u8], machine: &Choice) -> Result<Session, Fault> {
    if trace.is_empty() {
        let text = "there is no trace yet: choose one, or drop a file on the page";
        return Err(Fault::of("trace", text));
    }
    let config = machine.config().map_err(|text| Fault::of("machine", text))?;
    let file = File::of_bytes(trace.to_vec()).map_err(|error| Fault::of("trace", error))?;
    let file = TraceFile::from_reader(file, Path::new(NAME));
    let header = RunHeader { trace: NAME.to_owned(), ..RunHeader::default() };
    Session::of(file.map_err(|error| Fault::of("trace", error))?, config, header)
        .map_err(|error| Fault::of("trace", error))
}

impl Part {
    /// Opens the trace on the machine of the part. A warm-up that leaves nothing is refused.
    fn session(&self, trace: &[u8]) -> Result<Session, Fault> {
        let session = session(trace, &self.machine)?;
        let streams = session.trace().streams().iter();
        let longest = streams.map(|stream| stream.instructions).max().unwrap_or(0);
        if self.warmup >= longest {
            let text = format!(
                "the longest thread has {longest} instructions: a warm-up of {} leaves none to count",
                self.warmup
            );
            return Err(Fault::of("warmup", text));
        }
        Ok(session)
    }
}

/// Counts the trace.
pub(crate) fn count(trace: &[u8], part: &Part) -> Result<Totals, Fault> {
    let session = part.session(trace)?;
    let outcome = session.run(&part.options(), &mut |_| {});
    Ok(totals(&outcome.map_err(|error| Fault::of("trace", error))?))
}

fn totals(outcome: &Outcome) -> Totals {
    let counts = outcome.total();
    let stalls = outcome.stalls();
    let of_cause =
        |cause| RootCause::ALL.map(|root| Slots::new(cause, root, stalls.at(cause, root)));
    let mut lost: Vec<Slots> = StallCause::ALL.into_iter().flat_map(of_cause).collect();
    lost.retain(|lost| lost.slots > 0);
    lost.sort_by_key(|lost| std::cmp::Reverse(lost.slots));
    let thread = |core: &sim_machine::CoreOutcome| (core.stream, counted(&core.counts.unpack()));
    Totals {
        slots: SLOTS * counts.value(PmuEvent::CPU_CYCLES),
        used: counts.value(PmuEvent::OP_SPEC),
        lost,
        threads: outcome.cores.iter().map(thread).collect(),
        counts: counted(&counts),
        notes: outcome.notes.clone(),
    }
}

/// Rename slots of a cycle.
const SLOTS: u64 = 5;
