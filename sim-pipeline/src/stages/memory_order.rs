//! Loads that pass an older store whose address is not known yet, and what becomes of those that were
//! wrong to do so (out-of-order memory; Arm ARM B2.3: a load reads the youngest older store).
//!
//! A load is wrong if it issued before the address of an older store that writes what it reads. The
//! pipes compare what issues in the same cycle, so such a load is right. That it was wrong is found when the
//! address is there: the load and everything behind it is thrown away and executed again, so it raises its
//! speculative events twice. From then on a load at this program counter waits for the address of the store it
//! reads from ([`crate::units::dependence`]). Loads on a wrong path are never checked.

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
use sim_core::{Cycle, EventSink, MemoryPort, StallCause};
use sim_isa::{MemOp, Program, Role};

impl Pipeline {
    /// Before an instruction of the right path is placed: if it is a load that passes the store it reads
    /// from, it is executed, flushed and fetched again, and arrives at rename anew.
    #[inline(always)]
    pub(crate) fn order_load<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        arrival: &mut FetchTiming,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) {
        let mem = &program.inst(step.inst.id).mem;
        if mem.op != MemOp::Load || !self.lsu.some_address_unknown(arrival.at) {
            return;
        }
        let (addr, bytes) = (step.inst.addr, u64::from(mem.bytes.max(1)));
        let Some(known) = self.lsu.unknown_store(addr, bytes, arrival.at) else { return };
        if let Some(found) = self.passed_store(&Op::correct_path(step, program), known, arrival) {
            *arrival = self.flush_load(step, found, *arrival, program, memory, sink);
        }
    }

    /// The load would issue before the address of the store it may read from is `known`: when that is found.
    #[inline(never)]
    fn passed_store(&self, op: &Op<'_>, known: Cycle, arrival: &FetchTiming) -> Option<Cycle> {
        let reads = op.retires && op.addr.is_some() && arrival.fault.is_none();
        if !reads || self.lsu.dependence.expects_store(op.pc) {
            return None;
        }
        let ready = self.rename_stage.blocker(op.inst, RenameOutcome::Dispatched, arrival.at);
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

    /// Executes the load and what follows it for nothing until `found`, and fetches it again.
    #[cold]
    fn flush_load<M: MemoryPort, S: EventSink>(
        &mut self,
        step: &Step<'_>,
        found: Cycle,
        arrival: FetchTiming,
        program: &mut Program,
        memory: &mut M,
        sink: &mut S,
    ) -> FetchTiming {
        let pc = program.pc(step.inst.id);
        if self.config.wrong_path.enabled {
            let checkpoint = self.checkpoint();
            let speculation = self.branches.speculation();
            let op = Op { squash: found, retires: false, ..Op::correct_path(step, program) };
            let placed = self.schedule(&op, &arrival, memory, sink);
            if placed {
                self.report_op(op.inst, op.flags, OpOutcome::default(), memory, sink);
            }
            if let (Some(next), true) = (step.next_pc, placed) {
                self.run_wrong_path(next, found, program, memory, sink);
            }
            self.squash(&checkpoint);
            sink.squashed();
            self.branches.restore(&speculation);
        }
        self.lsu.dependence.passed_store(pc);
        let at = found + self.config.branch.redirect_cycles;
        self.front.redirect(at, StallCause::FetchMemoryOrder);
        self.fetch_inst(step.inst.id, pc, program, memory, sink)
    }

    /// No load issues before: what orders it (one that has a [`sim_isa::PathClass`] of its own waits for barriers alone), and
    /// the address of the store it is expected to read from.
    #[inline(always)]
    pub(crate) fn load_floor<R: Route>(&mut self, op: &Op<'_>) -> Stamp {
        let ordered = match R::IS_ORDINARY {
            true => self.lsu.order().floor_stamp(),
            false => self.lsu.load_floor(op.inst),
        };
        match op.addr {
            Some(addr) if self.lsu.dependence.expects_store(op.pc) => {
                self.expected_store(op, addr, ordered)
            }
            _ => ordered,
        }
    }

    /// The address of the store that a load reads from, or `ordered` if it is known by then. A load of the right path
    /// whose value is not in the store queue was independent.
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
