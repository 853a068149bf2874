//! Any request on any valid configuration is answered: no panic, a reply in the future, no cache
//! above its capacity, every L1 line in the L2.

use proptest::prelude::*;
use sim_cache::config::{MemoryConfig, PageMapping, ReplacementKind, WalkReads};
use sim_cache::{Defect, MemorySystem, MemoryType, PageTarget, Ram};
use sim_core::{
    CacheOp, Counts, Maintenance, MemKind, MemRequest, MemoryPort, Snoop, TlbScope, VirtAddr,
};

use super::suite::geometry::Tables;

/// Request to the memory system.
#[derive(Clone, Debug)]
enum Request {
    Access { kind: MemKind, addr: u64, bytes: u32, element_bytes: u32, exclusive: bool },
    Fetch(u64),
    Snoop(Snoop, u64),
    Stash(u64),
    Inject(Ram, Defect, u64),
    SetTag(u64, u8),
}

/// Returns tables with extreme values, smallest and largest, selected by `choices`.
fn tables(choices: &[usize]) -> Tables {
    let mut choices = choices.iter().copied().cycle();
    let mut of = |values: &[u64]| values[choices.next().unwrap_or_default() % values.len()];
    let mut tables = Tables::committed();
    let memory = &mut tables.memory;
    let policies = [
        ReplacementKind::Lru,
        ReplacementKind::TreePlru,
        ReplacementKind::Rrip,
        ReplacementKind::DynamicRrip,
        ReplacementKind::Random,
        ReplacementKind::VictimCounter,
    ];
    let mut policy = || policies[of(&[0, 1, 2, 3, 4, 5]) as usize];
    (memory.l1i.replacement, memory.l1d.replacement) = (policy(), policy());
    (memory.l2.replacement, memory.slc.replacement) = (policy(), policy());
    (memory.l1i.ways, memory.l1d.ways) = (of(&[1, 2]) as u32, of(&[1, 2, 16]) as u32);
    memory.l1i.size_bytes = u64::from(memory.l1i.ways) * 64 * of(&[1, 2]);
    memory.l1d.size_bytes = u64::from(memory.l1d.ways) * 64 * of(&[1, 4]);
    memory.l2.ways = of(&[1, 2, 8]) as u32;
    memory.l2.size_bytes = u64::from(memory.l2.ways) * 64;
    while memory.l2.size_bytes < memory.l1i.size_bytes + memory.l1d.size_bytes {
        memory.l2.size_bytes *= 2;
    }
    memory.slc.ways = of(&[1, 16]) as u32;
    memory.slc.slice_bytes = u64::from(memory.slc.ways) * 64 * of(&[0, 1, 2]);
    memory.slc.slices = of(&[1, 2, 64]) as u32;
    (memory.l1i.mshrs, memory.l1d.mshrs) = (of(&[1, 2, 64]) as u32, of(&[1, 2, 64]) as u32);
    (memory.l1i.hit_cycles, memory.l1d.hit_cycles) = (of(&[1, 64]) as u32, of(&[1, 64]) as u32);
    memory.l1d.split_cycles = of(&[0, 1, 100_000]) as u32;
    memory.l1d.write_stream_lines = of(&[0, 1, 4, u64::from(u32::MAX)]) as u32;
    memory.l2.queue_entries = of(&[1, 2, 256]) as u32;
    memory.l2.write_back_entries = of(&[0, 1, 256]) as u32;
    memory.l2.read_bytes_per_cycle = of(&[4, 64]) as u32;
    memory.l2.write_bytes_per_cycle = of(&[4, 64]) as u32;
    (memory.l2.lookup_cycles, memory.l2.fill_cycles) =
        (of(&[0, 9, 100_000]) as u32, of(&[0, 5, 100_000]) as u32);
    (memory.itlb.entries, memory.dtlb.entries) = (of(&[1, 255]) as u32, of(&[1, 2, 255]) as u32);
    memory.l2_tlb.ways = of(&[1, 3, 16]) as u32;
    memory.l2_tlb.entries = memory.l2_tlb.ways * of(&[1, 4]) as u32;
    memory.walker.walks = of(&[1, 16]) as u32;
    memory.l2_tlb.lookups = of(&[1, 16]) as u32;
    memory.walker.level_cycles = of(&[0, 4, 100_000]) as u32;
    memory.walker.walk_cache = of(&[0, 1]) == 1;
    memory.pages.page_bytes = of(&[1 << 12, 1 << 14, 1 << 16]);
    memory.pages.block_bytes = match memory.pages.page_bytes {
        4096 => of(&[0, 2 << 20, 1 << 30]),
        16_384 => of(&[0, 32 << 20]),
        _ => of(&[0, 512 << 20]),
    };
    memory.pages.mapping =
        if of(&[0, 1]) == 0 { PageMapping::Identity } else { PageMapping::Mixed };
    outside(memory, &mut of);
    let prefetch = &mut memory.prefetch;
    prefetch.l1d_table_entries = of(&[1, 256]) as u32;
    prefetch.l1d_distance_lines = of(&[1, 64]) as u32;
    prefetch.l1d_degree_lines = of(&[1, 16]) as u32;
    prefetch.l2_table_entries = of(&[1, 256]) as u32;
    prefetch.l2_distance_lines = of(&[1, 64]) as u32;
    prefetch.l2_degree_lines = of(&[1, 16]) as u32;
    tables.semantics.walk_reads = match of(&[0, 1, 2]) {
        0 => WalkReads::SidePort,
        1 => WalkReads::L2Silent,
        _ => WalkReads::L2Counted,
    };
    tables
}

