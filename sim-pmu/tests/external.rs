//! Accesses of a debugger from outside (Cortex-A53 manual, 12.2.5 and 12.7; Arm ARM H9).

use sim_pmu::{
    ExceptionLevel, ExternalError, ExternalState, N2Routes, PeState, Pmu, PmuDescription, Register,
};

const OPEN: ExternalState = ExternalState {
    is_off: false,
    is_double_locked: false,
    is_os_locked: false,
    is_disabled: false,
    is_software_locked: false,
};

fn a53() -> Pmu<N2Routes> {
    Pmu::of_core(PmuDescription::cortex_a53())
}

/// The first of several reasons counts: off, OS Double Lock, OS Lock, EPMAD.
#[test]
fn reasons_of_an_error_have_an_order() {
    let mut state = ExternalState {
        is_off: true,
        is_double_locked: true,
        is_os_locked: true,
        is_disabled: true,
        is_software_locked: true,
    };
    let pmu = a53();
    assert_eq!(pmu.read_external(0xE24, state), Err(ExternalError::Off));
    state.is_off = false;
    assert_eq!(pmu.read_external(0xE24, state), Err(ExternalError::DoubleLock));
    state.is_double_locked = false;
    assert_eq!(pmu.read_external(0xE24, state), Err(ExternalError::OsLock));
    state.is_os_locked = false;
    assert_eq!(pmu.read_external(0xE24, state), Err(ExternalError::Disabled));
    state.is_disabled = false;
    assert_eq!(pmu.read_external(0xE20, state), Ok(0x67FF_BFFF));
}

#[test]
fn a_debugger_writes_what_software_reads() {
    let mut pmu = a53();
    for (offset, value) in [(0x0FC, 7), (0x0F8, 9), (0x008, 5), (0x404, 0x8000_0008), (0xC00, 3)] {
        assert_eq!(pmu.write_external(offset, value, OPEN), Ok(()));
        assert_eq!(pmu.read_external(offset, OPEN), Ok(value), "{offset:#x}");
    }
    pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
    assert_eq!(pmu.mrs(Register::PMCCNTR_EL0), Ok(7 << 32 | 9));
    assert_eq!(pmu.mrs(Register::PMEVCNTR_EL0(1)), Ok(5));
    assert_eq!(pmu.mrs(Register::PMEVTYPER_EL0(1)), Ok(0x8000_0008));
    assert_eq!(pmu.mrs(Register::PMCNTENSET_EL0), Ok(3));
}

#[test]
fn read_only_registers_and_locked_ones_ignore_writes() {
    let mut pmu = a53();
    for offset in [0xE20, 0xE24, 0xE28, 0xE40] {
        let before = pmu.read_external(offset, OPEN);
        assert_eq!(pmu.write_external(offset, 0x55, OPEN), Ok(()));
        assert_eq!(pmu.read_external(offset, OPEN), before, "{offset:#x}");
    }
    let locked = ExternalState { is_software_locked: true, ..OPEN };
    assert_eq!(pmu.write_external(0x000, 5, locked), Ok(()));
    assert_eq!(pmu.read_external(0x000, locked), Ok(0));
    assert_eq!(pmu.read_external(0xCA0, OPEN), Ok(0), "PMSWINC is write-only");
    assert_eq!(pmu.read_external(0x004, OPEN), Err(ExternalError::NoRegister));
}
