//! Words of integer arithmetic on registers and constants.

use super::bitmask::bitmask;
use super::fields::{Unencodable, at, flag, unsigned};
use super::instruction::Instruction;
use super::operand::{Extend, LogicKind, SelectKind, ShiftKind, UnaryKind, Width};

/// The word of an instruction of this file, or `None` for the others.
pub(super) fn word(instruction: &Instruction) -> Option<Result<u32, Unencodable>> {
    use Instruction as I;
    Some(match *instruction {
        I::Nop => Ok(0xd503_201f),
        I::MoveWide { width, kind, d, value, place } => {
            move_wide(width, kind as u32, d, value, place)
        }
        I::AddImmediate { width, is_sub, sets_flags, d, n, value, is_high } => {
            let head = add_head(width, is_sub, sets_flags) | 0x1100_0000 | flag(is_high, 22);
            unsigned("the immediate", value, 12, 1)
                .map(|low| head | low << 10 | at(n, 5) | at(d, 0))
        }
        I::AddShifted { width, is_sub, sets_flags, d, n, m, shift, amount } => {
            let head = add_head(width, is_sub, sets_flags) | 0x0b00_0000 | three(d, n, m);
            shifted(width, shift, amount).map(|fields| head | fields)
        }
        I::AddExtended { width, is_sub, sets_flags, d, n, m, extend, amount } => {
            let head = add_head(width, is_sub, sets_flags) | 0x0b20_0000 | three(d, n, m);
            extended(extend, amount).map(|fields| head | fields)
        }
        I::LogicImmediate { width, kind, d, n, value } => logic_immediate(width, kind, d, n, value),
        I::LogicShifted { width, kind, is_inverted, d, n, m, shift, amount } => {
            let head = sf(width) | (kind as u32) << 29 | 0x0a00_0000 | flag(is_inverted, 21);
            shifted(width, shift, amount).map(|fields| head | fields | three(d, n, m))
        }
        I::BitField { width, is_signed, d, n, rotate, last } => {
            let head = sf(width) | flag(!is_signed, 30) | 0x1300_0000 | flag(width == Width::X, 22);
            Ok(head
                | u32::from(rotate & 63) << 16
                | u32::from(last & 63) << 10
                | at(n, 5)
                | at(d, 0))
        }
        I::Extract { width, d, n, m, lowest } => {
            let head = sf(width) | 0x1380_0000 | flag(width == Width::X, 22) | three(d, n, m);
            amount_below(width, "the bit", lowest).map(|low| head | low << 10)
        }
        I::Binary { width, kind, d, n, m } => {
            Ok(sf(width) | 0x1ac0_0000 | (kind as u32) << 10 | three(d, n, m))
        }
        I::Unary { width, kind, d, n } => {
            // The reversal of all bytes is numbered by the size of the register.
            let is_rev_x = kind == UnaryKind::Rev && width == Width::X;
            let number = kind as u32 + u32::from(is_rev_x);
            Ok(sf(width) | 0x5ac0_0000 | number << 10 | at(n, 5) | at(d, 0))
        }
        _ => return multiply_or_select(instruction),
    })
}

fn multiply_or_select(instruction: &Instruction) -> Option<Result<u32, Unencodable>> {
    use Instruction as I;
    Some(Ok(match *instruction {
        I::MultiplyAdd { width, is_sub, d, n, m, a } => {
            sf(width) | 0x1b00_0000 | flag(is_sub, 15) | at(a, 10) | three(d, n, m)
        }
        I::MultiplyLong { is_signed, d, n, m, a } => {
            0x9b20_0000 | flag(!is_signed, 23) | at(a, 10) | three(d, n, m)
        }
        I::MultiplyHigh { is_signed, d, n, m } => {
            0x9b40_7c00 | flag(!is_signed, 23) | three(d, n, m)
        }
        I::Select { width, kind, d, n, m, condition } => {
            let kind = match kind {
                SelectKind::Same => 0,
                SelectKind::Increment => 1 << 10,
                SelectKind::Invert => 1 << 30,
                SelectKind::Negate => 1 << 30 | 1 << 10,
            };
            sf(width) | 0x1a80_0000 | kind | (condition as u32) << 12 | three(d, n, m)
        }
        _ => return None,
    }))
}

fn sf(width: Width) -> u32 {
    flag(width == Width::X, 31)
}

fn three(d: u8, n: u8, m: u8) -> u32 {
    at(m, 16) | at(n, 5) | at(d, 0)
}

fn add_head(width: Width, is_sub: bool, sets_flags: bool) -> u32 {
    sf(width) | flag(is_sub, 30) | flag(sets_flags, 29)
}

fn amount_below(width: Width, what: &str, amount: i64) -> Result<u32, Unencodable> {
    let bits = if width == Width::X { 6 } else { 5 };
    unsigned(what, amount, bits, 1)
}

fn shifted(width: Width, shift: ShiftKind, amount: i64) -> Result<u32, Unencodable> {
    Ok((shift as u32) << 22 | amount_below(width, "the shift", amount)? << 10)
}

fn extended(extend: Extend, amount: i64) -> Result<u32, Unencodable> {
    if !(0..=4).contains(&amount) {
        return Err(Unencodable(format!("the shift {amount} must be from 0 to 4")));
    }
    Ok((extend as u32) << 13 | unsigned("the shift", amount, 3, 1)? << 10)
}

fn move_wide(width: Width, kind: u32, d: u8, value: u16, place: u8) -> Result<u32, Unencodable> {
    let places = width.bits() / 16;
    if u32::from(place) >= places {
        let last = 16 * (places - 1);
        return Err(Unencodable(format!("the shift must be a multiple of 16 from 0 to {last}")));
    }
    let head = sf(width) | kind << 29 | 0x1280_0000;
    Ok(head | u32::from(place) << 21 | u32::from(value) << 5 | at(d, 0))
}

fn logic_immediate(
    width: Width,
    kind: LogicKind,
    d: u8,
    n: u8,
    value: u64,
) -> Result<u32, Unencodable> {
    let Some(fields) = bitmask(width, value) else {
        return Err(Unencodable(format!(
            "{value:#x} is not a run of ones, rotated and repeated: load it into a register first"
        )));
    };
    Ok(sf(width) | (kind as u32) << 29 | 0x1200_0000 | fields << 10 | at(n, 5) | at(d, 0))
}
