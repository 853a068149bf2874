//! Moves of registers and constants.

use sim_isa::encode::{Instruction, LogicKind, MoveKind, ShiftKind, Width, bitmask};

use super::args::{Args, Thirty1};
use super::form::{Form, row};
use crate::error::Fault;
use crate::parse::{Modifier, Operand};

type Built = Result<Instruction, Fault>;

pub(super) const FORMS: &[Form] = &[
    row("mov", "mov x0, #100", mov),
    row("movz", "movz x0, #1, lsl #16", |args| wide(args, MoveKind::Zero)),
    row("movn", "movn x0, #0", |args| wide(args, MoveKind::Not)),
    row("movk", "movk x0, #1, lsl #16", |args| wide(args, MoveKind::Keep)),
    row("adr", "adr x0, array", |args| adr(args, false)),
    row("adrp", "adrp x0, array", |args| adr(args, true)),
];

fn adr(args: &mut Args<'_>, is_page: bool) -> Built {
    let d = args.x()?;
    let offset = if is_page { args.page()? } else { args.target()? };
    Ok(Instruction::Adr { is_page, d, offset })
}

fn wide(args: &mut Args<'_>, kind: MoveKind) -> Built {
    let d = args.general(Thirty1::Zero)?;
    let value = args.up_to(0xffff)?;
    let place = match args.modifier() {
        None => 0,
        Some(Modifier::Shift(ShiftKind::Lsl, amount @ (0 | 16 | 32 | 48))) => amount / 16,
        Some(_) => return Err(args.fault_before("the shift is lsl #0, #16, #32 or #48")),
    };
    Ok(Instruction::MoveWide {
        width: d.width,
        kind,
        d: d.number,
        value: u16::try_from(value).unwrap_or_default(),
        place: u8::try_from(place).unwrap_or_default(),
    })
}

fn mov(args: &mut Args<'_>) -> Built {
    let is_sp = |operand: Option<&Operand>| matches!(operand, Some(Operand::General(r)) if r.is_sp);
    let has_sp = is_sp(args.peek()) || is_sp(args.second());
    let d = args.general(if is_sp(args.peek()) { Thirty1::Sp } else { Thirty1::Zero })?;
    let width = d.width;
    if !matches!(args.peek(), Some(Operand::General(_))) {
        let value = args.bits(width)?;
        return constant(args, width, d.number, d.is_sp, value);
    }
    if has_sp {
        let n = args.same(width, Thirty1::Sp)?;
        let (d, sets_flags) = (d.number, false);
        return Ok(Instruction::AddImmediate {
            width,
            is_sub: false,
            sets_flags,
            d,
            n,
            value: 0,
            is_high: false,
        });
    }
    let m = args.same(width, Thirty1::Zero)?;
    Ok(Instruction::LogicShifted {
        width,
        kind: LogicKind::Orr,
        is_inverted: false,
        d: d.number,
        n: 31,
        m,
        shift: ShiftKind::Lsl,
        amount: 0,
    })
}

/// The one instruction that moves a constant.
fn constant(args: &Args<'_>, width: Width, d: u8, is_sp: bool, value: u64) -> Built {
    let ones = u64::MAX >> (64 - width.bits());
    let single = |kind, value: u64| {
        let place = (0..4).find(|place| value & !(0xffff << (16 * place)) == 0)?;
        let value = u16::try_from(value >> (16 * place) & 0xffff).ok()?;
        Some(Instruction::MoveWide { width, kind, d, value, place })
    };
    let moved = || single(MoveKind::Zero, value).or_else(|| single(MoveKind::Not, !value & ones));
    if let Some(instruction) = moved().filter(|_| !is_sp) {
        return Ok(instruction);
    }
    if bitmask(width, value).is_some() {
        return Ok(Instruction::LogicImmediate { width, kind: LogicKind::Orr, d, n: 31, value });
    }
    let letter = if width == Width::X { 'x' } else { 'w' };
    let name = if d == 31 { "0".to_owned() } else { d.to_string() };
    Err(args.fault_before(format!(
        "no single instruction moves {value:#x}: write ldr {letter}{name}, ={value:#x}, which \
         becomes several"
    )))
}

/// Returns the instructions that load any value: `MOVZ` or `MOVN`, then `MOVK`. `least` is the
/// least number of them, so that the address of a label always takes as many.
pub(crate) fn move_sequence(width: Width, d: u8, value: u64, least: usize) -> Vec<Instruction> {
    let places = u8::try_from(width.bits() / 16).unwrap_or(4);
    let part = |place: u8| u16::try_from(value >> (16 * place) & 0xffff).unwrap_or_default();
    let unlike = |filler: u16| (0..places).filter(|place| part(*place) != filler).count();
    let (first, filler) = if unlike(0xffff) < unlike(0) && least < 2 {
        (MoveKind::Not, 0xffff)
    } else {
        (MoveKind::Zero, 0)
    };
    let is_padding = |place: u8| usize::from(place) < least;
    let mut moved: Vec<u8> =
        (0..places).filter(|place| part(*place) != filler || is_padding(*place)).collect();
    if moved.is_empty() {
        moved.push(0);
    }
    let instruction = |(index, place): (usize, u8)| {
        let kind = if index == 0 { first } else { MoveKind::Keep };
        let value = if kind == MoveKind::Not { !part(place) } else { part(place) };
        Instruction::MoveWide { width, kind, d, value, place }
    };
    moved.into_iter().enumerate().map(instruction).collect()
}
