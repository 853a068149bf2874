//! The PMU of the core: counters agree with the totals of a run, wrap once, chain, and follow the
//! program's own register accesses and its exception level.

use std::path::Path;

use proptest::prelude::*;
use sim_a53::cluster::EMBEDDED;
use sim_a53::pmu::{self, PmuSink};
use sim_a53::{A53Config, A53CoreOutcome, A53Event, A53Pmu, A53Sink, run, run_with_pmu};
use sim_core::config::Document;
use sim_pmu::counter::CYCLE_BIT;
use sim_pmu::{AccessError, CounterIndex, ExceptionLevel, Filter, PeState, Register};
use sim_trace::{Access, StreamEvent, TraceFile, TraceWriter};

/// Instructions of each thread.
const LIMIT: u64 = 100_000;
/// `PMCR`: counters run, the cycle counter has 64 bits.
const ENABLE: u64 = 0x41;
const ALL: u64 = 0x8000_003F;

fn config() -> A53Config {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    A53Config::from_document(&document).expect("valid defaults")
}

fn counter(n: usize) -> CounterIndex {
    CounterIndex::among(6, n as u8).expect("there are six")
}

/// Returns a PMU, programmed at EL1, with an event and a first value for each counter.
fn programmed(counters: &[(u16, u32)]) -> A53Pmu {
    let mut pmu = pmu::new();
    pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
    let mut set = |register, value| pmu.msr(register, value).expect("a kernel may write it");
    for (n, (code, value)) in (0..).zip(counters) {
        set(Register::PMEVTYPER_EL0(n), u64::from(*code));
        set(Register::PMEVCNTR_EL0(n), u64::from(*value));
    }
    set(Register::PMCNTENSET_EL0, ALL);
    set(Register::PMINTENSET_EL1, ALL);
    set(Register::PMCR_EL0, ENABLE);
    pmu.set_state(PeState::default());
    pmu
}

fn values(pmu: &A53Pmu) -> Vec<u32> {
    (0..6).map(|n| pmu.read(counter(n))).collect()
}

/// Given every committed trace, when it runs with six events at a time until all had a counter,
/// then each counter has the total of its event, and the cycle counter the cycles.
#[test]
fn six_counters_at_a_time_have_the_totals_of_the_run() {
    for path in super::traces::traces() {
        let trace = TraceFile::open(&path).expect("a committed trace");
        let totals = run(&trace, &config(), Some(LIMIT)).expect("a run");
        for six in A53Event::ALL.chunks(6) {
            let wanted: Vec<(u16, u32)> = six.iter().map(|event| (event.code(), 0)).collect();
            let cores = run_with_pmu(&trace, &config(), Some(LIMIT), |_| programmed(&wanted));
            for ((outcome, sink), total) in cores.expect("a run").iter().zip(&totals) {
                for (n, event) in six.iter().enumerate() {
                    let value = sink.pmu().value(counter(n));
                    assert_eq!(value, total.counts.value(*event), "{path:?}: {event:?}");
                }
                assert_eq!(outcome.counts, total.counts, "{path:?}");
                assert_eq!(sink.pmu().read_cycles(), total.cycles, "{path:?}");
                assert_eq!((sink.pmu().overflowed(), sink.requests()), (0, 0), "{path:?}");
            }
        }
    }
}

fn sort_with(counters: &[(u16, u32)]) -> (A53CoreOutcome, PmuSink) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/sort.n2t");
    let trace = TraceFile::open(&path).expect("a committed trace");
    let cores = run_with_pmu(&trace, &config(), Some(LIMIT), |_| programmed(counters));
    cores.expect("a run").remove(0)
}

