//! Sizes, attributes and permissions of mappings, address spaces, partial walk entries: guide
//! 3.2.18 and section 4.1.

use sim_cache::{BadMapping, Mapping, MemoryType, TlbLevel};
use sim_core::{
    AccessOutcome, DataSource, Maintenance, MemKind, MemReply, PhysAddr, PmuEvent, VirtAddr,
};

use super::rig::Base::K0;
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;
const I: u64 = 0x1_0000;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Returns quiet tables with another granule.
fn granule(page_bytes: u64) -> Tables {
    let mut tables = Tables::quiet();
    tables.memory.pages.page_bytes = page_bytes;
    tables
}

impl Rig {
    fn map(&mut self, addr: u64, mapping: Mapping) -> &mut Rig {
        self.memory.map_block(VirtAddr(addr), mapping).expect("a mapping of the granule");
        self
    }

    /// Writes `TTBR0_EL1`: a table and an ASID.
    fn enter(&mut self, asid: u64) -> &mut Rig {
        let table_base = asid << 48 | 0x4_0000;
        self.maintain(Maintenance::TableBase { upper: false }, table_base);
        self
    }

    fn walks(&self) -> u64 {
        self.value(PmuEvent::DTLB_WALK) + self.value(PmuEvent::ITLB_WALK)
    }
}

/// Returns a global mapping of an address to itself.
fn global(addr: u64, bytes: u64) -> Mapping {
    Mapping { global: true, ..Mapping::normal(PhysAddr(addr), bytes) }
}

fn faults(reply: MemReply) -> bool {
    reply.outcome.has(AccessOutcome::FAULT)
}

#[test]
fn one_entry_holds_a_whole_block_in_both_tlbs() {
    // 3.2.18: block sizes of the three granules, at both ends of the block.
    let blocks =
        [(4 * KIB, 2 * MIB), (4 * KIB, 1 << 30), (16 * KIB, 32 * MIB), (64 * KIB, 512 * MIB)];
    for (page_bytes, bytes) in blocks {
        let mut rig = Rig::with(&granule(page_bytes), K0, &[], &[]);
        rig.map(1 << 32, Mapping::normal(PhysAddr(1 << 33), bytes));
        rig.ld(8, 1 << 32);
        rig.then().ld(8, (1 << 32) + bytes - 64);
        rig.expect("2 V1 + walk ld");
        rig.then().fetch((1 << 32) + bytes / 2);
        rig.expect("2 V1 + walk ld + V7 + tlb2 if");
        rig.then().ld(8, (1 << 32) + bytes);
        assert_eq!(rig.walks(), 2, "the block ends after {bytes} bytes");
    }
}

#[test]
fn one_entry_holds_a_whole_contiguous_range_in_both_tlbs() {
    // 3.2.18: 16 entries of the 4 KiB granule, 128 or 32 of 16 KiB, 32 of 64 KiB.
    let ranges = [
        (4 * KIB, 4 * KIB, 16),
        (4 * KIB, 2 * MIB, 16),
        (16 * KIB, 16 * KIB, 128),
        (16 * KIB, 32 * MIB, 32),
        (64 * KIB, 64 * KIB, 32),
        (64 * KIB, 512 * MIB, 32),
    ];
    for (page_bytes, bytes, entries) in ranges {
        let mut rig = Rig::with(&granule(page_bytes), K0, &[], &[]);
        let first = 1 << 40;
        let whole = Mapping::normal(PhysAddr(1 << 41), bytes);
        rig.map(first, Mapping { contiguous: true, ..whole });
        rig.ld(8, first + bytes);
        rig.then().ld(8, first + bytes * entries - 64);
        rig.expect("2 V1 + walk ld");
        rig.then().fetch(first);
        rig.expect("2 V1 + walk ld + V7 + tlb2 if");
        rig.then().ld(8, first + bytes * entries);
        assert_eq!(rig.walks(), 2, "the range ends after {entries} entries of {bytes} bytes");
    }
}

