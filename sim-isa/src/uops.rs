//! Cost of each class of instruction: micro-operations, pipes, latency and occupancy.
//!
//! Every row names the class and its source. "LLVM N2 model" is the scheduling description of LLVM
//! for this core; "SWOG" denotes the software optimization guides of Arm's cores with the same
//! pipes. Where the two differ in occupancy, the row follows SWOG. Published latencies of classes
//! with several uops on one pipe contain the wait for that pipe; [`many`] subtracts it, and the
//! pipe model adds it.

use crate::inst::Accumulate;
use crate::micro_op::{PipeMask, Role, UopGroup};

/// The cost of an encoding, possibly selected by its element size, its Q bit or its lane count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    /// One fixed cost.
    One(Uops),
    /// By element size: 8, 16, 32, 64 bits.
    Elem([Uops; 4]),
    /// By bit 30: 64-bit or 128-bit vector.
    Q([Uops; 2]),
    /// By number of lanes: 1, 2, 4, 8, 16.
    Lanes([Uops; 5]),
}

impl Cost {
    /// Returns all possible costs.
    pub(crate) fn variants(&self) -> &[Uops] {
        match self {
            Cost::One(uops) => std::slice::from_ref(uops),
            Cost::Elem(uops) => uops,
            Cost::Q(uops) => uops,
            Cost::Lanes(uops) => uops,
        }
    }
}

/// The micro-operations of one instruction and its late accumulator forwarding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uops {
    pub(crate) groups: &'static [UopGroup],
    /// Family of [`family`] in which the result is forwarded late; 0 for none.
    pub(crate) family: u8,
    /// Latency from the result of the family to an accumulator operand.
    pub(crate) accumulate_latency: u8,
}

/// Accumulator families (LLVM N2 model: the read-advance lists).
pub(crate) mod family {
    pub(crate) const MADD: u8 = 1;
    pub(crate) const CRC: u8 = 2;
    pub(crate) const FMADD: u8 = 3;
    pub(crate) const FMLA: u8 = 4;
    pub(crate) const FCMLA: u8 = 5;
    pub(crate) const FMLAL: u8 = 6;
    pub(crate) const MLA: u8 = 7;
    pub(crate) const ABSDIFF: u8 = 8;
    pub(crate) const ADALP: u8 = 9;
    pub(crate) const SHIFT: u8 = 10;
    pub(crate) const SQRDMLAH: u8 = 11;
    pub(crate) const DOT: u8 = 12;
    pub(crate) const MMLA: u8 = 13;
    pub(crate) const BFDOT: u8 = 14;
    pub(crate) const BFMMLA: u8 = 15;
    pub(crate) const BFMLAL: u8 = 16;
    pub(crate) const CMLA: u8 = 17;
    pub(crate) const MLA_D: u8 = 18;
    pub(crate) const DOT_D: u8 = 19;
    pub(crate) const MLAL: u8 = 20;
    pub(crate) const SQDMLAL: u8 = 21;
    pub(crate) const SVE_FCMLA: u8 = 22;
    /// Hash operations of a machine whose other operations read their results later
    /// ([`crate::Costs`]).
    pub(crate) const HASH: u8 = 23;
}

const I: PipeMask = PipeMask::I;
const S: PipeMask = PipeMask::S;
const M: PipeMask = PipeMask::M;
const M0: PipeMask = PipeMask::M0;
const B: PipeMask = PipeMask::B;
const L: PipeMask = PipeMask::L;
const L01: PipeMask = PipeMask::L01;
const D: PipeMask = PipeMask::D;
const V: PipeMask = PipeMask::V;
const V0: PipeMask = PipeMask::V0;
const V1: PipeMask = PipeMask::V1;

/// Creates one micro-operation that computes.
const fn u(pipes: PipeMask, latency: u8) -> UopGroup {
    role(Role::Compute, pipes, latency)
}

const fn role(role: Role, pipes: PipeMask, latency: u8) -> UopGroup {
    UopGroup { pipes, role, count: 1, latency, occupancy: 1, flag_port: false }
}

/// Creates `count` copies of a micro-operation.
const fn times(count: u8, mut group: UopGroup) -> UopGroup {
    group.count = count;
    group
}

/// Creates `count` uops that share `pipes`; the last result is ready `total` cycles after the first
/// issue.
const fn many(count: u8, pipes: PipeMask, total: u8) -> UopGroup {
    let queue = count.div_ceil(pipes.0.count_ones() as u8) - 1;
    times(count, u(pipes, total - queue))
}

/// Makes a group block its pipe for `cycles`.
const fn blocking(cycles: u8, mut group: UopGroup) -> UopGroup {
    group.occupancy = cycles;
    group
}

/// Makes a group write NZCV from a single-cycle pipe.
const fn flags(mut group: UopGroup) -> UopGroup {
    group.flag_port = true;
    group
}

