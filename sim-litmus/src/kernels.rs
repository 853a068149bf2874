//! Kernels: loops of known behavior, in the same program as the cases.
//!
//! A case states one event of a few instructions; a kernel repeats a few instructions so often that
//! its cycles and misses show a latency or a size of the machine. A real machine and the model run
//! the same instructions: the model replays a recording of the compiled program ([`recording`]).
//!
//! A call of a kernel runs a number of rounds (steps of a chase, iterations of a loop). Its counts
//! are divided by that number; entry and exit are part of them, and are a few instructions for
//! thousands of rounds. Before the counted calls, memory is touched and two calls fill caches and
//! predictors.

mod assembly;
mod branches;
mod caches;
mod kernel;
mod operations;
mod pairs;
mod streams;
mod table;
mod waits;

use std::ops::Range;
use std::path::Path;

use sim_core::{Counts, PmuEvent};
use sim_machine::{MachineError, RunOptions, Session};
use sim_trace::{Meta, TraceError, TraceFile};
use xxhash_rust::xxh3::xxh3_64;

use crate::call_counts::{CallCounts, function};
use crate::counts::CountedKernel;
use crate::pages::Pages;

pub use kernel::Kernel;
pub(crate) use table::{functions, touch, write_table};

/// The committed recording of all kernels.
const RECORDING: &[u8] = include_bytes!("../recordings/kernels.n2t");
/// The committed recording of the kernels of two cores.
const PAIRS: &[u8] = include_bytes!("../recordings/pairs.n2t");

/// Returns all kernels, in the order of the program: those with blocks come first, so that a replay
/// of them ends early ([`parts`]).
pub fn all() -> Vec<Kernel> {
    let groups = [
        caches::kernels(),
        streams::kernels(),
        branches::kernels(),
        operations::kernels(),
        waits::kernels(),
    ];
    let mut all: Vec<Kernel> = groups.into_iter().flatten().collect();
    all.sort_by_key(|kernel| kernel.pages == Pages::Small);
    all
}

/// Returns the name of a function that a program with these kernels has, and no program of others.
pub fn mark() -> String {
    let mut all_text = String::new();
    for (number, kernel) in all().iter().chain(&pairs()).enumerate() {
        all_text += &kernel.id;
        all_text += &functions(number, kernel);
    }
    format!("litmus_kernels_{:016x}", xxh3_64(all_text.as_bytes()))
}

/// Returns the kernels of two cores. They follow the others in the program, and have a recording of
/// their own, which has two threads.
pub fn pairs() -> Vec<Kernel> {
    pairs::kernels()
}

/// Returns the name of a function beside those of [`pairs`], as [`mark`] is beside the others.
pub fn pair_mark() -> String {
    mark().replace("kernels", "pairs")
}

/// Returns the functions of [`pairs`] in a recorded program, as [`code`] those of the others.
pub fn pair_code(meta: &Meta) -> Option<Vec<(u64, u64)>> {
    meta.symbol(&pair_mark())?;
    let first = all().len();
    (first..first + pairs().len()).map(|number| function(meta, &assembly::symbol(number))).collect()
}

/// Returns the function of each kernel in a recorded program, as `[first, end)`; `None` if it is
/// not a program with these kernels.
pub fn code(meta: &Meta) -> Option<Vec<(u64, u64)>> {
    meta.symbol(&mark())?;
    (0..all().len()).map(|number| function(meta, &assembly::symbol(number))).collect()
}

/// Returns the bytes of the recording of all kernels.
pub fn recording() -> &'static [u8] {
    RECORDING
}

/// Opens the recording of all kernels.
///
/// # Errors
///
/// If the system has no memory for it.
pub fn open_recording() -> Result<TraceFile, TraceError> {
    open(RECORDING, Path::new("kernels.n2t"))
}