#[test]
fn blocks_cover_more_memory_than_pages_with_the_same_entries() {
    // T.L1D_TLB_REFILL.10 with blocks: 40 entries of 2 MiB cover 20480 pages.
    let mut tables = Tables::quiet();
    tables.memory.pages.block_bytes = 2 * MIB;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    for round in 0..2 {
        for block in 0..40 {
            rig.then().ld(8, block * 2 * MIB + round * 0x1_2340);
        }
    }
    assert_eq!([rig.value(PmuEvent::L1D_TLB_REFILL), rig.value(PmuEvent::L1D_TLB)], [40, 80]);
    rig.then().ld(8, 40 * 2 * MIB);
    rig.then().ld(8, 0);
    assert_eq!(rig.value(PmuEvent::L1D_TLB_REFILL), 42, "the 41st block evicted the first one");
    assert_eq!(rig.value(PmuEvent::DTLB_WALK), 41);
}

#[test]
fn a_walk_for_a_block_reads_fewer_descriptors() {
    // 4.1.9: one walk each, of 4, 3 and 2 levels.
    let cycles = [4 * KIB, 2 * MIB, 1 << 30].map(|bytes| {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.map(1 << 32, Mapping::normal(PhysAddr(1 << 32), bytes));
        let cycles = rig.ld(8, 1 << 32).translation_cycles;
        rig.expect("V1 + walk ld");
        cycles
    });
    assert_eq!([cycles[0] - cycles[1], cycles[1] - cycles[2]], [17, 17], "one read each");
}

#[test]
fn a_walk_of_the_64_kib_granule_has_one_level_fewer() {
    let cycles = [4 * KIB, 16 * KIB, 64 * KIB].map(|page_bytes| {
        let mut rig = Rig::with(&granule(page_bytes), K0, &[], &[]);
        rig.ld(8, 1 << 32).translation_cycles
    });
    assert_eq!(cycles, [cycles[0], cycles[0], cycles[0] - 17]);
}

#[test]
fn attributes_of_a_block_decide_whether_caches_keep_it() {
    // Flow 5.1.5
    for memory in [MemoryType::NonCacheable, MemoryType::Device] {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.map(0, Mapping { memory, ..Mapping::normal(PhysAddr(0), 2 * MIB) });
        rig.warm(D, TlbLevel::L2).warm(D, TlbLevel::L1d);
        assert_eq!(rig.ld(8, D).source, DataSource::Device);
        rig.expect(
            "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + BUS_ACCESS + BUS_ACCESS_RD",
        );
    }
}

#[test]
fn a_store_to_a_read_only_page_faults_at_every_level_and_a_load_does_not() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(D, Mapping { read_only: true, ..Mapping::normal(PhysAddr(D), 4 * KIB) });
    let store = "MEM_ACCESS + MEM_ACCESS_WR + L1D_TLB + L1D_TLB_WR";
    assert!(faults(rig.st(8, D)), "the walk finds no write permission");
    let walked = format!("{store} + L2D_TLB + L2D_TLB_WR + DTLB_WALK");
    rig.expect(&walked); // decision A15: nothing is refilled
    assert!(!faults(rig.then().ld(8, D)));
    let loaded = format!("{walked} + V1 + walk ld");
    rig.expect(&loaded);
    assert!(faults(rig.then().st(8, D)), "the L1 TLB holds the permissions");
    rig.expect(&format!("{loaded} + {store}"));
    rig.only_l2_tlb(&[D]);
    assert!(faults(rig.then().st(8, D)), "the L1 TLB is refilled from the L2 TLB, then refuses");
    rig.expect(&format!("{loaded} + 2 V6 + tlb2 st + L1D_CACHE -2 + L1D_CACHE_WR -2"));
}

