//! Words of a formula with a mistake taken out: which node changes, and what stands there instead.

use sim_core::PmuEvent;

use crate::formula::{BinaryOp, Linked, NodeId, Op};

/// The places of an event.
pub(super) fn places(formula: &Linked, event: PmuEvent) -> impl Iterator<Item = NodeId> {
    let ids = (0..formula.nodes().len()).map(|index| NodeId(index as u32));
    ids.filter(move |id| match formula.node(*id).op {
        Op::Name(name) => formula.event(name).event() == Some(event),
        _ => false,
    })
}

/// The sum that an event is added in last, and the words of what is left without it.
pub(super) fn dropped(formula: &Linked, event: PmuEvent) -> Option<(NodeId, String)> {
    let is_event = |id: NodeId| match formula.node(id).op {
        Op::Name(name) => formula.event(name).event() == Some(event),
        _ => false,
    };
    let ids = (0..formula.nodes().len()).rev().map(|index| NodeId(index as u32));
    ids.into_iter().find_map(|id| match formula.node(id).op {
        Op::Binary(BinaryOp::Add, a, b) if is_event(b) => Some((id, in_brackets(formula, a))),
        Op::Binary(BinaryOp::Add, a, b) if is_event(a) => Some((id, in_brackets(formula, b))),
        _ => None,
    })
}

/// The words of a node as they can stand anywhere.
fn in_brackets(formula: &Linked, id: NodeId) -> String {
    let text = formula.text_of(id);
    match formula.node(id).op {
        Op::Binary(..) | Op::Choose { .. } if bare(text) == text => format!("({text})"),
        _ => text.to_owned(),
    }
}

/// The words without the brackets around all of them.
pub(super) fn bare(text: &str) -> &str {
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

/// Another number at a node. A factor or divisor of one goes away with its operator, and a factor
/// with the divisor that is its equal.
pub(super) fn number_edit(formula: &Linked, id: NodeId, number: f64) -> (NodeId, String) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_go_only_where_they_hold_everything() {
        assert_eq!(bare("(a + b) / (c)"), "(a + b) / (c)");
        assert_eq!(bare("((a + b) / c)"), "(a + b) / c");
        assert_eq!(bare("a"), "a");
    }
}
