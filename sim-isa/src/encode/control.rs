//! Words of branches, barriers and system instructions.

use super::fields::{Unencodable, at, flag, signed, unsigned};
use super::instruction::Instruction;
use super::operand::Width;

/// The word of an instruction of this file, or `None` for the others.
pub(super) fn word(instruction: &Instruction) -> Option<Result<u32, Unencodable>> {
    use Instruction as I;
    Some(match *instruction {
        I::Adr { is_page, d, offset } => adr(is_page, d, offset),
        I::Branch { links, offset } => {
            target(offset, 26).map(|field| 0x1400_0000 | flag(links, 31) | field)
        }
        I::BranchIf { condition, offset } => {
            target(offset, 19).map(|field| 0x5400_0000 | field << 5 | condition as u32)
        }
        I::CompareBranch { width, if_zero, t, offset } => {
            let head = 0x3400_0000 | flag(width == Width::X, 31) | flag(!if_zero, 24) | at(t, 0);
            target(offset, 19).map(|field| head | field << 5)
        }
        I::TestBranch { if_zero, t, bit, offset } => {
            let head = 0x3600_0000 | flag(!if_zero, 24) | at(t, 0);
            target(offset, 14).and_then(|field| {
                let number = unsigned("the bit", bit, 6, 1)?;
                Ok(head | (number / 32) << 31 | (number % 32) << 19 | field << 5)
            })
        }
        I::BranchTo { kind, n } => Ok(0xd61f_0000 | (kind as u32) << 21 | at(n, 5)),
        I::Svc(number) => Ok(0xd400_0001 | u32::from(number) << 5),
        I::Hlt(number) => Ok(0xd440_0000 | u32::from(number) << 5),
        I::Barrier { kind, domain } => {
            Ok(0xd503_301f | u32::from(domain & 15) << 8 | (kind as u32) << 5)
        }
        I::ZeroLine { t } => Ok(0xd50b_7420 | at(t, 0)),
        _ => return None,
    })
}

fn target(offset: i64, bits: u32) -> Result<u32, Unencodable> {
    signed("the distance to the target,", offset, bits, 4)
}

fn adr(is_page: bool, d: u8, offset: i64) -> Result<u32, Unencodable> {
    let scale = if is_page { 4096 } else { 1 };
    let field = signed("the distance to the label,", offset, 21, scale)?;
    Ok(0x1000_0000 | flag(is_page, 31) | (field % 4) << 29 | (field / 4) << 5 | at(d, 0))
}
