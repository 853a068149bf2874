//! Operands of one instruction or directive.

use sim_isa::encode::{Extend, ShiftKind};

use super::register::{General, register};
use super::token::{PlacedToken, Token};
use crate::error::Fault;

/// A number, or an address by its label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(i128),
    Float(f64),
    Label { name: String, plus: i64 },
}

/// A change of the last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Modifier {
    Shift(ShiftKind, i64),
    /// The distance is `None` if it was not written.
    Extend(Extend, Option<i64>),
}

/// The part of an address after its base.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Index {
    None,
    Offset(Value),
    /// The low twelve bits of a label's address.
    Low(String),
    Register(General, Option<Modifier>),
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    General(General),
    /// A scalar floating-point register of 1 to 16 bytes.
    Scalar {
        bytes: u8,
        number: u8,
    },
    /// A vector register with elements of 1 to 8 bytes.
    Vector {
        element: u8,
        number: u8,
    },
    /// A number or a name: a label, a condition, the operation of a barrier or prefetch.
    Value(Value),
    /// `=value` of `LDR`.
    Literal(Value),
    /// `:lo12:label`.
    Low(String),
    Modifier(Modifier),
    /// An address in brackets; `is_pre` if `!` follows.
    Address {
        base: General,
        index: Index,
        is_pre: bool,
    },
}

/// An operand and its first column, from 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) operand: Operand,
    pub(crate) column: u32,
}

/// Tokens of a line with the place of the next one.
pub(super) struct Tokens<'a> {
    pub(super) all: &'a [PlacedToken],
    pub(super) next: usize,
    /// Column after the last token.
    pub(super) end: u32,
}

impl Tokens<'_> {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.all.get(self.next).map(|(token, _)| token)
    }

    pub(super) fn column(&self) -> u32 {
        self.all.get(self.next).map_or(self.end, |(_, column)| *column)
    }

    pub(super) fn takes(&mut self, sign: char) -> bool {
        let is_there = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: char, place: &str) -> Result<(), Fault> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(Fault::new(self.column(), format!("{sign} is missing {place}")))
    }

    fn word(&mut self) -> Option<String> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        let word = word.clone();
        self.next += 1;
        Some(word)
    }
}

/// Reads all operands up to the end of the line.
pub(super) fn operands(tokens: &mut Tokens<'_>) -> Result<Vec<Placed>, Fault> {
    let mut all = Vec::new();
    if tokens.peek().is_none() {
        return Ok(all);
    }
    loop {
        let column = tokens.column();
        all.push(Placed { operand: operand(tokens)?, column });
        if tokens.peek().is_none() {
            return Ok(all);
        }
        tokens.expect(',', "between two operands")?;
    }
}

fn operand(tokens: &mut Tokens<'_>) -> Result<Operand, Fault> {
    if tokens.takes('[') {
        return address(tokens);
    }
    if tokens.takes('=') {
        return value(tokens).map(Operand::Literal);
    }
    if tokens.takes(':') {
        return low(tokens).map(Operand::Low);
    }
    if let Some(Token::Word(name)) = tokens.peek() {
        if let Some(register) = register(name) {
            tokens.next += 1;
            return Ok(register);
        }
        if let Some(modifier) = modifier(tokens)? {
            return Ok(Operand::Modifier(modifier));
        }
    }
    value(tokens).map(Operand::Value)
}

/// Reads a number with its sign, or a label with an offset.
fn value(tokens: &mut Tokens<'_>) -> Result<Value, Fault> {
    let is_negative = tokens.takes('-');
    let column = tokens.column();
    let value = match tokens.peek() {
        Some(Token::Integer(value)) => Value::Number(if is_negative { -value } else { *value }),
        Some(Token::Float(value)) => Value::Float(if is_negative { -value } else { *value }),
        Some(Token::Word(name)) if !is_negative => Value::Label { name: name.clone(), plus: 0 },
        Some(Token::Sign(sign)) => {
            return Err(Fault::new(column, format!("{sign} does not begin an operand")));
        }
        _ => return Err(Fault::new(column, "an operand is missing")),
    };
    tokens.next += 1;
    match value {
        Value::Label { name, .. } => Ok(Value::Label { name, plus: label_offset(tokens)? }),
        value => Ok(value),
    }
}

