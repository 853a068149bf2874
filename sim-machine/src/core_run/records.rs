//! The innermost loop of a run: consecutive instructions, which nothing of the machine disturbs.

use sim_core::{Cycle, EventSink, MemoryPort, TraceInst};
use sim_isa::{Program, Special};
use sim_pipeline::{Pipeline, Step};

/// Consecutive instructions of a thread.
pub(super) struct Feed<'a> {
    pub(super) records: &'a [TraceInst],
    /// Further element addresses of the records, in their order.
    pub(super) more: &'a [u64],
    /// Address of the instruction after the records.
    pub(super) next_pc: Option<u64>,
}

/// Cycles at which a run of records ends.
#[derive(Clone, Copy)]
pub(super) struct Stops {
    /// The last cycle in which an instruction may begin.
    pub(super) until: Cycle,
    /// Clock at which a deferred sink must have all counts.
    pub(super) due: Cycle,
}

/// Extent of a run of records.
pub(super) struct Ran {
    /// Number of records that ran.
    pub(super) records: usize,
    /// Number of further element addresses that they used.
    pub(super) more: usize,
    /// Clock before the last of them.
    pub(super) before: Cycle,
}

/// Runs instructions until one needs the machine's attention, or the clock passes one of `stops`.
#[inline(never)]
pub(super) fn run_records<M: MemoryPort, S: EventSink>(
    pipeline: &mut Pipeline,
    feed: &Feed<'_>,
    stops: Stops,
    program: &mut Program,
    port: &mut M,
    sink: &mut S,
) -> Ran {
    let privilege = pipeline.privilege();
    let mut clock = pipeline.clock();
    let mut ran = Ran { records: 0, more: 0, before: clock };
    for (i, inst) in feed.records.iter().enumerate() {
        let after = feed.records.get(i + 1);
        let next_pc = after.map_or(feed.next_pc, |next| Some(program.pc(next.id)));
        let mut more: &[u64] = &[];
        if inst.flags.further() > 0 {
            more = &feed.more[ran.more..][..inst.flags.further()];
            ran.more += more.len();
        }
        ran.before = clock;
        pipeline.run_inst_inlined(&Step { inst: *inst, more, next_pc }, program, port, sink);
        ran.records = i + 1;
        clock = pipeline.clock();
        let is_known = program.inst(inst.id).special != Special::Unknown;
        let stays = pipeline.privilege() == privilege;
        if !is_known || !stays || pipeline.cycle() > stops.until || clock >= stops.due {
            break;
        }
    }
    ran
}
