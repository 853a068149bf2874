//! Requests to the memory system, their cycles, and the outcome of an instruction whose access or
//! fetch faults: maintenance, ordering, aborts, context writes (PMU guide 3.2.11, 4.1.3, 4.11).

use std::collections::HashMap;

use sim_core::{
    AccessOutcome, CacheOp, Counts, Cycle, EventSink, InstFlags, Maintenance, MemKind, MemReply,
    MemRequest, MemoryPort, PmuEvent, Privilege, TagUse, TlbScope, TraceInst, VirtAddr,
};
use sim_isa::Program;
use sim_pipeline::{Pipeline, PipelineConfig, Step};

/// Memory that records every access. Each address may have its own latency, and may fault.
#[derive(Default)]
struct Recorder {
    accesses: Vec<(MemRequest, Cycle)>,
    cycles: HashMap<u64, Cycle>,
    faults: Vec<u64>,
    /// Maintenance of all cores has to be synchronized.
    synchronizes: bool,
}

impl Recorder {
    fn reply(&self, addr: u64, now: Cycle) -> MemReply {
        let outcome = if self.faults.contains(&addr) {
            AccessOutcome::FAULT
        } else {
            AccessOutcome::default()
        };
        let cycles = self.cycles.get(&addr).copied().unwrap_or(4);
        MemReply { done: now + cycles, outcome, ..MemReply::default() }
    }

    /// Returns the cycle in which the access at `addr` started.
    fn start(&self, addr: u64) -> Cycle {
        let (_, start) = self.accesses.iter().find(|(r, _)| r.addr.0 == addr).expect("accessed");
        *start
    }

    fn kinds(&self) -> Vec<MemKind> {
        self.accesses.iter().map(|(request, _)| request.kind).collect()
    }
}

impl MemoryPort for Recorder {
    fn fetch<S: EventSink>(&mut self, pc: VirtAddr, now: Cycle, _sink: &mut S) -> MemReply {
        MemReply { done: now + 1, ..self.reply(pc.0, now) }
    }

    fn translate_store<S: EventSink>(
        &mut self,
        request: MemRequest,
        now: Cycle,
        _sink: &mut S,
    ) -> MemReply {
        MemReply { done: now + 1, ..self.reply(request.addr.0, now) }
    }

