//! In-order engine: the core without its pipeline. It performs memory accesses and predictions one
//! after the other, in program order.
//!
//! Each instruction is fetched and makes its accesses, a store writes at once, and nothing is
//! speculative: the engine raises the events of the correct path. A simple clock keeps time
//! ([`OverlappingClock`]). The front end requests a line when the stream enters it, sequentially
//! or by a jump, as that of the pipeline does. [`Part`] selects half of the work: without
//! predictions, the lines that a misprediction fetches again are not known.

use crate::op::{Op, Step};
use crate::pipeline::Pipeline;
use crate::route::General;
use crate::stages::in_order_access::{InOrderAccess, InOrderClock, OverlappingClock};
use crate::stages::mem_request::request_of;
use crate::stages::sve_elements::{is_by_element, is_suppressed, requests};
use crate::stages::system_ops::{clear_monitor, maintains_code};
use sim_core::{
    AccessOutcome, Cycle, EventSink, InstFlags, InstId, LINE_BYTES, MemKind, MemReply, MemRequest,
    MemoryPort, PmuEvent, TraceInst, VirtAddr,
};
use sim_isa::{AccessClass, BranchKind, Inst, Program, Special, StaticEvents};

/// Odd address, which no instruction has: the next instruction does not follow the previous one.
const NO_NEXT_PC: u64 = 1;

/// Flag of a quiet key: the instruction makes an access, is predicted or ends the span.
const NOT_QUIET: u64 = 1;
/// Flag of a quiet key: the instruction begins a line.
const BEGINS_LINE: u64 = 2;

/// Returns the quiet key of an instruction: its address, with flags in the bits that are 0 in every
/// address. The key equals the next address of the stream only if the instruction continues the
/// stream inside a line and has nothing to do.
fn quiet_key(inst: &PredecodedInst) -> u64 {
    let not_quiet = if inst.kind == Kind::Nothing { 0 } else { NOT_QUIET };
    let begins_line = if inst.pc.is_multiple_of(LINE_BYTES) { BEGINS_LINE } else { 0 };
    inst.pc | not_quiet | begins_line
}

/// Part of the core that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Fetches and the accesses of instructions; branches follow the trace.
    Memory,
    /// Fetches and predictions, without data accesses.
    FrontEnd,
}

/// Class of an instruction, which selects its fast path in [`InOrderEngine::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Makes no access and is not predicted.
    Nothing,
    /// One load of consecutive bytes.
    Load,
    /// One store of consecutive bytes.
    Store,
    /// A branch that is predicted.
    Branch,
    /// Takes [`InOrderEngine::run_general`].
    General,
    /// Ends the span, because it changes what the machine does next: an exception return, an
    /// unknown word.
    EndsSpan,
}

/// Static instruction with the properties that its accesses need.
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
            return Kind::EndsSpan;
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

/// Consecutive instructions of the stream.
#[derive(Clone, Copy, Debug)]
pub struct InstSpan<'a> {
    /// The instructions.
    pub insts: &'a [TraceInst],
    /// Data addresses after the first ones of these instructions, followed by those of later
    /// instructions.
    pub more: &'a [u64],
    /// No instruction begins after this cycle.
    pub until: Cycle,
}

/// One thread in program order.
#[derive(Clone, Debug)]
pub struct InOrderEngine {
    part: Part,
    /// Predecoded instructions, by static instruction.
    code: Box<[PredecodedInst]>,
    /// Quiet keys, by static instruction ([`quiet_key`]).
    keys: Box<[u64]>,
    clock: OverlappingClock,
    /// Address at which the stream continues without a jump.
    next_pc: u64,
    /// Branch whose next instruction is not known yet.
    branch: Option<InstId>,
}

impl InOrderEngine {
    /// Returns a thread of this program at cycle 0.
    pub fn new(program: &Program, part: Part) -> InOrderEngine {
        let predecoded = |id| PredecodedInst::of(program.pc(id), program.inst(id), part);
        let code: Box<[PredecodedInst]> = (0..program.len() as u32).map(predecoded).collect();
        InOrderEngine {
            part,
            keys: code.iter().map(quiet_key).collect(),
            code,
            clock: OverlappingClock::default(),
            next_pc: NO_NEXT_PC,
            branch: None,
        }
    }

    /// Returns the current cycle.
    #[inline]
    pub fn cycle(&self) -> Cycle {
        self.clock.now()
    }

    /// Delays the next instruction until this cycle.
    pub fn wait_until(&mut self, cycle: Cycle) {
        self.clock.wait_until(cycle);
    }

