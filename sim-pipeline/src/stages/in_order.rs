//! The core without its pipeline: what instructions ask of memory and of the predictors, one after the other in
//! program order.
//!
//! Each instruction is fetched and makes its accesses, a store writes at once, nothing is speculative: the
//! events of the right path. A simple clock stands for time ([`InOrderEngine::run`]). The front end asks
//! for a line when the stream enters it, by a step or by a jump, as the pipeline's does. [`Part`] says which half
//! of it happens: without predictions nobody knows which lines a wrong one lets be asked for again.

use crate::op::{Op, Step};
use crate::pipeline::Pipeline;
use crate::route::General;
use crate::stages::mem_request::request_of;
use crate::stages::sve_elements::{is_by_element, is_suppressed, requests};
use crate::stages::system_ops::{give_up_exclusive, maintains_code};
use sim_core::{
    Cycle, EventSink, Happened, InstFlags, InstId, LINE_BYTES, MemKind, MemReply, MemRequest,
    MemoryPort, PmuEvent, TraceInst, VirtAddr,
};
use sim_isa::{AccessClass, BranchKind, Inst, Program, Special, StaticEvents};

/// Misses of the first-level caches that may be on their outcome at the same time.
const MISSES: usize = 16;
/// Instructions of a cycle.
const PER_CYCLE: u64 = 4;
/// No instruction follows the one before.
const NOWHERE: u64 = 1;

/// What of the core is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Fetches, and the accesses of instructions; branches go where they went.
    Memory,
    /// Fetches, and predictions; accesses to data are not made.
    FrontEnd,
}

/// What most instructions are, for which there is a short way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It asks for nothing.
    Nothing,
    /// One load of consecutive bytes.
    Load,
    /// One store of consecutive bytes.
    Store,
    /// A branch that is predicted.
    Branch,
    /// It goes by [InOrderEngine::run_general`].
    General,
    /// It changes what the machine does next: an exception return, an unknown word.
    Last,
}

/// A static instruction, as far as memory is concerned.
#[derive(Clone, Copy, Debug)]
struct PredecodedInst {
    pc: u64,
    bytes: u16,
    register_bytes: u8,
    tags: sim_core::TagUse,
    kind: Kind,
}

impl PredecodedInst {
    fn of(pc: u64, inst: &Inst, part: Part) -> PredecodedInst {
        let mem = &inst.mem;
        let (bytes, register_bytes, tags) = (mem.bytes.max(1), mem.register_bytes, mem.tags);
        PredecodedInst { pc, bytes, register_bytes, tags, kind: Kind::of(inst, part) }
    }

    #[inline]
    fn request(&self, addr: u64, kind: MemKind) -> MemRequest {
        MemRequest {
            pc: VirtAddr(self.pc),
            addr: VirtAddr(addr),
            bytes: self.bytes.into(),
            element_bytes: self.register_bytes.into(),
            kind,
            exclusive: false,
            tags: self.tags,
        }
    }
}

impl Kind {
    fn of(inst: &Inst, part: Part) -> Kind {
        if inst.branch == BranchKind::ExceptionReturn || inst.special == Special::Unknown {
            return Kind::Last;
        }
        if part == Part::FrontEnd && inst.branch != BranchKind::None {
            return Kind::Branch;
        }
        match inst.access_class() {
            _ if part == Part::FrontEnd
                && inst.maintenance.is_none()
                && !inst.changes_what_follows() =>
            {
                Kind::Nothing
            }
            AccessClass::None => Kind::Nothing,
            AccessClass::Load => Kind::Load,
            AccessClass::Store => Kind::Store,
            AccessClass::General => Kind::General,
        }
    }
}

/// Instructions that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct InstSpan<'a> {
    /// The instructions.
    pub insts: &'a [TraceInst],
    /// The addresses that they have behind their first ones, and those of the instructions behind them.
    pub more: &'a [u64],
    /// No instruction begins behind this cycle.
    pub until: Cycle,
}

