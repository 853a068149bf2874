//! An independent model of TLBs and caches, slow and obvious. Random sequences must give the same
//! count of every memory event, and leave the same number of lines.

mod model;
mod sequence;

use model::{NON_CACHEABLE_PAGE, Oracle, UNMAPPED_PAGE, Way};
use proptest::prelude::*;
use sequence::{Op, any_groups};
use serde::Deserialize;
use sim_cache::config::{PageMapping, ReplacementKind};
use sim_cache::{MemoryConfig, MemorySystem, MemoryType, PageTarget, SemanticsConfig};
use sim_core::pmu_event::{Group, RelationKind};
use sim_core::{Counts, Happened, MemKind, MemRequest, MemoryPort, PmuEvent, VirtAddr};

#[derive(Deserialize)]
struct Tables {
    memory: MemoryConfig,
    semantics: SemanticsConfig,
}

fn committed() -> Tables {
    toml::from_str(include_str!("../../../configs/neoverse-n2.toml"))
        .expect("the committed configuration is complete")
}

/// Tiny caches and TLBs; the outside so far away that what is in flight at the start of a group is
/// in flight at its end.
fn tiny(policy: ReplacementKind, stream_after: u32) -> Tables {
    let mut tables = committed();
    let memory = &mut tables.memory;
    memory.pages.mapping = PageMapping::Identity;
    (memory.l1i.size_bytes, memory.l1i.ways, memory.l1i.replacement) = (512, 2, policy);
    (memory.l1d.size_bytes, memory.l1d.ways, memory.l1d.replacement) = (512, 2, policy);
    (memory.l2.size_bytes, memory.l2.ways, memory.l2.replacement) = (1024, 4, policy);
    (memory.slc.slices, memory.slc.slice_bytes) = (1, 2048);
    (memory.slc.ways, memory.slc.replacement) = (4, policy);
    memory.slc.home_node_cycles = 2000;
    memory.itlb.entries = 2;
    memory.dtlb.entries = 3;
    (memory.l2_tlb.entries, memory.l2_tlb.ways) = (8, 2);
    (memory.walker.level_cycles, memory.walker.read_cycles) = (0, 1);
    memory.l1d.write_stream_lines = stream_after;
    memory.l1d.mshrs = 64;
    (memory.l2.queue_entries, memory.l2.bytes_per_cycle) = (256, 64);
    (memory.prefetch.l1d, memory.prefetch.l2_next_line) = (false, false);
    memory.prefetch.l1i_next_line = false;
    tables
}

/// Drives sim-cache as a pipeline would.
struct Driver {
    memory: MemorySystem,
    counts: Counts,
    now: u64,
}

impl Driver {
    fn new(tables: &Tables) -> Driver {
        let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 1, 1);
        memory.map_page(VirtAddr(UNMAPPED_PAGE * 4096), None);
        let target = PageTarget {
            frame: NON_CACHEABLE_PAGE,
            memory: MemoryType::NonCacheable,
            tagged: false,
        };
        memory.map_page(VirtAddr(NON_CACHEABLE_PAGE * 4096), Some(target));
        Driver { memory, counts: Counts::default(), now: 0 }
    }

    fn access(&mut self, kind: MemKind, addr: u64, bytes: u64) {
        let pc = VirtAddr(0x40_0000 + addr % 64 * 4);
        let request = MemRequest::new(pc, VirtAddr(addr), bytes as u32, kind);
        let mut port = self.memory.port(0);
        if matches!(kind, MemKind::Store | MemKind::ZeroLine) {
            let reply = port.translate_store(request, self.now, &mut self.counts);
            if reply.happened.has(Happened::FAULT) {
                return;
            }
        }
        port.access(request, self.now, &mut self.counts);
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Load(addr, bytes) => self.access(MemKind::Load, addr, bytes),
            Op::Store(addr, bytes) => self.access(MemKind::Store, addr, bytes),
            Op::FillLine(addr) => self.access(MemKind::Store, addr / 64 * 64, 64),
            Op::Atomic(kind, addr) => self.access(kind, addr, 8),
            Op::ZeroLine(addr) => self.access(MemKind::ZeroLine, addr, 64),
            Op::Preload(false, addr) => self.access(MemKind::PrefetchLoad, addr, 1),
            Op::Preload(true, addr) => self.access(MemKind::PrefetchStore, addr, 1),
            Op::Fetch(pc) => {
                self.memory.port(0).fetch(VirtAddr(pc), self.now, &mut self.counts);
            }
        }
    }
}

fn run_oracle(oracle: &mut Oracle, op: Op) {
    match op {
        Op::Load(addr, bytes) => oracle.load(addr, bytes),
        Op::Store(addr, bytes) => oracle.store(addr, bytes),
        Op::FillLine(addr) => oracle.store(addr / 64 * 64, 64),
        Op::Atomic(kind, addr) => oracle.atomic(kind, addr),
        Op::ZeroLine(addr) => oracle.zero_line(addr),
        Op::Preload(store, addr) => {
            oracle.preload(if store { Way::Write } else { Way::Read }, addr)
        }
        Op::Fetch(pc) => oracle.fetch(pc),
    }
}

fn memory_events() -> impl Iterator<Item = PmuEvent> {
    let groups = [Group::Tlb, Group::L1d, Group::L1i, Group::L2, Group::Llc, Group::Memory];
    PmuEvent::ALL.into_iter().filter(move |event| groups.contains(&event.info().group))
}

