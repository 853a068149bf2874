//! Text edits that remove a mistake from a formula: the node to change, and its replacement.

use sim_core::PmuEvent;

use super::fraction::Fraction;
use crate::formula::{BinaryOp, Catalog, EventUse, Formula, Linked, NodeId, Op};

/// Returns the nodes of an event.
pub(super) fn places(formula: &Linked, event: PmuEvent) -> impl Iterator<Item = NodeId> {
    places_of(formula, move |name| name.event() == Some(event))
}

/// Returns the nodes of the names for which `is_it` holds.
pub(super) fn places_of(
    formula: &Linked,
    is_it: impl Fn(&EventUse) -> bool,
) -> impl Iterator<Item = NodeId> {
    let ids = (0..formula.nodes().len()).map(|index| NodeId(index as u32));
    ids.filter(move |id| match formula.node(*id).op {
        Op::Name(name) => is_it(formula.event(name)),
        _ => false,
    })
}

/// Returns the last sum that an event is added in, and the text that remains without it.
pub(super) fn dropped(formula: &Linked, event: PmuEvent) -> Option<(NodeId, String)> {
    let is_event = |id: NodeId| match formula.node(id).op {
        Op::Name(name) => formula.event(name).event() == Some(event),
        _ => false,
    };
    let ids = (0..formula.nodes().len()).rev().map(|index| NodeId(index as u32));
    ids.into_iter().find_map(|id| match formula.node(id).op {
        Op::Binary(BinaryOp::Add, a, b) if is_event(b) => Some((id, parenthesized(formula, a))),
        Op::Binary(BinaryOp::Add, a, b) if is_event(a) => Some((id, parenthesized(formula, b))),
        _ => None,
    })
}

/// Returns the text of a node, in parentheses where needed.
fn parenthesized(formula: &Linked, id: NodeId) -> String {
    let text = formula.text_of(id);
    match formula.node(id).op {
        Op::Binary(..) | Op::Choose { .. } if without_parentheses(text) == text => {
            format!("({text})")
        }
        _ => text.to_owned(),
    }
}

/// Returns the text without the parentheses around all of it.
pub(super) fn without_parentheses(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return text;
    };
    let mut depth = 0;
    let closes_early = inner.chars().any(|sign| {
        depth += i32::from(sign == '(') - i32::from(sign == ')');
        depth < 0
    });
    if closes_early { text } else { inner }
}

/// Returns the edit that changes a number at a node. A factor or divisor that becomes 1 is removed
/// with its operator, and a factor is removed with an equal divisor.
pub(super) fn number_edit(formula: &Linked, id: NodeId, number: f64) -> (NodeId, String) {
    let number = Fraction::of(number).map_or(number, Fraction::value);
    let is_equal = |id: NodeId| matches!(formula.node(id).op, Op::Number(n) if n == number);
    let factor_at = |at: NodeId| match formula.node(at).op {
        Op::Binary(BinaryOp::Multiply, a, b) if a == id => Some((at, b)),
        Op::Binary(BinaryOp::Multiply, a, b) if b == id => Some((at, a)),
        _ => None,
    };
    let nodes = || (0..formula.nodes().len()).map(|index| NodeId(index as u32));
    let factor = nodes().find_map(factor_at);
    let undone = nodes().find_map(|at| match (formula.node(at).op, factor) {
        (Op::Binary(BinaryOp::Divide, a, b), _) if b == id && number == 1.0 => Some((at, a)),
        (Op::Binary(BinaryOp::Divide, a, b), Some((product, kept)))
            if a == product && is_equal(b) =>
        {
            Some((at, kept))
        }
        _ => None,
    });
    match undone.or(factor.filter(|_| number == 1.0)) {
        Some((at, kept)) => (at, formula.text_of(kept).to_owned()),
        None => (id, number.to_string()),
    }
}

