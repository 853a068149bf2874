//! Flows 5.1 to 5.3: the edges that an access reports, and the account of every TLB event by visits
//! of boxes. Guide chapter 5, decisions A12 to A16.

use sim_core::flow::{Flow, FlowCounts, FlowEdge, FlowGraph};
use sim_core::{Counts, Maintenance, MemKind, MemRequest, MemoryPort, PmuEvent, VirtAddr};

use sim_cache::{Mapping, MemorySystem, TlbLevel};

use super::rig::{Rig, Tables};

const PAGE: u64 = 0x8000;

/// Events that flows 5.1 to 5.3 explain completely.
const EXPLAINED: [PmuEvent; 13] = [
    PmuEvent::L1D_TLB_RD,
    PmuEvent::L1D_TLB_WR,
    PmuEvent::L1I_TLB,
    PmuEvent::L2D_TLB_RD,
    PmuEvent::L2D_TLB_WR,
    PmuEvent::DTLB_WALK,
    PmuEvent::ITLB_WALK,
    PmuEvent::L2D_TLB_REFILL_RD,
    PmuEvent::L2D_TLB_REFILL_WR,
    PmuEvent::L1D_TLB_REFILL_RD,
    PmuEvent::L1D_TLB_REFILL_WR,
    PmuEvent::L1I_TLB_REFILL,
    PmuEvent::MEM_ACCESS_WR,
];

/// Memory system with a sink for counts and edges. Time advances only in `settle`.
struct Traveler {
    memory: MemorySystem,
    sink: (Counts, FlowCounts),
    now: u64,
}

impl Traveler {
    fn new(tables: &Tables) -> Traveler {
        let memory = MemorySystem::new(&tables.memory, &tables.semantics, 1, 1);
        Traveler { memory, sink: Default::default(), now: 0 }
    }

    fn request(kind: MemKind, addr: u64) -> MemRequest {
        Rig::request(kind, 8, addr)
    }

    fn access(&mut self, kind: MemKind, addr: u64) -> &mut Traveler {
        self.memory.port(0).access(Traveler::request(kind, addr), self.now, &mut self.sink);
        self
    }

    fn store(&mut self, addr: u64) -> &mut Traveler {
        let request = Traveler::request(MemKind::Store, addr);
        self.memory.port(0).translate_store(request, self.now, &mut self.sink);
        self
    }

    fn fetch(&mut self, pc: u64) -> &mut Traveler {
        self.memory.port(0).fetch(VirtAddr(pc), self.now, &mut self.sink);
        self
    }

    fn settle(&mut self) -> &mut Traveler {
        self.now += 100_000;
        self
    }

    /// Returns the edges of flows 5.1 to 5.3 taken so far.
    fn edges(&self) -> Vec<(FlowEdge, u64)> {
        let of_tlbs = [Flow::LoadTlb, Flow::StoreTlb, Flow::FetchTlb];
        let all = FlowEdge::ALL.iter().filter(|edge| of_tlbs.contains(&edge.info().flow));
        all.map(|edge| (*edge, self.sink.1.taken(*edge))).filter(|(_, n)| *n > 0).collect()
    }
}

