//! The pipeline: cycles of small loops against published measurements and GCC's model of the core,
//! the causes of lost slots, and the events at retirement.
//!
//! The words are those that GNU as 2.40 assembles.

use std::sync::LazyLock;

use proptest::prelude::*;
use sim_a53::bench::run_loop;
use sim_a53::cluster::EMBEDDED;
use sim_a53::slots::LostTo;
use sim_a53::{A53Config, A53CoreOutcome, A53Event};
use sim_core::config::Document;

/// Address of the data.
const DATA: u64 = 0x50_0000;
/// Repetitions of a body within a loop.
const COPIES: usize = 16;

const NOP: u32 = 0xd503_201f;
const ADD: u32 = 0x8b02_0020; // add x0, x1, x2
const ADD_OTHER: u32 = 0x8b05_0083; // add x3, x4, x5
const ADD_CHAIN: u32 = 0x8b01_0000; // add x0, x0, x1
const ADD_TO_ADDRESS: u32 = 0x8b00_0021; // add x1, x1, x0
const SHIFTED_CHAIN: u32 = 0x8b00_0c20; // add x0, x1, x0, lsl #3
const SHIFT_CHAIN: u32 = 0x9ac1_2000; // lsl x0, x0, x1
const MUL: u32 = 0x9b01_7c00; // mul x0, x0, x1
const SMULL: u32 = 0x9b21_7c00; // smull x0, w0, w1
const UMULH: u32 = 0x9bc1_7c00; // umulh x0, x0, x1
const LDR_CHAIN: u32 = 0xf940_0000; // ldr x0, [x0]
const LDR_W_CHAIN: u32 = 0xb940_0000; // ldr w0, [x0]
const LDR: u32 = 0xf940_0023; // ldr x3, [x1]
const LDR_OTHER: u32 = 0xf940_0044; // ldr x4, [x2]
const LDR_FROM_CHAIN: u32 = 0xf940_0006; // ldr x6, [x0]
const LDR_Q: u32 = 0x3dc0_0025; // ldr q5, [x1]
const LDP: u32 = 0xa940_1023; // ldp x3, x4, [x1]
const STR: u32 = 0xf900_0043; // str x3, [x2]
const FADD_CHAIN: u32 = 0x1e61_2800; // fadd d0, d0, d1
const FADD: u32 = 0x1e64_2862; // fadd d2, d3, d4
const FADD_Q: u32 = 0x4e24_d462; // fadd v2.4s, v3.4s, v4.4s
const FMLA: u32 = 0x4e22_cc20; // fmla v0.4s, v1.4s, v2.4s
const FMADD_SUM: u32 = 0x1f42_0020; // fmadd d0, d1, d2, d0
const FMADD: u32 = 0x1f41_0800; // fmadd d0, d0, d1, d2
const CMP: u32 = 0xeb02_003f; // cmp x1, x2
const B_EQ: u32 = 0x5400_0040; // b.eq .+8
const DMB: u32 = 0xd503_3bbf; // dmb ish

/// A loop of words, all of which access the same address.
struct Loop {
    words: Vec<u32>,
    data: u64,
}

impl Loop {
    /// Returns a loop of [`COPIES`] times this body, closed by a branch.
    fn of(body: &[u32]) -> Loop {
        let mut words = body.repeat(COPIES);
        let back = (words.len() as u32).wrapping_neg() & 0x03ff_ffff;
        words.push(0x1400_0000 | back);
        Loop { words, data: DATA }
    }

    /// Runs the loop `rounds` times.
    fn run(&self, rounds: usize) -> A53CoreOutcome {
        run_loop(&config(), &self.words, |_| self.data, rounds)
    }

    /// Returns the cycles of one body, without those of the first rounds.
    fn cycles(&self) -> f64 {
        let (short, long) = (self.run(100).cycles, self.run(300).cycles);
        (long - short) as f64 / (200 * COPIES) as f64
    }
}

fn config() -> A53Config {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    A53Config::from_document(&document).unwrap_or_else(|error| panic!("{error}"))
}

