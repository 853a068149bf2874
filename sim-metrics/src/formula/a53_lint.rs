//! Checks of formulas for a Cortex-A53 beside those of `lint`: a whole added to its part, accesses
//! over other accesses, and slots of another width.

use sim_core::A53Event;

use super::catalog::{Catalog, MetricFormula};
use super::event_use::FormulaCore;
use super::link::Linked;
use super::lint::{Finding, Kind, Severity};
use super::machine::A53_SLOTS;
use super::node::{BinaryOp, NodeId, Op};
use super::population::{Base, Population, Side, Structure, of_a53};

/// Events with events that count a part of the same, in the unit of the whole. Source: Cortex-A53
/// manual, table 12.28.
const PARTS: &[(A53Event, &[A53Event])] = {
    use A53Event as E;
    &[
        (E::BUS_ACCESS, &[E::BUS_ACCESS_LD, E::BUS_ACCESS_ST]),
        (E::BR_PRED, &[E::BR_COND, E::BR_INDIRECT_SPEC]),
        (
            E::BR_MIS_PRED,
            &[E::BR_COND_MISPRED, E::BR_INDIRECT_MISPRED, E::BR_INDIRECT_MISPRED_ADDR],
        ),
        (E::BR_INDIRECT_MISPRED, &[E::BR_INDIRECT_MISPRED_ADDR]),
        (E::EXC_TAKEN, &[E::EXC_IRQ, E::EXC_FIQ]),
        (E::EXT_MEM_REQ, &[E::EXT_MEM_REQ_NC]),
        (E::MEMORY_ERROR, &[E::L1I_CACHE_ERR, E::L1D_CACHE_ERR, E::TLB_ERR]),
        (E::ST_DEP_STALL, &[E::STALL_SB_FULL]),
        (
            E::INST_RETIRED,
            &[
                E::LD_RETIRED,
                E::ST_RETIRED,
                E::PC_WRITE_RETIRED,
                E::BR_IMMED_RETIRED,
                E::BR_RETURN_RETIRED,
                E::CID_WRITE_RETIRED,
            ],
        ),
    ]
};

/// Returns whether all that `part` counts also counts in `whole`.
pub fn is_part(part: A53Event, whole: A53Event) -> bool {
    PARTS.iter().any(|(own, parts)| *own == whole && parts.contains(&part))
}

/// Two terms of a sum, one of which contains the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct A53DoubleCount {
    /// Node of the sum.
    pub at: NodeId,
    /// Term that contains the other one.
    pub whole: A53Event,
    /// Term that is counted again; equal to `whole` for an event added to itself.
    pub part: A53Event,
}

/// Checks a metric for a Cortex-A53; [`lint`](super::lint::lint) has the checks for all cores.
pub fn lint_a53(metric: &MetricFormula, catalog: &Catalog) -> Vec<Finding> {
    let Ok(formula) = &metric.formula else { return Vec::new() };
    let linked = Linked::on(FormulaCore::CortexA53, &metric.name, formula, catalog);
    let Ok(linked) = linked else { return Vec::new() };
    let mut found: Vec<(NodeId, Kind, String)> = Vec::new();
    for A53DoubleCount { at, whole, part } in double_counts(&linked) {
        let (whole, part) = (whole.mnemonic(), part.mnemonic());
        let message = match whole == part {
            true => format!("{whole} is added to itself"),
            false => format!("{whole} counts all that {part} counts; add one of them"),
        };
        found.push((at, Kind::DoubleCount, message));
    }
    for (index, node) in linked.nodes().iter().enumerate() {
        let Op::Binary(BinaryOp::Divide | BinaryOp::Ratio, above, below) = node.op else {
            continue;
        };
        if let Some(message) = of_other_accesses(&linked, above, below) {
            found.push((NodeId(index as u32), Kind::Population, message));
        }
        if let Some(width) = width(&linked, below).filter(|width| *width != f64::from(A53_SLOTS))
            && is_of_slots(&linked, above)
        {
            let message = format!("{width} slots in a cycle; this core has {A53_SLOTS}");
            found.push((below, Kind::SlotWidth, message));
        }
    }
    let finding = |(at, kind, message): (NodeId, Kind, String)| Finding {
        metric: metric.name.clone(),
        source: metric.source.clone(),
        severity: Severity::Warning,
        kind,
        message: format!("{}: {message}", linked.place(at)),
    };
    found.into_iter().map(finding).collect()
}