const fn ld(latency: u8) -> UopGroup {
    role(Role::Load, L, latency)
}

const fn after(pipes: PipeMask, latency: u8) -> UopGroup {
    role(Role::AfterLoad, pipes, latency)
}

const fn before(pipes: PipeMask, latency: u8) -> UopGroup {
    role(Role::Before, pipes, latency)
}

const STA: UopGroup = role(Role::StoreAddr, L01, 1);
const STD: UopGroup = role(Role::StoreData, D, 1);
const STV: UopGroup = role(Role::StoreData, V, 2);
const BASE: UopGroup = role(Role::BaseUpdate, I, 1);

const fn uops(groups: &'static [UopGroup]) -> Uops {
    Uops { groups, family: 0, accumulate_latency: 0 }
}

const fn late(groups: &'static [UopGroup], family: u8, accumulate_latency: u8) -> Uops {
    Uops { groups, family, accumulate_latency }
}

const fn one(groups: &'static [UopGroup]) -> Cost {
    Cost::One(uops(groups))
}

const fn acc(groups: &'static [UopGroup], family: u8, accumulate_latency: u8) -> Cost {
    Cost::One(late(groups, family, accumulate_latency))
}

/// Creates a cost with one value for 8, 16 and 32-bit elements, and another for 64-bit ones.
const fn bhs_d(bhs: Uops, d: Uops) -> Cost {
    Cost::Elem([bhs, bhs, bhs, d])
}

/// Creates a cost by half, single and double precision.
const fn hsd(h: Uops, s: Uops, d: Uops) -> Cost {
    Cost::Elem([h, h, s, d])
}

impl Uops {
    /// Returns the number of all micro-operations.
    pub(crate) fn total(&self) -> u32 {
        self.groups.iter().map(|group| u32::from(group.count)).sum()
    }

    /// Returns the forwarding of an instruction whose accumulator, if any, is source `src`.
    pub(crate) fn accumulate(&self, src: u8) -> Accumulate {
        Accumulate { family: self.family, src, latency: self.accumulate_latency }
    }
}

/// No micro-operation: hints, barriers, rename-time results [LLVM N2 model; SWOG: a slot, no pipe].
pub(crate) const NONE: Cost = one(&[]);

// Integer data processing [LLVM N2 model] ---------------------------------------------------------

/// Add, logic, move, select, bit field, one cycle on any integer pipe.
pub(crate) const ALU: Cost = one(&[u(I, 1)]);
/// Add, logic, move, select, bit field with flags: the three flag ports.
pub(crate) const ALU_FLAGS: Cost = one(&[flags(u(I, 1))]);
/// Add with a shift beyond LSL #4 or an extension.
pub(crate) const ALU_SHIFT: Cost = one(&[u(M, 2)]);
/// Add with a shift beyond LSL #4 or an extension, with flags.
pub(crate) const ALU_SHIFT_FLAGS: Cost = one(&[flags(u(M, 2))]);
/// Bit-field insert.
pub(crate) const BFM: Cost = one(&[u(M, 2)]);
/// Extract from two registers.
pub(crate) const EXTRACT: Cost = one(&[u(I, 3), u(M, 3)]);
/// Multiply.
pub(crate) const MUL: Cost = one(&[u(M, 2)]);
/// Multiply-add.
pub(crate) const MADD: Cost = acc(&[u(M0, 2)], family::MADD, 1);
/// High half of a product.
pub(crate) const MUL_HIGH: Cost = one(&[u(M, 3)]);
/// Divide, 32 bits; worst case of 5 to 12.
pub(crate) const DIV_W: Cost = one(&[blocking(12, u(M0, 12))]);
/// Divide, 64 bits; worst case of 5 to 20.
pub(crate) const DIV_X: Cost = one(&[blocking(20, u(M0, 20))]);
/// CRC32 step.
pub(crate) const CRC: Cost = acc(&[u(M0, 2)], family::CRC, 1);
/// Pointer authentication [latency: LLVM N2 model; one a cycle: SWOG].
pub(crate) const PAC: Cost = one(&[u(M0, 5)]);
/// Strip a pointer authentication code [SWOG].
pub(crate) const XPAC: Cost = one(&[u(M0, 2)]);
/// Tag arithmetic.
pub(crate) const TAG: Cost = one(&[u(M, 2)]);
/// Read of a system register that is renamed or constant [assumed: one transfer on M0].
pub(crate) const SYSTEM_READ: Cost = one(&[u(M0, 2)]);
/// Write of a system register [assumed: ten cycles on M0 after a serialized rename].
pub(crate) const SYSTEM_WRITE: Cost = one(&[u(M0, 10)]);
/// A word that the decoder does not know [assumed: one cycle].
pub(crate) const UNKNOWN: Cost = one(&[u(I, 1)]);

// Branches [LLVM N2 model] ------------------------------------------------------------------------

