//! Loads and stores of general registers and single vector registers, exclusives, atomics, tags
//! (Arm ARM C4.1, "Loads and Stores").

use sim_core::TagUse;

use crate::inst::MemOp::{
    self, AtomicLoad, AtomicStore, AtomicSwap, PrefetchInst, PrefetchLoad, PrefetchStore,
};
use crate::inst::Rename;
use crate::row::Size::{self, Bytes, Elems};
use crate::row::{Row, load, mem, other, store};
use crate::uops::{
    ATOMIC, ATOMIC_STORE, Cost, LOAD, LOAD_2, LOAD_2_BASE, LOAD_AUTH, LOAD_AUTH_BASE, LOAD_BASE,
    LOAD_PAIR_SIGNED, LOAD_PAIR_SIGNED_BASE, NONE, PREFETCH, STORE, STORE_BASE, STORE_EXCLUSIVE,
    VLOAD, VLOAD_2, VLOAD_2_BASE, VLOAD_BASE, VLOAD_INDEXED, VSTORE, VSTORE_BASE, VSTORE_PAIR_Q,
    VSTORE_PAIR_Q_POST, VSTORE_PAIR_Q_PRE,
};

/// Creates a row for a load of one general register from `[Xn]`.
const fn ldr(bits: &'static str, cost: Cost) -> Row {
    load(bits, "xt = [sn]", cost, Elems(1), 0)
}

/// Creates a row for a store of one general register to `[Xn]`.
const fn str(bits: &'static str, cost: Cost) -> Row {
    store(bits, "= [sn] xt", cost, Elems(1), 0)
}

/// Creates a row for a load of one general register with base update.
const fn ldr_base(bits: &'static str) -> Row {
    load(bits, "xt sn = [sn]", LOAD_BASE, Elems(1), 0)
}

/// Creates a row for a load of one vector register of `bytes`.
const fn vldr(bits: &'static str, regs: &'static str, cost: Cost, bytes: u8) -> Row {
    load(bits, regs, cost, Bytes(bytes as u16), bytes)
}

/// Creates a row for a store of one vector register of `bytes`.
const fn vstr(bits: &'static str, regs: &'static str, cost: Cost, bytes: u8) -> Row {
    store(bits, regs, cost, Bytes(bytes as u16), bytes)
}

/// Creates a row for a prefetch, which has no size of its own.
const fn prefetch(bits: &'static str, regs: &'static str, op: MemOp) -> Row {
    mem(bits, regs, PREFETCH, op, Bytes(1), 1)
}

/// Creates a row for a prefetch hint without meaning.
const fn no_prefetch(bits: &'static str) -> Row {
    other(bits, "=", NONE).renamed(Rename::Nop)
}

/// Creates a row for a read-modify-write of one register at `[Xn]`.
const fn atomic(bits: &'static str, op: MemOp) -> Row {
    mem(bits, "xt = [sn] xs", ATOMIC, op, Elems(1), 0)
}

/// Creates a row for a compare and swap of one register.
const fn cas(bits: &'static str) -> Row {
    mem(bits, "xs = [sn] xs xt", ATOMIC, AtomicLoad, Elems(1), 0)
}

/// Creates a row for a compare and swap of two registers of 4 or 8 bytes.
const fn casp(bits: &'static str, bytes: u8) -> Row {
    mem(bits, "xs*2 = [sn] xs*2 xt*2", ATOMIC, AtomicLoad, Bytes(bytes as u16), bytes)
}

/// Returns the size of a pair with `bytes` each.
const fn pair(bytes: u8) -> Size {
    Bytes(2 * bytes as u16)
}

