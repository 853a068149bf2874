//! Evaluation of a linked formula as current perf does it, with the reason for a missing value.
//!
//! NaN represents an unknown value and propagates, with three exceptions: a branch that is not
//! taken, `min` and `max`, and `|` and `&` where the other side decides. A division by zero is NaN;
//! a remainder by zero makes the whole metric fail.

use super::event_use::{EventUse, Quantity};
use super::link::Linked;
use super::machine::Machine;
use super::node::{BinaryOp, NodeId, Op};

/// Value with everything that it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Value; NaN if there is none.
    pub value: f64,
    /// Reason for a missing value.
    pub nan_reason: Option<NanReason>,
    /// Value of every node, in the order of [`Linked::nodes`].
    pub values: Vec<f64>,
}

/// Reason why a value is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NanReason {
    /// The event at this node was not counted.
    NotCounted(NodeId),
    /// The name at this node is not an event of the core.
    UnknownEvent(NodeId),
    /// The divisor of this node is 0.
    DivisionByZero(NodeId),
    /// The divisor of this remainder is 0.
    RemainderByZero(NodeId),
    /// The formula contains NaN at this node.
    Written(NodeId),
    /// An operation on infinite values has no result.
    Undefined(NodeId),
}

impl Linked {
    /// Computes the value from counts. `count` returns the count of an event, or a time in seconds.
    pub fn evaluate(
        &self,
        machine: &Machine,
        count: impl Fn(&EventUse) -> Option<f64>,
    ) -> Evaluation {
        self.evaluate_counts(machine, &self.events().iter().map(count).collect::<Vec<_>>())
    }

    /// Computes the value from counts in the order of [`Linked::events`].
    pub(crate) fn evaluate_counts(&self, machine: &Machine, counts: &[Option<f64>]) -> Evaluation {
        let mut run = Run { values: Vec::new(), reasons: Vec::new() };
        for (index, node) in self.nodes().iter().enumerate() {
            let id = NodeId(index as u32);
            let (value, reason) = self.step(id, &node.op, &run, machine, counts);
            run.values.push(value);
            run.reasons.push(reason.filter(|_| value.is_nan()));
        }
        let root = self.root().index();
        // As in perf, a remainder by zero ends the evaluation, even in a branch that is not taken.
        let ends = |reason: &&NanReason| matches!(reason, NanReason::RemainderByZero(_));
        match run.reasons.iter().flatten().find(ends) {
            Some(reason) => {
                Evaluation { value: f64::NAN, nan_reason: Some(*reason), values: run.values }
            }
            None => Evaluation {
                value: run.values[root],
                nan_reason: run.reasons[root],
                values: run.values,
            },
        }
    }

    fn step(
        &self,
        id: NodeId,
        op: &Op,
        run: &Run,
        machine: &Machine,
        counts: &[Option<f64>],
    ) -> (f64, Option<NanReason>) {
        let yes = |holds: bool| (f64::from(u8::from(holds)), None);
        match *op {
            Op::Number(value) => (value, Some(NanReason::Written(id))),
            Op::Literal(literal) => (machine.literal(literal), None),
            Op::CoreFrom(midr) => yes(machine.is_core_from(midr)),
            Op::HasEvent(name) => yes(is_known(self.event(name))),
            Op::SourceCount(name) if is_known(self.event(name)) => (1.0, None),
            Op::AggregateCount(name) if is_known(self.event(name)) => {
                (f64::from(machine.cores), None)
            }
            Op::SourceCount(_) | Op::AggregateCount(_) => {
                (f64::NAN, Some(NanReason::UnknownEvent(id)))
            }
            Op::Name(name) => match counts[name as usize] {
                Some(count) => (count, Some(NanReason::NotCounted(id))),
                None if is_known(self.event(name)) => (f64::NAN, Some(NanReason::NotCounted(id))),
                None => (f64::NAN, Some(NanReason::UnknownEvent(id))),
            },
            Op::Negate(a) => (-run.value(a), run.reason(a)),
            Op::Binary(op, a, b) => {
                let value = binary(op, run.value(a), run.value(b));
                let own = match op {
                    BinaryOp::Divide if run.value(b) == 0.0 => NanReason::DivisionByZero(id),
                    BinaryOp::Remainder if run.value(b).trunc() == 0.0 => {
                        NanReason::RemainderByZero(id)
                    }
                    _ => NanReason::Undefined(id),
                };
                let inherited = match own {
                    NanReason::RemainderByZero(_) => None,
                    _ => run.reason(a).or(run.reason(b)),
                };
                (value, inherited.or(Some(own)))
            }
            Op::Choose { value, condition, otherwise } => {
                let chosen = if run.value(condition) == 0.0 { otherwise } else { value };
                (run.value(chosen), run.reason(chosen))
            }
        }
    }

    /// Returns the reason for a missing value as a sentence, with its position.
    pub fn explain(&self, reason: NanReason) -> String {
        let at = |id: NodeId| format!("{}: {}", self.place(id), self.text_of(id));
        let divisor = |id: NodeId| match self.node(id).op {
            Op::Binary(_, _, divisor) => self.text_of(divisor),
            _ => "",
        };
        match reason {
            NanReason::NotCounted(id) => format!("{} was not counted", at(id)),
            NanReason::UnknownEvent(id) => format!("{} is not an event of this core", at(id)),
            NanReason::DivisionByZero(id) | NanReason::RemainderByZero(id) => {
                format!("{}: division by zero: the divisor {} is 0", self.place(id), divisor(id))
            }
            NanReason::Written(id) => format!("{} is not a number", at(id)),
            NanReason::Undefined(id) => format!("{} has no result", at(id)),
        }
    }
}

