//! Operations of a formula, stored with operands first. A forward pass over the list computes every
//! operand before its use, without recursion however deeply a formula is nested.

use super::machine::Literal;

/// Range of a formula's text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the range of `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Returns the column of the start in characters, from 1.
    pub fn column(self, text: &str) -> usize {
        let before = text.get(..self.start as usize).unwrap_or(text);
        before.chars().count() + 1
    }

    /// Returns the range from the start of this one to the end of `last`.
    pub(super) fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }
}

/// Position of a node in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Operation with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a | b`: 1 if at least one operand is not 0.
    Or,
    /// `a ^ b`: 1 if exactly one operand is not 0.
    Xor,
    /// `a & b`: 1 if both operands are not 0.
    And,
    /// `a < b`.
    Less,
    /// `a > b`.
    Greater,
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// `a % b` of the integer parts.
    Remainder,
    /// `min(a, b)`.
    Min,
    /// `max(a, b)`.
    Max,
    /// `d_ratio(a, b)`: a division whose result is 0 where the divisor is 0.
    Ratio,
}

impl BinaryOp {
    /// Returns the symbol of the operation.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::And => "&",
            BinaryOp::Less => "<",
            BinaryOp::Greater => ">",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::Ratio => "d_ratio",
        }
    }
}

/// Operation of a node. A name is a position in the formula's list of names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Number, possibly NaN.
    Number(f64),
    /// Event or, before linking, another metric.
    Name(u32),
    /// Literal such as `#slots`.
    Literal(Literal),
    /// `strcmp_cpuid_str(MIDR)`: 1 on that core, from that revision on.
    CoreFrom(u64),
    /// `has_event(NAME)`: 1 if the core has the event.
    HasEvent(u32),
    /// `source_count(NAME)`: the number of units that count the event.
    SourceCount(u32),
    /// `aggr_nr(NAME)`: the number of CPUs whose counts were added.
    AggregateCount(u32),
    /// `-a`.
    Negate(NodeId),
    /// Operation with two operands.
    Binary(BinaryOp, NodeId, NodeId),
    /// `value if condition else otherwise`.
    Choose {
        /// Value where the condition is not 0.
        value: NodeId,
        /// Condition.
        condition: NodeId,
        /// Value where the condition is 0.
        otherwise: NodeId,
    },
}

impl Op {
    /// Returns the operands, in source order.
    pub fn operands(&self) -> impl Iterator<Item = NodeId> {
        let list = match *self {
            Op::Negate(a) => [Some(a), None, None],
            Op::Binary(_, a, b) => [Some(a), Some(b), None],
            Op::Choose { value, condition, otherwise } => {
                [Some(value), Some(condition), Some(otherwise)]
            }
            _ => [None; 3],
        };
        list.into_iter().flatten()
    }

    /// Returns the same operation with its operands renumbered.
    pub(super) fn moved(self, node: impl Fn(NodeId) -> NodeId) -> Op {
        match self {
            Op::Negate(a) => Op::Negate(node(a)),
            Op::Binary(op, a, b) => Op::Binary(op, node(a), node(b)),
            Op::Choose { value, condition, otherwise } => Op::Choose {
                value: node(value),
                condition: node(condition),
                otherwise: node(otherwise),
            },
            leaf => leaf,
        }
    }
}

/// Operation with its position in the source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Operation.
    pub op: Op,
    /// Position in the source text.
    pub span: Span,
    /// Index of the source text in a linked formula; 0 in an unlinked one.
    pub text: u32,
}
