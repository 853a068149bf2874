//! Target levels of exceptions, by the clauses of the Arm architecture that the module names.

use super::*;
use crate::PipelineConfig;
use crate::units::exception_state::*;
use sim_core::Counts;
use sim_core::exception::{hcr_el2, scr_el3};
use sim_core::{AbortCause, ExceptionControls};
use sim_isa::decode;

const SVC: u32 = 0xd400_0001;
const HVC: u32 = 0xd400_0002;
const SMC: u32 = 0xd400_0003;
const WFE: u32 = 0xd503_205f;
const WFI: u32 = 0xd503_207f;
const ERET: u32 = 0xd69f_03e0;
/// `msr s3_0_c15_c0_0, x0`, an implementation-defined register.
const IMPLEMENTATION: u32 = 0xd518_f000;
/// `msr ttbr0_el1, x0`
const TTBR0_EL1: u32 = 0xd518_2000;
/// `msr ttbr0_el12, x0`
const TTBR0_EL12: u32 = 0xd51d_2000;
/// `msr spsr_el1, x0`
const SPSR_EL1: u32 = 0xd518_4000;
/// `msr hcr_el2, x0`
const HCR_EL2: u32 = 0xd51c_1100;
/// `msr scr_el3, x0`
const SCR_EL3: u32 = 0xd51e_1100;
/// Address in the upper half, where the kernel runs.
const ABOVE: Option<u64> = Some(0xffff_8000_0000_0000);
const BELOW: Option<u64> = Some(0x40_0000);

fn at(level: u8, hcr_el2: u64, scr_el3: u64) -> ExceptionState {
    ExceptionState {
        privilege: Privilege { level, ..Privilege::default() },
        controls: ExceptionControls { hcr_el2, scr_el3 },
        ..ExceptionState::default()
    }
}

#[test]
fn interrupts_go_to_the_highest_level_that_the_controls_route_them_to() {
    use ExceptionKind::{Fiq, Irq, SystemError};
    assert_eq!(at(0, 0, 0).target(Irq), 1);
    assert_eq!(at(0, hcr_el2::IMO, 0).target(Irq), 2);
    assert_eq!(at(0, hcr_el2::IMO, scr_el3::IRQ).target(Irq), 3);
    assert_eq!(at(1, hcr_el2::IMO, scr_el3::FIQ).target(Fiq), 3);
    assert_eq!(at(1, hcr_el2::AMO, 0).target(SystemError), 2);
}

#[test]
fn el2_does_not_exist_in_secure_state_unless_el3_enables_it() {
    let mut state = at(1, hcr_el2::IMO | hcr_el2::TSC, 0);
    state.privilege.secure = true;
    assert_eq!(state.target(ExceptionKind::Irq), 1);
    assert_eq!(state.target(ExceptionKind::SecureMonitorCall), 3);
    state.controls.scr_el3 = scr_el3::EEL2;
    assert_eq!(state.target(ExceptionKind::Irq), 2);
    assert_eq!(state.target(ExceptionKind::SecureMonitorCall), 2);
}

#[test]
fn a_stage_2_fault_goes_to_the_hypervisor() {
    let kind = ExceptionKind::DataAbort(AbortCause::Stage2);
    assert_eq!((at(0, 0, 0).target(kind), at(1, 0, 0).target(kind)), (2, 2));
}

#[test]
fn nested_exceptions_return_to_the_level_of_their_entry() {
    let mut state = at(0, 0, 0);
    for level in [1, 1, 2] {
        state.enter(Privilege { level, ..state.privilege });
    }
    let mut levels = Vec::new();
    for _ in 0..4 {
        state.leave(None);
        levels.push(state.privilege.level);
    }
    assert_eq!(levels, [1, 1, 0, 0]);
}

#[test]
fn the_oldest_return_is_dropped_when_too_many_exceptions_nest() {
    let mut state = at(0, 0, 0);
    for _ in 0..40 {
        state.enter(Privilege { level: 1, ..state.privilege });
    }
    for _ in 0..MAX_NESTED {
        assert_eq!(state.privilege.level, 1);
        state.leave(None);
    }
    assert_eq!(state.nested, 0);
}

