//! Sixteen cores with a few lines, at random. The suite runs a short sequence; a long one is run by
//!
//! `N2SIM_COHERENCE_OPS=10000000 cargo test -p sim-cache --test all -- sixteen_cores --nocapture`

use sim_cache::config::FarAtomics;
use sim_core::mesh_sums::broken_sums;
use sim_core::{CacheOp, Maintenance, MemKind, MemRequest, MemoryPort, Snoop, TlbScope, VirtAddr};

use super::coherence::Cores;
use super::rig::Tables;

const CORES: usize = 16;
const LINES: u64 = 24;
/// Operations of the suite.
const FEW: u64 = 30_000;
/// Operations between two checks.
const BETWEEN_CHECKS: u64 = 50;

const KINDS: [MemKind; 17] = [
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
    MemKind::PrefetchOuter { for_write: true },
    MemKind::DrainStores,
    MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean)),
    MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate)),
    MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Invalidate)),
    MemKind::Maintain(Maintenance::InstByAddress),
    MemKind::Synchronize,
];

const SNOOPS: [Snoop; 4] = [Snoop::Shared, Snoop::Unique, Snoop::Forward, Snoop::CleanInvalidate];

/// Random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ z >> 31) % end
    }
}

/// Returns tables with caches of a few lines, a snoop filter that is too small, and prefetchers.
/// With `limits`, all resources outside of the cores are short too.
fn tables(far: FarAtomics, limits: bool) -> Tables {
    let mut tables = Tables::committed();
    let memory = &mut tables.memory;
    (memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes) = (512, 512, 1024);
    memory.l1d.write_stream_lines = 2;
    (memory.slc.slices, memory.slc.slice_bytes) = (2, 1024);
    (memory.snoop_filter.slice_lines, memory.snoop_filter.ways) = (8, 4);
    memory.far_atomics = far;
    if limits {
        (memory.slc.queue_entries, memory.slc.line_hazards) = (2, true);
        memory.mesh.link_contention = true;
        (memory.dram.banks, memory.dram.write_entries) = (4, 2);
        memory.l2.write_back_entries = 2;
    }
    tables
}

/// Performs one operation. Other cores answer their snoops at their own next one.
fn perform(cores: &mut Cores, random: &mut Random) {
    cores.now += random.below(300);
    let core = random.below(CORES as u64) as usize;
    let addr = VirtAddr(0x8000 + 64 * random.below(LINES));
    let (now, sink) = (cores.now, &mut cores.counts[core]);
    match random.below(20) {
        0 => drop(cores.memory.stash(core, addr, now, sink).expect("the page is mapped")),
        1 | 2 => drop(cores.memory.port(core).fetch(addr, now, sink)),
        3 => {
            let snoop = SNOOPS[random.below(SNOOPS.len() as u64) as usize];
            cores.memory.snoop(core, snoop, addr, now, sink).expect("the page is mapped");
        }
        4 if random.below(20) == 0 => {
            let tlbi = Maintenance::Tlb { scope: TlbScope::All, broadcast: true };
            let request = MemRequest::new(VirtAddr(0), VirtAddr(0), 8, MemKind::Maintain(tlbi));
            cores.memory.port(core).access(request, now, sink);
        }
        which => {
            let kind = KINDS[random.below(KINDS.len() as u64) as usize];
            let bytes = if kind == MemKind::ZeroLine { 64 } else { 8 };
            let request = MemRequest::new(VirtAddr(0x40_0000), addr, bytes, kind);
            let exclusive = which == 5 && matches!(kind, MemKind::Load | MemKind::Store);
            let request = MemRequest { exclusive, ..request };
            let mut port = cores.memory.port(core);
            if matches!(kind, MemKind::Store | MemKind::ZeroLine) {
                port.translate_store(request, now, sink);
            }
            port.access(request, now, sink);
        }
    }
}

#[test]
fn sixteen_cores_with_a_few_lines_stay_coherent_and_keep_every_sum() {
    let given = std::env::var("N2SIM_COHERENCE_OPS").ok();
    let ops = given.map_or(FEW, |text| text.parse().expect("a number of operations"));
    let settings = [FarAtomics::Never, FarAtomics::Miss, FarAtomics::Always];
    let settings = settings.into_iter().flat_map(|far| [(far, false), (far, true)]);
    for (seed, (far, limits)) in settings.enumerate() {
        let case = format!("{far:?}, limits {limits}");
        let mut random = Random(seed as u64);
        let mut cores = Cores::new(&tables(far, limits), CORES);
        cores.memory.begin_counting(0);
        for op in 0..ops / 6 {
            perform(&mut cores, &mut random);
            if op % BETWEEN_CHECKS == 0 {
                cores.settle();
                assert!(cores.memory.is_coherent(), "{case}: after operation {op}");
                let inclusive = (0..CORES).all(|core| cores.memory.is_inclusive(core));
                assert!(inclusive, "{case}: after operation {op}");
            }
        }
        cores.settle();
        assert_eq!(broken_sums(cores.memory.mesh_counts()), Vec::<String>::new(), "{case}");
    }
}
