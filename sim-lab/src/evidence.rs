//! Evidence of a run for the validation of formulas ([`sim_metrics::validator`]): counts without
//! errata, counts of retired instructions, ground-truth values, and prefetches.

use sim_cache::config::BusUnit;
use sim_core::{Counts, EventSink, PmuEvent};
use sim_metrics::validator::{Evidence, L2Lines, Prefetched};

use crate::truth::{Ledger, TruthSink};
use sim_machine::caveats;
use sim_machine::config::MachineConfig;
use sim_machine::error::MachineError;
use sim_machine::outcome::Outcome;
use sim_machine::region::RunOptions;
use sim_machine::session::Session;

/// Runs a session and returns its evidence; `observer` receives the run as well.
///
/// # Errors
/// As [`Session::run`].
pub fn examine<S: EventSink>(
    session: &Session,
    options: &RunOptions,
    progress: &mut dyn FnMut(u64),
    observer: &mut S,
) -> Result<Evidence, MachineError> {
    Ok(examine_with_outcome(session, options, progress, observer)?.0)
}

/// Runs a session and returns its evidence and its outcome; `observer` receives the run as well.
///
/// # Errors
/// As [`Session::run`].
pub fn examine_with_outcome<S: EventSink>(
    session: &Session,
    options: &RunOptions,
    progress: &mut dyn FnMut(u64),
    observer: &mut S,
) -> Result<(Evidence, Outcome), MachineError> {
    let mut truth = TruthSink::default();
    let outcome = session.run_with_sink(options, progress, &mut (&mut truth, observer))?;
    Ok((evidence(session, &outcome, truth.ledger(&outcome)), outcome))
}

/// Returns the evidence of a run whose ground truth was recorded.
pub fn evidence(session: &Session, outcome: &Outcome, ledger: Ledger) -> Evidence {
    let config = session.config();
    let counts = without_erratum(outcome.total(), config);
    let seconds = counts.value(PmuEvent::CPU_CYCLES) as f64
        / (outcome.clock_hz.max(1) as f64 * outcome.cores.len().max(1) as f64);
    Evidence {
        trace: outcome.header.trace.clone(),
        counts,
        retired: ledger.retired,
        truths: ledger.truths,
        prefetched: prefetched(outcome, config),
        l2: L2Lines {
            // A transaction without data has no beat.
            claims_on_bus: match config.semantics.bus_unit {
                BusUnit::Transaction => ledger.l2.claims_on_bus,
                BusUnit::Beats => 0.0,
            },
            ..ledger.l2
        },
        patch: config.core.revision.patch(),
        cores: u32::try_from(outcome.cores.len()).unwrap_or(u32::MAX),
        has_external_llc: config.semantics.extllc,
        seconds,
        is_user_only: !session.trace().meta().machine.full_system,
        doubts: doubts(outcome),
    }
}

/// Returns the events with unreliable counts, as tables of counts mark them.
fn doubts(outcome: &Outcome) -> Vec<(PmuEvent, &'static str)> {
    let doubt = |event| Some((event, caveats::caveat(event, &outcome.header)?));
    PmuEvent::ALL.into_iter().filter_map(doubt).collect()
}

/// Returns the counts of a core of revision r0p3.
fn without_erratum(counts: Counts, config: &MachineConfig) -> Counts {
    if !config.core.revision.has_stall_slot_erratum() {
        return counts;
    }
    let mut surplus = Counts::default();
    surplus.count(PmuEvent::STALL_SLOT_FRONTEND, counts.value(PmuEvent::CPU_CYCLES));
    counts.since(&surplus)
}

fn prefetched(outcome: &Outcome, config: &MachineConfig) -> Prefetched {
    let (prefetches, memory) = (outcome.prefetches(), outcome.memory());
    Prefetched {
        l2_lines: memory.prefetch_lines as f64,
        l2_lookups: (prefetches.l1d.issued + prefetches.l2.issued) as f64,
        is_counted_in_l2: config.semantics.prefetch_counts_in_l2,
        l1d_lines: prefetches.l1d.issued as f64,
        l1i_lines: prefetches.l1i.issued as f64,
        l1i_lookups: memory.next_line_lookups as f64,
        next_line_lines: memory.next_line_lines as f64,
        fetch_lines: memory.fetch_lines as f64,
        tlb_misses: memory.prefetch_tlb_misses as f64,
        walks: memory.prefetch_walks as f64,
    }
}