fn generated(state: &ExceptionState, word: u32) -> Option<ExceptionKind> {
    state.generated(&decode(word))
}

/// Returns the state of a host at EL2 or one of its programs at EL0: E2H and TGE are set.
fn host(level: u8) -> ExceptionState {
    let privilege = Privilege { level, e2h: true, tge: true, ..Privilege::default() };
    ExceptionState { privilege, ..at(level, 0, 0) }
}

#[test]
fn traps_of_el2_apply_only_to_lower_levels() {
    use ExceptionKind::{DataAbort, SecureMonitorCall, SystemError, Trap};
    let traps = hcr_el2::TWI | hcr_el2::TWE | hcr_el2::TIDCP | hcr_el2::TSC | hcr_el2::TEA;
    for level in 0..4 {
        let state = at(level, traps, 0);
        let trapped = (level < 2).then_some(Trap);
        for word in [WFI, WFE, IMPLEMENTATION] {
            assert_eq!(generated(&state, word), trapped, "{word:08x} at EL{level}");
        }
        let called = if level < 2 { 2 } else { 3 };
        assert_eq!(state.target(SecureMonitorCall), called, "SMC at EL{level}");
        let abort = state.target(DataAbort(AbortCause::External));
        assert_eq!(abort, level.max(2), "external abort at EL{level}");
    }
    assert_eq!(at(0, 0, 0).target(SystemError), 1);
    assert_eq!(generated(&at(1, hcr_el2::TWI, 0), WFE), None);
    assert_eq!(generated(&at(1, hcr_el2::TWE, 0), WFI), None);
    assert_eq!(generated(&at(1, 0, 0), IMPLEMENTATION), None);
}

#[test]
fn registers_of_other_numbers_are_not_implementation_defined() {
    let state = at(1, hcr_el2::TIDCP, 0);
    // `msr s2_0_c11_c0_0, x0`, `msr spsr_el1, x0`
    for word in [0xd510_b000, SPSR_EL1] {
        assert_eq!(generated(&state, word), None, "{word:08x}");
    }
}

#[test]
fn an_exception_without_a_routing_control_goes_to_el1_or_to_the_host_of_el0() {
    let own = |state: &ExceptionState| state.target(ExceptionKind::SupervisorCall);
    assert_eq!([0, 1, 2, 3].map(|level| own(&at(level, 0, 0))), [1, 1, 2, 3]);
    assert_eq!([0, 2, 3].map(|level| own(&host(level))), [2, 2, 3]);
    let mut secure = host(0);
    secure.privilege.secure = true;
    assert_eq!(own(&secure), 1, "no EL2 in Secure state");
    secure.controls.scr_el3 = scr_el3::EEL2;
    assert_eq!(own(&secure), 2);
}

#[test]
fn a_hypervisor_call_is_undefined_without_el2() {
    use ExceptionKind::{HypervisorCall, Undefined};
    let call = |state: &ExceptionState| generated(state, HVC).expect("it generates one");
    let found = [0, 1, 2, 3].map(|level| call(&at(level, 0, 0)));
    assert_eq!(found, [Undefined, HypervisorCall, HypervisorCall, HypervisorCall]);
    assert_eq!(call(&at(1, hcr_el2::HCD, 0)), Undefined);
    for (level, expected) in [(1, Undefined), (3, HypervisorCall)] {
        let mut state = at(level, 0, 0);
        state.privilege.secure = true;
        assert_eq!(call(&state), expected, "secure EL{level}");
    }
}

#[test]
fn a_monitor_call_is_undefined_at_el0_and_if_it_is_disabled_but_not_trapped() {
    use ExceptionKind::{SecureMonitorCall, Undefined};
    let call = |state: &ExceptionState| generated(state, SMC).expect("it generates one");
    assert_eq!([0, 1].map(|level| call(&at(level, 0, 0))), [Undefined, SecureMonitorCall]);
    assert_eq!(call(&at(1, 0, scr_el3::SMD)), Undefined);
    assert_eq!(call(&at(1, hcr_el2::TSC, scr_el3::SMD)), SecureMonitorCall);
    assert_eq!(call(&at(0, hcr_el2::TSC, 0)), Undefined);
}

