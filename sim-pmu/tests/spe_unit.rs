//! Profiling unit compared with a plain second model. Random programs of operations, register
//! accesses, levels and barriers must lead to the same registers, counts and sampled operations.

use proptest::prelude::*;
use sim_core::{
    AccessKind, AccessOutcome, AccessShape, BranchCourse, Counts, OpTimeline, Operation,
    OperationKind, PmuEvent, Privilege,
};
use sim_pmu::spe::{SampleOutcome, Spe, SpeConfig, SpeRegister};
use sim_pmu::{AccessError, ExceptionLevel};

use crate::spe_reference::{Plain, RANDOM};

/// Step of a random program.
#[derive(Clone, Debug)]
enum Act {
    Operation(Op),
    Write(usize, u64),
    Level(u8, bool, bool, bool),
    Mdcr(u64, u64),
    Barrier,
}

/// Relevant properties of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) mops: u8,
    /// Kind: 0 other, 1 load, 2 store, 3 atomic with result, 4 atomic without result, 5 branch.
    pub(crate) kind: u8,
    pub(crate) retired: bool,
    pub(crate) exception: bool,
    pub(crate) gap: u64,
    pub(crate) latency: u64,
    pub(crate) refill: bool,
    pub(crate) walk: bool,
    pub(crate) mispredicted: bool,
}

fn operation(op: &Op, now: u64, privilege: Privilege) -> Operation {
    let access = |kind| {
        OperationKind::Access(AccessShape {
            kind,
            exclusive: false,
            ordered: false,
            aligned: true,
            scattered: false,
            bytes: 8,
        })
    };
    let mut outcome = AccessOutcome::default();
    if op.refill {
        outcome.add(AccessOutcome::L1_REFILL);
    }
    if op.walk {
        outcome.add(AccessOutcome::WALK);
    }
    Operation {
        timeline: OpTimeline {
            pc: 0x1000,
            addr: 0x8000,
            rename: now,
            issue: now + op.latency / 2,
            complete: now + op.latency,
            retire: now + op.latency + 1,
            retired: op.retired,
            mispredicted: op.mispredicted && op.kind == 5,
            mops: op.mops,
            outcome,
            translation_cycles: 1,
            ..OpTimeline::default()
        },
        privilege,
        exception: op.exception,
        kind: match op.kind {
            1 => access(AccessKind::Load),
            2 => access(AccessKind::Store),
            3 => access(AccessKind::AtomicSwap),
            4 => access(AccessKind::AtomicStore),
            5 => OperationKind::Branch(BranchCourse { taken: true, ..BranchCourse::default() }),
            _ => OperationKind::Other,
        },
        ..Operation::default()
    }
}

fn op() -> impl Strategy<Value = Op> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (1u8..4, 0u8..6, 0u8..8, 0u64..4, 0u64..60, flags).prop_map(
        |(mops, kind, end, gap, latency, (refill, walk, mispredicted))| Op {
            mops,
            kind,
            retired: end > 1,
            exception: end == 1,
            gap,
            latency,
            refill: refill && (1..5).contains(&kind),
            walk: walk && (1..5).contains(&kind),
            mispredicted,
        },
    )
}

/// Values for register writes, mostly those with an effect.
fn value(register: usize) -> BoxedStrategy<u64> {
    let name = SpeRegister::all().nth(register).expect("a register").name();
    match name {
        "PMSICR_EL1" => prop_oneof![Just(0), 0u64..20, any::<u64>()].boxed(),
        "PMSIRR_EL1" => prop_oneof![Just(0u64), Just(0x100), Just(0x101), any::<u64>()].boxed(),
        "PMSLATFR_EL1" => (0u64..60).boxed(),
        "PMBLIMITR_EL1" => prop_oneof![Just(0x1_1001u64), Just(0x2_0001), any::<u64>()].boxed(),
        "PMBPTR_EL1" => prop_oneof![
            (0u64..64).prop_map(|n| 0x1_0000 + 64 * n),
            (0u64..0x1000).prop_map(|n| 0x1_0000 + n),
            any::<u64>()
        ]
        .boxed(),
        "PMBSR_EL1" => prop_oneof![Just(0u64), any::<u64>()].boxed(),
        _ => prop_oneof![Just(3u64), 0u64..8, any::<u64>()].boxed(),
    }
}

