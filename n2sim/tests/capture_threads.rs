//! Two threads that lock each other out: the order in which they did is in the trace, and replay
//! holds it.

use crate::recording::Bench;
use sim_core::{AccessKind, EventSink, Notice, OperationKind, PmuEvent};
use sim_isa::MemOp;
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_trace::{Slice, TraceFile, WriterOptions, merge, slice, verify};
use std::path::Path;

/// Entries that both threads together make in their book.
const ENTRIES: usize = 1000;

/// An entry in the book: which thread made it, by which instruction of its stream, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    stream: u32,
    position: u64,
    addr: u64,
}

/// The stores between the markers of a stream.
fn entries(file: &TraceFile, stream: u32) -> Vec<Entry> {
    let mut reader = file.reader(stream).expect("the stream is there");
    let (mut batch, mut found, mut is_inside) = (Vec::new(), Vec::new(), false);
    while reader.next_batch(&mut batch).expect("it decodes") {
        for (inst, position) in batch.iter().zip(reader.batch_start()..) {
            match file.statics().insts()[inst.id as usize].word {
                0xd503_251f => is_inside = true,
                0xd503_253f => is_inside = false,
                word if is_inside && sim_isa::decode(word).mem.op == MemOp::Store => {
                    found.push(Entry { stream, position, addr: inst.addr });
                }
                _ => {}
            }
        }
    }
    found
}

/// The last ticket of the stream before an instruction.
fn ticket_before(file: &TraceFile, entry: &Entry) -> u64 {
    let mut reader = file.tickets(entry.stream).expect("the stream is there");
    let tickets = std::iter::from_fn(|| reader.next_ticket().expect("tickets decode"));
    let before = tickets.take_while(|ticket| ticket.position <= entry.position);
    before.last().expect("it has taken the lock").order
}

/// A sink that records the thread and the address of each store, in the order of the run.
#[derive(Default)]
struct Listener {
    core: u32,
    stores: Vec<(u32, u64)>,
}

impl EventSink for Listener {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.core = core as u32;
            }
            Notice::Operation(operation) => {
                let is_store = matches!(operation.kind, OperationKind::Access(access) if access.kind == AccessKind::Store);
                if operation.timeline.retired && is_store {
                    self.stores.push((self.core, operation.timeline.addr));
                }
            }
            _ => {}
        }
    }
}

fn replay(trace: &Path) -> (Outcome, Vec<(u32, u64)>) {
    let document = ConfigSource::default().document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(trace, config, RunHeader::default()).expect("it opens");
    let mut listener = Listener::default();
    let run = session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut listener);
    (run.expect("it runs"), listener.stores)
}

/// Returns the entries of a replay with their threads, in the order of the run.
fn entered(stores: &[(u32, u64)], book: &[Entry]) -> Vec<(u32, u64)> {
    let range = book[0].addr..=book[book.len() - 1].addr;
    stores.iter().filter(|(_, addr)| range.contains(addr)).copied().collect()
}

/// Returns the entries of both threads, in the order of the recording.
fn book(file: &TraceFile, count: usize) -> Vec<Entry> {
    let mut book = entries(file, 0);
    book.extend(entries(file, 1));
    // In memory, each entry follows the previous one.
    book.sort_by_key(|entry| entry.addr);
    assert_eq!(book.len(), count);
    assert!(book.windows(2).all(|pair| pair[1].addr == pair[0].addr + 8));
    book
}

/// Replays the bench's trace and compares the order of the entries.
fn check_replay(bench: &Bench, book: &[Entry], instructions: u64) {
    let (outcome, stores) = replay(&bench.trace());
    let expected: Vec<(u32, u64)> = book.iter().map(|entry| (entry.stream, entry.addr)).collect();
    assert_eq!(entered(&stores, book), expected, "replay has the order of the recording");
    let again = replay(&bench.trace());
    assert_eq!(again.0.total(), outcome.total());
    assert_eq!(again.1, stores);
    let retired = outcome.total().value(PmuEvent::INST_RETIRED);
    assert_eq!(retired, instructions, "every thread ends");
}

#[test]
fn who_had_the_lock_when_is_recorded_and_replayed() {
    let Some(bench) = Bench::new("LOCK") else { return };
    let recording = bench.record(&[]);
    assert_eq!(recording.note("program-end"), Some("exit status 0"), "{}", recording.said);
    let file = &recording.file;
    assert_eq!((file.streams().len(), file.version()), (2, (1, 4)));
    let book = book(file, ENTRIES);
    let changes = book.windows(2).filter(|pair| pair[0].stream != pair[1].stream).count();
    assert!(changes > 10, "the threads took turns {changes} times");
    let tickets: Vec<u64> = book.iter().map(|entry| ticket_before(file, entry)).collect();
    assert!(tickets.is_sorted(), "the tickets are in the order of the locks");
    check_replay(&bench, &book, file.instructions());
}

#[test]
fn a_thread_that_is_left_alone_follows_the_releases_of_those_that_ended() {
    let Some(bench) = Bench::new("ALONE") else { return };
    let recording = bench.record(&[]);
    assert_eq!(recording.note("program-end"), Some("exit status 0"), "{}", recording.said);
    let file = &recording.file;
    let book = book(file, 20);
    let streams: Vec<u32> = book.iter().map(|entry| entry.stream).collect();
    assert_eq!(streams, [[1; 10], [0; 10]].concat(), "the first thread sleeps until it is alone");
    check_replay(&bench, &book, file.instructions());
    // A call that orders nothing, such as a sleep, must not use up the only ticket.
    let tickets: Vec<u64> = book.iter().map(|entry| ticket_before(file, entry)).collect();
    assert!(tickets.windows(2).all(|pair| pair[0] < pair[1]), "a ticket for each: {tickets:?}");
}

#[test]
fn parts_of_ordered_threads_are_whole_traces_and_run_to_their_ends() {
    let Some(bench) = Bench::new("LOCK") else { return };
    let recording = bench.record(&[]);
    let shortest = recording.file.streams().iter().map(|s| s.instructions).min();
    let third = shortest.expect("two streams") / 3;
    let part = |name: &str| bench.folder.path().join(name);
    for (name, streams, range) in [
        ("middle.n2t", Vec::new(), third..2 * third),
        ("one.n2t", vec![1], 0..u64::MAX),
        ("end.n2t", Vec::new(), third..u64::MAX),
    ] {
        let to = part(name);
        let what = Slice { streams, range, without_order: false };
        slice(&recording.file, &what, &to, WriterOptions::default()).expect("it can be cut");
        let report = verify(&to).expect("it opens");
        assert!(report.is_good() && report.tickets > 0, "{report:?}");
        let (outcome, _) = replay(&to);
        assert_eq!(outcome.total().value(PmuEvent::INST_RETIRED), report.instructions);
    }
    let files =
        ["middle.n2t", "one.n2t"].map(|name| TraceFile::open(&part(name)).expect("it opens"));
    let to = part("both.n2t");
    merge(&files, sim_trace::Join::Threads, &to, WriterOptions::default()).expect("they fit");
    let (outcome, _) = replay(&to);
    let retired = outcome.total().value(PmuEvent::INST_RETIRED);
    assert_eq!(retired, files.iter().map(TraceFile::instructions).sum::<u64>());
}

#[test]
fn one_thread_alone_has_no_tickets() {
    let Some(bench) = Bench::new("FORK") else { return };
    let recording = bench.record(&[]);
    assert!(!recording.file.has_tickets(), "a process is not a thread");
}
