//! Threads that share cores: who has which core, when, and what moves with them.

use std::path::Path;

use sim_core::{Cycle, EventSink, Notice, PmuEvent};
use sim_machine::{
    ConfigSource, MachineConfig, MachineError, Mode, Outcome, RunHeader, RunOptions, Session,
};
use sim_trace::{Access, BlockId, Meta, StreamEvent, TraceWriter};

/// LDR X1, [X0]; ADD X2, X2, X1; ADD X2, X2, X1; B to the first.
const LOOP: [u32; 4] = [0xf940_0001, 0x8b01_0042, 0x8b01_0042, 0x17ff_fffd];
/// STLR X1, [X0]
const STLR: u32 = 0xc89f_fc01;
/// LDAR X1, [X0]
const LDAR: u32 = 0xc8df_fc01;

/// Rounds of the loop of a thread.
const ROUNDS: u64 = 20_000;
/// Fewest cycles of these rounds.
const SHORTEST: Cycle = ROUNDS;
const FLAG: u64 = 0x8000;
/// First address of the data of all threads, 64 lines.
const DATA: u64 = 0x10_0000;

/// A trace under construction.
struct Writer {
    trace: TraceWriter,
    body: BlockId,
    next_pc: u64,
}

impl Writer {
    /// Loads from 64 lines, one after the other, again and again.
    fn rounds(&mut self, stream: u32, count: u64) {
        for round in 0..count {
            let access = [Access { index: 0, addr: DATA + round % 64 * 64 }];
            self.trace.push_block(stream, self.body, 4, &access, None).expect("it fits");
        }
    }

    fn synchronize(&mut self, stream: u32, word: u32, order: u64) {
        self.next_pc += 0x100;
        let block = self.trace.define_block(self.next_pc, &[word]).expect("a block");
        let access = [Access { index: 0, addr: FLAG }];
        self.trace.push_block(stream, block, 1, &access, None).expect("it fits");
        self.trace.push_event(stream, StreamEvent::Ticket { order, back: 1 }).expect("it fits");
    }
}

fn trace(path: &Path, full_system: bool, write: impl Fn(&mut Writer)) {
    let mut meta = Meta::default();
    meta.machine.full_system = full_system;
    let mut trace = TraceWriter::create(path, meta).expect("a folder for tests");
    let body = trace.define_block(0x1000, &LOOP).expect("a block");
    let mut writer = Writer { trace, body, next_pc: 0x2000 };
    write(&mut writer);
    writer.trace.finish().expect("a whole trace");
}

fn open(path: &Path, sets: &[&str]) -> Result<Session, MachineError> {
    let overrides: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    Session::open(path, config, RunHeader::default())
}

/// Returns a session of `threads` threads that never wait for one another.
fn alike(threads: u32, sets: &[&str]) -> Session {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("alike.n2t");
    trace(&path, false, |writer| (0..threads).for_each(|stream| writer.rounds(stream, ROUNDS)));
    open(&path, sets).expect("a good trace")
}

fn run(session: &Session) -> Outcome {
    session.run(&RunOptions::default(), &mut |_| {}).expect("it runs")
}

fn value(outcome: &Outcome, thread: usize, event: PmuEvent) -> u64 {
    outcome.cores[thread].counts.value(event)
}

/// Returns all results of the threads as text.
fn all(outcome: &Outcome) -> String {
    format!("{:?}", outcome.cores)
}

fn switches(outcome: &Outcome) -> Vec<u64> {
    outcome.cores.iter().map(|core| core.waits.switches).collect()
}

fn migrations(outcome: &Outcome) -> u64 {
    outcome.cores.iter().map(|core| core.waits.migrations).sum()
}

#[test]
fn as_many_cores_as_threads_are_a_core_for_each() {
    let own = run(&alike(3, &["threads.cores=0"]));
    for cores in ["threads.cores=3", "threads.cores=64"] {
        let shared = run(&alike(3, &[cores]));
        assert_eq!(all(&own), all(&shared));
        assert_eq!(own.notes, shared.notes);
    }
}

#[test]
fn without_a_turn_of_the_other_a_thread_runs_to_its_end() {
    // The slice is longer than a thread: the second begins when the first has ended.
    let outcome = run(&alike(2, &["threads.cores=1", "threads.switch-cycles=5000"]));
    assert_eq!(switches(&outcome), [0, 1]);
    let [first, second] = [0, 1].map(|thread| outcome.cores[thread].waits);
    assert!(first.end > SHORTEST && second.end > first.end + 5000 + SHORTEST);
    assert_eq!((first.queued, second.away), (0, 0));
    let waited = second.queued - 5000;
    assert!(waited.abs_diff(first.end) < 300, "{waited} of {}", first.end);
}

