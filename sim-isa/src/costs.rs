//! Machine-specific costs, applied once at decode, so that no pipeline stage checks for them.

use crate::inst::{Accumulate, Inst, Reg, Rename};
use crate::micro_op::{PipeMask, Role, UopGroup};
use crate::spare::Spared;
use crate::uops::family;

/// Costs of all instructions of a [`crate::Program`]. The default is the cost in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Pipes of single-cycle integer operations.
    pub integer: PipeMask,
    /// Pipes of `AND`, `BIC`, `ORR`, `ORN`, `EOR`, `EON`, with and without flags.
    pub logic: PipeMask,
    /// Pipes of operations that read and write NZCV: `ADCS`, `SBCS`, `CCMP`, `CCMN`, `RMIF`,
    /// `SETF8`, `SETF16`.
    pub carry: PipeMask,
    /// Latency case of divides and square roots.
    pub divide: DivideTime,
    /// Additional cycles until an operation other than a hash operation can read the result of a
    /// hash round.
    pub hash_forward: u8,
    /// Costs to omit.
    pub spared: Spared,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs {
            integer: PipeMask::I,
            logic: PipeMask::I,
            carry: PipeMask::I,
            divide: DivideTime::Worst,
            hash_forward: 0,
            spared: Spared::default(),
        }
    }
}

/// Latency case for all divides and square roots. Most operands end the operation early, and a
/// trace has no values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DivideTime {
    /// Longest published latency, with the pipe blocked until the result is ready.
    #[default]
    Worst,
    /// Integers: a quotient of half the register's bits. Floating point: the worst-case latency,
    /// with the pipe blocked for the measured time.
    Typical,
    /// Shortest published latency.
    Best,
}

impl Costs {
    /// Applies these costs to a decoded instruction. Its events stay.
    pub(crate) fn apply(&self, inst: &mut Inst) {
        self.choose_pipes(inst);
        self.time_divide(inst);
        self.leave_hash_unit(inst);
        if self.spared == Spared::default() {
            inst.finish_decode();
        } else {
            self.spared.apply(inst);
        }
    }

    /// Gives each group that may use any integer pipe the pipes of its class.
    fn choose_pipes(&self, inst: &mut Inst) {
        let computes = match inst {
            _ if inst.rename == Rename::Move => self.integer,
            _ if is_logic(inst.word) => self.logic,
            _ if inst.srcs().contains(&Reg::NZCV) && inst.dsts().contains(&Reg::NZCV) => self.carry,
            _ => self.integer,
        };
        for group in groups(inst).iter_mut().filter(|group| group.pipes == PipeMask::I) {
            group.pipes = if group.role == Role::Compute { computes } else { self.integer };
        }
    }

    fn time_divide(&self, inst: &mut Inst) {
        let is_best = match self.divide {
            DivideTime::Worst => return,
            DivideTime::Typical => false,
            DivideTime::Best => true,
        };
        let word = inst.word;
        let divides =
            |group: &&mut UopGroup| group.occupancy > 1 && group.occupancy == group.latency;
        for group in groups(inst).iter_mut().filter(divides) {
            if is_integer_divide(word) {
                group.latency = integer_divide(word, is_best);
                group.occupancy = group.latency;
            } else if group.pipes == PipeMask::V0 {
                group.occupancy = float_blocking(word, group.latency, is_best);
                if is_best {
                    group.latency = group.occupancy.max(SHORTEST_FLOAT);
                }
            }
        }
    }

    /// Keeps the latency between hash operations, and adds cycles for all other readers.
    fn leave_hash_unit(&self, inst: &mut Inst) {
        if self.hash_forward == 0 || !is_hash(inst.word) {
            return;
        }
        let latency = inst.uops[0].latency;
        inst.accumulate = Accumulate { family: family::HASH, src: Accumulate::EVERY, latency };
        inst.uops[0].latency += self.hash_forward;
    }
}

