//! Sums that count something twice: a whole together with its part, or an event together with its
//! alias.
//!
//! The relations are those that `n2sim check` tests between counts: sums, aliases and subsets of
//! the event table.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::RelationKind;

use super::link::Linked;
use super::node::{BinaryOp, NodeId, Op};
use super::population::{Base, population};

/// Two terms of a sum, one of which contains the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoubleCount {
    /// Node of the sum.
    pub at: NodeId,
    /// Term that contains the other one.
    pub whole: PmuEvent,
    /// Term that is counted again; equal to `whole` for an event added to itself.
    pub part: PmuEvent,
}

/// Returns every pair of equally weighted terms of a sum that overlap. Terms of different weights
/// form a cost model rather than a count and are ignored.
pub fn double_counts(linked: &Linked) -> Vec<DoubleCount> {
    let is_sum = |id: NodeId| {
        matches!(linked.node(id).op, Op::Binary(BinaryOp::Add | BinaryOp::Subtract, ..))
    };
    let ids = (0..linked.nodes().len()).map(|index| NodeId(index as u32));
    let mut is_inner = vec![false; linked.nodes().len()];
    for id in ids.clone().filter(|id| is_sum(*id)) {
        linked.node(id).op.operands().for_each(|operand| is_inner[operand.index()] = true);
    }
    let outermost = ids.filter(|id| is_sum(*id) && !is_inner[id.index()]);
    outermost.flat_map(|at| overlaps(at, &terms(linked, at))).collect()
}

/// Returns the weighted events of a sum. Terms of another form are skipped.
fn terms(linked: &Linked, sum: NodeId) -> Vec<(f64, PmuEvent)> {
    let mut terms = Vec::new();
    let mut open = vec![(1.0, sum)];
    while let Some((weight, id)) = open.pop() {
        match linked.node(id).op {
            Op::Name(name) => {
                terms.extend(linked.event(name).event().map(|event| (weight, event)));
            }
            Op::Negate(a) => open.push((-weight, a)),
            Op::Binary(BinaryOp::Add, a, b) => open.extend([(weight, b), (weight, a)]),
            Op::Binary(BinaryOp::Subtract, a, b) => open.extend([(-weight, b), (weight, a)]),
            Op::Binary(BinaryOp::Multiply, a, b) => match (number(linked, a), number(linked, b)) {
                (Some(factor), _) => open.push((factor * weight, b)),
                (_, Some(factor)) => open.push((factor * weight, a)),
                _ => {}
            },
            _ => {}
        }
    }
    terms
}

fn number(linked: &Linked, id: NodeId) -> Option<f64> {
    match linked.node(id).op {
        Op::Number(value) => Some(value),
        _ => None,
    }
}

fn overlaps(at: NodeId, terms: &[(f64, PmuEvent)]) -> Vec<DoubleCount> {
    let mut found = Vec::new();
    // Where a part is subtracted again, the sum is indirect but correct.
    let is_taken_off =
        |part| terms.iter().any(|(weight, event)| *weight < 0.0 && is_part(*event, part));
    for (index, (weight, event)) in terms.iter().enumerate() {
        for (_, other) in terms[index + 1..].iter().filter(|(own, _)| own == weight) {
            let pair = match () {
                () if is_part(*other, *event) => Some((*event, *other)),
                () if is_part(*event, *other) => Some((*other, *event)),
                () => None,
            };
            if let Some((whole, part)) = pair.filter(|(whole, _)| !is_taken_off(*whole)) {
                found.push(DoubleCount { at, whole, part });
            }
        }
    }
    found
}

/// Returns the event that an alias refers to.
pub fn original(event: PmuEvent) -> PmuEvent {
    match event.relation(RelationKind::AliasOf) {
        Some([other]) => *other,
        _ => event,
    }
}

/// Returns whether every occurrence of `part` also counts in `whole`, in the same unit. A refill is
/// the outcome of an access, not a part of the accesses.
pub fn is_part(part: PmuEvent, whole: PmuEvent) -> bool {
    let (part, whole) = (original(part), original(whole));
    part == whole || is_addend(part, whole) || (is_contained(part, whole) && is_alike(part, whole))
}

/// Returns whether `whole` is a sum that contains `part`.
pub fn is_addend(part: PmuEvent, whole: PmuEvent) -> bool {
    let sums = [RelationKind::SumOf, RelationKind::ImpliedSumOf];
    sums.iter().any(|kind| whole.relation(*kind).is_some_and(|parts| parts.contains(&part)))
}

