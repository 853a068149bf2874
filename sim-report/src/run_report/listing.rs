//! Annotated listings of the functions with most slots: every executed instruction in the order of
//! addresses, with its cost, and the callers of the function.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::InstId;
use sim_machine::observe::Call;

use super::code::{HotInstruction, Place, UNKNOWN};
use super::findings::Finding;
use super::profiled::{CodeCost, Profiled};
use super::ratio::percent;

/// Function with its instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Listing {
    /// Name; `[unknown]` and the page of the code if it has none.
    pub function: String,
    /// Slots charged to its instructions.
    pub slots: u64,
    /// Share of all slots, in percent.
    pub percent: f64,
    /// Places that call the function, those with most cycles first; empty where no call was
    /// recorded.
    pub callers: Vec<Caller>,
    /// Callers that are not listed.
    pub callers_left_out: u64,
    /// Instructions by address.
    pub rows: Vec<ListingRow>,
    /// Executed instructions that are not listed, which are the cheapest.
    pub rows_left_out: u64,
}

/// Place that calls a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Caller {
    /// Place of the call.
    pub place: Place,
    /// Number of calls.
    pub calls: u64,
    /// Cycles of the function between these calls and their returns, without calls inside it; those
    /// of a call that has not returned end with the counted part.
    pub cycles: u64,
}

/// Instruction of a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListingRow {
    /// Address, in hexadecimal.
    pub address: String,
    /// Source file and line, if the program contains them.
    pub line: Option<String>,
    /// Instruction in assembler syntax.
    pub text: String,
    /// Instructions between the previous row and this one that were not executed or are not listed.
    pub skipped: u64,
    /// Slots charged to it.
    pub slots: u64,
    /// Share of all slots, in percent.
    pub percent: f64,
    /// Cycles up to the rename, or issue, of the instruction.
    pub cycles: u64,
    /// Retired executions.
    pub executions: u64,
    /// Name of the cause of most of its lost slots; absent if it lost none.
    pub cause: Option<String>,
    /// Slots of this cause.
    pub cause_slots: u64,
}

/// Most functions with a listing, besides those of findings.
const FUNCTIONS: usize = 8;
/// Least share of all slots of a function with a listing, in percent.
const LEAST_PERCENT: f64 = 1.0;
/// Most instructions of a listing.
const ROWS: usize = 200;
/// Most callers of a listing.
const CALLERS: usize = 8;
/// Bytes of an instruction.
const INST_BYTES: u64 = 4;
/// Code without names is listed in parts of this many bytes, as a power of two.
const UNKNOWN_SHIFT: u32 = 12;

/// First address and name of a function.
type Key = (u64, String);
/// Slots of a function, its name, and its instructions.
type Hot<'a, C> = (u64, Key, Vec<(InstId, &'a C)>);

/// Returns the listings, the most expensive function first.
pub(super) fn all<C: CodeCost>(
    profile: &Profiled<'_, C>,
    instruction: &impl Fn(InstId, &C) -> HotInstruction,
    findings: &[Finding],
    calls: &[Call],
) -> Vec<Listing> {
    let key = |pc: u64| match profile.symbols.function(pc) {
        Some(place) => (place.function.addr, place.function.name.clone()),
        None => {
            let start = pc >> UNKNOWN_SHIFT << UNKNOWN_SHIFT;
            (start, format!("{UNKNOWN} at {start:#x}"))
        }
    };
    let mut functions: BTreeMap<Key, Vec<(InstId, &C)>> = BTreeMap::new();
    for own in &profile.instructions {
        functions.entry(key(own.1.pc())).or_default().push(*own);
    }
    let named: BTreeSet<Key> = findings.iter().filter_map(Finding::pc).map(key).collect();
    let slots = |own: &[(InstId, &C)]| own.iter().map(|(_, cost)| cost.all_slots()).sum::<u64>();
    let mut functions: Vec<Hot<'_, C>> =
        functions.into_iter().map(|(key, own)| (slots(&own), key, own)).collect();
    functions.sort_by_key(|(slots, ..)| std::cmp::Reverse(*slots));
    let all_slots = profile.all_slots();
    let is_hot = |at: usize, slots| at < FUNCTIONS && percent(slots, all_slots) >= LEAST_PERCENT;
    let listed = functions.into_iter().enumerate();
    let listed = listed.filter(|(at, (slots, key, _))| is_hot(*at, *slots) || named.contains(key));
    let listing = |(_, (slots, own, insts)): (usize, Hot<'_, C>)| {
        let of_function = calls.iter().filter(|call| key(call.target) == own);
        let (callers, callers_left_out) = callers(of_function.copied().collect(), profile);
        let rows_left_out = insts.len().saturating_sub(ROWS) as u64;
        Listing {
            function: own.1,
            slots,
            percent: percent(slots, all_slots),
            callers,
            callers_left_out,
            rows: rows(insts, instruction),
            rows_left_out,
        }
    };
    listed.map(listing).collect()
}

/// Returns the callers with most cycles, and the number of the others.
fn callers<C: CodeCost>(mut calls: Vec<Call>, profile: &Profiled<'_, C>) -> (Vec<Caller>, u64) {
    calls.retain(|call| call.calls > 0);
    calls.sort_by_key(|call| (std::cmp::Reverse((call.cycles, call.calls)), call.site));
    let left_out = calls.len().saturating_sub(CALLERS) as u64;
    let caller = |call: &Call| Caller {
        place: profile.place_at(call.site),
        calls: call.calls,
        cycles: call.cycles,
    };
    (calls.iter().take(CALLERS).map(caller).collect(), left_out)
}

/// Returns the most expensive instructions of a function, by address. `insts` are ordered by slots.
fn rows<C: CodeCost>(
    mut insts: Vec<(InstId, &C)>,
    instruction: &impl Fn(InstId, &C) -> HotInstruction,
) -> Vec<ListingRow> {
    insts.truncate(ROWS);
    insts.sort_by_key(|(_, cost)| cost.pc());
    let mut next = insts.first().map_or(0, |(_, cost)| cost.pc());
    let row = |(id, cost): (InstId, &C)| {
        let hot = instruction(id, cost);
        let skipped = cost.pc().saturating_sub(next) / INST_BYTES;
        next = cost.pc().wrapping_add(INST_BYTES);
        let top = hot.cost.causes.into_iter().next();
        ListingRow {
            address: hot.place.address,
            line: hot.place.line,
            text: hot.text,
            skipped,
            slots: hot.cost.slots,
            percent: hot.cost.percent,
            cycles: hot.cost.cycles,
            executions: hot.cost.instructions,
            cause_slots: top.as_ref().map_or(0, |cause| cause.slots),
            cause: top.map(|cause| cause.name),
        }
    };
    insts.into_iter().map(row).collect()
}