/// Opens the recording of the kernels of two cores.
///
/// # Errors
///
/// If the system has no memory for it.
pub fn open_recording_of_pairs() -> Result<TraceFile, TraceError> {
    open(PAIRS, Path::new("pairs.n2t"))
}

fn open(bytes: &[u8], path: &Path) -> Result<TraceFile, TraceError> {
    let file = sim_files::File::of_bytes(bytes.to_vec()).map_err(|source| TraceError::Io {
        path: path.to_owned(),
        doing: "writing",
        source,
    })?;
    TraceFile::from_reader(file, path)
}

/// Returns the events that kernels count: all that a counter can show.
pub fn counted_events() -> impl Iterator<Item = PmuEvent> {
    PmuEvent::ALL.into_iter().filter(|event| !event.never_counts())
}

/// Returns the part of a recording that belongs to each kernel: all after the previous one, to its
/// last instruction. A kernel that did not run has an empty part.
///
/// # Errors
///
/// If the recording is damaged.
pub fn parts(trace: &TraceFile, code: &[(u64, u64)]) -> Result<Vec<Range<u64>>, TraceError> {
    let own = |pc: u64| code.iter().position(|(first, end)| (*first..*end).contains(&pc));
    let owners: Vec<Option<usize>> =
        trace.statics().insts().iter().map(|inst| own(inst.pc)).collect();
    let mut ends = vec![0; code.len()];
    let (mut position, mut batch) = (0, Vec::new());
    for stream in trace.streams().iter().take(1) {
        let mut reader = trace.reader(stream.stream)?;
        while reader.next_batch(&mut batch)? {
            for inst in &batch {
                position += 1;
                if let Some(owner) = owners.get(inst.id as usize).copied().flatten() {
                    ends[owner] = position;
                }
            }
        }
    }
    let mut before = 0;
    let part = |end: u64| {
        let start = before;
        before = end.max(start);
        start..before
    };
    Ok(ends.into_iter().map(part).collect())
}

/// Runs the recorded program on the machine of the session, and returns the counts of the kernels
/// that such pages are for and that ran. With a `limit`, only that many instructions run. Calls
/// `progress` with the number of instructions so far.
///
/// # Errors
///
/// If the run fails.
pub fn replay(
    session: &Session,
    pages: Pages,
    code: &[(u64, u64)],
    limit: Option<u64>,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<CountedKernel>, MachineError> {
    replay_of(&all(), session, pages, code, limit, progress)
}

/// Runs the recorded program of two threads and returns the counts of [`pairs`], as [`replay`] does
/// for the others.
///
/// # Errors
///
/// If the run fails.
pub fn replay_pairs(
    session: &Session,
    code: &[(u64, u64)],
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<CountedKernel>, MachineError> {
    replay_of(&pairs(), session, Pages::Small, code, None, progress)
}

fn replay_of(
    kernels: &[Kernel],
    session: &Session,
    pages: Pages,
    code: &[(u64, u64)],
    limit: Option<u64>,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<CountedKernel>, MachineError> {
    let mut sink = CallCounts::new(code.iter().copied());
    session.run_deferred(&RunOptions { limit, ..RunOptions::default() }, progress, &mut sink)?;
    let of_pages = kernels.iter().enumerate().filter(|(_, kernel)| kernel.pages == pages);
    let counted = of_pages.filter_map(|(number, kernel)| {
        let calls = sink.counted(number);
        (!calls.is_empty()).then(|| counted_kernel(kernel, calls))
    });
    Ok(counted.collect())
}

fn counted_kernel(kernel: &Kernel, calls: &[Counts]) -> CountedKernel {
    let rounds = kernel.rounds as f64;
    let of_event = |event: PmuEvent| {
        let each = calls.iter().map(|counts| counts.value(event) as f64 / rounds);
        (event.mnemonic().to_owned(), each.collect())
    };
    CountedKernel {
        kernel: kernel.id.clone(),
        rounds: kernel.rounds,
        counts: counted_events().map(of_event).collect(),
    }
}