#[test]
fn a_fetch_from_a_page_without_execution_faults_and_a_load_does_not() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(I, Mapping { no_exec: true, ..Mapping::normal(PhysAddr(I), 4 * KIB) });
    assert!(faults(rig.fetch(I)));
    let walked = "L1I_TLB + L2D_TLB + L2D_TLB_RD + ITLB_WALK";
    rig.expect(walked);
    assert!(!faults(rig.then().ld(8, I)));
    rig.memory.warm_tlb(0, VirtAddr(I), TlbLevel::L1i).expect("mapped");
    assert!(faults(rig.then().fetch(I)), "the L1 TLB holds the permissions");
    rig.expect(&format!("{walked} + V1 + walk ld + L1I_TLB"));
}

#[test]
fn a_preload_for_writing_to_a_read_only_page_does_nothing_and_does_not_fault() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(D, Mapping { read_only: true, ..Mapping::normal(PhysAddr(D), 4 * KIB) });
    assert!(!faults(rig.access(MemKind::PrefetchStore, 8, D)));
    rig.expect("L2D_TLB + L2D_TLB_WR + DTLB_WALK");
}

#[test]
fn an_output_address_above_48_bits_is_an_address_size_fault_that_refills_nothing() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(D, Mapping::normal(PhysAddr(1 << 48), 4 * KIB));
    assert!(faults(rig.ld(8, D)));
    rig.expect(
        "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + L2D_TLB + L2D_TLB_RD + DTLB_WALK",
    );
}

#[test]
fn a_mapping_that_the_granule_does_not_have_is_refused() {
    let mut rig = Rig::new(K0, &[], &[]);
    let refused = rig.memory.map_block(VirtAddr(0), Mapping::normal(PhysAddr(0), 64 * KIB));
    assert_eq!(refused, Err(BadMapping::Size { bytes: 64 * KIB, granule: 4 * KIB }));
}

#[test]
fn another_asid_does_not_use_the_entries_of_this_one_and_finds_its_own_again() {
    // 4.1.2: a miss in the other address space is a refill; the switch removes nothing.
    let mut rig = Rig::new(K0, &[], &[]);
    rig.enter(1).ld(8, D);
    rig.then().enter(2).ld(8, D);
    assert_eq!(rig.memory.asid(0), 2);
    rig.expect("V1 + V3 + 2 walk ld");
    rig.then().enter(1).ld(8, D);
    rig.expect("V1 + 2 V3 + 2 walk ld");
}

#[test]
fn a_global_entry_serves_every_asid() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(D, global(D, 4 * KIB)).enter(1).ld(8, D);
    rig.then().enter(2).ld(8, D);
    rig.then().fetch(D + 0x800);
    rig.expect("V1 + V3 + walk ld + V7 + tlb2 if");
}

#[test]
fn the_other_table_base_register_changes_no_asid() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.ld(8, D);
    rig.maintain(Maintenance::TableBase { upper: true }, 9 << 48);
    rig.then().ld(8, D);
    rig.expect("V1 + V3 + walk ld");
    let mut tables = Tables::quiet();
    tables.memory.pages.asid_from = sim_cache::config::TableBaseRegister::Upper;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    rig.maintain(Maintenance::TableBase { upper: true }, 9 << 48);
    assert_eq!(rig.memory.asid(0), 9);
}

#[test]
fn another_virtual_machine_does_not_use_even_global_entries_of_this_one() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(D, global(D, 4 * KIB)).ld(8, D);
    rig.maintain(Maintenance::Stage2TableBase, 3 << 48);
    assert_eq!(rig.memory.vmid(0), 3);
    rig.then().ld(8, D);
    rig.expect("V1 + V3 + 2 walk ld");
    rig.maintain(Maintenance::Stage2TableBase, 0);
    rig.then().ld(8, D);
    rig.expect("V1 + 2 V3 + 2 walk ld");
}

#[test]
fn the_two_halves_of_the_address_space_have_separate_entries() {
    let mut rig = Rig::new(K0, &[], &[]);
    rig.ld(8, D);
    rig.then().ld(8, 0xFFFF_0000_0000_0000 | D);
    assert_eq!([rig.value(PmuEvent::L1D_TLB_REFILL), rig.walks()], [2, 2]);
}

