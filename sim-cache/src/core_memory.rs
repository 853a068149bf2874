//! The memory side of one core: TLBs, walker, L1 caches, L2, bus port; and the system of all cores.
//!
//! PMU guide chapter 5. Each flow is a file: translation (5.1 to 5.3) `translate`, L1 data cache (5.4,
//! 5.5) `data_side`, L1 instruction cache (5.6) `fetch_side`, L2 (5.7, 5.8) `l2`.

use sim_core::{
    Cycle, EventSink, LINE_BYTES, LineAddr, LoadWait, MemKind, MemReply, MemRequest, MemoryPort,
    PhysAddr, StateVisitor, TagUse, VirtAddr, WarmState,
};

use crate::config::{
    FarAtomics, IdealData, IdealMemory, MemoryConfig, PageCross, SemanticsConfig, WalkReads,
};
use crate::flows::l2_prefetch::L2Streams;
use crate::flows::ras::ErrorSource;
use crate::uncore::Uncore;
use crate::units::address_space::AddressSpace;
use crate::units::bandwidth::Calendar;
use crate::units::bus::BusPort;
use crate::units::cache::Level;
use crate::units::cores::{Cores, Peers};
use crate::units::l2_tlb::L2Tlb;
use crate::units::memory_stats::MemoryTally;
use crate::units::miss_intervals::MissIntervals;
use crate::units::monitor::ExclusiveMonitor;
use crate::units::mshr::Mshrs;
use crate::units::prefetch::{DataPrefetcher, StoreStreams};
use crate::units::tlb::L1Tlb;
use crate::units::waits::Waits;
use crate::units::walker::Walker;
use crate::units::write_stream::WriteStreams;

/// Latencies of one core's part, in cycles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreLatencies {
    /// L1 I-cache hit.
    pub(crate) l1i_hit: Cycle,
    /// L1 D-cache hit, load-to-use.
    pub(crate) l1d_hit: Cycle,
    /// A load split over two cycles.
    pub(crate) split: Cycle,
    /// Taking a copy back from another set of the L1 D-cache.
    pub(crate) alias: Cycle,
    /// L2 lookup.
    pub(crate) l2_lookup: Cycle,
    /// First beat to use.
    pub(crate) fill: Cycle,
    /// L2 TLB lookup.
    pub(crate) l2_tlb: Cycle,
    /// Walker overhead of a level.
    pub(crate) walk_level: Cycle,
    /// Descriptor read over the side port.
    pub(crate) walk_read: Cycle,
}

/// Which prefetchers run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefetchSwitches {
    /// L1 D-cache stride and stream.
    pub(crate) l1d: bool,
    /// L1 I-cache next line.
    pub(crate) l1i: bool,
    /// L2 stream.
    pub(crate) l2: bool,
    /// Stores into the L2, when their address is known.
    pub(crate) stores: bool,
    /// Lines of one L2 request.
    pub(crate) l2_degree: u64,
    /// The L2 stream goes on into the page that the L1 D prefetcher names.
    pub(crate) l2_page_cross: bool,
    /// What the L1 D prefetcher does at a page without translation.
    pub(crate) page_cross: PageCross,
}

/// The private part of the memory system of one core.
#[derive(Clone, Debug)]
pub struct CoreMemory {
    /// Which core it is.
    pub(crate) number: usize,
    pub(crate) latencies: CoreLatencies,
    pub(crate) semantics: SemanticsConfig,
    pub(crate) space: AddressSpace,
    pub(crate) itlb: L1Tlb,
    pub(crate) dtlb: L1Tlb,
    pub(crate) l2_tlb: L2Tlb,
    /// Look-ups of the L2 TLB that are under way.
    pub(crate) l2_tlb_lookups: Mshrs,
    pub(crate) walker: Walker,
    pub(crate) l1i: Level,
    pub(crate) l1i_mshrs: Mshrs,
    /// Own writes take copies out of the L1 I-cache.
    pub(crate) coherent_fetch: bool,
    pub(crate) l1d: Level,
    pub(crate) l1d_mshrs: Mshrs,
    pub(crate) write_streams: WriteStreams,
    pub(crate) monitor: ExclusiveMonitor,
    /// Which atomics leave the core.
    pub(crate) far_atomics: FarAtomics,
    /// What costs no time; asked only where an access misses.
    pub(crate) ideal: IdealMemory,
    pub(crate) l2: Level,
    pub(crate) l2_port: Calendar,
    /// Where the L2 takes stores that stream past the L1 D-cache.
    pub(crate) l2_write_port: Calendar,
    pub(crate) l2_queue: Mshrs,
    pub(crate) bus: BusPort,
    pub(crate) l2_misses: MissIntervals,
    pub(crate) errors: ErrorSource,
    pub(crate) l2_streams: L2Streams,
    pub(crate) prefetcher: DataPrefetcher,
    pub(crate) store_streams: StoreStreams,
    pub(crate) prefetch: PrefetchSwitches,
    /// The line of the last store whose address was looked at: its neighbors in program order ask for nothing more.
    pub(crate) last_store_line: LineAddr,
    pub(crate) tally: MemoryTally,
    /// What the present refill and the last load that missed waited for.
    pub(crate) waits: Waits,
}

