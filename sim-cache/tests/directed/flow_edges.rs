//! The reported edges of flows 5.4 to 5.6 agree with the counts on random mixes of accesses: guide
//! section 5.

use sim_cache::{CacheLevel, Defect, MemorySystem, Ram};
use sim_core::flow::{FlowCounts, FlowGraph};
use sim_core::{
    CacheOp, Counts, Flow, Maintenance, MemKind, MemRequest, MemoryPort, PmuEvent, VirtAddr,
};

use super::rig::Tables;

/// Returns tables with caches so small that lines are evicted from every level.
fn tiny(prefetch: bool) -> Tables {
    let mut tables = if prefetch { Tables::committed() } else { Tables::quiet() };
    tables.memory.l1d.size_bytes = 2048;
    tables.memory.l1i.size_bytes = 2048;
    tables.memory.l2.size_bytes = 8192;
    tables
}

/// Returns tables with L1 caches whose index has more bits than a page offset.
fn wide() -> Tables {
    let mut tables = tiny(true);
    (tables.memory.l1d.size_bytes, tables.memory.l1d.ways) = (16_384, 1);
    tables.memory.l2.size_bytes = 65_536;
    tables
}

fn random_walk(tables: &Tables, steps: u64) -> (Counts, FlowCounts) {
    let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 1, 3);
    // The first and the last page have the same frame.
    let first = memory.page_target(VirtAddr(0x8000));
    memory.map_page(VirtAddr(0xD000), first);
    let (mut counts, mut flows) = (Counts::default(), FlowCounts::default());
    let mut state = 0x1234_5678_9ABC_DEF0_u64;
    let mut now = 0;
    for _ in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (dice, random) = (state >> 60, state >> 33);
        let addr = VirtAddr(0x8000 + random % 0x6000 / 8 * 8);
        now += random % 97;
        let sink = &mut (&mut counts, &mut flows);
        let kind = match dice {
            0..=4 => MemKind::Load,
            5..=7 => MemKind::Store,
            8 => MemKind::AtomicLoad,
            9 => MemKind::ZeroLine,
            10 => MemKind::PrefetchLoad,
            11 => MemKind::PrefetchStore,
            12 => MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate)),
            13 | 14 => {
                memory.port(0).fetch(addr, now, sink);
                continue;
            }
            _ => {
                let defect =
                    if random % 2 == 0 { Defect::Correctable } else { Defect::Uncorrectable };
                let ram = [Ram::L1dData, Ram::L1dTag, Ram::L1iTag][random as usize / 2 % 3];
                // A setup moves lines without reporting, so errors are injected only into present
                // lines.
                let level = if ram == Ram::L1iTag { CacheLevel::L1i } else { CacheLevel::L1d };
                if memory.line_is_dirty(0, addr, level).is_some() {
                    memory.inject(0, addr, ram, defect).expect("every page is mapped");
                }
                continue;
            }
        };
        let bytes = if kind == MemKind::ZeroLine { 64 } else { 8 };
        let request = MemRequest::new(VirtAddr(0x40_0000 + dice * 4), addr, bytes, kind);
        let mut port = memory.port(0);
        if matches!(kind, MemKind::Store | MemKind::ZeroLine) {
            port.translate_store(request, now, sink);
        }
        port.access(request, now, sink);
    }
    (counts, flows)
}

#[test]
fn visits_of_the_l1_flows_equal_the_counts() {
    for tables in [tiny(false), tiny(true), wide()] {
        let (counts, flows) = random_walk(&tables, 60_000);
        let graphs = [Flow::L1dRead, Flow::L1dWrite, Flow::L1i].map(FlowGraph::new);
        for graph in &graphs {
            assert_eq!(flows.unbalanced(graph), [], "{:?}", graph.flow());
        }
        for event in [
            PmuEvent::L1D_CACHE_RD,
            PmuEvent::L1D_CACHE_WR,
            PmuEvent::L1D_CACHE_REFILL_RD,
            PmuEvent::L1D_CACHE_REFILL_WR,
            PmuEvent::L1D_CACHE_REFILL_OUTER,
            PmuEvent::L1D_CACHE_WB_VICTIM,
            PmuEvent::L1I_CACHE,
            PmuEvent::L1I_CACHE_REFILL,
        ] {
            let all = graphs.iter().flat_map(|graph| flows.events(graph));
            let visits: u64 = all.filter(|(of, _)| *of == event).map(|(_, n)| n).sum();
            assert!(visits > 0, "{} was never met", event.mnemonic());
            assert_eq!(visits, counts.value(event), "{}", event.mnemonic());
        }
        assert!(counts.value(PmuEvent::MEMORY_ERROR) > 100);
    }
}
