//! Coherence among cores: guide section 3.2.12 and its effects on the events of 4.2 to 4.6.

use proptest::prelude::*;
use sim_cache::config::FarAtomics;
use sim_cache::{CacheLevel, MemorySystem};
use sim_core::mesh_sums::broken_sums;
use sim_core::{
    AccessOutcome, CacheOp, Counts, Cycle, DataSource, Maintenance, MemKind, MemReply, MemRequest,
    MemoryPort, PmuEvent, Snoop, VirtAddr,
};

use super::rig::Tables;

pub(crate) const D: VirtAddr = VirtAddr(0x8000);

/// Several cores, each with its own counts, on one clock.
#[derive(Clone)]
pub(crate) struct Cores {
    pub(crate) memory: MemorySystem,
    pub(crate) counts: Vec<Counts>,
    pub(crate) now: Cycle,
}

impl Cores {
    pub(crate) fn new(tables: &Tables, cores: usize) -> Cores {
        let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, cores, 1);
        for core in 0..cores {
            let warm = memory.warm_tlb(core, D, sim_cache::TlbLevel::L1d);
            warm.expect("the page is mapped");
        }
        Cores { memory, counts: vec![Counts::default(); cores], now: 10_000 }
    }

    pub(crate) fn quiet(cores: usize) -> Cores {
        Cores::new(&Tables::quiet(), cores)
    }

    /// Performs one access, after all earlier ones have completed.
    pub(crate) fn access(&mut self, core: usize, kind: MemKind, addr: VirtAddr) -> MemReply {
        self.now += 10_000;
        let bytes = if kind == MemKind::ZeroLine { 64 } else { 8 };
        let request = MemRequest::new(VirtAddr(0x40_0000), addr, bytes, kind);
        let mut port = self.memory.port(core);
        if matches!(kind, MemKind::Store | MemKind::ZeroLine) {
            let reply = port.translate_store(request, self.now, &mut self.counts[core]);
            assert!(!reply.outcome.has(AccessOutcome::FAULT));
        }
        let reply = port.access(request, self.now, &mut self.counts[core]);
        self.settle();
        reply
    }

    pub(crate) fn ld(&mut self, core: usize) -> MemReply {
        self.access(core, MemKind::Load, D)
    }

    pub(crate) fn st(&mut self, core: usize) -> MemReply {
        self.access(core, MemKind::Store, D)
    }

    pub(crate) fn fetch(&mut self, core: usize, pc: VirtAddr) -> MemReply {
        self.now += 10_000;
        let reply = self.memory.port(core).fetch(pc, self.now, &mut self.counts[core]);
        self.settle();
        reply
    }

    /// Makes every core answer its snoops.
    pub(crate) fn settle(&mut self) {
        for (core, counts) in self.counts.iter_mut().enumerate() {
            self.memory.answer_snoops(core, counts);
        }
    }

    pub(crate) fn value(&self, core: usize, event: PmuEvent) -> u64 {
        self.counts[core].value(event)
    }

    pub(crate) fn dirty(&self, core: usize, level: CacheLevel) -> Option<bool> {
        self.memory.line_is_dirty(core, D, level)
    }
}