impl CoreMemory {
    /// Empty caches and TLBs; the configuration was validated.
    pub(crate) fn new(
        config: &MemoryConfig,
        semantics: SemanticsConfig,
        number: usize,
        seed: u64,
    ) -> CoreMemory {
        let (l1i, l1d, l2, prefetch) = (&config.l1i, &config.l1d, &config.l2, &config.prefetch);
        CoreMemory {
            number,
            latencies: CoreLatencies::new(config),
            semantics,
            space: AddressSpace::new(config.pages.asid_from),
            itlb: L1Tlb::new(config.itlb.entries),
            dtlb: L1Tlb::new(config.dtlb.entries),
            l2_tlb: L2Tlb::new(&config.l2_tlb),
            l2_tlb_lookups: Mshrs::new(config.l2_tlb.lookups),
            walker: Walker::new(&config.walker),
            l1i: Level::new(l1i.size_bytes, l1i.ways, l1i.replacement, seed).indexed_virtually(),
            l1i_mshrs: Mshrs::new(l1i.mshrs),
            coherent_fetch: l1i.coherent,
            l1d: Level::new(l1d.size_bytes, l1d.ways, l1d.replacement, seed ^ 1)
                .indexed_virtually(),
            l1d_mshrs: Mshrs::new(l1d.mshrs),
            write_streams: WriteStreams::new(l1d.write_stream_lines, l1d.merge_idle_cycles),
            monitor: ExclusiveMonitor::default(),
            far_atomics: config.far_atomics,
            ideal: config.ideal,
            l2: Level::new(l2.line_bytes(), l2.line_ways(), l2.replacement, seed ^ 2),
            l2_port: Calendar::rate(l2.read_bytes_per_cycle, LINE_BYTES as u32),
            l2_write_port: Calendar::rate(l2.write_bytes_per_cycle, LINE_BYTES as u32),
            l2_queue: Mshrs::new(l2.queue_entries),
            bus: BusPort::new(&config.bus, semantics.bus_unit),
            l2_misses: MissIntervals::new(),
            errors: ErrorSource::new(&config.errors, seed ^ 4 ^ (number as u64) << 32),
            l2_streams: L2Streams::new(prefetch),
            prefetcher: DataPrefetcher::new(prefetch),
            store_streams: StoreStreams::new(prefetch),
            prefetch: PrefetchSwitches {
                l1d: prefetch.l1d,
                l1i: prefetch.l1i_next_line,
                l2: prefetch.l2_stream,
                stores: prefetch.stores,
                l2_degree: prefetch.l2_degree_lines.into(),
                l2_page_cross: prefetch.l2_page_cross,
                page_cross: prefetch.l1d_page_cross,
            },
            last_store_line: LineAddr(u64::MAX),
            tally: MemoryTally::default(),
            waits: Waits::default(),
        }
    }

    /// Returns whether data accesses cost no time beyond the L1 D-cache.
    pub(crate) fn is_ideal_beyond_l1(&self) -> bool {
        self.ideal.data == IdealData::BeyondL1
    }

    /// Returns whether data accesses cost no time beyond the L2.
    pub(crate) fn is_ideal_beyond_l2(&self) -> bool {
        self.ideal.data >= IdealData::BeyondL2
    }

    /// True when the descriptor reads of walks go through the L2.
    pub(crate) fn walks_read_l2(&self) -> bool {
        self.semantics.walk_reads != WalkReads::SidePort
    }
}

impl CoreLatencies {
    fn new(config: &MemoryConfig) -> CoreLatencies {
        CoreLatencies {
            l1i_hit: config.l1i.hit_cycles.into(),
            l1d_hit: config.l1d.hit_cycles.into(),
            split: config.l1d.split_cycles.into(),
            alias: config.l1d.alias_cycles.into(),
            l2_lookup: config.l2.lookup_cycles.into(),
            fill: config.l2.fill_cycles.into(),
            l2_tlb: config.l2_tlb.hit_cycles.into(),
            walk_level: config.walker.level_cycles.into(),
            walk_read: config.walker.read_cycles.into(),
        }
    }
}

