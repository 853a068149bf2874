//! Random programs of `MSR`, `MRS`, events and level changes on the PMU and on a plain model of it.
//! Every value read and every error must agree (Arm ARM D11 and D13.5).

use proptest::prelude::*;
use sim_core::{EventSink, PmuEvent};
use sim_pmu::{ExceptionLevel, Filter, PeState, Pmu, PmuVersion, Register};

use crate::reference::Reference;

/// State with access to every register and every counter.
const EVERYTHING: PeState = PeState::secure(ExceptionLevel::El3);

/// Step of a program.
#[derive(Clone, Debug)]
enum Step {
    State(PeState),
    Read(Register),
    Write(Register, u64),
    Count(PmuEvent, u64),
    /// Write from EL3, which is always allowed.
    Monitor(Register, u64),
}

fn state() -> impl Strategy<Value = PeState> {
    let level = prop::sample::select(ExceptionLevel::ALL.to_vec());
    (level, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(level, is_secure, has_secure_el2, tge)| PeState { level, is_secure, has_secure_el2, tge },
    )
}

/// Registers by kind, so that counter registers do not dominate the 62 names.
fn register() -> impl Strategy<Value = Register> {
    let single: Vec<_> = Register::all().take(19).collect();
    prop_oneof![
        6 => prop::sample::select(single),
        2 => (0u8..8).prop_map(Register::PMEVCNTR_EL0),
        3 => (0u8..8).prop_map(Register::PMEVTYPER_EL0),
    ]
}

/// Generates the raised and programmed events: sums, parts, aliases, an event that never counts,
/// and cycles.
fn event() -> impl Strategy<Value = PmuEvent> {
    use PmuEvent::*;
    prop::sample::select(vec![
        SW_INCR,
        INST_RETIRED,
        CPU_CYCLES,
        CHAIN,
        L1D_CACHE,
        L1D_CACHE_RD,
        L1D_CACHE_WR,
        BUS_CYCLES,
        L1D_CACHE_REFILL_RD,
        L1D_CACHE_LMISS_RD,
        STALL_SLOT,
        STALL_SLOT_BACKEND,
        LDST_SPEC,
    ])
}

/// Values that are meaningful for at least one register.
fn value() -> impl Strategy<Value = u64> {
    let filter = prop::sample::subsequence(vec![24u32, 26, 27, 28, 29, 30, 31], 0..=7)
        .prop_map(|bits| bits.into_iter().fold(0, |word, bit| word | 1u64 << bit));
    prop_oneof![
        any::<u64>(),
        0u64..64,
        0u64..32,
        Just(u64::MAX),
        Just(u64::MAX - 1),
        Just(0xFFFF_FFFF),
        Just(0xFFFF_FFF0),
        Just(0x8000_003F),
        any::<u64>().prop_map(|word| 1 << (word % 32)),
        (event(), filter).prop_map(|(event, filter)| u64::from(event.code()) | filter),
        event().prop_map(|event| u64::from(event.code())),
    ]
}

/// Generates a union of some of these bits. The first is set in most cases.
fn some_of(bits: &'static [u64]) -> impl Strategy<Value = u64> {
    let others = prop::sample::subsequence(bits[1..].to_vec(), 0..bits.len());
    (prop::bool::weighted(0.8), others).prop_map(|(has_first, others)| {
        others.into_iter().fold(if has_first { bits[0] } else { 0 }, |word, bit| word | bit)
    })
}