/// Branch without link.
pub(crate) const BRANCH: Cost = one(&[u(B, 1)]);
/// Branch with link: S writes X30.
pub(crate) const CALL: Cost = one(&[u(B, 1), u(S, 1)]);
/// Authenticated branch with and without link, 6 cycles in total.
pub(crate) const BRANCH_AUTH: Cost = one(&[before(M0, 5), u(B, 1)]);

// Scalar loads and stores [LLVM N2 model] ---------------------------------------------------------

/// Load of general registers.
pub(crate) const LOAD: Cost = one(&[ld(4)]);
/// Load of general registers with base update.
pub(crate) const LOAD_BASE: Cost = one(&[ld(4), BASE]);
/// Load of a pair of 64-bit registers.
pub(crate) const LOAD_2: Cost = one(&[times(2, ld(4))]);
/// Load of a pair of 64-bit registers with base update.
pub(crate) const LOAD_2_BASE: Cost = one(&[times(2, ld(4)), BASE]);
/// Load of a pair of sign-extended words [assumed: LLVM's M0 row is a placeholder].
pub(crate) const LOAD_PAIR_SIGNED: Cost = one(&[ld(4), after(I, 1)]);
/// Load of a pair of sign-extended words with base update.
pub(crate) const LOAD_PAIR_SIGNED_BASE: Cost = one(&[ld(4), after(I, 1), BASE]);
/// Authenticated load, 9 cycles in total.
pub(crate) const LOAD_AUTH: Cost = one(&[before(M0, 5), ld(4)]);
/// Authenticated load with base update.
pub(crate) const LOAD_AUTH_BASE: Cost = one(&[before(M0, 5), ld(4), BASE]);
/// Store of general registers, one or two.
pub(crate) const STORE: Cost = one(&[STA, STD]);
/// Store of general registers with base update.
pub(crate) const STORE_BASE: Cost = one(&[STA, STD, BASE]);
/// Store-exclusive: the store, and a status read on a load pipe.
pub(crate) const STORE_EXCLUSIVE: Cost = one(&[STA, STD, u(L, 5)]);
/// Prefetch, tag check only.
pub(crate) const PREFETCH: Cost = LOAD;
/// Cache maintenance by address [assumed: an address on a store pipe].
pub(crate) const MAINTENANCE: Cost = one(&[STA]);
/// Near atomic that returns a value, 14 cycles in total [CAS: LLVM N2 model; the others are assumed
/// equal].
pub(crate) const ATOMIC: Cost = one(&[role(Role::Load, L01, 4), after(M, 10), STD]);
/// Atomic without a result [assumed: like a store].
pub(crate) const ATOMIC_STORE: Cost = STORE;

// Scalar floating point [LLVM N2 model] -----------------------------------------------------------

/// Add, negate, minimum, select, immediate or register move.
pub(crate) const FADD: Cost = one(&[u(V, 2)]);
/// Multiply; its result reaches an accumulator early.
pub(crate) const FMUL: Cost = acc(&[u(V, 3)], family::FMADD, 1);
/// Fused multiply-add.
pub(crate) const FMADD: Cost = acc(&[u(V, 4)], family::FMADD, 2);
/// Compare to NZCV.
pub(crate) const FCMP: Cost = one(&[u(V0, 2)]);
/// Divide by precision, iterative.
pub(crate) const FDIV: Cost = hsd(
    uops(&[blocking(7, u(V0, 7))]),
    uops(&[blocking(10, u(V0, 10))]),
    uops(&[blocking(15, u(V0, 15))]),
);
/// Square root by precision, iterative.
pub(crate) const FSQRT: Cost = hsd(
    uops(&[blocking(7, u(V0, 7))]),
    uops(&[blocking(9, u(V0, 9))]),
    uops(&[blocking(16, u(V0, 16))]),
);
/// Round, convert between precisions, estimate.
pub(crate) const FCVT: Cost = one(&[u(V0, 3)]);
/// Convert to a general register.
pub(crate) const FCVT_TO_GENERAL: Cost = one(&[u(V, 3)]);
/// Convert or move from a general register [latency: LLVM N2 model; one a cycle: SWOG].
pub(crate) const FROM_GENERAL: Cost = one(&[u(M0, 3)]);
/// Move a general register into an element.
pub(crate) const INSERT_GENERAL: Cost = one(&[u(M0, 5), u(V, 5)]);
/// Move a vector element to a general register.
pub(crate) const TO_GENERAL: Cost = one(&[u(V, 2)]);
/// Newton steps.
pub(crate) const FRECPS: Cost = one(&[u(V, 4)]);

// Loads and stores of SIMD registers [LLVM N2 model] ----------------------------------------------

