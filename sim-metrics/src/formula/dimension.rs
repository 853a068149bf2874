//! Dimension and scale of every operation of a formula, as far as its numbers determine them.
//!
//! 0, 1 and powers of ten are pure numbers. Any other number may carry a unit: `CPU_CYCLES * 5` is
//! a number of slots, `BR_MIS_PRED * 4` a number of cycles. A product with such a number has an
//! unknown dimension.

use super::event_use::{EventUse, Quantity};
use super::link::Linked;
use super::machine::Literal;
use super::node::{BinaryOp, NodeId, Op};
use super::population::Base;

/// Exponents of the bases, in the order of [`Base::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension([i8; Base::ALL.len()]);

impl Dimension {
    /// Returns the dimension of a count.
    pub fn of(base: Base) -> Dimension {
        let mut exponents = Dimension::default();
        exponents.0[base as usize] = 1;
        exponents
    }

    /// Returns whether this is the dimension of a pure number.
    pub fn is_none(self) -> bool {
        self == Dimension::default()
    }

    /// Returns the exponent of a base.
    pub fn exponent(self, base: Base) -> i8 {
        self.0[base as usize]
    }

    fn times(self, other: Dimension, sign: i8) -> Dimension {
        let mut product = self;
        for (own, other) in product.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(other.saturating_mul(sign));
        }
        product
    }
}

impl std::fmt::Display for Dimension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |sign: i8| {
            let bases = Base::ALL.into_iter().filter(|base| self.exponent(*base) * sign > 0);
            bases.map(Base::name).collect::<Vec<_>>().join(" times ")
        };
        match (list(1).as_str(), list(-1).as_str()) {
            ("", "") => f.write_str("a pure number"),
            (above, "") => f.write_str(above),
            ("", below) => write!(f, "1 per {below}"),
            (above, below) => write!(f, "{above} per {below}"),
        }
    }
}

/// Dimension and scale of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Dimension; `None` where a number may carry one.
    pub dimension: Option<Dimension>,
    /// Product of the contained powers of ten, such as 100 for percent; `None` where terms differ.
    pub scale: Option<f64>,
}

/// Operation that adds or compares two terms of different dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mismatch {
    /// Node of the operation.
    pub at: NodeId,
    /// Dimension of the left side.
    pub left: Dimension,
    /// Dimension of the right side.
    pub right: Dimension,
}

/// Returns the measures of all nodes, and the operations with mismatched sides.
pub fn measures(linked: &Linked) -> (Vec<Measure>, Vec<Mismatch>) {
    let mut all: Vec<Measure> = Vec::with_capacity(linked.nodes().len());
    let mut mismatches = Vec::new();
    // A slot of a Cortex-A53 issues an instruction.
    let slots = if linked.a53_events().is_empty() { Base::Slot } else { Base::Instruction };
    for (index, node) in linked.nodes().iter().enumerate() {
        let of = |id: NodeId| all[id.index()];
        let measure = match node.op {
            Op::Number(value) => number(value),
            Op::Name(name) => event(linked.event(name)),
            Op::Literal(Literal::Slots) => Measure {
                dimension: Some(Dimension::of(slots).times(Dimension::of(Base::Cycle), -1)),
                scale: Some(1.0),
            },
            Op::Negate(a) => of(a),
            Op::Binary(op, a, b) => {
                let at = NodeId(index as u32);
                if let (true, Some(left), Some(right)) =
                    (must_agree(op), of(a).dimension, of(b).dimension)
                    && left != right
                    && !is_zero(linked, a)
                    && !is_zero(linked, b)
                {
                    mismatches.push(Mismatch { at, left, right });
                }
                binary(op, of(a), of(b))
            }
            Op::Choose { value, otherwise, .. } => sum(of(value), of(otherwise)),
            _ => Measure { dimension: Some(Dimension::default()), scale: Some(1.0) },
        };
        all.push(measure);
    }
    (all, mismatches)
}

fn is_zero(linked: &Linked, id: NodeId) -> bool {
    matches!(linked.node(id).op, Op::Number(value) if value == 0.0)
}

