//! Sinks that spare the run most reports get what they would get from a run that reports all.

use sim_core::{Counts, DeferredSink, EventSink, InstId, Notice, PmuEvent, Privilege};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, Passes, PerfSession, PerfSetup, Reading};
use sim_pmu::spe::SpeConfig;
use sim_pmu::spe::driver::{
    BufferDrain, Clocks, EVERY_OPERATION, SpeDriver, SpeDrivers, SpeRequest,
};
use sim_tests::repository;

/// Traces of one thread, of two threads, and of an application with its kernel; a revision with the
/// erratum, and one without.
const RUNS: [(&str, &str); 4] = [
    ("sort.n2t", "r0p3"),
    ("atomics.n2t", "r0p0"),
    ("threads/exclusive_adjacent.n2t", "r0p3"),
    ("system.n2t", "r0p3"),
];

fn session(trace: &str, revision: &str) -> Session {
    let path = repository().join("traces").join(trace);
    let overrides = [format!("core.revision={revision}")];
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let document = source.document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    Session::open(&path, config, RunHeader::default()).expect("a committed trace")
}

fn options() -> RunOptions {
    RunOptions { warmup: 2_000, limit: Some(60_000), ..RunOptions::default() }
}

/// Counts of a core whenever its clock passes a multiple of a period, and whenever the level
/// changes.
struct Snapshots {
    period: u64,
    cores: Vec<CountedCore>,
    current: usize,
    taken: Vec<(usize, Privilege, Counts)>,
}

#[derive(Clone, Default)]
struct CountedCore {
    is_counted: bool,
    privilege: Privilege,
    counts: Counts,
    until_end: u64,
}

impl Snapshots {
    fn new(period: u64) -> Snapshots {
        Snapshots { period, cores: Vec::new(), current: 0, taken: Vec::new() }
    }

    fn take(&mut self) {
        let CountedCore { privilege, counts, .. } = &self.cores[self.current];
        self.taken.push((self.current, *privilege, counts.clone()));
    }
}

impl EventSink for Snapshots {
    const OBSERVES_OPS: bool = true;

    fn counts_only(&self) -> bool {
        true
    }

    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &mut self.cores[self.current];
        if !core.is_counted {
            return;
        }
        if event == PmuEvent::CPU_CYCLES && n >= core.until_end {
            core.until_end += n.next_multiple_of(self.period);
            self.take();
        }
        let core = &mut self.cores[self.current];
        if event == PmuEvent::CPU_CYCLES {
            core.until_end -= n;
        }
        core.counts.count(event, n);
    }

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                let new = CountedCore { until_end: self.period, ..CountedCore::default() };
                self.cores.resize(self.cores.len().max(core + 1), new);
                self.current = core;
            }
            Notice::Counting(is_counted) => {
                self.cores[self.current].is_counted = is_counted;
                self.take();
            }
            // A core begins at the default level.
            Notice::Privilege(to) if to != self.cores[self.current].privilege => {
                self.take();
                self.cores[self.current].privilege = to;
            }
            _ => {}
        }
    }
}

impl DeferredSink for Snapshots {
    fn cycles_to_deadline(&self) -> u64 {
        let core = &self.cores[self.current];
        if core.is_counted { core.until_end } else { u64::MAX }
    }
}

#[test]
fn a_deferred_sink_has_all_counts_at_every_deadline() {
    for (trace, revision) in RUNS {
        let session = session(trace, revision).without_roots();
        for period in [1, 37, 1_000, 50_000, u64::MAX / 4] {
            let mut observing = Snapshots::new(period);
            let mut deferred = Snapshots::new(period);
            let seen = session.run_with_sink(&options(), &mut |_| {}, &mut observing);
            let summed = session.run_deferred(&options(), &mut |_| {}, &mut deferred);
            assert_eq!(
                format!("{:?}", seen.expect("a run")),
                format!("{:?}", summed.expect("a run"))
            );
            assert!(observing.taken.len() >= 2, "{trace}");
            assert_eq!(observing.taken.len(), deferred.taken.len(), "{trace}, {period} cycles");
            let mut both = observing.taken.iter().zip(&deferred.taken);
            let differs = both.position(|(a, b)| a != b);
            assert_eq!(differs, None, "{trace}, {period} cycles: first snapshot that differs");
        }
    }
}

