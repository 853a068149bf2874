//! The way to a window: every fetch, access and branch in the order of the program, through caches, TLBs,
//! prefetchers and branch predictors, without a pipeline (functional warming, as in SMARTS, Wunderlich and
//! others, 2003).
//! Behind a branch that is predicted wrongly it goes astray for a while, as a core does: what lies there is fetched and loaded.
//!
//! The clock is a rough one: a block takes a cycle, and a miss holds everything behind it until its line is
//! there. What it waited for is told as stalls, of the front end behind a fetch and of the back end behind an
//! access: no counts that a core would have, but ones that go with them.

use sim_cache::MemorySystem;
use sim_core::{
    Cycle, EventSink, Happened, InstFlags, LINE_SHIFT, MemKind, MemReply, MemRequest, MemoryPort,
    PmuEvent, StateVisitor, TraceInst, VirtAddr, WarmState,
};
use sim_isa::{Inst, MemOp, Program};
use sim_pipeline::{Astray, Pipeline};
use sim_trace::{BlockId, Skim, StaticTable};

/// No line has this number.
const NOWHERE: u64 = u64::MAX;

/// The code of a trace by place, as [`Skim`] names it.
pub struct Places {
    insts: Vec<u32>,
    accesses: Vec<Access>,
    /// Address of the first instruction of each block.
    blocks: Vec<u64>,
}

/// Shows what lies in caches, TLBs, prefetchers and predictors of a machine with one core, always in this order.
pub fn show_state<V: StateVisitor>(
    memory: &mut MemorySystem,
    core: &mut impl WarmState,
    visitor: &mut V,
) {
    memory.visit(visitor);
    core.visit(visitor);
}

/// What an instruction asks of the memory system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    way: Way,
    bytes: u16,
    register_bytes: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Nothing,
    Load,
    Store,
    /// Anything else: its instruction says what.
    Rare,
}

impl Places {
    /// The places of a trace with these blocks.
    pub fn new(statics: &StaticTable, program: &Program) -> Places {
        let first = |number: usize| {
            let insts = statics.block(BlockId(number as u32)).unwrap_or_default();
            insts.first().map_or(0, |id| program.pc(*id))
        };
        Places {
            insts: statics.places().to_vec(),
            accesses: statics.places().iter().map(|id| access(program.inst(*id))).collect(),
            blocks: (0..statics.blocks()).map(first).collect(),
        }
    }
}

fn access(inst: &Inst) -> Access {
    let bytes = inst.mem.bytes.max(1);
    let way = match inst.mem.op {
        _ if inst.maintenance.is_some() => Way::Rare,
        MemOp::None | MemOp::Maintenance | MemOp::PrefetchInst => Way::Nothing,
        MemOp::Load => Way::Load,
        MemOp::Store => Way::Store,
        _ => Way::Rare,
    };
    Access { way, bytes, register_bytes: inst.mem.register_bytes }
}

/// A core on its way.
pub struct Approach<'a, S> {
    core: usize,
    places: &'a Places,
    program: &'a mut Program,
    pipeline: &'a mut Pipeline,
    memory: &'a mut MemorySystem,
    /// Hears what the memory system counts, cycles, what they were waited for, and mispredicted branches.
    pub sink: S,
    now: Cycle,
    /// The instruction that ran last.
    last: Option<u32>,
    /// The line that was fetched last.
    line: u64,
    /// What is added to four times a place for the address of its instruction.
    code: u64,
}