fn act() -> impl Strategy<Value = Act> {
    let write = (0usize..13).prop_flat_map(|n| value(n).prop_map(move |v| Act::Write(n, v)));
    let level = (0u8..4, any::<bool>(), any::<bool>(), any::<bool>())
        .prop_map(|(level, e2h, tge, secure)| Act::Level(level, e2h, tge, secure));
    let mdcr = (0u64..4, 0u64..4, any::<bool>())
        .prop_map(|(nspb, e2pb, tpms)| Act::Mdcr(nspb << 12, e2pb << 12 | u64::from(tpms) << 14));
    prop_oneof![
        30 => op().prop_map(Act::Operation),
        8 => write,
        3 => level,
        2 => mdcr,
        1 => Just(Act::Barrier),
    ]
}

fn config() -> impl Strategy<Value = SpeConfig> {
    (0u32..4, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(samples_in_flight, population_wrong_path, record_wrong_path, random_after_interval)| {
            SpeConfig {
                samples_in_flight,
                population_wrong_path,
                record_wrong_path,
                random_after_interval,
                ..SpeConfig::default()
            }
        },
    )
}

/// Both models side by side.
struct Pair {
    unit: Spe,
    plain: Plain,
    counts: Counts,
    now: u64,
    privilege: Privilege,
}

impl Pair {
    /// Enables profiling of the whole non-secure state, every few operations, into a small buffer.
    fn new(config: &SpeConfig) -> Pair {
        let mut pair = Pair {
            unit: Spe::new(config, 0),
            plain: Plain::new(config),
            counts: Counts::default(),
            now: 0,
            privilege: Privilege { level: 3, ..Privilege::default() },
        };
        pair.unit.set_random(RANDOM.to_vec());
        pair.unit.keep_sampled_ops();
        pair.act(&Act::Level(3, false, false, false));
        pair.act(&Act::Mdcr(0b11 << 12, 0b11 << 12));
        let programmed = [("PMSCR_EL1", 3), ("PMSCR_EL2", 3), ("PMBPTR_EL1", 0x1_0000)];
        for (name, value) in programmed.into_iter().chain([("PMBLIMITR_EL1", 0x1_1001)]) {
            let n = SpeRegister::all().position(|register| register.name() == name);
            pair.act(&Act::Write(n.expect("a register"), value));
        }
        pair.act(&Act::Level(0, false, false, false));
        pair
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Operation(op) => {
                self.now += op.gap;
                self.plain.operation(op, self.now, self.privilege);
                let operation = operation(op, self.now, self.privilege);
                self.unit.operation(&operation, &mut self.counts);
            }
            Act::Write(n, value) => {
                let register = SpeRegister::all().nth(*n).expect("a register");
                let done = self.unit.msr(register, *value);
                assert_eq!(done, self.plain.msr(register.name(), *value), "{register:?}");
            }
            Act::Level(level, e2h, tge, secure) => {
                let (e2h, tge, secure) = (*e2h, *tge && *e2h, *secure);
                self.privilege = Privilege { level: *level, e2h, tge, secure };
                self.unit.set_privilege(self.privilege);
                self.plain.set_privilege(self.privilege);
            }
            Act::Mdcr(el3, el2) => {
                self.unit.set_mdcr_el3(*el3);
                self.plain.set_mdcr_el3(*el3);
                self.unit.set_mdcr_el2(*el2);
                self.plain.set_mdcr_el2(*el2);
            }
            Act::Barrier => {
                self.unit.synchronize(&mut self.counts);
                self.plain.advance(u64::MAX);
            }
        }
    }

    /// Compares everything that software and the PMU observe.
    fn compare(&self) -> Result<(), TestCaseError> {
        for register in SpeRegister::all() {
            let read = self.unit.mrs(register);
            prop_assert_eq!(read, self.plain.mrs(register.name()), "{:?}", register);
        }
        let raised = [
            PmuEvent::SAMPLE_POP,
            PmuEvent::SAMPLE_FEED,
            PmuEvent::SAMPLE_FILTRATE,
            PmuEvent::SAMPLE_COLLISION,
        ]
        .map(|event| self.counts.value(event));
        prop_assert_eq!(raised, self.plain.raised);
        let sampled_ops = self.unit.sampled_ops().iter().map(|op| (op.number, op.outcome));
        prop_assert_eq!(sampled_ops.collect::<Vec<_>>(), self.plain.sampled_ops.clone());
        prop_assert_eq!(self.unit.interrupt(), self.plain.status >> 17 & 1 == 1);
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_programs_agree_with_the_plain_model(
        config in config(), acts in prop::collection::vec(act(), 1..200),
    ) {
        let mut pair = Pair::new(&config);
        for act in &acts {
            pair.act(act);
            pair.compare()?;
        }
    }
}

