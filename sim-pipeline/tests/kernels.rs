//! The core on small loops with a memory of fixed latency: cycles per iteration that follow from
//! the widths and latencies in the configuration (PMU guide 4.7, facts on pipes).

use sim_core::{
    AccessOutcome, Counts, Cycle, DataSource, EventSink, ExceptionKind, InstFlags, MemKind,
    MemReply, MemRequest, MemoryPort, PmuEvent, StallCause, TraceInst, VirtAddr,
};
use sim_isa::Program;
use sim_pipeline::{Pipeline, PipelineConfig, RecordedException, Step};

/// Memory with one latency for all fetches and accesses; a store that reaches it counts as
/// `L1D_CACHE_WR`.
struct FlatMemory {
    load_cycles: Cycle,
}

impl MemoryPort for FlatMemory {
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

    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, sink: &mut S) -> MemReply {
        if request.kind == MemKind::DrainStores {
            return MemReply::default();
        }
        if request.kind == MemKind::Store {
            sink.raise(PmuEvent::L1D_CACHE_WR);
        }
        let missed = self.load_cycles > 4;
        MemReply {
            done: now + self.load_cycles,
            translation_cycles: 1,
            source: if missed { DataSource::Dram } else { DataSource::L1 },
            outcome: if missed { AccessOutcome::L2_MISS } else { AccessOutcome::default() },
        }
    }

    fn l2_miss_pending(&self, from: Cycle, to: Cycle) -> u64 {
        if self.load_cycles > 4 { to - from } else { 0 }
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

/// Runs `words` as the body of a loop closed by a taken `B` back, `times` times. `addr(iteration,
/// index)` gives the data address of a memory instruction.
fn run_loop(
    words: &[u32],
    times: u64,
    load_cycles: Cycle,
    addr: impl Fn(u64, usize) -> Option<u64>,
) -> Counts {
    let base = 0x40_0000_u64;
    let mut program = Program::new();
    let mut body = words.to_vec();
    let back = -(words.len() as i32) as u32 & 0x03FF_FFFF;
    body.push(0x1400_0000 | back);
    let ids: Vec<u32> = body
        .iter()
        .enumerate()
        .map(|(i, word)| program.intern(base + 4 * i as u64, *word))
        .collect();
    let mut pipeline = Pipeline::new(&config());
    let mut memory = FlatMemory { load_cycles };
    let mut counts = Counts::default();
    for iteration in 0..times {
        for (i, id) in ids.iter().enumerate() {
            let next = if i + 1 == ids.len() { base } else { base + 4 * (i as u64 + 1) };
            let at = addr(iteration, i);
            let flags = if at.is_some() { InstFlags::HAS_ADDR } else { InstFlags::default() };
            let inst = TraceInst { addr: at.unwrap_or(0), id: *id, flags };
            let step = Step { inst, more: &[], next_pc: Some(next) };
            pipeline.run_inst(&step, &mut program, &mut memory, &mut counts);
        }
    }
    pipeline.finish(&mut counts);
    let slots = counts.value(PmuEvent::OP_SPEC) + counts.value(PmuEvent::STALL_SLOT);
    assert_eq!(slots, 5 * counts.value(PmuEvent::CPU_CYCLES), "the slots tile the run");
    counts
}

/// Returns the cycles per iteration, rounded to tenths.
fn per_iteration(counts: &Counts, times: u64) -> f64 {
    (counts.value(PmuEvent::CPU_CYCLES) as f64 / times as f64 * 10.0).round() / 10.0
}

const ADD_X1_X1_1: u32 = 0x9100_0421;
const MUL_X1_X1_X2: u32 = 0x9B02_7C21;
const LDR_X1_X1: u32 = 0xF940_0021;
const SDIV_X1_X1_X2: u32 = 0x9AC2_0C21;
const NOP: u32 = 0xD503_201F;

#[test]
fn a_chain_of_additions_runs_one_per_cycle() {
    let counts = run_loop(&[ADD_X1_X1_1; 20], 500, 4, |_, _| None);
    assert_eq!(per_iteration(&counts, 500), 20.0);
}

#[test]
fn a_chain_of_multiplications_runs_one_per_two_cycles() {
    let counts = run_loop(&[MUL_X1_X1_X2; 20], 500, 4, |_, _| None);
    assert_eq!(per_iteration(&counts, 500), 40.0);
}

#[test]
fn a_64_bit_divide_blocks_its_pipe_for_twenty_cycles() {
    let counts = run_loop(&[SDIV_X1_X1_X2; 4], 500, 4, |_, _| None);
    assert_eq!(per_iteration(&counts, 500), 80.0);
}

#[test]
fn independent_additions_are_bound_by_the_four_integer_pipes() {
    // add x1..x8, #1: eight independent chains; 24 additions and a branch in a loop.
    let words: Vec<u32> = (0..24_u32).map(|i| 0x9100_0400 | ((i % 8 + 1) * 0x21)).collect();
    let counts = run_loop(&words, 1000, 4, |_, _| None);
    assert_eq!(per_iteration(&counts, 1000), 6.0);
    assert_eq!(counts.value(PmuEvent::DP_SPEC), 24_000);
}

#[test]
fn a_pointer_chase_takes_the_load_to_use_latency() {
    for load_cycles in [4, 100] {
        let counts = run_loop(&[LDR_X1_X1; 10], 200, load_cycles, |i, k| {
            (k < 10).then(|| 0x10_0000 + 64 * (10 * i + k as u64))
        });
        let expected = 10.0 * load_cycles as f64;
        let got = per_iteration(&counts, 200);
        assert!((got - expected).abs() <= 0.5, "{got} cycles for 10 loads of {load_cycles}");
    }
}

#[test]
fn a_reorder_buffer_full_of_misses_stalls_the_back_end_on_memory() {
    let counts = run_loop(&[LDR_X1_X1; 10], 200, 300, |i, k| {
        (k < 10).then(|| 0x10_0000 + 64 * (10 * i + k as u64))
    });
    let cycles = counts.value(PmuEvent::CPU_CYCLES);
    let stalled = counts.value(PmuEvent::STALL_BACKEND_MEM);
    assert!(stalled > cycles * 8 / 10, "{stalled} of {cycles}");
    assert!(stalled <= counts.value(PmuEvent::STALL_BACKEND));
}

#[test]
fn an_instruction_that_did_not_complete_neither_stores_nor_retires_as_a_branch() {
    const STR_X1_X0: u32 = 0xF900_0001;
    const B_BACK_4: u32 = 0x17FF_FFFF;
    let mut program = Program::new();
    let ids = [program.intern(0x40_0000, STR_X1_X0), program.intern(0x40_0004, B_BACK_4)];
    let run = |flags: InstFlags, program: &mut Program| {
        let mut pipeline = Pipeline::new(&config());
        let (mut memory, mut counts) = (FlatMemory { load_cycles: 300 }, Counts::default());
        for (id, addr, has_addr) in
            [(ids[0], 0x10_0000, InstFlags::HAS_ADDR), (ids[1], 0, InstFlags::default())]
        {
            let step = Step {
                inst: TraceInst { addr, id, flags: flags.with(has_addr) },
                more: &[],
                next_pc: Some(0x40_0000),
            };
            pipeline.run_inst(&step, program, &mut memory, &mut counts);
        }
        pipeline.finish(&mut counts);
        [PmuEvent::ST_SPEC, PmuEvent::L1D_CACHE_WR, PmuEvent::INST_RETIRED, PmuEvent::BR_RETIRED]
            .map(|event| counts.value(event))
    };
    assert_eq!(run(InstFlags::default(), &mut program), [1, 1, 2, 1]);
    let abandoned = InstFlags::ABANDONED.with(InstFlags::DISCONTINUITY);
    assert_eq!(run(abandoned, &mut program), [1, 0, 0, 0]);
}

#[test]
fn two_nops_share_a_slot() {
    let counts = run_loop(&[NOP; 20], 500, 4, |_, _| None);
    assert_eq!(counts.value(PmuEvent::INST_RETIRED), 500 * 21);
    assert_eq!(counts.value(PmuEvent::OP_RETIRED), 500 * 11);
}

#[test]
fn an_unpredictable_branch_costs_ten_cycles_and_runs_the_wrong_path() {
    // cbz x9, +8 ; add ; add ... taken or not by a random number: about half are mispredicted.
    let base = 0x40_0000_u64;
    let words = [0xB400_0049_u32, ADD_X1_X1_1, 0xD65F_03C0];
    let mut program = Program::new();
    let ids: Vec<u32> = (0..3).map(|i| program.intern(base + 4 * i as u64, words[i])).collect();
    let mut pipeline = Pipeline::new(&config());
    let mut memory = FlatMemory { load_cycles: 4 };
    let mut counts = Counts::default();
    let mut state = 7_u64;
    for _ in 0..4000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let taken = state >> 63 == 1;
        let path: &[usize] = if taken { &[0, 2] } else { &[0, 1, 2] };
        for (k, i) in path.iter().enumerate() {
            let next = path.get(k + 1).map_or(base, |n| base + 4 * *n as u64);
            let inst = TraceInst { addr: 0, id: ids[*i], flags: InstFlags::default() };
            let step = Step { inst, more: &[], next_pc: Some(next) };
            pipeline.run_inst(&step, &mut program, &mut memory, &mut counts);
        }
    }
    pipeline.finish(&mut counts);
    let wrong = counts.value(PmuEvent::BR_MIS_PRED_RETIRED);
    assert!((1200..3000).contains(&wrong), "{wrong} of 4000 random branches");
    let spec = counts.value(PmuEvent::INST_SPEC);
    assert!(spec > counts.value(PmuEvent::INST_RETIRED) + wrong, "the wrong path was renamed");
    let slots = counts.value(PmuEvent::OP_SPEC) + counts.value(PmuEvent::STALL_SLOT);
    assert_eq!(slots, 5 * counts.value(PmuEvent::CPU_CYCLES));
    let cycles_each = counts.value(PmuEvent::CPU_CYCLES) as f64 / wrong as f64;
    assert!((10.0..20.0).contains(&cycles_each), "{cycles_each} cycles per misprediction");
}