/// Given every event in turns on six counters, beside passes that count them exactly, then sums at
/// the ends of slices give the readings of counters that observe the run.
#[test]
fn counters_in_turns_read_the_same_from_sums() {
    let groups: Vec<Group> = PmuEvent::ALL.into_iter().map(Group::single).collect();
    for (trace, revision) in RUNS {
        let session = session(trace, revision).without_roots();
        for slice in [300, 6_000, 60_000] {
            let setup = PerfSetup::new(&groups, CounterCount::default());
            let turns = PerfSession::new(setup, slice);
            let exact = Passes::new(&groups, CounterCount::default());
            let (mut observing, mut deferred) = ((turns.clone(), exact.clone()), (turns, exact));
            session.run_with_sink(&options(), &mut |_| {}, &mut observing).expect("a run");
            session
                .run_deferred(&options(), &mut |_| {}, &mut (&mut deferred.0, &mut deferred.1))
                .expect("a run");
            let (seen, summed): (Vec<Vec<Reading>>, _) =
                (observing.0.readings_by_core(), deferred.0.readings_by_core());
            assert_eq!(seen, summed, "{trace}, slices of {slice} cycles");
            let (seen, summed) = (observing.1.readings_by_core(), deferred.1.readings_by_core());
            assert_eq!(seen, summed, "{trace}, exact");
        }
    }
}

/// Passes every operation on, and asks for all of them.
struct All(SpeDrivers);

impl EventSink for All {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.0.count(event, n);
    }

    fn notify(&mut self, notice: Notice<'_>) {
        assert!(!matches!(notice, Notice::Skipped(_)), "{notice:?}");
        self.0.notify(notice);
    }
}

fn drivers(period: u64) -> SpeDrivers {
    let request = SpeRequest { ts_enable: true, jitter: true, period, ..SpeRequest::default() };
    let clocks = Clocks { core_hz: 3_000_000_000, counter_hz: 1_000_000_000, start: 5 };
    let driver = |core| SpeDriver::new(&SpeConfig::default(), core, &request, clocks, 1 << 13);
    SpeDrivers::new((0..2).map(driver).collect())
}

fn recorded(drivers: SpeDrivers) -> Vec<(Vec<BufferDrain>, Counts, u64)> {
    let one = |mut driver: SpeDriver| (driver.take_drains(), driver.counts().clone(), driver.now());
    drivers.into_cores().into_iter().map(one).collect()
}

#[test]
fn samples_are_the_same_when_the_run_reports_only_what_is_near_them() {
    for (trace, revision) in RUNS {
        let session = session(trace, revision).without_roots();
        for period in [EVERY_OPERATION, 1_024, 5_000, 100_000] {
            let (mut all, mut some) = (All(drivers(period)), drivers(period));
            session.run_with_sink(&options(), &mut |_| {}, &mut all).expect("a run");
            session.run_with_sink(&options(), &mut |_| {}, &mut some).expect("a run");
            let (all, some) = (recorded(all.0), recorded(some));
            assert!(all[0].1.value(PmuEvent::SAMPLE_POP) > 10_000, "{trace}");
            assert!(all == some, "{trace}, a sample in {period}: records differ");
        }
    }
}

/// Number of parts of the program in the next test.
const PARTS: usize = 8;

/// Counts of each part of the program. Every 64 bytes of code belong to another part than their
/// neighbors, so that the part changes often, on wrong paths too.
#[derive(Default)]
struct ByPart {
    parts: [Counts; PARTS],
    now: usize,
    cores: Vec<(usize, bool)>,
}

impl ByPart {
    fn part(pc: u64) -> usize {
        (pc >> 6) as usize % PARTS
    }