/// Memory of the host for what a core keeps of a line, and for TLBs, queues and predictors of a core, about.
const BYTES_PER_LINE: u64 = 32;
const CORE_BYTES: u64 = 128 << 10;

/// The memory of a machine: a private part for every core, and what they share.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    pub(crate) cores: Cores,
    pub(crate) uncore: Uncore,
    pub(crate) config: MemoryConfig,
    pub(crate) semantics: SemanticsConfig,
    pub(crate) seed: u64,
}

impl MemorySystem {
    /// Empty caches and TLBs for `cores` cores. `seed` starts random replacement and mixes pages.
    ///
    /// # Panics
    ///
    /// When [`MemoryConfig::problems`] has something to say: it is asked before a machine is built.
    pub fn new(
        config: &MemoryConfig,
        semantics: &SemanticsConfig,
        cores: usize,
        seed: u64,
    ) -> MemorySystem {
        let mut memory = MemorySystem::asleep(config, semantics, cores, seed);
        (0..cores).for_each(|core| memory.wake(core));
        memory
    }

    /// [`MemorySystem::new`] without the private parts of the cores: [`MemorySystem::wake`] makes each before its core
    /// runs, [`MemorySystem::release`] gives it back.
    ///
    /// # Panics
    ///
    /// As [`MemorySystem::new`].
    pub fn asleep(
        config: &MemoryConfig,
        semantics: &SemanticsConfig,
        cores: usize,
        seed: u64,
    ) -> MemorySystem {
        let problems = config.problems();
        assert!(problems.is_empty(), "the configuration was not checked: {problems:?}");
        MemorySystem {
            cores: Cores::asleep(cores),
            uncore: Uncore::new(config, cores, seed),
            config: config.clone(),
            semantics: *semantics,
            seed,
        }
    }

    /// Makes the empty private part of a core, if it has none.
    ///
    /// # Panics
    ///
    /// When there is no such core.
    pub fn wake(&mut self, core: usize) {
        if !self.cores.is_awake(core) {
            let memory = CoreMemory::new(&self.config, self.semantics, core, self.seed);
            self.cores.set(core, Some(memory));
        }
    }

    /// Gives the private part of a core back, which runs nothing any more. The snoop filter goes on to name it for the
    /// lines that it held: whoever wants one is answered by it in the same time. Snoops to it count nothing.
    ///
    /// # Panics
    ///
    /// When there is no such core.
    pub fn release(&mut self, core: usize) {
        self.cores.set(core, None);
        self.uncore.mail.close(core);
    }

    /// Returns about how many bytes of the host the private part of a core takes.
    pub fn core_bytes(&self) -> u64 {
        let MemoryConfig { l1i, l1d, l2, .. } = &self.config;
        let bytes = l1i.size_bytes + l1d.size_bytes;
        let lines = (bytes + l2.line_bytes()) / LINE_BYTES;
        CORE_BYTES + lines * BYTES_PER_LINE
    }

    /// Number of cores.
    pub fn n_cores(&self) -> usize {
        self.cores.len()
    }

    /// The memory as core number `core` sees it.
    ///
    /// # Panics
    ///
    /// When there is no such core, or it is not awake.
    #[inline]
    pub fn port(&mut self, core: usize) -> CorePort<'_> {
        let (core, peers) = self.cores.split(core);
        CorePort { core, peers, uncore: &mut self.uncore }
    }
}

/// One core's private memory together with the shared part: what its pipeline is given.
#[derive(Debug)]
pub struct CorePort<'a> {
    pub(crate) core: &'a mut CoreMemory,
    peers: Peers<'a>,
    pub(crate) uncore: &'a mut Uncore,
}

