//! Samples compared with counters. With every operation recorded, the totals are those of the PMU.
//! At intervals of 1024, estimates lie within the bounds of a random sample. `--nocapture` shows
//! the figures.

#![allow(clippy::print_stdout, reason = "`--nocapture` shows the figures")]

use sim_core::{
    AccessKind, AccessOutcome, Counts, DataSource, EventSink, LINE_BYTES, Notice, Operation,
    OperationKind, PmuEvent, Privilege,
};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_pmu::spe::{Events, SampleOutcome, Spe, SpeConfig, SpeRecord, SpeRegister};
use sim_tests::repository;

const TRACES: [&str; 4] = ["sort.n2t", "btree.n2t", "vector.n2t", "interp.n2t"];
/// Interval at which every operation is sampled.
const EVERY: u64 = 0;
/// `INTERVAL` 4 and `RND`: 1024 operations and a random byte.
const USUAL: u64 = 4 << 8 | 1;

/// An event, and the predicate of the records that have it.
type Kind = (PmuEvent, fn(&SpeRecord) -> bool);

fn has(record: &SpeRecord, events: Events) -> bool {
    record.events.is_some_and(|own| own.has(events))
}

fn is_branch(record: &SpeRecord) -> bool {
    record.operation.is_some_and(|kind| kind.is_branch())
}

/// Events that one operation raises at most once, and that records hold exactly.
const EXACT: [Kind; 6] = [
    (PmuEvent::OP_SPEC, |_| true),
    (PmuEvent::OP_RETIRED, |record| has(record, Events::RETIRED)),
    (PmuEvent::BR_RETIRED, |record| is_branch(record) && has(record, Events::RETIRED)),
    (PmuEvent::BR_MIS_PRED_RETIRED, |record| {
        has(record, Events::MISPREDICTED.with(Events::RETIRED))
    }),
    (PmuEvent::REMOTE_ACCESS, |record| has(record, Events::REMOTE_ACCESS)),
    (PmuEvent::SAMPLE_FILTRATE, |_| true),
];

/// Events that an access may raise once for each line or element, and records once.
const AT_LEAST: [Kind; 3] = [
    (PmuEvent::L1D_CACHE_REFILL, |record| has(record, Events::L1D_REFILL)),
    (PmuEvent::DTLB_WALK, |record| has(record, Events::TLB_WALK)),
    (PmuEvent::L1D_TLB, |record| has(record, Events::TLB_ACCESS)),
];

/// Data sources of accesses. Records of loads name their source; records of stores do not, so
/// theirs is taken from the machine.
#[derive(Clone, Copy, Debug, Default)]
struct Sources {
    /// Accesses that refilled the L1 D-cache from inside of the core, and from outside of it.
    refills: [u64; 2],
    /// Accesses that brought a line into the core: from the SLC, a peer, another chip, memory.
    lines: [u64; 4],
    /// Records that reached the last level cache, and those that it did not complete.
    last_level: [u64; 2],
}

/// Data source packets for sources outside of the core, in the order of [`Sources::lines`].
const OUTSIDE: [u16; 4] = [0xB, 0xC, 0xD, 0xE];

impl Sources {
    fn add_record(&mut self, record: &SpeRecord) {
        let reached = has(record, Events::LL_ACCESS);
        self.last_level[0] += u64::from(reached);
        self.last_level[1] += u64::from(has(record, Events::LL_MISS));
        if let (Some(source), true) = (record.data_source, has(record, Events::L1D_REFILL)) {
            let place = OUTSIDE.iter().position(|outside| *outside == source);
            assert!(place.is_some() || source == 0x8, "a refill from {source:#x}");
            self.add(place, reached);
        }
    }

    fn add_store(&mut self, operation: &Operation) {
        let timeline = &operation.timeline;
        if is_store(operation) && timeline.outcome.has(AccessOutcome::L1_REFILL) {
            let place = match timeline.source {
                DataSource::Slc => Some(0),
                DataSource::Peer => Some(1),
                DataSource::Remote => Some(2),
                DataSource::Dram => Some(3),
                _ => None,
            };
            self.add(place, timeline.outcome.has(AccessOutcome::L2_MISS));
        }
    }

    fn add(&mut self, outside: Option<usize>, is_new_line: bool) {
        self.refills[usize::from(outside.is_some())] += 1;
        if let (Some(place), true) = (outside, is_new_line) {
            self.lines[place] += 1;
        }
    }
}

fn is_store(operation: &Operation) -> bool {
    let OperationKind::Access(shape) = operation.kind else { return false };
    matches!(shape.kind, AccessKind::Store | AccessKind::AtomicStore)
}