#[test]
fn every_path_through_the_tlbs_reports_its_edges() {
    use FlowEdge::*;
    let new = || Traveler::new(&Tables::quiet());
    let mut load = new();
    load.access(MemKind::Load, PAGE);
    assert_eq!(load.edges(), [(LoadTlbMiss, 1), (LoadL2TlbMiss, 1), (LoadWalkDone, 1)]);
    load.access(MemKind::Load, PAGE + 64).settle().access(MemKind::Load, PAGE + 64);
    assert_eq!(load.edges()[0], (LoadTlbHit, 2), "a wait for a walk counts as a hit (A13)");
    let mut store = new();
    store.memory.warm_tlb(0, VirtAddr(PAGE), TlbLevel::L2).expect("mapped");
    store.store(PAGE).settle().store(PAGE);
    assert_eq!(store.edges(), [(StoreTlbHit, 1), (StoreTlbMiss, 1), (StoreL2TlbHit, 1)]);
    let mut fetch = new();
    fetch.memory.map_page(VirtAddr(PAGE), None);
    fetch.fetch(PAGE);
    assert_eq!(fetch.edges(), [(FetchTlbMiss, 1), (FetchL2TlbMiss, 1), (FetchWalkFault, 1)]);
    let mut preload = new();
    preload.access(MemKind::PrefetchStore, PAGE);
    let missed = [(StoreTlbPreloadMiss, 1), (StoreL2TlbMiss, 1), (StoreWalkDone, 1)];
    assert_eq!(preload.edges(), missed);
    preload.settle().access(MemKind::PrefetchStore, PAGE + 128);
    assert_eq!(preload.edges(), missed, "a preload that hits the L1 TLB reports nothing (A12)");
    let mut at = new();
    let translate = MemKind::Maintain(Maintenance::Translate { write: false });
    at.access(translate, PAGE).settle().access(translate, PAGE);
    assert_eq!(at.edges(), [(LoadAtHit, 1), (LoadAtMiss, 1), (LoadAtWalkDone, 1)]);
}

/// Number sequence that is the same on every host.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Runs random accesses on small TLBs with prefetchers, faulting and read-only pages, blocks and
/// two address spaces.
fn busy(seed: u64, stage2: bool) -> Traveler {
    let mut tables = Tables::committed();
    (tables.memory.itlb.entries, tables.memory.dtlb.entries) = (3, 4);
    (tables.memory.l2_tlb.entries, tables.memory.l2_tlb.ways) = (16, 2);
    let mut traveler = Traveler::new(&tables);
    if stage2 {
        traveler.memory.enable_stage2(4096).expect("a granule");
    }
    let read_only = Mapping {
        read_only: true,
        no_exec: true,
        ..Mapping::normal(sim_core::PhysAddr(0x80_0000), 2 << 20)
    };
    traveler.memory.map_block(VirtAddr(0x20_0000), read_only).expect("a block");
    traveler.memory.map_page(VirtAddr(0x3000), None);
    let mut numbers = Numbers(seed);
    for _ in 0..2000 {
        let addr =
            numbers.below(24) * 0x1000 + numbers.below(3) * 0x20_0000 + numbers.below(500) * 8;
        match numbers.below(9) {
            0 | 1 => traveler.access(MemKind::Load, addr),
            2 => traveler.store(addr),
            3 => traveler.fetch(addr),
            4 => traveler.access(MemKind::AtomicLoad, addr & !7),
            5 => traveler.access(MemKind::PrefetchLoad, addr),
            6 => traveler.access(MemKind::PrefetchStore, addr),
            7 => {
                let write = numbers.below(2) == 0;
                traveler.access(MemKind::Maintain(Maintenance::Translate { write }), addr)
            }
            _ => {
                let operand = numbers.below(2) << 48;
                let switch = Maintenance::TableBase { upper: false };
                traveler.settle().access(MemKind::Maintain(switch), operand)
            }
        };
    }
    traveler
}

#[test]
fn visits_of_the_boxes_account_for_every_tlb_event() {
    for (seed, stage2) in [(1, false), (2, false), (3, true), (4, true)] {
        let traveler = busy(seed, stage2);
        let (counts, flows) = &traveler.sink;
        let graphs = [Flow::LoadTlb, Flow::StoreTlb, Flow::FetchTlb].map(FlowGraph::new);
        for graph in &graphs {
            assert_eq!(flows.unbalanced(graph), [], "flow {}", graph.flow().info().section);
        }
        for event in EXPLAINED {
            let of_flow = |graph: &FlowGraph| {
                let events = flows.events(graph);
                events.iter().find(|(known, _)| *known == event).map_or(0, |(_, n)| *n)
            };
            let explained: u64 = graphs.iter().map(of_flow).sum();
            assert!(explained > 0, "{} did not occur", event.mnemonic());
            assert_eq!(counts.value(event), explained, "{} with {seed}", event.mnemonic());
        }
    }
}
