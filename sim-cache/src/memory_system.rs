//! The memory of a machine: the private part of each core, the uncore, and the port of a pipeline.

use sim_core::mesh_counts::MeshCounts;
use sim_core::{
    Cycle, EventSink, LINE_BYTES, LoadWait, MemKind, MemReply, MemRequest, MemoryPort, Notice,
    PhysAddr, StateVisitor, TagUse, VirtAddr, WarmState,
};

use crate::config::{MemoryConfig, SemanticsConfig};
use crate::core_memory::CoreMemory;
use crate::cores::{Cores, Peers};
use crate::uncore::Uncore;

/// Approximate memory of the host for a line, in bytes.
const BYTES_PER_LINE: u64 = 32;
/// Approximate memory of the host for TLBs, queues and predictors of a core, in bytes.
const CORE_BYTES: u64 = 128 << 10;

/// Memory of a machine: a private part for each core, and the shared uncore.
#[derive(Clone, Debug)]
pub struct MemorySystem {
    pub(crate) cores: Cores,
    pub(crate) uncore: Uncore,
    pub(crate) config: MemoryConfig,
    pub(crate) semantics: SemanticsConfig,
    pub(crate) seed: u64,
}

impl MemorySystem {
    /// Creates empty caches and TLBs for `cores` cores. `seed` starts random replacement and mixes
    /// pages.
    ///
    /// # Panics
    ///
    /// If [`MemoryConfig::problems`] reports a problem; callers check it before they build a
    /// machine.
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

    /// Creates a system like [`MemorySystem::new`] without the private parts of the cores.
    /// [`MemorySystem::wake`] creates each before its core runs, [`MemorySystem::release`] frees
    /// it.
    ///
    /// # Panics
    ///
    /// If [`MemoryConfig::problems`] reports a problem.
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

    /// Creates the empty private part of a core if it is missing.
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

    /// Frees the private part of a core that will not run again. The snoop filter keeps it as
    /// holder of its lines, and requests for them take the same time. Snoops to it count nothing.
    ///
    /// # Panics
    ///
    /// When there is no such core.
    pub fn release(&mut self, core: usize) {
        self.cores.set(core, None);
        for request in self.uncore.snoops.close(core) {
            self.uncore.count_answer(core, request, None);
        }
    }

    /// Leaves the mesh uncounted, for runs whose caller does not ask for
    /// [`MemorySystem::mesh_counts`].
    pub fn leave_mesh_uncounted(&mut self) {
        self.uncore.traffic.leave_uncounted();
    }

    /// Counts pairs of cores line by line too ([`sim_core::core_pairs`]).
    pub fn keep_lines_of_pairs(&mut self) {
        self.uncore.traffic.keep_lines_of_pairs();
    }

    /// Counts the mesh from now on: a core, whose clock is `at`, begins to count.
    pub fn begin_counting(&mut self, at: Cycle) {
        if self.uncore.traffic.is_wanted() {
            let waiting = self.uncore.snoops.waiting();
            self.uncore.traffic.begin(at, waiting);
        }
    }

    /// Ends what [`MemorySystem::begin_counting`] began, for one core, whose clock is `at`. The
    /// mesh counts while any core does.
    pub fn end_counting(&mut self, at: Cycle) {
        if self.uncore.traffic.is_wanted() {
            let waiting = self.uncore.snoops.waiting();
            self.uncore.traffic.end(at, waiting);
        }
    }

    /// Returns the counts of the mesh so far, which start again with zero.
    pub fn take_mesh_counts(&mut self) -> MeshCounts {
        self.uncore.traffic.take()
    }

    /// Returns the counts of the mesh so far.
    pub fn mesh_counts(&self) -> &MeshCounts {
        self.uncore.traffic.counts()
    }

    /// Returns the approximate bytes of the host that the private part of a core takes.
    pub fn core_bytes(&self) -> u64 {
        let MemoryConfig { l1i, l1d, l2, .. } = &self.config;
        let bytes = l1i.size_bytes + l1d.size_bytes;
        let lines = (bytes + l2.line_bytes()) / LINE_BYTES;
        CORE_BYTES + lines * BYTES_PER_LINE
    }

    /// Returns the number of cores.
    pub fn n_cores(&self) -> usize {
        self.cores.len()
    }

    /// Returns the port of core number `core`.
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

/// One core's private memory together with the uncore: the memory port of its pipeline.
#[derive(Debug)]
pub struct CorePort<'a> {
    pub(crate) core: &'a mut CoreMemory,
    peers: Peers<'a>,
    pub(crate) uncore: &'a mut Uncore,
}

impl CorePort<'_> {
    /// Clears the exclusive monitor, as the system does between two threads.
    pub fn clear_exclusive(&mut self) {
        self.core.monitor.clear();
    }
}

impl MemoryPort for CorePort<'_> {
    #[inline(always)]
    fn fetch<S: EventSink>(&mut self, pc: VirtAddr, now: Cycle, sink: &mut S) -> MemReply {
        self.answer_snoops(sink);
        sink.notify(Notice::At(now));
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
        sink.notify(Notice::At(now));
        self.core.translate_store(request, now, self.uncore, sink)
    }

    #[inline(always)]
    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, sink: &mut S) -> MemReply {
        self.answer_snoops(sink);
        sink.notify(Notice::At(now));
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
    /// Returns all other cores, the receivers of a broadcast.
    pub(crate) fn peers(&mut self) -> impl Iterator<Item = &mut CoreMemory> {
        self.uncore.log_needs_all();
        self.peers.awake()
    }

    /// Answers the waiting snoops of other cores first; usually there are none.
    #[inline(always)]
    fn answer_snoops<S: EventSink>(&mut self, sink: &mut S) {
        if self.uncore.snoops.may_have(self.core.number) {
            self.core.answer_queued_snoops(self.uncore, sink);
        }
    }

    /// Performs every access but plain loads, outlined from their path.
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
                    // The store is complete, so its bytes do not wait for others.
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
            MemKind::Synchronize => {
                let done = core.synchronize(now, uncore);
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

/// The saved state is the content of caches, TLBs and prefetchers, and the address space. Requests
/// in flight, errors, exclusive marks and pages are not part of it.
impl WarmState for MemorySystem {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        for core in self.cores.iter_mut() {
            core.visit(visitor);
        }
        self.uncore.visit(visitor);
    }
}
