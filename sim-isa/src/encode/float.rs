//! Words of scalar floating point and of a few vector instructions.

use super::fields::{Unencodable, at, flag};
use super::instruction::Instruction;
use super::operand::{VectorKind, Width};

/// The word of an instruction of this file, or `None` for the others.
pub(super) fn word(instruction: &Instruction) -> Option<Result<u32, Unencodable>> {
    use Instruction as I;
    Some(Ok(match *instruction {
        I::FloatBinary { is_double, kind, d, n, m } => {
            0x1e20_0800 | precision(is_double) | (kind as u32) << 12 | three(d, n, m)
        }
        I::FloatUnary { is_double, kind, d, n } => {
            0x1e20_4000 | precision(is_double) | (kind as u32) << 15 | three(d, n, 0)
        }
        I::FloatMultiplyAdd { is_double, is_sub, d, n, m, a } => {
            0x1f00_0000 | precision(is_double) | flag(is_sub, 15) | at(a, 10) | three(d, n, m)
        }
        I::FloatCompare { is_double, n, m } => {
            let zero = flag(m.is_none(), 3);
            0x1e20_2000 | precision(is_double) | zero | at(m.unwrap_or(0), 16) | at(n, 5)
        }
        I::FloatConstant { is_double, d, value } => match float_immediate(value) {
            Some(field) => 0x1e20_1000 | precision(is_double) | field << 13 | at(d, 0),
            None => return Some(Err(no_constant(value))),
        },
        I::FloatTransfer { is_double, to_general, d, n } => {
            let width = if is_double { Width::X } else { Width::W };
            0x1e26_0000 | between(is_double, width) | flag(!to_general, 16) | three(d, n, 0)
        }
        I::FromInteger { is_double, width, d, n } => {
            0x1e22_0000 | between(is_double, width) | three(d, n, 0)
        }
        I::ToInteger { is_double, width, d, n } => {
            0x1e38_0000 | between(is_double, width) | three(d, n, 0)
        }
        I::Vector { kind, element, d, n, m } => return Some(vector(kind, element, three(d, n, m))),
        I::VectorZero { d } => 0x6f00_e400 | at(d, 0),
        _ => return None,
    }))
}

/// Returns the eight bits of a constant of `FMOV`, or `None` if it has none: `n / 16 * 2^r` with
/// `n` from 16 to 31 and `r` from -3 to 4, of either sign.
///
/// ```
/// use sim_isa::encode::float_immediate;
/// assert_eq!(float_immediate(1.0), Some(0x70));
/// assert_eq!(float_immediate(-0.5), Some(0xe0));
/// assert_eq!(float_immediate(0.1), None);
/// ```
pub fn float_immediate(value: f64) -> Option<u32> {
    (0..256).find(|field| {
        let exponent = i32::from((*field as u8 >> 4 & 7) ^ 4) - 3;
        let size = f64::from(16 + (*field & 15)) / 16.0 * 2_f64.powi(exponent);
        let signed = if *field & 0x80 == 0 { size } else { -size };
        signed == value
    })
}

fn no_constant(value: f64) -> Unencodable {
    Unencodable(format!(
        "{value} is not a constant of fmov (n/16 * 2^r, n 16 to 31, r -3 to 4): keep it in .data"
    ))
}

fn precision(is_double: bool) -> u32 {
    flag(is_double, 22)
}

fn between(is_double: bool, width: Width) -> u32 {
    precision(is_double) | flag(width == Width::X, 31)
}

fn three(d: u8, n: u8, m: u8) -> u32 {
    at(m, 16) | at(n, 5) | at(d, 0)
}

fn vector(kind: VectorKind, element: u8, registers: u32) -> Result<u32, Unencodable> {
    let (head, sizes): (u32, &[u8]) = match kind {
        VectorKind::Add => (0x4e20_8400, &[1, 2, 4, 8]),
        VectorKind::Sub => (0x6e20_8400, &[1, 2, 4, 8]),
        VectorKind::Mul => (0x4e20_9c00, &[1, 2, 4]),
        VectorKind::Fadd => (0x4e20_d400, &[4, 8]),
        VectorKind::Fmul => (0x6e20_dc00, &[4, 8]),
        VectorKind::Fmla => (0x4e20_cc00, &[4, 8]),
        VectorKind::And => (0x4e20_1c00, &[1]),
        VectorKind::Orr => (0x4ea0_1c00, &[1]),
        VectorKind::Eor => (0x6e20_1c00, &[1]),
    };
    if !sizes.contains(&element) {
        let names: Vec<&str> = sizes.iter().map(|size| arrangement(*size)).collect();
        return Err(Unencodable(format!("the vectors must be .{}", names.join(" or ."))));
    }
    let is_float = matches!(kind, VectorKind::Fadd | VectorKind::Fmul | VectorKind::Fmla);
    let size = if is_float { u32::from(element == 8) } else { element.trailing_zeros() };
    Ok(head | size << 22 | registers)
}

fn arrangement(element: u8) -> &'static str {
    match element {
        1 => "16b",
        2 => "8h",
        4 => "4s",
        _ => "2d",
    }
}
