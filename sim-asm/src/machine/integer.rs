//! Integer arithmetic on general registers.

use sim_isa::encode::{
    Extend, Instruction, Integer, LogicKind, MoveKind, SelectKind, ShiftKind, UnaryKind, Width,
};

use super::flags::{add, holds, set_sign};
use super::registers::{Registers, cut};

/// Executes an instruction of this file; returns false for others.
pub(super) fn execute(registers: &mut Registers, instruction: &Instruction, pc: u64) -> bool {
    sums(registers, instruction)
        || logic(registers, instruction)
        || rest(registers, instruction, pc)
}

fn sums(registers: &mut Registers, instruction: &Instruction) -> bool {
    use Instruction as I;
    let (width, is_sub, sets_flags, d, a, b) = match *instruction {
        I::AddImmediate { width, is_sub, sets_flags, d, n, value, is_high } => {
            let value = value.cast_unsigned() << if is_high { 12 } else { 0 };
            (width, is_sub, sets_flags, d, registers.get_sp(width, n), value)
        }
        I::AddShifted { width, is_sub, sets_flags, d, n, m, shift, amount } => {
            let b = shifted(width, registers.get(width, m), shift, amount);
            let a = registers.get(width, n);
            let sum = sum(registers, width, is_sub, sets_flags, [a, b]);
            registers.set(width, d, sum);
            return true;
        }
        I::AddExtended { width, is_sub, sets_flags, d, n, m, extend, amount } => {
            let b = cut(width, extended(registers.get(Width::X, m), extend) << (amount & 7));
            (width, is_sub, sets_flags, d, registers.get_sp(width, n), b)
        }
        _ => return false,
    };
    let sum = sum(registers, width, is_sub, sets_flags, [a, b]);
    if sets_flags {
        registers.set(width, d, sum);
    } else {
        registers.set_sp(width, d, sum);
    }
    true
}

fn sum(
    registers: &mut Registers,
    width: Width,
    is_sub: bool,
    sets_flags: bool,
    [a, b]: [u64; 2],
) -> u64 {
    let b = if is_sub { cut(width, !b) } else { b };
    add(registers, width, [a, b], is_sub, sets_flags)
}

fn logic(registers: &mut Registers, instruction: &Instruction) -> bool {
    use Instruction as I;
    let (width, kind, d, a, b, is_constant) = match *instruction {
        I::LogicImmediate { width, kind, d, n, value } => {
            (width, kind, d, registers.get(width, n), value, true)
        }
        I::LogicShifted { width, kind, is_inverted, d, n, m, shift, amount } => {
            let b = shifted(width, registers.get(width, m), shift, amount);
            let b = if is_inverted { cut(width, !b) } else { b };
            (width, kind, d, registers.get(width, n), b, false)
        }
        _ => return false,
    };
    let result = match kind {
        LogicKind::And | LogicKind::Ands => a & b,
        LogicKind::Orr => a | b,
        LogicKind::Eor => a ^ b,
    };
    if kind == LogicKind::Ands {
        set_sign(registers, width, result);
        (registers.carry, registers.overflow) = (false, false);
    }
    if is_constant && kind != LogicKind::Ands {
        registers.set_sp(width, d, result);
    } else {
        registers.set(width, d, result);
    }
    true
}