/// Given a loop of these words, when it runs from the L1 caches, then a body takes these cycles,
/// within the share of the loop's branch.
#[test]
fn bodies_take_the_published_cycles() {
    let cases: [(&str, &[u32], f64); 37] = [
        ("two nops issue together (IB 1.99 per cycle)", &[NOP, NOP], 1.0),
        ("two independent additions issue together (IB)", &[ADD, ADD_OTHER], 1.0),
        ("a chain of additions (IB 1.00)", &[ADD_CHAIN], 1.0),
        ("a chain of shifted additions (IB 2.01)", &[SHIFTED_CHAIN], 2.0),
        ("a chain of shifts by register (IB 1.00)", &[SHIFT_CHAIN], 1.0),
        ("MUL X (IB 4)", &[MUL], 4.0),
        ("SMULL (IB 3)", &[SMULL], 3.0),
        ("UMULH (IB 6)", &[UMULH], 6.0),
        ("load-to-use of X (IB 3.01, sbc-bench 3.0)", &[LDR_CHAIN], 3.0),
        ("load-to-use of W (IB 4, sbc-bench 4.0)", &[LDR_W_CHAIN], 4.0),
        ("two loads: one address unit (IB)", &[LDR, LDR_OTHER], 2.0),
        ("a load and a store: one address unit (IB)", &[LDR, STR], 2.0),
        ("a load and an addition issue together (GCC)", &[LDR, ADD], 1.0),
        ("LDP X takes two cycles (GCC, IB)", &[LDP], 2.0),
        ("LDR Q takes two cycles (qsdr)", &[LDR_Q], 2.0),
        ("an addition whose result is stored (GCC: distance 0)", &[0x8b02_0023, STR], 1.0),
        (
            "a load, an addition, an address (GCC: distances 2 and 3)",
            &[ADD_TO_ADDRESS, 0xf940_0020],
            5.0,
        ),
        ("a chain of FADD (IB 4)", &[FADD_CHAIN], 4.0),
        ("two scalar FADD issue together (IB 1.99 per cycle)", &[FADD, 0x1e67_28c5], 1.0),
        ("two FADD of 128 bits (IB 1 per cycle)", &[FADD_Q, 0x4e27_d4c5], 2.0),
        ("a full vector addition, then a load of X (qsdr)", &[FADD_Q, LDR], 1.0),
        ("accumulation by FMLA (IB 4)", &[FMLA], 4.0),
        ("accumulation by FMADD (IB 4)", &[FMADD_SUM], 4.0),
        ("a chain of FMADD through a factor (IB 8)", &[FMADD], 8.0),
        (
            "a comparison and its branch issue together (GCC, qsdr)",
            &[CMP, 0x5400_0001 | 1 << 5],
            1.0,
        ),
        ("a full vector addition and a load of D (qsdr)", &[FADD_Q, 0xfd40_0026], 2.0),
        ("one shift by register per cycle (IB)", &[0x9ac2_2023, 0x9ac2_2024], 2.0),
        // neg x0, x0, lsl #3
        ("a chain of shifted negations (IB 2.01)", &[0xcb00_0fe0], 2.0),
        // ldp x0, x1, [x0] and ldp x1, x0, [x0]
        ("the first register of a pair to an address (measured 3)", &[0xa940_0400], 3.0),
        ("the second register of a pair to an address (measured 4)", &[0xa940_0001], 4.0),
        // ldp w3, w4, [x1]
        ("a load of two words (IB 0.33 a cycle)", &[0x2940_1023], 3.0),
        // ldpsw x3, x4, [x1]
        ("a load of two signed words (IB 0.33 a cycle)", &[0x6940_1023], 3.0),
        // aese v0.16b, v1.16b, aesmc v0.16b, v0.16b
        ("a dependent round of AES (sbc-bench 3.25)", &[0x4e28_4820, 0x4e28_6800], 3.0),
        // fdiv s0, s0, s1, fmadd s0, s1, s1, s0
        ("a division, accumulated (GCC 18 - 3 + 8)", &[0x1e21_1800, 0x1f01_0020], 23.0),
        // mla v0.4s, v1.4s, v2.4s
        ("accumulation of integer products (IB 1)", &[0x4ea2_9420], 1.0),
        // addp v0.4s, v0.4s, v1.4s
        ("a chain of ADDP (IB 3)", &[0x4ea1_bc00], 3.0),
        // scvtf d0, x1, fcvtzs x1, d0
        ("to floating point and back (GCC 4 and 5)", &[0x9e62_0020, 0x9e78_0001], 9.0),
    ];
    let mut wrong = Vec::new();
    for (title, body, expected) in cases {
        let cycles = Loop::of(body).cycles();
        // The branch that closes the loop is one of many instructions.
        if (cycles - expected).abs() > 1.5 / COPIES as f64 {
            wrong.push(format!("{title}: {cycles:.2} cycles, {expected} expected"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Given chains of vector operations, and operations on other registers each, then each takes the
/// cycles that insn_bench measured.
#[test]
fn vector_operations_take_the_measured_cycles() {
    let cases: [(&str, u32, f64, u32, f64); 9] = [
        ("and v.16b", 0x4e21_1c00, 1.0, 0x4e35_1e80, 1.0),
        ("saddl v.4s", 0x0e61_0000, 3.0, 0x0e75_0280, 1.0),
        ("raddhn v.4h", 0x2e61_4000, 4.0, 0x2e75_4280, 2.0),
        ("smaxv s", 0x4eb0_a800, 4.0, 0x4eb0_aa80, 1.0),
        ("saba v.4s", 0x4ea1_7c00, 4.0, 0x4eb5_7e80, 2.0),
        ("shrn v.4h", 0x0f1e_8400, 2.0, 0x0f1e_8680, 0.5),
        ("tbl v.16b of two registers", 0x4e00_2380, 3.0, 0x4e14_2380, 2.0),
        ("frecps d", 0x5e61_fc00, 8.0, 0x5e75_fe80, 0.5),
        ("fcmeq v.4s", 0x4e21_e400, 2.0, 0x4e35_e680, 1.0),
    ];
    for (title, chained, latency, word, each) in cases {
        let chain = Loop::of(&[chained]).cycles();
        assert!((chain - latency).abs() < 0.1, "{title}: {chain:.2}, {latency} expected");
        // The destination is in the low bits.
        let others: Vec<u32> = (0..4).map(|register| word + register).collect();
        let rate = Loop::of(&others).cycles() / 4.0;
        assert!((rate - each).abs() < 0.1, "{title}: {rate:.2} each, {each} expected");
    }
}

/// Given a chain of loads from one unaligned word, then each takes two cycles more (IB 5).
#[test]
fn an_unaligned_load_takes_five_cycles() {
    let chain = Loop { data: DATA + 1, ..Loop::of(&[LDR_CHAIN]) };
    assert!((chain.cycles() - 5.0).abs() < 0.1, "{}", chain.cycles());
    let pair = Loop { data: DATA + 1, ..Loop::of(&[LDR, ADD]) };
    assert!((pair.cycles() - 2.0).abs() < 0.1, "two cycles each (IB): {}", pair.cycles());
    let counts = chain.run(10).counts;
    assert_eq!(counts.value(A53Event::UNALIGNED_LDST_RETIRED), 10 * COPIES as u64);
}

/// Every wait has its cause: the event of the cause counts nearly all cycles without an issue.
#[test]
fn interlocks_are_counted_by_cause() {
    // fadd d0, d0, d1, str d0, [x2]: a store that waits for vector data.
    let stored = Loop::of(&[FADD_CHAIN, 0xfd00_0040]).run(1000).counts;
    assert!(stored.value(A53Event::SIMD_DEP_STALL) > 30_000);
    assert!(stored.value(A53Event::OTHER_INTERLOCK_STALL) < 100);
    let causes = [
        (MUL, A53Event::OTHER_INTERLOCK_STALL, LostTo::OtherInterlock),
        (FMADD, A53Event::SIMD_DEP_STALL, LostTo::SimdInterlock),
        (LDR_CHAIN, A53Event::AGU_DEP_STALL, LostTo::AddressInterlock),
    ];
    let events =
        [A53Event::OTHER_INTERLOCK_STALL, A53Event::SIMD_DEP_STALL, A53Event::AGU_DEP_STALL];
    for (word, event, cause) in causes {
        let run = Loop::of(&[word]).run(1000);
        let stalls = run.counts.value(event);
        let idle = run.cycles - run.instructions;
        assert!(stalls * 10 > idle * 9, "{event:?}: {stalls} of {idle}");
        assert!(run.slots.lost(cause) >= 2 * stalls, "each of these cycles loses two slots");
        for other in events.into_iter().filter(|other| *other != event) {
            assert!(run.counts.value(other) < idle / 10, "{event:?}: {other:?}");
        }
    }
}

/// Given a load of a producer that misses, when younger work follows, then write-back is held, and
/// its cycles count as LD_DEP_STALL (manual 12.9, 0xE7) and not as an interlock.
#[test]
fn a_load_miss_holds_write_back() {
    let run = Loop { data: DATA, ..Loop::of(&[LDR, ADD]) }.run(1);
    let held = run.counts.value(A53Event::LD_DEP_STALL);
    assert!(held > 50, "the first access goes to memory: {held}");
    assert!(run.slots.lost(LostTo::LoadMiss) > held, "most of these cycles issue nothing");
}

/// A barrier waits until the store buffer is empty (manual 12.9, 0xE8).
#[test]
fn a_barrier_holds_write_back() {
    let run = Loop::of(&[STR, DMB]).run(100);
    assert!(run.counts.value(A53Event::ST_DEP_STALL) > 0);
    assert!(run.slots.lost(LostTo::Store) > 0);
}

/// Given loads of one page, when `TLBI VMALLE1`, which has no operand, runs between them, then each
/// load refills the micro-TLB again (manual 5.2.1).
#[test]
fn maintenance_without_an_operand_is_performed() {
    let rounds = 20;
    let refills = |body: &[u32]| {
        let run = run_loop(&config(), &[body, &[0x17ff_fffe]].concat(), |_| DATA, rounds);
        run.counts.value(A53Event::L1D_TLB_REFILL)
    };
    assert_eq!(refills(&[LDR]), 1);
    assert_eq!(refills(&[LDR, 0xd508_871f]), rounds as u64);
}

/// The exact counts at retirement.
#[test]
fn instructions_are_counted_by_kind_when_they_retire() {
    let rounds = 50;
    let run = Loop::of(&[LDR, STR, ADD, LDP]).run(rounds);
    let each = (rounds * COPIES) as u64;
    let counts = &run.counts;
    assert_eq!(counts.value(A53Event::LD_RETIRED), 2 * each);
    assert_eq!(counts.value(A53Event::ST_RETIRED), each);
    assert_eq!(counts.value(A53Event::INST_RETIRED), 4 * each + rounds as u64);
    assert_eq!(counts.value(A53Event::BR_IMMED_RETIRED), rounds as u64);
    assert_eq!(counts.value(A53Event::PC_WRITE_RETIRED), rounds as u64);
    assert_eq!(counts.value(A53Event::BR_RETURN_RETIRED), 0);
    assert_eq!(counts.value(A53Event::UNALIGNED_LDST_RETIRED), 0);
}

/// A conditional branch that is not taken does not write the PC: its condition failed.
#[test]
fn an_untaken_branch_is_immediate_and_writes_no_pc() {
    let rounds = 50;
    // `b.eq` to the next instruction but one, and a `nop` there: never taken.
    let run = Loop::of(&[B_EQ, NOP]).run(rounds);
    let each = (rounds * COPIES) as u64;
    assert_eq!(run.counts.value(A53Event::BR_IMMED_RETIRED), each + rounds as u64);
    assert_eq!(run.counts.value(A53Event::PC_WRITE_RETIRED), rounds as u64);
    assert_eq!(run.counts.value(A53Event::BR_COND), each);
    assert_eq!(run.counts.value(A53Event::BR_PRED), each + rounds as u64);
}

const WORDS: [u32; 30] = [
    NOP,
    ADD,
    ADD_OTHER,
    ADD_CHAIN,
    ADD_TO_ADDRESS,
    SHIFTED_CHAIN,
    SHIFT_CHAIN,
    MUL,
    SMULL,
    UMULH,
    LDR_CHAIN,
    LDR_W_CHAIN,
    LDR,
    LDR_OTHER,
    LDR_FROM_CHAIN,
    LDR_Q,
    LDP,
    STR,
    FADD_CHAIN,
    FADD,
    FADD_Q,
    FMLA,
    FMADD_SUM,
    FMADD,
    CMP,
    B_EQ,
    DMB,
    0x1ac1_0800,
    0xd280_0020,
    0x9100_2060,
];

/// Returns how many random programs run: 200, or `N2SIM_RANDOM_PROGRAMS`.
fn random_programs() -> u32 {
    let number = std::env::var("N2SIM_RANDOM_PROGRAMS").ok();
    number.map_or(200, |number| number.parse().expect("N2SIM_RANDOM_PROGRAMS is a number"))
}

/// Checks what the events of one run owe each other.
fn check_identities(run: &A53CoreOutcome) -> Result<(), TestCaseError> {
    let count = |event: A53Event| run.counts.value(event);
    let lost = |cause: LostTo| run.slots.lost(cause);
    let reads_and_writes = count(A53Event::BUS_ACCESS_LD) + count(A53Event::BUS_ACCESS_ST);
    prop_assert_eq!(count(A53Event::BUS_ACCESS), reads_and_writes);
    prop_assert_eq!(count(A53Event::CPU_CYCLES), run.cycles);
    prop_assert_eq!(count(A53Event::BUS_CYCLES), run.cycles);
    prop_assert_eq!(count(A53Event::INST_RETIRED), run.instructions);
    prop_assert!(count(A53Event::MEM_ACCESS) <= count(A53Event::L1D_CACHE));
    prop_assert!(count(A53Event::L2D_CACHE_REFILL) <= count(A53Event::L2D_CACHE));
    prop_assert!(count(A53Event::BR_COND_MISPRED) <= count(A53Event::BR_COND));
    // A cycle without an issue loses both slots to the cause of its event.
    let causes = [
        (A53Event::OTHER_IQ_DEP_STALL, LostTo::FrontEnd),
        (A53Event::IC_DEP_STALL, LostTo::InstCache),
        (A53Event::IUTLB_DEP_STALL, LostTo::InstTlb),
        (A53Event::OTHER_INTERLOCK_STALL, LostTo::OtherInterlock),
        (A53Event::AGU_DEP_STALL, LostTo::AddressInterlock),
        (A53Event::SIMD_DEP_STALL, LostTo::SimdInterlock),
    ];
    for (event, cause) in causes {
        prop_assert!(2 * count(event) <= lost(cause), "{:?}", event);
    }
    // In the others, one slot of a cycle that issues is lost.
    let interlocks = causes[3..].iter().map(|(event, cause)| lost(*cause) - 2 * count(*event));
    prop_assert!(interlocks.sum::<u64>() <= run.instructions);
    Ok(())
}

/// The defaults, and each with a cost left out.
static IDEALS: LazyLock<Vec<A53Config>> = LazyLock::new(|| {
    let settings = [
        "pipeline.dual-issue=true",
        "memory.ideal.data=beyond-l1",
        "memory.ideal.data=beyond-l2",
        "memory.ideal.translation=true",
        "memory.ideal.store-buffer=true",
        "pipeline.ideal.prediction=true",
        "pipeline.ideal.fetch=true",
        "pipeline.ideal.latency=true",
        "pipeline.ideal.issue=true",
    ];
    let with = |settings: &[&str]| {
        let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
        let set = |document: Document, setting: &&str| document.set(setting).expect("a key");
        A53Config::from_document(&settings.iter().fold(document, set)).expect("a core")
    };
    let mut configs: Vec<A53Config> = settings.iter().map(|setting| with(&[setting])).collect();
    configs.push(with(&settings));
    configs
});

/// Checks that every slot of every cycle is issued or lost to one cause, and what events owe each
/// other.
fn check_slots(run: &A53CoreOutcome) -> Result<(), TestCaseError> {
    prop_assert_eq!(run.slots.total(), 2 * run.cycles);
    prop_assert_eq!(run.slots.issued, run.instructions);
    prop_assert!(2 * run.two_retired <= run.instructions);
    let stalls = [
        A53Event::OTHER_IQ_DEP_STALL,
        A53Event::IC_DEP_STALL,
        A53Event::IUTLB_DEP_STALL,
        A53Event::OTHER_INTERLOCK_STALL,
        A53Event::AGU_DEP_STALL,
        A53Event::SIMD_DEP_STALL,
    ];
    let stalled: u64 = stalls.iter().map(|event| run.counts.value(*event)).sum();
    let issuing = run.instructions - run.two_retired;
    prop_assert!(stalled + issuing <= run.cycles);
    check_identities(run)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(random_programs()))]

    /// Every slot of every cycle is issued or lost to one cause, whatever the program, the
    /// addresses and the cost that is left out; no cycle has more than two instructions.
    #[test]
    fn the_slots_tile_the_cycles(
        body in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..12),
        offset in 0u64..128,
        rounds in 1usize..20,
    ) {
        let program = Loop { data: DATA + offset, ..Loop::of(&body) };
        for config in IDEALS.iter() {
            check_slots(&run_loop(config, &program.words, |_| program.data, rounds))?;
        }
    }
}