/// Selects extreme values of the bus and of memory.
fn outside(memory: &mut MemoryConfig, of: &mut impl FnMut(&[u64]) -> u64) {
    memory.bus.transactions_per_cycle = of(&[1, 8]) as u32;
    memory.bus.beat_bytes = of(&[8, 64]) as u32;
    memory.bus.read_bytes_per_cycle = of(&[4, 64]) as u32;
    memory.dram.channels = of(&[1, 256]) as u32;
    memory.dram.line_cycles = of(&[1, 32]) as u32;
    memory.dram.banks = of(&[0, 1, 256]) as u32;
    memory.dram.row_bytes = of(&[64, 65_536]) as u32;
    memory.dram.write_entries = of(&[0, 1, 1024]) as u32;
    if memory.dram.write_entries > 0 {
        memory.slc.queue_entries = of(&[1, 1024]) as u32;
    }
}

/// Returns addresses near the ends of pages, of the halves of the address space, and of all
/// addresses.
fn any_addr() -> impl Strategy<Value = u64> {
    let base = prop::sample::select(vec![
        0,
        0x1000,
        0x20_0000,
        (1 << 47) - 0x1000,
        1 << 47,
        (1 << 48) - 0x1000,
        1 << 48,
        1 << 55,
        0xFFFF_0000_0000_0000,
        0xFFFF_FFFF_FFFF_F000,
        u64::MAX - 63,
    ]);
    let offset = prop_oneof![0u64..256, 0xF80u64..0x1080, 0u64..0x4_0000];
    prop_oneof![9 => (base, offset).prop_map(|(base, offset)| base.wrapping_add(offset)),
                1 => any::<u64>()]
}

fn any_kind() -> impl Strategy<Value = MemKind> {
    prop::sample::select(vec![
        MemKind::Load,
        MemKind::Load,
        MemKind::Store,
        MemKind::Store,
        MemKind::AtomicLoad,
        MemKind::AtomicStore,
        MemKind::AtomicSwap,
        MemKind::ZeroLine,
        MemKind::PrefetchLoad,
        MemKind::PrefetchStore,
        MemKind::ClearExclusive,
        MemKind::Synchronize,
    ])
}

fn any_snoop() -> impl Strategy<Value = Snoop> {
    prop::sample::select(vec![
        Snoop::Shared,
        Snoop::Unique,
        Snoop::Forward,
        Snoop::Clean,
        Snoop::CleanInvalidate,
        Snoop::Invalidate,
        Snoop::MakeInvalid,
    ])
}

fn any_cache_op() -> impl Strategy<Value = CacheOp> {
    prop::sample::select(vec![
        CacheOp::Invalidate,
        CacheOp::Clean,
        CacheOp::CleanToUnification,
        CacheOp::CleanInvalidate,
    ])
}

fn any_scope() -> impl Strategy<Value = TlbScope> {
    prop::sample::select(vec![
        TlbScope::All,
        TlbScope::Vmid { stage2: true },
        TlbScope::Asid,
        TlbScope::Page { last_level: false },
        TlbScope::PageAnyAsid { last_level: true },
        TlbScope::IntermediatePage,
    ])
}

fn any_maintenance() -> impl Strategy<Value = Maintenance> {
    prop_oneof![
        any_cache_op().prop_map(Maintenance::DataByAddress),
        any_cache_op().prop_map(Maintenance::DataBySetWay),
        Just(Maintenance::InstByAddress),
        any::<bool>().prop_map(|broadcast| Maintenance::InstAll { broadcast }),
        (any_scope(), any::<bool>())
            .prop_map(|(scope, broadcast)| Maintenance::Tlb { scope, broadcast }),
        any::<bool>().prop_map(|write| Maintenance::Translate { write }),
        any::<bool>().prop_map(|upper| Maintenance::TableBase { upper }),
        Just(Maintenance::Stage2TableBase),
    ]
}