impl MemoryPort for CorePort<'_> {
    #[inline(always)]
    fn fetch<S: EventSink>(&mut self, pc: VirtAddr, now: Cycle, sink: &mut S) -> MemReply {
        self.answer_snoops(sink);
        sink.at(now);
        self.core.fetch(pc, now, self.uncore, sink)
    }

    #[inline(always)]
    fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply {
        self.answer_snoops(sink);
        sink.at(now);
        self.core.translate_store(request, now, self.uncore, sink)
    }

    #[inline(always)]
    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, sink: &mut S) -> MemReply {
        self.answer_snoops(sink);
        sink.at(now);
        if request.kind == MemKind::Load && !request.exclusive {
            return self.core.load(request, now, self.uncore, sink);
        }
        self.access_other(request, now, sink)
    }

    #[inline(always)]
    fn load_hits<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        bytes: u32,
        element_bytes: u32,
        now: Cycle,
        sink: &mut S,
    ) -> bool {
        self.answer_snoops(sink);
        self.core.load_hits(addr, (bytes, element_bytes), now, self.uncore, sink)
    }

    #[inline(always)]
    fn store_hits<S: EventSink>(
        &mut self,
        addr: VirtAddr,
        bytes: u32,
        now: Cycle,
        sink: &mut S,
    ) -> bool {
        self.answer_snoops(sink);
        self.core.store_hits(addr, bytes, now, self.uncore, sink)
    }

    fn physical(&self, addr: VirtAddr) -> Option<PhysAddr> {
        let map = &self.uncore.page_map;
        map.lookup(map.page_of(addr)).map(|target| map.physical(addr, target))
    }

    fn load_wait(&self, pc: VirtAddr, issued: Cycle) -> LoadWait {
        self.core.waits.of(pc, issued)
    }

    fn l2_miss_pending(&self, from: Cycle, to: Cycle) -> u64 {
        self.core.l2_misses.overlap(from, to)
    }
}

impl CorePort<'_> {
    /// All other cores: who hears a broadcast.
    pub(crate) fn peers(&mut self) -> impl Iterator<Item = &mut CoreMemory> {
        self.peers.awake()
    }

    /// What other cores asked for comes first; mostly it is nothing.
    #[inline(always)]
    fn answer_snoops<S: EventSink>(&mut self, sink: &mut S) {
        if self.uncore.mail.may_wait(self.core.number) {
            self.core.answer_mail(self.uncore, sink);
        }
    }

    /// Everything but plain loads, kept out of their way.
    #[inline(never)]
    fn access_other<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply {
        let (core, uncore) = (&mut *self.core, &mut *self.uncore);
        match request.kind {
            MemKind::Load => core.load_exclusive(request, now, uncore, sink),
            MemKind::Store => {
                if request.exclusive {
                    core.store_exclusive(request.addr, uncore);
                }
                if request.tags == TagUse::Writes {
                    uncore.write_tags(request.addr, request.bytes);
                }
                let reply = core.store(request, now, uncore, sink);
                if request.exclusive {
                    // Its store is complete, so its bytes wait for no others.
                    core.drain_all(now, uncore, sink);
                }
                reply
            }
            MemKind::ZeroLine => {
                if request.tags == TagUse::Writes {
                    let line = VirtAddr(request.addr.0 & !(LINE_BYTES - 1));
                    uncore.write_tags(line, LINE_BYTES as u32);
                }
                core.zero_line(request, now, uncore, sink)
            }
            MemKind::AtomicLoad | MemKind::AtomicStore | MemKind::AtomicSwap => {
                core.atomic(request, now, uncore, sink)
            }
            MemKind::PrefetchLoad | MemKind::PrefetchStore | MemKind::PrefetchOuter { .. } => {
                core.preload(request, now, uncore, sink)
            }
            MemKind::DrainStores => {
                let done = core.drain_all(now, uncore, sink);
                MemReply { done, ..MemReply::default() }
            }
            MemKind::ClearExclusive => {
                core.monitor.clear();
                MemReply { done: now + 1, ..MemReply::default() }
            }
            MemKind::Maintain(what) => self.maintain(what, request.addr, now, sink),
        }
    }
}

/// What lies in caches, TLBs and prefetchers, and the address space. Requests that are on their way, errors, marks of
/// exclusives and pages are no part of it.
impl WarmState for MemorySystem {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        for core in self.cores.iter_mut() {
            core.visit(visitor);
        }
        self.uncore.visit(visitor);
    }
}

impl WarmState for CoreMemory {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        self.space.visit(visitor);
        self.itlb.visit(visitor);
        self.dtlb.visit(visitor);
        self.l2_tlb.visit(visitor);
        self.l1i.visit(visitor);
        self.l1d.visit(visitor);
        self.l2.visit(visitor);
        let l2 = &self.l2;
        for l1 in [&mut self.l1i, &mut self.l1d] {
            l1.retain(|line| l2.probe(line).is_some());
        }
        self.l1d.retain_one_copy();
        self.write_streams.visit(visitor);
        self.l2_streams.visit(visitor);
        self.prefetcher.visit(visitor);
        self.store_streams.visit(visitor);
        visitor.one(&mut self.last_store_line.0);
    }
}
