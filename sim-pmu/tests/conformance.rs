//! Register cases R.*: a driver's view of the PMU through `MRS` and `MSR` alone. They follow PMU
//! guide 3.1 and 4.12 where it applies, and the PMUv3 architecture elsewhere.

use Register::*;
use sim_core::PmuEvent::{self, *};
use sim_core::{Counts, EventSink};
use sim_pmu::control::{mdcr_el2, mdcr_el3, pmcr};
use sim_pmu::counter::CYCLE_BIT;
use sim_pmu::{AccessError, ExceptionLevel, Filter, PeState, Pmu, PmuVersion, Register};

/// Returns a kernel's PMU with everything enabled and the (counter, event, value) triples
/// programmed.
fn driver(programs: &[(u8, PmuEvent, u64)]) -> Pmu {
    driver_of(PmuVersion::V8p4, programs)
}

fn driver_of(version: PmuVersion, programs: &[(u8, PmuEvent, u64)]) -> Pmu {
    let mut pmu = Pmu::with_version(version);
    pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
    for (n, event, value) in programs {
        set(&mut pmu, PMEVTYPER_EL0(*n), u64::from(event.code()));
        set(&mut pmu, PMEVCNTR_EL0(*n), *value);
    }
    set(&mut pmu, PMCNTENSET_EL0, u64::MAX);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::LC);
    pmu
}

fn set(pmu: &mut Pmu, register: Register, value: u64) {
    pmu.msr(register, value).expect("a kernel may write this register");
}

fn get(pmu: &Pmu, register: Register) -> u64 {
    pmu.mrs(register).expect("a kernel may read this register")
}

fn value(pmu: &Pmu, n: u8) -> u64 {
    get(pmu, PMEVCNTR_EL0(n))
}

/// R.COUNTERS.1
#[test]
fn the_control_register_counts_six_counters() {
    assert_eq!(get(&driver(&[]), PMCR_EL0) >> pmcr::N_SHIFT & 0x1F, 6);
}

/// R.COUNTERS.2
#[test]
fn there_is_no_counter_6() {
    let mut pmu = driver(&[]);
    for register in [PMEVTYPER_EL0(6), PMEVCNTR_EL0(6), PMEVTYPER_EL0(30)] {
        assert_eq!(pmu.msr(register, 0x11), Err(AccessError::Undefined));
        assert_eq!(pmu.mrs(register), Err(AccessError::Undefined));
    }
    set(&mut pmu, PMSELR_EL0, 6);
    assert_eq!(pmu.msr(PMXEVTYPER_EL0, 0x11), Err(AccessError::Undefined));
    assert_eq!(pmu.mrs(PMXEVCNTR_EL0), Err(AccessError::Undefined));
}

/// R.WIDTH.1
#[test]
fn a_counter_wraps_at_32_bits_and_flags_it() {
    let mut pmu = driver(&[(0, INST_RETIRED, 0xFFFF_FFFF), (1, LD_SPEC, 5)]);
    pmu.raise(INST_RETIRED);
    assert_eq!((value(&pmu, 0), value(&pmu, 1)), (0, 5));
    assert_eq!(get(&pmu, PMOVSCLR_EL0), 1);
}

/// R.WIDTH.2
#[test]
fn one_cycle_can_carry_across_the_boundary_once() {
    let mut pmu = driver(&[(0, STALL_SLOT, 0xFFFF_FFFE), (1, CHAIN, 0)]);
    pmu.count(STALL_SLOT_BACKEND, 5);
    assert_eq!((value(&pmu, 0), value(&pmu, 1)), (3, 1));
    assert_eq!(get(&pmu, PMOVSSET_EL0), 1);
}

