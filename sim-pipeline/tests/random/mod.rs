//! Random programs of real A64 words on random machines, with random addresses and latencies. The
//! same seed gives the same program, machine and memory replies.

use sim_core::{
    AccessOutcome, Activity, Cycle, DataSource, EventSink, InstFlags, LoadWait, MemReply,
    MemRequest, MemoryPort, PhysAddr, TraceInst, VirtAddr,
};
use sim_isa::{BranchKind, Program, Special, decode};
use sim_pipeline::config::OnM0;
use sim_pipeline::{PipelineConfig, Step};

/// Correct-path instructions of one scenario.
pub(crate) const STEPS: u64 = 250;
const BASE: u64 = 0x40_0000;

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Memory with random replies: most accesses hit, some miss to DRAM, few fault.
pub(crate) struct RandomMemory {
    random: Random,
    pending: u64,
}

impl RandomMemory {
    fn reply(&mut self, now: Cycle, hit: Cycle) -> MemReply {
        let reply = |cycles, source, outcome| MemReply {
            done: now + cycles,
            translation_cycles: 1,
            source,
            outcome,
        };
        match self.random.below(400) {
            0 => reply(30, DataSource::L1, AccessOutcome::FAULT),
            1..=3 => reply(700, DataSource::Dram, AccessOutcome(0b1_1111)),
            4..=9 => reply(120, DataSource::Slc, AccessOutcome(0b1_1100)),
            10..=39 => reply(13, DataSource::L2, AccessOutcome::L1_MISS),
            40..=49 => reply(25, DataSource::L1, AccessOutcome::L1_TLB_MISS),
            _ => reply(hit, DataSource::L1, AccessOutcome::default()),
        }
    }
}

impl MemoryPort for RandomMemory {
    fn fetch<S: EventSink>(&mut self, _pc: VirtAddr, now: Cycle, _sink: &mut S) -> MemReply {
        self.reply(now, 1)
    }

    fn translate_store<S: EventSink>(
        &mut self,
        _request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        self.reply(now, 1)
    }

    fn access<S: EventSink>(
        &mut self,
        _request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        self.reply(now, 4)
    }

    fn physical(&self, addr: VirtAddr) -> Option<PhysAddr> {
        (addr.0 & 0x40 == 0).then_some(PhysAddr(addr.0 >> 6))
    }

    fn load_wait(&self, pc: VirtAddr, issued: Cycle) -> LoadWait {
        LoadWait { buffer: pc.0 as u32 & 0xff, line: issued as u32 & 0xff }
    }

    fn l2_miss_pending(&self, from: Cycle, to: Cycle) -> u64 {
        (to - from) * self.pending / 4
    }
}

/// Returns words of all classes from the decoder's corpora.
pub(crate) fn corpus() -> Vec<u32> {
    let files = [
        include_str!("../../../sim-isa/tests/corpus/agreed.txt"),
        include_str!("../../../sim-isa/tests/corpus/by_hand.txt"),
        include_str!("../../../sim-isa/tests/corpus/system.txt"),
    ];
    let lines = files.iter().flat_map(|file| file.lines());
    lines.filter_map(|line| u32::from_str_radix(line.split(" | ").next()?, 16).ok()).collect()
}

/// Words that exercise the core in combination: fused pairs, moves, barriers, divides, stores and
/// loads of one base.
const FAVORITES: [u32; 25] = [
    0xeb01_001f, // cmp x0, x1
    0x9a83_0040, // csel x0, x2, x3, eq
    0x4e28_4841, // aese v1.16b, v2.16b
    0x4e28_6821, // aesmc v1.16b, v1.16b
    0x9000_0000, // adrp x0
    0x9100_4000, // add x0, x0, #16
    0xaa01_03e2, // mov x2, x1
    0xd280_0003, // mov x3, #0
    0xd503_201f, // nop
    0x9ac7_08c6, // udiv x6, x6, x7
    0x1e61_1800, // fdiv d0, d0, d1
    0xf900_00c1, // str x1, [x6]
    0xf900_00a1, // str x1, [x5]
    0xf940_00a3, // ldr x3, [x5]
    0xb940_00a1, // ldr w1, [x5]
    0xa940_08a1, // ldp x1, x2, [x5]
    0xc89f_fca1, // stlr x1, [x5]
    0xc8df_fca1, // ldar x1, [x5]
    0xd503_3bbf, // dmb ish
    0xd503_3b9f, // dsb ish
    0xd503_3fdf, // isb
    0xd503_30ff, // sb
    0xd503_207f, // wfi
    0xf8e1_00a2, // ldaddal x1, x2, [x5]
    0xc85f_7ca3, // ldxr x3, [x5]
];