/// Every expiry of the interval is a feed or a collision. The unit's own tests cover the filters.
#[test]
fn interval_expiries_are_feeds_and_collisions() {
    let mut pair = Pair::new(&SpeConfig { samples_in_flight: 1, ..SpeConfig::default() });
    let slow = Op {
        mops: 1,
        kind: 1,
        retired: true,
        exception: false,
        gap: 1,
        latency: 40,
        refill: true,
        walk: false,
        mispredicted: false,
    };
    for _ in 0..400 {
        pair.act(&Act::Operation(slow));
    }
    pair.act(&Act::Barrier);
    let value = |event| pair.counts.value(event);
    let due = value(PmuEvent::SAMPLE_FEED) + value(PmuEvent::SAMPLE_COLLISION);
    let sampled_ops = pair.unit.sampled_ops();
    assert_eq!(due, sampled_ops.len() as u64);
    assert!(sampled_ops.iter().any(|op| op.outcome == SampleOutcome::Collided));
    assert!(sampled_ops.iter().any(|op| op.outcome == SampleOutcome::Written));
}

/// EL0 sees none of the registers, and accesses that a higher level denies trap to that level.
#[test]
fn accesses_are_refused_as_the_architecture_specifies() {
    use AccessError::{Trap, Undefined};
    let mut unit = Spe::new(&SpeConfig::default(), 0);
    let at = |level, e2h, secure| Privilege { level, e2h, tge: e2h, secure };
    let to = |to| Err(Trap { to });
    unit.set_privilege(at(0, false, false));
    for register in SpeRegister::all() {
        assert_eq!(unit.mrs(register), Err(Undefined), "{register:?} at EL0");
    }
    unit.set_privilege(at(1, false, false));
    assert_eq!(unit.mrs(SpeRegister::PMSCR_EL1), to(ExceptionLevel::El3), "NSPB is 0");
    assert_eq!(unit.mrs(SpeRegister::PMBSR_EL1), to(ExceptionLevel::El2), "E2PB is 0");
    assert_eq!(unit.mrs(SpeRegister::PMBIDR_EL1), Ok(0x16), "the buffer has another owner");
    assert_eq!(unit.mrs(SpeRegister::PMSCR_EL2), Err(Undefined));
    unit.set_mdcr_el3(0b11 << 12);
    unit.set_mdcr_el2(0b11 << 12 | 1 << 14);
    assert_eq!(unit.mrs(SpeRegister::PMSIDR_EL1), to(ExceptionLevel::El2), "TPMS");
    assert_eq!(unit.mrs(SpeRegister::PMBIDR_EL1), Ok(0x06));
    assert_eq!(unit.msr(SpeRegister::PMBIDR_EL1, 0), Err(Undefined), "it is read-only");
    unit.set_mdcr_el2(0);
    unit.set_privilege(at(2, true, false));
    assert_eq!(unit.msr(SpeRegister::PMSCR_EL1, 0x21), Ok(()), "a host accesses its own register");
    assert_eq!(unit.mrs(SpeRegister::PMSCR_EL2), Ok(0x21));
    assert_eq!(unit.msr(SpeRegister::PMSCR_EL12, 0x3), Ok(()));
    unit.set_mdcr_el2(0b11 << 12);
    assert_eq!(unit.mrs(SpeRegister::PMSCR_EL2), Ok(0x20), "enables of EL2 are RES0");
    assert_eq!(unit.mrs(SpeRegister::PMSCR_EL12), Ok(0x3));
}
