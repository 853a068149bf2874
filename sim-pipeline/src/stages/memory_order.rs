//! Loads that issue before the address of an older store is known, and the recovery from an
//! ordering violation (out-of-order memory; Arm ARM B2.3: a load reads the youngest older store).
//!
//! A load violates the order if it issued before the address of an older store that writes bytes it
//! reads. The pipes compare accesses that issue in the same cycle, so such a load is correct. The
//! core finds the violation when the store's address issues. It squashes the load and all younger
//! operations and executes them again. The load therefore raises its speculative events twice.
//! Later loads at this program counter wait for the address of the store they read from
//! ([`crate::units::dependence`]). Wrong-path loads are never checked.

use crate::op::{Op, Step};
use crate::pipeline::Pipeline;
use crate::route::Route;
use crate::stages::op_report::OpOutcome;
use crate::units::dispatch::{RenameOutcome, uops_of};
use crate::units::frontend::FetchTiming;
use crate::units::lsu::Forward;
use crate::units::pipes::PipeRequest;
use crate::units::stamp::{OpRef, Stamp};
use sim_core::time::NEVER;
use sim_core::{Cycle, EventSink, MemoryPort, Notice, StallCause};
use sim_isa::{MemOp, Program, Role};

impl Pipeline {
    /// Checks a correct-path load before it is scheduled. A load that issues before the store that
    /// it reads from is executed, squashed and fetched again. `timing` then becomes that of the
    /// second fetch.
    #[inline(always)]
    pub(crate) fn order_load<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        timing: &mut FetchTiming,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        let mem = &program.inst(step.inst.id).mem;
        if mem.op != MemOp::Load || !self.lsu.some_address_unknown(timing.at) {
            return;
        }
        let (addr, bytes) = (step.inst.addr, u64::from(mem.bytes.max(1)));
        let Some(known) = self.lsu.unknown_store(addr, bytes, timing.at) else { return };
        if let Some(found) = self.passed_store(&Op::correct_path(step, program), known, timing) {
            *timing = self.flush_load(step, found, *timing, program, memory, sink);
        }
    }

    /// Returns the cycle in which a memory-order violation is found. A violation occurs if the load
    /// would issue before `known`, the cycle in which its store's address is known.
    #[inline(never)]
    fn passed_store(&self, op: &Op<'_>, known: Cycle, timing: &FetchTiming) -> Option<Cycle> {
        let reads = op.retires && op.addr.is_some() && timing.fault.is_none();
        if !reads || self.lsu.dependence.expects_store(op.pc) {
            return None;
        }
        let ready = self.rename_stage.blocker(op.inst, RenameOutcome::Dispatched, timing.at);
        let renamed =
            self.rename_stage.slot(uops_of(op.inst, RenameOutcome::Dispatched), ready).until;
        let earliest = renamed + self.config.window.rename_to_issue_cycles;
        let group = op.inst.uops().iter().find(|group| group.role == Role::Load)?;
        let address = self.scoreboard.sources(op.inst).address.cycle();
        let ready = address.max(self.lsu.load_floor(op.inst).cycle());
        let request = PipeRequest { pipes: group.pipes, occupancy: 1, flag_port: false };
        let (issue, _) = self.pipes.first_free(request, ready.max(earliest));
        (issue < known).then_some(known)
    }

    /// Executes the load and the younger operations until `found`, squashes them, and fetches the
    /// load again.
    #[cold]
    fn flush_load<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        found: Cycle,
        timing: FetchTiming,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> FetchTiming {
        let pc = program.pc(step.inst.id);
        if self.config.wrong_path.enabled {
            let checkpoint = self.checkpoint();
            let speculation = self.branches.speculation();
            let op = Op { squash: found, retires: false, ..Op::correct_path(step, program) };
            let scheduled = self.schedule(&op, &timing, memory, sink);
            if scheduled {
                self.report_op(op.inst, op.flags, OpOutcome::default(), memory, sink);
            }
            if let (Some(next), true) = (step.next_pc, scheduled) {
                self.run_wrong_path(next, found, program, memory, sink);
            }
            self.squash(&checkpoint);
            sink.notify(Notice::Squashed);
            self.branches.restore(&speculation);
        }
        self.lsu.dependence.passed_store(pc);
        let at = found + self.config.branch.redirect_cycles;
        self.front.redirect(at, StallCause::FetchMemoryOrder);
        let id = step.inst.id;
        self.fetch_inst((id, pc, program.inst(id)), program, memory, sink)
    }

    /// Returns the earliest issue cycle of a load. The load waits for the operations that order it,
    /// and for the address of the store that it is expected to read from. A load with its own
    /// [`sim_isa::PathClass`] is ordered by barriers alone.
    #[inline(always)]
    pub(crate) fn load_floor<R: Route>(&mut self, op: &Op<'_>) -> Stamp {
        let ordered = match R::IS_ORDINARY {
            true => self.lsu.ordering().floor_stamp(),
            false => self.lsu.load_floor(op.inst),
        };
        match op.addr {
            Some(addr) if self.lsu.dependence.expects_store(op.pc) => {
                self.expected_store(op, addr, ordered)
            }
            _ => ordered,
        }
    }

    /// Returns when the address of the store that a load reads from is known, or `ordered` if it is
    /// known by then. A correct-path load trains the predictor: it was independent if its value is
    /// not in the store queue.
    #[inline(never)]
    fn expected_store(&mut self, op: &Op<'_>, addr: u64, ordered: Stamp) -> Stamp {
        let bytes = u64::from(op.inst.mem.bytes.max(1));
        if op.squash == NEVER {
            let now = self.rename_stage.cycle();
            let is_dependent = self.lsu.forward(addr, bytes, now) != Forward::None;
            self.lsu.dependence.learn(op.pc, is_dependent);
        }
        let known = self.lsu.unknown_store(addr, bytes, ordered.cycle());
        known.map_or(ordered, |known| Stamp::new(known, OpRef::STORE_ADDRESS))
    }
}
