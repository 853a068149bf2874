//! Atomic operations of several fragments, and the permissions that their two halves need. Decision
//! A20.

use sim_cache::Mapping;
use sim_core::{AccessOutcome, DataSource, MemKind, PhysAddr, PmuEvent, VirtAddr};

use super::rig::Base::{K0, K1, K3};
use super::rig::Rig;

const D: u64 = 0x8000;

#[test]
fn an_atomic_that_crosses_lines_reads_and_writes_both() {
    let mut rig = Rig::new(K3, &[D, D + 0x40], &[]);
    rig.access(MemKind::AtomicLoad, 8, D + 60);
    rig.expect("2 V3 + 2 V6");
}

#[test]
fn an_atomic_that_faults_in_its_first_line_does_not_continue() {
    let mut rig = Rig::new(K3, &[D], &[]);
    rig.unmap(D - 0x1000);
    assert!(rig.access(MemKind::AtomicLoad, 8, D - 4).outcome.has(AccessOutcome::FAULT));
    assert_eq!([rig.value(PmuEvent::MEM_ACCESS), rig.value(PmuEvent::L1D_CACHE)], [1, 0]);
}

#[test]
fn an_atomic_in_a_read_only_page_faults_with_its_write_and_a_swap_with_its_read() {
    for (kind, writes) in [(MemKind::AtomicLoad, 1), (MemKind::AtomicSwap, 0)] {
        let mut rig = Rig::new(K1, &[], &[]);
        let mapping = Mapping { read_only: true, ..Mapping::normal(PhysAddr(D), 4096) };
        rig.memory.map_block(VirtAddr(D), mapping).expect("a page");
        assert!(rig.access(kind, 8, D).outcome.has(AccessOutcome::FAULT));
        let counted = [PmuEvent::MEM_ACCESS_RD, PmuEvent::MEM_ACCESS_WR].map(|e| rig.value(e));
        assert_eq!(counted, [1, writes], "{kind:?}");
    }
}

#[test]
fn uncached_memory_is_remote_only_if_its_supplier_is() {
    for (source, remote) in [(DataSource::Dram, 0), (DataSource::Remote, 1)] {
        let mut rig = Rig::new(K0, &[], &[]);
        rig.non_cacheable(D);
        rig.memory.set_data_source(VirtAddr(D), Some(source)).expect("mapped");
        rig.access(MemKind::AtomicLoad, 8, D);
        assert_eq!(rig.value(PmuEvent::REMOTE_ACCESS), remote, "{source:?}");
        rig.then().ld(8, D);
        assert_eq!(rig.value(PmuEvent::REMOTE_ACCESS), 2 * remote, "{source:?}");
    }
}
