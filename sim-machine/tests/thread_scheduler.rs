//! Threads of a trace with tickets synchronize in the recorded order if that is requested, in every
//! mode, and always end.

use std::path::Path;

use sim_core::{Cycle, EventSink, Notice, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, Mode, Outcome, RunHeader, RunOptions, Session};
use sim_trace::{Access, Meta, StreamEvent, TraceWriter};

const NOP: u32 = 0xd503_201f;
const SVC: u32 = 0xd400_0001;
/// STLR W1, [X0]
const STLR: u32 = 0x889f_fc01;
/// B to the first of four instructions.
const LOOP: u32 = 0x17ff_fffd;
/// Instructions of a round, and the index of the one that may have a ticket.
const ROUND: u64 = 4;
const RELEASE: u64 = 2;

/// Rounds of a thread.
#[derive(Clone, Copy)]
enum Round {
    /// This many rounds without a ticket.
    Bare(u64),
    /// A round whose release has this ticket.
    Ticket(u64),
    /// A system call that another thread answers: its ticket, and that of the instruction after it.
    Call(u64, u64),
}

/// Writes a trace of threads.
fn write(path: &Path, threads: &[&[Round]]) {
    let mut writer = TraceWriter::create(path, Meta::default()).expect("a folder for tests");
    let round = writer.define_block(0x1000, &[NOP, NOP, STLR, LOOP]).expect("a block");
    let call = writer.define_block(0x2000, &[SVC]).expect("a block");
    for (stream, rounds) in (0..).zip(threads) {
        let access = [Access { index: RELEASE as u16, addr: 0x8000 + 0x1000 * u64::from(stream) }];
        let mut pending = None;
        for what in *rounds {
            let (count, ticket) = match *what {
                Round::Bare(count) => (count, None),
                Round::Ticket(order) => (1, Some(order)),
                Round::Call(before, after) => {
                    writer.push_block(stream, call, 1, &[], None).expect("it fits");
                    let event = StreamEvent::Ticket { order: before, back: 1 };
                    writer.push_event(stream, event).expect("it fits");
                    pending = Some(after);
                    continue;
                }
            };
            for _ in 0..count {
                writer.push_block(stream, round, 4, &access, None).expect("it fits");
                let first = pending.take().map(|order| (order, ROUND as u16));
                let own = ticket.map(|order| (order, (ROUND - RELEASE) as u16));
                for (order, back) in first.into_iter().chain(own) {
                    let event = StreamEvent::Ticket { order, back };
                    writer.push_event(stream, event).expect("it fits");
                }
            }
        }
    }
    writer.finish().expect("a whole trace");
}

/// Records the cycle in which each core runs each instruction.
#[derive(Default)]
struct Recorder {
    core: usize,
    ran: Vec<(usize, u64, Cycle)>,
    cycles: [u64; 2],
}

impl EventSink for Recorder {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if event == PmuEvent::CPU_CYCLES {
            self.cycles[self.core.min(1)] += n;
        }
    }

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

fn session(threads: &[&[Round]]) -> Session {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("turns.n2t");
    write(&path, threads);
    let overrides = ["threads.order=recorded".to_owned()];
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    Session::open(&path, config, RunHeader::default()).expect("a good trace")
}

fn run(threads: &[&[Round]]) -> (Outcome, Vec<(usize, u64, Cycle)>) {
    let (outcome, recorder) = recorded(threads);
    (outcome, recorder.ran)
}

fn recorded(threads: &[&[Round]]) -> (Outcome, Recorder) {
    let mut recorder = Recorder::default();
    let run = session(threads).run_with_sink(&RunOptions::default(), &mut |_| {}, &mut recorder);
    (run.expect("it runs"), recorder)
}

fn when(ran: &[(usize, u64, Cycle)], core: usize, number: u64) -> (usize, Cycle) {
    let place = ran.iter().position(|one| (one.0, one.1) == (core, number)).expect("it has run");
    (place, ran[place].2)
}

const SLOW: u64 = 10_000;