    fn access<S: EventSink>(&mut self, request: MemRequest, now: Cycle, _sink: &mut S) -> MemReply {
        self.accesses.push((request, now));
        let mut reply = self.reply(request.addr.0, now);
        let is_sent_to_all = matches!(
            request.kind,
            MemKind::Maintain(
                Maintenance::Tlb { broadcast: true, .. }
                    | Maintenance::InstAll { broadcast: true }
                    | Maintenance::InstByAddress
            )
        );
        if is_sent_to_all && self.synchronizes && !reply.outcome.has(AccessOutcome::FAULT) {
            reply.outcome.add(AccessOutcome::UNSYNCHRONIZED);
        }
        reply
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

/// Core with its memory and its counts.
struct Bench {
    pipeline: Pipeline,
    program: Program,
    memory: Recorder,
    counts: Counts,
    pc: u64,
}

impl Bench {
    fn new(memory: Recorder) -> Bench {
        Bench {
            pipeline: Pipeline::new(&config()),
            program: Program::new(),
            memory,
            counts: Counts::default(),
            pc: 0x40_0000,
        }
    }

    fn record(&mut self, word: u32, addr: Option<u64>) -> TraceInst {
        let id = self.program.intern(self.pc, word);
        let flags = if addr.is_some() { InstFlags::HAS_ADDR } else { InstFlags::default() };
        TraceInst { addr: addr.unwrap_or(0), id, flags }
    }

    fn run(&mut self, word: u32, addr: Option<u64>) -> &mut Bench {
        let inst = self.record(word, addr);
        self.pc += 4;
        let step = Step { inst, more: &[], next_pc: Some(self.pc) };
        self.pipeline.run_inst(&step, &mut self.program, &mut self.memory, &mut self.counts);
        self
    }

    /// Runs the instruction on a wrong path.
    fn run_squashed(&mut self, word: u32, addr: Option<u64>) -> &mut Bench {
        let inst = self.record(word, addr);
        let step = Step { inst, more: &[], next_pc: None };
        self.pipeline.run_squashed(&step, &mut self.program, &mut self.memory, &mut self.counts);
        self
    }

    fn value(&self, event: PmuEvent) -> u64 {
        self.counts.value(event)
    }
}

const A: u64 = 0x10_0000;
const B: u64 = 0x20_0000;
const C: u64 = 0x30_0000;

const STR_X1_X0: u32 = 0xF900_0001;
const STLR_X1_X0: u32 = 0xC89F_FC01;
const LDR_X3_X0: u32 = 0xF940_0003;
const LDAR_X3_X0: u32 = 0xC8DF_FC03;
const LDAPR_X3_X0: u32 = 0xF8BF_C003;
const DMB_ISH: u32 = 0xD503_3BBF;
const DMB_ISHST: u32 = 0xD503_3ABF;
const DSB_ISH: u32 = 0xD503_3B9F;
const DC_CVAC_X3: u32 = 0xD50B_7A23;
const DC_CISW_X3: u32 = 0xD508_7E43;
const IC_IVAU_X3: u32 = 0xD50B_7523;
const TLBI_VMALLE1: u32 = 0xD508_871F;
const TLBI_VAE1_X3: u32 = 0xD508_8723;
const TLBI_VMALLE1IS: u32 = 0xD508_831F;
const IC_IALLUIS: u32 = 0xD508_711F;
const DSB_ISHST: u32 = 0xD503_3A9F;
const DSB_NSH: u32 = 0xD503_379F;
const PRFM_X0: u32 = 0xF980_0000;
const NOP: u32 = 0xD503_201F;

fn slow(addr: u64) -> Recorder {
    Recorder { cycles: HashMap::from([(addr, 300)]), ..Recorder::default() }
}

#[test]
fn maintenance_is_performed_in_order_after_all_older_operations_have_retired() {
    let mut bench = Bench::new(slow(A));
    bench.run(LDR_X3_X0, Some(A)).run(DC_CVAC_X3, Some(B)).run(DC_CISW_X3, Some(0x42));
    let kinds = bench.memory.kinds();
    assert_eq!(
        kinds[1..],
        [
            MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Clean)),
            MemKind::Maintain(Maintenance::DataBySetWay(CacheOp::CleanInvalidate)),
        ]
    );
    let load_done = bench.memory.start(A) + 300;
    assert!(bench.memory.start(B) > load_done, "the older load has retired");
    assert!(bench.memory.start(0x42) > bench.memory.start(B));
}

#[test]
fn maintenance_on_a_wrong_path_or_without_its_operand_has_no_effect() {
    let mut bench = Bench::new(Recorder::default());
    bench.run_squashed(DC_CVAC_X3, Some(A)).run_squashed(TLBI_VMALLE1, None);
    bench.run(DC_CVAC_X3, None).run(TLBI_VAE1_X3, None).run(IC_IVAU_X3, None);
    assert_eq!(bench.memory.kinds(), []);
    assert_eq!(bench.value(PmuEvent::INST_SPEC), 5);
    bench.run(TLBI_VMALLE1, None);
    assert_eq!(bench.memory.kinds().len(), 1, "it needs no operand");
}

#[test]
fn only_a_data_synchronization_barrier_waits_for_maintenance() {
    let after = |barrier| {
        let mut bench = Bench::new(slow(A));
        bench.run(DC_CVAC_X3, Some(A)).run(barrier, None).run(LDR_X3_X0, Some(B));
        bench.memory.start(B).saturating_sub(bench.memory.start(A))
    };
    assert!(after(DSB_ISH) >= 300);
    assert!(after(NOP) < 50);
}

/// Memory in which maintenance of all cores takes time.
fn synchronizing() -> Recorder {
    Recorder { synchronizes: true, ..Recorder::default() }
}

/// Returns how often barriers synchronized maintenance.
fn synchronizations(bench: &Bench) -> usize {
    bench.memory.kinds().iter().filter(|kind| **kind == MemKind::Synchronize).count()
}

