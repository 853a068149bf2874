//! The operands of one instruction, taken from left to right.

use sim_isa::encode::{Condition, Extend, ShiftKind, Width};

use crate::error::Fault;
use crate::labels::{Labels, pattern};
use crate::parse::{General, Index, Modifier, Operand, Placed, Statement, Value};

/// A register operand that may be 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thirty1 {
    /// It is the zero register.
    Zero,
    /// It is SP.
    Sp,
}

/// Operands with the place of the next one.
pub(crate) struct Args<'a> {
    statement: &'a Statement,
    labels: &'a Labels,
    /// Address of the instruction.
    pc: u64,
    next: usize,
}

impl<'a> Args<'a> {
    pub(crate) fn new(statement: &'a Statement, labels: &'a Labels, pc: u64) -> Args<'a> {
        Args { statement, labels, pc, next: 0 }
    }

    /// The mnemonic.
    pub(super) fn name(&self) -> &str {
        &self.statement.name
    }

    pub(super) fn peek(&self) -> Option<&'a Operand> {
        self.statement.operands.get(self.next).map(|placed| &placed.operand)
    }

    /// The operand after the next one.
    pub(super) fn second(&self) -> Option<&'a Operand> {
        self.statement.operands.get(self.next + 1).map(|placed| &placed.operand)
    }

    /// Returns true if the third operand is a general register.
    pub(super) fn has_third_register(&self) -> bool {
        let third = self.statement.operands.get(self.next + 2);
        matches!(third, Some(Placed { operand: Operand::General(_), .. }))
    }

    pub(super) fn is_last(&self) -> bool {
        self.peek().is_none()
    }

    fn column(&self) -> u32 {
        let next = self.statement.operands.get(self.next);
        next.map_or(self.statement.end, |placed| placed.column)
    }

    /// A fault at the next operand.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.column(), message)
    }

    /// A fault at the operand before.
    pub(super) fn fault_before(&self, message: impl Into<String>) -> Fault {
        let before = self.next.checked_sub(1).and_then(|at| self.statement.operands.get(at));
        Fault::new(before.map_or(self.statement.column, |placed| placed.column), message)
    }

    fn missing(&self, what: &str) -> Fault {
        let verb = if self.is_last() { "is missing" } else { "is expected here" };
        self.fault(format!("{what} {verb}"))
    }

    /// Fails if operands are left.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        if self.is_last() {
            return Ok(());
        }
        Err(self.fault(format!("{} has fewer operands", self.name())))
    }

    /// Takes a general register; 31 must have the meaning `allowed`.
    pub(super) fn general(&mut self, allowed: Thirty1) -> Result<General, Fault> {
        let Some(Operand::General(register)) = self.peek() else {
            return Err(self.missing("a register x0 to x30 or w0 to w30"));
        };
        match allowed {
            Thirty1::Zero if register.is_sp => Err(self.fault("sp is not possible here")),
            Thirty1::Sp if register.is_zero() => Err(self.fault("xzr is not possible here")),
            _ => {
                self.next += 1;
                Ok(*register)
            }
        }
    }

    /// Takes a general register of the same width as others before.
    pub(super) fn same(&mut self, width: Width, allowed: Thirty1) -> Result<u8, Fault> {
        let register = self.general(allowed)?;
        if register.width != width {
            let letter = if width == Width::X { 'x' } else { 'w' };
            return Err(self.fault_before(format!("{letter} registers are expected here")));
        }
        Ok(register.number)
    }

    /// Takes an X register.
    pub(super) fn x(&mut self) -> Result<u8, Fault> {
        self.same(Width::X, Thirty1::Zero)
    }

    /// Takes a W register.
    pub(super) fn w(&mut self) -> Result<u8, Fault> {
        self.same(Width::W, Thirty1::Zero)
    }

    /// Takes `count` general registers of one width.
    pub(super) fn generals<const COUNT: usize>(&mut self) -> Result<(Width, [u8; COUNT]), Fault> {
        let mut numbers = [0; COUNT];
        let mut width = None;
        for number in &mut numbers {
            let register = match width {
                None => self.general(Thirty1::Zero)?,
                Some(width) => {
                    let number = self.same(width, Thirty1::Zero)?;
                    General { width, number, is_sp: false }
                }
            };
            width = Some(register.width);
            *number = register.number;
        }
        Ok((width.unwrap_or(Width::X), numbers))
    }

    /// Takes a scalar floating-point register: its bytes and number.
    pub(super) fn scalar(&mut self) -> Result<(u8, u8), Fault> {
        let Some(Operand::Scalar { bytes, number }) = self.peek() else {
            return Err(self.missing("a register d0 to d31 or s0 to s31"));
        };
        self.next += 1;
        Ok((*bytes, *number))
    }

    /// Takes `COUNT` scalar registers, all S or all D; the first value is true for D.
    pub(super) fn scalars<const COUNT: usize>(&mut self) -> Result<(bool, [u8; COUNT]), Fault> {
        let mut numbers = [0; COUNT];
        let mut bytes = None;
        for number in &mut numbers {
            let (own, register) = self.scalar()?;
            if !matches!(own, 4 | 8) || bytes.is_some_and(|bytes| bytes != own) {
                return Err(self.fault_before("all registers are d, or all are s"));
            }
            bytes = Some(own);
            *number = register;
        }
        Ok((bytes == Some(8), numbers))
    }

    /// Takes vector registers with equal elements: the bytes of an element, and the numbers.
    pub(super) fn vectors<const COUNT: usize>(&mut self) -> Result<(u8, [u8; COUNT]), Fault> {
        let mut numbers = [0; COUNT];
        let mut size = None;
        for number in &mut numbers {
            let Some(Operand::Vector { element, number: register }) = self.peek() else {
                return Err(self.missing("a register such as v0.4s or v0.2d"));
            };
            if size.is_some_and(|size| size != *element) {
                return Err(self.fault("all vectors have equal elements"));
            }
            self.next += 1;
            size = Some(*element);
            *number = *register;
        }
        Ok((size.unwrap_or(1), numbers))
    }

    /// Takes an integer of any size.
    pub(super) fn wide(&mut self) -> Result<i128, Fault> {
        let Some(Operand::Value(Value::Number(value))) = self.peek() else {
            return Err(self.missing("a number"));
        };
        self.next += 1;
        Ok(*value)
    }

    /// Takes an integer.
    pub(super) fn integer(&mut self) -> Result<i64, Fault> {
        let value = self.wide()?;
        i64::try_from(value).map_err(|_| self.fault_before(format!("{value} is too large")))
    }

    /// Takes an integer as the bits of a register.
    pub(super) fn bits(&mut self, width: Width) -> Result<u64, Fault> {
        let value = self.wide()?;
        pattern(value, width.bits(), self.fault_before("").column)
    }

    /// Takes an integer from 0 to `high`.
    pub(super) fn up_to(&mut self, high: i64) -> Result<i64, Fault> {
        let value = self.integer()?;
        if !(0..=high).contains(&value) {
            return Err(self.fault_before(format!("{value} must be from 0 to {high}")));
        }
        Ok(value)
    }

    /// Takes a floating-point constant; an integer is one too.
    pub(super) fn float(&mut self) -> Result<f64, Fault> {
        let value = match self.peek() {
            Some(Operand::Value(Value::Float(value))) => *value,
            #[allow(clippy::cast_precision_loss, reason = "constants of fmov are small")]
            Some(Operand::Value(Value::Number(value))) => *value as f64,
            _ => return Err(self.missing("a number such as 1.5")),
        };
        self.next += 1;
        Ok(value)
    }

    /// Takes `:lo12:label` and returns the low twelve bits of its address.
    pub(super) fn low(&mut self) -> Result<Option<i64>, Fault> {
        let Some(Operand::Low(label)) = self.peek() else { return Ok(None) };
        let address = self.label_low(label)?;
        self.next += 1;
        Ok(Some(address))
    }

    fn label_low(&self, label: &str) -> Result<i64, Fault> {
        let address = self.labels.get(label, self.column())?.address;
        Ok(i64::try_from(address % 4096).unwrap_or_default())
    }

    /// Takes a name that is no register.
    pub(super) fn word(&mut self, what: &str) -> Result<String, Fault> {
        let Some(Operand::Value(Value::Label { name, plus: 0 })) = self.peek() else {
            return Err(self.missing(what));
        };
        self.next += 1;
        Ok(name.to_ascii_lowercase())
    }

    /// Takes a condition.
    pub(super) fn condition(&mut self) -> Result<Condition, Fault> {
        let name = self.word("a condition such as eq, ne, lt or hi")?;
        condition(&name)
            .ok_or_else(|| self.fault_before(format!("{name} is not a condition (eq, ne, lt ...)")))
    }

    /// Takes the target of a branch and returns its distance in bytes.
    pub(super) fn target(&mut self) -> Result<i64, Fault> {
        let address = self.address_value("a label")?;
        Ok(address.wrapping_sub(self.pc).cast_signed())
    }

    /// Takes a label, and returns the distance of its page.
    pub(super) fn page(&mut self) -> Result<i64, Fault> {
        let address = self.address_value("a label")?;
        Ok((address & !4095).wrapping_sub(self.pc & !4095).cast_signed())
    }

    fn address_value(&mut self, what: &str) -> Result<u64, Fault> {
        let Some(Operand::Value(value)) = self.peek() else { return Err(self.missing(what)) };
        let address = match value {
            Value::Label { name, plus } if name == "." => self.pc.wrapping_add_signed(*plus),
            value => self.labels.bits(value, self.column())?,
        };
        self.next += 1;
        Ok(address)
    }

    /// Takes the shift of the last operand, if it has one.
    pub(super) fn modifier(&mut self) -> Option<Modifier> {
        let Some(Operand::Modifier(modifier)) = self.peek() else { return None };
        self.next += 1;
        Some(*modifier)
    }

    /// Takes a shift by a constant; none is a shift left by 0.
    pub(super) fn shift(&mut self) -> Result<(ShiftKind, i64), Fault> {
        match self.modifier() {
            None => Ok((ShiftKind::Lsl, 0)),
            Some(Modifier::Shift(kind, amount)) => Ok((kind, amount)),
            Some(Modifier::Extend(..)) => {
                Err(self.fault_before("lsl, lsr or asr with a number is expected here"))
            }
        }
    }

    /// Takes `[base]` without an offset, and returns the base.
    pub(super) fn base_only(&mut self) -> Result<u8, Fault> {
        match self.peek() {
            Some(Operand::Address { base, index, is_pre: false }) => {
                let is_zero = *index == Index::None || *index == Index::Offset(Value::Number(0));
                if !is_zero {
                    return Err(self.fault("this instruction has an address without an offset"));
                }
                self.check_base(*base)?;
                self.next += 1;
                Ok(base.number)
            }
            _ => Err(self.missing("an address such as [x1]")),
        }
    }

    fn check_base(&self, base: General) -> Result<(), Fault> {
        if base.width == Width::W || base.is_zero() {
            return Err(self.fault("the base of an address is x0 to x30 or sp"));
        }
        Ok(())
    }

    /// Takes an address with its offset after the brackets.
    pub(super) fn address(&mut self) -> Result<(u8, Place), Fault> {
        let Some(Operand::Address { base, index, is_pre }) = self.peek() else {
            return Err(self.missing("an address such as [x1] or [x1, #8]"));
        };
        self.check_base(*base)?;
        let place = match index {
            Index::None if *is_pre => return Err(self.fault("[x1]! needs an offset: [x1, #8]!")),
            Index::None => Place::Offset(0),
            Index::Low(label) if !is_pre => Place::Offset(self.label_low(label)?),
            Index::Offset(Value::Number(offset)) => {
                let offset = i64::try_from(*offset).map_err(|_| self.fault("offset too large"))?;
                if *is_pre { Place::Pre(offset) } else { Place::Offset(offset) }
            }
            Index::Register(register, modifier) if !is_pre => self.index(*register, *modifier)?,
            _ => return Err(self.fault("an address is [x1], [x1, #8], [x1, x2] or [x1, #8]!")),
        };
        self.next += 1;
        let is_plain = *index == Index::None;
        if is_plain && matches!(self.peek(), Some(Operand::Value(Value::Number(_)))) {
            return Ok((base.number, Place::Post(self.integer()?)));
        }
        Ok((base.number, place))
    }

    fn index(&self, register: General, modifier: Option<Modifier>) -> Result<Place, Fault> {
        if register.is_sp {
            return Err(self.fault("sp is not possible as an index"));
        }
        let is_x = register.width == Width::X;
        let (extend, amount) = match modifier {
            None if is_x => (Extend::Uxtx, None),
            Some(Modifier::Shift(ShiftKind::Lsl, amount)) if is_x => (Extend::Uxtx, Some(amount)),
            Some(Modifier::Extend(Extend::Sxtx, amount)) if is_x => (Extend::Sxtx, amount),
            Some(Modifier::Extend(kind @ (Extend::Uxtw | Extend::Sxtw), amount)) if !is_x => {
                (kind, amount)
            }
            _ => {
                let text = "an index is [x1, x2], [x1, x2, lsl #3] or [x1, w2, uxtw #3] (or sxtw)";
                return Err(self.fault(text));
            }
        };
        Ok(Place::Index { m: register.number, extend, amount })
    }
}

/// The part of an address after its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Offset(i64),
    Pre(i64),
    Post(i64),
    /// The shift is `None` if it was not written.
    Index {
        m: u8,
        extend: Extend,
        amount: Option<i64>,
    },
}

/// Returns the condition with a name in lower case.
pub(super) fn condition(name: &str) -> Option<Condition> {
    let name = match name {
        "hs" => "cs",
        "lo" => "cc",
        other => other,
    };
    Condition::ALL.iter().find(|(own, _)| *own == name).map(|(_, condition)| *condition)
}