/// R.OVERFLOW.1
#[test]
fn an_overflow_flag_stays_until_software_clears_it() {
    let mut pmu = driver(&[(3, INST_RETIRED, 0xFFFF_FFFF)]);
    pmu.count(INST_RETIRED, 4);
    assert_eq!((get(&pmu, PMOVSCLR_EL0), value(&pmu, 3)), (1 << 3, 3));
    pmu.raise(INST_RETIRED);
    assert_eq!(get(&pmu, PMOVSCLR_EL0), 1 << 3, "reading clears nothing");
    set(&mut pmu, PMOVSCLR_EL0, !(1 << 3));
    assert_eq!(get(&pmu, PMOVSCLR_EL0), 1 << 3, "zeros clear nothing");
    set(&mut pmu, PMOVSCLR_EL0, 1 << 3);
    pmu.raise(INST_RETIRED);
    assert_eq!((get(&pmu, PMOVSCLR_EL0), value(&pmu, 3)), (0, 5));
}

/// R.OVERFLOW.2
#[test]
fn the_interrupt_follows_flag_and_enables() {
    let mut pmu = driver(&[(2, INST_RETIRED, 0xFFFF_FFFF)]);
    set(&mut pmu, PMINTENSET_EL1, 1 << 2);
    assert!(!pmu.interrupt());
    pmu.raise(INST_RETIRED);
    assert!(pmu.interrupt());
    set(&mut pmu, PMINTENCLR_EL1, 1 << 2);
    assert!(!pmu.interrupt(), "disabled");
    set(&mut pmu, PMINTENSET_EL1, 1 << 2);
    set(&mut pmu, PMCR_EL0, 0);
    assert!(!pmu.interrupt(), "PMCR.E holds it back");
    set(&mut pmu, PMCR_EL0, pmcr::E);
    assert!(pmu.interrupt(), "the interrupt is a level");
    set(&mut pmu, PMOVSCLR_EL0, 1 << 2);
    assert!(!pmu.interrupt());
    set(&mut pmu, PMOVSSET_EL0, 1 << 2);
    assert!(pmu.interrupt(), "software may set the flag itself");
}

/// R.CHAIN.1
#[test]
fn a_chained_pair_counts_the_event_of_the_even_counter_in_64_bits() {
    let mut pmu = driver(&[(4, MEM_ACCESS, 0), (5, CHAIN, 0)]);
    pmu.count(MEM_ACCESS_RD, 1 << 31);
    pmu.count(MEM_ACCESS_WR, (1 << 31) + 7);
    assert_eq!((value(&pmu, 5), value(&pmu, 4)), (1, 7));
}

/// R.CHAIN.2
#[test]
fn only_the_counter_just_below_is_chained() {
    let mut pmu = driver(&[(1, INST_RETIRED, 0xFFFF_FFFF), (2, LD_SPEC, 0), (3, CHAIN, 9)]);
    pmu.raise(INST_RETIRED);
    assert_eq!((value(&pmu, 1), value(&pmu, 3)), (0, 9));
}

/// R.CHAIN.3
#[test]
fn a_stopped_counter_does_not_chain() {
    let mut pmu = driver(&[(4, INST_RETIRED, 0xFFFF_FFFF), (5, CHAIN, 0)]);
    set(&mut pmu, PMCNTENCLR_EL0, 1 << 4);
    pmu.raise(INST_RETIRED);
    assert_eq!((value(&pmu, 4), value(&pmu, 5)), (0xFFFF_FFFF, 0));
}

/// R.SAME.1
#[test]
fn six_counters_on_one_event_agree() {
    let programs: Vec<_> = (0..6).map(|n| (n, L1D_CACHE, 0)).collect();
    let mut pmu = driver(&programs);
    raise_everything(&mut pmu, 3);
    assert_eq!((0..6).map(|n| value(&pmu, n)).collect::<Vec<_>>(), [6; 6], "_RD and _WR");
}

/// R.NEVER.1
#[test]
fn counters_of_events_that_never_count_stay_0() {
    let never: Vec<_> = PmuEvent::ALL.into_iter().filter(|event| event.never_counts()).collect();
    assert_eq!(never.len(), 8);
    for chunk in never.chunks(4) {
        let programs: Vec<_> = (0..).zip(chunk).map(|(n, event)| (n, *event, 0)).collect();
        let mut pmu = driver(&programs);
        raise_everything(&mut pmu, 1);
        assert!((0..4).all(|n| value(&pmu, n) == 0), "{chunk:?}");
    }
}

