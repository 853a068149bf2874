//! Threads that run at the same time on CPUs of the host count what they count in exact order.

use std::path::Path;

use sim_core::PmuEvent;
use sim_machine::{
    ConfigSource, MachineConfig, Outcome, QuantaReport, RunHeader, RunOptions, Session,
};
use sim_trace::{Access, BlockId, Meta, StreamEvent, TraceWriter};

/// LDR X1, [X0]; STR X1, [X0]; ADD X2, X2, X1; B to the first.
const LOOP: [u32; 4] = [0xf940_0001, 0xf900_0001, 0x8b01_0042, 0x17ff_fffd];
/// LDR X1, [X0]; ADD X2, X2, X1; ADD X2, X2, X1; B to the first.
const LOADS: [u32; 4] = [0xf940_0001, 0x8b01_0042, 0x8b01_0042, 0x17ff_fffd];
/// STLR X1, [X0]
const STLR: u32 = 0xc89f_fc01;
/// LDAR X1, [X0]
const LDAR: u32 = 0xc8df_fc01;
/// IC IALLUIS
const IC: u32 = 0xd508_711f;
/// DSB ISH
const DSB: u32 = 0xd503_3b9f;

/// Times that a thread runs its loop.
const ROUNDS: u64 = 30_000;
/// Memory of a thread.
const OWN: u64 = 1 << 24;
/// A line that all threads know.
const COMMON: u64 = 0x8000;

/// A trace under construction, with the loops of all threads.
struct Writer {
    trace: TraceWriter,
    updates: BlockId,
    loads: BlockId,
}

impl Writer {
    fn new(path: &Path) -> Writer {
        let mut trace = TraceWriter::create(path, Meta::default()).expect("a folder for tests");
        let updates = trace.define_block(0x1000, &LOOP).expect("a block");
        let loads = trace.define_block(0x2000, &LOADS).expect("a block");
        Writer { trace, updates, loads }
    }

    /// Runs a loop that updates the words at these addresses.
    fn update(&mut self, stream: u32, addresses: impl Iterator<Item = u64>) {
        for addr in addresses {
            let accesses = [Access { index: 0, addr }, Access { index: 1, addr }];
            self.trace.push_block(stream, self.updates, 4, &accesses, None).expect("it fits");
        }
    }

    /// Runs a loop that loads the words at these addresses.
    fn load(&mut self, stream: u32, addresses: impl Iterator<Item = u64>) {
        for addr in addresses {
            let accesses = [Access { index: 0, addr }];
            self.trace.push_block(stream, self.loads, 4, &accesses, None).expect("it fits");
        }
    }

    /// Runs an instruction once, with a ticket if `order` is given.
    fn once(&mut self, stream: u32, word: u32, addr: Option<u64>, order: Option<u64>) {
        let block = self.trace.define_block(0x3000 + u64::from(word & 0xfff0), &[word]);
        let accesses: Vec<Access> =
            addr.map(|addr| Access { index: 0, addr }).into_iter().collect();
        let block = block.expect("a block");
        self.trace.push_block(stream, block, 1, &accesses, None).expect("it fits");
        if let Some(order) = order {
            let ticket = StreamEvent::Ticket { order, back: 1 };
            self.trace.push_event(stream, ticket).expect("it fits");
        }
    }
}

/// Returns addresses in the memory of a thread, `bytes` large, in no simple order.
fn own(thread: u32, bytes: u64) -> impl Iterator<Item = u64> {
    let base = OWN * u64::from(thread + 1);
    (0..ROUNDS).map(move |n| base + ((n * 0x9E37_79B9) >> 3) % bytes / 8 * 8)
}

/// Runs a trace in exact order (`None`) or on CPUs of the host.
fn run(write: impl Fn(&mut Writer), cpus: Option<usize>) -> Outcome {
    run_part(write, cpus, &RunOptions::default())
}

fn run_part(write: impl Fn(&mut Writer), cpus: Option<usize>, options: &RunOptions) -> Outcome {
    run_with(&[], write, cpus, options)
}

/// Runs a trace on a machine with some assignments.
fn run_with(
    assignments: &[&str],
    write: impl Fn(&mut Writer),
    cpus: Option<usize>,
    options: &RunOptions,
) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.n2t");
    let mut writer = Writer::new(&path);
    write(&mut writer);
    writer.trace.finish().expect("a whole trace");
    let overrides: Vec<String> = assignments.iter().map(|text| (*text).to_owned()).collect();
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the profile is embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open(&path, config, RunHeader::default()).expect("a good trace");
    let session = match cpus {
        Some(cpus) => session.on_cpus(cpus),
        None => session,
    };
    session.run(options, &mut |_| {}).expect("it runs")
}

