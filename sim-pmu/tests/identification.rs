//! PMCEID0 and PMCEID1: recomputed from the event table and compared with the behavior of the
//! counters. PMU guide, Appendix B; the words are those published for this guide.

use sim_core::EventSink;
use sim_core::PmuEvent::{self, *};
use sim_pmu::control::pmcr;
use sim_pmu::identification::CommonEventWord;
use sim_pmu::{AccessError, ExceptionLevel, PeState, Pmu, Register, pmceid};

fn kernel() -> Pmu {
    let mut pmu = Pmu::new();
    pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
    pmu
}

/// R.PMCEID.1
#[test]
fn the_four_words_match_the_guide() {
    let words = CommonEventWord::ALL.map(CommonEventWord::value);
    assert_eq!(words, [0x7FFF_0F3F, 0xFEF2_A07E, 0x0000_027F, 0x0000_0077]);
    assert_eq!(pmceid(), [0x0000_027F_7FFF_0F3F, 0x0000_0077_FEF2_A07E]);
    let pmu = kernel();
    assert_eq!(pmu.mrs(Register::PMCEID0_EL0), Ok(pmceid()[0]));
    assert_eq!(pmu.mrs(Register::PMCEID1_EL0), Ok(pmceid()[1]));
}

/// Recomputes the words with the events that never count, as other lists of the core show them.
#[test]
fn words_with_all_events_differ_only_by_those_that_never_count() {
    let is_implemented = |code: u16| PmuEvent::from_code(u32::from(code)).is_ok();
    let words = CommonEventWord::ALL.map(|word| word.of(is_implemented));
    assert_eq!(words, [0x7FFF_0F3F, 0xFEF2_AE7F, 0x0000_0A7F, 0x0000_0077]);
}

/// A set bit promises that the event can be counted, a clear bit that nothing is counted.
#[test]
fn exactly_the_events_with_a_set_bit_can_be_counted() {
    for word in CommonEventWord::ALL {
        for bit in 0..32 {
            let code = word.first_event() + bit;
            let is_promised = word.value() >> bit & 1 == 1;
            assert_eq!(can_be_counted(code), is_promised, "event {code:#06x}");
        }
    }
}

/// Returns whether some use of the core increments a counter that is programmed with this number.
fn can_be_counted(code: u16) -> bool {
    let mut pmu = kernel();
    let mut set = |register, value| pmu.msr(register, value).expect("a kernel may write it");
    set(Register::PMEVTYPER_EL0(3), u64::from(code));
    set(Register::PMEVTYPER_EL0(2), u64::from(INST_RETIRED.code()));
    set(Register::PMEVCNTR_EL0(2), 0xFFFF_FFFF);
    set(Register::PMCNTENSET_EL0, 0b1100);
    set(Register::PMCR_EL0, pmcr::E);
    set(Register::PMSWINC_EL0, 0b1000);
    for event in PmuEvent::ALL {
        pmu.raise(event);
    }
    pmu.mrs(Register::PMEVCNTR_EL0(3)) != Ok(0)
}

/// R.PMCEID.3
#[test]
fn el0_reads_the_words_if_allowed_and_no_level_writes_them() {
    let mut pmu = kernel();
    pmu.set_state(PeState::default());
    let trap = Err(AccessError::Trap { to: ExceptionLevel::El1 });
    assert_eq!(pmu.mrs(Register::PMCEID0_EL0), trap);
    pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
    pmu.msr(Register::PMUSERENR_EL0, 1).expect("a kernel may write it");
    assert_eq!(pmu.msr(Register::PMCEID0_EL0, 0), Err(AccessError::Undefined));
    pmu.set_state(PeState::default());
    assert_eq!(pmu.mrs(Register::PMCEID0_EL0), Ok(pmceid()[0]));
    assert_eq!(pmu.msr(Register::PMCEID1_EL0, 0), Err(AccessError::Undefined));
    assert_eq!(pmu.mrs(Register::PMCEID1_EL0), Ok(pmceid()[1]));
}

#[test]
fn every_view_has_its_register_and_bit() {
    let places = CommonEventWord::ALL.map(|word| (word.external_offset(), word.aarch32_encoding()));
    assert_eq!(places, [(0xE20, (12, 6)), (0xE24, (12, 7)), (0xE28, (14, 4)), (0xE2C, (14, 5))]);
    assert_eq!(CommonEventWord::place(0x30), Some((CommonEventWord::Pmceid1, 16)));
    assert_eq!(CommonEventWord::place(0x4003), Some((CommonEventWord::Pmceid2, 3)));
    assert_eq!(CommonEventWord::place(0x40), None);
    assert_eq!(CommonEventWord::place(0x8005), None);
}

#[test]
fn pmmir_reports_five_slots() {
    let mut pmu = kernel();
    assert_eq!(pmu.mrs(Register::PMMIR_EL1), Ok(5));
    assert_eq!(pmu.msr(Register::PMMIR_EL1, 8), Err(AccessError::Undefined));
}