impl<'a, S: EventSink> Approach<'a, S> {
    /// Sets out at `now`.
    pub fn new(
        core: usize,
        places: &'a Places,
        program: &'a mut Program,
        pipeline: &'a mut Pipeline,
        memory: &'a mut MemorySystem,
        now: Cycle,
        sink: S,
    ) -> Approach<'a, S> {
        Approach {
            core,
            places,
            program,
            pipeline,
            memory,
            sink,
            now,
            last: None,
            line: NOWHERE,
            code: 0,
        }
    }

    /// What time it is, and the instruction that ran last: where it went on is not known yet.
    pub fn place(&self) -> (Cycle, Option<u32>) {
        (self.now, self.last)
    }

    /// Shows what lies in caches, TLBs, prefetchers and predictors.
    pub fn show_state<V: StateVisitor>(&mut self, visitor: &mut V) {
        show_state(self.memory, self.pipeline, visitor);
    }

    /// One instruction that was decoded already.
    pub fn record(&mut self, inst: &TraceInst) {
        let pc = self.program.pc(inst.id);
        self.arrive(pc);
        self.last = Some(inst.id);
        self.fetch(pc, pc);
        if inst.flags.has(InstFlags::HAS_ADDR) {
            self.touch(inst.id, pc, access(self.program.inst(inst.id)), inst.addr);
        }
    }

    /// The next instruction is at `pc`: the branch before it, if it is one, has its outcome.
    #[inline]
    pub fn arrive(&mut self, pc: u64) {
        let Some(last) = self.last else { return };
        let mut vain = Vain {
            now: self.now,
            line: self.line,
            port: self.memory.port(self.core),
            sink: &mut self.sink,
        };
        if !self.pipeline.learn_branch_astray(last, pc, self.program, &mut vain) {
            self.sink.raise(PmuEvent::BR_MIS_PRED_RETIRED);
            self.line = NOWHERE;
        }
    }

    #[inline]
    fn fetch(&mut self, first: u64, last: u64) {
        for line in first >> LINE_SHIFT..=last >> LINE_SHIFT {
            if line != self.line {
                self.line = line;
                let mut port = self.memory.port(self.core);
                let addr = VirtAddr(line << LINE_SHIFT);
                let reply = port.fetch(addr, self.now, &mut self.sink);
                self.wait(reply, PmuEvent::STALL_FRONTEND);
            }
        }
    }

    /// A miss holds everything up until it is done.
    #[inline]
    fn wait(&mut self, reply: MemReply, stall: PmuEvent) {
        if reply.happened.has(Happened::L1_MISS) || reply.happened.has(Happened::L1_TLB_MISS) {
            let waited = reply.done.saturating_sub(self.now);
            self.now += waited;
            self.sink.count(PmuEvent::CPU_CYCLES, waited);
            self.sink.count(stall, waited);
        }
    }

    #[inline]
    fn touch(&mut self, id: u32, pc: u64, access: Access, addr: u64) {
        if access.way == Way::Nothing {
            return;
        }
        self.pipeline.learn_address(id, addr);
        let (bytes, element_bytes) = (access.bytes.into(), access.register_bytes.into());
        let (at, now, sink) = (VirtAddr(addr), self.now, &mut self.sink);
        let mut port = self.memory.port(self.core);
        let request = || MemRequest {
            element_bytes,
            ..MemRequest::new(VirtAddr(pc), at, bytes, MemKind::Load)
        };
        match access.way {
            Way::Nothing => {}
            Way::Load => {
                if !port.load_hits(at, bytes, element_bytes, now, sink) {
                    self.ask(request());
                }
            }
            Way::Store => {
                if !port.store_hits(at, bytes, now, sink) {
                    self.store(MemRequest { kind: MemKind::Store, ..request() });
                }
            }
            Way::Rare => self.rare(id, request()),
        }
    }

    #[inline(never)]
    fn ask(&mut self, request: MemRequest) {
        let reply = self.memory.port(self.core).access(request, self.now, &mut self.sink);
        self.wait(reply, PmuEvent::STALL_BACKEND);
    }

    #[inline(never)]
    fn store(&mut self, request: MemRequest) {
        let mut port = self.memory.port(self.core);
        let start = port.translate_store(request, self.now, &mut self.sink).done;
        let reply = port.access(request, start, &mut self.sink);
        self.wait(reply, PmuEvent::STALL_BACKEND);
    }

    #[cold]
    fn rare(&mut self, id: u32, request: MemRequest) {
        let inst = self.program.inst(id);
        let kind = match inst.mem.op {
            _ if let Some(what) = inst.maintenance => MemKind::Maintain(what),
            MemOp::AtomicLoad => MemKind::AtomicLoad,
            MemOp::AtomicStore => MemKind::AtomicStore,
            MemOp::AtomicSwap => MemKind::AtomicSwap,
            MemOp::PrefetchLoad | MemOp::PrefetchStore if inst.preloads_outer() => {
                MemKind::PrefetchOuter { for_write: inst.mem.op == MemOp::PrefetchStore }
            }
            MemOp::PrefetchLoad => MemKind::PrefetchLoad,
            MemOp::PrefetchStore => MemKind::PrefetchStore,
            MemOp::ZeroLine => {
                return self.store(MemRequest { kind: MemKind::ZeroLine, ..request });
            }
            _ => return,
        };
        self.ask(MemRequest { kind, ..request });
    }
}

/// What a wrong path asks of the memory system. Only its own fetches wait, and what it would store stays in the core.
struct Vain<'a, M, S> {
    now: Cycle,
    line: u64,
    port: M,
    sink: &'a mut S,
}

impl<M: MemoryPort, S: EventSink> Astray for Vain<'_, M, S> {
    fn fetch(&mut self, pc: u64) -> Option<Cycle> {
        let line = pc >> LINE_SHIFT;
        if std::mem::replace(&mut self.line, line) == line {
            return Some(0);
        }
        let reply = self.port.fetch(VirtAddr(line << LINE_SHIFT), self.now, self.sink);
        if reply.happened.abort().is_some() {
            return None;
        }
        let is_late =
            reply.happened.has(Happened::L1_MISS) || reply.happened.has(Happened::L1_TLB_MISS);
        Some(if is_late { reply.done.saturating_sub(self.now) } else { 0 })
    }

    fn touch(&mut self, pc: u64, inst: &Inst, addr: u64) {
        let Access { way, bytes, register_bytes } = access(inst);
        let (at, bytes, element_bytes) = (VirtAddr(addr), bytes.into(), register_bytes.into());
        let request =
            |kind| MemRequest { element_bytes, ..MemRequest::new(VirtAddr(pc), at, bytes, kind) };
        match way {
            Way::Load => {
                if !self.port.load_hits(at, bytes, element_bytes, self.now, self.sink) {
                    self.port.access(request(MemKind::Load), self.now, self.sink);
                }
            }
            Way::Store => {
                self.port.translate_store(request(MemKind::Store), self.now, self.sink);
            }
            Way::Nothing | Way::Rare => {}
        }
    }
}

impl<S: EventSink> Skim for Approach<'_, S> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        self.now += 1;
        self.sink.raise(PmuEvent::CPU_CYCLES);
        let pc = self.places.blocks[block as usize];
        self.arrive(pc);
        self.code = pc.wrapping_sub(4 * u64::from(place));
        let behind = u32::from(executed.max(1)) - 1;
        self.last = Some(self.places.insts[(place + behind) as usize]);
        self.fetch(pc, pc.wrapping_add(4 * u64::from(behind)));
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        let pc = self.code.wrapping_add(4 * u64::from(place));
        let id = self.places.insts[place as usize];
        self.touch(id, pc, self.places.accesses[place as usize], addr);
    }
}