/// `mov x<to>, x<from>`
fn mov(to: u32, from: u32) -> u32 {
    0xAA00_03E0 | from << 16 | to
}

#[test]
fn rename_completes_one_of_four_consecutive_moves() {
    // mov x1, x2 ; mov x2, x1 ...: three of four in the chain take a cycle each.
    let chain: Vec<u32> = (0..40).map(|i| mov(1 + i % 2, 2 - i % 2)).collect();
    let counts = run_loop(&chain, 500, 4, |_, _| None);
    let each = per_iteration(&counts, 500);
    assert!((29.0..=31.0).contains(&each), "{each} cycles for 40 moves");
    // Moves among other operations are far enough apart.
    let apart: Vec<u32> =
        (0..40).map(|i| if i % 4 == 0 { mov(1, 1) } else { 0xD280_0003 }).collect();
    let counts = run_loop(&apart, 500, 4, |_, _| None);
    assert!(per_iteration(&counts, 500) < 10.0, "five slots a cycle, no pipe");
}

#[test]
fn the_second_half_of_a_pair_waits_for_its_branch_queue_entry() {
    // ldr x1, [x1] from far memory ; cmp x1, x2 ; b.eq .+4, 50 times: the branches wait for the
    // load.
    let mut words = vec![LDR_X1_X1];
    words.extend([0xEB02_003F, 0x5400_0020].repeat(50));
    let lost = |branches: usize| {
        let mut config = config();
        config.window.branch_queue = branches;
        let (mut pipeline, mut program) = (Pipeline::new(&config), Program::new());
        let mut memory = FlatMemory { load_cycles: 300 };
        for (i, word) in words.iter().enumerate() {
            let pc = 0x40_0000 + 4 * i as u64;
            let id = program.intern(pc, *word);
            let flags = if i == 0 { InstFlags::HAS_ADDR } else { InstFlags::default() };
            let inst = TraceInst { addr: 0x10_0000, id, flags };
            let step = Step { inst, next_pc: Some(pc + 4), more: &[] };
            pipeline.run_inst(&step, &mut program, &mut memory, &mut Counts::default());
        }
        pipeline.lost_slots().of(StallCause::BranchQueue)
    };
    assert_eq!(lost(52), 0);
    assert!(lost(20) > 1000, "{} slots wait for the branch order buffer", lost(20));
}