/// Load of one register or a pair of S or D.
pub(crate) const VLOAD: Cost = one(&[ld(6)]);
/// Load of one SIMD register or a pair of S or D, with base update.
pub(crate) const VLOAD_BASE: Cost = one(&[ld(6), BASE]);
/// Load of H and Q by register offset, 7 cycles: an address uop comes first.
pub(crate) const VLOAD_INDEXED: Cost = one(&[before(I, 1), ld(6)]);
/// Load of a pair of Q registers.
pub(crate) const VLOAD_2: Cost = one(&[times(2, ld(6))]);
/// Load of a pair of Q registers with base update.
pub(crate) const VLOAD_2_BASE: Cost = one(&[times(2, ld(6)), times(2, BASE)]);
/// Store of one register or a pair of S or D.
pub(crate) const VSTORE: Cost = one(&[STA, STV]);
/// Store of one SIMD register or a pair of S or D, with base update.
pub(crate) const VSTORE_BASE: Cost = one(&[STA, STV, BASE]);
/// Store of a pair of Q registers.
pub(crate) const VSTORE_PAIR_Q: Cost = one(&[STA, times(2, STV)]);
/// Store of a pair of Q registers, post-indexed.
pub(crate) const VSTORE_PAIR_Q_POST: Cost = one(&[STA, times(2, STV), BASE]);
/// Store of a pair of Q registers, pre-indexed.
pub(crate) const VSTORE_PAIR_Q_PRE: Cost = one(&[STA, times(2, STV), times(2, BASE)]);

/// SIMD structure loads and stores [LLVM N2 model]. The post-index forms add one base update.
pub(crate) mod structure {
    use super::*;

    /// Creates `permutes` uops on the vector pipes after `loads`, `total` cycles from issue to
    /// result.
    const fn permute(loads: u8, permutes: u8, total: u8) -> UopGroup {
        let waits = loads.div_ceil(3) - 1 + permutes.div_ceil(2) - 1;
        let left = total - 6 - waits;
        times(permutes, after(V, if left == 0 { 1 } else { left }))
    }

    /// Loads, then permutations, for 64-bit and for 128-bit registers: (loads, permutes, cycles).
    macro_rules! loads {
        (
            $name:ident $post:ident:
            q0 ($l0:expr, $v0:expr, $c0:expr), q1 ($l1:expr, $v1:expr, $c1:expr)
        ) => {
            pub(crate) const $name: Cost = Cost::Q([
                uops(&[times($l0, ld(6)), permute($l0, $v0, $c0)]),
                uops(&[times($l1, ld(6)), permute($l1, $v1, $c1)]),
            ]);
            pub(crate) const $post: Cost = Cost::Q([
                uops(&[times($l0, ld(6)), permute($l0, $v0, $c0), BASE]),
                uops(&[times($l1, ld(6)), permute($l1, $v1, $c1), BASE]),
            ]);
        };
    }

    /// Loads without a permutation.
    macro_rules! plain_loads {
        ($name:ident $post:ident: $count:expr) => {
            pub(crate) const $name: Cost = one(&[times($count, ld(6))]);
            pub(crate) const $post: Cost = one(&[times($count, ld(6)), BASE]);
        };
    }

    /// Creates the data uops of `count` stores; the last data is ready `total` cycles after the
    /// first issue.
    const fn data(count: u8, total: u8) -> UopGroup {
        times(count, role(Role::StoreData, V, total - (count.div_ceil(2) - 1)))
    }

    /// `count` store addresses and as many store data uops.
    macro_rules! stores {
        ($name:ident $post:ident: q0 ($n0:expr, $c0:expr), q1 ($n1:expr, $c1:expr)) => {
            pub(crate) const $name: Cost = Cost::Q([
                uops(&[times($n0, STA), data($n0, $c0)]),
                uops(&[times($n1, STA), data($n1, $c1)]),
            ]);
            pub(crate) const $post: Cost = Cost::Q([
                uops(&[times($n0, STA), data($n0, $c0), BASE]),
                uops(&[times($n1, STA), data($n1, $c1), BASE]),
            ]);
        };
    }