fn rest(registers: &mut Registers, instruction: &Instruction, pc: u64) -> bool {
    use Instruction as I;
    let get = |number| registers.get(Width::X, number);
    let (width, d, value) = match *instruction {
        I::Nop => return true,
        I::MoveWide { width, kind, d, value, place } => {
            let (at, value) = (16 * u32::from(place & 3), u64::from(value));
            let value = match kind {
                MoveKind::Zero => value << at,
                MoveKind::Not => !(value << at),
                MoveKind::Keep => get(d) & !(0xffff << at) | value << at,
            };
            (width, d, value)
        }
        I::BitField { width, is_signed, d, n, rotate, last } => {
            (width, d, bit_field(width, registers.get(width, n), is_signed, [rotate, last]))
        }
        I::Extract { width, d, n, m, lowest } => {
            let high = u128::from(registers.get(width, n)) << width.bits();
            let pair = high | u128::from(registers.get(width, m));
            (width, d, (pair >> (lowest & 63)) as u64)
        }
        I::Binary { width, kind, d, n, m } => {
            (width, d, binary(width, kind, registers.get(width, n), registers.get(width, m)))
        }
        I::Unary { width, kind, d, n } => (width, d, unary(width, kind, registers.get(width, n))),
        I::MultiplyAdd { width, is_sub, d, n, m, a } => {
            let product = get(n).wrapping_mul(get(m));
            let product = if is_sub { product.wrapping_neg() } else { product };
            (width, d, get(a).wrapping_add(product))
        }
        I::MultiplyLong { is_signed, d, n, m, a } => {
            let extend = if is_signed { Extend::Sxtw } else { Extend::Uxtw };
            let product = extended(get(n), extend).wrapping_mul(extended(get(m), extend));
            (Width::X, d, get(a).wrapping_add(product))
        }
        I::MultiplyHigh { is_signed: true, d, n, m } => {
            let product = i128::from(get(n).cast_signed()) * i128::from(get(m).cast_signed());
            (Width::X, d, (product >> 64) as u64)
        }
        I::MultiplyHigh { is_signed: false, d, n, m } => {
            (Width::X, d, ((u128::from(get(n)) * u128::from(get(m))) >> 64) as u64)
        }
        I::Select { width, kind, d, n, m, condition } => {
            let other = get(m);
            let value = match kind {
                _ if holds(registers, condition) => get(n),
                SelectKind::Same => other,
                SelectKind::Increment => other.wrapping_add(1),
                SelectKind::Invert => !other,
                SelectKind::Negate => other.wrapping_neg(),
            };
            (width, d, value)
        }
        I::Adr { is_page, d, offset } => {
            let base = if is_page { pc & !4095 } else { pc };
            (Width::X, d, base.wrapping_add_signed(offset))
        }
        _ => return false,
    };
    registers.set(width, d, value);
    true
}

/// A register operand after its shift.
fn shifted(width: Width, value: u64, shift: ShiftKind, amount: i64) -> u64 {
    let kind = match shift {
        ShiftKind::Lsl => Integer::Lslv,
        ShiftKind::Lsr => Integer::Lsrv,
        ShiftKind::Asr => Integer::Asrv,
        ShiftKind::Ror => Integer::Rorv,
    };
    cut(width, binary(width, kind, value, amount.cast_unsigned()))
}

/// A register operand after its extension.
pub(super) fn extended(value: u64, extend: Extend) -> u64 {
    match extend {
        Extend::Uxtb => value & 0xff,
        Extend::Uxth => value & 0xffff,
        Extend::Uxtw => value & 0xffff_ffff,
        Extend::Uxtx | Extend::Sxtx => value,
        Extend::Sxtb => sign(value, 8),
        Extend::Sxth => sign(value, 16),
        Extend::Sxtw => sign(value, 32),
    }
}

/// The low bits of a value, filled with their sign.
pub(super) fn sign(value: u64, bits: u32) -> u64 {
    let unused = 64 - bits;
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

fn binary(width: Width, kind: Integer, a: u64, b: u64) -> u64 {
    let by = (b % u64::from(width.bits())) as u32;
    let (signed_a, signed_b) =
        (sign(a, width.bits()).cast_signed(), sign(b, width.bits()).cast_signed());
    match kind {
        // A division by zero gives zero.
        Integer::Udiv => a.checked_div(b).unwrap_or(0),
        Integer::Sdiv if b == 0 => 0,
        Integer::Sdiv => signed_a.wrapping_div(signed_b).cast_unsigned(),
        Integer::Lslv => a << by,
        Integer::Lsrv => a >> by,
        Integer::Asrv => (signed_a >> by).cast_unsigned(),
        Integer::Rorv if width == Width::X => a.rotate_right(by),
        Integer::Rorv => u64::from((a as u32).rotate_right(by)),
    }
}

fn unary(width: Width, kind: UnaryKind, value: u64) -> u64 {
    let unused = 64 - width.bits();
    match kind {
        UnaryKind::Rbit => value.reverse_bits() >> unused,
        UnaryKind::Rev => value.swap_bytes() >> unused,
        UnaryKind::Clz => u64::from(value.leading_zeros() - unused),
    }
}

/// Moves bits `rotate..=last` to place 0, or bits `0..=last` up if `last` is below `rotate`.
fn bit_field(width: Width, value: u64, is_signed: bool, [rotate, last]: [u8; 2]) -> u64 {
    let bits = width.bits();
    let (rotate, last) = (u32::from(rotate) % bits, u32::from(last) % bits);
    let (field, length, place) = if last >= rotate {
        (value >> rotate, last - rotate + 1, 0)
    } else {
        (value, last + 1, bits - rotate)
    };
    let field = if is_signed { sign(field, length) } else { field & (u64::MAX >> (64 - length)) };
    field << place
}
