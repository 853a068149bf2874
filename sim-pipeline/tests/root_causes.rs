//! Root causes of full structures: a loop bound by one known cause loses its back-end slots to that
//! cause, whichever structure is full (PMU guide 4.7).

use sim_core::{
    AccessOutcome, Cycle, DataSource, EventSink, InstFlags, LostSlots, MemKind, MemReply,
    MemRequest, MemoryPort, NullSink, RootCause, StallCause, TraceInst, VirtAddr,
};
use sim_isa::Program;
use sim_pipeline::{Pipeline, PipelineConfig, Step};

/// Loads from this address on come from DRAM, from [`L2`] on from the L2; all others hit the L1.
const DRAM: u64 = 0x1_0000_0000;
const L2: u64 = 0x2_0000_0000;
/// Misses the L1 TLB and hits the L1 D-cache.
const FAR_PAGE: u64 = 0x3_0000_0000;
/// Address at which a store takes long to be written.
const FAR_STORE: u64 = 0x4_0000_0000;

struct Memory;

impl MemoryPort for Memory {
    fn fetch<S: EventSink>(&mut self, _pc: VirtAddr, now: Cycle, _sink: &mut S) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    fn translate_store<S: EventSink>(
        &mut self,
        _request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        MemReply { done: now + 1, translation_cycles: 1, ..MemReply::default() }
    }

    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, _sink: &mut S) -> MemReply {
        if request.kind == MemKind::DrainStores {
            return MemReply::default();
        }
        let miss = AccessOutcome::L1_MISS;
        let (cycles, source, outcome) = match request.addr.0 {
            FAR_STORE.. if request.kind == MemKind::Store => (60, DataSource::Dram, miss),
            FAR_PAGE.. => (44, DataSource::L1, AccessOutcome::L1_TLB_MISS),
            L2.. => (13, DataSource::L2, miss),
            DRAM.. => (300, DataSource::Dram, miss),
            _ if request.kind == MemKind::Store => (1, DataSource::L1, AccessOutcome::default()),
            _ => (4, DataSource::L1, AccessOutcome::default()),
        };
        let translation_cycles = if outcome == AccessOutcome::L1_TLB_MISS { 40 } else { 1 };
        MemReply { done: now + cycles, translation_cycles, source, outcome }
    }

    fn l2_miss_pending(&self, _from: Cycle, _to: Cycle) -> u64 {
        0
    }
}

fn config() -> PipelineConfig {
    #[derive(serde::Deserialize)]
    struct Document {
        pipeline: PipelineConfig,
    }
    let text = include_str!("../../configs/neoverse-n2/machine.toml");
    toml::from_str::<Document>(text).expect("the committed configuration parses").pipeline
}

const LDR_X1_X1: u32 = 0xF940_0021;
const LDR_X3_X4: u32 = 0xF940_0083;
const STR_X3_X4: u32 = 0xF900_0083;
const ADD_X1_X1_1: u32 = 0x9100_0421;
const ADD_X5_X1_1: u32 = 0x9100_0425;
const ADD_X6_X6_1: u32 = 0x9100_04C6;
const CMP_X1_X3: u32 = 0xEB03_003F;
const B_NE_NEXT: u32 = 0x5400_0021;
const SDIV_X1_X1_X2: u32 = 0x9AC2_0C21;
const MUL_X1_X1_X2: u32 = 0x9B02_7C21;
const MUL_X1_X2_X2: u32 = 0x9B02_7C41;
const FADD_D0_D0_D1: u32 = 0x1E61_2800;
const DMB_ISH: u32 = 0xD503_3BBF;

/// Returns the slots lost by `times` rounds of a loop; memory instructions use these addresses.
fn lost(words: &[u32], times: u64, config: &PipelineConfig, addr: &[u64]) -> LostSlots {
    let mut program = Program::new();
    let back = -(words.len() as i32) as u32 & 0x03FF_FFFF;
    let body: Vec<u32> = words.iter().copied().chain([0x1400_0000 | back]).collect();
    let mut pipeline = Pipeline::new(config);
    run(&mut pipeline, &mut program, times, &body, addr);
    pipeline.lost_slots().clone()
}

