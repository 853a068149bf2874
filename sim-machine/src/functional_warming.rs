//! Functional warming before a window (SMARTS, Wunderlich and others, 2003).
//!
//! Every fetch, access and branch updates caches, TLBs, prefetchers and branch predictors in
//! program order, without a pipeline. After a mispredicted branch the wrong path is fetched and
//! its loads are performed, as in a core.
//!
//! The clock is approximate: a block takes one cycle, and a miss delays
//! everything younger until its line arrives. The sink receives these cycles as stalls: front-end
//! stalls for fetches, back-end stalls for accesses. They are not a core's counts, but correlate
//! with them.

use sim_cache::MemorySystem;
use sim_core::{
    Cycle, EventSink, InstFlags, LINE_SHIFT, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent,
    StateVisitor, TraceInst, VirtAddr, WarmState,
};
use sim_isa::{Inst, Program};
use sim_pipeline::in_order_access::{InOrderAccess, InOrderClock, is_late};
use sim_pipeline::{Pipeline, WrongPathPort};
use sim_trace::{BlockId, BlockVisitor, StaticTable};

/// Line number that no address has.
const NO_LINE: u64 = u64::MAX;

/// Decoded instructions of a trace's blocks, by the places that [`BlockVisitor`] passes.
pub struct BlockTable {
    insts: Vec<u32>,
    accesses: Vec<Access>,
    /// Address of the first instruction of each block.
    blocks: Vec<u64>,
}

/// Visits the warm state of a single-core machine: first the memory system, then the core.
pub fn visit_state<V: StateVisitor>(
    memory: &mut MemorySystem,
    core: &mut impl WarmState,
    visitor: &mut V,
) {
    memory.visit(visitor);
    core.visit(visitor);
}

/// Memory access of an instruction; `kind` is `None` without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    kind: Option<MemKind>,
    bytes: u16,
    register_bytes: u8,
}

impl Access {
    fn of(inst: &Inst) -> Access {
        Access {
            kind: inst.recorded_access_kind(),
            bytes: inst.mem.bytes.max(1),
            register_bytes: inst.mem.register_bytes,
        }
    }

    #[inline]
    fn request(self, pc: u64, addr: u64, kind: MemKind) -> MemRequest {
        let whole = MemRequest::new(VirtAddr(pc), VirtAddr(addr), self.bytes.into(), kind);
        MemRequest { element_bytes: self.register_bytes.into(), ..whole }
    }
}

impl BlockTable {
    /// Creates the table of a trace with these blocks.
    pub fn new(statics: &StaticTable, program: &Program) -> BlockTable {
        let first = |number: usize| {
            let insts = statics.block(BlockId(number as u32)).unwrap_or_default();
            insts.first().map_or(0, |id| program.pc(*id))
        };
        BlockTable {
            insts: statics.places().to_vec(),
            accesses: statics.places().iter().map(|id| Access::of(program.inst(*id))).collect(),
            blocks: (0..statics.blocks()).map(first).collect(),
        }
    }
}

/// Clock of a core that waits for every miss. It counts these cycles and their stalls.
struct BlockingClock {
    cycle: Cycle,
}

impl InOrderClock for BlockingClock {
    #[inline(always)]
    fn now(&self) -> Cycle {
        self.cycle
    }

    #[inline]
    fn wait<S: EventSink>(&mut self, reply: &MemReply, stall: PmuEvent, sink: &mut S) {
        if is_late(reply) {
            let waited = reply.done.saturating_sub(self.cycle);
            self.cycle += waited;
            sink.count(PmuEvent::CPU_CYCLES, waited);
            sink.count(stall, waited);
        }
    }

    /// The clock waits for the write, which includes the translation.
    #[inline]
    fn begin_write<S: EventSink>(&mut self, translated: &MemReply, _: &mut S) -> Cycle {
        translated.done
    }
}

/// A core that is warmed without its pipeline.
pub struct FunctionalWarming<'a, S> {
    core: usize,
    table: &'a BlockTable,
    program: &'a mut Program,
    pipeline: &'a mut Pipeline,
    memory: &'a mut MemorySystem,
    /// Receives the memory system's events, cycles, stall cycles and mispredicted branches.
    pub sink: S,
    clock: BlockingClock,
    /// Last instruction so far.
    last: Option<u32>,
    /// Last fetched line.
    line: u64,
    /// Address of an instruction minus four times its place.
    code: u64,
}