/// Returns the micro-operation groups of an instruction.
fn groups(inst: &mut Inst) -> &mut [UopGroup] {
    &mut inst.uops[..usize::from(inst.n_uop_groups)]
}

/// Returns true for `AND`, `ORR`, `EOR`, `BIC`, `ORN`, `EON` and the forms with flags, with an
/// immediate or a register.
fn is_logic(word: u32) -> bool {
    word & 0x1f80_0000 == 0x1200_0000 || word & 0x1f00_0000 == 0x0a00_0000
}

/// Returns true for `SDIV`, `UDIV`.
fn is_integer_divide(word: u32) -> bool {
    word & 0x7fe0_f800 == 0x1ac0_0800
}

/// Returns the cycles of an integer divide: four, and one for each four bits of the quotient. A
/// short divide takes five on the N1, V1 and X1 (insn_bench_aarch64).
fn integer_divide(word: u32, is_best: bool) -> u8 {
    let quotient_bits = match (is_best, word >> 31) {
        (true, _) => 4,
        (false, 0) => 16,
        (false, _) => 32,
    };
    4 + quotient_bits / 4
}

/// Latency of a floating-point divide or square root that ends early (optimization guides).
const SHORTEST_FLOAT: u8 = 7;

/// Returns the cycles for which a floating-point divide or square root of this worst-case latency
/// blocks its pipe. The values are those measured for the square roots of the N1, whose only such
/// unit has the same latency. They are H 1.5, S 1.75, D 7, 8H 10, 4S 7, 2D 14 (insn_bench_aarch64).
/// The shortest value is the value for D in the optimization guides.
fn float_blocking(word: u32, worst: u8, is_best: bool) -> u8 {
    // Lengths of scalar, 64-bit vector and 128-bit vector.
    let bytes = match (word >> 24, word >> 30 & 1) {
        (0x1e, _) => 0,
        (0x65, _) | (_, 1) => 16,
        _ => 8,
    };
    let (size, quarters) = match worst {
        7 | 13 => (2, 5),
        9 | 10 => (4, 7),
        _ if is_best => (8, 14),
        _ => (8, 28),
    };
    let elements: u8 = if bytes == 0 { 1 } else { bytes / size };
    (elements * quarters).div_ceil(4)
}