fn counts(outcome: &Outcome) -> Vec<Vec<u64>> {
    let of_core = |counts: sim_core::Counts| PmuEvent::ALL.map(|event| counts.value(event));
    outcome.cores.iter().map(|core| of_core(core.counts.unpack()).to_vec()).collect()
}

/// Runs a trace on 1, 2 and 8 CPUs, which must give the same. Returns the outcome in exact order
/// and that of the CPUs.
fn on_any_cpus(write: impl Fn(&mut Writer) + Copy) -> (Outcome, Outcome, QuantaReport) {
    let [one, two, eight] = [1, 2, 8].map(|cpus| run(write, Some(cpus)));
    for other in [two, eight] {
        // Everything that a core has: counts by level, stalls, waits, statistics of memory.
        assert!(format!("{:?}", one.cores) == format!("{:?}", other.cores), "other results");
        assert_eq!(one.quanta, other.quanta);
    }
    let report = one.quanta.expect("threads ran at the same time");
    (run(write, None), one, report)
}

/// Asserts that no event of more than 1,000 differs by a part in a hundred.
fn assert_close(exact: &Outcome, other: &Outcome) {
    for event in PmuEvent::ALL {
        let (exact, other) = (exact.total().value(event), other.total().value(event));
        assert!(exact < 1_000 || exact.abs_diff(other) * 100 <= exact, "{event:?} {exact} {other}");
    }
}

