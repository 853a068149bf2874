//! Samples against counters: with every operation recorded the totals are those of the PMU; at intervals of
//! 1024 what they estimate lies within the bounds of a random sample. `--nocapture` shows the figures.

#![allow(clippy::print_stdout, reason = "the figures are for those who ask for them")]

use sim_core::{
    AccessKind, Counts, EventSink, Happened, LINE_BYTES, Operation, OperationKind, PmuEvent,
    Privilege,
};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_pmu::spe::{Course, Events, Spe, SpeConfig, SpeRecord, SpeRegister};
use sim_tests::repository;

const TRACES: [&str; 4] = ["sort.n2t", "btree.n2t", "vector.n2t", "interp.n2t"];
/// Every operation falls due.
const EVERY: u64 = 0;
/// `INTERVAL` 4 and `RND`: 1024 operations and a random byte.
const USUAL: u64 = 4 << 8 | 1;

/// What records can tell of a run: an event, and the records that have it.
type Kind = (PmuEvent, fn(&SpeRecord) -> bool);

fn has(record: &SpeRecord, events: Events) -> bool {
    record.events.is_some_and(|own| own.has(events))
}

fn is_branch(record: &SpeRecord) -> bool {
    record.operation.is_some_and(|kind| kind.is_branch())
}

/// Events that one operation raises at most once, and that records tell exactly.
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

/// Events that an access may raise once for each line or element, and tells once.
const AT_LEAST: [Kind; 3] = [
    (PmuEvent::L1D_CACHE_REFILL, |record| has(record, Events::L1D_REFILL)),
    (PmuEvent::DTLB_WALK, |record| has(record, Events::TLB_WALK)),
    (PmuEvent::L1D_TLB, |record| has(record, Events::TLB_ACCESS)),
];

/// Profiles the one core of a run from its first operation.
struct Profiler {
    spe: Spe,
    counts: Counts,
    tallies: Vec<u64>,
    samples: u64,
    /// Lookups behind the first of each access: of all that reached the TLB, and of those that refilled.
    further: [u64; 2],
}

/// Lookups of an access behind its first: further lines, elements of a gather or scatter, the write of an
/// atomic. A preload is recorded as no access at all, so that its first is one too many as well.
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
        false => (bytes - 1) / 16 + (operation.life.addr % LINE_BYTES + bytes - 1) / LINE_BYTES,
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
        spe.keep_fates();
        let tallies = vec![0; EXACT.len() + AT_LEAST.len()];
        Profiler { spe, counts: Counts::default(), tallies, samples: 0, further: [0; 2] }
    }

    fn tally(&mut self) {
        for fate in self.spe.take_fates().iter().filter(|fate| fate.course == Course::Written) {
            let record = fate.record.as_ref().expect("what is written has a record");
            self.samples += 1;
            for ((_, holds), n) in EXACT.iter().chain(&AT_LEAST).zip(&mut self.tallies) {
                *n += u64::from(holds(record));
            }
        }
        let pointer = self.spe.get(SpeRegister::PMBPTR_EL1);
        self.spe.memory_mut().forget_below(pointer);
    }
}

impl EventSink for Profiler {
    const FOLLOWS_RUN: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn operation(&mut self, operation: &Operation) {
        self.spe.operation(operation, &mut self.counts);
        if operation.life.translation_cycles > 0 {
            let refills = operation.life.happened.has(Happened::L1_REFILL);
            self.further[0] += further_lookups(operation);
            self.further[1] += if refills { further_lookups(operation) } else { 0 };
        }
        if self.spe.fates().len() >= 4096 {
            self.tally();
        }
    }
}

/// A committed trace on a machine without prefetchers: what they refill belongs to no operation.
fn profiled(trace: &str, interval: u64, limit: u64, config: &SpeConfig) -> (Outcome, Profiler) {
    let overrides = ["l1d", "l2-stream"].map(|key| format!("memory.prefetch.{key}=false"));
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the built-in configuration");
    let machine = MachineConfig::from_document(&document).expect("the built-in configuration");
    let path = repository().join("traces").join(trace);
    let session = Session::open(&path, machine, RunHeader::default()).expect("a committed trace");
    let options = RunOptions { limit: Some(limit), ..RunOptions::default() };
    let mut profiler = Profiler::new(interval, config);
    let outcome = session.run_heard(&options, &mut |_| {}, &mut profiler).expect("a run");
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
        for ((event, _), told) in EXACT.iter().zip(&profiler.tallies) {
            assert_eq!(total.value(*event), *told, "{trace}: {event:?}");
        }
        for ((event, _), told) in AT_LEAST.iter().zip(&profiler.tallies[EXACT.len()..]) {
            let counted = total.value(*event);
            let [accesses, refills] = profiler.further;
            let more = if *event == PmuEvent::L1D_CACHE_REFILL { refills } else { accesses };
            println!(
                "{trace}: {event:?} {counted}, told by {told} records, {more} further lookups"
            );
            assert!(*told <= counted && counted <= told + more, "{trace}: {event:?}");
        }
    }
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
        for ((event, _), told) in
            kinds.filter(|((event, _), _)| *event != PmuEvent::SAMPLE_FILTRATE)
        {
            let share = total.value(*event) as f64 / operations;
            let found = *told as f64 / samples;
            let deviation = (share * (1.0 - share).max(0.0) / samples).sqrt();
            let bound = 4.0 * deviation + 1.0 / samples;
            println!("{trace}: {event:?} {share:.4}, estimated {found:.4}, bound {bound:.4}");
            assert!((found - share).abs() <= bound, "{trace}: {event:?} {found} for {share}");
        }
    }
}