fn raise_everything(pmu: &mut Pmu, times: u64) {
    for event in PmuEvent::ALL {
        let is_sum =
            [sim_core::pmu_event::RelationKind::SumOf, sim_core::pmu_event::RelationKind::AliasOf]
                .into_iter()
                .any(|kind| event.relation(kind).is_some());
        if !is_sum {
            pmu.count(event, times);
        }
    }
}

/// Compares each countable event on a counter with the ground truth.
#[test]
fn a_counter_agrees_with_the_ground_truth_on_every_event() {
    for event in PmuEvent::ALL {
        let mut pmu = driver(&[(0, event, 0)]);
        let mut truth = Counts::default();
        for (n, raised) in (1..).zip(PmuEvent::ALL) {
            if !raised.never_counts() && !matches!(raised, SW_INCR | CHAIN) {
                (&mut pmu, &mut truth).count(raised, n);
            }
        }
        assert_eq!(value(&pmu, 0), truth.value(event), "{}", event.mnemonic());
    }
}

#[test]
fn a_filter_applies_to_its_counter_and_follows_the_level() {
    let mut pmu = driver(&[(0, INST_RETIRED, 0), (1, INST_RETIRED, 0)]);
    let user_only = u64::from(INST_RETIRED.code()) | u64::from(Filter::P);
    set(&mut pmu, PMEVTYPER_EL0(1), user_only);
    set(&mut pmu, PMCCFILTR_EL0, u64::from(Filter::P));
    let run = |pmu: &mut Pmu, level, n| {
        pmu.set_state(PeState::non_secure(level));
        pmu.count(INST_RETIRED, n);
        pmu.count(CPU_CYCLES, n);
    };
    run(&mut pmu, ExceptionLevel::El1, 100);
    run(&mut pmu, ExceptionLevel::El0, 20);
    run(&mut pmu, ExceptionLevel::El2, 3);
    pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
    assert_eq!((value(&pmu, 0), value(&pmu, 1)), (120, 20));
    assert_eq!(get(&pmu, PMCCNTR_EL0), 20);
}

#[test]
fn a_chained_counter_keeps_its_own_filter() {
    let mut pmu = driver(&[(0, INST_RETIRED, 0xFFFF_FFFF), (1, CHAIN, 0)]);
    set(&mut pmu, PMEVTYPER_EL0(1), u64::from(CHAIN.code()) | u64::from(Filter::P));
    pmu.raise(INST_RETIRED);
    assert_eq!((value(&pmu, 0), value(&pmu, 1)), (0, 0));
}

#[test]
fn the_secure_state_counts_only_with_permission_of_el3() {
    let mut pmu = driver(&[(0, INST_RETIRED, 0)]);
    let secure = PeState::secure(ExceptionLevel::El1);
    let at_el3 = PeState::secure(ExceptionLevel::El3);
    let mut counted = |controls: u64, pmcr: u64| {
        pmu.set_state(at_el3);
        set(&mut pmu, MDCR_EL3, controls);
        set(&mut pmu, PMCR_EL0, pmcr | pmcr::P | pmcr::C);
        pmu.set_state(secure);
        pmu.count(INST_RETIRED, 5);
        pmu.count(CPU_CYCLES, 5);
        (value(&pmu, 0), get(&pmu, PMCCNTR_EL0))
    };
    assert_eq!(counted(0, pmcr::E), (0, 5), "cycles continue");
    assert_eq!(counted(0, pmcr::E | pmcr::DP), (0, 0), "unless DP stops them");
    assert_eq!(counted(mdcr_el3::SPME, pmcr::E | pmcr::DP), (5, 5));
}