    /// Passes notices of cores and windows on to the state of the present core.
    fn follow(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.cores.resize(self.cores.len().max(core + 1), (0, false));
                self.now = core;
            }
            Notice::Counting(is_counted) => self.cores[self.now].1 = is_counted,
            _ => {}
        }
    }
}

impl EventSink for ByPart {
    fn count(&mut self, event: PmuEvent, n: u64) {
        let (part, is_counted) = self.cores[self.now];
        if is_counted {
            self.parts[part].count(event, n);
        }
    }

    fn notify(&mut self, notice: Notice<'_>) {
        self.follow(notice);
        if let Notice::Part { part, .. } = notice {
            self.cores[self.now].0 = part as usize;
        }
    }
}

impl DeferredSink for ByPart {
    const ATTRIBUTES: bool = true;

    fn cycles_to_deadline(&self) -> u64 {
        u64::MAX
    }

    fn part_of(&mut self, _inst: InstId, pc: u64) -> u32 {
        ByPart::part(pc) as u32
    }
}

/// The same from the reports of operations, which follow the events of each operation.
#[derive(Default)]
struct Observing {
    by_part: ByPart,
    pending: Vec<(PmuEvent, u64)>,
    /// Cycles of the part of the last retired instruction.
    cycles: [u64; PARTS],
    /// Part of the last retired instruction of each core.
    retired: [usize; 2],
}

impl EventSink for Observing {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        self.pending.push((event, n));
        let (_, is_counted) = self.by_part.cores[self.by_part.now];
        if event == PmuEvent::CPU_CYCLES && is_counted {
            self.cycles[self.retired[self.by_part.now]] += n;
        }
    }

    fn notify(&mut self, notice: Notice<'_>) {
        self.by_part.follow(notice);
        match notice {
            Notice::Operation(operation) => {
                let by_part = &mut self.by_part;
                let part = ByPart::part(operation.timeline.pc);
                by_part.cores[by_part.now].0 = part;
                if operation.timeline.retired {
                    self.retired[by_part.now] = part;
                }
                self.pending.drain(..).for_each(|(event, n)| by_part.count(event, n));
            }
            Notice::Core(_) | Notice::Counting(_) => self.pending.clear(),
            _ => {}
        }
    }
}

/// Given a sink that attributes counts to parts of the program, then each part has the events of
/// its operations, on wrong paths too, and all parts together have every event of the run.
#[test]
fn each_part_of_a_program_has_the_counts_of_its_operations() {
    use PmuEvent::*;
    // No instruction fetch and no exception raises them.
    let events = [
        INST_SPEC,
        OP_SPEC,
        INST_RETIRED,
        OP_RETIRED,
        LD_SPEC,
        ST_SPEC,
        DP_SPEC,
        VFP_SPEC,
        BR_RETIRED,
        BR_MIS_PRED_RETIRED,
        BR_PRED,
        L1D_CACHE_RD,
        L1D_CACHE_REFILL_RD,
        L1D_TLB_RD,
        MEM_ACCESS_WR,
    ];
    for (trace, revision) in RUNS {
        let session = session(trace, revision).without_roots();
        let (mut observing, mut deferred) = (Observing::default(), ByPart::default());
        session.run_with_sink(&options(), &mut |_| {}, &mut observing).expect("a run");
        let outcome = session.run_deferred(&options(), &mut |_| {}, &mut deferred).expect("a run");
        for (part, (seen, own)) in observing.by_part.parts.iter().zip(&deferred.parts).enumerate() {
            for event in events {
                assert_eq!(seen.value(event), own.value(event), "{trace}, part {part}: {event:?}");
            }
        }
        // An instruction of the kernel's traces may abort, and then has cycles but does not retire.
        if trace != "system.n2t" {
            let cycles = deferred.parts.each_ref().map(|part| part.value(CPU_CYCLES));
            assert_eq!(observing.cycles, cycles, "{trace}: cycles");
        }
        let mut sum = Counts::default();
        deferred.parts.iter().for_each(|part| sum.add(part));
        assert_eq!(sum, outcome.total(), "{trace}: all parts together");
    }
}