/// Returns a branch of a random kind from word `from` to word `to`.
fn branch(random: &mut Random, from: u64, to: u64) -> u32 {
    let words = (to as u32).wrapping_sub(from as u32);
    match random.below(8) {
        0 => 0x1400_0000 | words & 0x03ff_ffff,              // b
        1 => 0x9400_0000 | words & 0x03ff_ffff,              // bl
        2 => 0xb400_0003 | (words & 0x7_ffff) << 5,          // cbz x3
        3 => 0x3600_0002 | (words & 0x3fff) << 5,            // tbz w2, #0
        4 => 0xd61f_0080,                                    // br x4
        5 => 0xd65f_03c0,                                    // ret
        _ => 0x5400_0000 | (words & 0x7_ffff) << 5 | 0b0001, // b.ne
    }
}

/// Returns a program of consecutive words, of which the last branches to the first.
fn program(random: &mut Random, corpus: &[u32], mut program: Program) -> Program {
    let length = 8 + random.below(80);
    let favor = random.below(4);
    for at in 0..length - 1 {
        let word = loop {
            let word = match random.below(8) {
                0 => branch(random, at, random_target(random.0, length)),
                n if n <= 2 * favor => FAVORITES[random.below(FAVORITES.len() as u64) as usize],
                _ => corpus[random.below(corpus.len() as u64) as usize],
            };
            let inst = decode(word);
            let target = (BASE + 4 * at).wrapping_add_signed(inst.offset.into());
            let inside = (BASE..BASE + 4 * length).contains(&target);
            let is_indirect = matches!(
                inst.branch,
                BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return
            );
            if inst.branch == BranchKind::None || is_indirect || inside {
                break word;
            }
        };
        program.intern(BASE + 4 * at, word);
    }
    let back = (length as u32 - 1).wrapping_neg() & 0x03ff_ffff;
    program.intern(BASE + 4 * (length - 1), 0x1400_0000 | back);
    program
}

fn random_target(state: u64, length: u64) -> u64 {
    Random(!state).below(length)
}

pub(crate) fn default_config() -> PipelineConfig {
    #[derive(serde::Deserialize)]
    struct Document {
        pipeline: PipelineConfig,
    }
    let text = include_str!("../../../configs/neoverse-n2/machine.toml");
    toml::from_str::<Document>(text).expect("the committed configuration parses").pipeline
}

/// Returns a machine with some sizes, widths and delays changed.
fn machine(random: &mut Random, default: &PipelineConfig) -> PipelineConfig {
    let mut config = default.clone();
    let (w, d, e) = (&mut config.window, &mut config.dispatch, &mut config.execute);
    for (size, most) in [
        (&mut w.rob, 200),
        (&mut w.general_registers, 150),
        (&mut w.vector_registers, 130),
        (&mut w.flag_registers, 50),
        (&mut w.load_queue, 120),
        (&mut w.store_queue, 60),
        (&mut w.branch_queue, 50),
        (&mut w.int_queue, 90),
        (&mut w.int_queue_one_pipe, 20),
        (&mut w.mem_queue, 60),
        (&mut w.mem_queue_stores, 40),
        (&mut w.vec_queue, 60),
        (&mut w.vec_queue_one_pipe, 40),
        (&mut config.front_end.fetch_queue, 32),
    ] {
        if random.one_in(4) {
            *size = 1 + random.below(most) as usize;
        }
    }
    for (width, most) in [
        (&mut w.retire_width, 10),
        (&mut w.move_interval, 8),
        (&mut e.store_drain_width, 3),
        (&mut config.front_end.fetch_width, 6),
        (&mut config.front_end.mop_width, 8),
    ] {
        if random.one_in(4) {
            *width = 1 + random.below(most) as u32;
        }
    }
    for limit in [&mut d.uops, &mut d.branch_single, &mut d.multi, &mut d.multi0, &mut d.load_store]
    {
        if random.one_in(6) {
            *limit = 1 + random.below(6) as u8;
        }
    }
    if random.one_in(4) {
        (config.branch.nano_btb_entries, config.branch.btb_regions) = (4, 4);
    }
    e.single_cycle_on_m0 = [OnM0::All, OnM0::Logic, OnM0::None][random.below(3) as usize];
    config.wrong_path.enabled = !random.one_in(4);
    assert!(config.problems().is_empty(), "{:?}", config.problems());
    config
}