/// Returns every pair of equally weighted terms of a sum that overlap.
pub fn double_counts(linked: &Linked) -> Vec<A53DoubleCount> {
    let is_sum = |id: NodeId| {
        matches!(linked.node(id).op, Op::Binary(BinaryOp::Add | BinaryOp::Subtract, ..))
    };
    let ids = || (0..linked.nodes().len()).map(|index| NodeId(index as u32));
    let mut is_inner = vec![false; linked.nodes().len()];
    for id in ids().filter(|id| is_sum(*id)) {
        linked.node(id).op.operands().for_each(|operand| is_inner[operand.index()] = true);
    }
    let outermost = ids().filter(|id| is_sum(*id) && !is_inner[id.index()]);
    outermost.flat_map(|at| overlaps(at, &terms(linked, at))).collect()
}

/// Returns the weighted events of a sum; terms of another form are skipped.
fn terms(linked: &Linked, sum: NodeId) -> Vec<(f64, A53Event)> {
    let (mut terms, mut open) = (Vec::new(), vec![(1.0, sum)]);
    let number = |id: NodeId| match linked.node(id).op {
        Op::Number(value) => Some(value),
        _ => None,
    };
    while let Some((weight, id)) = open.pop() {
        match linked.node(id).op {
            Op::Name(_) => terms.extend(event_at(linked, id).map(|event| (weight, event))),
            Op::Negate(a) => open.push((-weight, a)),
            Op::Binary(BinaryOp::Add, a, b) => open.extend([(weight, b), (weight, a)]),
            Op::Binary(BinaryOp::Subtract, a, b) => open.extend([(-weight, b), (weight, a)]),
            Op::Binary(BinaryOp::Multiply, a, b) => match (number(a), number(b)) {
                (Some(factor), _) => open.push((factor * weight, b)),
                (_, Some(factor)) => open.push((factor * weight, a)),
                _ => {}
            },
            _ => {}
        }
    }
    terms
}

fn overlaps(at: NodeId, terms: &[(f64, A53Event)]) -> Vec<A53DoubleCount> {
    let mut found = Vec::new();
    let is_within = |part, whole| part == whole || is_part(part, whole);
    // Where a part is subtracted again, the sum is indirect but correct.
    let is_taken_off =
        |whole| terms.iter().any(|(weight, event)| *weight < 0.0 && is_within(*event, whole));
    for (index, (weight, event)) in terms.iter().enumerate() {
        for (_, other) in terms[index + 1..].iter().filter(|(own, _)| own == weight) {
            let (whole, part) = match () {
                () if is_within(*other, *event) => (*event, *other),
                () if is_within(*event, *other) => (*other, *event),
                () => continue,
            };
            if !is_taken_off(whole) {
                found.push(A53DoubleCount { at, whole, part });
            }
        }
    }
    found
}

fn event_at(linked: &Linked, id: NodeId) -> Option<A53Event> {
    match linked.node(id).op {
        Op::Name(name) => linked.event(name).a53_event(),
        _ => None,
    }
}

/// Returns the fault of accesses divided by accesses of another kind.
fn of_other_accesses(linked: &Linked, above: NodeId, below: NodeId) -> Option<String> {
    let (above, below) = (event_at(linked, above)?, event_at(linked, below)?);
    let names = (above.mnemonic(), below.mnemonic());
    let (own, other): (Population, Population) = (of_a53(above), of_a53(below));
    if own.base != Base::Access || other.base != Base::Access {
        return None;
    }
    let sides = (own.side?, other.side?);
    Some(match (sides, (own.structure, other.structure)) {
        ((Side::Both, Side::Data), _) => {
            format!("{} counts fetches too and {} only data", names.0, names.1)
        }
        ((Side::Both, Side::Fetch), _) => {
            format!("{} counts data too and {} only fetches", names.0, names.1)
        }
        ((Side::Fetch, Side::Data) | (Side::Data, Side::Fetch), _) => {
            format!("one of {} and {} counts fetches and the other one data", names.0, names.1)
        }
        (_, (Structure::Tlb, Structure::Cache) | (Structure::Cache, Structure::Tlb)) => {
            format!("one of {} and {} belongs to a TLB, the other to a cache", names.0, names.1)
        }
        _ => return None,
    })
}