/// Runs a loop that ends with its own branch `times` times.
fn run(pipeline: &mut Pipeline, program: &mut Program, times: u64, body: &[u32], addr: &[u64]) {
    let base = 0x40_0000_u64;
    for i in 0..times * body.len() as u64 {
        let at = i % body.len() as u64;
        let pc = base + 4 * at;
        let id = program.intern(pc, body[at as usize]);
        let next = if at + 1 == body.len() as u64 { base } else { pc + 4 };
        let inst = match addr.get(at as usize).copied().filter(|addr| *addr > 0) {
            Some(addr) => TraceInst { addr: addr + 64 * (i / 16), id, flags: InstFlags::HAS_ADDR },
            None => TraceInst { addr: 0, id, flags: InstFlags::default() },
        };
        let step = Step { inst, more: &[], next_pc: Some(next) };
        pipeline.run_inst(&step, program, &mut Memory, &mut NullSink);
    }
    pipeline.finish(&mut NullSink);
}

/// Asserts that at least `percent` of the slots lost to the back end have this root cause.
#[track_caller]
fn assert_root(lost: &LostSlots, root: RootCause, percent: u64) {
    let (own, all) = (lost.of_root(root), lost.end(false));
    assert!(all > 1000, "only {all} slots are lost");
    let others: Vec<(RootCause, u64)> = RootCause::ALL.map(|r| (r, lost.of_root(r))).to_vec();
    assert!(100 * own >= percent * all, "{root:?} has {own} of {all}: {others:?}");
}

#[test]
fn a_dram_load_that_fills_the_branch_queue_is_memory_bound() {
    // Four instructions per round: 44 branch entries are full before 160 entries of the reorder
    // buffer.
    let words = [LDR_X1_X1, ADD_X6_X6_1, CMP_X1_X3, B_NE_NEXT];
    let lost = lost(&words, 400, &config(), &[DRAM]);
    assert!(lost.of(StallCause::BranchQueue) > lost.end(false) / 2, "{lost:?}");
    assert_root(&lost, RootCause::LoadDram, 98);
}

#[test]
fn a_dram_load_is_memory_bound_whichever_structure_is_full() {
    type Shrink = fn(&mut PipelineConfig);
    let set: [(Shrink, StallCause); 6] = [
        (|c| c.window.rob = 24, StallCause::ReorderBuffer),
        (|c| c.window.general_registers = 20, StallCause::IntRegisters),
        (|c| c.window.flag_registers = 6, StallCause::FlagRegisters),
        (|c| c.window.load_queue = 6, StallCause::LoadQueue),
        (|c| c.window.int_queue = 12, StallCause::IssueQueueInt),
        (|c| c.window.mem_queue = 8, StallCause::IssueQueueMem),
    ];
    for (shrink, cause) in set {
        let mut config = config();
        shrink(&mut config);
        let lost = lost(&[LDR_X1_X1, ADD_X5_X1_1, CMP_X1_X3], 300, &config, &[DRAM]);
        assert!(lost.of(cause) > lost.end(false) / 2, "{cause:?}: {lost:?}");
        assert_root(&lost, RootCause::LoadDram, 95);
    }
}

#[test]
fn a_load_whose_address_is_computed_from_a_load_waits_for_that_load() {
    // The load issue queue is full of loads that wait for an addition, which waits for a load.
    let mut config = config();
    config.window.mem_queue = 4;
    let lost = lost(&[LDR_X1_X1, ADD_X1_X1_1], 300, &config, &[DRAM]);
    assert!(lost.of(StallCause::IssueQueueMem) > lost.end(false) / 2, "{lost:?}");
    assert_root(&lost, RootCause::LoadDram, 98);
}

#[test]
fn a_chain_of_l2_loads_is_memory_bound_and_a_chain_of_l1_hits_is_core_bound() {
    assert_root(&lost(&[LDR_X1_X1; 8], 300, &config(), &[L2; 8]), RootCause::LoadL2, 99);
    let hits = lost(&[LDR_X1_X1; 8], 300, &config(), &[0x8000; 8]);
    assert_root(&hits, RootCause::LoadL1, 99);
    assert_eq!(hits.memory(), 0);
}

#[test]
fn a_translation_is_separated_from_its_data_access() {
    let lost = lost(&[LDR_X1_X1; 8], 300, &config(), &[FAR_PAGE; 8]);
    assert_root(&lost, RootCause::Translation, 88);
    assert_root(&lost, RootCause::LoadL1, 8);
}