fn any_ram() -> impl Strategy<Value = (Ram, Defect)> {
    let rams = vec![Ram::L1dData, Ram::L1dTag, Ram::L1iData, Ram::L1iTag, Ram::L2Data];
    let defects = vec![Defect::None, Defect::Correctable, Defect::Uncorrectable, Defect::Poisoned];
    (prop::sample::select(rams), prop::sample::select(defects))
}

fn any_request() -> impl Strategy<Value = Request> {
    let bytes = prop::sample::select(vec![0u32, 1, 3, 8, 16, 17, 64, 128, 4096]);
    let access = (any_kind(), any_addr(), bytes, prop::sample::select(vec![0u32, 1, 8, 16]));
    prop_oneof![
        12 => (access, any::<bool>()).prop_map(|((kind, addr, bytes, element_bytes), exclusive)| {
            Request::Access { kind, addr, bytes, element_bytes, exclusive }
        }),
        4 => any_addr().prop_map(Request::Fetch),
        2 => (any_snoop(), any_addr()).prop_map(|(snoop, addr)| Request::Snoop(snoop, addr)),
        1 => any_addr().prop_map(Request::Stash),
        3 => (any_maintenance(), any_addr()).prop_map(|(what, operand)| Request::Access {
            kind: MemKind::Maintain(what),
            addr: operand,
            bytes: 1,
            element_bytes: 1,
            exclusive: false,
        }),
        1 => (any_ram(), any_addr()).prop_map(|((ram, defect), addr)| {
            Request::Inject(ram, defect, addr)
        }),
        1 => (any_addr(), any::<u8>()).prop_map(|(addr, tag)| Request::SetTag(addr, tag)),
    ]
}

/// Machine of two cores with its counts and time.
struct Machine {
    memory: MemorySystem,
    counts: Counts,
    now: u64,
}

impl Machine {
    fn new(tables: &Tables) -> Machine {
        let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 2, 1);
        memory.map_page(VirtAddr(0x1000), None);
        let device = PageTarget { memory: MemoryType::Device, ..PageTarget::default() };
        memory.map_page(VirtAddr(0x20_0000), Some(device));
        let tagged = PageTarget { frame: 0x30_0000, tagged: true, ..PageTarget::default() };
        memory.map_page(VirtAddr(1 << 47), Some(tagged));
        memory.set_tag_checks(true);
        Machine { memory, counts: Counts::default(), now: 1 }
    }

    /// Performs a request. Returns when the reply is there; `None` for external agents, which do
    /// not wait.
    fn perform(&mut self, core: usize, request: &Request) -> Option<u64> {
        let (now, sink) = (self.now, &mut self.counts);
        match *request {
            Request::Access { kind, addr, bytes, element_bytes, exclusive } => {
                let request = MemRequest {
                    element_bytes,
                    exclusive,
                    ..MemRequest::new(VirtAddr(addr / 3), VirtAddr(addr), bytes, kind)
                };
                let mut port = self.memory.port(core);
                if matches!(kind, MemKind::Store | MemKind::ZeroLine) {
                    let translated = port.translate_store(request, now, sink);
                    assert!(translated.done > now, "translation of {request:x?}");
                }
                Some(port.access(request, now, sink).done)
            }
            Request::Fetch(pc) => Some(self.memory.port(core).fetch(VirtAddr(pc), now, sink).done),
            Request::Snoop(snoop, addr) => {
                let _ = self.memory.snoop(core, snoop, VirtAddr(addr), now, sink);
                None
            }
            Request::Stash(addr) => {
                let _ = self.memory.stash(core, VirtAddr(addr), now, sink);
                None
            }
            Request::Inject(ram, defect, addr) => {
                let _ = self.memory.inject(core, VirtAddr(addr), ram, defect);
                None
            }
            Request::SetTag(addr, tag) => {
                self.memory.set_tag(VirtAddr(addr), 4096, tag);
                None
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { ..ProptestConfig::default() })]

    #[test]
    fn any_request_on_any_valid_configuration_is_answered(
        choices in prop::collection::vec(0usize..48, 70),
        requests in prop::collection::vec((0usize..2, 0u64..50, any_request()), 1..200),
    ) {
        let tables = tables(&choices);
        prop_assert_eq!(tables.memory.problems(), []);
        let mut machine = Machine::new(&tables);
        let memory = &tables.memory;
        let most = [memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes];
        for (core, pause, request) in &requests {
            machine.now += pause;
            if let Some(done) = machine.perform(*core, request) {
                prop_assert!(done > machine.now, "{request:x?} is done at {done}");
            }
            prop_assert!(machine.memory.is_inclusive(*core), "after {request:x?}");
            let lines = machine.memory.resident_lines(*core);
            prop_assert!(lines.iter().zip(most).all(|(lines, bytes)| *lines <= bytes / 64));
        }
    }
}
