//! Rebuilds the value of a register from what a block does after its use.

use super::block::{BlockInfo, Run};
use sim_isa::{
    AddressOperand, Addressing, Operation, RegisterEffect, RegisterValue, Second, is_prefetch,
};

/// Returns the base register of the operand of `word`; 31 is SP.
pub(crate) fn base_of(word: u32) -> Option<usize> {
    match AddressOperand::of(word)? {
        AddressOperand::Register(n) => Some(n as usize),
        AddressOperand::Offset(base, _) | AddressOperand::Indexed { base, .. } => {
            Some(base as usize)
        }
        AddressOperand::Literal(_) => None,
    }
}

/// Returns the value of X`register` (31 is SP) before instruction `index` of `run`. A later access
/// through the same register gives it, if the register is only moved in between.
pub(crate) fn reveal(info: &BlockInfo, run: &Run, index: u16, register: usize) -> Option<u64> {
    let mut moved = 0i64;
    let mut accesses = run.accesses.iter().filter(|access| access.index > index).peekable();
    for at in index + 1..run.executed {
        let word = info.word(at.into());
        let access = accesses.next_if(|access| access.index == at);
        let form = Addressing::of(word).filter(|form| form.base == register);
        if let (Some(form), Some(access), false) = (form, access, is_prefetch(word)) {
            return Some(access.addr.wrapping_add_signed(-form.offset - moved));
        }
        if let Some(by) = moves(word, register) {
            moved += by;
        } else if sim_isa::decode(word).dsts().iter().any(|dst| usize::from(dst.0) == register) {
            return None;
        }
    }
    None
}

/// Returns the addend of `word` to X`register`, if it only adds.
fn moves(word: u32, register: usize) -> Option<i64> {
    let RegisterEffect::Set { to: Some(to), value } = RegisterEffect::of(word) else { return None };
    let RegisterValue::Binary { operation, n: Some(n), second: Second::Constant(by), is_64: true } =
        value
    else {
        return None;
    };
    match operation {
        _ if to != register || n != register => None,
        Operation::Add => Some(by.cast_signed()),
        Operation::Sub => Some(-by.cast_signed()),
        Operation::And | Operation::Or | Operation::Xor => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::{Access, BlockId};

    const PRFM: u32 = 0xf980_8020; // prfm pldl1keep, [x1, #256]
    const ADD: u32 = 0x9100_4021; // add x1, x1, #16
    const SUB: u32 = 0xd100_2021; // sub x1, x1, #8
    const SUBS: u32 = 0xf100_2021; // subs x1, x1, #8
    const LDR: u32 = 0xf940_0422; // ldr x2, [x1, #8]
    const MOV: u32 = 0xaa03_03e1; // mov x1, x3

    fn revealed(words: &[u32], accesses: &[(u16, u64)]) -> Option<u64> {
        let info = BlockInfo::new(BlockId(0), 0x40_0000, words.to_vec());
        let accesses = accesses.iter().map(|&(index, addr)| Access { index, addr }).collect();
        reveal(&info, &Run { accesses, ..Run::of(words.len() as u16) }, 0, 1)
    }

    #[test]
    fn a_later_access_through_the_register_gives_its_value() {
        assert_eq!(revealed(&[PRFM, LDR], &[(1, 0x1008)]), Some(0x1000));
        assert_eq!(revealed(&[PRFM, ADD, SUB, LDR], &[(3, 0x1008)]), Some(0x1000 - 8));
        assert_eq!(revealed(&[PRFM, SUBS, LDR], &[(2, 0x1000)]), Some(0x1000));
        assert_eq!(revealed(&[PRFM, PRFM, LDR], &[(2, 0x1008)]), Some(0x1000));
    }

    #[test]
    fn a_register_that_is_written_or_not_used_gives_no_value() {
        assert_eq!(revealed(&[PRFM, MOV, LDR], &[(2, 0x1008)]), None);
        assert_eq!(revealed(&[PRFM, LDR], &[]), None);
        assert_eq!(revealed(&[PRFM, ADD], &[]), None);
    }
}