#[test]
fn chains_of_divides_and_multiplies_are_core_bound() {
    assert_root(&lost(&[SDIV_X1_X1_X2; 8], 300, &config(), &[]), RootCause::Unpipelined, 99);
    assert_root(&lost(&[MUL_X1_X1_X2; 8], 300, &config(), &[]), RootCause::Latency, 99);
    assert_root(&lost(&[FADD_D0_D0_D1; 8], 300, &config(), &[]), RootCause::Latency, 99);
}

#[test]
fn independent_multiplies_wait_for_their_pipe() {
    assert_root(&lost(&[MUL_X1_X2_X2; 30], 300, &config(), &[]), RootCause::Pipe, 90);
}

#[test]
fn a_multiply_chain_after_a_miss_has_only_its_own_cycles() {
    // Thirty chained multiplies wait for each load: 60 cycles of 360.
    let words: Vec<u32> = [LDR_X1_X1].into_iter().chain([MUL_X1_X1_X2; 30]).collect();
    let lost = lost(&words, 200, &config(), &[DRAM]);
    assert_root(&lost, RootCause::LoadDram, 80);
    assert_root(&lost, RootCause::Latency, 14);
}

#[test]
fn a_store_that_drains_slowly_is_memory_bound() {
    let lost = lost(&[STR_X3_X4; 8], 300, &config(), &[FAR_STORE; 8]);
    assert!(lost.of(StallCause::StoreQueue) > lost.end(false) / 2, "{lost:?}");
    assert_root(&lost, RootCause::StoreDrain, 98);
}

#[test]
fn stores_that_hit_and_wait_for_a_divide_are_core_bound() {
    // Thirty stores to one line retire after each divide. Their entries are the last to become
    // free, and a faster cache would not free them earlier.
    let words: Vec<u32> = [SDIV_X1_X1_X2].into_iter().chain([STR_X3_X4; 30]).collect();
    let lost = lost(&words, 300, &config(), &[&[0_u64][..], &[0x8000; 30]].concat());
    assert!(lost.of(StallCause::StoreQueue) > lost.end(false) / 2, "{lost:?}");
    assert_eq!(lost.of_root(RootCause::StoreDrain), 0, "{lost:?}");
    let core = lost.of_root(RootCause::Unpipelined) + lost.of_root(RootCause::Pipe);
    assert!(100 * core >= 95 * lost.end(false), "{lost:?}");
}

#[test]
fn a_load_forwarded_from_a_store_with_late_data_waits_for_the_data() {
    // ldr x1, [x1] from DRAM ; str x1, [x4] ; ldr x3, [x4]: x3 comes from the store queue when x1
    // is ready.
    let words = [LDR_X1_X1, STR_X3_X4 & !0x1F | 1, LDR_X3_X4, CMP_X1_X3];
    let lost = lost(&words, 300, &config(), &[DRAM, 0x8000, 0x8000]);
    assert_root(&lost, RootCause::LoadDram, 95);
}

#[test]
fn loads_after_a_barrier_wait_for_the_barrier() {
    let words = [STR_X3_X4, DMB_ISH, LDR_X3_X4, ADD_X6_X6_1];
    let lost = lost(&words, 300, &config(), &[FAR_STORE, 0, 0x8000]);
    assert_root(&lost, RootCause::Barrier, 90);
}

#[test]
fn loads_after_an_acquire_have_the_root_cause_of_the_acquire() {
    // ldar x3, [x4] from DRAM delays the load of the next line.
    let words = [0xC8DF_FC83, LDR_X1_X1, ADD_X6_X6_1, ADD_X6_X6_1];
    let lost = lost(&words, 300, &config(), &[DRAM, 0x8000]);
    assert_root(&lost, RootCause::LoadDram, 95);
}

#[test]
fn skipping_root_causes_changes_neither_cycles_nor_stall_causes() {
    let words = [LDR_X1_X1, ADD_X6_X6_1, MUL_X1_X1_X2, B_NE_NEXT, 0x17FF_FFFC];
    let lost = |skip: bool| {
        let (mut pipeline, mut program) = (Pipeline::new(&config()), Program::new());
        if skip {
            pipeline.skip_roots();
        }
        run(&mut pipeline, &mut program, 400, &words, &[DRAM]);
        (pipeline.cycle(), pipeline.lost_slots().clone())
    };
    let ((cycles, found), (same, skipped)) = (lost(false), lost(true));
    assert_eq!(cycles, same);
    for cause in StallCause::ALL {
        assert_eq!(found.of(cause), skipped.of(cause), "{cause:?}");
    }
    assert!(found.memory() > 0 && skipped.memory() == 0);
}