fn compare(tables: &Tables, groups: &[Vec<Op>]) -> Result<(), TestCaseError> {
    let mut driver = Driver::new(tables);
    let mut oracle = Oracle::new(&tables.memory);
    for (number, group) in groups.iter().enumerate() {
        driver.now += 100_000;
        oracle.arriving.clear();
        for op in group {
            driver.run(*op);
            run_oracle(&mut oracle, *op);
        }
        for event in memory_events() {
            let expected = oracle.counts.get(event.mnemonic()).copied().unwrap_or(0);
            let counted = driver.counts.value(event);
            prop_assert_eq!(counted, expected, "{} after group {}", event.mnemonic(), number);
        }
    }
    let lines = [oracle.l1i.lines(), oracle.l1d.lines(), oracle.l2.lines()];
    prop_assert_eq!(driver.memory.resident_lines(0), lines);
    prop_assert!(driver.memory.is_inclusive(0));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn lru_caches_count_as_the_oracle_does(groups in any_groups()) {
        compare(&tiny(ReplacementKind::Lru, 0), &groups)?;
    }

    #[test]
    fn tree_plru_caches_count_as_the_oracle_does(groups in any_groups()) {
        compare(&tiny(ReplacementKind::TreePlru, 0), &groups)?;
    }

    #[test]
    fn rrip_caches_count_as_the_oracle_does(groups in any_groups()) {
        compare(&tiny(ReplacementKind::Rrip, 0), &groups)?;
    }

    #[test]
    fn write_streaming_counts_as_the_oracle_does(groups in any_groups()) {
        compare(&tiny(ReplacementKind::Lru, 2), &groups)?;
    }

    #[test]
    fn every_load_hits_waits_or_refills(addrs in prop::collection::vec((0u64..128, 1u64..60), 1..300)) {
        let mut driver = Driver::new(&tiny(ReplacementKind::TreePlru, 0));
        let (mut hits, mut waits, mut refills) = (0, 0, 0);
        for (line, pause) in addrs {
            driver.now += pause;
            let addr = VirtAddr(line * 64);
            let request = MemRequest::new(VirtAddr(0x40_0000), addr, 8, MemKind::Load);
            let reply = driver.memory.port(0).access(request, driver.now, &mut driver.counts);
            prop_assert!(reply.done > driver.now);
            if reply.happened.has(Happened::L1_REFILL) {
                refills += 1;
            } else if reply.happened.has(Happened::L1_MISS) {
                waits += 1;
            } else {
                hits += 1;
            }
        }
        prop_assert_eq!(hits + waits + refills, driver.counts.value(PmuEvent::L1D_CACHE));
        prop_assert_eq!(refills, driver.counts.value(PmuEvent::L1D_CACHE_REFILL));
        // Nothing else was allocated: what is not resident was pushed out.
        prop_assert!(driver.memory.resident_lines(0)[1] <= refills.min(8));
    }

    #[test]
    fn relations_of_the_event_table_hold_with_every_prefetcher_on(groups in any_groups()) {
        let mut tables = tiny(ReplacementKind::Rrip, 2);
        let prefetch = &mut tables.memory.prefetch;
        (prefetch.l1d, prefetch.l2_next_line, prefetch.l1i_next_line) = (true, true, true);
        let mut driver = Driver::new(&tables);
        for group in &groups {
            driver.now += 300;
            group.iter().for_each(|op| driver.run(*op));
        }
        prop_assert!(driver.memory.is_inclusive(0));
        check_relations(&driver.counts)?;
    }
}

/// Subsets are not larger, sums are exact, what never counts is 0.
fn check_relations(counts: &Counts) -> Result<(), TestCaseError> {
    for event in memory_events() {
        let name = event.mnemonic();
        let value = counts.value(event);
        for kind in [RelationKind::SubsetOf, RelationKind::ImpliedSubsetOf] {
            for whole in event.relation(kind).unwrap_or_default() {
                prop_assert!(value <= counts.value(*whole), "{name} and {}", whole.mnemonic());
            }
        }
        for kind in [RelationKind::SumOf, RelationKind::ImpliedSumOf] {
            if let Some(parts) = event.relation(kind) {
                let sum: u64 = parts.iter().map(|part| counts.value(*part)).sum();
                prop_assert_eq!(value, sum, "{}", name);
            }
        }
        if event.never_counts() {
            prop_assert_eq!(value, 0, "{}", name);
        }
    }
    Ok(())
}

#[test]
fn the_same_sequence_gives_the_same_counts_and_times() {
    let run = || {
        let mut tables = committed();
        tables.memory.l2.replacement = ReplacementKind::Random;
        tables.memory.l2.size_bytes = 131_072;
        let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 2, 9);
        let mut counts = Counts::default();
        let mut last = 0;
        for i in 0..50_000u64 {
            let addr = VirtAddr(i.wrapping_mul(0x9E37_79B9) % (1 << 24));
            let request = MemRequest::new(VirtAddr(i % 64 * 4), addr, 8, MemKind::Load);
            let mut port = memory.port(i as usize % 2);
            last = port.access(request, 2 * i, &mut counts).done.max(last);
        }
        (counts, last)
    };
    assert_eq!(run(), run());
}