    plain_loads!(LD1_1 LD1_1_POST: 1);
    plain_loads!(LD1_2 LD1_2_POST: 2);
    plain_loads!(LD1_3 LD1_3_POST: 3);
    plain_loads!(LD1_4 LD1_4_POST: 4);
    loads!(LD1_LANE LD1_LANE_POST: q0 (1, 1, 8), q1 (1, 1, 8));
    loads!(LD1R LD1R_POST: q0 (1, 1, 8), q1 (1, 1, 8));
    loads!(LD2 LD2_POST: q0 (1, 2, 8), q1 (2, 2, 8));
    loads!(LD2_LANE LD2_LANE_POST: q0 (1, 2, 8), q1 (1, 2, 8));
    loads!(LD2R LD2R_POST: q0 (1, 2, 8), q1 (1, 2, 8));
    loads!(LD3 LD3_POST: q0 (2, 3, 8), q1 (3, 3, 8));
    loads!(LD3_LANE LD3_LANE_POST: q0 (2, 3, 8), q1 (2, 3, 8));
    loads!(LD3R LD3R_POST: q0 (2, 3, 8), q1 (3, 3, 8));
    loads!(LD4 LD4_POST: q0 (3, 4, 8), q1 (4, 4, 9));
    loads!(LD4_LANE LD4_LANE_POST: q0 (3, 4, 8), q1 (3, 4, 8));
    loads!(LD4R LD4R_POST: q0 (3, 4, 8), q1 (4, 4, 8));
    stores!(ST1_1 ST1_1_POST: q0 (1, 2), q1 (1, 2));
    stores!(ST1_2 ST1_2_POST: q0 (1, 2), q1 (2, 2));
    stores!(ST1_3 ST1_3_POST: q0 (2, 2), q1 (3, 2));
    stores!(ST1_4 ST1_4_POST: q0 (2, 2), q1 (4, 2));
    stores!(ST1_LANE ST1_LANE_POST: q0 (1, 4), q1 (1, 4));
    stores!(ST2 ST2_POST: q0 (1, 4), q1 (2, 4));
    stores!(ST2_LANE ST2_LANE_POST: q0 (1, 4), q1 (1, 4));
    stores!(ST3 ST3_POST: q0 (2, 5), q1 (3, 6));
    stores!(ST3_LANE ST3_LANE_POST: q0 (3, 6), q1 (3, 6));
    stores!(ST4 ST4_POST: q0 (3, 6), q1 (6, 7));
    stores!(ST4_D ST4_D_POST: q0 (3, 6), q1 (4, 5));
    stores!(ST4_LANE ST4_LANE_POST: q0 (3, 6), q1 (3, 6));
    stores!(ST4_LANE_D ST4_LANE_D_POST: q0 (3, 4), q1 (3, 4));
}

/// Advanced SIMD [LLVM N2 model].
pub(crate) mod simd {
    use super::*;

    /// Default vector operation.
    pub(crate) const ALU: Cost = one(&[u(V, 2)]);
    /// Basic shifts.
    pub(crate) const SHIFT: Cost = one(&[u(V1, 2)]);
    /// Rounding and saturating shifts, saturating narrowing.
    pub(crate) const SHIFT_ROUND: Cost = one(&[u(V1, 4)]);
    /// Shift and accumulate.
    pub(crate) const SHIFT_ADD: Cost = acc(&[u(V1, 4)], family::SHIFT, 1);
    /// Absolute difference and accumulate.
    pub(crate) const ABA: Cost = acc(&[u(V1, 4)], family::ABSDIFF, 1);
    /// Pairwise long add and accumulate.
    pub(crate) const ADALP: Cost = acc(&[u(V1, 4)], family::ADALP, 1);
    pub(crate) const MUL: Cost = one(&[u(V0, 4)]);
    pub(crate) const MLA: Cost = acc(&[u(V0, 4)], family::MLA, 1);
    pub(crate) const MLAL: Cost = acc(&[u(V0, 4)], family::MLAL, 1);
    pub(crate) const SQRDMLAH: Cost = acc(&[u(V0, 4)], family::SQRDMLAH, 2);
    /// Saturating doubling multiply-add long: no late forwarding.
    pub(crate) const SQDMLAL: Cost = one(&[u(V0, 4)]);
    pub(crate) const MULL: Cost = one(&[u(V, 3)]);
    pub(crate) const PMUL: Cost = one(&[u(V0, 3)]);
    pub(crate) const PMULL_D: Cost = one(&[u(V0, 2)]);
    pub(crate) const DOT: Cost = acc(&[u(V, 3)], family::DOT, 1);
    pub(crate) const MMLA: Cost = acc(&[u(V, 3)], family::MMLA, 1);

    const REDUCE_4: Uops = uops(&[u(V1, 2)]);
    const REDUCE_8: Uops = uops(&[u(V1, 4), u(V, 4)]);
    /// Sum across lanes; two lanes do not occur.
    pub(crate) const ADDV: Cost =
        Cost::Lanes([REDUCE_4, REDUCE_4, REDUCE_4, REDUCE_8, uops(&[u(V1, 4)])]);
    /// Sum across lanes to twice the width. Its lanes count in the wider element.
    pub(crate) const ADDLV: Cost =
        Cost::Lanes([REDUCE_4, REDUCE_4, REDUCE_8, uops(&[u(V1, 4)]), uops(&[u(V1, 4)])]);
    /// Minimum and maximum across lanes.
    pub(crate) const MAXV: Cost =
        Cost::Lanes([REDUCE_4, REDUCE_4, REDUCE_4, REDUCE_8, uops(&[many(2, V1, 4)])]);