/// One thread in program order.
#[derive(Clone, Debug)]
pub struct InOrderEngine {
    part: Part,
    /// By static instruction.
    code: Box<[PredecodedInst]>,
    /// The clock, in parts of a cycle.
    slots: u64,
    /// Where the stream goes on if nothing jumps.
    behind: u64,
    /// When the last misses are done, in a ring.
    misses: [Cycle; MISSES],
    next_miss: usize,
    /// A branch whose next instruction has not been seen.
    branch: Option<InstId>,
}

impl InOrderEngine {
    /// A thread of this program, at cycle 0.
    pub fn new(program: &Program, part: Part) -> InOrderEngine {
        let brief = |id| PredecodedInst::of(program.pc(id), program.inst(id), part);
        InOrderEngine {
            part,
            code: (0..program.len() as u32).map(brief).collect(),
            slots: 0,
            behind: NOWHERE,
            misses: [0; MISSES],
            next_miss: 0,
            branch: None,
        }
    }

    /// The clock.
    pub fn cycle(&self) -> Cycle {
        self.now()
    }

    #[inline(always)]
    fn now(&self) -> Cycle {
        self.slots / PER_CYCLE
    }

    /// The next instruction does not begin before this cycle.
    #[inline]
    pub fn wait_until(&mut self, cycle: Cycle) {
        self.slots = self.slots.max(cycle.saturating_mul(PER_CYCLE));
    }

    /// Where the stream goes on is fetched anew.
    pub fn restart(&mut self) {
        self.behind = NOWHERE;
    }

    /// Runs these instructions up to the first behind which the machine has something to do (an exception return, an
    /// unknown word), or to where the clock passes the end of the stretch. How many it ran, and how many of the
    /// addresses it used. Four instructions begin in a cycle, and a miss waits for the 16th before it.
    #[inline(never)]
    pub fn run<M: MemoryPort, S: EventSink>(
        &mut self,
        stretch: &InstSpan<'_>,
        core: &mut Pipeline,
        program: &Program,
        memory: &mut M,
        sink: &mut S,
    ) -> (usize, usize) {
        let InstSpan { insts, mut more, until } = *stretch;
        let given = more.len();
        let (mut ran, mut retired) = (insts.len(), 0);
        for (i, inst) in insts.iter().enumerate() {
            let brief = self.code[inst.id as usize];
            self.slots += 1;

            if (brief.pc != self.behind || brief.pc.is_multiple_of(LINE_BYTES))
                && !self.fetch(brief.pc, memory, sink)
            {
                more = &more[inst.flags.further()..];
                continue;
            }
            self.behind = brief.pc.wrapping_add(4);
            let is_plain = inst.flags.0 & !InstFlags::HAS_ADDR.0 == 0;
            let has_addr = inst.flags.has(InstFlags::HAS_ADDR);
            retired += match brief.kind {
                Kind::Nothing if is_plain => 1,
                Kind::Load if is_plain && has_addr => {
                    self.access(brief.request(inst.addr, MemKind::Load), memory, sink)
                }
                Kind::Store if is_plain && has_addr => {
                    self.access(brief.request(inst.addr, MemKind::Store), memory, sink)
                }
                Kind::Branch if is_plain => {
                    self.meet(insts, i, core, program, sink);
                    1
                }
                kind => {
                    let (own, rest) = more.split_at(inst.flags.further());
                    more = rest;
                    let step = Step { inst: *inst, more: own, next_pc: None };
                    let retires = self.run_general(&step, core, program, memory, sink);
                    if kind == Kind::Last {
                        ran = i + 1;
                        retired += retires;
                        break;
                    }
                    retires
                }
            };
            if self.now() > until {
                ran = i + 1;
                break;
            }
        }
        sink.count(PmuEvent::INST_RETIRED, retired);
        (ran, given - more.len())
    }

