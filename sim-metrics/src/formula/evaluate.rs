//! The value of a linked formula, as current perf computes it, and why there is none.
//!
//! NaN stands for what is not known and spreads, except through a branch that is not taken, through
//! `min` and `max`, and through `|` and `&` where the other side decides. A division by zero is NaN;
//! a remainder by zero makes the whole metric fail.

use super::event_use::{EventUse, Quantity};
use super::link::Linked;
use super::machine::Machine;
use super::node::{BinaryOp, NodeId, Op};

/// A value with all that it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The value; NaN where there is none.
    pub value: f64,
    /// Why there is none.
    pub trouble: Option<Trouble>,
    /// The value of every node, in the order of [`Linked::nodes`].
    pub values: Vec<f64>,
}

/// Why a value is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The event at this node was not counted.
    NotCounted(NodeId),
    /// The name at this node is no event of the core.
    UnknownEvent(NodeId),
    /// The divisor of this node is 0.
    DivisionByZero(NodeId),
    /// The divisor of this remainder is 0.
    RemainderByZero(NodeId),
    /// NaN is written there.
    Written(NodeId),
    /// An operation on infinite values has no result.
    Undefined(NodeId),
}

impl Linked {
    /// Computes the value from counts; `count` gives those of an event, or a time in seconds.
    pub fn evaluate(
        &self,
        machine: &Machine,
        count: impl Fn(&EventUse) -> Option<f64>,
    ) -> Evaluation {
        let counts: Vec<Option<f64>> = self.events().iter().map(count).collect();
        let mut run = Run { values: Vec::new(), troubles: Vec::new() };
        for (index, node) in self.nodes().iter().enumerate() {
            let id = NodeId(index as u32);
            let (value, trouble) = self.step(id, &node.op, &run, machine, &counts);
            run.values.push(value);
            run.troubles.push(trouble.filter(|_| value.is_nan()));
        }
        let root = self.root().index();
        // As in perf a remainder by zero ends the evaluation, even in a branch that is not taken.
        let ends = |trouble: &&Trouble| matches!(trouble, Trouble::RemainderByZero(_));
        match run.troubles.iter().flatten().find(ends) {
            Some(trouble) => {
                Evaluation { value: f64::NAN, trouble: Some(*trouble), values: run.values }
            }
            None => Evaluation {
                value: run.values[root],
                trouble: run.troubles[root],
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
    ) -> (f64, Option<Trouble>) {
        let yes = |holds: bool| (f64::from(u8::from(holds)), None);
        match *op {
            Op::Number(value) => (value, Some(Trouble::Written(id))),
            Op::Literal(literal) => (machine.literal(literal), None),
            Op::CoreFrom(midr) => yes(machine.is_core_from(midr)),
            Op::HasEvent(name) => yes(is_known(self.event(name))),
            Op::SourceCount(name) if is_known(self.event(name)) => (1.0, None),
            Op::AggregateCount(name) if is_known(self.event(name)) => {
                (f64::from(machine.cores), None)
            }
            Op::SourceCount(_) | Op::AggregateCount(_) => {
                (f64::NAN, Some(Trouble::UnknownEvent(id)))
            }
            Op::Name(name) => match counts[name as usize] {
                Some(count) => (count, Some(Trouble::NotCounted(id))),
                None if is_known(self.event(name)) => (f64::NAN, Some(Trouble::NotCounted(id))),
                None => (f64::NAN, Some(Trouble::UnknownEvent(id))),
            },
            Op::Negate(a) => (-run.value(a), run.trouble(a)),
            Op::Binary(op, a, b) => {
                let value = binary(op, run.value(a), run.value(b));
                let own = match op {
                    BinaryOp::Divide if run.value(b) == 0.0 => Trouble::DivisionByZero(id),
                    BinaryOp::Remainder if run.value(b).trunc() == 0.0 => {
                        Trouble::RemainderByZero(id)
                    }
                    _ => Trouble::Undefined(id),
                };
                let inherited = match own {
                    Trouble::RemainderByZero(_) => None,
                    _ => run.trouble(a).or(run.trouble(b)),
                };
                (value, inherited.or(Some(own)))
            }
            Op::Choose { value, condition, otherwise } => {
                let chosen = if run.value(condition) == 0.0 { otherwise } else { value };
                (run.value(chosen), run.trouble(chosen))
            }
        }
    }

    /// A trouble as a sentence, with the place where it arose.
    pub fn explain(&self, trouble: Trouble) -> String {
        let at = |id: NodeId| format!("{}: {}", self.place(id), self.text_of(id));
        let divisor = |id: NodeId| match self.node(id).op {
            Op::Binary(_, _, divisor) => self.text_of(divisor),
            _ => "",
        };
        match trouble {
            Trouble::NotCounted(id) => format!("{} was not counted", at(id)),
            Trouble::UnknownEvent(id) => format!("{} is no event of this core", at(id)),
            Trouble::DivisionByZero(id) | Trouble::RemainderByZero(id) => {
                format!("{}: division by zero: the divisor {} is 0", self.place(id), divisor(id))
            }
            Trouble::Written(id) => format!("{} is written as no number", at(id)),
            Trouble::Undefined(id) => format!("{} has no result", at(id)),
        }
    }
}

struct Run {
    values: Vec<f64>,
    troubles: Vec<Option<Trouble>>,
}

impl Run {
    fn value(&self, id: NodeId) -> f64 {
        self.values[id.index()]
    }

    fn trouble(&self, id: NodeId) -> Option<Trouble> {
        self.troubles[id.index()]
    }
}

fn is_known(event: &EventUse) -> bool {
    matches!(event.quantity, Quantity::Event(_) | Quantity::Time(_))
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
        // The second one where either is NaN, as the comparisons of C have it.
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

/// A side that is not known leaves the other one, if that does not decide alone.
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

/// The remainder of the whole parts, with the sign of the first.
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
        (evaluation.value, evaluation.trouble.map(|trouble| linked.explain(trouble)))
    }

    #[test]
    fn a_value_has_no_trouble() {
        assert_eq!(evaluate("100 * INST_RETIRED / (CPU_CYCLES * #slots)"), (10.0, None));
        assert_eq!(evaluate("L1D_CACHE"), (0.0, None));
        assert_eq!(evaluate("3 if LD_SPEC else 4"), (3.0, None), "not known is not 0");
        assert_eq!(evaluate("min(LD_SPEC, 3) + aggr_nr(LD_SPEC)"), (5.0, None));
    }

    #[test]
    fn no_value_has_its_first_reason() {
        let why = |text: &str| {
            let (value, why) = evaluate(text);
            assert!(value.is_nan(), "{text} is {value}");
            why.expect("a reason")
        };
        let division = why("1 + INST_RETIRED / L1D_CACHE");
        assert_eq!(division, "column 5: division by zero: the divisor L1D_CACHE is 0");
        assert_eq!(why("LD_SPEC / 2"), "column 1: LD_SPEC was not counted");
        assert_eq!(why("1 / uops"), "column 5: uops is no event of this core");
        assert_eq!(why("1 if 1 else 5 % 0"), "column 13: division by zero: the divisor 0 is 0");
        assert_eq!(why("2 * NaN"), "column 5: NaN is written as no number");
        assert!(why("1e308 * 10 - 1e308 * 10").ends_with("has no result"));
        assert_eq!(
            why("source_count(uops)"),
            "column 1: source_count(uops) is no event of this core"
        );
    }
}
