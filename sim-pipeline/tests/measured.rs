//! Cycles per iteration of small loops, with and without each configuration value that was measured
//! on the core or a related core. Such values replace those from documents.

use sim_core::{
    Counts, Cycle, EventSink, InstFlags, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent,
    TraceInst, VirtAddr,
};
use sim_isa::Program;
use sim_pipeline::config::{Divide, IntegerPipe, OnM0};
use sim_pipeline::{Pipeline, PipelineConfig, Step};

/// Memory in which every access hits the L1 D-cache.
struct NearMemory;

impl MemoryPort for NearMemory {
    fn fetch<S: EventSink>(&mut self, _pc: VirtAddr, now: Cycle, _sink: &mut S) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    fn translate_store<S: EventSink>(
        &mut self,
        _request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        MemReply { done: now + 1, ..MemReply::default() }
    }

    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, _sink: &mut S) -> MemReply {
        match request.kind {
            MemKind::DrainStores => MemReply::default(),
            _ => MemReply { done: now + 4, ..MemReply::default() },
        }
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

/// Returns the cycles per iteration, rounded, of a loop of `words` and a branch back. `addr` gives
/// the data address of each word that has one, by its number in the run.
fn cycles(config: &PipelineConfig, words: &[u32], addr: impl Fn(u64) -> Option<u64>) -> u64 {
    const TIMES: u64 = 500;
    let base = 0x40_0000_u64;
    let mut program = Program::costing(config.costs());
    let back = -(words.len() as i32) as u32 & 0x03FF_FFFF;
    let body = words.iter().copied().chain([0x1400_0000 | back]);
    let ids: Vec<u32> =
        (0_u64..).zip(body).map(|(i, word)| program.intern(base + 4 * i, word)).collect();
    let mut pipeline = Pipeline::new(config);
    let mut counts = Counts::default();
    for iteration in 0..TIMES {
        for (i, id) in (0_u64..).zip(&ids) {
            let is_last = i as usize + 1 == ids.len();
            let next = if is_last { base } else { base + 4 * (i + 1) };
            let number = iteration * words.len() as u64 + i;
            let at = if is_last { None } else { addr(number) };
            let flags = if at.is_some() { InstFlags::HAS_ADDR } else { InstFlags::default() };
            let inst = TraceInst { addr: at.unwrap_or(0), id: *id, flags };
            let step = Step { inst, more: &[], next_pc: Some(next) };
            pipeline.run_inst(&step, &mut program, &mut NearMemory, &mut counts);
        }
    }
    pipeline.finish(&mut counts);
    (counts.value(PmuEvent::CPU_CYCLES) + TIMES / 2) / TIMES
}

fn computes(config: &PipelineConfig, words: &[u32]) -> u64 {
    cycles(config, words, |_| None)
}

/// Returns eight independent chains of `word`, whose destination and first source are X0.
fn chains(word: u32) -> Vec<u32> {
    (0..24).map(|i| word | ((i % 8 + 1) * 0x21)).collect()
}

const ADD: u32 = 0x8b14_0000; // add x0, x0, x20
const EOR: u32 = 0xca14_0000; // eor x0, x0, x20

#[test]
fn logic_runs_on_four_pipes_and_additions_and_rotates_on_three() {
    let rotates: Vec<u32> = (1..25).map(|i| 0x93c0_2800 | ((i % 8 + 1) * 0x1_0021)).collect();
    for (on_m0, add, eor, ror) in
        [(OnM0::All, 6, 6, 6), (OnM0::Logic, 8, 6, 8), (OnM0::None, 8, 8, 8)]
    {
        for pipe in [IntegerPipe::Any, IntegerPipe::InTurn] {
            let mut config = config();
            config.execute.single_cycle_on_m0 = on_m0;
            config.dispatch.integer_pipe = pipe;
            assert_eq!(computes(&config, &chains(ADD)), add, "{on_m0:?} {pipe:?}");
            assert_eq!(computes(&config, &chains(EOR)), eor, "{on_m0:?} {pipe:?}");
            assert_eq!(computes(&config, &rotates), ror, "{on_m0:?} {pipe:?}");
        }
    }
}

#[test]
fn a_pipe_selected_at_dispatch_may_be_busy() {
    // Six logical operations for four pipes and two additions for three of them, in round robin.
    let mut config = config();
    config.execute.single_cycle_on_m0 = OnM0::Logic;
    let words: Vec<u32> = (0..24)
        .map(|i| match i % 8 {
            0..6 => EOR | ((i % 8 + 1) * 0x21),
            _ => 0x8b14_0000 | ((i % 8 + 1) * 0x21),
        })
        .collect();
    assert_eq!(computes(&config, &words), 6);
    config.dispatch.integer_pipe = IntegerPipe::InTurn;
    assert!(computes(&config, &words) > 6);
}

#[test]
fn a_hash_result_is_later_for_other_operations_than_for_the_next_hash() {
    // mov v3.16b, v0.16b ; sha256h q0, q1, v2.4s ; sha256h2 q1, q3, v2.4s
    let sha256 = [0x4ea0_1c03, 0x5e02_4020, 0x5e02_5061].repeat(4);
    // sha512h q0, q1, v2.2d ; add v4.2d, v0.2d, v5.2d ; ext v1.16b, v4.16b, v4.16b, #8
    let sha512 = [0xce62_8020, 0x4ee5_8404, 0x6e04_4081].repeat(4);
    // sm4e v0.4s, v1.4s, alone
    let sm4 = [0xcec0_8420; 4];
    for (late, times) in [(0, [20, 24, 16]), (2, [24, 32, 16])] {
        let mut config = config();
        config.execute.hash_forward_cycles = late;
        let found = [&sha256[..], &sha512, &sm4].map(|words| computes(&config, words));
        assert_eq!(found, times, "{late} cycles later");
    }
}

#[test]
fn divides_take_the_cycles_of_the_configured_case() {
    // sdiv x1, x1, x2 ; udiv w1, w1, w2 ; fdiv d1, d3, d2 (independent)
    let kernels = [[0x9ac2_0c21; 4], [0x1ac2_0821; 4], [0x1e62_1861; 4]];
    for (divide, times) in [
        (Divide::Worst, [80, 48, 60]),
        (Divide::Typical, [48, 32, 28]),
        (Divide::Best, [20, 20, 16]),
    ] {
        let mut config = config();
        config.execute.divide = divide;
        let found = kernels.map(|words| computes(&config, &words));
        assert_eq!(found, times, "{divide:?}");
    }
}

#[test]
fn loads_of_one_bank_read_one_line_per_cycle() {
    let loads: Vec<u32> = (0..24).map(|i| 0xf940_0280 | (i % 8 + 1)).collect(); // ldr x1.., [x20]
    for (banks, times) in [(0, [8, 8, 8]), (2, [8, 12, 24])] {
        let mut config = config();
        config.execute.load_banks = banks;
        let found =
            [8, 64, 128].map(|stride| cycles(&config, &loads, |i| Some(0x8000 + i * stride)));
        assert_eq!(found[1..], times[1..], "{banks} banks");
        assert!(found[0] <= 9, "{} loads of three lines share them", found[0]);
    }
}

#[test]
fn a_store_that_crosses_32_bytes_takes_two_slots_of_the_drain() {
    let stores = [0x3d80_0280; 24]; // str q0, [x20]
    for (bytes, offset, expected) in [(32, 16, 12), (32, 24, 24), (64, 24, 12), (64, 56, 24)] {
        let mut config = config();
        config.execute.store_drain_bytes = bytes;
        let found = cycles(&config, &stores, |i| Some(0x8000 + 64 * i + offset));
        assert_eq!(found, expected, "{bytes} bytes, at {offset}");
    }
}
