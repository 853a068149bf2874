//! Operations on bits, shifts and extensions.

use sim_isa::encode::{Instruction, Integer, LogicKind, UnaryKind, VectorKind, Width};

use super::args::{Args, Thirty1};
use super::arithmetic::binary;
use super::float::vector;
use super::form::{Form, row};
use crate::error::Fault;
use crate::parse::Operand;

type Built = Result<Instruction, Fault>;

pub(super) const FORMS: &[Form] = &[
    row("and", "and x0, x1, #0xff", |args| logic(args, LogicKind::And, false)),
    row("orr", "orr x0, x1, x2", |args| logic(args, LogicKind::Orr, false)),
    row("eor", "eor x0, x1, x2", |args| logic(args, LogicKind::Eor, false)),
    row("ands", "ands x0, x1, #1", |args| logic(args, LogicKind::Ands, false)),
    row("bic", "bic x0, x1, x2", |args| logic(args, LogicKind::And, true)),
    row("orn", "orn x0, x1, x2", |args| logic(args, LogicKind::Orr, true)),
    row("eon", "eon x0, x1, x2", |args| logic(args, LogicKind::Eor, true)),
    row("bics", "bics x0, x1, x2", |args| logic(args, LogicKind::Ands, true)),
    row("tst", "tst x0, #1", test),
    row("mvn", "mvn x0, x1", invert),
    row("lsl", "lsl x0, x1, #3", |args| shift(args, Integer::Lslv)),
    row("lsr", "lsr x0, x1, #3", |args| shift(args, Integer::Lsrv)),
    row("asr", "asr x0, x1, #3", |args| shift(args, Integer::Asrv)),
    row("ror", "ror x0, x1, #3", |args| shift(args, Integer::Rorv)),
    row("ubfx", "ubfx x0, x1, #8, #4", |args| field(args, false)),
    row("sbfx", "sbfx x0, x1, #8, #4", |args| field(args, true)),
    row("uxtb", "uxtb w0, w1", |args| extend(args, false, 7)),
    row("uxth", "uxth w0, w1", |args| extend(args, false, 15)),
    row("sxtb", "sxtb x0, w1", |args| extend(args, true, 7)),
    row("sxth", "sxth x0, w1", |args| extend(args, true, 15)),
    row("sxtw", "sxtw x0, w1", |args| extend(args, true, 31)),
    row("clz", "clz x0, x1", |args| unary(args, UnaryKind::Clz)),
    row("rbit", "rbit x0, x1", |args| unary(args, UnaryKind::Rbit)),
    row("rev", "rev x0, x1", |args| unary(args, UnaryKind::Rev)),
];

fn logic(args: &mut Args<'_>, kind: LogicKind, is_inverted: bool) -> Built {
    if !is_inverted && matches!(args.peek(), Some(Operand::Vector { .. })) {
        match kind {
            LogicKind::And => return vector(args, VectorKind::And),
            LogicKind::Orr => return vector(args, VectorKind::Orr),
            LogicKind::Eor => return vector(args, VectorKind::Eor),
            LogicKind::Ands => {}
        }
    }
    let to_sp = matches!(args.peek(), Some(Operand::General(register)) if register.is_sp);
    let d = args.general(if to_sp { Thirty1::Sp } else { Thirty1::Zero })?;
    let n = args.same(d.width, Thirty1::Zero)?;
    let is_constant = !matches!(args.peek(), Some(Operand::General(_)));
    if to_sp && (!is_constant || kind == LogicKind::Ands) {
        return Err(args.fault("sp is not possible here"));
    }
    // A constant with the other form of the instruction would change d, the zero register, to SP.
    if is_constant && d.is_zero() && kind != LogicKind::Ands {
        return Err(args.fault("xzr is not possible beside a constant"));
    }
    last_operand(args, d.width, kind, is_inverted, [d.number, n])
}

fn test(args: &mut Args<'_>) -> Built {
    let n = args.general(Thirty1::Zero)?;
    last_operand(args, n.width, LogicKind::Ands, false, [31, n.number])
}

fn invert(args: &mut Args<'_>) -> Built {
    let d = args.general(Thirty1::Zero)?;
    if !matches!(args.peek(), Some(Operand::General(_))) {
        return Err(args.fault("a register is expected here"));
    }
    last_operand(args, d.width, LogicKind::Orr, true, [d.number, 31])
}

fn last_operand(
    args: &mut Args<'_>,
    width: Width,
    kind: LogicKind,
    is_inverted: bool,
    [d, n]: [u8; 2],
) -> Built {
    if matches!(args.peek(), Some(Operand::General(_))) {
        let m = args.same(width, Thirty1::Zero)?;
        let (shift, amount) = args.shift()?;
        return Ok(Instruction::LogicShifted { width, kind, is_inverted, d, n, m, shift, amount });
    }
    let value = args.bits(width)?;
    let ones = u64::MAX >> (64 - width.bits());
    let value = if is_inverted { !value & ones } else { value };
    Ok(Instruction::LogicImmediate { width, kind, d, n, value })
}

fn shift(args: &mut Args<'_>, kind: Integer) -> Built {
    if matches!(args.second(), Some(Operand::General(_))) && args.has_third_register() {
        return binary(args, kind);
    }
    let (width, [d, n]) = args.generals()?;
    let last = u8::try_from(width.bits() - 1).unwrap_or(63);
    let amount = u8::try_from(args.up_to(i64::from(last))?).unwrap_or_default();
    Ok(match kind {
        Integer::Lslv => {
            let rotate = (last + 1 - amount) & last;
            Instruction::BitField { width, is_signed: false, d, n, rotate, last: last - amount }
        }
        Integer::Rorv => Instruction::Extract { width, d, n, m: n, lowest: i64::from(amount) },
        _ => {
            let is_signed = kind == Integer::Asrv;
            Instruction::BitField { width, is_signed, d, n, rotate: amount, last }
        }
    })
}

fn field(args: &mut Args<'_>, is_signed: bool) -> Built {
    let (width, [d, n]) = args.generals()?;
    let bits = i64::from(width.bits());
    let lowest = args.up_to(bits - 1)?;
    let length = args.integer()?;
    if !(1..=bits - lowest).contains(&length) {
        let text = format!("the number of bits must be from 1 to {}", bits - lowest);
        return Err(args.fault_before(text));
    }
    let rotate = u8::try_from(lowest).unwrap_or_default();
    let last = u8::try_from(lowest + length - 1).unwrap_or_default();
    Ok(Instruction::BitField { width, is_signed, d, n, rotate, last })
}

fn extend(args: &mut Args<'_>, is_signed: bool, last: u8) -> Built {
    let d = args.general(Thirty1::Zero)?;
    let n = args.w()?;
    let is_possible =
        if is_signed { last < 31 || d.width == Width::X } else { d.width == Width::W };
    if !is_possible {
        let letter = if is_signed { 'x' } else { 'w' };
        return Err(args.fault_before(format!("the first register is {letter} here")));
    }
    Ok(Instruction::BitField { width: d.width, is_signed, d: d.number, n, rotate: 0, last })
}

fn unary(args: &mut Args<'_>, kind: UnaryKind) -> Built {
    let (width, [d, n]) = args.generals()?;
    Ok(Instruction::Unary { width, kind, d, n })
}