/// Returns the cycles per pair of a chain `str x1, [x5] ; ldr x1, [x5]`, with `load` as the load.
fn forwarding(load: u32) -> f64 {
    let words = [0xF900_00A1, load].repeat(10);
    let counts = run_loop(&words, 400, 4, |_, k| (k < 20).then_some(0x10_0000));
    per_iteration(&counts, 400) / 10.0
}

#[test]
fn a_forwarded_load_takes_five_cycles_with_its_store() {
    // ldr x1, [x5] and ldr w1, [x5]
    for load in [0xF940_00A1, 0xB940_00A1] {
        let hit = forwarding(load);
        assert!((hit - 5.0).abs() < 0.1, "{hit}");
    }
    // ldp x1, x2, [x5] reads more than the store wrote: it waits until the cache has it.
    let failed = forwarding(0xA940_08A1);
    // Ten cycles if the cache takes a store in one cycle; here it takes four.
    assert!((13.0..=14.0).contains(&failed), "{failed}");
}

/// Runs `udiv x6, x6, x7 ; str x1, [x6] ; ldr x3, [x5] ; add x1, x3, #1` `times` times, with one
/// address in store and load if `same`. Returns the counts and the slots lost to memory order.
fn store_with_late_address(times: u64, same: bool) -> (Counts, u64) {
    let load = if same { 0x10_0000 } else { 0x20_0000 };
    accesses_with_late_address(times, |_| (0x10_0000, load, InstFlags::HAS_ADDR))
}

