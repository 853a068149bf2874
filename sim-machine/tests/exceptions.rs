//! Full-system traces: exceptions go to the recorded vectors and return.

use std::path::Path;

use sim_core::{Counts, EventSink, Notice, PmuEvent};
use sim_machine::{
    ConfigSource, CoreOutcome, Level, MachineConfig, RunHeader, RunOptions, Session,
};
use sim_trace::{Access, Meta, StreamEvent, TraceWriter};

const USER: u64 = 0x40_0000;
const KERNEL: u64 = 0xffff_8000_0000_0400;
const ADD: u32 = 0x9100_0421;
const LDR: u32 = 0xf940_0041;
const SVC: u32 = 0xd400_0001;
const ERET: u32 = 0xd69f_03e0;
/// `msr contextidr_el1, x1`: counted from EL1 on.
const MSR_CONTEXTIDR: u32 = 0xd518_d021;

fn exception(vector: u32, abandoned: bool, syndrome: u64) -> StreamEvent {
    let (level, state) = if syndrome == 0 { (0, 0) } else { (1, 0) };
    StreamEvent::Exception { vector, abandoned, level, syndrome, state }
}

/// Runs a call, a load that aborts and repeats, an interrupt inside its handler, and one of the
/// program.
fn run() -> (Counts, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.n2t");
    let instructions = write(&path);
    (replay(&path), instructions)
}

/// Writes that trace. Returns its number of instructions.
fn write(path: &Path) -> u64 {
    let mut meta = Meta::default();
    meta.machine.full_system = true;
    let mut writer = TraceWriter::create(path, meta).expect("a new file");
    let call = writer.define_block(USER, &[MSR_CONTEXTIDR, ADD, SVC]).expect("a block");
    let load = writer.define_block(USER + 12, &[LDR, ADD]).expect("a block");
    let handler = writer.define_block(KERNEL, &[MSR_CONTEXTIDR, ADD]).expect("a block");
    let back = writer.define_block(KERNEL + 8, &[ADD, ERET]).expect("a block");
    let nested = writer.define_block(KERNEL + 0x80, &[MSR_CONTEXTIDR, ERET]).expect("a block");
    let access = [Access { index: 0, addr: 0x8000 }];
    let mut push = |block, n, accesses: &[Access], event| {
        writer.push_block(0, block, n, accesses, event).expect("a known block");
    };
    push(call, 3, &[], Some(exception(0x400, false, 0)));
    push(handler, 2, &[], None);
    push(back, 2, &[], None);
    push(load, 1, &access, Some(exception(0x400, true, 0x24 << 26)));
    push(handler, 2, &[], Some(exception(0x280, false, 0)));
    push(nested, 2, &[], None);
    push(back, 2, &[], None);
    push(load, 2, &access, Some(exception(0x480, false, 0)));
    push(handler, 2, &[], None);
    push(back, 2, &[], None);
    push(call, 1, &[], None);
    let summary = writer.finish().expect("a whole trace");
    assert_eq!(summary.redirects, 0);
    summary.instructions
}

/// Returns the counts of the first core.
fn replay(path: &Path) -> Counts {
    session(path).run(&RunOptions::default(), &mut |_| ()).expect("a run").cores[0].counts.unpack()
}

fn session(path: &Path) -> Session {
    let document = ConfigSource::default().document().expect("the profiles are embedded");
    let config = MachineConfig::from_document(&document).expect("a machine");
    Session::open(path, config, RunHeader::default()).expect("the trace")
}

#[test]
fn exceptions_of_a_trace_are_counted_as_recorded() {
    let (counts, instructions) = run();
    let value = |event| counts.value(event);
    use PmuEvent::*;
    assert_eq!([EXC_TAKEN, EXC_RETURN].map(value), [4, 4]);
    assert_eq!([EXC_SVC, EXC_DABORT, EXC_IRQ].map(value), [1, 1, 2]);
    let others = [EXC_UNDEF, EXC_PABORT, EXC_TRAP_OTHER, EXC_TRAP_IRQ, EXC_TRAP_DABORT];
    assert_eq!(others.map(value), [0; 5]);
    assert_eq!(value(INST_RETIRED), instructions - 1, "the load that aborted does not retire");
    assert_eq!(value(OP_SPEC) + value(STALL_SLOT), 5 * value(CPU_CYCLES));
}

