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

/// Runs instructions until one needs the machine's attention, or the clock passes `until`. Returns
/// how many it ran, and how many further element addresses they used.
#[inline(never)]
pub(super) fn run_records<M: MemoryPort, S: EventSink>(
    pipeline: &mut Pipeline,
    feed: &Feed<'_>,
    until: Cycle,
    program: &mut Program,
    port: &mut M,
    sink: &mut S,
) -> (usize, usize) {
    let (privilege, mut used) = (pipeline.privilege(), 0);
    for (i, inst) in feed.records.iter().enumerate() {
        let after = feed.records.get(i + 1);
        let next_pc = after.map_or(feed.next_pc, |next| Some(program.pc(next.id)));
        let mut more: &[u64] = &[];
        if inst.flags.further() > 0 {
            more = &feed.more[used..][..inst.flags.further()];
            used += more.len();
        }
        pipeline.run_inst_inlined(&Step { inst: *inst, more, next_pc }, program, port, sink);
        let is_known = program.inst(inst.id).special != Special::Unknown;
        let stays = pipeline.privilege() == privilege;
        if !is_known || !stays || pipeline.cycle() > until {
            return (i + 1, used);
        }
    }
    (feed.records.len(), used)
}
