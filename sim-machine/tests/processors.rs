//! Processors of a recorded system: one starts when another calls it, and sleeps until another
//! wakes it.

use std::path::Path;

use sim_core::{Cycle, EventSink, Notice, PmuEvent, StallCause};
use sim_machine::{
    ConfigSource, MachineConfig, MachineError, Outcome, RunHeader, RunOptions, Session,
    ThreadWarming,
};
use sim_trace::{Access, Meta, StreamEvent, TraceWriter};

const KERNEL: u64 = 0xffff_8000_0800_0000;
const NOP: u32 = 0xd503_201f;
const WFI: u32 = 0xd503_207f;
const HVC: u32 = 0xd400_0002;
/// MSR ICC_SGI1R_EL1, X3
const MSR_SGI: u32 = 0xd518_cba3;
/// DSB ISH
const DSB: u32 = 0xd503_3b9f;
/// B to the instruction itself.
const SELF: u32 = 0x1400_0000;
/// MOV X0, X0, in the lower half of the addresses.
const BELOW: u32 = 0xaa00_03e0;
/// LDR X0, [X1]
const LOAD: u32 = 0xf940_0020;
/// TLBI VAAE1IS, X10
const TLBI: u32 = 0xd508_836a;
/// Address of the loads.
const DATA: u64 = 0x5000_0000;
/// Branches of the first processor between two steps, at most two a cycle.
const BRANCHES: usize = 2000;
const INTERRUPT: u32 = 0x280;

/// Instructions of a processor, each with the number of the ticket it takes.
type Steps = Vec<(u32, Option<u64>)>;

fn write(path: &Path, processors: &[Steps]) {
    let mut meta = Meta::default();
    meta.machine.full_system = true;
    let mut trace = TraceWriter::create(path, meta).expect("a folder for tests");
    let words = [NOP, WFI, HVC, MSR_SGI, DSB, SELF, BELOW, LOAD, TLBI];
    let blocks = words.map(|word| {
        let place = words.iter().position(|other| *other == word).expect("it is there") as u64;
        let base = if word == BELOW { 0x4000_0000 } else { KERNEL };
        (word, trace.define_block(base + 0x100 * place, &[word]).expect("a block"))
    });
    for (stream, steps) in (0..).zip(processors) {
        for &(word, ticket) in steps {
            let (_, block) = blocks.iter().find(|(known, _)| *known == word).expect("a block");
            let addr = match word {
                LOAD => Some(DATA),
                TLBI => Some(DATA >> 12),
                _ => None,
            };
            let accesses: Vec<Access> =
                addr.map(|addr| Access { index: 0, addr }).into_iter().collect();
            trace.push_block(stream, *block, 1, &accesses, None).expect("it fits");
            if let Some(order) = ticket {
                let event = StreamEvent::Ticket { order, back: 1 };
                trace.push_event(stream, event).expect("it fits");
            }
            // The instruction after it is the first of a handler.
            if stream == 1 && word == WFI {
                let event = StreamEvent::Exception {
                    vector: INTERRUPT,
                    abandoned: false,
                    level: 1,
                    syndrome: 0,
                    state: 0,
                };
                trace.push_event(stream, event).expect("it fits");
            }
        }
    }
    trace.finish().expect("a whole trace");
}

/// Records the cycle in which each core renames each instruction.
#[derive(Default)]
struct Recorder {
    core: usize,
    ran: [Vec<Cycle>; 2],
}

impl EventSink for Recorder {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core,
            Notice::Operation(operation) if !operation.timeline.wrong_path => {
                self.ran[self.core].push(operation.timeline.rename);
            }
            _ => {}
        }
    }
}

fn replay(processors: &[Steps], order: &str) -> (Outcome, [Vec<Cycle>; 2]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("system.n2t");
    write(&path, processors);
    let document = ConfigSource::default().document().expect("the profiles are embedded");
    let document = document.set(&format!("threads.order={order}")).expect("a known order");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(&path, config, RunHeader::default()).expect("the trace");
    let mut recorder = Recorder::default();
    let run = session.run_with_sink(&RunOptions::default(), &mut |_| (), &mut recorder);
    (run.expect("a run"), recorder.ran)
}

/// Branches of the first processor, its call of the second, more branches, its interrupt.
fn first() -> Steps {
    let branches = || vec![(SELF, None); BRANCHES];
    [branches(), vec![(HVC, Some(0))], branches(), vec![(MSR_SGI, Some(2))], branches()].concat()
}