/// One random program on one random machine, with its next instruction.
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    random: Random,
    pub(crate) config: PipelineConfig,
    pub(crate) program: Program,
    pub(crate) memory: RandomMemory,
    pc: u64,
}

impl Scenario {
    /// Returns the scenario of this seed: words of the corpus on the default machine with some
    /// changed sizes.
    pub(crate) fn new(seed: u64, corpus: &[u32], default: &PipelineConfig) -> Scenario {
        let mut random = Random(seed);
        let config = machine(&mut random, default);
        let program = program(&mut random, corpus, Program::costing(config.costs()));
        let pending = random.below(5);
        let memory = RandomMemory { random: Random(random.next()), pending };
        Scenario { seed, random, config, program, memory, pc: BASE }
    }

    /// Returns the instruction that runs next.
    pub(crate) fn step(&mut self) -> Step<'static> {
        let id = self.program.at(self.pc).expect("the stream stays inside the program");
        let inst = execution(&mut self.random, &self.program, id);
        let next = next_pc(&mut self.random, &self.program, self.pc, id);
        self.pc = next;
        Step { inst, next_pc: Some(next), more: &[] }
    }

    /// Returns whether a counting window ends here: after one of forty instructions.
    pub(crate) fn cuts_window(&mut self) -> bool {
        self.random.one_in(40)
    }
}

/// Returns the address at which the stream continues after the instruction at `pc`.
fn next_pc(random: &mut Random, program: &Program, pc: u64, id: u32) -> u64 {
    let anywhere = BASE + 4 * random.below(program.len() as u64);
    match program.inst(id).branch {
        BranchKind::None | BranchKind::ExceptionReturn => pc + 4,
        BranchKind::Direct | BranchKind::Call => program.target(id),
        BranchKind::Conditional => {
            if random.one_in(2) {
                program.target(id)
            } else {
                pc + 4
            }
        }
        BranchKind::Indirect | BranchKind::IndirectCall | BranchKind::Return => anywhere,
    }
}

/// Returns the trace record of one execution. Addresses come from a small set, so that accesses
/// overlap.
fn execution(random: &mut Random, program: &Program, id: u32) -> TraceInst {
    let mut inst = TraceInst { id, ..TraceInst::default() };
    let mem = program.inst(id).mem;
    if mem.bytes > 0 && !random.one_in(50) {
        let place = match random.below(12) {
            0..4 => random.below(1 << 20),
            4 => 4096 * random.below(4),
            _ => 8 * random.below(4),
        };
        // Address 0 and its page are ordinary addresses.
        inst.addr = if random.one_in(30) { place } else { 0x10_0000 + place };
        inst.flags = InstFlags::HAS_ADDR;
    }
    if program.inst(id).special == Special::Wait && random.one_in(2) {
        // The length of the sleep.
        inst.addr = if random.one_in(4) { random.below(20_000) } else { random.below(100) };
        inst.flags = InstFlags::HAS_ADDR;
    }
    let mut set = |flag, odds| {
        if random.one_in(odds) {
            inst.flags = inst.flags.with(flag);
        }
    };
    if mem.exclusive {
        set(InstFlags::EXCLUSIVE_FAILED, 3);
    }
    set(InstFlags::ABANDONED.with(InstFlags::DISCONTINUITY), 300);
    set(InstFlags::DISCONTINUITY, 300);
    if program.inst(id).is_sve {
        let activity = [Activity::All, Activity::None, Activity::Partial][random.below(3) as usize];
        inst.flags = inst.flags.with_predicate(activity, random.next() as u16);
    }
    inst
}