/// Given a first value just below 2^32, when a trace runs, then the counter overflows once,
/// requests one interrupt, and holds the rest; with CHAIN above it, the pair holds all 64 bits.
#[test]
fn a_counter_overflows_once_and_chain_gives_it_64_bits() {
    let retired = A53Event::INST_RETIRED.code();
    let chain = A53Event::CHAIN.code();
    let first = 0xFFFF_FFF0_u32;
    let (outcome, sink) = sort_with(&[(retired, first), (chain, 0), (chain, 0), (retired, 0)]);
    let total = outcome.counts.value(A53Event::INST_RETIRED);
    assert_eq!(total, LIMIT);
    let wide = u64::from(first) + total;
    assert_eq!(values(sink.pmu())[..4], [wide as u32, 1, 0, total as u32]);
    assert_eq!((sink.pmu().overflowed(), sink.requests()), (1, 1));
    assert!(sink.pmu().interrupt());

    // Both counters of the pair at their ends: the chained one overflows, too.
    let (_, sink) = sort_with(&[(retired, first), (chain, u32::MAX)]);
    assert_eq!(values(sink.pmu())[..2], [wide as u32, 0]);
    assert_eq!(sink.pmu().overflowed(), 0b11);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// Random events reach the counters that count their number, and no other.
    #[test]
    fn each_event_increments_the_counters_of_its_number(
        counters in prop::collection::vec((0u16..0xF0, any::<u32>()), 6),
        events in prop::collection::vec((prop::sample::select(A53Event::ALL.to_vec()), 0u64..9), 0..200),
        near in any::<bool>(),
    ) {
        let counters: Vec<(u16, u32)> = counters.into_iter()
            .map(|(code, value)| (if code == 0x1E { 0x08 } else { code }, value | if near { !0xFF } else { 0 }))
            .collect();
        let mut sink = PmuSink::new(0, programmed(&counters));
        let (mut wanted, mut cycles) = ([0_u64; 6], 0);
        for (event, times) in events {
            let cycle_events = [A53Event::CPU_CYCLES, A53Event::BUS_CYCLES];
            if event == A53Event::SW_INCR || cycle_events.contains(&event) {
                continue;
            }
            cycles += times;
            sink.raise(event, cycles, times);
            for (total, (code, _)) in wanted.iter_mut().zip(&counters) {
                *total += if *code == event.code() { times } else { 0 };
            }
        }
        for (n, (_, first)) in counters.iter().enumerate() {
            let wide = u64::from(*first) + wanted[n];
            prop_assert_eq!(sink.pmu().value(counter(n)), wide & 0xFFFF_FFFF);
            prop_assert_eq!(sink.pmu().overflowed() >> n & 1 == 1, wide >> 32 == 1);
        }
    }
}

/// `PMCR.C` and `E`: the cycles of a run until its end count once, whichever step asks for them.
#[test]
fn cycles_are_given_once() {
    let mut sink = PmuSink::new(0, programmed(&[(0x11, 0), (0x1D, 0)]));
    let note = |next| sim_a53::A53Note::Return { next };
    sink.note(note(None), 40);
    sink.note(note(None), 30);
    sink.raise(A53Event::CPU_CYCLES, 100, 100);
    sink.raise(A53Event::BUS_CYCLES, 100, 100);
    assert_eq!(values(sink.pmu())[..2], [100, 100]);
    assert_eq!(sink.pmu().read_cycles(), 100);
}

/// Address of the driver.
const DRIVER: u64 = 0xffff_8000_0001_0000;
const ERET: u32 = 0xd69f_03e0;
const NOP: u32 = 0xd503_201f;
const LOAD: u32 = 0xf940_0041;

/// Writes a trace of a driver and its program, instruction by instruction.
struct Recorder {
    writer: TraceWriter,
    pc: u64,
}

impl Recorder {
    fn run(&mut self, word: u32, addr: Option<u64>, event: Option<StreamEvent>) {
        let block = self.writer.define_block(self.pc, &[word]).expect("a block");
        self.pc += 4;
        let accesses: Vec<Access> =
            addr.map(|addr| Access { index: 0, addr }).into_iter().collect();
        self.writer.push_block(0, block, 1, &accesses, event).expect("a known block");
    }