#[test]
fn the_level_follows_exceptions_and_returns() {
    // Four handlers write the context at EL1. The program's writes before and after them, at EL0,
    // are not counted.
    assert_eq!(run().0.value(PmuEvent::CID_WRITE_RETIRED), 4);
}

#[test]
fn a_return_into_another_thread_takes_the_level_of_its_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("switch.n2t");
    let mut meta = Meta::default();
    meta.machine.full_system = true;
    let mut writer = TraceWriter::create(&path, meta).expect("a new file");
    let call = writer.define_block(USER, &[MSR_CONTEXTIDR, ADD, SVC]).expect("a block");
    let handler = writer.define_block(KERNEL, &[MSR_CONTEXTIDR, ADD]).expect("a block");
    let back = writer.define_block(KERNEL + 0x80, &[MSR_CONTEXTIDR, ERET]).expect("a block");
    let mut push = |block, n, event| {
        writer.push_block(0, block, n, &[], event).expect("a known block");
    };
    push(call, 3, Some(exception(0x400, false, 0)));
    push(handler, 2, Some(exception(0x280, false, 0)));
    // The interrupt of the kernel ends in another program, whose call ends in the kernel.
    push(back, 2, None);
    push(call, 3, Some(exception(0x400, false, 0)));
    push(back, 2, None);
    push(handler, 2, None);
    push(back, 2, None);
    push(call, 1, None);
    writer.finish().expect("a whole trace");
    // All writes of the kernel count, none of the programs.
    assert_eq!(replay(&path).value(PmuEvent::CID_WRITE_RETIRED), 5);
}

#[test]
fn several_exceptions_at_the_end_of_a_stream_all_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("end.n2t");
    let mut meta = Meta::default();
    meta.machine.full_system = true;
    let mut writer = TraceWriter::create(&path, meta).expect("a new file");
    let call = writer.define_block(USER, &[ADD, SVC]).expect("a block");
    writer.push_block(0, call, 2, &[], Some(exception(0x400, false, 0))).expect("a known block");
    for vector in [0x280, 0x380, 0x300] {
        writer.push_event(0, exception(vector, false, 0)).expect("an event");
    }
    writer.finish().expect("a whole trace");
    let counts = replay(&path);
    let value = |event| counts.value(event);
    use PmuEvent::*;
    assert_eq!([EXC_TAKEN, EXC_SVC, EXC_IRQ, EXC_FIQ, EXC_DABORT].map(value), [4, 1, 1, 1, 1]);
}

/// Counts events by level while the run is counted.
#[derive(Default)]
struct ByLevel {
    is_counted: bool,
    level: Level,
    counts: Vec<(Level, Counts)>,
}

impl EventSink for ByLevel {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if !self.is_counted || n == 0 {
            return;
        }
        let at = match self.counts.iter().position(|(level, _)| *level == self.level) {
            Some(at) => at,
            None => {
                self.counts.push((self.level, Counts::default()));
                self.counts.len() - 1
            }
        };
        self.counts[at].1.count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Counting(is_counted) => {
                self.is_counted = is_counted;
            }
            Notice::Privilege(privilege) => {
                self.level = privilege.into();
            }
            _ => {}
        }
    }
}

#[test]
fn the_counts_of_each_level_are_those_of_a_matching_filter() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kernel.n2t");
    write(&path);
    for limit in [None, Some(7), Some(12)] {
        let options = RunOptions { limit, warmup: 2, ..RunOptions::default() };
        let plain = session(&path).run(&options, &mut |_| ()).expect("a run");
        let mut seen = ByLevel::default();
        session(&path).run_with_sink(&options, &mut |_| (), &mut seen).expect("a run");
        seen.counts.sort_by_key(|(level, _)| *level);
        let CoreOutcome { levels, counts, .. } = &plain.cores[0];
        let kept: Vec<_> = levels.iter().map(|part| (part.level, part.counts.unpack())).collect();
        assert_eq!(kept, seen.counts, "limit {limit:?}");
        let counts = counts.unpack();
        assert_eq!(plain.total_at(|_| true), counts, "the levels are parts of the whole");
        let user = plain.total_at(|level| level.level == 0);
        assert!(user.value(PmuEvent::CPU_CYCLES) > 0 && user != counts, "both levels ran");
    }
}