#[test]
fn the_first_barrier_after_maintenance_of_all_cores_synchronizes_it() {
    let after = |words: &[u32]| {
        let mut bench = Bench::new(synchronizing());
        words.iter().for_each(|word| {
            bench.run(*word, None);
        });
        synchronizations(&bench)
    };
    assert_eq!(after(&[DSB_ISH]), 0, "nothing to wait for");
    assert_eq!(after(&[TLBI_VMALLE1, DSB_ISH]), 0, "of this core alone");
    assert_eq!(after(&[TLBI_VMALLE1IS, DSB_ISH, DSB_ISH]), 1);
    assert_eq!(after(&[TLBI_VMALLE1IS, IC_IALLUIS, DSB_ISH]), 1, "once for both");
    assert_eq!(after(&[TLBI_VMALLE1IS, DSB_ISH, IC_IALLUIS, DSB_ISH]), 2);
    assert_eq!(after(&[TLBI_VMALLE1IS, DSB_ISHST, DSB_NSH, DMB_ISH]), 0, "of another kind");
    assert_eq!(after(&[TLBI_VMALLE1IS, DSB_ISHST, DSB_ISH]), 1);
}

#[test]
fn nothing_is_synchronized_that_was_not_sent() {
    let mut faulty = Bench::new(Recorder { faults: vec![A], ..synchronizing() });
    faulty.run(IC_IVAU_X3, Some(A)).run(DSB_ISH, None);
    assert_eq!(synchronizations(&faulty), 0, "the address has no translation");
    let mut untimed = Bench::new(Recorder::default());
    untimed.run(TLBI_VMALLE1IS, None).run(DSB_ISH, None);
    assert_eq!(synchronizations(&untimed), 0, "memory.dvm.sync=false");
}

#[test]
fn a_barrier_on_a_wrong_path_synchronizes_nothing() {
    let mut bench = Bench::new(synchronizing());
    bench.run(TLBI_VMALLE1IS, None).run_squashed(DSB_ISH, None);
    assert_eq!(synchronizations(&bench), 0);
    bench.run(DSB_ISH, None);
    assert_eq!(synchronizations(&bench), 1, "that of the correct path");
}

/// Requests without an address have 0, which is slow here: maintenance and its synchronization.
#[test]
fn a_barrier_completes_when_maintenance_in_all_cores_is_complete() {
    let mut bench = Bench::new(Recorder { synchronizes: true, ..slow(0) });
    bench.run(TLBI_VMALLE1IS, None).run(DSB_ISH, None).run(LDR_X3_X0, Some(B));
    let start = |kind| {
        let accesses = &bench.memory.accesses;
        accesses.iter().find(|(request, _)| request.kind == kind).expect("it was sent").1
    };
    let scope = TlbScope::Vmid { stage2: false };
    let operation = start(MemKind::Maintain(Maintenance::Tlb { scope, broadcast: true }));
    let sync = start(MemKind::Synchronize);
    // `DrainStores` at the barrier takes 300 cycles in this memory too.
    assert_eq!(sync - operation, 300 + 300);
    assert!(start(MemKind::Load) > sync + 300);
}

#[test]
fn a_faulting_access_aborts_on_the_correct_path_and_a_preload_never_does() {
    let faulty = || Recorder { faults: vec![A], ..Recorder::default() };
    let aborts =
        |bench: &Bench| (bench.value(PmuEvent::EXC_TAKEN), bench.value(PmuEvent::EXC_DABORT));
    for word in [LDR_X3_X0, STR_X1_X0, DC_CVAC_X3] {
        let mut bench = Bench::new(faulty());
        bench.run(word, Some(A));
        assert_eq!(aborts(&bench), (1, 1), "{word:08x}");
        assert_eq!(bench.value(PmuEvent::INST_RETIRED), 0);
        let mut bench = Bench::new(faulty());
        bench.run_squashed(word, Some(A));
        assert_eq!(aborts(&bench), (0, 0), "{word:08x} on a wrong path");
    }
    let mut bench = Bench::new(faulty());
    bench.run(PRFM_X0, Some(A));
    assert_eq!(aborts(&bench), (0, 0));
    assert_eq!(bench.value(PmuEvent::INST_RETIRED), 1);
}

