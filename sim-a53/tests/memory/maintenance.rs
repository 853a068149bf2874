//! Maintenance of caches and TLBs.

use sim_a53::A53Event::*;
use sim_core::{CacheOp, Maintenance, TlbScope};

use super::{Bench, quiet};

impl Bench {
    fn maintain(&mut self, what: Maintenance, operand: u64) -> u64 {
        let start = self.now;
        let done = self.memory.maintain(0, what, operand, start, &mut self.counts[0]);
        self.now = done + 1000;
        done - start
    }
}

// Given: a dirty line. Stimulus: clean to the point of coherency, twice; then invalidate. Expect:
// one write to memory; the clean line still hits; after the last the load misses. Section: TRM 6.2.
#[test]
fn a_clean_writes_a_dirty_line_to_memory_once() {
    let config = quiet();
    let mut bench = Bench::new(&config, 1);
    bench.warm_pages(&[0x10000]);
    bench.store(0x10000, 8);
    bench.settle(0);
    let clean = Maintenance::DataByAddress(CacheOp::Clean);
    // A tag in the top byte is no part of the address.
    assert!(bench.maintain(clean, 0xAB << 56 | 0x10000) > u64::from(config.bus.latency_cycles));
    assert_eq!(bench.maintain(clean, 0x10000), u64::from(config.l2.hit_cycles));
    assert_eq!(bench.load(0x10000), 0);
    bench.maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate), 0x10000);
    assert!(bench.load(0x10000) > 0);
    assert_eq!(bench.all([L1D_CACHE_WB, L2D_CACHE_WB, EXT_MEM_REQ]), [1, 0, 2]);
}

// Given: a page in all TLBs. Stimulus: TLBI of another page, then of this one. Expect: the micro-
// TLB is empty each time; only the second leads to a walk. Section: TRM 5.2.1.
#[test]
fn tlb_maintenance_empties_the_micro_tlb_and_removes_the_page() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[0x10000]);
    let what = Maintenance::Tlb { scope: TlbScope::Page { last_level: true }, broadcast: true };
    bench.maintain(what, 0x77);
    bench.load(0x10FC0);
    assert_eq!(bench.all([L1D_TLB_REFILL, L1D_CACHE, MEM_ACCESS]), [1, 1, 1]);
    bench.maintain(what, 0x10);
    bench.load(0x10FC0);
    assert_eq!(bench.all([L1D_TLB_REFILL, L1D_CACHE, MEM_ACCESS]), [2, 3, 2]);
}

// Given: a page in the TLBs under ASID 0. Stimulus: ASID 1, then ASID 0 again. Expect: a walk for
// ASID 1 alone. Section: TRM 5.1.
#[test]
fn an_address_space_has_its_own_translations() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.warm_pages(&[0x10000]);
    for (asid, walks) in [(1_u64, 4), (0, 0)] {
        bench.forget();
        bench.maintain(Maintenance::TableBase { upper: false }, asid << 48);
        bench.load(0x10FC0);
        assert_eq!(bench.count(L1D_CACHE) - bench.count(MEM_ACCESS), walks);
    }
}

// Given: a line in the L1 I-cache. Stimulus: IC IVAU. Expect: the fetch misses. Section: TRM 2.1.7.
#[test]
fn an_instruction_line_is_invalidated_by_address() {
    let mut bench = Bench::new(&quiet(), 1);
    bench.fetch(0x8000);
    bench.maintain(Maintenance::InstByAddress, 0x8000);
    bench.fetch(0x8000);
    assert_eq!(bench.count(L1I_CACHE_REFILL), 2);
}