pub(super) const ROWS: &[Row] = &[
    // STXR, STLXR; LDXR, LDAXR
    store("zz001000_000_sssss_0....._nnnnn_ttttt", "xs = [sn] xt", STORE_EXCLUSIVE, Elems(1), 0)
        .exclusive(),
    store("zz001000_000_sssss_1....._nnnnn_ttttt", "xs = [sn] xt", STORE_EXCLUSIVE, Elems(1), 0)
        .exclusive()
        .release(),
    ldr("zz001000_010_....._0....._nnnnn_ttttt", LOAD).exclusive(),
    ldr("zz001000_010_....._1....._nnnnn_ttttt", LOAD).exclusive().acquire(),
    // STXP, STLXP; LDXP, LDAXP: the pair as a whole decides alignment
    store("10001000_001_sssss_0uuuuu_nnnnn_ttttt", "xs = [sn] xt xu", STORE_EXCLUSIVE, pair(4), 8)
        .exclusive(),
    store("10001000_001_sssss_1uuuuu_nnnnn_ttttt", "xs = [sn] xt xu", STORE_EXCLUSIVE, pair(4), 8)
        .exclusive()
        .release(),
    load("10001000_011_....._0uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD, pair(4), 8).exclusive(),
    load("10001000_011_....._1uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD, pair(4), 8)
        .exclusive()
        .acquire(),
    store("11001000_001_sssss_0uuuuu_nnnnn_ttttt", "xs = [sn] xt xu", STORE_EXCLUSIVE, pair(8), 16)
        .exclusive(),
    store("11001000_001_sssss_1uuuuu_nnnnn_ttttt", "xs = [sn] xt xu", STORE_EXCLUSIVE, pair(8), 16)
        .exclusive()
        .release(),
    load("11001000_011_....._0uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD_2, pair(8), 16).exclusive(),
    load("11001000_011_....._1uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD_2, pair(8), 16)
        .exclusive()
        .acquire(),
    // CASP of words and of doublewords, with its orderings
    casp("00001000_001_sssss_011111_nnnnn_ttttt", 8),
    casp("00001000_001_sssss_111111_nnnnn_ttttt", 8).release(),
    casp("00001000_011_sssss_011111_nnnnn_ttttt", 8).acquire(),
    casp("00001000_011_sssss_111111_nnnnn_ttttt", 8).acquire().release(),
    casp("01001000_001_sssss_011111_nnnnn_ttttt", 16),
    casp("01001000_001_sssss_111111_nnnnn_ttttt", 16).release(),
    casp("01001000_011_sssss_011111_nnnnn_ttttt", 16).acquire(),
    casp("01001000_011_sssss_111111_nnnnn_ttttt", 16).acquire().release(),
    // CAS with its orderings
    cas("zz001000_101_sssss_011111_nnnnn_ttttt"),
    cas("zz001000_101_sssss_111111_nnnnn_ttttt").release(),
    cas("zz001000_111_sssss_011111_nnnnn_ttttt").acquire(),
    cas("zz001000_111_sssss_111111_nnnnn_ttttt").acquire().release(),
    // STLLR, STLR; LDLAR, LDAR; LDAPR
    str("zz001000_100_....._o....._nnnnn_ttttt", STORE).release(),
    ldr("zz001000_110_....._o....._nnnnn_ttttt", LOAD).acquire(),
    ldr("zz111000_101_....._110000_nnnnn_ttttt", LOAD).acquire(),
    // STLUR; LDAPUR; LDAPURS
    str("zz011001_000_iiiiiiiii_00_nnnnn_ttttt", STORE).release(),
    ldr("zz011001_010_iiiiiiiii_00_nnnnn_ttttt", LOAD).acquire(),
    ldr("zz011001_100_iiiiiiiii_00_nnnnn_ttttt z<3", LOAD).acquire(),
    ldr("zz011001_110_iiiiiiiii_00_nnnnn_ttttt z<2", LOAD).acquire(),
    // STADD and related instructions: no result, no acquire
    mem(
        "zz111000_001_sssss_0ooo00_nnnnn_11111",
        "= [sn] xs",
        ATOMIC_STORE,
        AtomicStore,
        Elems(1),
        0,
    ),
    mem(
        "zz111000_011_sssss_0ooo00_nnnnn_11111",
        "= [sn] xs",
        ATOMIC_STORE,
        AtomicStore,
        Elems(1),
        0,
    )
    .release(),
    // LDADD, LDCLR, LDEOR, LDSET, LDSMAX, LDSMIN, LDUMAX, LDUMIN; SWP; with their orderings
    atomic("zz111000_001_sssss_0ooo00_nnnnn_ttttt", AtomicLoad),
    atomic("zz111000_011_sssss_0ooo00_nnnnn_ttttt", AtomicLoad).release(),
    atomic("zz111000_101_sssss_0ooo00_nnnnn_ttttt", AtomicLoad).acquire(),
    atomic("zz111000_111_sssss_0ooo00_nnnnn_ttttt", AtomicLoad).acquire().release(),
    atomic("zz111000_001_sssss_100000_nnnnn_ttttt", AtomicSwap),
    atomic("zz111000_011_sssss_100000_nnnnn_ttttt", AtomicSwap).release(),
    atomic("zz111000_101_sssss_100000_nnnnn_ttttt", AtomicSwap).acquire(),
    atomic("zz111000_111_sssss_100000_nnnnn_ttttt", AtomicSwap).acquire().release(),
    // LDR of a literal: W, X, SW, S, D, Q; prefetch
    load("00011000_iiiiiiiiiiiiiiiiiii_ttttt", "xt =", LOAD, Bytes(4), 4),
    load("01011000_iiiiiiiiiiiiiiiiiii_ttttt", "xt =", LOAD, Bytes(8), 8),
    load("10011000_iiiiiiiiiiiiiiiiiii_ttttt", "xt =", LOAD, Bytes(4), 4),
    vldr("00011100_iiiiiiiiiiiiiiiiiii_ttttt", "vt =", VLOAD, 4),
    vldr("01011100_iiiiiiiiiiiiiiiiiii_ttttt", "vt =", VLOAD, 8),
    vldr("10011100_iiiiiiiiiiiiiiiiiii_ttttt", "vt =", VLOAD, 16),
    prefetch("11011000_iiiiiiiiiiiiiiiiiii_00...", "=", PrefetchLoad),
    prefetch("11011000_iiiiiiiiiiiiiiiiiii_01...", "=", PrefetchInst),
    prefetch("11011000_iiiiiiiiiiiiiiiiiii_10...", "=", PrefetchStore),
    no_prefetch("11011000_iiiiiiiiiiiiiiiiiii_11..."),
    // STP, LDP of W and X: no-allocate and offset, post-index, pre-index
    store("0010100o00_iiiiiii_uuuuu_nnnnn_ttttt", "= [sn] xt xu", STORE, pair(4), 4),
    load("0010100o01_iiiiiii_uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD, pair(4), 4),
    store("0010100o10_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] xt xu", STORE_BASE, pair(4), 4),
    load("0010100o11_iiiiiii_uuuuu_nnnnn_ttttt", "xt xu sn = [sn]", LOAD_BASE, pair(4), 4),
    store("1010100o00_iiiiiii_uuuuu_nnnnn_ttttt", "= [sn] xt xu", STORE, pair(8), 8),
    load("1010100o01_iiiiiii_uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD_2, pair(8), 8),
    store("1010100o10_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] xt xu", STORE_BASE, pair(8), 8),
    load("1010100o11_iiiiiii_uuuuu_nnnnn_ttttt", "xt xu sn = [sn]", LOAD_2_BASE, pair(8), 8),
    // LDPSW: offset, post-index, pre-index
    load("011010010_1_iiiiiii_uuuuu_nnnnn_ttttt", "xt xu = [sn]", LOAD_PAIR_SIGNED, pair(4), 4),
    load(
        "011010001_1_iiiiiii_uuuuu_nnnnn_ttttt",
        "xt xu sn = [sn]",
        LOAD_PAIR_SIGNED_BASE,
        pair(4),
        4,
    ),
    load(
        "011010011_1_iiiiiii_uuuuu_nnnnn_ttttt",
        "xt xu sn = [sn]",
        LOAD_PAIR_SIGNED_BASE,
        pair(4),
        4,
    ),
    // STGP: offset, post-index, pre-index; a granule of 16 bytes with its tag
    store("011010010_0_iiiiiii_uuuuu_nnnnn_ttttt", "= [sn] xt xu", STORE, Bytes(16), 16)
        .tags(TagUse::Writes),
    store("011010001_0_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] xt xu", STORE_BASE, Bytes(16), 16)
        .tags(TagUse::Writes),
    store("011010011_0_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] xt xu", STORE_BASE, Bytes(16), 16)
        .tags(TagUse::Writes),
    // STP, LDP of S, D and Q
    store("0010110o00_iiiiiii_uuuuu_nnnnn_ttttt", "= [sn] vt vu", VSTORE, pair(4), 4),
    load("0010110o01_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu = [sn]", VLOAD, pair(4), 4),
    store("0010110010_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] vt vu", VSTORE_BASE, pair(4), 4),
    load("0010110011_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu sn = [sn]", VLOAD_BASE, pair(4), 4),
    store("0010110110_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] vt vu", VSTORE_BASE, pair(4), 4),
    load("0010110111_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu sn = [sn]", VLOAD_BASE, pair(4), 4),
    store("0110110o00_iiiiiii_uuuuu_nnnnn_ttttt", "= [sn] vt vu", VSTORE, pair(8), 8),
    load("0110110o01_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu = [sn]", VLOAD, pair(8), 8),
    store("0110110010_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] vt vu", VSTORE_BASE, pair(8), 8),
    load("0110110011_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu sn = [sn]", VLOAD_BASE, pair(8), 8),
    store("0110110110_iiiiiii_uuuuu_nnnnn_ttttt", "sn = [sn] vt vu", VSTORE_BASE, pair(8), 8),
    load("0110110111_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu sn = [sn]", VLOAD_BASE, pair(8), 8),
    store("1010110o00_iiiiiii_uuuuu_nnnnn_ttttt", "= [sn] vt vu", VSTORE_PAIR_Q, pair(16), 16),
    load("1010110o01_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu = [sn]", VLOAD_2, pair(16), 16),
    store(
        "1010110010_iiiiiii_uuuuu_nnnnn_ttttt",
        "sn = [sn] vt vu",
        VSTORE_PAIR_Q_POST,
        pair(16),
        16,
    ),
    load("1010110011_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu sn = [sn]", VLOAD_2_BASE, pair(16), 16),
    store(
        "1010110110_iiiiiii_uuuuu_nnnnn_ttttt",
        "sn = [sn] vt vu",
        VSTORE_PAIR_Q_PRE,
        pair(16),
        16,
    ),
    load("1010110111_iiiiiii_uuuuu_nnnnn_ttttt", "vt vu sn = [sn]", VLOAD_2_BASE, pair(16), 16),
    // Prefetch by unscaled, by scaled and by register offset
    prefetch("1111100010_0_iiiiiiiii_00_nnnnn_00...", "= [sn]", PrefetchLoad),
    prefetch("1111100010_0_iiiiiiiii_00_nnnnn_01...", "= [sn]", PrefetchInst),
    prefetch("1111100010_0_iiiiiiiii_00_nnnnn_10...", "= [sn]", PrefetchStore),
    no_prefetch("1111100010_0_iiiiiiiii_00_nnnnn_11..."),
    prefetch("1111100110_iiiiiiiiiiii_nnnnn_00...", "= [sn]", PrefetchLoad),
    prefetch("1111100110_iiiiiiiiiiii_nnnnn_01...", "= [sn]", PrefetchInst),
    prefetch("1111100110_iiiiiiiiiiii_nnnnn_10...", "= [sn]", PrefetchStore),
    no_prefetch("1111100110_iiiiiiiiiiii_nnnnn_11..."),
    prefetch("1111100010_1_mmmmm_o1os_10_nnnnn_00...", "= [sn xm]", PrefetchLoad),
    prefetch("1111100010_1_mmmmm_o1os_10_nnnnn_01...", "= [sn xm]", PrefetchInst),
    prefetch("1111100010_1_mmmmm_o1os_10_nnnnn_10...", "= [sn xm]", PrefetchStore),
    no_prefetch("1111100010_1_mmmmm_o1os_10_nnnnn_11..."),
    // STR, LDR, LDRS to X, LDRS to W: unscaled (STUR) and unprivileged (STTR) offset
    str("zz11100000_0_iiiiiiiii_00_nnnnn_ttttt", STORE),
    ldr("zz11100001_0_iiiiiiiii_00_nnnnn_ttttt", LOAD),
    ldr("zz11100010_0_iiiiiiiii_00_nnnnn_ttttt z<3", LOAD),
    ldr("zz11100011_0_iiiiiiiii_00_nnnnn_ttttt z<2", LOAD),
    str("zz11100000_0_iiiiiiiii_10_nnnnn_ttttt", STORE),
    ldr("zz11100001_0_iiiiiiiii_10_nnnnn_ttttt", LOAD),
    ldr("zz11100010_0_iiiiiiiii_10_nnnnn_ttttt z<3", LOAD),
    ldr("zz11100011_0_iiiiiiiii_10_nnnnn_ttttt z<2", LOAD),
    // STR, LDR, LDRS: post-index and pre-index
    store("zz11100000_0_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] xt", STORE_BASE, Elems(1), 0),
    ldr_base("zz11100001_0_iiiiiiiii_w1_nnnnn_ttttt"),
    ldr_base("zz11100010_0_iiiiiiiii_w1_nnnnn_ttttt z<3"),
    ldr_base("zz11100011_0_iiiiiiiii_w1_nnnnn_ttttt z<2"),
    // STR, LDR, LDRS: scaled offset
    str("zz11100100_iiiiiiiiiiii_nnnnn_ttttt", STORE),
    ldr("zz11100101_iiiiiiiiiiii_nnnnn_ttttt", LOAD),
    ldr("zz11100110_iiiiiiiiiiii_nnnnn_ttttt z<3", LOAD),
    ldr("zz11100111_iiiiiiiiiiii_nnnnn_ttttt z<2", LOAD),
    // STR, LDR, LDRS: register offset
    store("zz11100000_1_mmmmm_o1os_10_nnnnn_ttttt", "= [sn xm] xt", STORE, Elems(1), 0),
    load("zz11100001_1_mmmmm_o1os_10_nnnnn_ttttt", "xt = [sn xm]", LOAD, Elems(1), 0),
    load("zz11100010_1_mmmmm_o1os_10_nnnnn_ttttt z<3", "xt = [sn xm]", LOAD, Elems(1), 0),
    load("zz11100011_1_mmmmm_o1os_10_nnnnn_ttttt z<2", "xt = [sn xm]", LOAD, Elems(1), 0),
    // LDRAA, LDRAB: offset, pre-index
    load("11111000_ks1_iiiiiiiii_01_nnnnn_ttttt", "xt = [sn]", LOAD_AUTH, Bytes(8), 8),
    load("11111000_ks1_iiiiiiiii_11_nnnnn_ttttt", "xt sn = [sn]", LOAD_AUTH_BASE, Bytes(8), 8),
    // STR, LDR of B: unscaled, post- and pre-index, scaled, register offset
    vstr("0011110000_0_iiiiiiiii_00_nnnnn_ttttt", "= [sn] vt", VSTORE, 1),
    vldr("0011110001_0_iiiiiiiii_00_nnnnn_ttttt", "vt = [sn]", VLOAD, 1),
    vstr("0011110000_0_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] vt", VSTORE_BASE, 1),
    vldr("0011110001_0_iiiiiiiii_w1_nnnnn_ttttt", "vt sn = [sn]", VLOAD_BASE, 1),
    vstr("0011110100_iiiiiiiiiiii_nnnnn_ttttt", "= [sn] vt", VSTORE, 1),
    vldr("0011110101_iiiiiiiiiiii_nnnnn_ttttt", "vt = [sn]", VLOAD, 1),
    vstr("0011110000_1_mmmmm_o1os_10_nnnnn_ttttt", "= [sn xm] vt", VSTORE, 1),
    vldr("0011110001_1_mmmmm_o1os_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD, 1),
    // STR, LDR of H: unscaled, post- and pre-index, scaled, register offset
    vstr("0111110000_0_iiiiiiiii_00_nnnnn_ttttt", "= [sn] vt", VSTORE, 2),
    vldr("0111110001_0_iiiiiiiii_00_nnnnn_ttttt", "vt = [sn]", VLOAD, 2),
    vstr("0111110000_0_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] vt", VSTORE_BASE, 2),
    vldr("0111110001_0_iiiiiiiii_w1_nnnnn_ttttt", "vt sn = [sn]", VLOAD_BASE, 2),
    vstr("0111110100_iiiiiiiiiiii_nnnnn_ttttt", "= [sn] vt", VSTORE, 2),
    vldr("0111110101_iiiiiiiiiiii_nnnnn_ttttt", "vt = [sn]", VLOAD, 2),
    vstr("0111110000_1_mmmmm_o1os_10_nnnnn_ttttt", "= [sn xm] vt", VSTORE, 2),
    vldr("0111110001_1_mmmmm_0110_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD, 2),
    vldr("0111110001_1_mmmmm_o1os_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD_INDEXED, 2),
    // STR, LDR of S: unscaled, post- and pre-index, scaled, register offset
    vstr("1011110000_0_iiiiiiiii_00_nnnnn_ttttt", "= [sn] vt", VSTORE, 4),
    vldr("1011110001_0_iiiiiiiii_00_nnnnn_ttttt", "vt = [sn]", VLOAD, 4),
    vstr("1011110000_0_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] vt", VSTORE_BASE, 4),
    vldr("1011110001_0_iiiiiiiii_w1_nnnnn_ttttt", "vt sn = [sn]", VLOAD_BASE, 4),
    vstr("1011110100_iiiiiiiiiiii_nnnnn_ttttt", "= [sn] vt", VSTORE, 4),
    vldr("1011110101_iiiiiiiiiiii_nnnnn_ttttt", "vt = [sn]", VLOAD, 4),
    vstr("1011110000_1_mmmmm_o1os_10_nnnnn_ttttt", "= [sn xm] vt", VSTORE, 4),
    vldr("1011110001_1_mmmmm_o1os_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD, 4),
    // STR, LDR of D: unscaled, post- and pre-index, scaled, register offset
    vstr("1111110000_0_iiiiiiiii_00_nnnnn_ttttt", "= [sn] vt", VSTORE, 8),
    vldr("1111110001_0_iiiiiiiii_00_nnnnn_ttttt", "vt = [sn]", VLOAD, 8),
    vstr("1111110000_0_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] vt", VSTORE_BASE, 8),
    vldr("1111110001_0_iiiiiiiii_w1_nnnnn_ttttt", "vt sn = [sn]", VLOAD_BASE, 8),
    vstr("1111110100_iiiiiiiiiiii_nnnnn_ttttt", "= [sn] vt", VSTORE, 8),
    vldr("1111110101_iiiiiiiiiiii_nnnnn_ttttt", "vt = [sn]", VLOAD, 8),
    vstr("1111110000_1_mmmmm_o1os_10_nnnnn_ttttt", "= [sn xm] vt", VSTORE, 8),
    vldr("1111110001_1_mmmmm_o1os_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD, 8),
    // STR, LDR of Q: unscaled, post- and pre-index, scaled, register offset
    vstr("0011110010_0_iiiiiiiii_00_nnnnn_ttttt", "= [sn] vt", VSTORE, 16),
    vldr("0011110011_0_iiiiiiiii_00_nnnnn_ttttt", "vt = [sn]", VLOAD, 16),
    vstr("0011110010_0_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] vt", VSTORE_BASE, 16),
    vldr("0011110011_0_iiiiiiiii_w1_nnnnn_ttttt", "vt sn = [sn]", VLOAD_BASE, 16),
    vstr("0011110110_iiiiiiiiiiii_nnnnn_ttttt", "= [sn] vt", VSTORE, 16),
    vldr("0011110111_iiiiiiiiiiii_nnnnn_ttttt", "vt = [sn]", VLOAD, 16),
    vstr("0011110010_1_mmmmm_o1os_10_nnnnn_ttttt", "= [sn xm] vt", VSTORE, 16),
    vldr("0011110011_1_mmmmm_0110_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD, 16),
    vldr("0011110011_1_mmmmm_o1os_10_nnnnn_ttttt", "vt = [sn xm]", VLOAD_INDEXED, 16),
    // STZGM, STGM; LDG, LDGM
    store("11011001_001_000000000_00_nnnnn_ttttt", "= [sn] xt", STORE, Bytes(16), 16)
        .tags(TagUse::Writes),
    store("11011001_101_000000000_00_nnnnn_ttttt", "= [sn] xt", STORE, Bytes(16), 16)
        .tags(TagUse::Writes),
    // The tag is written into the address that the register already holds
    load("11011001_011_iiiiiiiii_00_nnnnn_ttttt", "xt = [sn xt]", LOAD, Bytes(16), 16)
        .tags(TagUse::Reads),
    load("11011001_111_000000000_00_nnnnn_ttttt", "xt = [sn]", LOAD, Bytes(16), 16)
        .tags(TagUse::Reads),
    // STG, STZG; ST2G, STZ2G: offset, then post- and pre-index
    store("11011001_0k1_iiiiiiiii_10_nnnnn_ttttt", "= [sn] st", STORE, Bytes(16), 16)
        .tags(TagUse::Writes),
    store("11011001_0k1_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] st", STORE_BASE, Bytes(16), 16)
        .tags(TagUse::Writes),
    store("11011001_1k1_iiiiiiiii_10_nnnnn_ttttt", "= [sn] st", STORE, Bytes(32), 16)
        .tags(TagUse::Writes),
    store("11011001_1k1_iiiiiiiii_w1_nnnnn_ttttt", "sn = [sn] st", STORE_BASE, Bytes(32), 16)
        .tags(TagUse::Writes),
];