#[test]
fn a_faulting_fetch_aborts_only_on_the_correct_path() {
    // T.EXC_PABORT.1, F.5.3.4: the instruction is not executed.
    let faulty = || Recorder { faults: vec![0x40_0000], ..Recorder::default() };
    let mut bench = Bench::new(faulty());
    bench.run(LDR_X3_X0, Some(A));
    let counted = [PmuEvent::EXC_TAKEN, PmuEvent::EXC_PABORT, PmuEvent::LD_SPEC];
    assert_eq!(counted.map(|event| bench.value(event)), [1, 1, 0]);
    assert_eq!(bench.memory.kinds(), []);
    let mut bench = Bench::new(faulty());
    bench.run_squashed(LDR_X3_X0, Some(A));
    assert_eq!(counted.map(|event| bench.value(event)), [0, 0, 0]);
}

#[test]
fn table_base_and_context_writes_count_by_name_and_level() {
    // T.TTBR_WRITE_RETIRED.1 to .6, T.CID_WRITE_RETIRED.1 and .2: decision A31
    let counted = |level, e2h, words: &[u32]| {
        let mut bench = Bench::new(Recorder::default());
        bench.pipeline.set_privilege(Privilege { level, e2h, tge: e2h, secure: false });
        for word in words {
            bench.run(*word, Some(A));
        }
        let tables = bench.value(PmuEvent::TTBR_WRITE_RETIRED);
        (tables, bench.value(PmuEvent::CID_WRITE_RETIRED))
    };
    const TTBR0_EL1: u32 = 0xD518_2003;
    const TTBR1_EL1: u32 = 0xD518_2023;
    const TTBR0_EL12: u32 = 0xD51D_2003;
    const TTBR1_EL12: u32 = 0xD51D_2023;
    const TTBR0_EL2: u32 = 0xD51C_2003;
    const READ_TTBR0_EL1: u32 = 0xD538_2003;
    const CONTEXTIDR_EL1: u32 = 0xD518_D023;
    const CONTEXTIDR_EL2: u32 = 0xD51C_D023;
    const READ_CONTEXTIDR_EL1: u32 = 0xD538_D023;
    assert_eq!(counted(1, false, &[TTBR0_EL1, TTBR1_EL1]), (2, 0));
    assert_eq!(counted(2, true, &[TTBR0_EL1]), (1, 0));
    assert_eq!(counted(2, true, &[TTBR0_EL12, TTBR1_EL12]), (2, 0));
    assert_eq!(counted(1, false, &[READ_TTBR0_EL1, READ_CONTEXTIDR_EL1]), (0, 0));
    assert_eq!(counted(2, false, &[TTBR0_EL2]), (0, 0));
    assert_eq!(counted(1, false, &[CONTEXTIDR_EL1]), (0, 1));
    assert_eq!(counted(2, true, &[CONTEXTIDR_EL2]), (0, 0));
    let mut bench = Bench::new(Recorder::default());
    bench.pipeline.set_privilege(Privilege { level: 1, ..Privilege::default() });
    bench.run_squashed(TTBR0_EL1, Some(A)).run_squashed(CONTEXTIDR_EL1, Some(A));
    assert_eq!(bench.value(PmuEvent::TTBR_WRITE_RETIRED), 0);
    assert_eq!(bench.value(PmuEvent::CID_WRITE_RETIRED), 0);
}

#[test]
fn clrex_and_a_failed_store_exclusive_clear_the_monitor() {
    const CLREX: u32 = 0xD503_3F5F;
    const STXR_W1_X2_X0: u32 = 0xC801_7C02;
    let mut bench = Bench::new(Recorder::default());
    bench.run_squashed(CLREX, None);
    assert_eq!(bench.memory.kinds(), []);
    bench.run(CLREX, None);
    assert_eq!(bench.memory.kinds(), [MemKind::ClearExclusive]);
    let mut inst = bench.record(STXR_W1_X2_X0, Some(A));
    inst.flags = inst.flags.with(InstFlags::EXCLUSIVE_FAILED);
    let step = Step { inst, more: &[], next_pc: None };
    bench.pipeline.run_inst(&step, &mut bench.program, &mut bench.memory, &mut bench.counts);
    assert_eq!(bench.memory.kinds(), [MemKind::ClearExclusive; 2]);
}