    /// Table look-up in three and four registers.
    pub(crate) const TABLE_3: Cost = one(&[many(2, V, 4)]);
    pub(crate) const TABLE_4: Cost = one(&[many(4, V, 4)]);
    /// Table look-up that keeps the destination.
    pub(crate) const TABLE_EXTEND_2: Cost = one(&[many(2, V, 4)]);
    pub(crate) const TABLE_EXTEND_3: Cost = one(&[many(4, V, 6)]);
    pub(crate) const TABLE_EXTEND_4: Cost = one(&[many(8, V, 6)]);

    /// Multiply; its result reaches an accumulator early.
    pub(crate) const FMUL: Cost = acc(&[u(V, 3)], family::FMLA, 1);
    pub(crate) const FMLA: Cost = acc(&[u(V, 4)], family::FMLA, 2);
    pub(crate) const FCMLA: Cost = acc(&[u(V, 4)], family::FCMLA, 2);
    pub(crate) const FMLAL: Cost = acc(&[u(V, 5)], family::FMLAL, 3);
    const FMAXV_4: Uops = uops(&[u(V, 4)]);
    pub(crate) const FMAXV: Cost =
        Cost::Lanes([FMAXV_4, FMAXV_4, FMAXV_4, uops(&[many(2, V, 6)]), FMAXV_4]);
    const CONVERT_2: Uops = uops(&[u(V0, 3)]);
    /// Conversions, rounding and estimates: two elements a cycle.
    pub(crate) const CONVERT: Cost = Cost::Lanes([
        CONVERT_2,
        CONVERT_2,
        uops(&[many(2, V0, 4)]),
        uops(&[many(4, V0, 6)]),
        CONVERT_2,
    ]);
    /// Conversion between half and single precision.
    pub(crate) const FCVT_HALF: Cost = one(&[many(2, V0, 4)]);
    const fn divide(cycles: u8) -> UopGroup {
        blocking(cycles, u(V0, cycles))
    }
    pub(crate) const FDIV: Cost = hsd(uops(&[divide(7)]), uops(&[divide(10)]), uops(&[divide(15)]));
    pub(crate) const FDIV_H: Cost = Cost::Q([uops(&[divide(7)]), uops(&[divide(13)])]);
    pub(crate) const FSQRT: Cost =
        hsd(uops(&[divide(7)]), uops(&[divide(10)]), uops(&[divide(16)]));
    pub(crate) const FSQRT_H: Cost = FDIV_H;
    pub(crate) const BFCVTN: Cost = one(&[u(V0, 4)]);
    pub(crate) const BFDOT: Cost = acc(&[u(V, 4)], family::BFDOT, 2);
    pub(crate) const BFMMLA: Cost = acc(&[u(V, 5)], family::BFMMLA, 3);
    pub(crate) const BFMLAL: Cost = acc(&[u(V, 4)], family::BFMLAL, 1);

    pub(crate) const AES: Cost = ALU;
    /// Hash rounds.
    pub(crate) const HASH: Cost = one(&[u(V0, 4)]);
    /// Message schedules and three-way logic.
    pub(crate) const HASH_SCHEDULE: Cost = one(&[u(V0, 2)]);
}

/// Scalable vectors of 128 bits [LLVM N2 model].
pub(crate) mod sve {
    use super::*;