    fn access(&mut self, register: Register, is_write: bool, value: u64) {
        let base = if is_write { 0xD500_0001 } else { 0xD520_0000 };
        let encoding = register.encoding().bits();
        let event = StreamEvent::Register { encoding, value, is_write };
        self.run(base | u32::from(encoding) << 5, None, Some(event));
    }

    fn write(&mut self, register: Register, value: u64) {
        self.access(register, true, value);
    }

    fn read(&mut self, register: Register) {
        self.access(register, false, 0);
    }

    /// Takes an interrupt to EL1.
    fn interrupt(&mut self) {
        let irq = StreamEvent::Exception {
            vector: 0x480,
            abandoned: false,
            level: 1,
            syndrome: 0,
            state: 0,
        };
        self.writer.push_event(0, irq).expect("an event");
    }
}

/// Records a driver that counts instructions at EL0 and at EL1, loads, exceptions, returns and
/// software increments, lets a program run, and reads the counters after an interrupt.
fn record(path: &Path) {
    use Register::*;
    let mut meta = sim_trace::Meta::default();
    meta.machine.full_system = true;
    let writer = TraceWriter::create(path, meta).expect("a new file");
    let mut record = Recorder { writer, pc: DRIVER };
    let (not_el0, not_el1) = (u64::from(Filter::U), u64::from(Filter::P));
    for (n, what) in
        [0x08 | not_el1, 0x08 | not_el0, 0x06, 0x09, 0x0A | not_el1, 0x00].into_iter().enumerate()
    {
        record.write(PMEVTYPER_EL0(n as u8), what);
    }
    record.write(PMCCFILTR_EL0, not_el1);
    record.write(PMCNTENSET_EL0, ALL);
    record.write(PMCR_EL0, ENABLE);
    record.write(PMSWINC_EL0, 0x3F);
    record.write(PMSWINC_EL0, 0x1F);
    record.run(ERET, None, None);
    record.pc = 0x40_0000;
    (0..20).for_each(|_| record.run(NOP, None, None));
    (0..5).for_each(|n| record.run(LOAD, Some(0x8000 + 8 * n), None));
    record.read(PMEVCNTR_EL0(0));
    record.interrupt();
    record.pc = DRIVER + 0x1000;
    record.write(PMCR_EL0, ENABLE & !1);
    (0..6).for_each(|n| record.read(PMEVCNTR_EL0(n)));
    record.read(PMCCNTR_EL0);
    record.writer.finish().expect("a whole trace");
}

/// Given a driver in a trace, when it runs, then its counters follow the level: 26 instructions at
/// EL0; the two software increments, the return and the end of counting at EL1. The exception
/// counts at its level, EL1, and the return at EL0 (erratum 855827).
#[test]
fn a_recorded_driver_reads_the_counts_of_each_level() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("driver.n2t");
    record(&path);
    let trace = TraceFile::open(&path).expect("the trace");
    let (outcome, sink) =
        run_with_pmu(&trace, &config(), None, |_| pmu::new()).expect("a run").remove(0);
    let reads: Vec<_> = sink.accesses().iter().filter(|seen| !seen.access.is_write).collect();
    let trap = Err(AccessError::Trap { to: ExceptionLevel::El1 });
    assert_eq!(reads[0].outcome, trap, "a program without leave");
    let read: Vec<u64> = reads[1..].iter().map(|seen| seen.outcome.expect("leave")).collect();
    // PMSWINC twice, ERET, and the write that stops the counters.
    assert_eq!(read[..6], [26, 4, 5, 1, 1, 1]);
    assert!(read[6] > 13 && read[6] < outcome.cycles, "{} cycles at EL0", read[6]);
    assert_eq!(sink.accesses().iter().filter(|seen| seen.outcome.is_err()).count(), 1);
    assert_eq!(sink.pmu().overflowed() & CYCLE_BIT, 0);
}