/// Writes that configure the unit as a monitor, a hypervisor and a driver would.
fn setup() -> impl Strategy<Value = (Register, u64)> {
    use sim_pmu::control::{mdcr_el2, mdcr_el3, pmcr};
    const PMCR: &[u64] =
        &[pmcr::E, pmcr::P, pmcr::C, pmcr::D, pmcr::X, pmcr::DP, pmcr::LC, pmcr::LP];
    const EL2: &[u64] = &[mdcr_el2::HPME, mdcr_el2::HPMD, mdcr_el2::HCCD, mdcr_el2::HLP];
    const EL3: &[u64] = &[mdcr_el3::SPME, mdcr_el3::SCCD];
    let near_the_end = || {
        (0u64..100, any::<bool>())
            .prop_map(|(left, is_long)| if is_long { u64::MAX - left } else { 0xFFFF_FFFF - left })
    };
    let nsh = u64::from(Filter::NSH);
    let filter = move || {
        let any = value().prop_map(|word| word & u64::from(Filter::ALL));
        prop_oneof![2 => Just(nsh), 1 => Just(0), 2 => any]
    };
    prop_oneof![
        3 => some_of(PMCR).prop_map(|bits| (Register::PMCR_EL0, bits)),
        2 => (some_of(EL2), 0u64..8).prop_map(|(bits, n)| (Register::MDCR_EL2, bits | n)),
        1 => some_of(EL3).prop_map(|bits| (Register::MDCR_EL3, bits)),
        1 => Just((Register::PMCNTENSET_EL0, u64::MAX)),
        1 => Just((Register::PMOVSCLR_EL0, u64::MAX)),
        3 => (0u8..6, event(), filter()).prop_map(|(n, event, filter)| {
            (Register::PMEVTYPER_EL0(n), u64::from(event.code()) | filter)
        }),
        2 => (0u8..3).prop_map(move |pair| {
            (Register::PMEVTYPER_EL0(2 * pair + 1), u64::from(PmuEvent::CHAIN.code()) | nsh)
        }),
        3 => (0u8..6, near_the_end()).prop_map(|(n, value)| (Register::PMEVCNTR_EL0(n), value)),
        1 => near_the_end().prop_map(|value| (Register::PMCCNTR_EL0, value)),
        1 => filter().prop_map(|bits| (Register::PMCCFILTR_EL0, bits)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => state().prop_map(Step::State),
        1 => register().prop_map(Step::Read),
        3 => (register(), value()).prop_map(|(register, value)| Step::Write(register, value)),
        5 => setup().prop_map(|(register, value)| Step::Monitor(register, value)),
        6 => (event(), 0u64..130).prop_map(|(event, times)| Step::Count(event, times)),
    ]
}

/// Programs counters that are about to overflow and enables everything, so that most programs
/// count.
fn prepare(events: &[PmuEvent]) -> Vec<Step> {
    let mut steps = vec![Step::State(EVERYTHING)];
    for (n, event) in (0..).zip(events) {
        steps.push(Step::Write(Register::PMEVTYPER_EL0(n), u64::from(event.code())));
        steps.push(Step::Write(Register::PMEVCNTR_EL0(n), 0xFFFF_FFC0));
    }
    steps.push(Step::Write(Register::PMCNTENSET_EL0, u64::MAX));
    steps.push(Step::Write(Register::PMINTENSET_EL1, u64::MAX));
    steps.push(Step::Write(Register::PMUSERENR_EL0, 1));
    steps.push(Step::Write(Register::PMCR_EL0, 1));
    steps.push(Step::State(PeState::non_secure(ExceptionLevel::El1)));
    steps
}

fn run(version: PmuVersion, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut pmu = Pmu::with_version(version);
    let mut plain = Reference::new(version.has_long_counters());
    for step in steps {
        match *step {
            Step::State(state) => {
                pmu.set_state(state);
                plain.state = state;
            }
            Step::Read(register) => prop_assert_eq!(pmu.mrs(register), plain.mrs(register)),
            Step::Write(register, value) => {
                prop_assert_eq!(pmu.msr(register, value), plain.msr(register, value));
            }
            Step::Monitor(register, value) => {
                let before = pmu.state();
                pmu.set_state(EVERYTHING);
                plain.state = EVERYTHING;
                prop_assert_eq!(pmu.msr(register, value), Ok(()));
                prop_assert_eq!(plain.msr(register, value), Ok(()));
                pmu.set_state(before);
                plain.state = before;
            }
            Step::Count(event, times) => {
                pmu.count(event, times);
                plain.count(event, times);
            }
        }
        prop_assert_eq!(pmu.interrupt(), plain.interrupt(), "the interrupt line after {:?}", step);
    }
    pmu.set_state(EVERYTHING);
    plain.state = EVERYTHING;
    for register in Register::all() {
        prop_assert_eq!(pmu.mrs(register), plain.mrs(register), "{} at the end", register.name());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2500) })]

    #[test]
    fn random_programs_agree_with_the_plain_model(
        is_long in any::<bool>(),
        events in prop::collection::vec(event(), 6),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let version = if is_long { PmuVersion::V3p5 } else { PmuVersion::V8p4 };
        let program = [prepare(&events), steps].concat();
        run(version, &program)?;
    }
}

/// Reads and writes every register in every state and under every trap.
#[test]
fn access_rights_of_each_register_agree_with_the_plain_model() {
    let mut tried = 0;
    for index in 0..32u8 {
        let has = |bit: u8| index >> bit & 1 == 1;
        let level = ExceptionLevel::from_number(index & 3).expect("two bits");
        let (is_secure, has_secure_el2, tge) = (has(2), has(3), has(4));
        let state = PeState { level, is_secure, has_secure_el2, tge };
        for el2 in [6, 3, 6 | 1 << 5, 6 | 1 << 6] {
            for el3 in [0, 1 << 6, 1 << 9] {
                for user in 0..16 {
                    tried += try_all(
                        state,
                        [
                            (Register::MDCR_EL2, el2),
                            (Register::MDCR_EL3, el3),
                            (Register::PMUSERENR_EL0, user),
                        ],
                    );
                }
            }
        }
    }
    assert_eq!(tried, 32 * 4 * 3 * 16 * 81 * 2);
}

fn try_all(state: PeState, setup: [(Register, u64); 3]) -> usize {
    let mut pmu = Pmu::new();
    let mut plain = Reference::new(false);
    pmu.set_state(EVERYTHING);
    plain.state = pmu.state();
    for (register, value) in setup {
        assert_eq!(pmu.msr(register, value), Ok(()));
        assert_eq!(plain.msr(register, value), Ok(()));
    }
    pmu.set_state(state);
    plain.state = state;
    let mut tried = 0;
    for register in Register::all() {
        let written = plain.mrs(register).unwrap_or(0);
        assert_eq!(pmu.mrs(register), plain.mrs(register), "{state:?} {setup:x?} {register:?}");
        let (mut one, mut other) = (pmu.clone(), plain.clone());
        assert_eq!(
            one.msr(register, written),
            other.msr(register, written),
            "{state:?} {setup:x?} {register:?}"
        );
        tried += 2;
    }
    tried
}
