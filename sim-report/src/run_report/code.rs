//! What code costs: functions, source lines, instructions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use sim_core::{DataSource, InstId};
use sim_machine::observe::{CodeKind, Column, End, Fate, InstCost, SOURCES};

use super::names::{fate_names, kind_name};
use super::profiled::Profiled;
use super::ratio::{over, percent};
use crate::symbols::SourceLine;

/// Where an instruction is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Its address, in hexadecimal.
    pub address: String,
    /// `function+0x14`, or the address where no function is known.
    pub symbol: String,
    /// Source file and line, `file.c:12`, where the program was built with them.
    pub line: Option<String>,
}

/// Slots of one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseSlots {
    /// The cause, as the last part of its place in the tree of slots: `load_dram`.
    pub cause: String,
    /// Its name.
    pub name: String,
    /// Slots.
    pub slots: u64,
}

/// What some code cost. Slots are charged to the instruction that is to blame: those of an abandoned path
/// to its branch, those of a full reorder buffer to its oldest instruction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Rename slots: used, thrown away and empty.
    pub slots: u64,
    /// Of all slots, in percent.
    pub percent: f64,
    /// Slots of operations that retired.
    pub retiring: u64,
    /// Slots of operations that were thrown away, and empty ones of the refill behind them.
    pub bad_speculation: u64,
    /// Other slots that the front end left empty.
    pub frontend: u64,
    /// Slots that the back end refused.
    pub backend: u64,
    /// The empty and thrown-away slots cause by cause, most first.
    pub causes: Vec<CauseSlots>,
    /// Cycles up to the rename of its instructions, as `n2sim functions` gives them.
    pub cycles: u64,
    /// Retired instructions.
    pub instructions: u64,
    /// Retired instructions per cycle.
    pub ipc: Option<f64>,
    /// Retired branches that were mispredicted.
    pub branch_misses: u64,
    /// `L1I_CACHE_REFILL` of its instructions, on right and wrong paths.
    pub l1i_refills: u64,
    /// `L1D_CACHE_REFILL`.
    pub l1d_refills: u64,
    /// `L2D_CACHE_REFILL`.
    pub l2_refills: u64,
    /// `DTLB_WALK`.
    pub dtlb_walks: u64,
    /// `ITLB_WALK`.
    pub itlb_walks: u64,
}

/// What the code of the program cost, the most expensive first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Code {
    /// The trace, or a program given beside it, names functions.
    pub has_functions: bool,
    /// A program given beside the trace names source lines.
    pub has_lines: bool,
    /// Functions.
    pub functions: Vec<HotFunction>,
    /// Functions that cost something but are not listed.
    pub functions_left_out: u64,
    /// Source lines.
    pub lines: Vec<HotLine>,
    /// Lines that cost something but are not listed.
    pub lines_left_out: u64,
    /// Instructions.
    pub instructions: Vec<HotInstruction>,
    /// Instructions that cost something but are not listed.
    pub instructions_left_out: u64,
    /// What belongs to no instruction: slots behind the last one, and fetches that no operation came of.
    pub elsewhere: Cost,
    /// What all code together cost, listed or not.
    pub total: Cost,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotFunction {
    /// Its name; `[unknown]` for code without one.
    pub name: String,
    /// What it cost, inlined calls included, calls not.
    pub cost: Cost,
}

/// A source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotLine {
    /// The file as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function that it was written in, which may have been inlined elsewhere.
    pub function: String,
    /// What it cost.
    pub cost: Cost,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotInstruction {
    /// Where it is.
    pub place: Place,
    /// Its word, in hexadecimal.
    pub word: String,
    /// `load`, `store`, `atomic`, `branch` or `other`.
    pub kind: String,
    /// What it cost.
    pub cost: Cost,
    /// How often it was executed on abandoned paths.
    pub thrown_away: u64,
    /// Of a load: mean cycles from issue to data.
    pub load_cycles: Option<f64>,
    /// Of a load or store that retired: where its data came from.
    pub sources: Vec<SourceCount>,
}

/// Accesses with the same source of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceCount {
    /// Where the data came from: `L1`, `L2`, `system level cache`.
    pub source: String,
    /// Accesses that retired.
    pub accesses: u64,
}

/// Functions that are listed.
const FUNCTIONS: usize = 100;
/// Source lines that are listed.
const LINES: usize = 200;
/// Instructions that are listed.
const INSTRUCTIONS: usize = 200;
/// The function of code without a name.
const UNKNOWN: &str = "[unknown]";

