//! Under happens-before a thread waits for what it may have read, and for nothing else.

use std::path::Path;

use sim_core::{Cycle, EventSink, Notice, PmuEvent};
use sim_machine::{
    ConfigSource, MachineConfig, Marker, Mode, Outcome, Roi, RunHeader, RunOptions, Session,
    ThreadOrder,
};
use sim_trace::{Access, BlockId, Meta, StreamEvent, TraceWriter};

const NOP: u32 = 0xd503_201f;
const SVC: u32 = 0xd400_0001;
/// STLR X1, [X0]
const STLR: u32 = 0xc89f_fc01;
/// LDAR X1, [X0]
const LDAR: u32 = 0xc8df_fc01;
/// LDADD X1, X2, [X0]
const LDADD: u32 = 0xf821_0002;
/// LDADDAL X1, X2, [X0]
const LDADDAL: u32 = 0xf8e1_0002;
/// LDAXR X1, [X0]
const LDAXR: u32 = 0xc85f_fc01;
/// STXR W2, X1, [X0]
const STXR: u32 = 0xc802_7c01;
/// SWPA X1, X2, [X0]
const SWPA: u32 = 0xf8a1_8002;
/// DMB ISH
const DMB: u32 = 0xd503_3bbf;
/// HINT #40
const OPENS: u32 = NOP | 40 << 5;
/// B to the instruction itself.
const SELF: u32 = 0x1400_0000;

const WORD: u64 = 0x8000;
const NEXT_WORD: u64 = 0x8008;

/// One step of a thread.
#[derive(Clone, Copy)]
enum Do {
    /// This many branches.
    Bare(u64),
    /// An instruction at this address, with these tickets.
    Access(u32, u64, &'static [u64]),
    /// A call: number, two arguments, its ticket, and the ticket of the instruction after it.
    Call(u64, [u64; 2], u64, u64),
    /// Ticket of the thread's first instruction.
    Begin(u64),
    /// Ticket of an instruction after the end of the stream.
    Cut(u64),
}

struct Writer {
    trace: TraceWriter,
    blocks: Vec<(u32, BlockId)>,
}

impl Writer {
    fn block(&mut self, word: u32) -> BlockId {
        if let Some((_, block)) = self.blocks.iter().find(|(known, _)| *known == word) {
            return *block;
        }
        let pc = 0x1000 + 0x100 * self.blocks.len() as u64;
        let block = self.trace.define_block(pc, &[word]).expect("a block");
        self.blocks.push((word, block));
        block
    }

    fn run(&mut self, stream: u32, word: u32, accesses: &[Access]) {
        let block = self.block(word);
        self.trace.push_block(stream, block, 1, accesses, None).expect("it fits");
    }

    fn ticket(&mut self, stream: u32, order: u64, back: u16) {
        self.trace.push_event(stream, StreamEvent::Ticket { order, back }).expect("it fits");
    }

    fn step(&mut self, stream: u32, what: Do) {
        match what {
            Do::Bare(count) => (0..count).for_each(|_| self.run(stream, SELF, &[])),
            Do::Access(word, addr, tickets) => {
                let access = [Access { index: 0, addr }];
                let accesses: &[Access] = if word == DMB { &[] } else { &access };
                self.run(stream, word, accesses);
                tickets.iter().for_each(|order| self.ticket(stream, *order, 1));
            }
            Do::Call(number, [x0, x1], before, after) => {
                self.run(stream, SVC, &[]);
                self.ticket(stream, before, 1);
                let args = [x0, x1, 0, 0, 0x9000, 0];
                let event = StreamEvent::Syscall { number, args, result: Some(0) };
                self.trace.push_event(stream, event).expect("it fits");
                self.run(stream, NOP, &[]);
                self.ticket(stream, after, 1);
            }
            Do::Begin(order) => {
                self.run(stream, NOP, &[]);
                self.ticket(stream, order, 1);
            }
            Do::Cut(order) => self.ticket(stream, order, 0),
        }
    }
}

fn write(path: &Path, threads: &[&[Do]]) {
    let trace = TraceWriter::create(path, Meta::default()).expect("a folder for tests");
    let mut writer = Writer { trace, blocks: Vec::new() };
    for (stream, steps) in (0..).zip(threads) {
        steps.iter().for_each(|what| writer.step(stream, *what));
    }
    writer.trace.finish().expect("a whole trace");
}

/// Records the cycle in which each core runs each instruction.
#[derive(Default)]
struct Recorder {
    core: usize,
    ran: Vec<(usize, u64, Cycle)>,
}

impl EventSink for Recorder {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.core = core;
            }
            Notice::Operation(operation) if !operation.timeline.wrong_path => {
                self.ran.push((self.core, operation.number, operation.timeline.rename));
            }
            _ => {}
        }
    }
}

fn session(threads: &[&[Do]], order: &str) -> Session {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("causal.n2t");
    write(&path, threads);
    let overrides = [format!("threads.order={order}")];
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    Session::open(&path, config, RunHeader::default()).expect("a good trace")
}