#[test]
fn threads_with_memory_of_their_own_count_the_same_at_the_same_time() {
    let write = |writer: &mut Writer| {
        (0..4).for_each(|thread| writer.update(thread, own(thread, 256 << 10)));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    let all = 4 * 4 * ROUNDS;
    assert!(report.instructions * 10 > all * 7, "{report:?}");
    // All threads begin with the same code.
    assert_eq!((report.taken_back(), report.lines), (1, 1), "{report:?}");
    assert_eq!(counts(&exact), counts(&quanta));
}

#[test]
fn threads_that_write_one_line_run_in_exact_order() {
    let write = |writer: &mut Writer| {
        (0..4).for_each(|thread| writer.update(thread, (0..ROUNDS).map(|_| COMMON)));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.lines + report.snoops > 0, "{report:?}");
    assert_eq!(counts(&exact), counts(&quanta));
    assert!(exact.total().value(PmuEvent::L1D_CACHE_INVAL) > 1_000, "they compete for the line");
}

#[test]
fn two_threads_that_compete_for_lines_run_in_exact_order_beside_the_others() {
    let write = |writer: &mut Writer| {
        let shared = |thread| own(thread, 4 << 10).map(|addr| COMMON + addr % 0x400);
        (0..2).for_each(|thread| writer.update(thread, shared(thread)));
        (2..6).for_each(|thread| writer.update(thread, own(thread, 64 << 10)));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.grouped.0 > 2 && report.grouped.1 < 3 * report.grouped.0, "{report:?}");
    // They begin most quanta as a group and do not run them twice.
    let conflicts = report.lines + report.snoops - report.crowded;
    assert!(conflicts * 2 < report.grouped.0, "{report:?}");
    assert!(report.instructions * 10 > 6 * 4 * ROUNDS * 7, "{report:?}");
    assert!(exact.total().value(PmuEvent::L1D_CACHE_INVAL) > 1_000, "they compete for lines");
    assert_eq!(counts(&exact), counts(&quanta));
}

#[test]
fn two_threads_that_meet_now_and_then_run_in_exact_order_beside_the_others() {
    let write = |writer: &mut Writer| {
        for thread in 0..2 {
            let places = own(thread, 4 << 10).enumerate();
            let meets = |n: usize| n % 1_000 == 999;
            writer.update(thread, places.map(|(n, own)| if meets(n) { COMMON } else { own }));
        }
        (2..6).for_each(|thread| writer.update(thread, own(thread, 64 << 10)));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.grouped.0 > 2 && report.grouped.1 < 3 * report.grouped.0, "{report:?}");
    assert!(report.instructions * 10 > 6 * 4 * ROUNDS * 7, "{report:?}");
    assert!(exact.total().value(PmuEvent::L1D_CACHE_INVAL) > 20, "they share a line");
    assert_eq!(counts(&exact), counts(&quanta));
}

#[test]
fn a_line_that_another_thread_takes_from_an_l1_cache_ends_a_quantum() {
    // The first thread reads the line all the time, which no home node sees. The second one writes
    // it now and then.
    let write = |writer: &mut Writer| {
        writer.load(0, (0..ROUNDS).map(|_| COMMON));
        let places = own(1, 4 << 10).enumerate();
        writer.update(1, places.map(|(n, own)| if n % 3_000 == 2_999 { COMMON } else { own }));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.snoops > 0, "{report:?}");
    assert!(report.quanta > 0, "{report:?}");
    let lost = |outcome: &Outcome| outcome.cores[0].counts.value(PmuEvent::L1D_CACHE_INVAL);
    assert_eq!((lost(&exact), lost(&quanta)), (10, 10));
    assert_close(&exact, &quanta);
}

#[test]
fn threads_that_want_more_of_memory_than_it_has_run_in_exact_order() {
    let write = |writer: &mut Writer| {
        let lines = |thread: u32| {
            let base = OWN * u64::from(thread + 1);
            (0..ROUNDS).map(move |n| base + n * 64)
        };
        (0..16).for_each(|thread| writer.load(thread, lines(thread)));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.memory > 0, "{report:?}");
    assert_close(&exact, &quanta);
}

#[test]
fn maintenance_of_all_instruction_caches_ends_a_quantum() {
    let write = |writer: &mut Writer| {
        (0..4).for_each(|thread| writer.update(thread, own(thread, 4 << 10).take(15_000)));
        writer.once(2, IC, None, None);
        (0..4).for_each(|thread| writer.update(thread, own(thread, 4 << 10)));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert_eq!(report.broadcasts, 1, "{report:?}");
    assert_close(&exact, &quanta);
    let refills = |outcome: &Outcome| outcome.cores[0].counts.value(PmuEvent::L1I_CACHE_REFILL);
    assert_eq!(refills(&exact), refills(&quanta));
}

/// The maintenance runs in exact order, and its barrier, much later, in a quantum.
#[test]
fn a_barrier_in_a_quantum_waits_for_maintenance_that_was_sent_before_it() {
    let write = |writer: &mut Writer, barriers: usize| {
        (0..4).for_each(|thread| writer.update(thread, own(thread, 4 << 10).take(15_000)));
        writer.once(2, IC, None, None);
        (0..4).for_each(|thread| writer.update(thread, own(thread, 4 << 10)));
        (0..barriers).for_each(|_| writer.once(2, DSB, None, None));
        (0..4).for_each(|thread| writer.update(thread, own(thread, 4 << 10)));
    };
    let (exact, quanta, report) = on_any_cpus(|writer| write(writer, 1));
    assert_eq!(report.broadcasts, 1, "{report:?}");
    let cycles = |outcome: &Outcome| outcome.cores[2].counts.value(PmuEvent::CPU_CYCLES);
    assert_eq!(cycles(&exact), cycles(&quanta));
    let (_, twice, _) = on_any_cpus(|writer| write(writer, 2));
    let (_, never, _) = on_any_cpus(|writer| write(writer, 0));
    // The first barrier waits for three other cores, the second for nothing.
    assert!(cycles(&quanta) - cycles(&never) > 300);
    assert!(cycles(&twice) - cycles(&quanta) < 50);
}

#[test]
fn a_thread_that_waits_for_another_one_waits_as_long_in_quanta() {
    let write = |writer: &mut Writer| {
        // The second thread waits early for what the first one does late.
        writer.update(0, own(0, 64 << 10));
        writer.once(0, STLR, Some(COMMON), Some(0));
        writer.update(0, own(0, 64 << 10));
        writer.update(1, own(1, 4 << 10).take(5_000));
        writer.once(1, LDAR, Some(COMMON), Some(1));
        writer.update(1, own(1, 64 << 10));
        writer.update(2, own(2, 64 << 10));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.instructions > 4 * ROUNDS, "{report:?}");
    let waited = |outcome: &Outcome| outcome.cores[1].waits;
    assert!(waited(&exact).on_core > ROUNDS / 2, "{:?}", waited(&exact));
    assert_eq!(waited(&exact), waited(&quanta));
    assert_eq!(counts(&exact), counts(&quanta));
}

#[test]
fn a_thread_that_begins_late_and_waits_again_soon_does_so_in_quanta() {
    let write = |writer: &mut Writer| {
        writer.update(0, own(0, 64 << 10).take(10_000));
        writer.once(0, STLR, Some(COMMON), Some(0));
        writer.update(0, own(0, 64 << 10).take(20_000));
        writer.once(0, STLR, Some(COMMON + 0x40), Some(2));
        writer.update(0, own(0, 64 << 10));
        // The second thread waits before its first instruction, and after 9,000 rounds.
        writer.once(1, LDAR, Some(COMMON), Some(1));
        writer.update(1, own(1, 4 << 10).take(9_000));
        writer.once(1, LDAR, Some(COMMON + 0x40), Some(3));
        writer.update(1, own(1, 64 << 10));
        writer.update(2, own(2, 64 << 10));
    };
    let (exact, quanta, report) = on_any_cpus(write);
    assert!(report.instructions > 4 * ROUNDS, "{report:?}");
    let waits = |outcome: &Outcome| outcome.cores.iter().map(|core| core.waits).collect::<Vec<_>>();
    assert!(waits(&exact)[1].away + waits(&exact)[1].on_core > 10_000, "{:?}", waits(&exact));
    assert_eq!(waits(&exact), waits(&quanta));
    assert_eq!(counts(&exact), counts(&quanta));
}

#[test]
fn a_counted_part_is_the_same_in_quanta() {
    let write = |writer: &mut Writer| {
        (0..4).for_each(|thread| writer.update(thread, own(thread, 256 << 10)));
    };
    let options = RunOptions { warmup: 30_001, limit: Some(50_003), ..RunOptions::default() };
    let [exact, quanta] = [None, Some(2)].map(|cpus| run_part(write, cpus, &options));
    assert!(quanta.quanta.is_some_and(|report| report.instructions > 100_000));
    assert_eq!(exact.total().value(PmuEvent::INST_RETIRED), 4 * 50_003);
    assert_eq!(counts(&exact), counts(&quanta));
}

#[test]
fn threads_whose_writes_wait_for_memory_count_the_same_on_any_number_of_cpus() {
    let write = |writer: &mut Writer| {
        (0..4).for_each(|thread| writer.update(thread, own(thread, 1 << 20)));
    };
    let limits = ["memory.slc.queue-entries=4", "memory.dram.write-entries=2"];
    let small = [
        "memory.slc.slice-bytes=16384",
        "memory.l2.size-bytes=131072",
        "memory.dram.channels=1",
        "memory.dram.line-cycles=32",
    ];
    let run = |set: &[&str], cpus| run_with(set, write, cpus, &RunOptions::default());
    let set = [&limits[..], &small, &["memory.l2.write-back-entries=2"]].concat();
    let all = [None, Some(1), Some(2), Some(8)].map(|cpus| run(&set, cpus));
    let said = "requests of all cores wait for home nodes or links";
    for other in &all[1..] {
        assert!(format!("{:?}", all[0].cores) == format!("{:?}", other.cores), "other results");
        assert!(other.notes.iter().any(|note| note.ends_with(said)), "{:?}", other.notes);
    }
    // Reads and writes share a full channel; with a queue, reads go first.
    let free = run(&[&limits[..1], &small].concat(), None);
    let cycles = |outcome: &Outcome| outcome.total().value(PmuEvent::CPU_CYCLES);
    assert_ne!(cycles(&free), cycles(&all[0]), "the queue of writes takes part");
}

#[test]
fn threads_with_a_buffer_of_victims_count_the_same_in_quanta() {
    let write = |writer: &mut Writer| {
        (0..4).for_each(|thread| writer.update(thread, own(thread, 1 << 20)));
    };
    let small = ["memory.l2.size-bytes=131072", "memory.l2.queue-entries=4"];
    let set = [&small[..], &["memory.l2.write-back-entries=2"]].concat();
    let run = |set: &[&str], cpus| run_with(set, write, cpus, &RunOptions::default());
    let [exact, quanta] = [None, Some(2)].map(|cpus| run(&set, cpus));
    assert!(
        quanta.quanta.is_some_and(|report| report.instructions > 100_000),
        "{:?}",
        quanta.notes
    );
    assert_eq!(counts(&exact), counts(&quanta));
    assert_ne!(counts(&exact), counts(&run(&small, None)), "the buffer takes part");
}

#[test]
fn what_needs_the_order_of_all_events_runs_in_exact_order_and_says_why() {
    let write = |writer: &mut Writer| writer.update(0, own(0, 4 << 10));
    let outcome = run(write, Some(2));
    assert_eq!(outcome.quanta, None);
    assert_eq!(outcome.notes, ["no threads ran at the same time: a single thread runs"]);
}