/// Reads the `+ 8` or `- 8` after a label.
fn label_offset(tokens: &mut Tokens<'_>) -> Result<i64, Fault> {
    let is_negative = tokens.peek() == Some(&Token::Sign('-'));
    if !is_negative && tokens.peek() != Some(&Token::Sign('+')) {
        return Ok(0);
    }
    tokens.next += 1;
    let column = tokens.column();
    let Some(Token::Integer(value)) = tokens.peek() else {
        return Err(Fault::new(column, "a number of bytes is missing after the label"));
    };
    let value = i64::try_from(*value).map_err(|_| Fault::new(column, "the number is too large"))?;
    tokens.next += 1;
    Ok(if is_negative { -value } else { value })
}

/// Reads the rest of `:lo12:label`.
fn low(tokens: &mut Tokens<'_>) -> Result<String, Fault> {
    let column = tokens.column();
    let kind = tokens.word().unwrap_or_default();
    if kind != "lo12" || !tokens.takes(':') {
        return Err(Fault::new(column, "only :lo12:label is known after a colon"));
    }
    let column = tokens.column();
    tokens.word().ok_or_else(|| Fault::new(column, "a label is missing after :lo12:"))
}

/// Reads `lsl #3`, `uxtw` or `sxtw #2`, if one is next.
fn modifier(tokens: &mut Tokens<'_>) -> Result<Option<Modifier>, Fault> {
    let Some(Token::Word(word)) = tokens.peek() else { return Ok(None) };
    let name = word.to_ascii_lowercase();
    let shift = match name.as_str() {
        "lsl" => Some(ShiftKind::Lsl),
        "lsr" => Some(ShiftKind::Lsr),
        "asr" => Some(ShiftKind::Asr),
        "ror" => Some(ShiftKind::Ror),
        _ => None,
    };
    let extend = match name.as_str() {
        "uxtb" => Extend::Uxtb,
        "uxth" => Extend::Uxth,
        "uxtw" => Extend::Uxtw,
        "uxtx" => Extend::Uxtx,
        "sxtb" => Extend::Sxtb,
        "sxth" => Extend::Sxth,
        "sxtw" => Extend::Sxtw,
        "sxtx" => Extend::Sxtx,
        _ if shift.is_none() => return Ok(None),
        _ => Extend::Uxtx,
    };
    tokens.next += 1;
    let column = tokens.column();
    let amount = match tokens.peek() {
        Some(Token::Integer(value)) => Some(i64::try_from(*value).unwrap_or(i64::MAX)),
        _ => None,
    };
    tokens.next += usize::from(amount.is_some());
    match (shift, amount) {
        (Some(kind), Some(amount)) => Ok(Some(Modifier::Shift(kind, amount))),
        (Some(_), None) => {
            Err(Fault::new(column, format!("{name} needs a number of bits, as in {name} #3")))
        }
        (None, amount) => Ok(Some(Modifier::Extend(extend, amount))),
    }
}

/// Reads an address after its `[`.
fn address(tokens: &mut Tokens<'_>) -> Result<Operand, Fault> {
    let column = tokens.column();
    let base = match tokens.word().and_then(|name| register(&name)) {
        Some(Operand::General(base)) => base,
        _ => return Err(Fault::new(column, "an address begins with a base register, as in [x0]")),
    };
    let mut index = Index::None;
    if tokens.takes(',') {
        // Brackets in brackets end here: an operand reads itself again no deeper than once.
        let is_nested = tokens.peek() == Some(&Token::Sign('['));
        index = match if is_nested { value(tokens).map(Operand::Value)? } else { operand(tokens)? }
        {
            Operand::Value(value) => Index::Offset(value),
            Operand::Low(label) => Index::Low(label),
            Operand::General(register) => {
                let modifier = if tokens.takes(',') {
                    let column = tokens.column();
                    let missing = "lsl, uxtw, sxtw or sxtx is missing after the comma";
                    Some(modifier(tokens)?.ok_or_else(|| Fault::new(column, missing))?)
                } else {
                    None
                };
                Index::Register(register, modifier)
            }
            _ => {
                let text = "an address has a number of bytes or an x register after its base";
                return Err(Fault::new(column, text));
            }
        };
    }
    tokens.expect(']', "at the end of the address")?;
    let is_pre = tokens.takes('!');
    Ok(Operand::Address { base, index, is_pre })
}
