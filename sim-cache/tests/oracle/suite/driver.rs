//! Runs the same operations on sim-cache and the oracle.

use sim_cache::{Mapping, MemorySystem};
use sim_core::{AccessOutcome, EventSink, MemKind, MemRequest, MemoryPort, PhysAddr, VirtAddr};

use super::geometry::Geometry;
use super::model::{Oracle, Way};
use super::sequence::Op;
use super::world::Region;

/// Cycles between the starts of two groups, after which nothing is in flight.
const GROUP_CYCLES: u64 = 200_000;

/// Enters a region into the tables of sim-cache.
fn map(memory: &mut MemorySystem, region: &Region, page_bytes: u64) {
    let addr = VirtAddr(region.page * page_bytes);
    let Some(frame) = region.frame else {
        memory.map_page(addr, None);
        return;
    };
    // A range of pages of the last level is contiguous, one of a higher level is a block.
    let contiguous = region.pages > 1 && region.level == 3;
    let mapping = Mapping {
        contiguous,
        memory: region.memory,
        tagged: region.tagged,
        global: region.global,
        read_only: region.read_only,
        no_exec: region.no_exec,
        ..Mapping::normal(
            PhysAddr(frame * page_bytes),
            if contiguous { page_bytes } else { region.pages * page_bytes },
        )
    };
    memory.map_block(addr, mapping).expect("the sizes are those of the granule");
}

/// Drives sim-cache like a pipeline and reports events to `sink`.
pub(crate) struct Driver<S> {
    pub(crate) memory: MemorySystem,
    pub(crate) sink: S,
    /// Core that acts.
    pub(crate) core: usize,
    now: u64,
}

impl<S: EventSink> Driver<S> {
    pub(crate) fn new(geometry: &Geometry, sink: S) -> Driver<S> {
        let (tables, world) = (&geometry.tables, &geometry.world);
        let mut memory = MemorySystem::new(
            &tables.memory,
            &tables.semantics,
            1 + usize::from(geometry.two_cores),
            geometry.seed,
        );
        memory.set_tag_checks(geometry.tag_checks);
        for region in &world.regions {
            map(&mut memory, region, world.page_bytes);
            let Some(source) = region.frame.and_then(|frame| world.suppliers.get(&frame)) else {
                continue;
            };
            for line in 0..world.lines_of_page() {
                let addr = VirtAddr(region.page * world.page_bytes + line * 64);
                memory.set_data_source(addr, Some(*source)).expect("the page is mapped");
            }
        }
        Driver { memory, sink, core: 0, now: 0 }
    }

    pub(crate) fn settle(&mut self) {
        self.now += GROUP_CYCLES;
        for core in 0..self.memory.n_cores() {
            self.memory.pass_time(core, self.now, &mut self.sink);
        }
    }

    /// Makes both cores answer their waiting snoops.
    pub(crate) fn answer_queued_snoops(&mut self) {
        for core in 0..self.memory.n_cores() {
            self.memory.answer_snoops(core, &mut self.sink);
        }
    }

    fn access(&mut self, kind: MemKind, addr: u64, bytes: u64, element: u64) {
        let pc = VirtAddr(0x40_0000 + addr % 64 * 4);
        let request = MemRequest {
            element_bytes: element as u32,
            ..MemRequest::new(pc, VirtAddr(addr), bytes as u32, kind)
        };
        self.perform(request);
    }

    fn perform(&mut self, request: MemRequest) {
        let mut port = self.memory.port(self.core);
        if matches!(request.kind, MemKind::Store | MemKind::ZeroLine) {
            let reply = port.translate_store(request, self.now, &mut self.sink);
            if reply.outcome.has(AccessOutcome::FAULT) {
                return;
            }
        }
        port.access(request, self.now, &mut self.sink);
    }

    fn exclusive(&mut self, kind: MemKind, addr: u64) {
        let pc = VirtAddr(0x40_0000);
        let request =
            MemRequest { exclusive: true, ..MemRequest::new(pc, VirtAddr(addr), 8, kind) };
        self.perform(request);
    }

    pub(crate) fn run(&mut self, op: Op) {
        match op {
            Op::Load(addr, bytes, element) => self.access(MemKind::Load, addr, bytes, element),
            Op::Store(addr, bytes) => self.access(MemKind::Store, addr, bytes, bytes.min(16)),
            Op::Atomic(kind, addr) => self.access(kind, addr, 8, 8),
            Op::ZeroLine(addr) => self.access(MemKind::ZeroLine, addr, 64, 64),
            Op::Preload(kind, addr) => self.access(kind, addr, 1, 1),
            Op::LoadExclusive(addr) => self.exclusive(MemKind::Load, addr),
            Op::StoreExclusive(addr) => self.exclusive(MemKind::Store, addr),
            Op::ClearExclusive(_) => self.access(MemKind::ClearExclusive, 0, 1, 1),
            Op::Barrier(_) => self.access(MemKind::DrainStores, 0, 1, 1),
            Op::Maintain(what, operand) => self.access(MemKind::Maintain(what), operand, 1, 1),
            Op::Snoop(snoop, addr) => {
                let (addr, sink) = (VirtAddr(addr), &mut self.sink);
                // A page that is not mapped has no line to snoop.
                let _ = self.memory.snoop(self.core, snoop, addr, self.now, sink);
            }
            Op::Core(number, _) => self.core = number,
            Op::SetTag(addr, tag) => self.memory.set_tag(VirtAddr(addr), 1, tag),
            Op::Stash(addr) => {
                let _ = self.memory.stash(self.core, VirtAddr(addr), self.now, &mut self.sink);
            }
            Op::Fetch(pc) => {
                self.memory.port(self.core).fetch(VirtAddr(pc), self.now, &mut self.sink);
            }
        }
    }
}

impl Oracle {
    /// Makes both cores answer their waiting snoops.
    pub(crate) fn answer_all_snoops(&mut self) {
        let acting = self.core.number;
        for number in 0..=usize::from(self.other.is_some()) {
            self.switch_to(number);
            self.answer_queued_snoops();
        }
        self.switch_to(acting);
    }

    pub(crate) fn run(&mut self, op: Op) {
        if !matches!(op, Op::Core(..) | Op::SetTag(..) | Op::Snoop(..) | Op::Stash(_)) {
            self.answer_queued_snoops();
        }
        match op {
            Op::Load(addr, bytes, element) => {
                self.load(addr, bytes, element);
            }
            Op::Store(addr, bytes) => {
                self.store(addr, bytes);
            }
            Op::Atomic(kind, addr) => self.atomic(kind, addr),
            Op::ZeroLine(addr) => self.zero_line(addr),
            Op::Preload(MemKind::PrefetchStore, addr) => self.preload(Way::Write, addr),
            Op::Preload(MemKind::PrefetchOuter { for_write }, addr) => {
                self.preload_outer(if for_write { Way::Write } else { Way::Read }, addr);
            }
            Op::Preload(_, addr) => self.preload(Way::Read, addr),
            Op::Fetch(pc) => self.fetch(pc),
            Op::LoadExclusive(addr) => self.load_exclusive(addr),
            Op::StoreExclusive(addr) => self.store_exclusive(addr),
            Op::ClearExclusive(_) => self.core.marked = None,
            Op::Barrier(_) => self.drain_all(),
            Op::Maintain(what, operand) => self.maintain(what, operand),
            Op::Snoop(snoop, addr) => self.snoop(snoop, addr),
            Op::Stash(addr) => self.stash(addr),
            Op::SetTag(addr, tag) => self.set_tag(addr, tag),
            Op::Core(number, _) => self.switch_to(number),
        }
    }
}
