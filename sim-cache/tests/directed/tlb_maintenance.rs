//! `TLBI` and `AT`: guide 4.1.2 to 4.1.10; decision A16.

use sim_cache::{Mapping, MemorySystem, TlbLevel};
use sim_core::{
    AccessOutcome, Counts, Maintenance, MemKind, MemRequest, MemoryPort, PhysAddr, PmuEvent,
    TlbScope, VirtAddr,
};

use super::rig::Base::{K0, K1};
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;
const I: u64 = 0x1_0000;
const PAGE: TlbScope = TlbScope::Page { last_level: false };

impl Rig {
    fn tlbi(&mut self, scope: TlbScope, operand: u64) -> &mut Rig {
        self.maintain(Maintenance::Tlb { scope, broadcast: false }, operand);
        self
    }

    /// Returns the walks that a load of each address needs now. The loads refill the TLBs.
    fn walks_of<const N: usize>(&mut self, addrs: [u64; N]) -> [u64; N] {
        addrs.map(|addr| {
            let before = self.value(PmuEvent::DTLB_WALK);
            self.then().ld(8, addr);
            self.value(PmuEvent::DTLB_WALK) - before
        })
    }
}

/// Returns the operand for a page number and ASID.
fn operand(addr: u64, asid: u64) -> u64 {
    addr >> 12 & ((1 << 44) - 1) | asid << 48
}

const OWN: u64 = 0x8000;
const NEIGHBOR: u64 = 0x9000;
const GLOBAL: u64 = 0xA000;

/// Returns a rig with two pages and a global one in the TLBs of ASID 5, and the first also in those
/// of ASID 6.
fn two_spaces() -> Rig {
    let mut rig = Rig::new(K0, &[], &[]);
    let everywhere = Mapping { global: true, ..Mapping::normal(PhysAddr(GLOBAL), 4096) };
    rig.memory.map_block(VirtAddr(GLOBAL), everywhere).expect("a page");
    for (asid, pages) in [(6, &[OWN][..]), (5, &[OWN, NEIGHBOR, GLOBAL][..])] {
        rig.maintain(Maintenance::TableBase { upper: false }, asid << 48);
        for page in pages {
            rig.then().ld(8, *page);
        }
    }
    rig
}

#[test]
fn every_scope_removes_exactly_the_entries_it_names() {
    // Columns: later walks for the page, its neighbor, the global page, the page of ASID 6.
    let last = TlbScope::Page { last_level: true };
    let any = TlbScope::PageAnyAsid { last_level: false };
    let any_last = TlbScope::PageAnyAsid { last_level: true };
    let rows = [
        (TlbScope::All, 0, [1, 1, 1, 1]),
        (TlbScope::Vmid { stage2: false }, 0, [1, 1, 1, 1]),
        (TlbScope::Vmid { stage2: true }, 0, [1, 1, 1, 1]),
        (TlbScope::Asid, operand(0, 5), [1, 1, 0, 0]),
        (TlbScope::Asid, operand(0, 6), [0, 0, 0, 1]),
        (TlbScope::Asid, operand(0, 7), [0, 0, 0, 0]),
        (PAGE, operand(OWN, 5), [1, 0, 0, 0]),
        (PAGE, operand(OWN, 6), [0, 0, 0, 1]),
        (PAGE, operand(GLOBAL, 7), [0, 0, 1, 0]),
        (last, operand(OWN, 5), [1, 0, 0, 0]),
        (last, operand(NEIGHBOR, 5), [0, 1, 0, 0]),
        (any, operand(OWN, 0), [1, 0, 0, 1]),
        (any_last, operand(OWN, 0), [1, 0, 0, 1]),
        (any, operand(GLOBAL, 0), [0, 0, 1, 0]),
        (TlbScope::IntermediatePage, operand(OWN, 0), [0, 0, 0, 0]),
    ];
    for (scope, operand, [own, neighbor, global, other]) in rows {
        let mut rig = two_spaces();
        let found = rig.tlbi(scope, operand).walks_of([OWN, NEIGHBOR, GLOBAL]);
        assert_eq!(found, [own, neighbor, global], "{scope:?} {operand:#x}");
        rig.maintain(Maintenance::TableBase { upper: false }, 6 << 48);
        assert_eq!(rig.walks_of([OWN]), [other], "{scope:?} {operand:#x} in ASID 6");
    }
}

#[test]
fn another_virtual_machine_keeps_its_entries_unless_all_are_invalidated() {
    for (scope, walks) in [(TlbScope::Vmid { stage2: true }, 0), (TlbScope::All, 1)] {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.ld(8, D);
        rig.maintain(Maintenance::Stage2TableBase, 1 << 48);
        rig.tlbi(scope, 0);
        rig.maintain(Maintenance::Stage2TableBase, 0);
        assert_eq!(rig.walks_of([D]), [walks]);
    }
}

#[test]
fn one_page_of_a_block_or_range_removes_its_whole_entry() {
    for contiguous in [false, true] {
        let mut rig = Rig::new(K0, &[], &[]);
        let bytes = if contiguous { 4096 } else { 2 << 20 };
        let mapping = Mapping { contiguous, ..Mapping::normal(PhysAddr(0), bytes) };
        rig.memory.map_block(VirtAddr(0), mapping).expect("a block or range");
        rig.ld(8, 0);
        assert_eq!(rig.tlbi(PAGE, operand(0xF000, 0)).walks_of([0x1000]), [1]);
        assert_eq!(rig.tlbi(PAGE, operand(0x20_0000, 0)).walks_of([0x2000]), [0], "beyond its end");
    }
}