/// `MDCR_EL2.HPMN`: a guest has the first counters, EL2 the rest.
#[test]
fn el2_hides_counters_from_its_guest() {
    let mut pmu = driver(&[(0, INST_RETIRED, 7), (4, INST_RETIRED, 8)]);
    let guest = PeState::non_secure(ExceptionLevel::El1);
    let el2 = PeState::non_secure(ExceptionLevel::El2);
    pmu.set_state(el2);
    set(&mut pmu, MDCR_EL2, 4);
    pmu.set_state(guest);
    let trap = Err(AccessError::Trap { to: ExceptionLevel::El2 });
    assert_eq!(get(&pmu, PMCR_EL0) >> pmcr::N_SHIFT & 0x1F, 4);
    assert_eq!(get(&pmu, PMCNTENSET_EL0), u64::from(0b1111 | CYCLE_BIT));
    assert_eq!(pmu.mrs(PMEVCNTR_EL0(4)), trap);
    assert_eq!(pmu.mrs(PMEVCNTR_EL0(6)), Err(AccessError::Undefined));
    set(&mut pmu, PMCNTENCLR_EL0, u64::MAX);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::P);
    pmu.set_state(el2);
    assert_eq!(get(&pmu, PMCNTENSET_EL0), 0b11_0000, "the guest could not stop these");
    assert_eq!((value(&pmu, 0), value(&pmu, 4)), (0, 8), "nor reset them");
    pmu.set_state(guest);
    pmu.raise(INST_RETIRED);
    pmu.set_state(el2);
    assert_eq!(value(&pmu, 4), 8, "HPME is clear");
    set(&mut pmu, MDCR_EL2, 4 | mdcr_el2::HPME);
    pmu.set_state(guest);
    set(&mut pmu, PMCR_EL0, 0);
    pmu.raise(INST_RETIRED);
    pmu.set_state(el2);
    assert_eq!(value(&pmu, 4), 9, "PMCR.E does not control the second range");
}

#[test]
fn hpmd_stops_the_guests_counters_at_el2() {
    let mut pmu = driver(&[(0, INST_RETIRED, 0), (5, INST_RETIRED, 0)]);
    pmu.set_state(PeState::non_secure(ExceptionLevel::El2));
    for n in [0, 5] {
        let everywhere = u64::from(INST_RETIRED.code()) | u64::from(Filter::NSH);
        set(&mut pmu, PMEVTYPER_EL0(n), everywhere);
    }
    set(&mut pmu, MDCR_EL2, 5 | mdcr_el2::HPME);
    pmu.raise(INST_RETIRED);
    set(&mut pmu, MDCR_EL2, 5 | mdcr_el2::HPME | mdcr_el2::HPMD);
    pmu.raise(INST_RETIRED);
    assert_eq!((value(&pmu, 0), value(&pmu, 5)), (1, 2));
}

#[test]
fn software_increments_count_where_they_are_programmed_and_enabled() {
    let mut pmu = driver(&[(0, SW_INCR, 0), (1, SW_INCR, 0), (2, LD_SPEC, 0), (3, SW_INCR, 0)]);
    set(&mut pmu, PMCNTENCLR_EL0, 1 << 3);
    set(&mut pmu, PMSWINC_EL0, 0b1110);
    assert_eq!((0..4).map(|n| value(&pmu, n)).collect::<Vec<_>>(), [0, 1, 0, 0]);
    pmu.count(SW_INCR, 5);
    assert_eq!(value(&pmu, 0), 0, "the register write counts, not the retired event");
}

#[test]
fn the_selected_counter_has_two_names() {
    let mut pmu = driver(&[]);
    set(&mut pmu, PMSELR_EL0, 0xFFFF_FFE0 | 5);
    assert_eq!(get(&pmu, PMSELR_EL0), 5, "only five bits exist");
    set(&mut pmu, PMXEVTYPER_EL0, 0x11);
    set(&mut pmu, PMXEVCNTR_EL0, 77);
    assert_eq!((get(&pmu, PMEVTYPER_EL0(5)), value(&pmu, 5)), (0x11, 77));
    set(&mut pmu, PMSELR_EL0, 31);
    set(&mut pmu, PMXEVTYPER_EL0, u64::MAX);
    assert_eq!(get(&pmu, PMCCFILTR_EL0), u64::from(Filter::ALL), "the filter of the cycles");
    assert_eq!(pmu.mrs(PMXEVCNTR_EL0), Err(AccessError::Undefined));
}

