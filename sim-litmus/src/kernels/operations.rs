//! Latencies and throughputs of instructions.

use super::kernel::Kernel;

/// `fmov` of 1.0 and 2.0 into V0 and V1.
const FLOATS: &str = "fmov d0, #1.0\nfmov d1, #1.0\nfmov d2, #1.0";
const VECTORS: &str = "movi v0.4s, #1\nmovi v1.4s, #1";
/// 2^62 and 2^31, whose quotient is 2^31 again.
const DIVISION: &str = "mov x3, #0x80000000\nmov x4, #0x4000000000000000";

/// A chain: name, instruction that needs its own last result, set-up, cycles of a round, meaning.
type Chain = (&'static str, &'static str, &'static str, f64, &'static str);

/// Instructions as words are extensions that an assembler may not have switched on.
const CHAINS: [Chain; 14] = [
    ("add-chain", "add x3, x3, #1", "", 1.0, "one dependent addition"),
    (
        "add-shifted-chain",
        "add x3, x4, x3, lsl #8",
        "",
        2.0,
        "one dependent addition with a long shift",
    ),
    ("mul-chain", "mul x3, x3, x4", "", 2.0, "one dependent multiplication"),
    (
        "udiv-chain",
        "udiv x3, x4, x3",
        DIVISION,
        12.0,
        "one dependent unsigned division of 64 bits, 2^62 by 2^31",
    ),
    (
        "sdiv-chain",
        "sdiv x3, x4, x3",
        DIVISION,
        12.0,
        "one dependent signed division of 64 bits, 2^62 by 2^31",
    ),
    ("fadd-chain", "fadd d0, d0, d1", FLOATS, 2.0, "one dependent addition of doubles"),
    ("fmul-chain", "fmul d0, d0, d1", FLOATS, 3.0, "one dependent multiplication of doubles"),
    (
        "fmadd-chain",
        "fmadd d0, d1, d2, d0",
        FLOATS,
        2.0,
        "one fused multiplication that needs only its addend from the last one",
    ),
    ("fdiv-chain", "fdiv d0, d0, d1", FLOATS, 12.0, "one dependent division of doubles, by 1"),
    ("fsqrt-chain", "fsqrt d0, d0", FLOATS, 12.0, "one dependent square root of a double, of 1"),
    (
        "vector-add-chain",
        "add v0.4s, v0.4s, v1.4s",
        VECTORS,
        2.0,
        "one dependent addition of vectors of integers",
    ),
    (
        "vector-mul-chain",
        "mul v0.4s, v0.4s, v1.4s",
        VECTORS,
        4.0,
        "one dependent multiplication of vectors of integers",
    ),
    (
        "aes-chain",
        ".inst 0x4e284820 // aese v0.16b, v1.16b\n.inst 0x4e286800 // aesmc v0.16b, v0.16b",
        VECTORS,
        2.0,
        "one dependent pair of AESE and AESMC",
    ),
    (
        "sve-add-chain",
        ".inst 0x04a10000 // add z0.s, z0.s, z1.s",
        VECTORS,
        2.0,
        "one dependent addition of SVE vectors",
    ),
];

/// Independent instructions: name, instruction with `{}` for the number of a register from 3, its
/// cycles, meaning.
type Many = (&'static str, &'static str, f64, &'static str);

const MANY: [Many; 9] = [
    ("add-many", "add x{}, x{}, #1", 0.3, "one addition, independent of the seven before it"),
    (
        "mul-many",
        "mul x{}, x{}, x12",
        1.0,
        "one multiplication, independent of the seven before it",
    ),
    (
        "fadd-many",
        "fadd d{}, d{}, d2",
        0.5,
        "one addition of doubles, independent of the seven before it",
    ),
    (
        "fmul-many",
        "fmul d{}, d{}, d2",
        0.5,
        "one multiplication of doubles, independent of the seven before it",
    ),
    ("fdiv-many", "fdiv d{}, d1, d2", 12.0, "one division of doubles, independent of all others"),
    (
        "vector-add-many",
        "add v{}.4s, v{}.4s, v2.4s",
        0.5,
        "one addition of vectors, independent of the seven before it",
    ),
    (
        "vector-mul-many",
        "mul v{}.4s, v{}.4s, v2.4s",
        1.0,
        "one multiplication of vectors, independent of the seven before it",
    ),
    (
        "load-many",
        "ldr x{}, [x0, #{} * 8]",
        0.4,
        "one load that hits the L1 D-cache, independent of all others",
    ),
    ("store-many", "str x{}, [x0, #{} * 8]", 0.5, "one store that hits the L1 D-cache"),
];

/// Returns the kernels.
pub(super) fn kernels() -> Vec<Kernel> {
    CHAINS.into_iter().map(chain).chain(MANY.into_iter().map(many)).collect()
}

fn chain((id, inst, enter, cycles, what): Chain) -> Kernel {
    Kernel::new(id, format!("a round is {what}"), inst, 16).entered_by(enter).timed(2048, cycles)
}

fn many((id, inst, cycles, what): Many) -> Kernel {
    let body: Vec<String> = (3..11).map(|i: u32| inst.replace("{}", &i.to_string())).collect();
    let enter = format!("{FLOATS}\nmov x12, #3");
    Kernel::new(id, format!("a round is {what}"), &body.join("\n"), 2)
        .of_rounds(8)
        .entered_by(&enter)
        .timed(2048, cycles)
}
