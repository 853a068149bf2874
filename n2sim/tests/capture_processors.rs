//! Recordings of a whole system with two processors. The first starts the second, and sends it
//! messages by interrupts. The second turns itself off, and the first starts it again.

use crate::capture_system::Bench;
use crate::recording::Recording;
use sim_core::{AccessKind, EventSink, Notice, OperationKind, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_trace::{StreamEvent, Ticket, TraceFile};
use std::path::Path;

const PROCESSORS: [&str; 2] = ["--processors", "2"];
/// Messages, each with an answer.
const ROUNDS: usize = 3;

const HVC: u32 = 0xd400_0002;
const MSR_SGI: u32 = 0xd518_cbaa;
const STORE_MESSAGE: u32 = 0xb900_02d8; // str w24, [x22]
const STORE_ANSWER: u32 = 0x889f_fdae; // stlr w14, [x13]
const MRS_COUNT: u32 = 0xd53b_e814; // mrs x20, pmevcntr0_el0
const TLBI: u32 = 0xd508_836a; // tlbi vaae1is, x10

/// The instructions of a stream: position, word, address.
fn steps(file: &TraceFile, stream: u32) -> Vec<(u64, u32, u64)> {
    let mut reader = file.reader(stream).expect("the stream is there");
    let (mut batch, mut steps) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).expect("it decodes") {
        let insts = batch.iter().zip(reader.batch_start()..);
        let word = |id| file.statics().insts()[id as usize].word;
        steps.extend(insts.map(|(inst, at)| (at, word(inst.id), inst.addr)));
    }
    steps
}

/// Returns the first instruction of a stream.
fn first_of(file: &TraceFile, stream: u32) -> u32 {
    let (mut reader, mut batch) = (file.reader(stream).expect("it is there"), Vec::new());
    reader.next_batch(&mut batch).expect("it decodes");
    batch[0].id
}

/// Positions and vectors of the exceptions of a stream.
fn exceptions(file: &TraceFile, stream: u32) -> Vec<(u64, u32)> {
    let mut reader = file.reader(stream).expect("the stream is there");
    let (mut batch, mut found) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).expect("it decodes") {
        found.extend(reader.events().iter().filter_map(|at| match at.event {
            StreamEvent::Exception { vector, .. } => {
                Some((reader.batch_start() + u64::from(at.position), vector))
            }
            _ => None,
        }));
    }
    found
}

fn tickets(file: &TraceFile, stream: u32) -> Vec<Ticket> {
    let mut reader = file.tickets(stream).expect("the stream is there");
    std::iter::from_fn(|| reader.next_ticket().expect("tickets decode")).collect()
}

/// Returns the ticket of the instruction at this position of a stream.
fn ticket_at(file: &TraceFile, stream: u32, position: u64) -> u64 {
    let found = tickets(file, stream).into_iter().find(|ticket| ticket.position == position);
    found.unwrap_or_else(|| panic!("instruction {position} of {stream} has a ticket")).order
}

fn positions(steps: &[(u64, u32, u64)], word: u32) -> Vec<u64> {
    steps.iter().filter(|step| step.1 == word).map(|step| step.0).collect()
}

#[test]
fn each_processor_has_a_stream_with_all_that_it_ran() {
    let Some(bench) = Bench::of("processors.S") else { return };
    let recording = bench.read(&PROCESSORS);
    let Recording { file, said, .. } = &recording;
    assert_eq!(file.streams().len(), 2, "{said}");
    assert!(said.contains(" 2 processors, "), "{said}");
    // The first reads a counter of the instructions of both, at its beginning and at its end. After
    // the second reading it computes the difference and runs the stop marker.
    let end = recording.note("program-end").expect("it ended");
    let counted = end.strip_prefix("stop marker, x0 = 0x").expect("it reached the marker");
    let counted = u64::from_str_radix(counted, 16).expect("a number");
    let first = steps(file, 0);
    let before = positions(&first, MRS_COUNT)[0] + 1;
    assert_eq!(file.instructions(), before + counted + 2, "{said}");
    // The second began where the firmware was asked to begin it, with translation off, and sleeps.
    let second = steps(file, 1);
    assert_eq!(file.statics().insts()[first_of(file, 1) as usize].pc >> 32, 0);
    assert_eq!(second.last().map(|step| step.1), Some(0xd503_207f), "wfi");
    assert_eq!(exceptions(file, 0), []);
    let interrupts: Vec<u32> = exceptions(file, 1).into_iter().map(|(_, vector)| vector).collect();
    assert_eq!(interrupts, [0x280; ROUNDS]);
    // The code of both halves is in the same physical page.
    let map = file.page_map().expect("pages were seen");
    let code: Vec<u64> = map.entries().iter().filter(|e| e.execute).map(|e| e.phys).collect();
    assert_eq!(code, [0x4020_0000; 2], "{said}");
    // Registers are those of the processor that runs.
    let operands: Vec<u64> = first.iter().filter(|s| s.1 == TLBI).map(|s| s.2).collect();
    assert_eq!(operands, [0x4_0000; ROUNDS], "{said}");
}

