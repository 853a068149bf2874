//! A driver that is recorded in a trace uses the PMU as on a real core: it programs counters at
//! EL1, lets a recorded program run at EL0, and reads them. Its reads are the true counts of that
//! level.

use std::path::Path;

use sim_core::{EventSink, InstFlags, Notice, PmuEvent, RegisterAccess};
use sim_machine::{ConfigSource, MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_pmu::{AccessError, ExceptionLevel, Filter, PmuVersion, ProgramPmu, Register};
use sim_tests::repository;
use sim_trace::{Access, StreamEvent, TraceFile, TraceWriter};

/// Instructions of the program that the driver counts.
const WATCHED: usize = 150_000;
/// Address of the driver.
const DRIVER: u64 = 0xffff_8000_0001_0000;
const ERET: u32 = 0xd69f_03e0;

/// Events of the six counters and their first values: some overflow, one feeds a CHAIN.
const COUNTED: [(PmuEvent, u64); 6] = [
    (PmuEvent::INST_RETIRED, 0xFFFF_FFF0),
    (PmuEvent::CHAIN, 7),
    (PmuEvent::L1D_CACHE, 0),
    (PmuEvent::BR_MIS_PRED, 0),
    (PmuEvent::STALL_SLOT, 0),
    (PmuEvent::MEM_ACCESS, 0xFFFF_FFFF),
];

fn word_of(register: Register, is_write: bool) -> u32 {
    let base = if is_write { 0xD500_0001 } else { 0xD520_0000 };
    base | u32::from(register.encoding().bits()) << 5
}

/// Runs one access of the driver, with the value that a recorder saw.
fn push(writer: &mut TraceWriter, pc: &mut u64, register: Register, is_write: bool, value: u64) {
    let block = writer.define_block(*pc, &[word_of(register, is_write)]).expect("a block");
    *pc += 4;
    let encoding = register.encoding().bits();
    let event = StreamEvent::Register { encoding, value, is_write };
    writer.push_block(0, block, 1, &[], Some(event)).expect("a known block");
}

/// Writes the beginning of a committed trace, block by block.
fn push_program(writer: &mut TraceWriter, name: &str) {
    let file = TraceFile::open(&repository().join("traces").join(name)).expect("a trace");
    let mut reader = file.reader(file.streams()[0].stream).expect("its first thread");
    let (mut batch, mut pushed) = (Vec::new(), 0);
    while pushed < WATCHED && reader.next_batch(&mut batch).expect("an intact trace") {
        let code = |i: usize| file.statics().insts()[batch[i].id as usize];
        let mut start = 0;
        while start < batch.len() {
            let end = (start + 1..batch.len())
                .take(1000)
                .find(|i| code(*i).pc != code(*i - 1).pc + 4)
                .unwrap_or(batch.len().min(start + 1000));
            let words: Vec<u32> = (start..end).map(|i| code(i).word).collect();
            let accessing = (start..end).filter(|i| batch[*i].flags.has(InstFlags::HAS_ADDR));
            let access = |i: usize| Access { index: (i - start) as u16, addr: batch[i].addr };
            let accesses: Vec<Access> = accessing.map(access).collect();
            let block = writer.define_block(code(start).pc, &words).expect("a block");
            writer.push_block(0, block, words.len() as u16, &accesses, None).expect("known");
            start = end;
        }
        pushed += batch.len();
    }
}

/// Writes the driver around the program.
fn write(path: &Path, program: &str) {
    use Register::*;
    let mut meta = sim_trace::Meta::default();
    meta.machine.full_system = true;
    let mut writer = TraceWriter::create(path, meta).expect("a new file");
    let mut pc = DRIVER;
    for (n, (event, value)) in (0..).zip(COUNTED) {
        let user_only = u64::from(event.code()) | u64::from(Filter::P);
        push(&mut writer, &mut pc, PMEVTYPER_EL0(n), true, user_only);
        push(&mut writer, &mut pc, PMEVCNTR_EL0(n), true, value);
    }
    push(&mut writer, &mut pc, PMCCFILTR_EL0, true, u64::from(Filter::P));
    push(&mut writer, &mut pc, PMINTENSET_EL1, true, 0x20);
    push(&mut writer, &mut pc, PMCNTENSET_EL0, true, 0x8000_003F);
    push(&mut writer, &mut pc, PMCR_EL0, true, 0x41);
    let eret = writer.define_block(pc, &[ERET]).expect("a block");
    writer.push_block(0, eret, 1, &[], None).expect("a known block");
    push_program(&mut writer, program);
    // The program tries to read a counter itself without permission; then an interrupt ends its
    // time slice.
    let mut user = 0x40_0000;
    push(&mut writer, &mut user, PMEVCNTR_EL0(0), false, 0);
    let irq =
        StreamEvent::Exception { vector: 0x480, abandoned: false, level: 1, syndrome: 0, state: 0 };
    writer.push_event(0, irq).expect("an event");
    let mut pc = DRIVER + 0x1000;
    push(&mut writer, &mut pc, PMCR_EL0, true, 0x40);
    for n in 0..6 {
        push(&mut writer, &mut pc, PMEVCNTR_EL0(n), false, 0);
    }
    push(&mut writer, &mut pc, PMCCNTR_EL0, false, 0);
    push(&mut writer, &mut pc, PMOVSCLR_EL0, false, 0);
    writer.finish().expect("a whole trace");
}

fn replay(path: &Path, program: &mut ProgramPmu) -> Outcome {
    let document = ConfigSource::default().document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    let session = Session::open(path, config, RunHeader::default()).expect("the trace");
    session.run_with_sink(&RunOptions::default(), &mut |_| {}, program).expect("a run")
}

#[test]
fn a_recorded_driver_reads_the_true_counts_of_the_program() {
    let folder = tempfile::tempdir().expect("a directory");
    for name in ["sort.n2t", "hash.n2t", "interp.n2t"] {
        let path = folder.path().join(name);
        write(&path, name);
        let report = sim_trace::verify(&path).expect("a readable trace");
        assert!(report.is_good(), "{name}: {report:?}");
        assert_eq!(TraceFile::open(&path).expect("a trace").version(), (1, 3));

        let mut program = ProgramPmu::new(PmuVersion::V8p4);
        let outcome = replay(&path, &mut program);
        let user = outcome.total_at(|level| level.level == 0);
        let reads: Vec<_> =
            program.accesses().iter().filter(|seen| !seen.access.is_write).collect();
        let trap = Err(AccessError::Trap { to: ExceptionLevel::El1 });
        assert_eq!(reads[0].outcome, trap, "{name}: a program without leave");

        let total = |n: usize| COUNTED[n].1 + user.value(COUNTED[n].0);
        let retired = total(0);
        let expected = [
            retired & 0xFFFF_FFFF,
            7 + (retired >> 32),
            total(2),
            total(3),
            total(4),
            total(5) & 0xFFFF_FFFF,
            user.value(PmuEvent::CPU_CYCLES),
            0b10_0001,
        ];
        let read: Vec<u64> = reads[1..].iter().map(|seen| seen.outcome.expect("leave")).collect();
        assert_eq!(read, expected, "{name}");
        assert!(user.value(PmuEvent::INST_RETIRED) > WATCHED as u64 && total(3) > 0, "{name}");
        let end = program.ends().next().expect("one core");
        assert_eq!((end.requests, end.pmu.interrupt()), (1, false), "{name}: PMCR.E is clear");
    }
}

#[test]
fn a_misplaced_register_event_is_found() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("misplaced.n2t");
    let mut writer = TraceWriter::create(&path, sim_trace::Meta::default()).expect("a new file");
    let read = word_of(Register::PMCCNTR_EL0, false);
    let block = writer.define_block(0x1000, &[read, 0xd503_201f]).expect("a block");
    let access = sim_isa::register_access(read, 5).expect("an access");
    let RegisterAccess { encoding, value, is_write } = access;
    let event = StreamEvent::Register { encoding, value, is_write };
    writer.push_block(0, block, 1, &[], Some(event)).expect("a known block");
    let rest = writer.define_block(0x1004, &[0xd503_201f]).expect("a block");
    writer.push_block(0, rest, 1, &[], Some(event)).expect("a known block");
    writer.finish().expect("a whole trace");
    let report = sim_trace::verify(&path).expect("a readable trace");
    assert_eq!((report.misplaced_registers, report.is_good()), (1, false));
}

