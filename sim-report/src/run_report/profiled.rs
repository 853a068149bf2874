//! Costs of code with names: the step between observation and tables.

use std::ops::Deref;

use sim_core::{InstId, LostSlots};
use sim_machine::observe::InstCost;

use super::code::{Cost, Place};
use super::observed::Observed;
use crate::Symbols;
use crate::symbols::SourceLine;

/// Cost of a static instruction, as a core's model collects it.
pub(super) trait CodeCost: Clone + Default {
    /// Returns the address of the instruction.
    fn pc(&self) -> u64;

    /// Adds the cost of other code.
    fn add(&mut self, other: &Self);

    /// Returns all slots that are charged to it.
    fn all_slots(&self) -> u64;

    /// Returns whether anything was counted.
    fn is_counted(&self) -> bool;

    /// Returns the row of the report. `all_slots` are those of the run.
    fn row(&self, all_slots: u64) -> Cost;
}

/// Costs of all instructions, the most expensive first.
pub(super) struct Profiled<'a, C> {
    pub(super) symbols: &'a Symbols,
    /// Instructions with a cost.
    pub(super) instructions: Vec<(InstId, &'a C)>,
    pub(super) elsewhere: &'a C,
    /// Sum of all costs.
    pub(super) total: C,
}

/// Costs on a Neoverse N2, with what else its report needs.
pub(super) struct N2Profile<'a> {
    pub(super) observed: &'a Observed<'a>,
    code: Profiled<'a, InstCost>,
    /// Empty slots, by cause and root cause.
    pub(super) stalls: LostSlots,
}

impl<'a> N2Profile<'a> {
    pub(super) fn new(observed: &'a Observed<'a>, symbols: &'a Symbols) -> N2Profile<'a> {
        let instructions = observed.observer.instructions().collect();
        let code = Profiled::new(instructions, observed.observer.elsewhere(), symbols);
        N2Profile { observed, code, stalls: observed.outcome.stalls() }
    }
}

impl<'a> Deref for N2Profile<'a> {
    type Target = Profiled<'a, InstCost>;

    fn deref(&self) -> &Profiled<'a, InstCost> {
        &self.code
    }
}

impl<'a, C: CodeCost> Profiled<'a, C> {
    /// Orders the instructions, each with its number in the trace.
    pub(super) fn new(
        mut instructions: Vec<(InstId, &'a C)>,
        elsewhere: &'a C,
        symbols: &'a Symbols,
    ) -> Profiled<'a, C> {
        let mut total = elsewhere.clone();
        instructions.iter().for_each(|(_, cost)| total.add(cost));
        instructions.retain(|(_, cost)| cost.is_counted());
        instructions.sort_by_key(|(_, cost)| (std::cmp::Reverse(cost.all_slots()), cost.pc()));
        Profiled { symbols, instructions, elsewhere, total }
    }

    /// Returns all slots of the run.
    pub(super) fn all_slots(&self) -> u64 {
        self.total.all_slots()
    }

    /// Returns the place of an instruction.
    pub(super) fn place(&self, cost: &C) -> Place {
        self.place_at(cost.pc())
    }

    /// Returns the place of an address.
    pub(super) fn place_at(&self, pc: u64) -> Place {
        let frames = self.symbols.frames(pc);
        let innermost = frames.first();
        let line = innermost.and_then(|frame| frame.line.as_ref());
        Place {
            address: format!("{pc:#x}"),
            symbol: self.symbols.name(pc),
            line: line.map(|line| format!("{}:{}", line.file, line.line)),
            inlined: innermost.filter(|_| frames.len() > 1).map(|frame| frame.function.clone()),
        }
    }

    /// Returns the source line at an address, and the function that contains it.
    pub(super) fn line(&self, pc: u64) -> Option<(SourceLine, String)> {
        let innermost = self.symbols.frames(pc).into_iter().next()?;
        Some((innermost.line?, innermost.function))
    }
}