    /// Makes the front end refetch the line at which the stream continues.
    pub fn restart(&mut self) {
        self.next_pc = NO_NEXT_PC;
    }

    /// Runs these instructions up to the first after which the machine has work (an exception
    /// return, an unknown word), or until the clock passes the end of the span. Returns how many
    /// instructions it ran and how many of the addresses it used.
    #[inline(never)]
    pub fn run<M: MemoryPort, S: EventSink>(
        &mut self,
        span: &InstSpan<'_>,
        core: &mut Pipeline,
        program: &Program,
        memory: &mut M,
        sink: &mut S,
    ) -> (usize, usize) {
        let InstSpan { insts, mut more, until } = *span;
        let given = more.len();
        let (mut ran, mut retired) = (0, 0);
        loop {
            let quiet = self.skip_quiet(&insts[ran..], until);
            retired += quiet as u64;
            ran += quiet;
            let Some(inst) = insts.get(ran) else { break };
            ran += 1;
            let PredecodedInst { pc, kind, .. } = self.code[inst.id as usize];
            self.clock.begin_inst();

            if (pc != self.next_pc || pc.is_multiple_of(LINE_BYTES))
                && !self.fetch(pc, memory, sink)
            {
                more = &more[inst.flags.further()..];
                continue;
            }
            self.next_pc = pc.wrapping_add(4);
            let is_plain = inst.flags.0 & !InstFlags::HAS_ADDR.0 == 0;
            let has_addr = inst.flags.has(InstFlags::HAS_ADDR);
            retired += match kind {
                Kind::Nothing if is_plain => 1,
                Kind::Load if is_plain && has_addr => {
                    self.access(inst, MemKind::Load, memory, sink)
                }
                Kind::Store if is_plain && has_addr => {
                    self.access(inst, MemKind::Store, memory, sink)
                }
                Kind::Branch if is_plain => {
                    self.predict_branch(insts, ran - 1, core, program, sink);
                    1
                }
                kind => {
                    let (own, rest) = more.split_at(inst.flags.further());
                    more = rest;
                    let step = Step { inst: *inst, more: own, next_pc: None };
                    let retires = self.run_general(&step, core, program, memory, sink);
                    if kind == Kind::EndsSpan {
                        retired += retires;
                        break;
                    }
                    retires
                }
            };
            if self.cycle() > until {
                break;
            }
        }
        sink.count(PmuEvent::INST_RETIRED, retired);
        (ran, given - more.len())
    }

    /// Runs the first of these instructions that continue the stream inside a line and have nothing
    /// to do, until the clock reaches the last cycle of the span. Returns their number.
    #[inline(always)]
    fn skip_quiet(&mut self, insts: &[TraceInst], until: Cycle) -> usize {
        let most = self.clock.room(until).min(insts.len());
        let (keys, mut next) = (&self.keys, self.next_pc);
        let mut quiet = 0;
        for inst in &insts[..most] {
            if keys[inst.id as usize] != next || inst.flags.0 != 0 {
                break;
            }
            next = next.wrapping_add(4);
            quiet += 1;
        }
        self.next_pc = next;
        self.clock.begin_insts(quiet as u64);
        quiet
    }

    /// Fetches the line of an instruction that the stream enters. Returns `false` if it may not be
    /// executed.
    #[inline]
    fn fetch<M: MemoryPort, S: EventSink>(
        &mut self,
        pc: u64,
        memory: &mut M,
        sink: &mut S,
    ) -> bool {
        let is_allowed = InOrderAccess { clock: &mut self.clock, memory, sink }.fetch(pc);
        self.restart_unless(is_allowed)
    }

    /// Performs the load or store of consecutive bytes of an instruction. Returns 1 if it retires,
    /// else 0.
    #[inline(always)]
    fn access<M: MemoryPort, S: EventSink>(
        &mut self,
        inst: &TraceInst,
        kind: MemKind,
        memory: &mut M,
        sink: &mut S,
    ) -> u64 {
        let request = self.code[inst.id as usize].request(inst.addr, kind);
        let mut engine = InOrderAccess { clock: &mut self.clock, memory, sink };
        let retires = engine.load_or_store(request);
        u64::from(self.restart_unless(retires))
    }

    /// Makes the front end refetch after a fault, and passes `completes` on.
    #[inline]
    fn restart_unless(&mut self, completes: bool) -> bool {
        if !completes {
            self.next_pc = NO_NEXT_PC;
        }
        completes
    }

