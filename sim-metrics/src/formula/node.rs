//! The operations of a formula, stored children first: whoever walks the list forward has computed
//! every operand before it is needed, and nothing recurses however deep a formula is nested.

use super::machine::Literal;

/// A stretch of a formula's text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

impl Span {
    /// The stretch of `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// The column of its start in characters, from 1.
    pub fn column(self, text: &str) -> usize {
        let before = text.get(..self.start as usize).unwrap_or(text);
        before.chars().count() + 1
    }

    /// From the start of this one to the end of `last`.
    pub(super) fn to(self, last: Span) -> Span {
        Span { start: self.start, end: last.end }
    }
}

/// Position of a node in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operation with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a | b`: 1 if one of them is not 0.
    Or,
    /// `a ^ b`: 1 if exactly one of them is not 0.
    Xor,
    /// `a & b`: 1 if both are not 0.
    And,
    /// `a < b`
    Less,
    /// `a > b`
    Greater,
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a % b` of the whole parts.
    Remainder,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
    /// `d_ratio(a, b)`: a division that gives 0 where the divisor is 0.
    Ratio,
}

impl BinaryOp {
    /// How the operation is written.
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

/// What a node does. Names are numbers: positions in the list of names that the formula keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// A number; NaN where it is written so.
    Number(f64),
    /// An event or, before linking, another metric.
    Name(u32),
    /// `#slots` and the like.
    Literal(Literal),
    /// `strcmp_cpuid_str(MIDR)`: 1 on that core from that revision on.
    CoreFrom(u64),
    /// `has_event(NAME)`: 1 if the core has the event.
    HasEvent(u32),
    /// `source_count(NAME)`: how many units count the event.
    SourceCount(u32),
    /// `aggr_nr(NAME)`: how many CPUs a count was added up from.
    AggregateCount(u32),
    /// `-a`
    Negate(NodeId),
    /// An operation with two operands.
    Binary(BinaryOp, NodeId, NodeId),
    /// `value if condition else otherwise`
    Choose {
        /// The value where the condition is not 0.
        value: NodeId,
        /// The condition.
        condition: NodeId,
        /// The value where it is 0.
        otherwise: NodeId,
    },
}

impl Op {
    /// The operands, in the order in which they are written.
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

    /// The same operation with its operands moved.
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

/// One operation and where it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// Where it is written, in the text of its formula.
    pub span: Span,
    /// Which text, of those that a linked formula keeps; 0 in one that is not linked.
    pub text: u32,
}
