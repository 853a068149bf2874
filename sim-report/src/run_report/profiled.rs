//! Costs of code with names: the step between observation and tables.

use sim_core::{InstId, LostSlots};
use sim_machine::observe::InstCost;

use super::code::Place;
use super::observed::Observed;
use crate::Symbols;
use crate::symbols::SourceLine;

/// Costs of all instructions, the most expensive first.
pub(super) struct Profiled<'a> {
    pub(super) observed: &'a Observed<'a>,
    pub(super) symbols: &'a Symbols,
    /// Instructions with a cost.
    pub(super) instructions: Vec<(InstId, &'a InstCost)>,
    pub(super) elsewhere: &'a InstCost,
    /// Sum of all costs.
    pub(super) total: InstCost,
    /// Empty slots, by cause and root cause.
    pub(super) stalls: LostSlots,
}

impl<'a> Profiled<'a> {
    pub(super) fn new(observed: &'a Observed<'a>, symbols: &'a Symbols) -> Profiled<'a> {
        let elsewhere = observed.observer.elsewhere();
        let mut instructions: Vec<_> = observed.observer.instructions().collect();
        let mut total = elsewhere.clone();
        instructions.iter().for_each(|(_, cost)| total.add(cost));
        // An instruction that was only squashed may have events without slots.
        let has_events = |cost: &InstCost| cost.columns.iter().any(|count| *count > 0);
        instructions
            .retain(|(_, cost)| cost.retired > 0 || cost.all_slots() > 0 || has_events(cost));
        instructions.sort_by_key(|(_, cost)| (std::cmp::Reverse(cost.all_slots()), cost.pc));
        let stalls = observed.outcome.stalls();
        Profiled { observed, symbols, instructions, elsewhere, total, stalls }
    }

    /// Returns all slots of the run.
    pub(super) fn all_slots(&self) -> u64 {
        self.total.all_slots()
    }

    /// Returns the place of an instruction.
    pub(super) fn place(&self, cost: &InstCost) -> Place {
        Place {
            address: format!("{:#x}", cost.pc),
            symbol: self.symbols.name(cost.pc),
            line: self.line(cost.pc).map(|(line, _)| format!("{}:{}", line.file, line.line)),
        }
    }

    /// Returns the source line at an address, and the function that contains it.
    pub(super) fn line(&self, pc: u64) -> Option<(SourceLine, String)> {
        let innermost = self.symbols.frames(pc).into_iter().next()?;
        Some((innermost.line?, innermost.function))
    }
}
