//! Costs of functions, source lines and instructions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use sim_asm::disassembly;
use sim_core::{DataSource, InstId};
use sim_machine::observe::{CodeKind, Column, InstCost, SOURCES, SlotClass, TopDownCategory};

use super::names::{class_names, kind_name};
use super::profiled::{CodeCost, N2Profile, Profiled};
use super::ratio::{over, percent};
use crate::symbols::SourceLine;

/// Place of an instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Address, in hexadecimal.
    pub address: String,
    /// `function+0x14`, or the address if no function is known.
    pub symbol: String,
    /// Source file and line, `file.c:12`, if the program contains them.
    pub line: Option<String>,
    /// Function that the instruction belongs to in the source, if it was inlined into that of
    /// `symbol`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inlined: Option<String>,
}

/// Slots of one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseSlots {
    /// Cause, as the last part of its place in the slot tree: `load_dram`.
    pub cause: String,
    /// Name of the cause.
    pub name: String,
    /// Number of slots.
    pub slots: u64,
}

/// Cost of some code. Slots are charged to the instruction that causes the loss: those of a wrong
/// path to its branch, those of a full reorder buffer to its oldest instruction, others of a core
/// in order to the instruction that waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Slots: used, squashed and empty.
    pub slots: u64,
    /// Share of all slots, in percent.
    pub percent: f64,
    /// Slots of operations that retired; on a core in order, of instructions that issued.
    pub retiring: u64,
    /// Slots of squashed operations, and empty slots of the refill after them.
    pub bad_speculation: u64,
    /// Other slots that the front end left empty.
    pub frontend: u64,
    /// Slots that the back end did not accept.
    pub backend: u64,
    /// Squashed and empty slots by cause, most first.
    pub causes: Vec<CauseSlots>,
    /// Cycles up to the rename, or issue, of its instructions, as `n2sim functions` gives them.
    pub cycles: u64,
    /// Retired instructions.
    pub instructions: u64,
    /// Retired instructions per cycle.
    pub ipc: Option<f64>,
    /// Retired branches that were mispredicted.
    pub branch_misses: u64,
    /// `L1I_CACHE_REFILL` of its instructions, on correct and wrong paths.
    pub l1i_refills: u64,
    /// `L1D_CACHE_REFILL`.
    pub l1d_refills: u64,
    /// `L2D_CACHE_REFILL`.
    pub l2_refills: u64,
    /// `DTLB_WALK`; absent on a core without the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtlb_walks: Option<u64>,
    /// `ITLB_WALK`; absent on a core without the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itlb_walks: Option<u64>,
    /// `L1D_TLB_REFILL`, on a core that does not count table walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1d_tlb_refills: Option<u64>,
    /// `L1I_TLB_REFILL`, on a core that does not count table walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l1i_tlb_refills: Option<u64>,
}

/// Costs of the code of the program, the most expensive first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Code {
    /// Whether the trace, or a program given with it, names functions.
    pub has_functions: bool,
    /// Whether a program given with the trace names source lines.
    pub has_lines: bool,
    /// Functions.
    pub functions: Vec<HotFunction>,
    /// Functions with a cost that are not listed.
    pub functions_left_out: u64,
    /// Source lines.
    pub lines: Vec<HotLine>,
    /// Lines with a cost that are not listed.
    pub lines_left_out: u64,
    /// Instructions.
    pub instructions: Vec<HotInstruction>,
    /// Instructions with a cost that are not listed.
    pub instructions_left_out: u64,
    /// Cost that belongs to no instruction: slots after the last one, and fetches without an
    /// operation.
    pub elsewhere: Cost,
    /// Cost of all code, listed or not.
    pub total: Cost,
}

/// Function with its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotFunction {
    /// Name; `[unknown]` for code without one.
    pub name: String,
    /// Cost, including inlined calls, excluding other calls.
    pub cost: Cost,
}

/// Source line with its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotLine {
    /// File as the compiler names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Function that contains the line, which may have been inlined elsewhere.
    pub function: String,
    /// Cost.
    pub cost: Cost,
}

/// Instruction with its cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HotInstruction {
    /// Place in the program.
    pub place: Place,
    /// Instruction word, in hexadecimal.
    pub word: String,
    /// Instruction in assembler syntax.
    #[serde(default)]
    pub text: String,
    /// `load`, `store`, `atomic`, `branch` or `other`.
    pub kind: String,
    /// Cost.
    pub cost: Cost,
    /// Number of squashed executions; absent where wrong paths are not counted.
    #[serde(alias = "thrown_away", default, skip_serializing_if = "Option::is_none")]
    pub squashed: Option<u64>,
    /// Mean cycles of a load from issue to data; absent for other instructions.
    pub load_cycles: Option<f64>,
    /// Data sources of a retired load or store.
    pub sources: Vec<SourceCount>,
}

/// Number of accesses with one data source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SourceCount {
    /// Data source: `L1`, `L2`, `system level cache`.
    pub source: String,
    /// Retired accesses.
    pub accesses: u64,
}

/// Most functions listed.
const FUNCTIONS: usize = 100;
/// Most source lines listed.
const LINES: usize = 200;
/// Most instructions listed.
const INSTRUCTIONS: usize = 200;
/// Function name of code without one.
pub(super) const UNKNOWN: &str = "[unknown]";

