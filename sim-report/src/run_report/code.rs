//! What code costs: functions, source lines, instructions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The cause, as the last part of its place in the tree of slots: `rob_memory`.
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
    /// Cycles up to the rename of its instructions, as `n2sim stat --per-function` gives them.
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
