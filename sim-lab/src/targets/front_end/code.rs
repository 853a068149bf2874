//! Code and random bits of the front-end kernels.

use crate::core_bench::CoreBench;
use sim_core::MemoryPort;

/// `nop`
pub(super) const NOP: u32 = 0xd503_201f;
/// `mov x1, #0`: takes a rename slot and no pipe.
pub(super) const MOV_ZERO: u32 = 0xd280_0001;
/// `br x1`
pub(super) const BR: u32 = 0xd61f_0020;
/// `ret`
pub(super) const RET: u32 = 0xd65f_03c0;
/// Address of the kernels.
pub(super) const CODE: u64 = 0x40_0000;

/// `b` from one address to another.
pub(super) fn b(from: u64, to: u64) -> u32 {
    0x1400_0000 | words(from, to, 26)
}

/// `bl` from one address to another.
pub(super) fn bl(from: u64, to: u64) -> u32 {
    0x9400_0000 | words(from, to, 26)
}

/// `cbz x1` over the next instruction.
pub(super) fn cbz_over_one() -> u32 {
    0xb400_0001 | words(0, 8, 19) << 5
}

/// `cbz x1` back over `insts` instructions.
pub(super) fn cbz_back(insts: u64) -> u32 {
    0xb400_0001 | words(4 * insts, 0, 19) << 5
}

fn words(from: u64, to: u64, bits: u32) -> u32 {
    (to.wrapping_sub(from) >> 2) as u32 & ((1 << bits) - 1)
}

/// Random bits that are the same in every run.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new() -> Dice {
        Dice(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the next bit (xorshift64).
    pub(super) fn bit(&mut self) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 40 & 1 == 1
    }

    /// Returns a number below `limit`, a power of two.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        (0..limit.ilog2()).fold(0, |number, _| number << 1 | u64::from(self.bit()))
    }

    pub(super) fn bits(&mut self, n: usize) -> Vec<bool> {
        (0..n).map(|_| self.bit()).collect()
    }
}

/// Runs a straight piece of code once.
pub(super) fn straight<M: MemoryPort>(bench: &mut CoreBench<M>, pc: u64, words: &[u32]) -> u64 {
    for (i, word) in words.iter().enumerate() {
        let at = pc + 4 * i as u64;
        bench.run(at, *word, None, at + 4);
    }
    pc + 4 * words.len() as u64
}

/// Runs `cbz` at `pc` and the `nop` that it may skip. Returns true if it was mispredicted. Ends at
/// `pc + 8`.
pub(super) fn maybe_over_one<M: MemoryPort>(
    bench: &mut CoreBench<M>,
    pc: u64,
    taken: bool,
) -> bool {
    let next = if taken { pc + 8 } else { pc + 4 };
    let wrong = bench.run(pc, cbz_over_one(), None, next).mispredicted;
    if !taken {
        bench.run(pc + 4, NOP, None, pc + 8);
    }
    wrong
}