#[test]
fn tickets_order_start_and_interrupts_of_processors() {
    let Some(bench) = Bench::of("processors.S") else { return };
    let recording = bench.read(&PROCESSORS);
    let file = &recording.file;
    let first = steps(file, 0);
    let start = positions(&first, HVC);
    let (start, again) = (start[0], start[start.len() - 1]);
    assert!(ticket_at(file, 0, start) < ticket_at(file, 1, 0), "it starts when it is called");
    let off = positions(&steps(file, 1), HVC);
    assert_eq!(off.len(), 1);
    let restart = ticket_at(file, 1, off[0] + 1);
    assert!(ticket_at(file, 0, again) < restart, "it starts again when it is called");
    let sent = positions(&first, MSR_SGI);
    let taken = exceptions(file, 1);
    assert_eq!((sent.len(), taken.len()), (ROUNDS, ROUNDS));
    for (sent, (taken, _)) in sent.iter().zip(&taken) {
        assert!(ticket_at(file, 0, *sent) < ticket_at(file, 1, *taken), "{}", recording.said);
    }
}

#[test]
fn an_instruction_takes_the_tickets_of_the_document_and_no_more() {
    let Some(bench) = Bench::of("processors.S") else { return };
    let recording = bench.read(&PROCESSORS);
    let (file, first) = (&recording.file, steps(&recording.file, 0));
    let taken = tickets(file, 0);
    let cases = [
        (0xb8fa_02bb_u32, 2), // ldaddal w26, w27, [x21]
        (0xb83a_02bf, 1),     // stadd w26, [x21]
        (0x88fb_feba, 2),     // casal w27, w26, [x21]
        (0x88fb_7eba, 1),     // casa w27, w26, [x21]
        (0x885f_febb, 1),     // ldaxr w27, [x21]
        (0x881c_febb, 2),     // stlxr w28, w27, [x21]
        (MSR_SGI, 1),
        (HVC, 1),
    ];
    for (word, expected) in cases {
        let places = positions(&first, word);
        assert!(!places.is_empty(), "{word:#x}");
        for place in places {
            let own = taken.iter().filter(|ticket| ticket.position == place).count();
            assert_eq!(own, expected, "{word:#x} at {place}: {}", recording.said);
        }
    }
}

#[test]
fn two_recordings_of_two_processors_are_the_same_file() {
    let Some(bench) = Bench::of("processors.S") else { return };
    let bytes = || {
        bench.read(&PROCESSORS);
        std::fs::read(bench.path("kernel.n2t")).expect("the trace")
    };
    // Each stream fits one slot of the shared memory. The files of longer ones may differ in how
    // definitions are split.
    assert!(bytes() == bytes());
}

/// A sink that records the processor of each store to a message or an answer.
#[derive(Default)]
struct Listener {
    core: u32,
    watched: [u64; 2],
    stores: Vec<(u32, u64)>,
}

impl EventSink for Listener {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core as u32,
            Notice::Operation(operation) => {
                let is_store = matches!(operation.kind, OperationKind::Access(access) if access.kind == AccessKind::Store);
                let timeline = operation.timeline;
                if timeline.retired && is_store && self.watched.contains(&timeline.addr) {
                    self.stores.push((self.core, timeline.addr));
                }
            }
            _ => {}
        }
    }
}

fn replay(trace: &Path, order: &str, watched: [u64; 2]) -> (Outcome, Vec<(u32, u64)>) {
    let document = ConfigSource::default().document().expect("the profile is embedded");
    let document = document.set(&format!("threads.order={order}")).expect("a known order");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(trace, config, RunHeader::default()).expect("it opens");
    let mut listener = Listener { watched, ..Listener::default() };
    let run = session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut listener);
    (run.expect("it runs"), listener.stores)
}

#[test]
fn a_replay_runs_each_interrupt_after_its_message() {
    let Some(bench) = Bench::of("processors.S") else { return };
    let recording = bench.read(&PROCESSORS);
    let file = &recording.file;
    let addr = |stream, word| {
        let step = steps(file, stream).into_iter().find(|step| step.1 == word);
        step.expect("it stores").2
    };
    let watched = [addr(0, STORE_MESSAGE), addr(1, STORE_ANSWER)];
    let expected: Vec<(u32, u64)> =
        (0..ROUNDS).flat_map(|_| [(0, watched[0]), (1, watched[1])]).collect();
    for order in ["causal", "recorded"] {
        let (outcome, stores) = replay(&bench.path("kernel.n2t"), order, watched);
        assert_eq!(stores, expected, "{order}");
        for core in &outcome.cores {
            let stream = &file.streams()[core.stream as usize];
            assert_eq!(core.counts.value(PmuEvent::INST_RETIRED), stream.instructions, "{order}");
        }
        let [first, second] = &outcome.cores[..] else { panic!("two processors") };
        assert_eq!(first.counts.value(PmuEvent::EXC_IRQ), 0);
        assert_eq!(second.counts.value(PmuEvent::EXC_IRQ), ROUNDS as u64, "{order}");
        assert!(outcome.memory().peer_lines > 0, "{order}: lines come from the other core");
    }
}