#[test]
fn only_a_trapped_monitor_call_is_executed_again() {
    use ExceptionKind::{HypervisorCall, SecureMonitorCall, SupervisorCall};
    let state = at(1, hcr_el2::TSC, 0);
    let found =
        [SupervisorCall, HypervisorCall, SecureMonitorCall].map(|kind| state.completes(kind));
    assert_eq!(found, [true, true, false]);
    assert!(at(1, 0, 0).completes(SecureMonitorCall));
}

#[test]
fn writes_of_translation_registers_are_trapped_only_at_el1() {
    let trapped = Some(ExceptionKind::Trap);
    let state = |level| at(level, hcr_el2::TVM, 0);
    assert_eq!(generated(&state(1), TTBR0_EL1), trapped);
    assert_eq!(generated(&state(1), SPSR_EL1), None, "another register");
    assert_eq!(generated(&state(0), TTBR0_EL1), None, "a user trace: the level is a guess");
    assert_eq!(generated(&state(2), TTBR0_EL1), None);
    assert_eq!(generated(&at(1, 0, 0), TTBR0_EL1), None);
}

/// Arm ARM, op1 encodings used to access System registers by Exception level.
#[test]
fn registers_of_higher_levels_are_undefined_if_the_stream_contains_handlers() {
    let undefined = Some(ExceptionKind::Undefined);
    for (word, lowest, name) in
        [(SPSR_EL1, 1, "SPSR_EL1"), (HCR_EL2, 2, "HCR_EL2"), (SCR_EL3, 3, "SCR_EL3")]
    {
        for level in 0..4 {
            let state = ExceptionState { has_handlers: true, ..at(level, 0, 0) };
            let expected = if level < lowest { undefined } else { None };
            assert_eq!(generated(&state, word), expected, "{name} at EL{level}");
            assert_eq!(generated(&at(level, 0, 0), word), None, "a trace without handlers");
        }
    }
    for (level, e2h, expected) in
        [(1, true, undefined), (2, true, None), (2, false, undefined), (3, true, None)]
    {
        let mut state = ExceptionState { has_handlers: true, ..at(level, 0, 0) };
        state.privilege.e2h = e2h;
        assert_eq!(generated(&state, TTBR0_EL12), expected, "TTBR0_EL12 at EL{level}, {e2h}");
    }
}

#[test]
fn calls_are_counted_only_at_their_usual_level() {
    use ExceptionKind::{Fiq, HypervisorCall, Irq, SecureMonitorCall, SupervisorCall, Trap};
    let to = |level| Privilege { level, ..Privilege::default() };
    let counted = |kind, from, level| counted_by(kind, to(from), to(level));
    assert_eq!(counted(SupervisorCall, 0, 1), Some(PmuEvent::EXC_SVC));
    assert_eq!(counted(SupervisorCall, 2, 2), None);
    assert_eq!(counted(HypervisorCall, 1, 2), Some(PmuEvent::EXC_HVC));
    assert_eq!(counted(HypervisorCall, 3, 3), None);
    assert_eq!(counted(SecureMonitorCall, 1, 3), Some(PmuEvent::EXC_SMC));
    assert_eq!(counted(SecureMonitorCall, 1, 2), None);
    assert_eq!(counted(Fiq, 3, 3), Some(PmuEvent::EXC_FIQ));
    assert_eq!(counted(Fiq, 1, 3), Some(PmuEvent::EXC_TRAP_FIQ));
    assert_eq!(counted(Irq, 3, 3), Some(PmuEvent::EXC_TRAP_IRQ));
    assert_eq!(counted(Irq, 0, 1), Some(PmuEvent::EXC_IRQ));
    assert_eq!(counted(Trap, 1, 2), Some(PmuEvent::EXC_TRAP_OTHER));
}