/// Runs the loop of [`store_with_late_address`]; `round` gives the addresses of store and load, and
/// the load's flags, of each round.
fn accesses_with_late_address(
    times: u64,
    round: impl Fn(u64) -> (u64, u64, InstFlags),
) -> (Counts, u64) {
    let words = [0x9AC7_08C6, 0xF900_00C1, 0xF940_00A3, 0x9100_0461, 0x17FF_FFFC];
    let mut program = Program::new();
    let base = 0x40_0000;
    let ids = words.map(|word| program.intern(base + 4 * program.len() as u64, word));
    let mut pipeline = Pipeline::new(&config());
    let (mut memory, mut counts) = (FlatMemory { load_cycles: 4 }, Counts::default());
    for time in 0..times {
        let (store, load, load_flags) = round(time);
        for (i, id) in ids.into_iter().enumerate() {
            let pc = base + 4 * i as u64;
            let (addr, flags) = match i {
                1 => (store, InstFlags::HAS_ADDR),
                2 => (load, load_flags),
                _ => (0, InstFlags::default()),
            };
            let next = if i == 4 { base } else { pc + 4 };
            let step = Step { inst: TraceInst { addr, id, flags }, next_pc: Some(next), more: &[] };
            pipeline.run_inst(&step, &mut program, &mut memory, &mut counts);
        }
    }
    pipeline.finish(&mut counts);
    let slots = counts.value(PmuEvent::OP_SPEC) + counts.value(PmuEvent::STALL_SLOT);
    assert_eq!(slots, 5 * counts.value(PmuEvent::CPU_CYCLES), "the slots tile the run");
    (counts, pipeline.lost_slots().of(StallCause::FetchMemoryOrder))
}

#[test]
fn a_load_that_passed_its_store_is_executed_again_and_waits_afterwards() {
    let (once, lost) = store_with_late_address(1, true);
    assert!(lost >= 5 * 6, "{lost} slots lost while the front end refills");
    let again = once.value(PmuEvent::INST_SPEC) - once.value(PmuEvent::INST_RETIRED);
    assert!(again >= 2, "the load and younger operations: {again} executed twice");
    assert!(once.value(PmuEvent::LD_SPEC) >= 2);
    let (many, lost_by_many) = store_with_late_address(50, true);
    assert!(lost_by_many < 2 * lost, "{lost_by_many} slots for 50 loads, {lost} for one");
    assert_eq!(many.value(PmuEvent::INST_RETIRED), 250);
    let (_, lost_by_others) = store_with_late_address(50, false);
    assert_eq!(lost_by_others, 0, "a load of another address passes freely");
}