fn number(value: f64) -> Measure {
    let exponent = value.abs().log10();
    let is_power = value > 0.0 && (exponent - exponent.round()).abs() < 1e-12;
    Measure {
        dimension: (is_power || value == 0.0).then(Dimension::default),
        scale: Some(if is_power { value } else { 1.0 }),
    }
}

fn event(event: &EventUse) -> Measure {
    let dimension = match event.quantity {
        Quantity::Time(_) => Some(Dimension::of(Base::Second)),
        _ => event.population().map(|(_, population)| Dimension::of(population.base)),
    };
    Measure { dimension, scale: Some(1.0) }
}

/// Returns whether both sides must have the same dimension.
fn must_agree(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Greater, Less, Max, Min, Subtract};
    matches!(op, Add | Subtract | Less | Greater | Min | Max)
}

fn binary(op: BinaryOp, a: Measure, b: Measure) -> Measure {
    let product = |sign: i8, scale: fn(f64, f64) -> f64| Measure {
        dimension: a.dimension.zip(b.dimension).map(|(a, b)| a.times(b, sign)),
        scale: a.scale.zip(b.scale).map(|(a, b)| scale(a, b)),
    };
    match op {
        BinaryOp::Multiply => product(1, |a, b| a * b),
        BinaryOp::Divide | BinaryOp::Ratio => product(-1, |a, b| a / b),
        BinaryOp::Remainder => a,
        op if must_agree(op) && !matches!(op, BinaryOp::Less | BinaryOp::Greater) => sum(a, b),
        _ => Measure { dimension: Some(Dimension::default()), scale: Some(1.0) },
    }
}

/// Returns the measure of the sum of two terms, or of either one.
fn sum(a: Measure, b: Measure) -> Measure {
    let dimension = a.dimension.filter(|dimension| b.dimension == Some(*dimension));
    let is_same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let scale = a.scale.zip(b.scale).filter(|(a, b)| is_same(*a, *b)).map(|(a, _)| a);
    Measure { dimension, scale }
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, Formula};
    use super::*;

    fn measure(text: &str) -> (String, Option<f64>, usize) {
        let formula = Formula::parse(text).expect("a formula");
        let linked = Linked::new(&formula, &Catalog::default()).expect("links");
        let (measures, mismatches) = measures(&linked);
        let root = measures[linked.root().index()];
        let dimension = root.dimension.map_or(String::from("?"), |dimension| dimension.to_string());
        (dimension, root.scale, mismatches.len())
    }

    #[test]
    fn dimensions_follow_the_operations() {
        let pure = || String::from("a pure number");
        assert_eq!(measure("100 * STALL_SLOT / (CPU_CYCLES * #slots)"), (pure(), Some(100.0), 0));
        assert_eq!(measure("INST_RETIRED / CPU_CYCLES").0, "instructions per cycles");
        assert_eq!(
            measure("L1D_CACHE_REFILL / INST_RETIRED * 1000"),
            ("accesses per instructions".to_owned(), Some(1000.0), 0)
        );
        assert_eq!(measure("CPU_CYCLES * 5").0, "?");
        assert_eq!(measure("1 - OP_RETIRED / OP_SPEC"), (pure(), Some(1.0), 0));
        assert_eq!(measure("max(0, STALL - STALL_BACKEND)").0, "?");
        assert_eq!(measure("1 / duration_time").0, "1 per seconds");
    }

    #[test]
    fn terms_of_different_dimensions_do_not_add() {
        for wrong in [
            "INST_RETIRED + CPU_CYCLES",
            "LD_SPEC - L1D_CACHE_RD",
            "min(STALL, STALL_SLOT)",
            "1 - INST_RETIRED / CPU_CYCLES",
            "STALL_SLOT > CPU_CYCLES",
        ] {
            assert_eq!(measure(wrong).2, 1, "{wrong}");
        }
        for right in [
            "LD_SPEC + ST_SPEC",
            "STALL_SLOT - CPU_CYCLES * 5",
            "0 + STALL",
            "OP_SPEC + STALL_SLOT",
            "1 - STALL_SLOT / (CPU_CYCLES * 5)",
            "uops + CPU_CYCLES",
        ] {
            assert_eq!(measure(right).2, 0, "{right}");
        }
    }
}