impl Code {
    pub(super) fn of(profile: &Profiled<'_>) -> Code {
        let (functions, lines) = (functions(profile), lines(profile));
        let cost = |cost: &InstCost| Cost::of(cost, profile.all_slots());
        let left_out = |all: usize, listed: usize| all.saturating_sub(listed) as u64;
        let named =
            |(name, own): &(String, InstCost)| HotFunction { name: name.clone(), cost: cost(own) };
        let line = |((line, function), own): &((SourceLine, String), InstCost)| HotLine {
            file: line.file.clone(),
            line: line.line,
            function: function.clone(),
            cost: cost(own),
        };
        let instruction = |(id, own): &(InstId, &InstCost)| HotInstruction::of(*id, own, profile);
        Code {
            has_functions: !profile.symbols.functions().is_empty(),
            has_lines: !lines.is_empty(),
            functions_left_out: left_out(functions.len(), FUNCTIONS),
            functions: functions.iter().take(FUNCTIONS).map(named).collect(),
            lines_left_out: left_out(lines.len(), LINES),
            lines: lines.iter().take(LINES).map(line).collect(),
            instructions_left_out: left_out(profile.instructions.len(), INSTRUCTIONS),
            instructions: profile.instructions.iter().take(INSTRUCTIONS).map(instruction).collect(),
            elsewhere: cost(profile.elsewhere),
            total: cost(&profile.total),
        }
    }
}

/// What each function cost, the most expensive first.
fn functions(profile: &Profiled<'_>) -> Vec<(String, InstCost)> {
    let own = |pc| profile.symbols.function(pc).map(|place| place.function);
    let all = profile.instructions.iter().map(|(_, cost)| {
        let function = own(cost.pc);
        let (addr, name) = match function {
            Some(function) => (Some(function.addr), function.name.clone()),
            None => (None, UNKNOWN.to_owned()),
        };
        ((addr, name), *cost)
    });
    summed(all).into_iter().map(|((_, name), cost)| (name, cost)).collect()
}

/// What each source line cost, the most expensive first.
fn lines(profile: &Profiled<'_>) -> Vec<((SourceLine, String), InstCost)> {
    let all = profile.instructions.iter().filter_map(|(_, cost)| {
        let (line, function) = profile.line(cost.pc)?;
        Some(((line.file, line.line, function), *cost))
    });
    let line = |((file, line, function), cost)| ((SourceLine { file, line }, function), cost);
    summed(all).into_iter().map(line).collect()
}

/// The costs of what has the same key; the most expensive first, as expensive ones by their keys.
fn summed<'a, K: Ord>(all: impl Iterator<Item = (K, &'a InstCost)>) -> Vec<(K, InstCost)> {
    let mut sums: BTreeMap<K, InstCost> = BTreeMap::new();
    for (key, cost) in all {
        sums.entry(key).or_default().add(cost);
    }
    let mut sums: Vec<(K, InstCost)> = sums.into_iter().collect();
    sums.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.all_slots()));
    sums
}

impl Cost {
    pub(super) fn of(cost: &InstCost, all_slots: u64) -> Cost {
        let end = |end| {
            let own = Fate::all().filter(|fate| fate.end() == end);
            own.map(|fate| cost.slots[fate.index()]).sum()
        };
        let event = |column: Column| cost.columns[column as usize];
        let instructions = event(Column::Instructions);
        Cost {
            slots: cost.all_slots(),
            percent: percent(cost.all_slots(), all_slots),
            retiring: end(End::Retiring),
            bad_speculation: end(End::BadSpeculation),
            frontend: end(End::Frontend),
            backend: end(End::Backend),
            causes: causes(cost),
            cycles: cost.cycles,
            instructions,
            ipc: over(instructions, cost.cycles, 1.0),
            branch_misses: event(Column::BranchMisses),
            l1i_refills: event(Column::L1iRefills),
            l1d_refills: event(Column::L1dRefills),
            l2_refills: event(Column::L2Refills),
            dtlb_walks: event(Column::DtlbWalks),
            itlb_walks: event(Column::ItlbWalks),
        }
    }
}

/// What was lost, most first.
fn causes(cost: &InstCost) -> Vec<CauseSlots> {
    let lost = Fate::all().filter(|fate| fate.end() != End::Retiring);
    let named = lost.map(|fate| {
        let (cause, name) = fate_names(fate);
        CauseSlots { cause, name: name.to_owned(), slots: cost.slots[fate.index()] }
    });
    let mut causes: Vec<CauseSlots> = named.filter(|cause| cause.slots > 0).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.slots));
    causes
}

impl HotInstruction {
    fn of(id: InstId, cost: &InstCost, profile: &Profiled<'_>) -> HotInstruction {
        let trace = profile.observed.session.trace();
        let code = trace.statics().insts().get(id as usize).map(|code| code.word);
        // Code that only an abandoned path met is in the image alone.
        let word = code.or_else(|| trace.image().word_at(cost.pc)).unwrap_or_default();
        let supplied = SOURCES.into_iter().zip(cost.sources).filter(|(_, accesses)| *accesses > 0);
        let source = |(source, accesses): (DataSource, u64)| {
            let source = source.label().to_owned();
            SourceCount { source, accesses }
        };
        let is_load = cost.kind == CodeKind::Load;
        HotInstruction {
            place: profile.place(cost),
            word: format!("{word:08x}"),
            kind: kind_name(cost.kind).to_owned(),
            cost: Cost::of(cost, profile.all_slots()),
            thrown_away: cost.thrown_away,
            load_cycles: is_load.then(|| over(cost.load_cycles, cost.retired, 1.0)).flatten(),
            sources: supplied.map(source).collect(),
        }
    }
}
