//! Addition, multiplication, division and selection.

use sim_isa::encode::{
    Condition, Extend, Instruction, Integer, SelectKind, ShiftKind, VectorKind, Width,
};

use super::args::{Args, Thirty1};
use super::float::vector;
use super::form::{Form, row};
use crate::error::Fault;
use crate::parse::{General, Modifier, Operand};

type Built = Result<Instruction, Fault>;

pub(super) const FORMS: &[Form] = &[
    row("add", "add x0, x1, #4", |args| add(args, false, false)),
    row("adds", "adds x0, x1, x2", |args| add(args, false, true)),
    row("sub", "sub x0, x1, x2, lsl #3", |args| add(args, true, false)),
    row("subs", "subs x0, x0, #1", |args| add(args, true, true)),
    row("cmp", "cmp x0, #10", |args| compare(args, true)),
    row("cmn", "cmn x0, x1", |args| compare(args, false)),
    row("neg", "neg x0, x1", |args| negate(args, false)),
    row("negs", "negs x0, x1", |args| negate(args, true)),
    row("madd", "madd x0, x1, x2, x3", |args| multiply_add(args, false)),
    row("msub", "msub x0, x1, x2, x3", |args| multiply_add(args, true)),
    row("mul", "mul x0, x1, x2", |args| multiply(args, false)),
    row("mneg", "mneg x0, x1, x2", |args| multiply(args, true)),
    row("smull", "smull x0, w1, w2", |args| multiply_long(args, true, false)),
    row("umull", "umull x0, w1, w2", |args| multiply_long(args, false, false)),
    row("smaddl", "smaddl x0, w1, w2, x3", |args| multiply_long(args, true, true)),
    row("umaddl", "umaddl x0, w1, w2, x3", |args| multiply_long(args, false, true)),
    row("smulh", "smulh x0, x1, x2", |args| multiply_high(args, true)),
    row("umulh", "umulh x0, x1, x2", |args| multiply_high(args, false)),
    row("udiv", "udiv x0, x1, x2", |args| binary(args, Integer::Udiv)),
    row("sdiv", "sdiv x0, x1, x2", |args| binary(args, Integer::Sdiv)),
    row("csel", "csel x0, x1, x2, lt", |args| select(args, SelectKind::Same)),
    row("csinc", "csinc x0, x1, x2, ne", |args| select(args, SelectKind::Increment)),
    row("csinv", "csinv x0, x1, x2, ne", |args| select(args, SelectKind::Invert)),
    row("csneg", "csneg x0, x1, x2, ne", |args| select(args, SelectKind::Negate)),
    row("cset", "cset x0, eq", |args| set(args, SelectKind::Increment)),
    row("csetm", "csetm x0, eq", |args| set(args, SelectKind::Invert)),
    row("cinc", "cinc x0, x1, eq", |args| change(args, SelectKind::Increment)),
    row("cinv", "cinv x0, x1, eq", |args| change(args, SelectKind::Invert)),
    row("cneg", "cneg x0, x1, mi", |args| change(args, SelectKind::Negate)),
];

fn add(args: &mut Args<'_>, is_sub: bool, sets_flags: bool) -> Built {
    if !sets_flags && matches!(args.peek(), Some(Operand::Vector { .. })) {
        return vector(args, if is_sub { VectorKind::Sub } else { VectorKind::Add });
    }
    let d = args.general(if sets_flags { Thirty1::Zero } else { either(args) })?;
    let n = args.general(either(args))?;
    if n.width != d.width {
        return Err(args.fault_before("both registers are x, or both are w"));
    }
    last_operand(args, is_sub, sets_flags, d, n)
}

fn compare(args: &mut Args<'_>, is_sub: bool) -> Built {
    let n = args.general(either(args))?;
    let d = General { number: 31, is_sp: false, ..n };
    last_operand(args, is_sub, true, d, n)
}

fn negate(args: &mut Args<'_>, sets_flags: bool) -> Built {
    let d = args.general(Thirty1::Zero)?;
    let n = General { number: 31, is_sp: false, ..d };
    if !matches!(args.peek(), Some(Operand::General(_))) {
        return Err(args.fault("a register is expected here"));
    }
    last_operand(args, true, sets_flags, d, n)
}

/// The meaning of 31 that the next operand has: both are possible in some form of the instruction.
fn either(args: &Args<'_>) -> Thirty1 {
    match args.peek() {
        Some(Operand::General(register)) if register.is_sp => Thirty1::Sp,
        _ => Thirty1::Zero,
    }
}