#[test]
fn a_read_of_a_line_modified_by_another_core_is_served_by_it_and_both_share_it() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    let reply = cores.ld(1);
    assert_eq!(reply.source, DataSource::Peer);
    // 4.5.2: a line of another core is a miss of the last level; 4.2.9: it comes from outside
    for event in
        [PmuEvent::LL_CACHE_RD, PmuEvent::LL_CACHE_MISS_RD, PmuEvent::L1D_CACHE_REFILL_OUTER]
    {
        assert_eq!(cores.value(1, event), 1, "{}", event.mnemonic());
    }
    assert_eq!(cores.value(1, PmuEvent::REMOTE_ACCESS), 0, "4.6.4: the same chip");
    // The owner's L1 supplied it: one write-back there, none of the L2, no invalidation.
    for (event, n) in [
        (PmuEvent::L1D_CACHE_WB_CLEAN, 1),
        (PmuEvent::L2D_CACHE_WB, 0),
        (PmuEvent::L1D_CACHE_INVAL, 0),
    ] {
        assert_eq!(cores.value(0, event), n, "{}", event.mnemonic());
    }
    let residue = cores.counts[0].raised(PmuEvent::BUS_ACCESS);
    assert_eq!(residue, 2, "the snoop and its answer");
    let states = [cores.dirty(0, CacheLevel::L1d), cores.dirty(1, CacheLevel::L1d)];
    assert_eq!(states, [Some(false), Some(false)]);
    assert_eq!(
        cores.dirty(0, CacheLevel::Slc),
        Some(true),
        "the home node now has to write it back"
    );
    assert!(cores.memory.is_coherent());
}

#[test]
fn a_write_to_a_line_modified_by_another_core_takes_it_away() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    assert!(cores.st(1).outcome.has(AccessOutcome::L2_MISS));
    for event in
        [PmuEvent::L1D_CACHE_WB_CLEAN, PmuEvent::L1D_CACHE_INVAL, PmuEvent::L2D_CACHE_INVAL]
    {
        assert_eq!(cores.value(0, event), 1, "{}", event.mnemonic());
    }
    assert_eq!(
        [cores.dirty(0, CacheLevel::L2), cores.dirty(1, CacheLevel::L1d)],
        [None, Some(true)]
    );
    assert_eq!(cores.dirty(0, CacheLevel::Slc), None, "the duty to write back moved with the line");
    assert!(cores.memory.is_coherent());
}

#[test]
fn a_third_reader_is_served_by_the_system_level_cache() {
    // Sharing was detected, so the SLC is no longer exclusive of the line.
    let mut cores = Cores::quiet(4);
    let sources = [0, 1, 2, 3].map(|core| cores.ld(core).source);
    assert_eq!(sources, [DataSource::Dram, DataSource::Peer, DataSource::Slc, DataSource::Slc]);
    assert_eq!(cores.value(0, PmuEvent::L2D_CACHE_WB_CLEAN), 1, "sent directly to core 1");
    assert!(cores.memory.is_coherent());
}

#[test]
fn a_store_to_a_shared_line_invalidates_the_others_and_moves_no_data() {
    let mut cores = Cores::quiet(3);
    for core in 0..3 {
        cores.ld(core);
    }
    let before = cores.counts.clone();
    let begin = cores.now + 10_000;
    let reply = cores.st(1);
    assert!((70..150).contains(&(reply.done - begin)), "to the home node and back");
    let added = |core: usize, event| cores.counts[core].since(&before[core]).value(event);
    assert_eq!(added(1, PmuEvent::BUS_ACCESS_WR), 1);
    assert_eq!(added(1, PmuEvent::L1D_CACHE_REFILL) + added(1, PmuEvent::L2D_CACHE), 0);
    for other in [0, 2] {
        assert_eq!(added(other, PmuEvent::L1D_CACHE_INVAL), 1);
        assert_eq!(added(other, PmuEvent::L2D_CACHE_INVAL), 1);
        assert_eq!(added(other, PmuEvent::L1D_CACHE_WB) + added(other, PmuEvent::L2D_CACHE_WB), 0);
    }
    assert!(cores.memory.is_coherent());
}

#[test]
fn atomics_of_two_cores_exchange_a_line_in_the_measured_time() {
    // N2, Chips and Cheese: 50 to 60 ns from core to core at 2.75 GHz
    let mut cores = Cores::quiet(2);
    cores.access(0, MemKind::AtomicLoad, D);
    for turn in 0..20 {
        let core = 1 - turn % 2;
        let begin = cores.now + 10_000;
        let reply = cores.access(core, MemKind::AtomicLoad, D);
        assert_eq!(reply.source, DataSource::Peer);
        assert!((138..=165).contains(&(reply.done - begin)), "{}", reply.done - begin);
    }
    assert_eq!(cores.value(0, PmuEvent::L1D_CACHE_INVAL), 10);
    assert_eq!(cores.value(1, PmuEvent::L1D_CACHE_REFILL_OUTER), 10);
    assert_eq!(cores.value(1, PmuEvent::BUS_ACCESS_RD), 10);
}