#[test]
fn a_processor_starts_after_the_call_and_sleeps_until_its_interrupt() {
    let second = vec![(NOP, Some(1)), (WFI, None), (NOP, Some(3)), (NOP, None)];
    for order in ["causal", "recorded"] {
        let (outcome, [caller, called]) = replay(&[first(), second.clone()], order);
        let (call, send) = (caller[BRANCHES], caller[2 * BRANCHES + 1]);
        assert!(called[0] >= call, "{order}: {} {call}", called[0]);
        assert!(called[1] < send, "{order}: it sleeps before the interrupt comes");
        assert!(called[2] >= send, "{order}: {} {send}", called[2]);
        let second = &outcome.cores[1];
        let value = |event| second.counts.value(event);
        // Before its first instruction nothing is counted. Then the clock of the core runs on in
        // its sleep, that of the system counter does not.
        let waits = second.waits;
        assert!(waits.away > BRANCHES as u64 / 2, "{order}: {waits:?}");
        assert_eq!(waits.on_core, 0, "{order}: sleep adds no wait");
        let asleep = second.stalls.unpack().of(StallCause::FetchAsleep) / 5;
        assert!(asleep > BRANCHES as u64 / 4, "{order}: {asleep}");
        assert!(value(PmuEvent::CPU_CYCLES) > asleep, "{order}");
        assert!(value(PmuEvent::CNT_CYCLES) < asleep / 2, "{order}");
        let slots = value(PmuEvent::OP_SPEC) + value(PmuEvent::STALL_SLOT);
        assert_eq!(slots, 5 * value(PmuEvent::CPU_CYCLES), "{order}");
        assert_eq!(value(PmuEvent::EXC_IRQ), 1, "{order}");
        assert_eq!(outcome.cores[0].waits.on_core, 0, "{order}: nothing waits for an interrupt");
    }
}

#[test]
fn an_interrupt_waits_for_calls_alone_and_nothing_waits_for_it() {
    // The second barrier may have read what happened before the barrier of the other one, but not
    // before its interrupt. The interrupt of a timer does not wait for a barrier.
    let first = vec![(DSB, Some(0)), (DSB, Some(3))];
    let slow = [vec![(SELF, None); BRANCHES], vec![(WFI, None), (NOP, Some(2))]].concat();
    let (_, ran) = replay(&[first.clone(), slow], "causal");
    assert!(ran[0][1] < BRANCHES as u64 / 2, "an interrupt releases nothing: {:?}", ran[0]);
    let barrier = [vec![(SELF, None); BRANCHES], vec![(DSB, Some(2))]].concat();
    let (_, ran) = replay(&[first, barrier], "causal");
    assert!(ran[0][1] > BRANCHES as u64 / 2, "a barrier does: {:?}", ran[0]);
}

#[test]
fn a_processor_that_wakes_waits_for_earlier_calls_and_for_nothing_else() {
    // A timer may have woken it: the recording does not show that.
    let busy = |word, order| [vec![(SELF, None); BRANCHES], vec![(word, Some(order))]].concat();
    let idle = |order| vec![(WFI, None), (NOP, Some(order))];
    let cases = [
        (busy(DSB, 0), idle(1), "causal", false),
        (busy(DSB, 0), idle(1), "recorded", true),
        (busy(MSR_SGI, 0), idle(1), "causal", true),
        (busy(MSR_SGI, 1), idle(0), "causal", false),
    ];
    for (busy, idle, order, waits) in cases {
        let (_, ran) = replay(&[busy, idle], order);
        assert_eq!(ran[1][1] > BRANCHES as u64 / 2, waits, "{order}: {:?}", ran[1]);
    }
}

#[test]
fn a_processor_that_starts_below_its_kernel_is_at_el1_from_the_kernel_on() {
    // The firmware starts it in the lower half, and it branches to the upper half.
    let second = vec![(BELOW, Some(1)), (BELOW, None), (NOP, None), (NOP, None)];
    let (outcome, _) = replay(&[first(), second], "causal");
    let retired: Vec<(u8, u64)> = (outcome.cores[1].levels.iter())
        .map(|part| (part.level.level, part.counts.unpack().value(PmuEvent::INST_RETIRED)))
        .collect();
    assert_eq!(retired, [(0, 2), (1, 2)]);
}

#[test]
fn a_broadcast_invalidation_reaches_the_other_processor() {
    let walks = |word: u32| {
        let first = [vec![(SELF, None); BRANCHES], vec![(word, None), (DSB, Some(0))]].concat();
        let second = vec![(LOAD, None), (DSB, Some(1)), (LOAD, None)];
        let (outcome, _) = replay(&[first, second], "causal");
        outcome.cores[1].counts.value(PmuEvent::DTLB_WALK)
    };
    assert_eq!((walks(NOP), walks(TLBI)), (1, 2));
}

#[test]
fn windows_of_several_processors_are_refused() {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let path = folder.path().join("system.n2t");
    write(&path, &[vec![(NOP, None); 20], vec![(NOP, None); 20]]);
    let document = ConfigSource::default().document().expect("the default");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(&path, config, RunHeader::default()).expect("a whole trace");
    let windows = session.run_windows(&[], &mut |_| {}).map(|_| ());
    let warming = ThreadWarming::new(&session).map(|_| ());
    for refused in [windows, warming] {
        let refused = refused.expect_err("two processors");
        assert!(matches!(refused, MachineError::SystemWindows { processors: 2, .. }), "{refused}");
    }
}