struct Run {
    values: Vec<f64>,
    reasons: Vec<Option<NanReason>>,
}

impl Run {
    fn value(&self, id: NodeId) -> f64 {
        self.values[id.index()]
    }

    fn reason(&self, id: NodeId) -> Option<NanReason> {
        self.reasons[id.index()]
    }
}

fn is_known(event: &EventUse) -> bool {
    event.is_of_core() || matches!(event.quantity, Quantity::Time(_) | Quantity::Mesh)
}

fn binary(op: BinaryOp, a: f64, b: f64) -> f64 {
    let yes = |holds: bool| f64::from(u8::from(holds));
    match op {
        BinaryOp::Or => or(a, b),
        BinaryOp::And => and(a, b),
        BinaryOp::Xor if a.is_finite() && b.is_finite() => yes((a == 0.0) != (b == 0.0)),
        BinaryOp::Less if !a.is_nan() && !b.is_nan() => yes(a < b),
        BinaryOp::Greater if !a.is_nan() && !b.is_nan() => yes(a > b),
        BinaryOp::Xor | BinaryOp::Less | BinaryOp::Greater => f64::NAN,
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide if b == 0.0 => f64::NAN,
        BinaryOp::Divide => a / b,
        BinaryOp::Remainder => remainder(a, b),
        // Returns the second operand where either is NaN, as comparisons in C do.
        BinaryOp::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        BinaryOp::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        BinaryOp::Ratio if b == 0.0 => 0.0,
        BinaryOp::Ratio => a / b,
    }
}

/// Returns the other side if one side is unknown and the known side does not decide alone.
fn or(a: f64, b: f64) -> f64 {
    match (a.is_finite(), b.is_finite()) {
        (true, true) => f64::from(u8::from(a != 0.0 || b != 0.0)),
        (true, false) => {
            if a == 0.0 {
                b
            } else {
                1.0
            }
        }
        (false, true) => {
            if b == 0.0 {
                a
            } else {
                1.0
            }
        }
        (false, false) => f64::NAN,
    }
}

fn and(a: f64, b: f64) -> f64 {
    match (a.is_finite(), b.is_finite()) {
        (true, true) => f64::from(u8::from(a != 0.0 && b != 0.0)),
        (true, false) => {
            if a != 0.0 {
                b
            } else {
                0.0
            }
        }
        (false, true) => {
            if b != 0.0 {
                a
            } else {
                0.0
            }
        }
        (false, false) => f64::NAN,
    }
}

/// Returns the remainder of the integer parts, with the sign of the first operand.
fn remainder(a: f64, b: f64) -> f64 {
    if !a.is_finite() || !b.is_finite() || b.trunc() == 0.0 {
        return f64::NAN;
    }
    a.trunc() % b.trunc()
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, Formula};
    use super::*;
    use sim_core::PmuEvent;

    fn evaluate(text: &str) -> (f64, Option<String>) {
        let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let linked = Linked::new(&formula, &Catalog::default()).expect("links");
        let count = |event: &EventUse| match event.event()? {
            PmuEvent::INST_RETIRED => Some(8.0),
            PmuEvent::CPU_CYCLES => Some(16.0),
            PmuEvent::L1D_CACHE => Some(0.0),
            _ => None,
        };
        let evaluation = linked.evaluate(&Machine::neoverse_n2(0, 2), count);
        (evaluation.value, evaluation.nan_reason.map(|reason| linked.explain(reason)))
    }

    #[test]
    fn a_value_has_no_reason() {
        assert_eq!(evaluate("100 * INST_RETIRED / (CPU_CYCLES * #slots)"), (10.0, None));
        assert_eq!(evaluate("L1D_CACHE"), (0.0, None));
        assert_eq!(evaluate("3 if LD_SPEC else 4"), (3.0, None), "unknown is not 0");
        assert_eq!(evaluate("min(LD_SPEC, 3) + aggr_nr(LD_SPEC)"), (5.0, None));
    }

    #[test]
    fn a_missing_value_has_its_first_reason() {
        let why = |text: &str| {
            let (value, why) = evaluate(text);
            assert!(value.is_nan(), "{text} is {value}");
            why.expect("a reason")
        };
        let division = why("1 + INST_RETIRED / L1D_CACHE");
        assert_eq!(division, "column 5: division by zero: the divisor L1D_CACHE is 0");
        assert_eq!(why("LD_SPEC / 2"), "column 1: LD_SPEC was not counted");
        assert_eq!(why("1 / uops"), "column 5: uops is not an event of this core");
        assert_eq!(why("1 if 1 else 5 % 0"), "column 13: division by zero: the divisor 0 is 0");
        assert_eq!(why("2 * NaN"), "column 5: NaN is not a number");
        assert!(why("1e308 * 10 - 1e308 * 10").ends_with("has no result"));
        assert_eq!(
            why("source_count(uops)"),
            "column 1: source_count(uops) is not an event of this core"
        );
    }
}