#[test]
fn exception_returns_are_undefined_at_el0_and_generate_nothing_above() {
    assert_eq!(generated(&at(0, 0, 0), ERET), Some(ExceptionKind::Undefined));
    assert_eq!(generated(&at(1, 0, 0), ERET), None);
    assert_eq!(generated(&at(1, 0, 0), SVC), Some(ExceptionKind::SupervisorCall));
}

#[test]
fn a_return_from_a_handler_entered_before_the_stream_goes_to_its_program() {
    let after = |mut state: ExceptionState, next_pc| {
        state.leave(next_pc);
        state.privilege.level
    };
    assert_eq!([1, 2, 3].map(|level| after(at(level, 0, 0), None)), [0, 1, 2]);
    assert_eq!(after(host(2), None), 0, "the host serves EL0");
    let kernel = |level| ExceptionState { kernel_is_above: true, ..at(level, 0, 0) };
    assert_eq!(after(kernel(1), ABOVE), 1, "to another thread of the kernel");
    assert_eq!(after(kernel(1), BELOW), 0);
    assert_eq!(after(kernel(2), BELOW), 1, "only EL1 goes by the address");
    assert_eq!(after(kernel(3), BELOW), 2);
    assert_eq!(after(at(1, 0, 0), ABOVE), 0, "no kernel in the stream");
}

fn pipeline() -> Pipeline {
    #[derive(serde::Deserialize)]
    struct Document {
        pipeline: PipelineConfig,
    }
    let text = include_str!("../../../../configs/neoverse-n2/machine.toml");
    let document: Document = toml::from_str(text).expect("the committed configuration parses");
    Pipeline::new(&document.pipeline)
}

#[test]
fn an_interrupt_changes_the_level_only_if_the_stream_contains_its_handler() {
    for (has_handlers, level) in [(false, 0), (true, 1)] {
        let (mut pipeline, mut counts) = (pipeline(), Counts::default());
        pipeline.set_exceptions(ExceptionControls::default(), has_handlers);
        pipeline.interrupt(ExceptionKind::Irq, 100, &mut counts);
        assert_eq!(counts.value(PmuEvent::EXC_IRQ), 1);
        assert_eq!(pipeline.privilege().level, level);
    }
}

#[test]
fn a_virtual_interrupt_waits_while_a_host_runs_its_own_programs() {
    let (mut pipeline, mut counts) = (pipeline(), Counts::default());
    pipeline.set_exceptions(ExceptionControls::default(), true);
    pipeline.set_privilege(host(0).privilege);
    pipeline.interrupt(ExceptionKind::VirtualIrq, 100, &mut counts);
    assert_eq!(counts.value(PmuEvent::EXC_TAKEN), 0, "it waits");
    pipeline.interrupt(ExceptionKind::Irq, 200, &mut counts);
    assert_eq!(counts.value(PmuEvent::EXC_TAKEN), 1, "a physical one does not");
    pipeline.set_privilege(Privilege { level: 1, ..Privilege::default() });
    pipeline.interrupt(ExceptionKind::Irq, 300, &mut counts);
    assert_eq!(counts.value(PmuEvent::EXC_TAKEN), 2, "one at a time, the physical one first");
    pipeline.interrupt(ExceptionKind::VirtualIrq, 400, &mut counts);
    assert_eq!(counts.value(PmuEvent::EXC_TAKEN), 3, "a guest takes it");
}

#[test]
fn an_interrupt_for_a_lower_level_waits_until_the_level_falls() {
    let (mut pipeline, mut counts) = (pipeline(), Counts::default());
    pipeline.set_exceptions(ExceptionControls::default(), true);
    pipeline.set_privilege(at(2, 0, 0).privilege);
    pipeline.interrupt(ExceptionKind::Irq, 100, &mut counts);
    assert_eq!(counts.value(PmuEvent::EXC_TAKEN), 0);
    pipeline.exception_return(
        &OpTimeline { retire: 200, ..OpTimeline::default() },
        None,
        &mut counts,
    );
    assert_eq!(counts.value(PmuEvent::EXC_TAKEN), 1, "EL1 takes it");
    assert_eq!(pipeline.privilege().level, 1);
}