/// Profiles the one core of a run from its first operation.
struct Profiler {
    spe: Spe,
    counts: Counts,
    tallies: Vec<u64>,
    samples: u64,
    /// Lookups after the first of each access: for all that reached the TLB, and for those that
    /// refilled.
    further: [u64; 2],
    sources: Sources,
}

/// Returns the number of lookups of an access after its first: further lines, elements of a gather
/// or scatter, the write of an atomic. The record of a preload has no access, so its first lookup
/// counts here as well.
fn further_lookups(operation: &Operation) -> u64 {
    let shape = match operation.kind {
        OperationKind::Access(shape) => shape,
        OperationKind::Branch(_) | OperationKind::Other => return 1,
    };
    let is_atomic = matches!(shape.kind, AccessKind::AtomicLoad | AccessKind::AtomicSwap);
    if is_atomic || shape.kind == AccessKind::AtomicStore {
        return 1;
    }
    let bytes = u64::from(shape.bytes.max(1));
    match shape.scattered {
        // Elements of no less than four bytes, in registers of sixteen.
        true => bytes.div_ceil(4).max(4) - 1,
        // One for each 16 bytes, cut at lines.
        false => (bytes - 1) / 16 + (operation.timeline.addr % LINE_BYTES + bytes - 1) / LINE_BYTES,
    }
}

impl Profiler {
    fn new(interval: u64, config: &SpeConfig) -> Profiler {
        let mut spe = Spe::new(config, 0);
        spe.set_mdcr_el3(0b11 << 12);
        spe.set_mdcr_el2(0b11 << 12);
        spe.set_privilege(Privilege::default());
        spe.set_external_llc(true);
        spe.set(SpeRegister::PMSCR_EL1, 3);
        spe.set(SpeRegister::PMSIRR_EL1, interval);
        spe.set(SpeRegister::PMBPTR_EL1, 0x1_0000);
        spe.set(SpeRegister::PMBLIMITR_EL1, 0x7000_0000_0001);
        spe.keep_sampled_ops();
        let tallies = vec![0; EXACT.len() + AT_LEAST.len()];
        Profiler {
            spe,
            counts: Counts::default(),
            tallies,
            samples: 0,
            further: [0; 2],
            sources: Sources::default(),
        }
    }

    fn tally(&mut self) {
        for op in
            self.spe.take_sampled_ops().iter().filter(|op| op.outcome == SampleOutcome::Written)
        {
            let record = op.record.as_ref().expect("what is written has a record");
            self.samples += 1;
            self.sources.add_record(record);
            for ((_, holds), n) in EXACT.iter().chain(&AT_LEAST).zip(&mut self.tallies) {
                *n += u64::from(holds(record));
            }
        }
        let pointer = self.spe.get(SpeRegister::PMBPTR_EL1);
        self.spe.memory_mut().discard_below(pointer);
    }
}

impl EventSink for Profiler {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        if let Notice::Operation(operation) = notice {
            self.spe.operation(operation, &mut self.counts);
            self.sources.add_store(operation);
            if operation.timeline.translation_cycles > 0 {
                let refills = operation.timeline.outcome.has(AccessOutcome::L1_REFILL);
                self.further[0] += further_lookups(operation);
                self.further[1] += if refills { further_lookups(operation) } else { 0 };
            }
            if self.spe.sampled_ops().len() >= 4096 {
                self.tally();
            }
        }
    }
}

/// Profiles a committed trace on a machine without prefetchers, and without stores that bypass the
/// L1: lines that these bring in belong to no operation.
fn profiled(trace: &str, interval: u64, limit: u64, config: &SpeConfig) -> (Outcome, Profiler) {
    let overrides = [
        "memory.prefetch.l1d=false",
        "memory.prefetch.l2-stream=false",
        "memory.prefetch.stores=false",
        "memory.l1d.write-stream-lines=1000000",
    ]
    .map(str::to_owned);
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the built-in configuration");
    let machine = MachineConfig::from_document(&document).expect("the built-in configuration");
    let path = repository().join("traces").join(trace);
    let session = Session::open(&path, machine, RunHeader::default()).expect("a committed trace");
    let options = RunOptions { limit: Some(limit), ..RunOptions::default() };
    let mut profiler = Profiler::new(interval, config);
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut profiler).expect("a run");
    profiler.spe.synchronize(&mut profiler.counts);
    profiler.tally();
    (outcome, profiler)
}

