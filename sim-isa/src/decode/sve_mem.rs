//! SVE loads, stores and prefetches (Arm ARM C4.1, "SVE encodings").

use crate::inst::MemOp::{PrefetchLoad, PrefetchStore};
use crate::row::Size::{Bytes, Elems, LoadType, LoadTypeOne, StoreType};
use crate::row::{Row, load, mem, store, unallocated};
use crate::uops::PREFETCH;
use crate::uops::sve::memory::*;

/// Four elements of 32-bit gathers and scatters.
const WORDS: crate::row::Size = Elems(4);
/// Two elements of 64-bit gathers and scatters.
const DOUBLES: crate::row::Size = Elems(2);

pub(super) const ROWS: &[Row] = &[
    // LDR, STR of a predicate and of a vector
    load("1000010110_iiiiii_000iii_nnnnn_0_tttt", "pt = [sn]", LOAD_PREDICATE, Bytes(2), 2),
    load("1000010110_iiiiii_010iii_nnnnn_ttttt", "vt = [sn]", LOAD, Bytes(16), 16),
    store("1110010110_iiiiii_000iii_nnnnn_0_tttt", "= [sn] pt", STORE_PREDICATE, Bytes(2), 2),
    store("1110010110_iiiiii_010iii_nnnnn_ttttt", "= [sn] vt", STORE, Bytes(16), 16),
    // LD1R: one element to all lanes
    load("1000010_ee_1_iiiiii_1ee_ggg_nnnnn_ttttt", "vt = [sn pg]", LOAD, LoadTypeOne, 0),
    // LD1, LDFF1 by register; LD1, LDNF1 by immediate
    load(
        "1010010_eeee_mmmmm_010_ggg_nnnnn_ttttt m!=31",
        "vt = [sn xm pg]",
        LOAD_INDEXED,
        LoadType,
        0,
    ),
    load(
        "1010010_eeee_mmmmm_011_ggg_nnnnn_ttttt",
        "vt ffr = [sn xm pg] ffr",
        LOAD_FAULT,
        LoadType,
        0,
    )
    .first_fault(),
    load("1010010_eeee_0iiii_101_ggg_nnnnn_ttttt", "vt = [sn pg]", LOAD, LoadType, 0),
    load("1010010_eeee_1iiii_101_ggg_nnnnn_ttttt", "vt ffr = [sn pg] ffr", LOAD, LoadType, 0)
        .non_fault(),
    // LDNT1 by register, by immediate; LD1RQ by register, by immediate
    load(
        "1010010_zz_00_mmmmm_110_ggg_nnnnn_ttttt m!=31",
        "vt = [sn xm pg]",
        LOAD_FAULT,
        Bytes(16),
        0,
    ),
    load("1010010_zz_000_iiii_111_ggg_nnnnn_ttttt", "vt = [sn pg]", LOAD, Bytes(16), 0),
    load("1010010_zz_00_mmmmm_000_ggg_nnnnn_ttttt m!=31", "vt = [sn xm pg]", LOAD, Bytes(16), 0),
    load("1010010_zz_000_iiii_001_ggg_nnnnn_ttttt", "vt = [sn pg]", LOAD, Bytes(16), 0),
    // LD2, ST2 by register, by immediate
    load(
        "1010010_zz_01_mmmmm_110_ggg_nnnnn_ttttt m!=31",
        "vt*2 = [sn xm pg]",
        LOAD_2_INDEXED,
        Bytes(32),
        0,
    ),
    load("1010010_zz_010_iiii_111_ggg_nnnnn_ttttt", "vt*2 = [sn pg]", LOAD_2, Bytes(32), 0),
    store(
        "1110010_01_01_mmmmm_011_ggg_nnnnn_ttttt m!=31",
        "= [sn xm pg] vt*2",
        STORE_2_INDEXED,
        Bytes(32),
        2,
    ),
    store(
        "1110010_zz_01_mmmmm_011_ggg_nnnnn_ttttt m!=31",
        "= [sn xm pg] vt*2",
        STORE_2,
        Bytes(32),
        0,
    ),
    store("1110010_zz_011_iiii_111_ggg_nnnnn_ttttt", "= [sn pg] vt*2", STORE_2, Bytes(32), 0),
    // LD3, ST3 by register, by immediate
    load(
        "1010010_zz_10_mmmmm_110_ggg_nnnnn_ttttt m!=31",
        "vt*3 = [sn xm pg]",
        LOAD_3_INDEXED,
        Bytes(48),
        0,
    ),
    load("1010010_zz_100_iiii_111_ggg_nnnnn_ttttt", "vt*3 = [sn pg]", LOAD_3, Bytes(48), 0),
    store(
        "1110010_zz_10_mmmmm_011_ggg_nnnnn_ttttt m!=31",
        "= [sn xm pg] vt*3",
        STORE_3_INDEXED,
        Bytes(48),
        0,
    ),
    store("1110010_zz_101_iiii_111_ggg_nnnnn_ttttt", "= [sn pg] vt*3", STORE_3, Bytes(48), 0),
    // LD4, ST4 by register, by immediate
    load(
        "1010010_zz_11_mmmmm_110_ggg_nnnnn_ttttt m!=31",
        "vt*4 = [sn xm pg]",
        LOAD_4_INDEXED,
        Bytes(64),
        0,
    ),
    load("1010010_zz_110_iiii_111_ggg_nnnnn_ttttt", "vt*4 = [sn pg]", LOAD_4, Bytes(64), 0),
    store(
        "1110010_zz_11_mmmmm_011_ggg_nnnnn_ttttt m!=31",
        "= [sn xm pg] vt*4",
        STORE_4_INDEXED,
        Bytes(64),
        0,
    ),
    store("1110010_zz_111_iiii_111_ggg_nnnnn_ttttt", "= [sn pg] vt*4", STORE_4, Bytes(64), 0),
    // ST1 of halves by register; ST1 by register, by immediate
    store(
        "1110010_zz_ee_mmmmm_010_ggg_nnnnn_ttttt z==1 e>=z m!=31",
        "= [sn xm pg] vt",
        STORE_INDEXED,
        StoreType,
        0,
    ),
    store(
        "1110010_zz_ee_mmmmm_010_ggg_nnnnn_ttttt e>=z m!=31",
        "= [sn xm pg] vt",
        STORE,
        StoreType,
        0,
    ),
    store("1110010_zz_ee_0iiii_111_ggg_nnnnn_ttttt e>=z", "= [sn pg] vt", STORE, StoreType, 0),
    // STNT1 of halves by register; STNT1 by register, by immediate
    store(
        "1110010_01_00_mmmmm_011_ggg_nnnnn_ttttt m!=31",
        "= [sn xm pg] vt",
        STORE_INDEXED,
        Bytes(16),
        2,
    ),
    store("1110010_zz_00_mmmmm_011_ggg_nnnnn_ttttt m!=31", "= [sn xm pg] vt", STORE, Bytes(16), 0),
    store("1110010_zz_00_1iiii_111_ggg_nnnnn_ttttt", "= [sn pg] vt", STORE, Bytes(16), 0),
    // Prefetch: by vector of 32-bit offsets, of 64-bit offsets, by vector base, by register,
    // immediate
    mem(
        "1000010_00_h1_mmmmm_0hh_kkk_nnnnn_00...",
        "= [sn vm pk]",
        PREFETCH,
        PrefetchLoad,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1100010_00_h1_mmmmm_0hh_kkk_nnnnn_00...",
        "= [sn vm pk]",
        PREFETCH,
        PrefetchLoad,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1100010_00_11_mmmmm_1hh_kkk_nnnnn_00...",
        "= [sn vm pk]",
        PREFETCH,
        PrefetchLoad,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1000010_hh_00_iiiii_111_kkk_nnnnn_00...",
        "= [vn pk]",
        PREFETCH,
        PrefetchLoad,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1100010_hh_00_iiiii_111_kkk_nnnnn_00...",
        "= [vn pk]",
        PREFETCH,
        PrefetchLoad,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1000010_hh_00_mmmmm_110_kkk_nnnnn_00...",
        "= [sn xm pk]",
        PREFETCH,
        PrefetchLoad,
        Bytes(1),
        1,
    ),
    mem("1000010_11_1iiiiii_0hh_kkk_nnnnn_00...", "= [sn pk]", PREFETCH, PrefetchLoad, Bytes(1), 1),
    mem(
        "1000010_00_h1_mmmmm_0hh_kkk_nnnnn_01...",
        "= [sn vm pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1100010_00_h1_mmmmm_0hh_kkk_nnnnn_01...",
        "= [sn vm pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1100010_00_11_mmmmm_1hh_kkk_nnnnn_01...",
        "= [sn vm pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1000010_hh_00_iiiii_111_kkk_nnnnn_01...",
        "= [vn pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1100010_hh_00_iiiii_111_kkk_nnnnn_01...",
        "= [vn pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    )
    .scattered(),
    mem(
        "1000010_hh_00_mmmmm_110_kkk_nnnnn_01...",
        "= [sn xm pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    ),
    mem(
        "1000010_11_1iiiiii_0hh_kkk_nnnnn_01...",
        "= [sn pk]",
        PREFETCH,
        PrefetchStore,
        Bytes(1),
        1,
    ),
    // Gathers: plain and, with bit 13 set, first-fault
    // A signed load fills its element from a smaller memory element
    unallocated("1000010_10_hh_mmmmm_00f_ggg_nnnnn_ttttt"),
    unallocated("1000010_10_01_mmmmm_10f_ggg_nnnnn_ttttt"),
    unallocated("1000010_10_00_mmmmm_100_ggg_nnnnn_ttttt"),
    unallocated("1100010_11_hh_mmmmm_00f_ggg_nnnnn_ttttt"),
    unallocated("1100010_11_hh_mmmmm_10f_ggg_nnnnn_ttttt"),
    // 32-bit elements: unscaled and scaled 32-bit offsets, vector base
    load("1000010_zz_h0_mmmmm_0u0_ggg_nnnnn_ttttt z<3", "vt = [sn vm pg]", GATHER_32, WORDS, 0)
        .scattered(),
    load(
        "1000010_zz_h0_mmmmm_0u1_ggg_nnnnn_ttttt z<3",
        "vt ffr = [sn vm pg] ffr",
        GATHER_32,
        WORDS,
        0,
    )
    .scattered()
    .first_fault(),
    load(
        "1000010_zz_h1_mmmmm_0u0_ggg_nnnnn_ttttt z<3 z>0",
        "vt = [sn vm pg]",
        GATHER_32_SCALED,
        WORDS,
        0,
    )
    .scattered(),
    load(
        "1000010_zz_h1_mmmmm_0u1_ggg_nnnnn_ttttt z<3 z>0",
        "vt ffr = [sn vm pg] ffr",
        GATHER_32_SCALED,
        WORDS,
        0,
    )
    .scattered()
    .first_fault(),
    load("1000010_zz_01_iiiii_1u0_ggg_nnnnn_ttttt z<3", "vt = [vn pg]", GATHER_32, WORDS, 0)
        .scattered(),
    load(
        "1000010_zz_01_iiiii_1u1_ggg_nnnnn_ttttt z<3",
        "vt ffr = [vn pg] ffr",
        GATHER_32,
        WORDS,
        0,
    )
    .scattered()
    .first_fault(),
    // 64-bit elements: unpacked 32-bit offsets, 64-bit offsets, vector base
    load("1100010_zz_h0_mmmmm_0u0_ggg_nnnnn_ttttt", "vt = [sn vm pg]", GATHER_64, DOUBLES, 0)
        .scattered(),
    load(
        "1100010_zz_h0_mmmmm_0u1_ggg_nnnnn_ttttt",
        "vt ffr = [sn vm pg] ffr",
        GATHER_64,
        DOUBLES,
        0,
    )
    .scattered()
    .first_fault(),
    load("1100010_zz_h1_mmmmm_0u0_ggg_nnnnn_ttttt z>0", "vt = [sn vm pg]", GATHER_64, DOUBLES, 0)
        .scattered(),
    load(
        "1100010_zz_h1_mmmmm_0u1_ggg_nnnnn_ttttt z>0",
        "vt ffr = [sn vm pg] ffr",
        GATHER_64,
        DOUBLES,
        0,
    )
    .scattered()
    .first_fault(),
    load("1100010_zz_10_mmmmm_1u0_ggg_nnnnn_ttttt", "vt = [sn vm pg]", GATHER_64, DOUBLES, 0)
        .scattered(),
    load(
        "1100010_zz_10_mmmmm_1u1_ggg_nnnnn_ttttt",
        "vt ffr = [sn vm pg] ffr",
        GATHER_64,
        DOUBLES,
        0,
    )
    .scattered()
    .first_fault(),
    load("1100010_zz_11_mmmmm_1u0_ggg_nnnnn_ttttt z>0", "vt = [sn vm pg]", GATHER_64, DOUBLES, 0)
        .scattered(),
    load(
        "1100010_zz_11_mmmmm_1u1_ggg_nnnnn_ttttt z>0",
        "vt ffr = [sn vm pg] ffr",
        GATHER_64,
        DOUBLES,
        0,
    )
    .scattered()
    .first_fault(),
    load("1100010_zz_01_iiiii_1u0_ggg_nnnnn_ttttt", "vt = [vn pg]", GATHER_64, DOUBLES, 0)
        .scattered(),
    load("1100010_zz_01_iiiii_1u1_ggg_nnnnn_ttttt", "vt ffr = [vn pg] ffr", GATHER_64, DOUBLES, 0)
        .scattered()
        .first_fault(),
    // LDNT1 by vector base and scalar offset
    load("1000010_zz_00_mmmmm_10u_ggg_nnnnn_ttttt z<3", "vt = [vn xm pg]", GATHER_32, WORDS, 0)
        .scattered(),
    load(
        "1100010_zz_00_mmmmm_1u0_ggg_nnnnn_ttttt",
        "vt = [vn xm pg]",
        GATHER_64_STREAM,
        DOUBLES,
        0,
    )
    .scattered(),
    // Scatters of 64-bit elements: unpacked 32-bit offsets, 64-bit offsets, vector base; STNT1
    store("1110010_zz_00_mmmmm_1h0_ggg_nnnnn_ttttt", "= [sn vm pg] vt", SCATTER_64, DOUBLES, 0)
        .scattered(),
    store("1110010_zz_01_mmmmm_1h0_ggg_nnnnn_ttttt z>0", "= [sn vm pg] vt", SCATTER_64, DOUBLES, 0)
        .scattered(),
    store("1110010_zz_00_mmmmm_101_ggg_nnnnn_ttttt", "= [sn vm pg] vt", SCATTER_64, DOUBLES, 0)
        .scattered(),
    store("1110010_zz_01_mmmmm_101_ggg_nnnnn_ttttt z>0", "= [sn vm pg] vt", SCATTER_64, DOUBLES, 0)
        .scattered(),
    store("1110010_zz_10_iiiii_101_ggg_nnnnn_ttttt", "= [vn pg] vt", SCATTER_64, DOUBLES, 0)
        .scattered(),
    store("1110010_zz_00_mmmmm_001_ggg_nnnnn_ttttt", "= [vn xm pg] vt", SCATTER_64, DOUBLES, 0)
        .scattered(),
    // Scatters of 32-bit elements: unscaled and scaled offsets, vector base; STNT1
    store("1110010_zz_10_mmmmm_1h0_ggg_nnnnn_ttttt z<3", "= [sn vm pg] vt", SCATTER_32, WORDS, 0)
        .scattered(),
    store(
        "1110010_zz_11_mmmmm_1h0_ggg_nnnnn_ttttt z<3 z>0",
        "= [sn vm pg] vt",
        SCATTER_32,
        WORDS,
        0,
    )
    .scattered(),
    store("1110010_zz_11_iiiii_101_ggg_nnnnn_ttttt z<3", "= [vn pg] vt", SCATTER_32, WORDS, 0)
        .scattered(),
    store("1110010_zz_10_mmmmm_001_ggg_nnnnn_ttttt z<3", "= [vn xm pg] vt", SCATTER_32, WORDS, 0)
        .scattered(),
];