    /// The line of an instruction that the stream enters; false if it may not be executed.
    #[inline]
    fn fetch<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        let reply = memory.fetch(VirtAddr(pc), self.now(), sink);
        self.wait(&reply);
        let is_refused = reply.happened.has(Happened::FAULT);
        if is_refused {
            self.behind = NOWHERE;
        }
        !is_refused
    }

    /// One load or store of consecutive bytes: 1 if it retires.
    #[inline]
    fn access<M: MemoryPort, S: EventSink>(
        &mut self,
        request: MemRequest,
        memory: &mut M,
        sink: &mut S,
    ) -> u64 {
        let MemRequest { addr, bytes, element_bytes, .. } = request;
        let hits = match request.kind {
            MemKind::Store => memory.store_hits(addr, bytes, self.now(), sink),
            _ => memory.load_hits(addr, bytes, element_bytes, self.now(), sink),
        };
        if hits { 1 } else { self.misses(request, memory, sink) }
    }

    #[inline(never)]
    fn misses<M: MemoryPort, S: EventSink>(
        &mut self,
        request: MemRequest,
        memory: &mut M,
        sink: &mut S,
    ) -> u64 {
        let is_store = request.kind == MemKind::Store;
        if is_store {
            let translated = memory.translate_store(request, self.now(), sink);
            if translated.happened.has(Happened::FAULT) {
                return self.completes(&translated);
            }
            self.wait(&translated);
        }
        let reply = memory.access(request, self.now(), sink);
        self.wait(&reply);
        // A store has retired when it writes.
        if is_store { 1 } else { self.completes(&reply) }
    }

    /// 1 if the access did not fault: the instruction retires. Behind a fault the stream is fetched anew.
    #[inline]
    fn completes(&mut self, reply: &MemReply) -> u64 {
        let faults = reply.happened.has(Happened::FAULT);
        if faults {
            self.behind = NOWHERE;
        }
        u64::from(!faults)
    }

    /// A miss takes a place among those on their way.
    #[inline]
    fn wait(&mut self, reply: &MemReply) {
        if reply.happened.0 & (Happened::L1_MISS.0 | Happened::L1_TLB_MISS.0) != 0 {
            self.wait_until(self.misses[self.next_miss]);
            self.misses[self.next_miss] = reply.done;
            self.next_miss = (self.next_miss + 1) % MISSES;
        }
    }

    /// A branch of the stream: it resolves with the instruction behind it, which may be in the next batch.
    #[inline]
    fn meet<S: EventSink>(
        &mut self,
        insts: &[TraceInst],
        at: usize,
        core: &mut Pipeline,
        program: &Program,
        sink: &mut S,
    ) {
        let id = insts[at].id;
        raise_kind(program.inst(id), sink);
        match insts.get(at + 1) {
            Some(next) => {
                let next = Some(self.code[next.id as usize].pc);
                self.resolve(program.inst(id), id, next, core, sink);
            }
            None => self.branch = Some(id),
        }
    }

    /// Predicts a branch that completes and lets the predictors learn. The front end looks for its next line
    /// behind a branch that it predicts taken, and behind a wrong prediction.
    fn resolve<S: EventSink>(
        &mut self,
        inst: &Inst,
        id: InstId,
        next: Option<u64>,
        core: &mut Pipeline,
        sink: &mut S,
    ) {
        if core.predict_branch(self.code[id as usize].pc, inst, next, sink) {
            self.behind = NOWHERE;
        }
    }

    /// What comes behind the last instruction that ran: a branch there resolves. At the end of the stream it has
    /// gone where it was predicted to go.
    #[inline]
    pub fn meet_next<S: EventSink>(
        &mut self,
        next: Option<InstId>,
        core: &mut Pipeline,
        program: &Program,
        sink: &mut S,
    ) {
        if let Some(branch) = self.branch.take() {
            let next = next.map(|id| program.pc(id));
            self.resolve(program.inst(branch), branch, next, core, sink);
        }
    }

    /// Any instruction that has rules of its own: 1 if it retires.
    #[cold]
    #[inline(never)]
    fn run_general<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        core: &mut Pipeline,
        program: &Program,
        memory: &mut M,
        sink: &mut S,
    ) -> u64 {
        let op = Op::correct_path(step, program);
        let faults = self.access_of(&op, core, memory, sink);
        let retires = op.retires && !faults;
        let is_predicted =
            !matches!(op.inst.branch, BranchKind::None | BranchKind::ExceptionReturn);
        if self.part == Part::FrontEnd {
            raise_kind(op.inst, sink);
        }
        if is_predicted && retires && self.part == Part::FrontEnd {
            // The stream breaks off behind it, and nobody knows where it went.
            self.resolve(op.inst, op.id, None, core, sink);
        }
        if op.inst.special == Special::ClearExclusive && retires {
            give_up_exclusive(op.pc, self.now(), memory, sink);
        }
        if faults || !flows_on(op.inst) {
            self.behind = NOWHERE;
        }
        u64::from(retires)
    }

    /// The accesses of an instruction; true if one of them faults.
    fn access_of<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        core: &mut Pipeline,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        if op.inst.maintenance.is_some() {
            self.maintain(op, core, memory, sink);
            return false;
        }
        if self.part == Part::FrontEnd {
            return false;
        }
        if op.flags.has(InstFlags::EXCLUSIVE_FAILED) {
            if op.retires {
                give_up_exclusive(op.pc, self.now(), memory, sink);
            }
            return false;
        }
        let Some(request) = request_of::<General>(op) else { return false };
        let reply = match request.kind {
            MemKind::Store | MemKind::ZeroLine => self.write(op, request, memory, sink),
            _ if is_by_element(op.inst) => self.read_elements(op, request, memory, sink),
            _ => memory.access(request, self.now(), sink),
        };
        self.wait(&reply);
        reply.happened.has(Happened::FAULT) && !op.inst.mem.op.is_preload()
    }

    fn maintain<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        core: &mut Pipeline,
        memory: &mut M,
        sink: &mut S,
    ) {
        let Some((what, request)) = core.maintenance_of(op) else { return };
        let reply = memory.access(request, self.now(), sink);
        self.wait_until(reply.done);
        if maintains_code(what) {
            self.behind = NOWHERE;
        }
    }

    /// Both halves of a store, or of each element of a scatter.
    fn write<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        first: MemRequest,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = MemReply::NOTHING;
        let parts = || requests(op, first).take(if op.inst.mem.scattered { usize::MAX } else { 1 });
        for request in parts() {
            whole.join(memory.translate_store(request, self.now(), sink));
            if whole.happened.has(Happened::FAULT) {
                return whole;
            }
        }
        if op.retires {
            for request in parts() {
                whole.join(memory.access(request, self.now(), sink));
            }
        }
        whole
    }

    /// A gather, a first-fault load or a non-fault load: the fault that it does not take ends it.
    fn read_elements<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        first: MemRequest,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = MemReply::NOTHING;
        for (i, request) in requests(op, first).enumerate() {
            let mut part = memory.access(request, self.now(), sink);
            let faults = part.happened.has(Happened::FAULT);
            let element = MemRequest { element_bytes: op.inst.mem.align.into(), ..request };
            if faults && is_suppressed(op.inst.mem.faulting, i, &element, &part) {
                part.happened.remove(Happened::FAULT);
            }
            whole.join(part);
            if faults {
                break;
            }
        }
        whole
    }
}

