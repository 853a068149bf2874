//! Random programs of `MSR`, `MRS`, events and level changes on the PMU and on a plain model of it.
//! Every value read and every error must agree (Arm ARM D11 and D13.5).

use proptest::prelude::*;
use std::collections::BTreeMap;

use sim_core::{EventSink, PmuEvent};
use sim_pmu::{
    EventRoutes, ExceptionLevel, Filter, PeState, Pmu, PmuDescription, PmuVersion, Register,
};

use crate::reference::{A53, Kind, N2, N2_P5, Reference};

/// Routes of a core whose events raise nothing but themselves.
#[derive(Clone, Debug, Default)]
struct PlainRoutes(BTreeMap<u16, u32>);

impl EventRoutes for PlainRoutes {
    fn connect(&mut self, code: u16, counters: u32) {
        *self.0.entry(code).or_default() |= counters;
    }

    fn disconnect(&mut self, counters: u32) {
        self.0.values_mut().for_each(|route| *route &= !counters);
    }
}

/// Routes of a core, and how an event is raised on the unit and on the plain model.
trait Raised: EventRoutes + Clone {
    fn raise(pmu: &mut Pmu<Self>, plain: &mut Reference, event: PmuEvent, times: u64);
}

impl Raised for sim_pmu::N2Routes {
    fn raise(pmu: &mut Pmu, plain: &mut Reference, event: PmuEvent, times: u64) {
        pmu.count(event, times);
        plain.count(event, times);
    }
}

impl Raised for PlainRoutes {
    fn raise(pmu: &mut Pmu<Self>, plain: &mut Reference, event: PmuEvent, times: u64) {
        let counters = pmu.routes().0.get(&event.code()).copied().unwrap_or(0);
        pmu.increment(counters, times);
        plain.count_code(event.code(), times);
    }
}

/// A core that does not exist, with an odd number of counters.
const FIVE_COUNTERS: Kind = Kind { counters: 5, ..A53 };

fn five_counters() -> PmuDescription {
    PmuDescription { event_counters: 5, ..PmuDescription::cortex_a53() }
}

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

fn run<R: Raised>(
    description: PmuDescription,
    kind: Kind,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut pmu = Pmu::<R>::of_core(description);
    let mut plain = Reference::new(kind);
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
                let done = pmu.msr(register, value);
                prop_assert_eq!(done, plain.msr(register, value));
                prop_assert!(done.is_ok() || kind.counters < 6, "the register exists");
                pmu.set_state(before);
                plain.state = before;
            }
            Step::Count(event, times) => {
                R::raise(&mut pmu, &mut plain, event, times);
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
        let (version, kind) =
            if is_long { (PmuVersion::V3p5, N2_P5) } else { (PmuVersion::V8p4, N2) };
        let program = [prepare(&events), steps].concat();
        run::<sim_pmu::N2Routes>(PmuDescription::neoverse_n2(version), kind, &program)?;
    }

    #[test]
    fn random_programs_of_a_cortex_a53_agree_with_the_plain_model(
        is_odd in any::<bool>(),
        events in prop::collection::vec(event(), 5),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let program = [prepare(&events), steps].concat();
        match is_odd {
            true => run::<PlainRoutes>(five_counters(), FIVE_COUNTERS, &program)?,
            false => run::<PlainRoutes>(PmuDescription::cortex_a53(), A53, &program)?,
        }
    }
}

/// Reads and writes every register in every state and under every trap.
#[test]
fn access_rights_of_each_register_agree_with_the_plain_model() {
    let n2 = Pmu::new();
    assert_eq!(try_every_state(&n2, N2), 32 * 4 * 3 * 16 * 81 * 2);
}

#[test]
fn access_rights_on_a_cortex_a53_agree_with_the_plain_model() {
    for (description, kind) in
        [(PmuDescription::cortex_a53(), A53), (five_counters(), FIVE_COUNTERS)]
    {
        let pmu = Pmu::<PlainRoutes>::of_core(description);
        assert_eq!(try_every_state(&pmu, kind), 32 * 4 * 3 * 16 * 81 * 2);
    }
}

fn try_every_state<R: Raised>(reset: &Pmu<R>, kind: Kind) -> usize {
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
                        (reset.clone(), Reference::new(kind)),
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
    tried
}

fn try_all<R: Raised>(
    (mut pmu, mut plain): (Pmu<R>, Reference),
    state: PeState,
    setup: [(Register, u64); 3],
) -> usize {
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