#[test]
fn a_whole_line_write_makes_other_copies_invalid_without_their_data() {
    let mut cores = Cores::quiet(2);
    cores.st(0);
    cores.access(1, MemKind::ZeroLine, D);
    assert_eq!(cores.value(0, PmuEvent::L1D_CACHE_INVAL), 1);
    assert_eq!(cores.value(0, PmuEvent::L1D_CACHE_WB) + cores.value(0, PmuEvent::L2D_CACHE_WB), 0);
    assert!(cores.memory.is_coherent());
}

#[test]
fn another_core_that_writes_a_marked_line_clears_the_monitor() {
    let mut cores = Cores::quiet(2);
    let request = MemRequest::new(VirtAddr(0), D, 8, MemKind::Load);
    let exclusive = MemRequest { exclusive: true, ..request };
    cores.memory.port(0).access(exclusive, cores.now, &mut cores.counts[0]);
    cores.ld(1);
    assert!(cores.memory.monitor_holds(0, D), "a reader takes nothing away");
    cores.st(1);
    assert!(!cores.memory.monitor_holds(0, D));
}

#[test]
fn code_that_one_core_runs_is_shared_with_others() {
    let pc = VirtAddr(0x1_0000);
    let mut cores = Cores::quiet(2);
    let sources = [0, 1].map(|core| cores.fetch(core, pc).source);
    assert_eq!(sources, [DataSource::Dram, DataSource::Peer]);
    cores.access(1, MemKind::Store, pc);
    assert_eq!(cores.memory.line_is_dirty(0, pc, CacheLevel::L1i), None, "3.2.12");
    assert_eq!(cores.value(0, PmuEvent::L2D_CACHE_INVAL), 1);
}

#[test]
fn a_full_snoop_filter_takes_lines_out_of_the_caches() {
    let mut tables = Tables::quiet();
    tables.memory.slc.slices = 1;
    tables.memory.snoop_filter.slice_lines = 2;
    tables.memory.snoop_filter.ways = 2;
    let mut cores = Cores::new(&tables, 2);
    for line in 0..3 {
        cores.access(0, MemKind::Store, VirtAddr(D.0 + 64 * line));
    }
    assert_eq!(cores.value(0, PmuEvent::L2D_CACHE_INVAL), 1);
    assert_eq!(cores.dirty(0, CacheLevel::Slc), Some(true), "its data is at the home node");
    assert!(cores.memory.is_coherent());
}

/// Places where atomics are performed.
const FAR: &[FarAtomics] = &[FarAtomics::Never, FarAtomics::Miss, FarAtomics::Always];

/// One operation of one core or agent.
#[derive(Clone, Copy, Debug)]
enum Op {
    Access(usize, MemKind, u64),
    Fetch(usize, u64),
    Snoop(usize, Snoop, u64),
    Stash(usize, u64),
}