impl Code {
    /// Returns the costs. `instruction` makes the row of an instruction.
    pub(super) fn of<C: CodeCost>(
        profile: &Profiled<'_, C>,
        instruction: impl Fn(InstId, &C) -> HotInstruction,
    ) -> Code {
        let (functions, lines) = (functions(profile), lines(profile));
        let cost = |cost: &C| cost.row(profile.all_slots());
        let left_out = |all: usize, listed: usize| all.saturating_sub(listed) as u64;
        let named = |(name, own): &(String, C)| HotFunction { name: name.clone(), cost: cost(own) };
        let line = |((line, function), own): &((SourceLine, String), C)| HotLine {
            file: line.file.clone(),
            line: line.line,
            function: function.clone(),
            cost: cost(own),
        };
        let instruction = |(id, own): &(InstId, &C)| instruction(*id, own);
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

/// Returns the cost of each function, the most expensive first.
fn functions<C: CodeCost>(profile: &Profiled<'_, C>) -> Vec<(String, C)> {
    let own = |pc| profile.symbols.function(pc).map(|place| place.function);
    let all = profile.instructions.iter().map(|(_, cost)| {
        let function = own(cost.pc());
        let (addr, name) = match function {
            Some(function) => (Some(function.addr), function.name.clone()),
            None => (None, UNKNOWN.to_owned()),
        };
        ((addr, name), *cost)
    });
    summed(all).into_iter().map(|((_, name), cost)| (name, cost)).collect()
}

/// Returns the cost of each source line, the most expensive first.
fn lines<C: CodeCost>(profile: &Profiled<'_, C>) -> Vec<((SourceLine, String), C)> {
    let all = profile.instructions.iter().filter_map(|(_, cost)| {
        let (line, function) = profile.line(cost.pc())?;
        Some(((line.file, line.line, function), *cost))
    });
    let line = |((file, line, function), cost)| ((SourceLine { file, line }, function), cost);
    summed(all).into_iter().map(line).collect()
}

/// Sums the costs with the same key. The most expensive sum comes first; equal sums are ordered by
/// key.
fn summed<'a, K: Ord, C: CodeCost + 'a>(all: impl Iterator<Item = (K, &'a C)>) -> Vec<(K, C)> {
    let mut sums: BTreeMap<K, C> = BTreeMap::new();
    for (key, cost) in all {
        sums.entry(key).or_default().add(cost);
    }
    let mut sums: Vec<(K, C)> = sums.into_iter().collect();
    sums.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.all_slots()));
    sums
}

impl CodeCost for InstCost {
    fn pc(&self) -> u64 {
        self.pc
    }

    fn add(&mut self, other: &InstCost) {
        InstCost::add(self, other);
    }

    fn all_slots(&self) -> u64 {
        InstCost::all_slots(self)
    }

    fn is_counted(&self) -> bool {
        // An instruction that was only squashed may have events without slots.
        let has_events = self.columns.iter().any(|count| *count > 0);
        self.retired > 0 || self.all_slots() > 0 || has_events
    }

    fn row(&self, all_slots: u64) -> Cost {
        Cost::of(self, all_slots)
    }
}

impl Cost {
    pub(super) fn of(cost: &InstCost, all_slots: u64) -> Cost {
        let category = |category| {
            let own = SlotClass::all().filter(|class| class.category() == category);
            own.map(|class| cost.slots[class.index()]).sum()
        };
        let event = |column: Column| cost.columns[column as usize];
        let instructions = event(Column::Instructions);
        Cost {
            slots: cost.all_slots(),
            percent: percent(cost.all_slots(), all_slots),
            retiring: category(TopDownCategory::Retiring),
            bad_speculation: category(TopDownCategory::BadSpeculation),
            frontend: category(TopDownCategory::Frontend),
            backend: category(TopDownCategory::Backend),
            causes: causes(cost),
            cycles: cost.cycles,
            instructions,
            ipc: over(instructions, cost.cycles, 1.0),
            branch_misses: event(Column::BranchMisses),
            l1i_refills: event(Column::L1iRefills),
            l1d_refills: event(Column::L1dRefills),
            l2_refills: event(Column::L2Refills),
            dtlb_walks: Some(event(Column::DtlbWalks)),
            itlb_walks: Some(event(Column::ItlbWalks)),
            l1d_tlb_refills: None,
            l1i_tlb_refills: None,
        }
    }
}

/// Returns the lost slots by cause, most first.
fn causes(cost: &InstCost) -> Vec<CauseSlots> {
    let lost = SlotClass::all().filter(|class| {
        cost.slots[class.index()] > 0 && class.category() != TopDownCategory::Retiring
    });
    let named = lost.map(|class| {
        let (cause, name) = class_names(class);
        CauseSlots { cause, name: name.to_owned(), slots: cost.slots[class.index()] }
    });
    ranked(named)
}

/// Returns the causes with slots, most first.
pub(super) fn ranked(named: impl Iterator<Item = CauseSlots>) -> Vec<CauseSlots> {
    let mut causes: Vec<CauseSlots> = named.filter(|cause| cause.slots > 0).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.slots));
    causes
}

impl HotInstruction {
    pub(super) fn of(id: InstId, cost: &InstCost, profile: &N2Profile<'_>) -> HotInstruction {
        let trace = profile.observed.session.trace();
        let code = trace.statics().insts().get(id as usize).map(|code| code.word);
        // Code that ran only on wrong paths is only in the image.
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
            text: disassembly::text(cost.pc, word),
            kind: kind_name(cost.kind).to_owned(),
            cost: Cost::of(cost, profile.all_slots()),
            squashed: Some(cost.squashed),
            load_cycles: is_load.then(|| over(cost.load_cycles, cost.retired, 1.0)).flatten(),
            sources: supplied.map(source).collect(),
        }
    }
}