    /// Predicts a branch of the stream. It resolves with the next instruction, which may be in the
    /// next batch.
    #[inline]
    fn predict_branch<S: EventSink>(
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

    /// Predicts a completed branch and trains the predictors. The front end starts a new line after
    /// a branch that is predicted taken, and after a misprediction.
    fn resolve<S: EventSink>(
        &mut self,
        inst: &Inst,
        id: InstId,
        next: Option<u64>,
        core: &mut Pipeline,
        sink: &mut S,
    ) {
        if core.predict_branch(self.code[id as usize].pc, inst, next, sink) {
            self.next_pc = NO_NEXT_PC;
        }
    }

    /// Resolves a branch that was the last instruction run, whose successor is `next`. At the end
    /// of the stream, it follows its prediction.
    #[inline]
    pub fn resolve_pending_branch<S: EventSink>(
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

    /// Runs an instruction with special rules. Returns 1 if it retires, else 0.
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
            // The stream breaks off after the branch, so that its target is not known.
            self.resolve(op.inst, op.id, None, core, sink);
        }
        if op.inst.special == Special::ClearExclusive && retires {
            clear_monitor(op.pc, self.cycle(), memory, sink);
        }
        if faults || !flows_on(op.inst) {
            self.next_pc = NO_NEXT_PC;
        }
        u64::from(retires)
    }

    /// Performs the accesses of an instruction. Returns whether one of them faults.
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
                clear_monitor(op.pc, self.cycle(), memory, sink);
            }
            return false;
        }
        let Some(request) = request_of::<General>(op) else { return false };
        let reply = match request.kind {
            MemKind::Store | MemKind::ZeroLine => self.write(op, request, memory, sink),
            _ if is_by_element(op.inst) => self.read_elements(op, request, memory, sink),
            _ => memory.access(request, self.cycle(), sink),
        };
        self.clock.wait(&reply, PmuEvent::STALL_BACKEND, sink);
        reply.outcome.has(AccessOutcome::FAULT) && !op.inst.mem.op.is_preload()
    }

    fn maintain<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        core: &mut Pipeline,
        memory: &mut M,
        sink: &mut S,
    ) {
        let Some((what, request)) = core.maintenance_of(op) else { return };
        let reply = memory.access(request, self.cycle(), sink);
        self.wait_until(reply.done);
        if maintains_code(what) {
            self.next_pc = NO_NEXT_PC;
        }
    }

    /// Translates and writes a store, or each element of a scatter.
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
            whole.join(memory.translate_store(request, self.cycle(), sink));
            if whole.outcome.has(AccessOutcome::FAULT) {
                return whole;
            }
        }
        if op.retires {
            for request in parts() {
                whole.join(memory.access(request, self.cycle(), sink));
            }
        }
        whole
    }

    /// Performs a gather, a first-fault load or a non-fault load. A suppressed fault ends it.
    fn read_elements<M: MemoryPort, S: EventSink>(
        &mut self,
        op: &Op<'_>,
        first: MemRequest,
        memory: &mut M,
        sink: &mut S,
    ) -> MemReply {
        let mut whole = MemReply::NOTHING;
        for (i, request) in requests(op, first).enumerate() {
            let mut part = memory.access(request, self.cycle(), sink);
            let faults = part.outcome.has(AccessOutcome::FAULT);
            let element = MemRequest { element_bytes: op.inst.mem.align.into(), ..request };
            if faults && is_suppressed(op.inst.mem.faulting, i, &element, &part) {
                part.outcome.remove(AccessOutcome::FAULT);
            }
            whole.join(part);
            if faults {
                break;
            }
        }
        whole
    }
}

/// Returns whether the front end continues after the instruction without a restart.
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

/// Raises the events of a branch's kind.
fn raise_kind<S: EventSink>(inst: &Inst, sink: &mut S) {
    for event in [PmuEvent::BR_IMMED_SPEC, PmuEvent::BR_RETURN_SPEC, PmuEvent::BR_INDIRECT_SPEC] {
        if inst.events.0 & StaticEvents::bit(event).0 != 0 {
            sink.raise(event);
        }
    }
}

impl Pipeline {
    /// Performs an exception return of an in-order run and restores the level at which the stream
    /// continues, at `next_pc`.
    pub fn return_to(&mut self, next_pc: Option<u64>) {
        self.exceptions.leave(next_pc);
    }

    /// Takes the exception that was expected after an instruction of an in-order run. Returns
    /// whether there was one.
    pub fn take_expected<S: EventSink>(&mut self, inst: &Inst, sink: &mut S) -> bool {
        let Some(recorded) = self.exceptions.recorded.take() else { return false };
        self.take_recorded_after(recorded, Some(inst), 0, sink);
        true
    }
}