#[test]
fn trace_flags_of_an_access_apply_to_any_instruction() {
    // Only a damaged trace has such flags for a plain store or load.
    let mut bench = Bench::new(Recorder::default());
    let mut store = bench.record(STR_X1_X0, Some(A));
    store.flags = store.flags.with(InstFlags::EXCLUSIVE_FAILED);
    let mut load = bench.record(LDR_X3_X0, Some(A));
    load.flags = load.flags.with_further(1);
    for (inst, more) in [(store, &[][..]), (load, &[A + 1][..])] {
        let step = Step { inst, more, next_pc: None };
        bench.pipeline.run_inst(&step, &mut bench.program, &mut bench.memory, &mut bench.counts);
    }
    assert_eq!(bench.memory.kinds(), [MemKind::ClearExclusive, MemKind::Load]);
    assert_eq!(bench.value(PmuEvent::UNALIGNED_LD_SPEC), 1);
}

#[test]
fn a_load_acquire_delays_younger_accesses_and_a_plain_load_does_not() {
    let gap = |load| {
        let mut bench = Bench::new(slow(A));
        bench.run(load, Some(A)).run(LDR_X3_X0, Some(B));
        bench.memory.start(B).saturating_sub(bench.memory.start(A))
    };
    for load in [LDAR_X3_X0, LDAPR_X3_X0] {
        assert!(gap(load) >= 300);
    }
    assert!(gap(LDR_X3_X0) < 20);
}

#[test]
fn a_store_release_leaves_after_all_older_accesses_are_done() {
    let gap = |older, store| {
        let mut bench = Bench::new(slow(A));
        bench.run(older, Some(A)).run(store, Some(B));
        bench.memory.start(B) - bench.memory.start(A)
    };
    assert!(gap(STR_X1_X0, STLR_X1_X0) >= 300, "the older store is in the cache");
    assert!(gap(LDR_X3_X0, STLR_X1_X0) >= 300, "the older load has its data");
    assert!(gap(STR_X1_X0, STR_X1_X0) < 20, "plain stores overlap");
}

#[test]
fn a_load_acquire_waits_for_an_older_store_release_unless_it_is_processor_consistent() {
    let gap = |load| {
        let mut bench = Bench::new(slow(A));
        bench.run(STLR_X1_X0, Some(A)).run(load, Some(B));
        bench.memory.start(B).saturating_sub(bench.memory.start(A))
    };
    assert!(gap(LDAR_X3_X0) >= 300);
    assert!(gap(LDAPR_X3_X0) < 20);
    assert!(gap(LDR_X3_X0) < 20);
}

#[test]
fn a_store_barrier_orders_stores_but_not_loads() {
    let gaps = |barrier| {
        let mut bench = Bench::new(slow(A));
        bench.run(STR_X1_X0, Some(A)).run(barrier, None);
        bench.run(LDR_X3_X0, Some(B)).run(STR_X1_X0, Some(C));
        let start = bench.memory.start(A);
        (bench.memory.start(B).saturating_sub(start), bench.memory.start(C) - start)
    };
    let (load, store) = gaps(DMB_ISHST);
    assert!(load < 20 && store >= 300, "{load} {store}");
    let (load, store) = gaps(DMB_ISH);
    assert!(load >= 300 && store >= 300, "{load} {store}");
    let (load, store) = gaps(NOP);
    assert!(load < 20 && store < 20, "{load} {store}");
}

#[test]
fn a_request_contains_register_width_exclusiveness_and_tag_use() {
    let request = |word| {
        let mut bench = Bench::new(Recorder::default());
        bench.run(word, Some(A));
        bench.memory.accesses[0].0
    };
    let pair = request(0xA940_0440); // ldp x0, x1, [x2]
    assert_eq!((pair.bytes, pair.element_bytes), (16, 8));
    let quad = request(0x3DC0_0040); // ldr q0, [x2]
    assert_eq!((quad.bytes, quad.element_bytes), (16, 16));
    assert!(request(0xC85F_7C40).exclusive, "ldxr x0, [x2]");
    assert!(!pair.exclusive);
    assert_eq!(request(0xF940_07E0).tags, TagUse::Unchecked, "ldr x0, [sp, #8]");
    assert_eq!(request(0xD920_0800).tags, TagUse::Writes, "stg x0, [x0]");
}
