//! Counts the cases of a recorded program on the model.

use std::collections::BTreeMap;

use sim_core::{Counts, PmuEvent};
use sim_machine::{MachineError, RunOptions, Session};
use sim_trace::Meta;

use crate::assembly::symbols;
use crate::call_counts::{CallCounts, function};
use crate::counts::CountedCase;
pub use crate::pages::Pages;
use crate::program::{Litmus, counted_events, mark_of};
use crate::vectors;

/// Addresses of the functions of one case, as `[first, end)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseCode {
    /// The function with the steps.
    pub with: (u64, u64),
    /// The function without them.
    pub without: (u64, u64),
}

/// Returns the functions of the cases in a recorded program; `None` if it is a program of other
/// cases.
pub fn code(meta: &Meta, cases: &[Litmus]) -> Option<Vec<CaseCode>> {
    meta.symbol(&mark_of(cases))?;
    let of_case = |number| {
        let [with, without] = symbols(number);
        Some(CaseCode { with: function(meta, &with)?, without: function(meta, &without)? })
    };
    (0..cases.len()).map(of_case).collect()
}

/// Runs the recorded program on the machine of the session and returns the counts of the cases that
/// such pages are for, and whose vectors the recording shows. Calls `progress` with the number of
/// instructions so far.
///
/// # Errors
///
/// If the run fails.
pub fn replay(
    session: &Session,
    pages: Pages,
    cases: &[Litmus],
    code: &[CaseCode],
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<CountedCase>, MachineError> {
    let mut sink = CallCounts::new(code.iter().flat_map(|case| [case.with, case.without]));
    session.run_deferred(&RunOptions::default(), progress, &mut sink)?;
    let has_elements = vectors::has_elements(session.trace());
    let is_shown = |litmus: &Litmus| has_elements || !litmus.plan.needs_elements();
    let chosen = cases.iter().enumerate().filter(|(_, litmus)| {
        litmus.plan.small_pages == (pages == Pages::Small) && is_shown(litmus)
    });
    Ok(chosen.filter_map(|(number, litmus)| counted_case(&sink, number, litmus)).collect())
}

/// Returns the counts of a case: with its steps less without them.
fn counted_case(sink: &CallCounts, number: usize, litmus: &Litmus) -> Option<CountedCase> {
    let (with, without) = (sink.counted(2 * number), sink.counted(2 * number + 1));
    let pairs: Vec<_> = with.iter().zip(without).collect();
    if pairs.is_empty() {
        return None;
    }
    let rounds = f64::from(litmus.plan.rounds);
    let of_event = |event: PmuEvent| {
        let difference = |(with, without): &(&Counts, &Counts)| {
            (with.value(event) as f64 - without.value(event) as f64) / rounds
        };
        (event.mnemonic().to_owned(), pairs.iter().map(difference).collect())
    };
    let counts: BTreeMap<String, Vec<f64>> = counted_events().map(of_event).collect();
    Some(CountedCase { case: litmus.id.clone(), rounds: litmus.plan.rounds.into(), counts })
}