#[test]
fn threads_that_share_a_core_take_turns_of_a_slice() {
    let sets = ["threads.cores=1", "threads.slice-cycles=4000", "threads.switch-cycles=100"];
    let outcome = run(&alike(2, &sets));
    let alone = run(&alike(1, &[]));
    let cycles = value(&alone, 0, PmuEvent::CPU_CYCLES);
    // Each thread has the core for `cycles`, in pieces of 4000, and gets it from the other before
    // each, the first thread all but the first time.
    let turns = cycles.div_ceil(4000);
    for left in switches(&outcome) {
        assert!(left.abs_diff(turns) <= 1, "{left} of {turns}");
    }
    assert_eq!(migrations(&outcome), 0);
    for thread in [0, 1] {
        let own = value(&outcome, thread, PmuEvent::CPU_CYCLES);
        assert!(own.abs_diff(cycles) < cycles / 20, "{own} of {cycles}");
        assert_eq!(value(&outcome, thread, PmuEvent::INST_RETIRED), 4 * ROUNDS);
        let waits = outcome.cores[thread].waits;
        assert!(waits.end.abs_diff(own + waits.queued) < 300, "{waits:?}, {own} on a core");
    }
}

#[test]
fn a_thread_finds_what_the_other_left_in_the_caches() {
    let refills = |sets: &[&str]| {
        let outcome = run(&alike(2, sets));
        [0, 1].map(|thread| value(&outcome, thread, PmuEvent::L1D_CACHE_REFILL))
    };
    let [first, second] = refills(&["threads.cores=1"]);
    assert!(first >= 32, "it refills its 64 lines, some of them by prefetches");
    assert_eq!(second, 0, "the lines are there");
    let own = refills(&[]);
    assert!(own[0] > 0 && own[1] > 0, "each core refills them");
}

#[test]
fn a_free_core_takes_the_thread_that_waits_and_a_pinned_one_stays() {
    // Threads 0 and 2 begin on core 0, thread 1 on core 1, which is free after a tenth.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("uneven.n2t");
    trace(&path, false, |writer| {
        writer.rounds(0, ROUNDS);
        writer.rounds(1, ROUNDS / 10);
        writer.rounds(2, ROUNDS);
    });
    let ends = |migrate: &str| {
        let outcome = run(&open(&path, &["threads.cores=2", migrate]).expect("a good trace"));
        assert_eq!(migrations(&outcome), 0, "none had a core before");
        outcome.cores.iter().map(|core| core.waits.end).collect::<Vec<_>>()
    };
    let free = ends("threads.migrate=true");
    assert!(free[2] > free[1] + SHORTEST && free[2] < free[0] + SHORTEST, "{free:?}");
    let pinned = ends("threads.migrate=false");
    assert!(pinned[2] > pinned[0] + SHORTEST, "{pinned:?}");
}

#[test]
fn a_thread_moves_to_the_core_that_is_free() {
    // Threads 0 and 2 take turns on core 0 until core 1 is free: then one of them moves there.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("moves.n2t");
    trace(&path, false, |writer| {
        writer.rounds(0, ROUNDS);
        writer.rounds(1, ROUNDS / 4);
        writer.rounds(2, ROUNDS);
    });
    let sets = ["threads.cores=2", "threads.slice-cycles=2000", "threads.switch-cycles=10"];
    let outcome = run(&open(&path, &sets).expect("a good trace"));
    assert!(migrations(&outcome) > 0);
    let ends: Vec<Cycle> = outcome.cores.iter().map(|core| core.waits.end).collect();
    assert!(ends[0].abs_diff(ends[2]) < ends[0] / 4, "{ends:?}");
}

/// Records when each thread runs its instructions.
#[derive(Default)]
struct Recorder {
    thread: usize,
    ran: Vec<(usize, u64, Cycle)>,
}

impl EventSink for Recorder {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(thread) => self.thread = thread,
            Notice::Operation(operation) if !operation.timeline.wrong_path => {
                let at = operation.timeline.rename;
                self.ran.push((self.thread, operation.number, at));
            }
            _ => {}
        }
    }
}

