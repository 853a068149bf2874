//! One core fed with instructions by hand, for kernels that measure it: loops, branch patterns, chains.
//!
//! A kernel says for every instruction where it stands, what it is, which address it touches and
//! where the stream goes on. The memory is any [`MemoryPort`]; [`HitMemory`] is one in which nothing
//! misses but what the kernel wants to miss.

use sim_core::{
    Counts, Cycle, DataSource, EventSink, Happened, InstFlags, LostSlots, MemKind, MemReply,
    MemRequest, MemoryPort, OpLife, TraceInst, VirtAddr,
};
use sim_isa::{Inst, InstId, Program};
use sim_pipeline::{Pipeline, PipelineConfig, Step};

/// First address of the part of memory in which every load of [`HitMemory`] misses all caches.
pub const FAR: u64 = 1 << 40;
/// Load-to-use of an L1 hit, cycles (Chips and Cheese, A710).
const HIT_CYCLES: Cycle = 4;

/// A memory in which all fetches and accesses hit the L1 caches, except data from [`FAR`] on.
#[derive(Clone, Copy, Debug)]
pub struct HitMemory {
    /// Load-to-use of data from [`FAR`] on, cycles.
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
            // No store waits here for the rest of its line.
            return MemReply::default();
        }
        if request.addr.0 >= FAR {
            let done = now + self.far_cycles;
            let (source, happened) = (DataSource::Dram, Happened::L2_MISS);
            return MemReply { done, source, happened, ..MemReply::default() };
        }
        MemReply { done: now + HIT_CYCLES, source: DataSource::L1, ..MemReply::default() }
    }

    fn l2_miss_pending(&self, _from: Cycle, _to: Cycle) -> u64 {
        0
    }
}

/// A core in the middle of a kernel.
pub struct CoreBench<M> {
    pipeline: Pipeline,
    memory: M,
    program: Program,
    counts: Counts,
    retired: Cycle,
}

impl<M: MemoryPort> CoreBench<M> {
    /// A cold core at cycle 0. The configuration must have no [`PipelineConfig::problems`].
    pub fn new(config: &PipelineConfig, memory: M) -> CoreBench<M> {
        CoreBench {
            pipeline: Pipeline::new(config),
            memory,
            program: Program::costing(config.costs()),
            counts: Counts::default(),
            retired: 0,
        }
    }

    /// Runs the A64 word at `pc` on the right path; the stream goes on at `next_pc`.
    pub fn run(&mut self, pc: u64, word: u32, addr: Option<u64>, next_pc: u64) -> &OpLife {
        let id = self.program.intern(pc, word);
        self.run_id(id, addr, next_pc)
    }

    /// As [`CoreBench::run`] for an instruction described by hand, such as one that costs something
    /// else.
    pub fn run_inst(&mut self, pc: u64, inst: &Inst, addr: Option<u64>, next_pc: u64) -> &OpLife {
        let id = self.program.intern_inst(pc, *inst);
        self.run_id(id, addr, next_pc)
    }

    fn run_id(&mut self, id: InstId, addr: Option<u64>, next_pc: u64) -> &OpLife {
        let flags = if addr.is_some() { InstFlags::HAS_ADDR } else { InstFlags::default() };
        let inst = TraceInst { addr: addr.unwrap_or(0), id, flags };
        let step = Step { inst, more: &[], next_pc: Some(next_pc) };
        let (program, memory) = (&mut self.program, &mut self.memory);
        let life = self.pipeline.run_inst(&step, program, memory, &mut self.counts);
        self.retired = life.retire;
        life
    }

    /// Cycle in which the last instruction retired.
    pub fn retired(&self) -> Cycle {
        self.retired
    }

    /// Events raised so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Empty rename slots so far, by cause.
    pub fn lost_slots(&self) -> &LostSlots {
        self.pipeline.lost_slots()
    }
}

/// Cycles that one turn of a loop takes in the long run. `words` stand from `base` on and start
/// anew behind the last one, which must be a branch back if the front end is to see a loop;
/// `addr(turn, index)` is the data address of a word. The first half of the turns warms up.
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
    fn a_chain_of_additions_runs_one_a_cycle() {
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