fn any_op() -> impl Strategy<Value = Op> {
    let kinds = prop::sample::select(vec![
        MemKind::Load,
        MemKind::Store,
        MemKind::AtomicLoad,
        MemKind::AtomicStore,
        MemKind::AtomicSwap,
        MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean)),
        MemKind::Maintain(Maintenance::InstByAddress),
        MemKind::ZeroLine,
        MemKind::PrefetchLoad,
        MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Invalidate)),
        MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate)),
        MemKind::Maintain(Maintenance::DataBySetWay(CacheOp::CleanInvalidate)),
    ]);
    let snoops = prop::sample::select(vec![
        Snoop::Shared,
        Snoop::Unique,
        Snoop::Forward,
        Snoop::Clean,
        Snoop::CleanInvalidate,
        Snoop::Invalidate,
    ]);
    let line = 0u64..48;
    prop_oneof![
        12 => (0usize..3, kinds, line.clone()).prop_map(|(core, kind, l)| Op::Access(core, kind, l)),
        2 => (0usize..3, line.clone()).prop_map(|(core, l)| Op::Fetch(core, l)),
        1 => (0usize..3, snoops, line.clone()).prop_map(|(core, s, l)| Op::Snoop(core, s, l)),
        1 => (0usize..3, line).prop_map(|(core, l)| Op::Stash(core, l)),
    ]
}

/// Returns tables with caches of a few lines, a snoop filter that is too small, streaming stores
/// and prefetchers.
pub(crate) fn tiny() -> Tables {
    let mut tables = Tables::committed();
    let memory = &mut tables.memory;
    (memory.l1i.size_bytes, memory.l1d.size_bytes, memory.l2.size_bytes) = (512, 512, 2048);
    memory.l1d.write_stream_lines = 2;
    (memory.slc.slices, memory.slc.slice_bytes) = (2, 2048);
    (memory.snoop_filter.slice_lines, memory.snoop_filter.ways) = (16, 4);
    tables
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn at_most_one_core_may_modify_a_line_and_the_filter_is_exact(
        ops in prop::collection::vec(any_op(), 1..200), far in prop::sample::select(FAR)
    ) {
        let mut tables = tiny();
        tables.memory.far_atomics = far;
        let mut cores = Cores::new(&tables, 3);
        cores.memory.begin_counting(0);
        let at = |line: u64| VirtAddr(0x8000 + 64 * line);
        for op in ops {
            let now = cores.now;
            match op {
                Op::Access(core, kind, line) => drop(cores.access(core, kind, at(line))),
                Op::Fetch(core, line) => drop(cores.fetch(core, at(line))),
                Op::Snoop(core, snoop, line) => {
                    let counts = &mut cores.counts[core];
                    cores.memory.snoop(core, snoop, at(line), now, counts).expect("mapped");
                }
                Op::Stash(core, line) => {
                    let counts = &mut cores.counts[core];
                    cores.memory.stash(core, at(line), now, counts).expect("mapped");
                }
            }
            cores.settle();
            prop_assert!(cores.memory.is_coherent(), "after {:?}", op);
            prop_assert!((0..3).all(|core| cores.memory.is_inclusive(core)), "after {:?}", op);
        }
        let broken = broken_sums(cores.memory.mesh_counts());
        prop_assert!(broken.is_empty(), "{:?}", broken);
    }
}

#[test]
fn maintenance_by_address_reaches_the_other_cores() {
    // T.L1D_CACHE_WB_CLEAN.2: another core's DC CVAC takes the data and leaves the line
    let clean = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean));
    let mut cores = Cores::quiet(2);
    cores.st(0);
    cores.access(1, clean, D);
    let counted = |cores: &Cores, event| cores.value(0, event);
    assert_eq!(counted(&cores, PmuEvent::L1D_CACHE_WB_CLEAN), 1);
    assert_eq!(counted(&cores, PmuEvent::L1D_CACHE_INVAL), 0);
    assert_eq!(
        [cores.dirty(0, CacheLevel::L1d), cores.dirty(0, CacheLevel::Slc)],
        [Some(false), Some(true)]
    );
    // 4.2.13, 4.4.11: an invalidation takes the line
    let both = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::CleanInvalidate));
    cores.access(1, both, D);
    assert_eq!(counted(&cores, PmuEvent::L1D_CACHE_INVAL), 1);
    assert_eq!(counted(&cores, PmuEvent::L2D_CACHE_INVAL), 1);
    assert!(cores.memory.is_coherent());
}