#[test]
fn a_load_that_was_independent_fifteen_times_passes_its_store_again() {
    let (_, once) = store_with_late_address(1, true);
    let lost = |independent: u64| {
        let same = |round| round == 0 || round > independent;
        let round = |round| {
            let load = if same(round) { 0x10_0000 } else { 0x20_0000 };
            (0x10_0000, load, InstFlags::HAS_ADDR)
        };
        accesses_with_late_address(independent + 2, round).1
    };
    assert_eq!(lost(5), once, "it still waits");
    // The front end refills: six cycles of five slots, and more the first time, when it is cold.
    assert!(lost(20) >= once + 30, "it passes twice: {} slots, {once} of one", lost(20));
}

#[test]
fn a_load_without_a_known_read_is_not_executed_again() {
    let abandoned = InstFlags::HAS_ADDR.with(InstFlags::ABANDONED).with(InstFlags::DISCONTINUITY);
    let (_, lost) = accesses_with_late_address(1, |_| (0x10_0000, 0x10_0000, abandoned));
    assert_eq!(lost, 0, "the load was not completed");
    let (_, lost) = accesses_with_late_address(1, |_| (0, 0, InstFlags::default()));
    assert_eq!(lost, 0, "the address of the load is not known");
}

#[test]
fn loads_that_issue_with_their_store_addresses_are_never_executed_again() {
    let pairs: Vec<u32> = (0..24).map(|k| [STR_X1_X0, LDR_X3_X0][k % 2]).collect();
    let counts = run_loop(&pairs, 30, 4, |_, k| (k < 24).then(|| 0x1_0000 + 64 * (k as u64 / 2)));
    assert_eq!(counts.value(PmuEvent::INST_RETIRED), 30 * 25);
    assert_eq!(counts.value(PmuEvent::INST_SPEC), 30 * 25);
}

#[test]
fn a_full_barrier_adds_eight_cycles_to_the_write_into_the_cache() {
    let cycles = |barrier| {
        let words = [STR_X1_X0, barrier, LDR_X3_X0];
        let addr = |_, k| match k {
            0 => Some(0x10_0000),
            2 => Some(0x90_0000),
            _ => None,
        };
        per_iteration(&run_loop(&words, 200, 4, addr), 200)
    };
    // Four cycles of the load, four of the store in this memory, one to leave the queue, eight of
    // the barrier.
    let full = cycles(DMB_ISH);
    assert!((16.0..=18.0).contains(&full), "{full} cycles");
}

const LDADD_X1_X2_X0: u32 = 0xF821_0002;
const STR_X1_X0: u32 = 0xF900_0001;
const LDR_X3_X0: u32 = 0xF940_0003;
const DSB_ISH: u32 = 0xD503_3B9F;
const DMB_ISH: u32 = 0xD503_3BBF;
const DMB_ISHLD: u32 = 0xD503_39BF;

#[test]
fn atomics_of_one_location_are_serialized() {
    let counts = run_loop(&[LDADD_X1_X2_X0; 10], 200, 4, |_, k| (k < 10).then_some(0x10_0000));
    let each = per_iteration(&counts, 200) / 10.0;
    assert!((14.0..=16.0).contains(&each), "an atomic takes 14 cycles, these took {each}");
    let counts = run_loop(&[LDADD_X1_X2_X0; 10], 200, 4, |i, k| {
        (k < 10).then(|| 0x10_0000 + 64 * (10 * i + k as u64))
    });
    assert!(per_iteration(&counts, 200) < 20.0, "those of different locations overlap");
}

#[test]
fn a_data_synchronization_barrier_waits_until_the_cache_has_the_stores() {
    for (store_cycles, least) in [(4, 5.0), (300, 300.0)] {
        let words = [STR_X1_X0, DSB_ISH, ADD_X1_X1_1];
        let counts = run_loop(&words, 100, store_cycles, |i, k| (k == 0).then(|| 64 * i + 64));
        let got = per_iteration(&counts, 100);
        assert!(got >= least, "{got} cycles with stores of {store_cycles}");
    }
}

#[test]
fn a_full_barrier_orders_a_load_after_an_older_store_and_a_load_barrier_does_not() {
    let cycles = |barrier| {
        let words = [STR_X1_X0, barrier, LDR_X3_X0];
        let addr = |i, k| match k {
            0 => Some(0x10_0000 + 64 * i),
            2 => Some(0x90_0000 + 64 * i),
            _ => None,
        };
        per_iteration(&run_loop(&words, 100, 300, addr), 100)
    };
    let (full, loads) = (cycles(DMB_ISH), cycles(DMB_ISHLD));
    assert!(full >= 300.0, "{full} cycles with a full barrier");
    assert!(loads < full, "{loads} cycles with a barrier for loads, {full} with a full one");
}

