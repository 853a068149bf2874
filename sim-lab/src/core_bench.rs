//! One core that kernels feed by hand: loops, branch patterns, chains.
//!
//! For each instruction a kernel gives its address, its word, its data address and the address of
//! the next instruction. The memory is any [`MemoryPort`]. In [`HitMemory`] an access misses only
//! if the kernel asks for it.

use sim_core::{
    AccessOutcome, Counts, Cycle, DataSource, EventSink, InstFlags, LostSlots, MemKind, MemReply,
    MemRequest, MemoryPort, OpTimeline, TraceInst, VirtAddr,
};
use sim_isa::{Inst, InstId, Program};
use sim_pipeline::{Pipeline, PipelineConfig, Step};

/// First address of the memory in which every load of [`HitMemory`] misses all caches.
pub const FAR: u64 = 1 << 40;
/// Load-to-use latency of an L1 hit in cycles (Chips and Cheese, A710).
const HIT_CYCLES: Cycle = 4;

/// Memory in which all fetches and accesses hit the L1 caches, except data at [`FAR`] and above.
#[derive(Clone, Copy, Debug)]
pub struct HitMemory {
    /// Load-to-use latency of data at [`FAR`] and above, in cycles.
    pub far_cycles: Cycle,
}

impl Default for HitMemory {
    fn default() -> Self {
        HitMemory { far_cycles: 400 }
    }
}

impl MemoryPort for HitMemory {
    #[inline]
    fn fetch<S: EventSink>(&mut self, _pc: VirtAddr, now: Cycle, _sink: &mut S) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    #[inline]
    fn translate_store<S: EventSink>(
        &mut self,
        _request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    #[inline]
    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, _sink: &mut S) -> MemReply {
        if request.kind == MemKind::DrainStores {
            // No store waits for the rest of its line here.
            return MemReply::default();
        }
        if request.addr.0 >= FAR {
            let done = now + self.far_cycles;
            let (source, outcome) = (DataSource::Dram, AccessOutcome::L2_MISS);
            return MemReply { done, source, outcome, ..MemReply::default() };
        }
        MemReply { done: now + HIT_CYCLES, source: DataSource::L1, ..MemReply::default() }
    }

    fn l2_miss_pending(&self, _from: Cycle, _to: Cycle) -> u64 {
        0
    }
}

/// A core that runs a kernel.
pub struct CoreBench<M> {
    pipeline: Pipeline,
    memory: M,
    program: Program,
    counts: Counts,
    retired: Cycle,
}

impl<M: MemoryPort> CoreBench<M> {
    /// Creates a cold core at cycle 0. The configuration must have no [`PipelineConfig::problems`].
    pub fn new(config: &PipelineConfig, memory: M) -> CoreBench<M> {
        CoreBench {
            pipeline: Pipeline::new(config),
            memory,
            program: Program::costing(config.costs()),
            counts: Counts::default(),
            retired: 0,
        }
    }

    /// Runs the A64 word at `pc` on the correct path; the next instruction is at `next_pc`.
    pub fn run(&mut self, pc: u64, word: u32, addr: Option<u64>, next_pc: u64) -> &OpTimeline {
        let id = self.program.intern(pc, word);
        self.run_id(id, addr, next_pc)
    }

    /// Runs a hand-made instruction, such as one with another cost; otherwise as
    /// [`CoreBench::run`].
    pub fn run_inst(
        &mut self,
        pc: u64,
        inst: &Inst,
        addr: Option<u64>,
        next_pc: u64,
    ) -> &OpTimeline {
        let id = self.program.intern_inst(pc, *inst);
        self.run_id(id, addr, next_pc)
    }

    fn run_id(&mut self, id: InstId, addr: Option<u64>, next_pc: u64) -> &OpTimeline {
        let flags = if addr.is_some() { InstFlags::HAS_ADDR } else { InstFlags::default() };
        let inst = TraceInst { addr: addr.unwrap_or(0), id, flags };
        let step = Step { inst, more: &[], next_pc: Some(next_pc) };
        let (program, memory) = (&mut self.program, &mut self.memory);
        let timeline = self.pipeline.run_inst(&step, program, memory, &mut self.counts);
        self.retired = timeline.retire;
        timeline
    }

    /// Returns the cycle in which the last instruction retired.
    pub fn retired(&self) -> Cycle {
        self.retired
    }

    /// Returns the events raised so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the empty rename slots so far, by cause.
    pub fn lost_slots(&self) -> &LostSlots {
        self.pipeline.lost_slots()
    }
}

/// Returns the cycles per iteration of a loop in the long run. The `words` lie at `base`; the last
/// one must be a branch back if the front end is to see a loop. `addr(turn, index)` is the data
/// address of a word. The first half of the iterations warms up.
pub fn cycles_per_turn(
    config: &PipelineConfig,
    base: u64,
    words: &[u32],
    turns: u64,
    addr: impl Fn(u64, usize) -> Option<u64>,
) -> f64 {
    let mut bench = CoreBench::new(config, HitMemory::default());
    let mut middle = 0;
    let measured = turns - turns / 2;
    for turn in 0..turns {
        for (i, word) in words.iter().enumerate() {
            let pc = base + 4 * i as u64;
            let next = if i + 1 == words.len() { base } else { pc + 4 };
            bench.run(pc, *word, addr(turn, i), next);
        }
        if turn + 1 == turns - measured {
            middle = bench.retired();
        }
    }
    (bench.retired() - middle) as f64 / measured as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::config::{ConfigSource, MachineConfig};

    /// `add x1, x1, #1`
    const ADD_X1: u32 = 0x9100_0421;
    /// `ldr x1, [x1]`
    const LDR_X1: u32 = 0xf940_0021;
    /// `b .-80`: back over twenty words.
    const B_BACK_20: u32 = 0x17ff_ffec;

    fn config() -> PipelineConfig {
        let document = ConfigSource::default().document().expect("the built-in document parses");
        MachineConfig::from_document(&document).expect("the built-in configuration").pipeline
    }

    #[test]
    fn a_chain_of_additions_takes_one_cycle_each() {
        let mut words = vec![ADD_X1; 20];
        words.push(B_BACK_20);
        let cycles = cycles_per_turn(&config(), 0x1000, &words, 200, |_, _| None);
        assert!((cycles - 20.0).abs() < 0.05, "{cycles}");
    }

    #[test]
    fn a_load_hits_unless_its_data_is_far() {
        let mut bench = CoreBench::new(&config(), HitMemory::default());
        let near = bench.run(0x1000, LDR_X1, Some(0x8000), 0x1004);
        assert_eq!(near.complete - near.issue, 4);
        let far = bench.run(0x1004, LDR_X1, Some(FAR), 0x1008);
        assert_eq!(far.complete - far.issue, 400);
    }
}
