//! The A64 words of the kernels; registers are numbers, destination first.

const fn three(opcode: u32, d: u32, n: u32, m: u32) -> u32 {
    opcode | m << 16 | n << 5 | d
}

/// `add xd, xn, #1`
pub(super) const fn add_x(d: u32, n: u32) -> u32 {
    three(0x9100_0400, d, n, 0)
}

/// `eor xd, xn, xm`
pub(super) const fn eor_x(d: u32, n: u32, m: u32) -> u32 {
    three(0xca00_0000, d, n, m)
}

/// `madd xd, xn, xm, xa`
pub(super) const fn madd_x(d: u32, n: u32, m: u32, a: u32) -> u32 {
    three(0x9b00_0000, d, n, m) | a << 10
}

/// `mul xd, xn, xm`
pub(super) const fn mul_x(d: u32, n: u32, m: u32) -> u32 {
    madd_x(d, n, m, 31)
}

/// `mov xd, xm`
pub(super) const fn mov_x(d: u32, m: u32) -> u32 {
    three(0xaa00_0000, d, 31, m)
}

/// `mov xd, #0`
pub(super) const fn movz_0(d: u32) -> u32 {
    0xd280_0000 | d
}

/// `cmp xn, xm`
pub(super) const fn cmp_x(n: u32, m: u32) -> u32 {
    three(0xeb00_0000, 31, n, m)
}

/// `cbz xt, .+8`
pub(super) const fn cbz_x_over_one(t: u32) -> u32 {
    0xb400_0040 | t
}

/// `b .-4 * words`
pub(super) const fn b_back(words: u32) -> u32 {
    0x1400_0000 | words.wrapping_neg() & 0x03ff_ffff
}

/// `ldr xt, [xn]`
pub(super) const fn ldr_x(t: u32, n: u32) -> u32 {
    three(0xf940_0000, t, n, 0)
}

/// `ldur xt, [xn, #4]`
pub(super) const fn ldur_x_4(t: u32, n: u32) -> u32 {
    three(0xf840_4000, t, n, 0)
}

/// `str xt, [xn]`
pub(super) const fn str_x(t: u32, n: u32) -> u32 {
    three(0xf900_0000, t, n, 0)
}

/// `ldr dt, [xn]`
pub(super) const fn ldr_d(t: u32, n: u32) -> u32 {
    three(0xfd40_0000, t, n, 0)
}

/// `fadd dd, dn, dm`
pub(super) const fn fadd_d(d: u32, n: u32, m: u32) -> u32 {
    three(0x1e60_2800, d, n, m)
}

/// `fadd vd.4s, vn.4s, vm.4s`
pub(super) const fn fadd_4s(d: u32, n: u32, m: u32) -> u32 {
    three(0x4e20_d400, d, n, m)
}

/// `fmla vd.4s, vn.4s, vm.4s`
pub(super) const fn fmla_4s(d: u32, n: u32, m: u32) -> u32 {
    three(0x4e20_cc00, d, n, m)
}

/// `add vd.4s, vn.4s, vm.4s`
pub(super) const fn add_4s(d: u32, n: u32, m: u32) -> u32 {
    three(0x4ea0_8400, d, n, m)
}

/// `mul vd.4s, vn.4s, vm.4s`
pub(super) const fn mul_4s(d: u32, n: u32, m: u32) -> u32 {
    three(0x4ea0_9c00, d, n, m)
}