/// Returns true for `SHA1*`, `SHA256*`, `SHA512*`, `SM3*`, `SM4*`.
fn is_hash(word: u32) -> bool {
    let with_three = word & 0xffe0_8c00 == 0x5e00_0000;
    let with_two = word & 0xfffe_0c00 == 0x5e28_0800;
    let is_rax1 = word & 0xfc00 == 0x8c00;
    let long_with_three = word & 0xffe0_8000 == 0xce60_8000 && !is_rax1;
    let long_with_two = word & 0xffff_f800 == 0xcec0_8000;
    let is_sm3 = word & 0xffe0_0000 == 0xce40_0000;
    with_three || with_two || long_with_three || long_with_two || is_sm3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, decode};

    fn decoded(costs: Costs, word: u32) -> Inst {
        let mut program = Program::costing(costs);
        let id = program.intern(0x1000, word);
        *program.inst(id)
    }

    #[test]
    fn the_default_costs_equal_the_tables() {
        // add x0, x1, x2 ; eor x0, x1, x2 ; adcs x0, x1, x2 ; sdiv x0, x1, x2 ;
        // sha256h q0, q1, v2.4s
        for word in [0x8b02_0020, 0xca02_0020, 0xba02_0020, 0x9ac2_0c20, 0x5e02_4020] {
            assert_eq!(decoded(Costs::default(), word), decode(word));
        }
    }

    #[test]
    fn each_class_of_single_cycle_operations_has_its_pipes() {
        let integer = PipeMask(PipeMask::I.0 & !PipeMask::M0.0);
        let costs = Costs { integer, carry: PipeMask::M, ..Costs::default() };
        for (word, text, pipes) in [
            (0x8b02_0020, "add x0, x1, x2", integer),
            (0xeb01_001f, "cmp x0, x1", integer),
            (0x93c1_2820, "ror x0, x1, #10", integer),
            (0xaa01_03e0, "mov x0, x1", integer),
            (0xca02_0020, "eor x0, x1, x2", PipeMask::I),
            (0xca82_2820, "eor x0, x1, x2, asr #10", PipeMask::I),
            (0x9240_0020, "and x0, x1, #1", PipeMask::I),
            (0xea02_003f, "tst x1, x2", PipeMask::I),
            (0xba02_0020, "adcs x0, x1, x2", PipeMask::M),
            (0xfa42_0020, "ccmp x1, x2, #0, eq", PipeMask::M),
            (0x9a02_0020, "adc x0, x1, x2", integer),
            (0x9a82_0020, "csel x0, x1, x2, eq", integer),
        ] {
            assert_eq!(decoded(costs, word).uops[0].pipes, pipes, "{text}");
        }
        let load = decoded(costs, 0xf840_8420); // ldr x0, [x1], #8
        assert_eq!(load.uops[1].pipes, integer, "a base update is an addition");
    }

    #[test]
    fn divides_take_their_worst_typical_or_best_case() {
        for (word, text, cases) in [
            (0x1ac2_0c20, "sdiv w0, w1, w2", [(12, 12), (8, 8), (5, 5)]),
            (0x9ac2_0820, "udiv x0, x1, x2", [(20, 20), (12, 12), (5, 5)]),
            (0x1ee2_1820, "fdiv h0, h1, h2", [(7, 7), (7, 2), (7, 2)]),
            (0x1e22_1820, "fdiv s0, s1, s2", [(10, 10), (10, 2), (7, 2)]),
            (0x1e62_1820, "fdiv d0, d1, d2", [(15, 15), (15, 7), (7, 4)]),
            (0x1e61_c020, "fsqrt d0, d1", [(16, 16), (16, 7), (7, 4)]),
            (0x6e22_fc20, "fdiv v0.4s, v1.4s, v2.4s", [(10, 10), (10, 7), (7, 7)]),
            (0x2e22_fc20, "fdiv v0.2s, v1.2s, v2.2s", [(10, 10), (10, 4), (7, 4)]),
            (0x6ee1_f820, "fsqrt v0.2d, v1.2d", [(16, 16), (16, 14), (7, 7)]),
            (0x6e42_3c20, "fdiv v0.8h, v1.8h, v2.8h", [(13, 13), (13, 10), (10, 10)]),
            (0x9b02_7c20, "mul x0, x1, x2", [(2, 1); 3]),
        ] {
            let times = [DivideTime::Worst, DivideTime::Typical, DivideTime::Best].map(|divide| {
                let group = decoded(Costs { divide, ..Costs::default() }, word).uops[0];
                (group.latency, group.occupancy)
            });
            assert_eq!(times, cases, "{text}");
        }
    }

    #[test]
    fn only_hash_operations_read_a_hash_as_early_as_before() {
        let costs = Costs { hash_forward: 2, ..Costs::default() };
        for (word, text, latency) in [
            (0x5e02_4020, "sha256h q0, q1, v2.4s", 4),
            (0x5e28_2820, "sha256su0 v0.4s, v1.4s", 2),
            (0xce62_8020, "sha512h q0, q1, v2.2d", 2),
            (0xcec0_8420, "sm4e v0.4s, v1.4s", 4),
        ] {
            let inst = decoded(costs, word);
            assert_eq!((inst.uops[0].latency, inst.accumulate.latency), (latency + 2, latency));
            assert_eq!(inst.accumulate.src, Accumulate::EVERY, "{text}");
        }
        // rax1 v0.2d, v1.2d, v2.2d ; eor3 v0.16b, v1.16b, v2.16b, v3.16b ; aese v0.16b, v1.16b
        for word in [0xce62_8c20, 0xce02_0c20, 0x4e28_4820] {
            assert_eq!(decoded(costs, word), decode(word));
        }
    }
}