/// Counts with three chained pairs and the cycle counter while the run is counted.
struct Chained {
    pmu: sim_pmu::Pmu,
    is_counted: bool,
}

impl EventSink for Chained {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if self.is_counted {
            self.pmu.count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        if let Notice::Counting(is_counted) = notice {
            self.is_counted = is_counted;
        }
    }
}

/// The long run of `cargo xtask long-run` with counters that begin just below 2^32.
#[test]
fn chained_counters_pass_32_bits_on_a_real_trace() {
    use sim_pmu::CounterIndex;
    const EVENTS: [PmuEvent; 3] =
        [PmuEvent::STALL_SLOT, PmuEvent::INST_RETIRED, PmuEvent::L1D_CACHE];
    const BEGIN: u64 = (1 << 32) - 1000;
    for name in ["chase.n2t", "matrix.n2t"] {
        let mut pmu = sim_pmu::Pmu::new();
        let counter = |n: usize| CounterIndex::new(n as u8).expect("there are six");
        for (pair, event) in EVENTS.into_iter().enumerate() {
            pmu.program(counter(2 * pair), event);
            pmu.program(counter(2 * pair + 1), PmuEvent::CHAIN);
            pmu.write(counter(2 * pair), BEGIN as u32);
        }
        pmu.write_cycles(BEGIN);
        pmu.start(u32::MAX);
        pmu.control(true, true);
        let mut chained = Chained { pmu, is_counted: false };
        let path = repository().join("traces").join(name);
        let document = ConfigSource::default().document().expect("the configuration");
        let config = MachineConfig::from_document(&document).expect("the configuration");
        let session = Session::open(&path, config, RunHeader::default()).expect("a trace");
        let options = RunOptions { limit: Some(100_000), ..RunOptions::default() };
        let outcome = session.run_with_sink(&options, &mut |_| {}, &mut chained).expect("a run");
        let truth = outcome.total();
        let pmu = &chained.pmu;
        for (pair, event) in EVENTS.into_iter().enumerate() {
            let (low, high) = (pmu.read(counter(2 * pair)), pmu.read(counter(2 * pair + 1)));
            let value = u64::from(high) << 32 | u64::from(low);
            assert_eq!(value, BEGIN + truth.value(event), "{name}: {event:?}");
            assert_eq!(high, 1, "{name}: {event:?} passed 2^32");
        }
        assert_eq!(pmu.read_cycles(), BEGIN + truth.value(PmuEvent::CPU_CYCLES), "{name}");
        assert_eq!(pmu.overflowed(), 0b1_0101, "{name}: the even counters alone");
    }
}
