//! Properties of the counts of a replayed committed trace that hold for any numbers of the model.

use std::path::Path;

use sim_core::{Counts, InstFlags, LostSlots, PmuEvent, TraceInst};
use sim_machine::{
    ConfigSource, CoreOutcome, MachineConfig, Outcome, RunHeader, RunOptions, Session,
};
use sim_metrics::identities::{self, Assumptions};
use sim_trace::TraceFile;

/// Upper bounds of plausible cycles: the average per instruction of a whole trace, and the wait for
/// a line that another core took. The latter takes 50 to 60 ns between two cores of an N2 (Chips
/// and Cheese), at most 165 cycles. Two threads that work on one line do little else than wait for
/// it.
const SLOWEST: (u64, u64) = (10, 165);
/// Rename slots of a cycle, and so the maximum of retired instructions per cycle.
const SLOTS: u64 = 5;

/// Figures of a trace that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceFigures {
    /// Instructions run.
    pub instructions: u64,
    /// Instructions per cycle.
    pub ipc: f64,
    /// Number of rules between counts that were tested.
    pub rules: usize,
}

/// Replays the trace twice in the guide's profile, `limit` instructions of each thread. Checks
/// retired instructions, slots, stall ledger, every identity, and that both runs are equal.
///
/// # Errors
///
/// One line per fault.
pub fn check_trace(path: &Path, limit: Option<u64>) -> Result<TraceFigures, Vec<String>> {
    check_session(&open(path).map_err(|error| vec![error])?, limit)
}

/// Checks a trace on the machine of a session, as [`check_trace`] does.
///
/// # Errors
///
/// All faults found, each a sentence.
pub fn check_session(session: &Session, limit: Option<u64>) -> Result<TraceFigures, Vec<String>> {
    let options = RunOptions { limit, ..RunOptions::default() };
    let run = || session.run(&options, &mut |_| {}).map_err(|error| vec![error.to_string()]);
    let outcome = run()?;
    let mut faults = Vec::new();
    if !same(&outcome, &run()?) {
        faults.push("two runs of the same trace differ".to_owned());
    }
    let expected = completed(session.trace(), limit).map_err(|error| vec![error])?;
    let mut rules = 0;
    for (core, instructions) in outcome.cores.iter().zip(&expected) {
        rules += check_core(core, *instructions, &mut faults);
    }
    if outcome.cores.len() != expected.len() {
        faults.push(format!("{} threads ran on {} cores", expected.len(), outcome.cores.len()));
    }
    let total = outcome.total();
    let instructions = total.value(PmuEvent::INST_RETIRED);
    let cycles = total.value(PmuEvent::CPU_CYCLES);
    let ipc = instructions as f64 / cycles.max(1) as f64;
    let taken = total.value(PmuEvent::L1D_CACHE_INVAL);
    if !is_plausible(instructions, cycles, taken) {
        let lines = format!("{taken} lines lost to other cores");
        faults.push(format!("{ipc:.3} instructions per cycle, {lines}: not plausible"));
    }
    if faults.is_empty() { Ok(TraceFigures { instructions, ipc, rules }) } else { Err(faults) }
}

/// Returns how many of the first `limit` instructions of each thread completed: all but those that
/// an exception or a signal interrupted.
fn completed(trace: &TraceFile, limit: Option<u64>) -> Result<Vec<u64>, String> {
    let mut counts = Vec::new();
    let streams = trace.streams().iter().filter(|stream| stream.instructions > 0);
    for stream in streams {
        let mut reader = trace.reader(stream.stream).map_err(|error| error.to_string())?;
        let (mut left, mut count) = (limit.unwrap_or(u64::MAX), 0);
        let mut batch = Vec::new();
        while left > 0 && reader.next_batch(&mut batch).map_err(|error| error.to_string())? {
            let seen = batch.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let is_whole = |inst: &&TraceInst| !inst.flags.has(InstFlags::ABANDONED);
            count += batch[..seen].iter().filter(is_whole).count() as u64;
            left -= seen as u64;
        }
        counts.push(count);
    }
    Ok(counts)
}

/// Returns whether so many cycles can be explained. Without other cores no line is `taken`.
fn is_plausible(instructions: u64, cycles: u64, taken: u64) -> bool {
    let (instruction, line) = SLOWEST;
    (instructions.div_ceil(SLOTS)..=instructions * instruction + taken * line).contains(&cycles)
}

/// Opens the trace on the machine of the guide's profile.
///
/// # Errors
///
/// A sentence that describes the fault of the trace or the embedded configuration.
pub fn open(path: &Path) -> Result<Session, String> {
    let document = ConfigSource::default().document().map_err(|error| error.to_string())?;
    let config = MachineConfig::from_document(&document).map_err(|error| error.to_string())?;
    let header = RunHeader { trace: path.display().to_string(), ..RunHeader::default() };
    Session::open(path, config, header).map_err(|error| error.to_string())
}

/// Returns whether both runs have the same counts everywhere.
fn same(one: &Outcome, other: &Outcome) -> bool {
    let figures = |outcome: &Outcome| -> Vec<(u32, Counts, LostSlots)> {
        outcome
            .cores
            .iter()
            .map(|core| (core.stream, core.counts.unpack(), core.stalls.unpack()))
            .collect()
    };
    figures(one) == figures(other)
}

/// Checks the counts of one thread. Returns how many rules were tested.
fn check_core(core: &CoreOutcome, instructions: u64, faults: &mut Vec<String>) -> usize {
    let counts = core.counts.unpack();
    let value = |event: PmuEvent| counts.value(event);
    let thread = format!("thread {}", core.stream);
    let mut equal = |what: &str, left: u64, right: u64| {
        if left != right {
            faults.push(format!("{thread}: {what}: {left} is not {right}"));
        }
    };
    let retired = value(PmuEvent::INST_RETIRED);
    equal("INST_RETIRED and the instructions of the trace", retired, instructions);
    let slots = value(PmuEvent::OP_SPEC) + value(PmuEvent::STALL_SLOT);
    equal("OP_SPEC + STALL_SLOT and 5 x CPU_CYCLES", slots, SLOTS * value(PmuEvent::CPU_CYCLES));
    for (is_frontend, event) in
        [(true, PmuEvent::STALL_SLOT_FRONTEND), (false, PmuEvent::STALL_SLOT_BACKEND)]
    {
        let lost = core.stalls.unpack().end(is_frontend);
        equal(&format!("{} and its causes", event.mnemonic()), value(event), lost);
    }
    let assumptions = Assumptions {
        has_stall_slot_erratum: Some(false),
        has_external_llc: Some(true),
        ..Assumptions::default()
    };
    let check = identities::check(|event| Some(value(event)), &assumptions);
    faults.extend(check.violations.iter().map(|violation| format!("{thread}: {violation}")));
    check.tested
}

#[cfg(test)]
mod tests {
    use super::is_plausible;

    #[test]
    fn unexplained_cycles_are_not_plausible() {
        assert!(is_plausible(1000, 200, 0) && !is_plausible(1000, 199, 0));
        assert!(is_plausible(1000, 10_000, 0) && !is_plausible(1000, 10_001, 0));
        assert!(is_plausible(1000, 11_650, 10) && !is_plausible(1000, 11_651, 10));
    }
}