/// Returns whether the event table relates them as part and whole, at either end.
pub fn is_contained(part: PmuEvent, whole: PmuEvent) -> bool {
    use RelationKind::{ImpliedSubsetOf, ImpliedSupersetOf, SubsetOf, SupersetOf};
    let says = |event: PmuEvent, kinds: [RelationKind; 2], other: PmuEvent| {
        kinds.iter().any(|kind| event.relation(*kind).is_some_and(|all| all.contains(&other)))
    };
    says(part, [SubsetOf, ImpliedSubsetOf], whole)
        || says(whole, [SupersetOf, ImpliedSupersetOf], part)
}

/// Returns whether both count the same unit and neither is an outcome of the other.
fn is_alike(part: PmuEvent, whole: PmuEvent) -> bool {
    const OUTCOMES: [&str; 5] = ["REFILL", "MISS", "WB", "WALK", "MIS_PRED"];
    let has = |event: PmuEvent, word: &str| event.mnemonic().contains(word);
    let is_outcome = OUTCOMES.iter().any(|word| has(part, word) && !has(whole, word));
    let bases = [part, whole].map(|event| population(event).base);
    let is_same_kind = bases[0] == bases[1]
        && (bases[0] == Base::Instruction || part.info().group == whole.info().group);
    // An unaligned access is one additional access, so adding it estimates all accesses.
    is_same_kind && !is_outcome && whole != CPU_CYCLES && !has(part, "UNALIGNED")
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, Formula};
    use super::*;

    fn found(text: &str) -> Vec<(PmuEvent, PmuEvent)> {
        let formula = Formula::parse(text).expect("a formula");
        let linked = Linked::new(&formula, &Catalog::default()).expect("links");
        double_counts(&linked).into_iter().map(|double| (double.whole, double.part)).collect()
    }

    #[test]
    fn a_whole_with_its_part_is_counted_twice() {
        for (text, whole, part) in [
            ("L1D_CACHE_REFILL + L1D_CACHE_REFILL_RD", L1D_CACHE_REFILL, L1D_CACHE_REFILL_RD),
            ("(L1D_CACHE_RD + L1D_CACHE) / INST_RETIRED", L1D_CACHE, L1D_CACHE_RD),
            ("L1D_CACHE_REFILL_OUTER + L1D_CACHE_REFILL", L1D_CACHE_REFILL, L1D_CACHE_REFILL_OUTER),
            ("L2D_CACHE_REFILL + L2D_CACHE_REFILL_RD", L2D_CACHE_REFILL, L2D_CACHE_REFILL_RD),
            ("L1D_CACHE_REFILL_RD + L1D_CACHE_LMISS_RD", L1D_CACHE_REFILL_RD, L1D_CACHE_LMISS_RD),
            ("CPU_CYCLES + BUS_CYCLES", CPU_CYCLES, BUS_CYCLES),
            ("INST_SPEC + LD_SPEC", INST_SPEC, LD_SPEC),
            ("BR_INDIRECT_SPEC + BR_RETURN_SPEC", BR_INDIRECT_SPEC, BR_RETURN_SPEC),
            ("STALL_SLOT + STALL_SLOT_BACKEND", STALL_SLOT, STALL_SLOT_BACKEND),
            ("STALL_BACKEND + STALL_BACKEND_MEM", STALL_BACKEND, STALL_BACKEND_MEM),
            ("2 * MEM_ACCESS + 2 * MEM_ACCESS_WR", MEM_ACCESS, MEM_ACCESS_WR),
            ("LD_SPEC + LD_SPEC", LD_SPEC, LD_SPEC),
        ] {
            assert_eq!(found(text), [(whole, part)], "{text}");
        }
        assert_eq!(found("L2D_CACHE + L2D_CACHE_RD + L2D_CACHE_WR").len(), 2);
    }

    #[test]
    fn sums_of_different_units_and_cost_models_are_accepted() {
        for text in [
            "L1D_CACHE_REFILL_RD + L1D_CACHE_REFILL_WR",
            "L1D_CACHE + L1D_CACHE_REFILL",
            "LL_CACHE_RD + LL_CACHE_MISS_RD",
            "L1D_CACHE + 10 * L1D_CACHE_REFILL + 100 * L1D_CACHE_REFILL_OUTER",
            "L1D_CACHE_REFILL - L1D_CACHE_REFILL_RD",
            "LD_SPEC + ST_SPEC + UNALIGNED_LDST_SPEC",
            "LD_SPEC + UNALIGNED_LD_SPEC",
            "BR_IMMED_SPEC + BR_INDIRECT_SPEC",
            "BR_PRED + BR_MIS_PRED",
            "STALL_FRONTEND + STALL_BACKEND",
            "OP_SPEC + STALL_SLOT",
            "MEM_ACCESS + MEM_ACCESS_RD - MEM_ACCESS",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