#[test]
fn a_known_table_of_any_level_shortens_the_walk_which_still_counts_once() {
    // T.DTLB_WALK.2, T.ITLB_WALK.2
    let cycles = [0, 1, 2, 3].map(|levels| {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.memory.warm_walk_cache(0, VirtAddr(D), levels);
        let cycles = rig.ld(8, D).translation_cycles;
        rig.expect("V1 + walk ld");
        cycles
    });
    assert_eq!(cycles.map(|c| cycles[0] - c), [0, 17, 34, 51]);
    let mut rig = Rig::new(K0, &[], &[]);
    rig.memory.warm_walk_cache(0, VirtAddr(I), 3);
    rig.fetch(I);
    rig.expect("V7 + walk if");
}

#[test]
fn without_a_walk_cache_every_walk_reads_all_levels() {
    let mut tables = Tables::quiet();
    tables.memory.walker.walk_cache = false;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    rig.memory.warm_walk_cache(0, VirtAddr(D), 3);
    let first = rig.ld(8, D).translation_cycles;
    assert_eq!(rig.then().ld(8, D + 0x1000).translation_cycles, first);
    rig.expect("2 V1 + 2 walk ld");
}

#[test]
fn partial_entries_compete_for_the_entries_of_the_l2_tlb() {
    // 3.2.18: an L2 TLB of one set with two ways holds a page and its table, or two pages.
    for (walk_cache, walks) in [(true, 3), (false, 2)] {
        let mut tables = Tables::quiet();
        (tables.memory.l2_tlb.entries, tables.memory.l2_tlb.ways) = (2, 2);
        tables.memory.dtlb.entries = 1;
        tables.memory.walker.walk_cache = walk_cache;
        let mut rig = Rig::with(&tables, K0, &[], &[]);
        rig.ld(8, D);
        rig.then().ld(8, D + (1 << 30));
        rig.then().ld(8, D);
        assert_eq!(rig.walks(), walks);
    }
}

#[test]
fn a_fault_leaves_the_partial_entry_that_was_made_before_it() {
    // Decision A15, with decision A14 counting partial entries.
    let mut tables = Tables::quiet();
    tables.semantics.partial_walks_count = true;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    let first = rig.unmap(D).ld(8, D).translation_cycles;
    let walked = "MEM_ACCESS + MEM_ACCESS_RD + L1D_TLB + L1D_TLB_RD + L2D_TLB + L2D_TLB_RD + \
        DTLB_WALK";
    rig.expect(&format!("{walked} + L2D_TLB_REFILL + L2D_TLB_REFILL_RD"));
    assert_eq!(rig.then().ld(8, D).translation_cycles, first - 51, "one read instead of four");
    rig.expect(&format!("{walked} + {walked} + L2D_TLB_REFILL + L2D_TLB_REFILL_RD"));
}

#[test]
fn walks_of_two_levels_of_tables_leave_an_entry_for_each() {
    // A block's walk ends in a table of level 2, where the walk of a nearby page begins.
    let mut rig = Rig::new(K0, &[], &[]);
    rig.map(1 << 32, Mapping::normal(PhysAddr(1 << 32), 2 * MIB));
    rig.ld(8, 1 << 32);
    let page = rig.then().ld(8, (1 << 32) + 2 * MIB).translation_cycles;
    let cold = Rig::new(K0, &[], &[]).ld(8, D).translation_cycles;
    assert_eq!(cold - page, 34, "two of four reads");
}

#[test]
fn descriptors_of_another_address_space_are_other_lines() {
    // With walks through the L2, each walk in a new address space misses there.
    let mut tables = Tables::quiet();
    tables.semantics.walk_reads = sim_cache::config::WalkReads::L2Counted;
    let mut rig = Rig::with(&tables, K0, &[], &[]);
    rig.ld(8, D);
    let first = rig.value(PmuEvent::L2D_CACHE_REFILL);
    rig.then().enter(2).ld(8, D);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL) - first, 4, "four descriptors");
    rig.empty_tlbs().then().ld(8, D);
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_REFILL) - first, 4, "the L2 then holds them");
}