const ISB: u32 = 0xD503_3FDF;

#[test]
fn fetch_after_an_isb_waits_until_the_core_is_idle() {
    let alone = per_iteration(&run_loop(&[ISB], 500, 4, |_, _| None), 500);
    assert!((20.0..=40.0).contains(&alone), "{alone} cycles for an ISB");
    // It waits for a chain of eight older loads; the restart adds to that.
    let words = [[LDR_X1_X1; 8].as_slice(), &[ISB]].concat();
    let after_loads = run_loop(&words, 500, 4, |_, k| (k < 8).then_some(0x10_0000));
    let more = per_iteration(&after_loads, 500) - alone;
    assert!((28.0..=33.0).contains(&more), "{more} cycles for eight loads");
}

/// Runs a `wfi` that sleeps 1,000 cycles and whose record has `flags`, then `exceptions` interrupts
/// that a recorder saw, then four `nop`s; a window ends afterwards. The core and the system counter
/// run equally fast.
fn sleep(
    flags: InstFlags,
    exceptions: u64,
    wakes: impl FnOnce(&mut Pipeline, &mut Counts),
) -> Counts {
    let mut program = Program::new();
    let ids = [0xD503_207F, NOP, NOP, NOP, NOP].map(|word| {
        let pc = 0x40_0000 + 4 * program.len() as u64;
        program.intern(pc, word)
    });
    let mut pipeline = Pipeline::new(&config());
    pipeline.set_clocks(1, 1);
    let (mut memory, mut counts) = (FlatMemory { load_cycles: 4 }, Counts::default());
    let mut run = |pipeline: &mut Pipeline, id, inst: TraceInst, counts: &mut Counts| {
        let step = Step { inst, next_pc: Some(0x40_0004 + 4 * u64::from(id)), more: &[] };
        pipeline.run_inst(&step, &mut program, &mut memory, counts);
    };
    let asleep = TraceInst { id: ids[0], addr: 1_000, flags };
    if exceptions > 0 {
        pipeline.expect_exception(IRQ);
    }
    run(&mut pipeline, ids[0], asleep, &mut counts);
    (1..exceptions).for_each(|_| pipeline.take_recorded(IRQ, &mut counts));
    wakes(&mut pipeline, &mut counts);
    for id in &ids[1..] {
        run(&mut pipeline, *id, TraceInst { id: *id, ..TraceInst::default() }, &mut counts);
    }
    pipeline.cut_window(&mut counts);
    counts
}

const IRQ: RecordedException =
    RecordedException { vector: 0x480, abandoned: false, to: None, syndrome: 0 };

#[test]
fn the_stream_continues_when_a_sleep_ends() {
    let discontinuity = InstFlags::HAS_ADDR.with(InstFlags::DISCONTINUITY);
    for (flags, exceptions) in
        [(InstFlags::HAS_ADDR, 0), (discontinuity, 0), (discontinuity, 1), (discontinuity, 2)]
    {
        let counts = sleep(flags, exceptions, |_, _| {});
        assert_eq!(counts.value(PmuEvent::EXC_TAKEN), exceptions);
        let (cycles, ticks) =
            (counts.value(PmuEvent::CPU_CYCLES), counts.value(PmuEvent::CNT_CYCLES));
        assert!((1_000..1_200).contains(&cycles), "{cycles} cycles");
        assert_eq!(ticks, cycles - 1_000, "the counter is not counted while the core sleeps");
    }
}

#[test]
fn an_interrupt_ends_a_sleep() {
    let counts = sleep(InstFlags::HAS_ADDR, 0, |pipeline, counts| {
        pipeline.interrupt(ExceptionKind::Irq, 500, counts);
    });
    let (cycles, ticks) = (counts.value(PmuEvent::CPU_CYCLES), counts.value(PmuEvent::CNT_CYCLES));
    assert!((500..700).contains(&cycles), "{cycles} cycles");
    let slept = cycles - ticks;
    assert!((400..500).contains(&slept), "{slept} cycles asleep");
}