/// Returns a formula without numbers that cancel each other: an equal factor and divisor are
/// removed. Meaningful numbers, such as a percentage of slots, are not multiplied out.
pub(super) fn simplified(text: &str) -> String {
    let linked = || Linked::new(&Formula::parse(text).ok()?, &Catalog::default()).ok();
    let simpler = linked().and_then(|formula| Product::of(&formula).text(&formula));
    simpler.unwrap_or_else(|| text.to_owned())
}

/// Formula as a product of numbers and other factors, divided by another such product.
struct Product {
    above: Vec<NodeId>,
    below: Vec<NodeId>,
    numbers: Vec<f64>,
    number: f64,
}

impl Product {
    fn of(formula: &Linked) -> Product {
        let mut product = Product { above: vec![], below: vec![], numbers: vec![], number: 1.0 };
        let mut open = vec![(formula.root(), true)];
        while let Some((id, is_above)) = open.pop() {
            match formula.node(id).op {
                Op::Binary(BinaryOp::Multiply, a, b) => {
                    open.extend([(b, is_above), (a, is_above)]);
                }
                Op::Binary(BinaryOp::Divide, a, b) => open.extend([(b, !is_above), (a, is_above)]),
                Op::Number(number) => {
                    product.numbers.extend((number != 1.0).then_some(number));
                    product.number *= if is_above { number } else { 1.0 / number };
                }
                _ if is_above => product.above.push(id),
                _ => product.below.push(id),
            }
        }
        product
    }