#[test]
fn a_page_of_the_upper_half_is_named_by_its_upper_address_bits() {
    let upper = 0xFFFF_0000_0000_0000 | D;
    let mut rig = Rig::new(K0, &[], &[]);
    rig.ld(8, D);
    rig.then().ld(8, upper);
    assert_eq!(rig.tlbi(PAGE, operand(upper, 0)).walks_of([D, upper]), [0, 1]);
}

#[test]
fn partial_entries_survive_only_a_last_level_tlbi() {
    let cold = Rig::new(K0, &[], &[]).ld(8, D).translation_cycles;
    let cases = [
        (TlbScope::Page { last_level: true }, cold - 51),
        (TlbScope::PageAnyAsid { last_level: true }, cold - 51),
        (PAGE, cold),
        (TlbScope::PageAnyAsid { last_level: false }, cold),
        (TlbScope::Asid, cold),
        (TlbScope::Vmid { stage2: false }, cold),
        (TlbScope::All, cold),
    ];
    for (scope, cycles) in cases {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.ld(8, D);
        rig.tlbi(scope, operand(D, 0));
        assert_eq!(rig.then().ld(8, D).translation_cycles, cycles, "{scope:?}");
    }
}

#[test]
fn tlb_maintenance_counts_nothing() {
    // T.L1D_TLB.3, T.L2D_TLB.3, T.DTLB_WALK.4, T.ITLB_WALK.4
    for broadcast in [false, true] {
        let mut rig = Rig::new(K1, &[D], &[I]);
        for scope in [PAGE, TlbScope::Asid, TlbScope::All, TlbScope::IntermediatePage] {
            rig.maintain(Maintenance::Tlb { scope, broadcast }, operand(D, 0));
        }
        rig.maintain(Maintenance::TableBase { upper: false }, 1 << 48);
        rig.maintain(Maintenance::Stage2TableBase, 1 << 48);
        rig.expect("");
    }
}

#[test]
fn a_tlbi_between_accesses_adds_only_the_misses_that_follow() {
    // T.L1D_TLB_RD.1, T.L2D_TLB_RD.1
    let mut rig = Rig::new(K0, &[], &[]);
    rig.ld(8, D);
    rig.then().ld(8, D + 8);
    rig.tlbi(TlbScope::All, 0);
    rig.expect("V1 + V3 + walk ld");
    rig.then().ld(8, D);
    rig.expect("V1 + 2 V3 + 2 walk ld");
}

/// Loads one page on each of two cores in the given virtual machines. Returns whether each still
/// has it after a `TLBI` by the first.
fn kept_on_both(broadcast: bool, vmids: [u64; 2]) -> [bool; 2] {
    let tables = Tables::quiet();
    let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 2, 1);
    let mut counts = Counts::default();
    let mut access = |memory: &mut MemorySystem, core: usize, kind, addr| {
        let request =
            MemRequest { addr: VirtAddr(addr), kind, ..Rig::request(MemKind::Load, 8, 0) };
        memory.port(core).access(request, 1_000_000, &mut counts)
    };
    for (core, vmid) in vmids.into_iter().enumerate() {
        let enter = MemKind::Maintain(Maintenance::Stage2TableBase);
        access(&mut memory, core, enter, vmid << 48);
        memory.warm_tlb(core, VirtAddr(D), TlbLevel::L2).expect("mapped");
        memory.warm_tlb(core, VirtAddr(D), TlbLevel::L1d).expect("mapped");
    }
    let tlbi = Maintenance::Tlb { scope: PAGE, broadcast };
    access(&mut memory, 0, MemKind::Maintain(tlbi), operand(D, 0));
    [0, 1].map(|core| !access(&mut memory, core, MemKind::Load, D).outcome.has(AccessOutcome::WALK))
}

#[test]
fn a_broadcast_reaches_the_same_virtual_machine_on_all_cores() {
    assert_eq!(kept_on_both(true, [0, 0]), [false, false]);
    assert_eq!(kept_on_both(true, [7, 7]), [false, false]);
    assert_eq!(kept_on_both(true, [7, 8]), [false, true]);
}

#[test]
fn without_broadcast_other_cores_keep_their_entries() {
    assert_eq!(kept_on_both(false, [0, 0]), [false, true]);
}

#[test]
fn an_address_translation_uses_the_l2_tlb_and_the_walker_but_counts_nothing_in_the_l1() {
    // T.L1D_TLB_REFILL.9, T.L1D_TLB_REFILL_WR.4, T.MEM_ACCESS_WR.3; decision A16
    for (write, half) in [(false, "RD"), (true, "WR")] {
        let lookup = format!("L2D_TLB + L2D_TLB_{half}");
        let walked = format!("{lookup} + DTLB_WALK + L2D_TLB_REFILL + L2D_TLB_REFILL_{half}");
        let mut rig = Rig::new(K0, &[], &[]);
        let reply = rig.maintain(Maintenance::Translate { write }, D);
        assert!(reply.outcome.has(AccessOutcome::WALK) && reply.translation_cycles > 50);
        rig.expect(&walked);
        rig.then().maintain(Maintenance::Translate { write }, D);
        rig.expect(&format!("{walked} + {lookup}"));
        rig.then().ld(8, D);
        rig.expect(&format!("{walked} + {lookup} + V1 + tlb2 ld"));
    }
}

#[test]
fn an_address_translation_that_faults_does_not_raise_the_fault() {
    let mut rig = Rig::new(K0, &[], &[]);
    let reply = rig.unmap(D).maintain(Maintenance::Translate { write: false }, D);
    assert!(!reply.outcome.has(AccessOutcome::FAULT));
    rig.expect("L2D_TLB + L2D_TLB_RD + DTLB_WALK");
}