#[test]
fn records_of_every_operation_add_up_to_the_counters() {
    let config =
        SpeConfig { samples_in_flight: 0, record_wrong_path: true, ..SpeConfig::default() };
    for trace in TRACES {
        let (outcome, profiler) = profiled(trace, EVERY, 150_000, &config);
        let mut total = outcome.total();
        total.add(&profiler.counts);
        let operations = total.value(PmuEvent::OP_SPEC);
        for event in [PmuEvent::SAMPLE_POP, PmuEvent::SAMPLE_FEED, PmuEvent::SAMPLE_FILTRATE] {
            assert_eq!(total.value(event), operations, "{trace}: {event:?}");
        }
        assert_eq!(total.value(PmuEvent::SAMPLE_COLLISION), 0, "{trace}");
        for ((event, _), found) in EXACT.iter().zip(&profiler.tallies) {
            assert_eq!(total.value(*event), *found, "{trace}: {event:?}");
        }
        for ((event, _), found) in AT_LEAST.iter().zip(&profiler.tallies[EXACT.len()..]) {
            let counted = total.value(*event);
            let [accesses, refills] = profiler.further;
            let more = if *event == PmuEvent::L1D_CACHE_REFILL { refills } else { accesses };
            println!("{trace}: {event:?} {counted}, in {found} records, {more} further lookups");
            assert!(*found <= counted && counted <= found + more, "{trace}: {event:?}");
        }
    }
}

/// Compares the data source packets of loads with the counters that distinguish inside from
/// outside. An access to several lines records the farthest of them only.
#[test]
fn data_sources_of_every_operation_are_those_of_the_counters() {
    let config =
        SpeConfig { samples_in_flight: 0, record_wrong_path: true, ..SpeConfig::default() };
    let mut are_exact = 0;
    for trace in ["sort.n2t", "hash.n2t", "chase.n2t", "vector.n2t", "interp.n2t"] {
        let (outcome, profiler) = profiled(trace, EVERY, 150_000, &config);
        let (total, memory) = (outcome.total(), outcome.memory());
        let (sources, more) = (profiler.sources, profiler.further[1]);
        let elsewhere =
            memory.fetch_lines + memory.walk_lines + memory.preload_lines + memory.prefetch_lines;
        let reads = total.value(PmuEvent::LL_CACHE_RD);
        assert_eq!(reads, memory.data_lines + elsewhere, "{trace}: each line is a read");
        for (name, counted, found) in [
            ("inner", total.value(PmuEvent::L1D_CACHE_REFILL_INNER), sources.refills[0]),
            ("outer", total.value(PmuEvent::L1D_CACHE_REFILL_OUTER), sources.refills[1]),
            ("last level", memory.data_lines, sources.last_level[0]),
            ("new lines", memory.data_lines, sources.lines.iter().sum()),
        ] {
            println!("{trace}: {name} {counted}, recorded {found}, at most {more} missing");
            assert!(counted.abs_diff(found) <= more, "{trace}: {name} {counted}, recorded {found}");
            are_exact += u32::from(more == 0 && counted > 0);
        }
        let lines = [memory.slc_lines, memory.peer_lines, memory.remote_lines, memory.dram_lines];
        for ((source, found), lines) in OUTSIDE.iter().zip(sources.lines).zip(lines) {
            println!(
                "{trace}: source {source:#x} {lines} lines, recorded {found}, {elsewhere} others"
            );
            let is_bounded = found <= lines && lines <= found + elsewhere + more;
            assert!(is_bounded, "{trace}: {lines} from {source:#x}, recorded {found}");
        }
        let misses = total.value(PmuEvent::LL_CACHE_MISS_RD);
        let found = sources.last_level[1];
        assert!(found <= misses && misses <= found + elsewhere + more, "{trace}: {misses} {found}");
    }
    assert!(are_exact >= 13, "some traces cross no line, and then nothing may be missing");
}

/// The estimate of a share lies within four standard deviations of a binomial sample.
#[test]
fn samples_estimate_the_counters_within_their_bounds() {
    let config = SpeConfig { record_wrong_path: true, ..SpeConfig::default() };
    for trace in TRACES {
        let (outcome, profiler) = profiled(trace, USUAL, 1_000_000, &config);
        let total = outcome.total();
        let operations = total.value(PmuEvent::OP_SPEC) as f64;
        let samples = profiler.samples as f64;
        let interval = operations / samples;
        assert!((interval - 1152.5).abs() < 20.0, "{trace}: one of {interval:.1}");
        let kinds = EXACT.iter().chain(&AT_LEAST).zip(&profiler.tallies);
        for ((event, _), recorded) in
            kinds.filter(|((event, _), _)| *event != PmuEvent::SAMPLE_FILTRATE)
        {
            let share = total.value(*event) as f64 / operations;
            let estimate = *recorded as f64 / samples;
            let deviation = (share * (1.0 - share).max(0.0) / samples).sqrt();
            let bound = 4.0 * deviation + 1.0 / samples;
            println!("{trace}: {event:?} {share:.4}, estimated {estimate:.4}, bound {bound:.4}");
            assert!((estimate - share).abs() <= bound, "{trace}: {event:?} {estimate} for {share}");
        }
    }
}