/// True when the front end goes on behind the instruction without beginning anew.
fn flows_on(inst: &Inst) -> bool {
    !matches!(
        inst.special,
        Special::InstSyncBarrier
            | Special::SupervisorCall
            | Special::HypervisorCall
            | Special::SecureMonitorCall
            | Special::Breakpoint
            | Special::Undefined
    )
}

/// The events of a branch's kind.
fn raise_kind<S: EventSink>(inst: &Inst, sink: &mut S) {
    for event in [PmuEvent::BR_IMMED_SPEC, PmuEvent::BR_RETURN_SPEC, PmuEvent::BR_INDIRECT_SPEC] {
        if inst.events.0 & StaticEvents::bit(event).0 != 0 {
            sink.raise(event);
        }
    }
}

impl Pipeline {
    /// An exception return of a run in program order: the level at which the stream goes on, at `next_pc`.
    pub fn return_to(&mut self, next_pc: Option<u64>) {
        self.exceptions.leave(next_pc);
    }

    /// Takes the exception that was expected behind an instruction which ran in program order; false if none
    /// was.
    pub fn take_expected<S: EventSink>(&mut self, inst: &Inst, sink: &mut S) -> bool {
        let Some(recorded) = self.exceptions.recorded.take() else { return false };
        self.take_recorded_behind(recorded, Some(inst), 0, sink);
        true
    }
}