#[test]
fn a_thread_that_waits_gives_its_core_to_the_one_it_waits_for() {
    // Thread 0 acquires what thread 1 releases after its rounds. On one core thread 1 must run
    // first, in every order but the free one and in every mode.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("waits.n2t");
    trace(&path, false, |writer| {
        writer.rounds(0, 10);
        writer.synchronize(0, LDAR, 1);
        writer.rounds(0, 10);
        writer.rounds(1, ROUNDS);
        writer.synchronize(1, STLR, 0);
        writer.rounds(1, 10);
    });
    for order in ["threads.order=causal", "threads.order=recorded"] {
        for mode in [Mode::Full, Mode::Memory, Mode::Frontend] {
            let session = open(&path, &["threads.cores=1", order]).expect("a good trace");
            let session = session.in_mode(mode);
            let outcome = run(&session);
            assert_eq!(switches(&outcome)[0], 1, "{order} {mode:?}");
            assert!(outcome.cores[0].waits.away > SHORTEST, "{:?}", outcome.cores[0].waits);
            let retired = value(&outcome, 0, PmuEvent::INST_RETIRED);
            assert!(retired == 81 || mode != Mode::Full, "{retired}");
        }
        let mut recorder = Recorder::default();
        let session = open(&path, &["threads.cores=1", order]).expect("a good trace");
        let ran = session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut recorder);
        ran.expect("it runs");
        let last = recorder.ran.iter().filter(|one| one.0 == 0).map(|one| one.2).max();
        let release = recorder.ran.iter().find(|one| one.0 == 1 && one.1 == 4 * ROUNDS);
        assert!(last > release.map(|one| one.2), "{last:?} {release:?}");
    }
}

#[test]
fn an_observer_sees_what_the_outcome_counts() {
    #[derive(Default)]
    struct Sums {
        counts: bool,
        cycles: u64,
        lines: u64,
    }
    impl EventSink for Sums {
        const OBSERVES_OPS: bool = true;
        fn count(&mut self, event: PmuEvent, n: u64) {
            match event {
                PmuEvent::CPU_CYCLES if self.counts => self.cycles += n,
                PmuEvent::L1D_CACHE_REFILL_RD if self.counts => self.lines += n,
                _ => {}
            }
        }
        fn notify(&mut self, notice: Notice<'_>) {
            if let Notice::Counting(on) = notice {
                self.counts = on;
            }
        }
    }
    let session = alike(2, &["threads.cores=1", "threads.slice-cycles=3000"]);
    let mut sums = Sums::default();
    let outcome = session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut sums);
    let outcome = outcome.expect("it runs");
    let total = outcome.total();
    assert_eq!(sums.cycles, total.value(PmuEvent::CPU_CYCLES));
    assert_eq!(sums.lines, total.value(PmuEvent::L1D_CACHE_REFILL_RD));
    assert_eq!(all(&outcome), all(&run(&session)), "observed or not");
}

#[test]
fn a_note_gives_switches_and_the_longest_wait_for_a_core() {
    let outcome = run(&alike(3, &["threads.cores=1"]));
    let note = outcome.notes.last().expect("a note");
    assert!(note.starts_with("3 threads shared 1 core: 2 switches, 0 migrations"), "{note}");
    assert!(note.contains("thread 2 was ready without a core for 6"), "{note}");
    let outcome = run(&alike(2, &["threads.cores=1"]).on_cpus(2));
    assert!(outcome.notes.iter().any(|note| note.ends_with(": threads share cores")));
}

#[test]
fn processors_of_a_system_do_not_share_cores() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("system.n2t");
    trace(&path, true, |writer| (0..2).for_each(|stream| writer.rounds(stream, 10)));
    let Err(error) = open(&path, &["threads.cores=1"]) else { panic!("it is refused") };
    assert!(error.to_string().contains("2 processors; threads.cores=1"), "{error}");
    assert!(open(&path, &["threads.cores=2"]).is_ok());
}

#[test]
fn a_recorded_program_retires_the_same_on_any_cores_in_any_mode_and_order() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/parallel/queue.n2t");
    let retired = |outcome: &Outcome| {
        let cores = outcome.cores.iter();
        cores.map(|core| core.counts.value(PmuEvent::INST_RETIRED)).collect::<Vec<_>>()
    };
    for mode in [Mode::Full, Mode::Memory, Mode::Frontend] {
        for order in ["threads.order=causal", "threads.order=recorded", "threads.order=free"] {
            let on = |sets: &[&str]| {
                let sets = [&[order, "threads.slice-cycles=9000"], sets].concat();
                retired(&run(&open(&path, &sets).expect("a good trace").in_mode(mode)))
            };
            let own = on(&[]);
            assert_eq!(own.len(), 8);
            for cores in ["threads.cores=1", "threads.cores=2", "threads.cores=5"] {
                assert_eq!(own, on(&[cores]), "{mode:?} {order} {cores}");
                let pinned = on(&[cores, "threads.migrate=false"]);
                assert_eq!(own, pinned, "{mode:?} {order} {cores}, pinned");
            }
        }
    }
}