/// Reads the constant or register at the end of an addition and chooses the form.
fn last_operand(
    args: &mut Args<'_>,
    is_sub: bool,
    sets_flags: bool,
    d: General,
    n: General,
) -> Built {
    if !matches!(args.peek(), Some(Operand::General(_))) {
        return constant(args, is_sub, sets_flags, d, n);
    }
    let second = args.general(Thirty1::Zero)?;
    let modifier = args.modifier();
    let (width, d_number, n_number, m) = (d.width, d.number, n.number, second.number);
    let extended = match modifier {
        Some(Modifier::Extend(extend, amount)) => Some((extend, amount.unwrap_or(0))),
        // Only the extended form has SP; its shift left is the extension from the whole register.
        Some(Modifier::Shift(ShiftKind::Lsl, amount)) if d.is_sp || n.is_sp => {
            Some((whole(width), amount))
        }
        None if d.is_sp || n.is_sp => Some((whole(width), 0)),
        _ => None,
    };
    if let Some((extend, amount)) = extended {
        let is_wide = matches!(extend, Extend::Uxtx | Extend::Sxtx) && width == Width::X;
        let expected = if is_wide { Width::X } else { Width::W };
        let is_zero = d.is_zero() && !sets_flags || n.is_zero();
        if second.width != expected || is_zero {
            return Err(args.fault_before("uxtw and sxtw extend a w register, as in w2, uxtw #2"));
        }
        return Ok(Instruction::AddExtended {
            width,
            is_sub,
            sets_flags,
            d: d_number,
            n: n_number,
            m,
            extend,
            amount,
        });
    }
    if second.width != width {
        return Err(args.fault_before("all registers are x, or all are w"));
    }
    let (shift, amount) = match modifier {
        Some(Modifier::Shift(kind, amount)) => (kind, amount),
        _ => (ShiftKind::Lsl, 0),
    };
    if shift == ShiftKind::Ror || d.is_sp || n.is_sp {
        return Err(args.fault_before("the shift is lsl, lsr or asr, and only lsl beside sp"));
    }
    Ok(Instruction::AddShifted {
        width,
        is_sub,
        sets_flags,
        d: d_number,
        n: n_number,
        m,
        shift,
        amount,
    })
}

fn whole(width: Width) -> Extend {
    if width == Width::X { Extend::Uxtx } else { Extend::Uxtw }
}

fn constant(args: &mut Args<'_>, is_sub: bool, sets_flags: bool, d: General, n: General) -> Built {
    if n.is_zero() || (d.is_zero() && !sets_flags) {
        return Err(args.fault_before("xzr is not possible beside a constant"));
    }
    let value = match args.low()? {
        Some(low) => low,
        None => args.integer()?,
    };
    let is_negative = value < 0;
    let mut value = value.checked_abs().ok_or_else(|| args.fault_before("too large"))?;
    let mut is_high = false;
    match args.modifier() {
        None if value > 0xfff && value & 0xfff == 0 && value <= 0xfff000 => {
            is_high = true;
            value >>= 12;
        }
        None | Some(Modifier::Shift(ShiftKind::Lsl, 0)) => {}
        Some(Modifier::Shift(ShiftKind::Lsl, 12)) => is_high = true,
        Some(_) => return Err(args.fault_before("the shift of a constant is lsl #0 or lsl #12")),
    }
    if value > 0xfff {
        return Err(args.fault_before(format!(
            "{value} must be from 0 to 4095, or a multiple of 4096 up to 16773120: load it into a \
             register first"
        )));
    }
    let is_sub = is_sub != is_negative;
    let (width, d, n) = (d.width, d.number, n.number);
    Ok(Instruction::AddImmediate { width, is_sub, sets_flags, d, n, value, is_high })
}

fn multiply_add(args: &mut Args<'_>, is_sub: bool) -> Built {
    let (width, [d, n, m, a]) = args.generals()?;
    Ok(Instruction::MultiplyAdd { width, is_sub, d, n, m, a })
}

fn multiply(args: &mut Args<'_>, is_sub: bool) -> Built {
    if !is_sub && matches!(args.peek(), Some(Operand::Vector { .. })) {
        return vector(args, VectorKind::Mul);
    }
    let (width, [d, n, m]) = args.generals()?;
    Ok(Instruction::MultiplyAdd { width, is_sub, d, n, m, a: 31 })
}

fn multiply_long(args: &mut Args<'_>, is_signed: bool, adds: bool) -> Built {
    let (d, n, m) = (args.x()?, args.w()?, args.w()?);
    let a = if adds { args.x()? } else { 31 };
    Ok(Instruction::MultiplyLong { is_signed, d, n, m, a })
}

fn multiply_high(args: &mut Args<'_>, is_signed: bool) -> Built {
    Ok(Instruction::MultiplyHigh { is_signed, d: args.x()?, n: args.x()?, m: args.x()? })
}

pub(super) fn binary(args: &mut Args<'_>, kind: Integer) -> Built {
    let (width, [d, n, m]) = args.generals()?;
    Ok(Instruction::Binary { width, kind, d, n, m })
}

fn select(args: &mut Args<'_>, kind: SelectKind) -> Built {
    let (width, [d, n, m]) = args.generals()?;
    let condition = args.condition()?;
    Ok(Instruction::Select { width, kind, d, n, m, condition })
}

/// The condition of an alias, which the instruction itself holds inverted.
fn inverted(args: &mut Args<'_>) -> Result<Condition, Fault> {
    let condition = args.condition()?;
    if condition == Condition::Al {
        return Err(args.fault_before("al is not possible here"));
    }
    Ok(condition.inverted())
}

fn set(args: &mut Args<'_>, kind: SelectKind) -> Built {
    let (width, [d]) = args.generals()?;
    let condition = inverted(args)?;
    Ok(Instruction::Select { width, kind, d, n: 31, m: 31, condition })
}

fn change(args: &mut Args<'_>, kind: SelectKind) -> Built {
    let (width, [d, n]) = args.generals()?;
    let condition = inverted(args)?;
    Ok(Instruction::Select { width, kind, d, n, m: n, condition })
}
