//! Fetch and decode of one instruction (PMU guide 3.2.1).

use crate::pipeline::{FusionLead, Pipeline};
use crate::units::frontend::FetchTiming;
use sim_core::{EventSink, InstId, MemoryPort, StallCause};
use sim_isa::{Fusion, Inst, Program};

impl Pipeline {
    /// Takes the instruction `inst` at `pc` through the front end and returns when it reaches
    /// rename. The second half of a fused pair shares the first half's MOP unless it waits for its
    /// line. The end of a fetch group does not split the pair.
    #[inline(always)]
    pub(crate) fn fetch_inst<M: MemoryPort, S: EventSink>(
        &mut self,
        (id, pc, inst): (InstId, u64, &Inst),
        program: &Program,
        memory: &mut M,
        sink: &mut S,
    ) -> FetchTiming {
        let FusionLead { id: first, next_pc, fusion } = self.fusion_lead;
        // Branch-free: whether an instruction is the second of a pair is hard for the host to
        // predict. Only pairs that need their instruction words compared take the longer check.
        let pairs = match fusion.leads(inst.fusion) {
            Some(leads) => leads & (next_pc == pc),
            None => next_pc == pc && sim_isa::fuses(program.inst(first), inst),
        };
        let mut timing = self.front.fetch(id, pc, pairs, memory, sink);
        timing.fused |= pairs
            && (timing.stall == StallCause::FetchWidth || timing.at <= self.rename_stage.cycle());
        self.front.decoded(pc, id, if timing.fused { 0 } else { inst.n_mops });
        // A fused pair does not fuse with a third instruction.
        let fusion = if timing.fused { Fusion::default() } else { inst.fusion };
        self.fusion_lead = FusionLead { id, next_pc: pc.wrapping_add(4), fusion };
        timing
    }
}