#[test]
fn bits_that_do_not_exist_read_as_zero() {
    let mut pmu = driver(&[]);
    for (register, kept) in [
        (PMEVTYPER_EL0(0), 0xFD00_FFFF),
        (PMEVCNTR_EL0(0), 0xFFFF_FFFF),
        (PMUSERENR_EL0, 0xF),
        (PMCR_EL0, 0x4149_3079),
        (PMCNTENSET_EL0, 0x8000_003F),
        (PMINTENSET_EL1, 0x8000_003F),
        (PMOVSSET_EL0, 0x8000_003F),
    ] {
        set(&mut pmu, register, u64::MAX);
        assert_eq!(get(&pmu, register), kept, "{}", register.name());
    }
}

/// PMUv3p5: 64-bit counters overflow at the bit that `PMCR.LP` and `MDCR_EL2.HLP` select.
#[test]
fn long_counters_overflow_at_the_selected_bit() {
    let programs = [(0, INST_RETIRED, 0xFFFF_FFFF), (1, CHAIN, 0)];
    let mut pmu = driver_of(PmuVersion::V3p5, &programs);
    pmu.raise(INST_RETIRED);
    assert_eq!(
        (value(&pmu, 0), value(&pmu, 1)),
        (1 << 32, 1),
        "overflow at 32 bits, value of 64 bits"
    );
    assert_eq!(get(&pmu, PMOVSCLR_EL0), 1);
    set(&mut pmu, PMOVSCLR_EL0, 1);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::LP);
    set(&mut pmu, PMEVCNTR_EL0(0), 0xFFFF_FFFF);
    pmu.raise(INST_RETIRED);
    assert_eq!((value(&pmu, 0), value(&pmu, 1), get(&pmu, PMOVSCLR_EL0)), (1 << 32, 1, 0));
    set(&mut pmu, PMEVCNTR_EL0(0), u64::MAX);
    pmu.count(INST_RETIRED, 3);
    assert_eq!((value(&pmu, 0), value(&pmu, 1), get(&pmu, PMOVSCLR_EL0)), (2, 1, 1));
}

#[test]
fn the_cycle_counter_can_count_every_64th_cycle() {
    let mut pmu = driver(&[]);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::D | pmcr::C);
    pmu.count(CPU_CYCLES, 100);
    assert_eq!(get(&pmu, PMCCNTR_EL0), 1);
    pmu.count(CPU_CYCLES, 28);
    assert_eq!(get(&pmu, PMCCNTR_EL0), 2);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::D | pmcr::LC);
    pmu.count(CPU_CYCLES, 10);
    assert_eq!(get(&pmu, PMCCNTR_EL0), 12, "LC has priority");
}

#[test]
fn counter_resets_act_at_once_and_read_as_zero() {
    let mut pmu = driver(&[(0, INST_RETIRED, 7), (5, LD_SPEC, 8)]);
    set(&mut pmu, PMCCNTR_EL0, 9);
    set(&mut pmu, PMOVSSET_EL0, 1);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::P);
    assert_eq!((value(&pmu, 0), value(&pmu, 5), get(&pmu, PMCCNTR_EL0)), (0, 0, 9));
    assert_eq!(get(&pmu, PMCR_EL0) & 0xFF, pmcr::E);
    assert_eq!(get(&pmu, PMOVSCLR_EL0), 1, "flags stay");
    set(&mut pmu, PMEVCNTR_EL0(5), 4);
    set(&mut pmu, PMCR_EL0, pmcr::E | pmcr::C);
    assert_eq!((value(&pmu, 5), get(&pmu, PMCCNTR_EL0)), (4, 0));
}