/// Returns the outcome, and the cycle in which the second thread's last instruction was renamed.
fn last_of_second(threads: &[&[Do]], order: &str) -> (Outcome, Cycle) {
    let mut recorder = Recorder::default();
    let session = session(threads, order);
    let outcome = session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut recorder);
    let second = recorder.ran.iter().filter(|one| one.0 == 1);
    let last = second.max_by_key(|one| one.1).expect("it has run").2;
    (outcome.expect("it runs"), last)
}

/// Branches before the release of the first thread.
const BRANCHES: u64 = 20_000;
/// Fewest cycles of these branches.
const SLOW: u64 = BRANCHES / 4;

/// Returns true if the second thread's last step waits for the first one's.
fn waits(first: Do, second: Do) -> bool {
    let threads: [&[Do]; 2] = [&[Do::Bare(BRANCHES), first], &[Do::Bare(5), second]];
    last_of_second(&threads, "causal").1 >= SLOW
}

#[test]
fn an_acquire_waits_for_the_release_that_it_reads() {
    let release = Do::Access(STLR, WORD, &[0]);
    assert!(waits(release, Do::Access(LDAR, WORD, &[1])));
    assert!(waits(release, Do::Access(LDADDAL, WORD, &[1, 2])));
    assert!(waits(Do::Access(LDADDAL, WORD, &[0, 1]), Do::Access(LDAR, WORD, &[2])));
    assert!(!waits(release, Do::Access(LDAR, NEXT_WORD, &[1])), "a neighbor in the line");
    assert!(!waits(release, Do::Access(STLR, WORD, &[1])), "a write after a write");
    assert!(!waits(release, Do::Access(LDADD, WORD, &[1])), "relaxed");
    assert!(!waits(Do::Access(LDADD, WORD, &[0]), Do::Access(LDAR, WORD, &[1])), "relaxed");
    assert!(!waits(Do::Access(STLR, WORD, &[1]), Do::Access(LDAR, WORD, &[0])), "read before");
}

#[test]
fn a_lock_is_taken_by_the_store_exclusive_not_by_its_load() {
    // The lock is free at the load and again at the store. Meanwhile the first thread has it twice.
    let first = [
        Do::Access(SWPA, WORD, &[1]),
        Do::Access(STLR, WORD, &[2]),
        Do::Access(SWPA, WORD, &[3]),
        Do::Bare(BRANCHES),
        Do::Access(STLR, WORD, &[4]),
    ];
    let enters_at = |second: &[Do]| last_of_second(&[&first, second], "causal").1;
    let load = Do::Access(LDAXR, WORD, &[0]);
    let taken = [load, Do::Access(STXR, WORD, &[5]), Do::Bare(1)];
    assert!(enters_at(&taken) >= SLOW, "the section begins after the last release");
    let other = [load, Do::Access(STXR, NEXT_WORD, &[5]), Do::Bare(1)];
    assert!(enters_at(&other) < SLOW, "another word");
    assert!(enters_at(&[load, Do::Bare(2)]) < SLOW, "no store");
}

#[test]
fn accesses_to_different_counters_of_a_line_do_not_wait() {
    let first = Do::Access(LDADDAL, WORD, &[0, 1]);
    assert!(!waits(first, Do::Access(LDADDAL, NEXT_WORD, &[2, 3])));
}

#[test]
fn a_barrier_waits_for_every_release() {
    assert!(waits(Do::Access(STLR, WORD, &[0]), Do::Access(DMB, 0, &[1])));
    assert!(waits(Do::Access(DMB, 0, &[0]), Do::Access(LDAR, WORD, &[1])));
    assert!(!waits(Do::Access(LDAR, WORD, &[0]), Do::Access(DMB, 0, &[1])));
}

#[test]
fn a_call_waits_for_the_call_that_answers_it() {
    const CLONE: u64 = 220;
    const FUTEX: u64 = 98;
    const EXIT: u64 = 93;
    let (wait, wake) = (0x80, 0x81);
    let wakes = Do::Call(FUTEX, [WORD, wake], 1, 9);
    assert!(waits(wakes, Do::Call(FUTEX, [WORD, wait], 0, 2)));
    assert!(!waits(wakes, Do::Call(FUTEX, [NEXT_WORD, wait], 0, 2)), "another word");
    assert!(!waits(wakes, Do::Call(113, [0, 0], 0, 2)), "clock_gettime");
    // CLONE_THREAD and CLONE_CHILD_CLEARTID; the end word is the fifth argument.
    let makes = Do::Call(CLONE, [0x21_0000, 0], 0, 9);
    let threads: [&[Do]; 2] = [&[Do::Bare(BRANCHES), makes], &[Do::Begin(1)]];
    assert!(last_of_second(&threads, "causal").1 >= SLOW);
    let joined = |word: u64| {
        let ends = [Do::Begin(2), Do::Bare(BRANCHES), Do::Call(EXIT, [0, 0], 3, 9)];
        let joins = [Do::Call(CLONE, [0x21_0000, 0], 0, 1), Do::Call(FUTEX, [word, 0], 4, 5)];
        last_of_second(&[&ends, &joins], "causal").1
    };
    assert!(joined(0x9000) >= SLOW);
    assert!(joined(0xa000) < SLOW, "another word");
}