impl<'a, S: EventSink> FunctionalWarming<'a, S> {
    /// Creates a run of core `core` that starts at cycle `now`.
    pub fn new(
        core: usize,
        table: &'a BlockTable,
        program: &'a mut Program,
        pipeline: &'a mut Pipeline,
        memory: &'a mut MemorySystem,
        now: Cycle,
        sink: S,
    ) -> FunctionalWarming<'a, S> {
        FunctionalWarming {
            core,
            table,
            program,
            pipeline,
            memory,
            sink,
            clock: BlockingClock { cycle: now },
            last: None,
            line: NO_LINE,
            code: 0,
        }
    }

    /// Continues after the instruction `last`, whose successor is not known yet.
    #[must_use]
    pub(crate) fn after(mut self, last: Option<u32>) -> Self {
        self.line = last.map_or(NO_LINE, |last| self.program.pc(last) >> LINE_SHIFT);
        self.last = last;
        self
    }

    /// Returns the current cycle.
    #[inline]
    pub(crate) fn now(&self) -> Cycle {
        self.clock.cycle
    }

    /// Advances the clock by a cycle.
    #[inline]
    pub(crate) fn tick(&mut self) {
        self.clock.cycle += 1;
        self.sink.raise(PmuEvent::CPU_CYCLES);
    }

    /// Returns the current cycle and the last instruction, whose successor is not known yet.
    pub fn now_and_last(&self) -> (Cycle, Option<u32>) {
        (self.clock.cycle, self.last)
    }

    /// Visits the warm state of caches, TLBs, prefetchers and predictors.
    pub fn visit_state<V: StateVisitor>(&mut self, visitor: &mut V) {
        visit_state(self.memory, self.pipeline, visitor);
    }

    /// Runs one instruction that was already read from the trace.
    pub fn run_inst(&mut self, inst: &TraceInst) {
        let pc = self.program.pc(inst.id);
        self.resolve_branch(pc);
        self.last = Some(inst.id);
        self.fetch(pc, pc);
        if inst.flags.has(InstFlags::HAS_ADDR) {
            self.access_data(inst.id, pc, Access::of(self.program.inst(inst.id)), inst.addr);
        }
    }

    /// Trains the branch predictors if the last instruction is a branch: it continued at `pc`. Runs
    /// the wrong path if the branch was mispredicted.
    #[inline]
    fn resolve_branch(&mut self, pc: u64) {
        let Some(last) = self.last else { return };
        let mut wrong_path = WrongPathAccesses {
            now: self.clock.cycle,
            line: self.line,
            port: self.memory.port(self.core),
            sink: &mut self.sink,
        };
        if !self.pipeline.train_branch_and_wrong_path(last, pc, self.program, &mut wrong_path) {
            self.sink.raise(PmuEvent::BR_MIS_PRED_RETIRED);
            self.line = NO_LINE;
        }
    }

    #[inline]
    fn fetch(&mut self, first: u64, last: u64) {
        for line in first >> LINE_SHIFT..=last >> LINE_SHIFT {
            if line != self.line {
                self.line = line;
                let memory = &mut self.memory.port(self.core);
                let (clock, sink) = (&mut self.clock, &mut self.sink);
                InOrderAccess { clock, memory, sink }.fetch(line << LINE_SHIFT);
            }
        }
    }

    #[inline]
    fn access_data(&mut self, id: u32, pc: u64, access: Access, addr: u64) {
        let Some(kind) = access.kind else { return };
        self.pipeline.learn_address(id, addr);
        let request = access.request(pc, addr, kind);
        let memory = &mut self.memory.port(self.core);
        let mut engine = InOrderAccess { clock: &mut self.clock, memory, sink: &mut self.sink };
        match kind {
            MemKind::Load | MemKind::Store => engine.load_or_store(request),
            _ => engine.access(request),
        };
    }
}

/// Memory port for the fetches and loads of a wrong path. Only fetches wait; stores are translated,
/// but not performed.
struct WrongPathAccesses<'a, M, S> {
    now: Cycle,
    line: u64,
    port: M,
    sink: &'a mut S,
}

impl<M: MemoryPort, S: EventSink> WrongPathPort for WrongPathAccesses<'_, M, S> {
    fn fetch(&mut self, pc: u64) -> Option<Cycle> {
        let line = pc >> LINE_SHIFT;
        if std::mem::replace(&mut self.line, line) == line {
            return Some(0);
        }
        let reply = self.port.fetch(VirtAddr(line << LINE_SHIFT), self.now, self.sink);
        if reply.outcome.abort().is_some() {
            return None;
        }
        Some(if is_late(&reply) { reply.done.saturating_sub(self.now) } else { 0 })
    }

    fn touch(&mut self, pc: u64, inst: &Inst, addr: u64) {
        let access = Access::of(inst);
        let request = |kind| access.request(pc, addr, kind);
        match access.kind {
            Some(MemKind::Load) => {
                let MemRequest { addr, bytes, element_bytes, .. } = request(MemKind::Load);
                if !self.port.load_hits(addr, bytes, element_bytes, self.now, self.sink) {
                    self.port.access(request(MemKind::Load), self.now, self.sink);
                }
            }
            Some(MemKind::Store) => {
                self.port.translate_store(request(MemKind::Store), self.now, self.sink);
            }
            _ => {}
        }
    }
}

impl<S: EventSink> BlockVisitor for FunctionalWarming<'_, S> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        self.tick();
        let pc = self.table.blocks[block as usize];
        self.resolve_branch(pc);
        self.code = pc.wrapping_sub(4 * u64::from(place));
        let last = u32::from(executed.max(1)) - 1;
        self.last = Some(self.table.insts[(place + last) as usize]);
        self.fetch(pc, pc.wrapping_add(4 * u64::from(last)));
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        let pc = self.code.wrapping_add(4 * u64::from(place));
        let id = self.table.insts[place as usize];
        self.access_data(id, pc, self.table.accesses[place as usize], addr);
    }
}