    /// Default vector operation.
    pub(crate) const ALU: Cost = simd::ALU;
    pub(crate) const SHIFT: Cost = simd::SHIFT;
    pub(crate) const SHIFT_ROUND: Cost = simd::SHIFT_ROUND;
    pub(crate) const ADALP: Cost = simd::ADALP;
    /// Multiply; two uops for 64-bit elements.
    pub(crate) const MUL: Cost = bhs_d(uops(&[u(V0, 4)]), uops(&[many(2, V0, 5)]));
    pub(crate) const MULL: Cost = one(&[u(V0, 4)]);
    const MLA_D: Uops = late(&[many(2, V0, 5)], family::MLA_D, 3);
    pub(crate) const MLA: Cost = bhs_d(late(&[u(V0, 4)], family::MLA, 1), MLA_D);
    pub(crate) const CMLA: Cost = bhs_d(late(&[u(V0, 4)], family::CMLA, 1), MLA_D);
    pub(crate) const MLAL: Cost = simd::MLAL;
    pub(crate) const SQDMLAL: Cost = acc(&[u(V0, 4)], family::SQDMLAL, 2);
    pub(crate) const SQRDMLAH: Cost = bhs_d(late(&[u(V0, 4)], family::SQRDMLAH, 2), MLA_D);
    /// Dot product to 32-bit and to 64-bit elements.
    pub(crate) const DOT: Cost =
        bhs_d(late(&[u(V, 3)], family::DOT, 1), late(&[u(V0, 4)], family::DOT_D, 1));
    pub(crate) const PMUL: Cost = one(&[u(V0, 2)]);
    /// Divide; the pipe accepts the next one a cycle before the result [occupancy: SWOG].
    pub(crate) const DIV: Cost =
        bhs_d(uops(&[blocking(11, u(V0, 12))]), uops(&[blocking(19, u(V0, 20))]));
    pub(crate) const BIT_PERMUTE: Cost = one(&[many(2, V1, 6)]);
    /// Compare to predicate and flags.
    pub(crate) const COMPARE: Cost = one(&[u(V0, 4), u(M, 4)]);
    pub(crate) const MATCH: Cost = one(&[u(V0, 2), u(M, 2)]);
    /// Creates two uops that keep both pipes busy for a cycle, then two on V1.
    const fn reduce(cycles: u8) -> [UopGroup; 2] {
        [many(2, V, cycles), times(2, u(V1, cycles - 2))]
    }
    /// Integer reductions by source element.
    pub(crate) const REDUCE_B: Cost = one(&reduce(11));
    pub(crate) const REDUCE_H: Cost = one(&reduce(9));
    pub(crate) const REDUCE_SD: Cost = one(&reduce(8));
    pub(crate) const REDUCE: Cost =
        Cost::Elem([uops(&reduce(11)), uops(&reduce(9)), uops(&reduce(8)), uops(&reduce(8))]);
    pub(crate) const REDUCE_LOGIC: Cost = one(&[u(V1, 6), u(V, 6)]);
    pub(crate) const ESTIMATE: Cost = one(&[many(2, V0, 4)]);
    pub(crate) const INDEX: Cost = bhs_d(uops(&[u(V0, 4)]), uops(&[many(2, V0, 5)]));
    pub(crate) const INDEX_GENERAL: Cost =
        bhs_d(uops(&[u(M0, 7), u(V0, 7)]), uops(&[many(2, M0, 8), many(2, V0, 8)]));
    /// Vector increments and decrements by element count.
    pub(crate) const COUNT_VECTOR: Cost = one(&[u(V0, 2)]);

    pub(crate) const DUP_GENERAL: Cost = one(&[u(M0, 3)]);
    pub(crate) const CPY_GENERAL: Cost = one(&[u(M0, 5), u(V, 5)]);
    /// Insert from, or last element to, a general register.
    pub(crate) const TRANSFER: Cost = one(&[u(V1, 5), u(M0, 5)]);
    /// Last element, compaction and splicing between vectors.
    pub(crate) const EXTRACT_LAST: Cost = one(&[u(V1, 3)]);
    pub(crate) const CLAST_GENERAL: Cost = one(&[u(M0, 8), u(V1, 8), u(V, 8)]);

    pub(crate) const PREDICATE_PERMUTE: Cost = one(&[u(M, 2)]);
    /// `WHILE`, `PFIRST`, `PNEXT`, `PTRUES`.
    pub(crate) const PREDICATE_STEP: Cost = one(&[u(M, 3)]);
    pub(crate) const PREDICATE_LOGIC: Cost = one(&[u(M0, 1)]);
    pub(crate) const PREDICATE_LOGIC_FLAGS: Cost = one(&[u(M0, 2), u(M, 2)]);
    pub(crate) const BREAK: Cost = one(&[u(M, 2)]);
    pub(crate) const BREAK_FLAGS: Cost = one(&[u(M, 3)]);
    pub(crate) const BREAK_PAIR: Cost = one(&[u(M0, 2)]);
    pub(crate) const BREAK_PAIR_FLAGS: Cost = one(&[u(M0, 3), u(M, 3)]);
    pub(crate) const PREDICATE_TEST: Cost = one(&[u(M, 1)]);
    /// Counters in general registers.
    pub(crate) const COUNT: Cost = one(&[u(M, 2)]);
    pub(crate) const COUNT_PREDICATE_VECTOR: Cost = one(&[u(M0, 7), u(M, 7), u(V, 7)]);
    pub(crate) const FAULT_READ: Cost = one(&[u(M0, 2)]);
    pub(crate) const FAULT_READ_PREDICATED: Cost = one(&[u(M0, 3), u(M, 3)]);
    pub(crate) const FAULT_READ_FLAGS: Cost = one(&[many(2, M0, 4), times(2, u(M, 3))]);
    pub(crate) const FAULT_WRITE: Cost = one(&[blocking(2, u(M0, 2))]);