#[test]
fn threads_synchronize_in_the_recorded_order() {
    let slow = [Round::Bare(SLOW), Round::Ticket(0), Round::Bare(5), Round::Ticket(3)];
    let fast = [Round::Ticket(1), Round::Ticket(2), Round::Bare(SLOW), Round::Ticket(4)];
    let (_, ran) = run(&[&slow, &fast]);
    let places = [
        (0, ROUND * SLOW + RELEASE),
        (1, RELEASE),
        (1, ROUND + RELEASE),
        (0, ROUND * (SLOW + 6) + RELEASE),
        (1, ROUND * (SLOW + 2) + RELEASE),
    ];
    let found = places.map(|(core, number)| when(&ran, core, number));
    assert!(found.is_sorted(), "{found:?}");
    assert!(found.map(|(_, cycle)| cycle).is_sorted(), "{found:?}");
    let (_, unordered) = run(&[&[Round::Bare(SLOW + 1)], &[Round::Bare(1)]]);
    let free = when(&unordered, 1, RELEASE);
    assert!(free.0 < when(&unordered, 0, places[0].1).0, "without tickets it does not wait");
}

#[test]
fn a_thread_counts_cycles_while_it_waits_on_its_core_and_none_while_away() {
    let slow = [Round::Bare(SLOW), Round::Ticket(3), Round::Bare(1), Round::Ticket(6)];
    // Rounds with a release take a cycle or more each.
    let others: [(&[Round], bool); 3] = [
        (&[Round::Bare(2), Round::Ticket(5)], true),
        (&[Round::Bare(2), Round::Call(0, 5), Round::Bare(2)], false),
        (&[Round::Bare(1)], false),
    ];
    for (other, waits) in others {
        let (outcome, recorder) = recorded(&[&slow, other]);
        let [one, two] = &outcome.cores[..] else { panic!("two cores") };
        let cycles = |core: &sim_machine::CoreOutcome| core.counts.value(PmuEvent::CPU_CYCLES);
        assert!(cycles(one) >= SLOW);
        assert_eq!(cycles(two) >= SLOW, waits, "{} cycles", cycles(two));
        assert_eq!(recorder.cycles, [cycles(one), cycles(two)], "observers see the same cycles");
        let stalled =
            two.counts.value(PmuEvent::STALL_BACKEND) + two.counts.value(PmuEvent::STALL_FRONTEND);
        assert!(stalled <= cycles(two), "{stalled} of {}", cycles(two));
        assert_eq!(two.counts.value(PmuEvent::STALL_BACKEND) >= SLOW / 2, waits);
    }
}

#[test]
fn a_thread_that_ends_early_holds_no_other() {
    let slow = [Round::Bare(SLOW), Round::Ticket(0)];
    let fast = [Round::Ticket(1), Round::Bare(SLOW)];
    let session = session(&[&slow, &fast]);
    let options = RunOptions { limit: Some(1000), ..RunOptions::default() };
    let outcome = session.run(&options, &mut |_| {}).expect("it ends");
    assert_eq!(outcome.total().value(PmuEvent::INST_RETIRED), 2000);
}

#[test]
fn every_mode_runs_ordered_threads_to_their_ends() {
    for mode in [Mode::Full, Mode::Memory, Mode::Frontend] {
        // Repeated and falling numbers form no order and block no thread.
        let one = [Round::Ticket(7), Round::Bare(3), Round::Call(7, 2), Round::Bare(5)];
        let two = [Round::Call(9, 9), Round::Bare(20_000), Round::Ticket(9), Round::Ticket(1)];
        let session = session(&[&one, &two, &[Round::Bare(50), Round::Ticket(8)]]).in_mode(mode);
        let run = || session.run(&RunOptions::default(), &mut |_| {}).expect("it ends").total();
        let counts = run();
        assert_eq!(counts.value(PmuEvent::INST_RETIRED), session.instructions(), "{mode:?}");
        assert_eq!(counts, run(), "{mode:?}");
    }
}
