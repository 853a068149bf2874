//! Data directives: sizes, places and bytes.

use crate::error::Fault;
use crate::labels::{Labels, pattern};
use crate::parse::{Operand, Placed, Statement, Value};
use crate::program::{CODE, DATA, LARGE_DATA, STACK};

/// Largest number of bytes that are given one by one, or filled with a value.
const GIVEN_BYTES: usize = 1 << 24;
/// Bytes of stack that data leave free.
const STACK_BYTES: u64 = 1 << 20;

/// A data directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// `.space N`: bytes of zeros, or of another value.
    Space { bytes: u64, fill: u8 },
    /// `.quad` and others: values of this many bytes.
    Values { bytes: u8 },
    /// `.double`, `.float`.
    Floats { bytes: u8 },
    /// The next address is a multiple of this.
    Align(u64),
}

/// Names of the directives for messages.
pub(crate) const NAMES: [&str; 17] = [
    ".data", ".text", ".space", ".zero", ".skip", ".quad", ".xword", ".word", ".long", ".hword",
    ".short", ".byte", ".double", ".float", ".align", ".balign", ".p2align",
];

/// Returns one example of a directive.
pub(crate) fn example(name: &str) -> Option<&'static str> {
    Some(match name {
        ".space" | ".zero" | ".skip" => "array: .space 4096",
        ".quad" | ".xword" => "array: .quad 1, 2, 3",
        ".word" | ".long" => "array: .word 1, 2, 3",
        ".hword" | ".short" => "array: .hword 1, 2, 3",
        ".byte" => "array: .byte 1, 2, 3",
        ".double" => "array: .double 1.5, 2.5",
        ".float" => "array: .float 1.5, 2.5",
        ".align" | ".p2align" => ".align 6",
        ".balign" => ".balign 64",
        _ => return None,
    })
}

/// Reads a data directive, or returns `None` for another name.
pub(crate) fn directive(statement: &Statement) -> Result<Option<Directive>, Fault> {
    let only = |high| number(statement, 0, high);
    Ok(Some(match statement.name.as_str() {
        ".space" | ".zero" | ".skip" => {
            let fill = if statement.operands.len() > 1 { number(statement, 1, 255)? } else { 0 };
            Directive::Space { bytes: only(STACK)?, fill: u8::try_from(fill).unwrap_or(0) }
        }
        ".quad" | ".xword" | ".8byte" => Directive::Values { bytes: 8 },
        ".word" | ".long" | ".int" | ".4byte" => Directive::Values { bytes: 4 },
        ".hword" | ".short" | ".2byte" => Directive::Values { bytes: 2 },
        ".byte" => Directive::Values { bytes: 1 },
        ".double" => Directive::Floats { bytes: 8 },
        ".float" | ".single" => Directive::Floats { bytes: 4 },
        ".align" | ".p2align" => Directive::Align(1 << only(16)?),
        ".balign" => {
            let bytes = only(1 << 16)?;
            if !bytes.is_power_of_two() {
                return Err(operand_fault(statement, 0, "the alignment must be a power of two"));
            }
            Directive::Align(bytes)
        }
        _ => return Ok(None),
    }))
}

fn operand_fault(statement: &Statement, index: usize, message: impl Into<String>) -> Fault {
    let column = statement.operands.get(index).map_or(statement.end, |placed| placed.column);
    Fault::new(column, message)
}

fn number(statement: &Statement, index: usize, high: u64) -> Result<u64, Fault> {
    let value = match statement.operands.get(index).map(|placed| &placed.operand) {
        Some(Operand::Value(Value::Number(value))) => u64::try_from(*value).ok(),
        _ => None,
    };
    value.filter(|value| *value <= high).ok_or_else(|| {
        let text = format!("{} needs a number from 0 to {high}", statement.name);
        operand_fault(statement, index, text)
    })
}

/// The place of the next data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    pub(crate) next: u64,
    given: usize,
}

impl Cursor {
    pub(crate) fn new() -> Cursor {
        Cursor { next: DATA, given: 0 }
    }

    /// Returns the address of a directive's data and moves past it.
    pub(crate) fn place(
        &mut self,
        directive: Directive,
        statement: &Statement,
    ) -> Result<u64, Fault> {
        let values = statement.operands.len();
        let (align, bytes, given) = match directive {
            Directive::Align(bytes) => (bytes.max(1), 0, 0),
            Directive::Space { bytes, fill: 0 } => (1, bytes, 0),
            Directive::Space { bytes, .. } => {
                (1, bytes, usize::try_from(bytes).unwrap_or(usize::MAX))
            }
            Directive::Values { bytes } | Directive::Floats { bytes } => {
                let all = values * usize::from(bytes);
                // Values are aligned to their size: a student need not.
                (u64::from(bytes), all as u64, all)
            }
        };
        if matches!(directive, Directive::Values { .. } | Directive::Floats { .. }) && values == 0 {
            return Err(operand_fault(statement, 0, "at least one value is missing"));
        }
        self.given = self.given.saturating_add(given);
        let mut start = self.next.next_multiple_of(align);
        if start < CODE && start + bytes > CODE {
            start = LARGE_DATA;
        }
        if self.given > GIVEN_BYTES || start + bytes > STACK - STACK_BYTES {
            let text = "the data are too large: at most 16 MiB with values and 1.7 GiB of zeros";
            return Err(Fault::new(statement.column, text));
        }
        self.next = start + bytes;
        Ok(start)
    }
}

/// Returns the bytes of a directive, without zeros that nothing stores.
pub(crate) fn bytes(
    directive: Directive,
    statement: &Statement,
    labels: &Labels,
) -> Result<Vec<u8>, Fault> {
    let all = &statement.operands;
    match directive {
        Directive::Align(_) | Directive::Space { fill: 0, .. } => Ok(Vec::new()),
        Directive::Space { bytes, fill } => {
            Ok(vec![fill; usize::try_from(bytes).unwrap_or_default()])
        }
        Directive::Values { bytes } => {
            let each = all.iter().map(|placed| integer(placed, bytes, labels));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Directive::Floats { bytes } => {
            let each = all.iter().map(|placed| float(placed, bytes));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
    }
}

fn integer(placed: &Placed, bytes: u8, labels: &Labels) -> Result<Vec<u8>, Fault> {
    let bits = match &placed.operand {
        Operand::Value(Value::Number(number)) => {
            pattern(*number, u32::from(bytes) * 8, placed.column)?
        }
        Operand::Value(value @ Value::Label { .. }) if bytes == 8 => {
            labels.bits(value, placed.column)?
        }
        _ => {
            let text = "an integer is expected here (an address only in .quad)";
            return Err(Fault::new(placed.column, text));
        }
    };
    Ok(bits.to_le_bytes()[..usize::from(bytes)].to_vec())
}

fn float(placed: &Placed, bytes: u8) -> Result<Vec<u8>, Fault> {
    let value = match &placed.operand {
        Operand::Value(Value::Float(value)) => *value,
        #[allow(clippy::cast_precision_loss, reason = "the nearest value is meant")]
        Operand::Value(Value::Number(value)) => *value as f64,
        _ => return Err(Fault::new(placed.column, "a number such as 1.5 is expected here")),
    };
    #[allow(clippy::cast_possible_truncation, reason = "the nearest value is meant")]
    let single = value as f32;
    Ok(if bytes == 8 { value.to_le_bytes().to_vec() } else { single.to_le_bytes().to_vec() })
}