    /// Scale, complex add, trigonometric helpers.
    pub(crate) const FMULTIPLY: Cost = one(&[u(V, 3)]);
    pub(crate) const FCMLA: Cost = acc(&[u(V, 5)], family::SVE_FCMLA, 2);
    pub(crate) const FCOMPARE: Cost = one(&[u(V0, 2)]);
    pub(crate) const FADDA: Cost = hsd(uops(&[u(V1, 10)]), uops(&[u(V1, 6)]), uops(&[u(V, 4)]));
    pub(crate) const FREDUCE: Cost =
        hsd(uops(&[many(2, V, 6)]), uops(&[u(V, 4)]), uops(&[u(V, 2)]));
    /// Conversions, rounding and estimates by the larger element.
    pub(crate) const CONVERT: Cost =
        hsd(uops(&[many(4, V0, 6)]), uops(&[many(2, V0, 4)]), uops(&[u(V0, 3)]));
    pub(crate) const FRECPS: Cost = one(&[u(V0, 4)]);
    const fn divide(cycles: u8) -> UopGroup {
        blocking(cycles, u(V0, cycles))
    }
    /// Iterative divide; it blocks the pipe as long as the Advanced SIMD forms do [SWOG].
    pub(crate) const FDIV: Cost =
        hsd(uops(&[divide(13)]), uops(&[divide(10)]), uops(&[divide(15)]));
    pub(crate) const FSQRT: Cost =
        hsd(uops(&[divide(13)]), uops(&[divide(10)]), uops(&[divide(16)]));
    pub(crate) const FEXPA: Cost = one(&[u(V1, 3)]);
    pub(crate) const FTMAD: Cost = one(&[u(V, 4)]);
    pub(crate) const BFCVT: Cost = one(&[u(V0, 3)]);

    /// SVE memory operations.
    pub(crate) mod memory {
        use super::*;

        /// Creates permutations after `loads`, `total` cycles from issue to result.
        const fn permute(loads: u8, pipes: PipeMask, permutes: u8, total: u8) -> UopGroup {
            let waits = loads.div_ceil(3) - 1;
            let queue = permutes.div_ceil(pipes.0.count_ones() as u8) - 1;
            times(permutes, after(pipes, total - 6 - waits - queue))
        }

        pub(crate) const LOAD: Cost = one(&[ld(6)]);
        /// Indexed load; only the store address pipes compute this address.
        pub(crate) const LOAD_INDEXED: Cost = one(&[role(Role::Load, L01, 6)]);
        /// First-fault and non-temporal loads by register.
        pub(crate) const LOAD_FAULT: Cost = one(&[before(S, 0), ld(6)]);
        pub(crate) const LOAD_PREDICATE: Cost = one(&[ld(4), after(M, 2)]);
        pub(crate) const LOAD_2: Cost = one(&[ld(6), permute(1, V, 1, 8)]);
        pub(crate) const LOAD_2_INDEXED: Cost = one(&[ld(6), permute(1, V, 1, 9)]);
        pub(crate) const LOAD_3: Cost = one(&[ld(6), permute(1, V, 1, 9)]);
        pub(crate) const LOAD_3_INDEXED: Cost = one(&[before(S, 1), ld(6), permute(1, V, 1, 9)]);
        pub(crate) const LOAD_4: Cost = one(&[times(2, ld(6)), permute(2, V, 2, 9)]);
        pub(crate) const LOAD_4_INDEXED: Cost =
            one(&[times(2, before(S, 1)), times(2, ld(6)), permute(2, V, 2, 9)]);
        pub(crate) const GATHER_32: Cost = one(&[ld(6), permute(1, V, 1, 9)]);
        pub(crate) const GATHER_32_SCALED: Cost = one(&[times(2, ld(6)), permute(2, V, 2, 10)]);
        pub(crate) const GATHER_64: Cost = one(&[times(2, ld(6)), permute(2, V, 2, 9)]);
        /// Non-temporal gather [LLVM lists no load; read as two].
        pub(crate) const GATHER_64_STREAM: Cost = one(&[times(2, ld(6)), permute(2, V1, 2, 10)]);

        /// Creates the data uops of `count` stores; the last data is ready `total` cycles after the
        /// first issue.
        const fn data(count: u8, total: u8) -> UopGroup {
            times(count, role(Role::StoreData, V, total - (count.div_ceil(2) - 1)))
        }
        pub(crate) const STORE: Cost = one(&[STA, data(1, 2)]);
        pub(crate) const STORE_INDEXED: Cost = one(&[STA, u(S, 1), data(1, 2)]);
        pub(crate) const STORE_PREDICATE: Cost = one(&[STA]);
        pub(crate) const STORE_2: Cost = one(&[STA, data(1, 4)]);
        pub(crate) const STORE_2_INDEXED: Cost = one(&[STA, u(S, 1), data(1, 4)]);
        pub(crate) const STORE_3: Cost = one(&[times(5, STA), data(5, 7)]);
        pub(crate) const STORE_3_INDEXED: Cost =
            one(&[times(5, STA), times(5, u(S, 1)), data(5, 7)]);
        pub(crate) const STORE_4: Cost = one(&[times(9, STA), data(9, 11)]);
        pub(crate) const STORE_4_INDEXED: Cost =
            one(&[times(9, STA), times(9, u(S, 1)), data(9, 11)]);
        pub(crate) const SCATTER_32: Cost = one(&[times(2, STA), data(2, 4)]);
        pub(crate) const SCATTER_64: Cost = one(&[STA, data(1, 2)]);
    }
}