    /// Returns the text, or `None` if no number is removed.
    fn text(&self, formula: &Linked) -> Option<String> {
        let Fraction { part, whole } = Fraction::of(self.number)?;
        let kept: Vec<f64> =
            [part, whole].iter().filter(|n| **n != 1).map(|n| f64::from(*n)).collect();
        let is_less = kept.len() < self.numbers.len();
        let is_known = kept.iter().all(|number| self.numbers.contains(number));
        let words = |number: u32, factors: &[NodeId]| {
            let number = (number != 1).then(|| number.to_string());
            let factors = factors.iter().map(|id| parenthesized(formula, *id));
            number.into_iter().chain(factors).collect::<Vec<_>>()
        };
        let (above, below) = (words(part, &self.above), words(whole, &self.below));
        let above = if above.is_empty() { String::from("1") } else { above.join(" * ") };
        (is_less && is_known).then(|| match below.as_slice() {
            [] => above,
            [one] => format!("{above} / {one}"),
            many => format!("{above} / ({})", many.join(" * ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_cancel_are_removed() {
        for (text, simpler) in [
            ("INST_RETIRED*5/(5*CPU_CYCLES)", "INST_RETIRED / CPU_CYCLES"),
            ("STALL_SLOT_BACKEND*5/5", "STALL_SLOT_BACKEND"),
            ("BR_MIS_PRED_RETIRED*2/(2*BR_RETIRED)", "BR_MIS_PRED_RETIRED / BR_RETIRED"),
            ("2 * (LD_SPEC + ST_SPEC) / (2 * INST_SPEC)", "(LD_SPEC + ST_SPEC) / INST_SPEC"),
            ("OP_RETIRED / (5 * CPU_CYCLES)", "OP_RETIRED / (5 * CPU_CYCLES)"),
            ("STALL_SLOT_BACKEND / CPU_CYCLES / 5", "STALL_SLOT_BACKEND / CPU_CYCLES / 5"),
            ("OP_RETIRED / CPU_CYCLES * 100 / 5", "OP_RETIRED / CPU_CYCLES * 100 / 5"),
            ("1 / (L1D_TLB / DTLB_WALK)", "1 / (L1D_TLB / DTLB_WALK)"),
            ("1 - 2 * OP_RETIRED / (2 * OP_SPEC)", "1 - 2 * OP_RETIRED / (2 * OP_SPEC)"),
        ] {
            assert_eq!(simplified(text), simpler);
        }
    }

    #[test]
    fn only_outer_parentheses_are_removed() {
        assert_eq!(without_parentheses("(a + b) / (c)"), "(a + b) / (c)");
        assert_eq!(without_parentheses("((a + b) / c)"), "(a + b) / c");
        assert_eq!(without_parentheses("a"), "a");
    }

    fn linked(text: &str) -> Linked {
        let formula = Formula::parse(text).expect("a formula");
        Linked::new(&formula, &Catalog::default()).expect("links")
    }

    #[test]
    fn a_dropped_event_leaves_the_rest_of_its_sum() {
        use PmuEvent::{DP_SPEC, LD_SPEC, ST_SPEC};
        let left = |text: &str, event| {
            let formula = linked(text);
            dropped(&formula, event).and_then(|edit| formula.rewritten(&[edit]))
        };
        assert_eq!(left("LD_SPEC + ST_SPEC", LD_SPEC).as_deref(), Some("ST_SPEC"));
        assert_eq!(left("LD_SPEC + ST_SPEC", ST_SPEC).as_deref(), Some("LD_SPEC"));
        let three = "2 * (LD_SPEC + ST_SPEC + DP_SPEC)";
        assert_eq!(left(three, DP_SPEC).as_deref(), Some("2 * (LD_SPEC + ST_SPEC)"));
        assert_eq!(left("LD_SPEC - ST_SPEC", ST_SPEC), None);
        assert_eq!(left("LD_SPEC + ST_SPEC", DP_SPEC), None);
    }

    #[test]
    fn all_nodes_of_an_event_are_found() {
        let formula = linked("LD_SPEC / (LD_SPEC + ST_SPEC)");
        assert_eq!(places(&formula, PmuEvent::LD_SPEC).count(), 2);
        assert_eq!(places(&formula, PmuEvent::ST_SPEC).count(), 1);
        assert_eq!(places(&formula, PmuEvent::DP_SPEC).count(), 0);
    }

    /// A number is removed with its operator only if it has become meaningless.
    #[test]
    fn a_number_is_changed_at_its_node() {
        let changed = |text: &str, from: f64, to: f64| {
            let formula = linked(text);
            let mut ids = (0..formula.nodes().len()).map(|index| NodeId(index as u32));
            let is_it = |id: &NodeId| matches!(formula.node(*id).op, Op::Number(n) if n == from);
            let id = ids.find(is_it).expect("the number exists");
            formula.rewritten(&[number_edit(&formula, id, to)]).expect("words")
        };
        for (text, from, to, right) in [
            ("LD_SPEC / 2", 2.0, 1.0, "LD_SPEC"),
            ("LD_SPEC / 2", 2.0, 4.0, "LD_SPEC / 4"),
            ("3 * LD_SPEC", 3.0, 1.0, "LD_SPEC"),
            ("3 * LD_SPEC", 3.0, 2.0, "2 * LD_SPEC"),
            ("3 * LD_SPEC / 5", 3.0, 5.0, "LD_SPEC"),
            ("3 * LD_SPEC / 5", 3.0, 4.0, "4 * LD_SPEC / 5"),
            ("3 * LD_SPEC + ST_SPEC / 5", 3.0, 5.0, "5 * LD_SPEC + ST_SPEC / 5"),
            ("LD_SPEC * ST_SPEC + 3", 3.0, 1.0, "LD_SPEC * ST_SPEC + 1"),
        ] {
            assert_eq!(changed(text, from, to), right, "{text}: {from} becomes {to}");
        }
    }

    #[test]
    fn remaining_numbers_keep_their_side() {
        assert_eq!(simplified("2 * 5 * LD_SPEC / (2 * DP_SPEC)"), "5 * LD_SPEC / DP_SPEC");
        assert_eq!(simplified("5 / (5 * CPU_CYCLES)"), "1 / CPU_CYCLES");
    }
}