#[test]
fn a_thread_waits_even_if_its_maker_stops_before_its_own_wait() {
    // The maker has waited for the release when it makes the third thread, but stops after its
    // hint.
    let makes = Do::Call(220, [0x21_0000, 0], 2, 4);
    let maker = [Do::Access(OPENS, 0, &[]), Do::Bare(9), Do::Access(LDAR, WORD, &[1]), makes];
    let threads: [&[Do]; 3] = [
        &[Do::Bare(BRANCHES), Do::Access(STLR, WORD, &[0])],
        &maker,
        &[Do::Begin(3), Do::Access(LDAR, WORD, &[5])],
    ];
    let roi = Some(Roi { begin: Marker::Hint(40), end: Marker::Hint(41) });
    for limit in [None, Some(2)] {
        let mut recorder = Recorder::default();
        let options = RunOptions { limit, roi: roi.clone(), ..RunOptions::default() };
        let session = session(&threads, "causal");
        session.run_with_sink(&options, &mut |_| {}, &mut recorder).expect("it runs");
        let ran = |core: usize| recorder.ran.iter().filter(move |one| one.0 == core);
        assert_eq!(ran(1).count() < 4, limit.is_some());
        assert!(ran(2).any(|one| one.2 >= SLOW), "{limit:?}");
    }
}

#[test]
fn a_ticket_at_the_end_of_a_stream_hides_no_release() {
    // The second thread would have waited for the first one's release and then released itself.
    let threads: [&[Do]; 3] = [
        &[Do::Bare(BRANCHES), Do::Access(STLR, WORD, &[0])],
        &[Do::Bare(5), Do::Cut(1)],
        &[Do::Bare(5), Do::Access(DMB, 0, &[2])],
    ];
    let mut recorder = Recorder::default();
    let session = session(&threads, "causal");
    session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut recorder).expect("it runs");
    assert!(recorder.ran.iter().any(|one| one.0 == 2 && one.2 >= SLOW));
}

#[test]
fn a_note_names_the_order_and_the_time_waited() {
    let first = [Do::Bare(BRANCHES), Do::Access(STLR, WORD, &[0])];
    let other = [Do::Bare(5), Do::Access(LDAR, NEXT_WORD, &[1])];
    let threads: [&[Do]; 2] = [&first, &other];
    for (order, kept, has_waited) in [
        ("causal", ThreadOrder::Causal, false),
        ("recorded", ThreadOrder::Recorded, true),
        ("free", ThreadOrder::Free, false),
    ] {
        let (outcome, last) = last_of_second(&threads, order);
        assert_eq!(outcome.header.order.map(|order| order.kept()), Some(kept));
        assert_eq!(last >= SLOW, has_waited, "{order}");
        let waits = outcome.cores[1].waits;
        assert_eq!(waits.on_core > SLOW / 2, has_waited, "{order} {waits:?}");
        assert!(waits.on_core <= outcome.cores[1].counts.value(PmuEvent::CPU_CYCLES));
        assert_eq!((waits.away, waits.shares().0 > 50.0), (0, has_waited), "{waits:?}");
        let note = format!("threads in {order} order");
        assert!(outcome.notes[0].starts_with(&note), "{:?}", outcome.notes);
    }
}

#[test]
fn single_threads_have_no_order_and_threads_without_tickets_run_free() {
    let alone: &[Do] = &[Do::Bare(5), Do::Access(STLR, WORD, &[0])];
    assert_eq!(session(&[alone], "causal").header().order, None);
    let bare: &[Do] = &[Do::Bare(5)];
    let order = session(&[bare, bare], "causal").header().order.expect("two threads");
    assert_eq!((order.kept(), order.is_known), (ThreadOrder::Free, false));
}

#[test]
fn every_mode_and_every_limit_runs_to_its_end() {
    let one = [Do::Access(STLR, WORD, &[7]), Do::Bare(3), Do::Access(LDADDAL, WORD, &[7, 2])];
    let two = [Do::Access(LDAR, WORD, &[9, 9]), Do::Bare(2_000), Do::Access(DMB, 0, &[1])];
    let three = [Do::Call(98, [WORD, 0], 3, 8), Do::Bare(50), Do::Access(LDAR, WORD, &[11])];
    for mode in [Mode::Full, Mode::Memory, Mode::Frontend] {
        let session = session(&[&one, &two, &three], "causal").in_mode(mode);
        for limit in [None, Some(1), Some(3), Some(40)] {
            let options = RunOptions { limit, ..RunOptions::default() };
            let run = || session.run(&options, &mut |_| {}).expect("it ends").total();
            let counts = run();
            let streams = session.trace().streams().iter();
            let all: u64 = streams.map(|one| one.instructions.min(limit.unwrap_or(u64::MAX))).sum();
            assert_eq!(counts.value(PmuEvent::INST_RETIRED), all, "{mode:?} {limit:?}");
            assert_eq!(counts, run(), "{mode:?} {limit:?}");
        }
    }
}