/// Returns the number that `CPU_CYCLES` is multiplied with.
fn width(linked: &Linked, id: NodeId) -> Option<f64> {
    let Op::Binary(BinaryOp::Multiply, a, b) = linked.node(id).op else { return None };
    let is_cycles = |id| event_at(linked, id) == Some(A53Event::CPU_CYCLES);
    match (linked.node(a).op, linked.node(b).op) {
        (Op::Number(width), _) if is_cycles(b) => Some(width),
        (_, Op::Number(width)) if is_cycles(a) => Some(width),
        _ => None,
    }
}

/// Returns whether an instruction of this count takes an issue slot.
fn is_of_slots(linked: &Linked, id: NodeId) -> bool {
    event_at(linked, id) == Some(A53Event::INST_RETIRED)
}

#[cfg(test)]
mod tests {
    use super::super::{Machine, lint};
    use super::*;

    fn kinds(text: &str, unit: &str) -> Vec<&'static str> {
        let mut metric = MetricFormula::new("m", text, "t");
        metric.scale.unit = unit.to_owned();
        let catalog = Catalog::default();
        let mut found = lint(&metric, &catalog, Some(&Machine::cortex_a53(1)));
        found.extend(lint_a53(&metric, &catalog));
        found.into_iter().map(|finding| finding.kind.name()).collect()
    }

    #[test]
    fn faults_are_found_without_a_run() {
        for (text, unit, kind) in [
            ("BUS_ACCESS + BUS_ACCESS_LD", "", "double-count"),
            ("(BR_PRED + BR_COND) / INST_RETIRED", "", "double-count"),
            ("LD_RETIRED + LD_RETIRED", "", "double-count"),
            ("L2D_CACHE_REFILL / L1D_CACHE", "", "population"),
            ("L1I_CACHE_REFILL / L1D_CACHE", "", "population"),
            ("L1D_TLB_REFILL / L1D_CACHE", "", "population"),
            ("INST_RETIRED / (5 * CPU_CYCLES)", "", "slot-width"),
            ("INST_RETIRED + CPU_CYCLES", "", "dimension"),
            ("L1D_CACHE_REFILL / CPU_CYCLES * 1000", "MPKI", "unit"),
            ("LD_DEP_STALL / CPU_CYCLES", "percent of cycles", "unit"),
            ("STALL_SLOT / CPU_CYCLES", "", "other-core"),
            ("LL_CACHE / CPU_CYCLES", "", "other-core"),
            ("L1D_LUCK / CPU_CYCLES", "", "unknown-event"),
            ("DECODE_DEP_STALL / CPU_CYCLES", "", "conditional"),
            (
                "IC_DEP_STALL + IUTLB_DEP_STALL + OTHER_IQ_DEP_STALL + AGU_DEP_STALL + SIMD_DEP_STALL \
                 + LD_DEP_STALL + ST_DEP_STALL",
                "",
                "counters",
            ),
        ] {
            assert_eq!(kinds(text, unit), [kind], "{text}");
        }
    }

    #[test]
    fn good_formulas_have_no_findings() {
        for (text, unit) in [
            ("INST_RETIRED / (2 * CPU_CYCLES)", ""),
            ("100 * INST_RETIRED / (#slots * CPU_CYCLES)", "percent of slots"),
            ("L1D_CACHE_REFILL / L1D_CACHE", ""),
            ("100 * LD_DEP_STALL / CPU_CYCLES", "percent of cycles"),
            ("BR_MIS_PRED / INST_RETIRED * 1000", "MPKI"),
            ("BUS_ACCESS_LD + BUS_ACCESS_ST", ""),
            ("BUS_ACCESS + BUS_ACCESS_LD - BUS_ACCESS", ""),
        ] {
            assert_eq!(kinds(text, unit), [""; 0], "{text}");
        }
    }
}
