//! Parity and ECC errors: guide sections 3.2.20 and 4.6.3, decision A28.

use sim_cache::{CacheLevel, Defect, Ram};
use sim_core::{AccessOutcome, CacheOp, Maintenance, MemKind, MemReply, PmuEvent, Snoop, VirtAddr};

use super::rig::Base::{K1, K2, K3};
use super::rig::{A, Rig, Tables, l2_set};

const D: u64 = 0x8000;
const CODE: u64 = 0x1_0000;

impl Rig {
    fn inject(&mut self, addr: u64, ram: Ram, defect: Defect) -> &mut Rig {
        self.memory.inject(0, VirtAddr(addr), ram, defect).expect("the page is mapped");
        self
    }

    fn errors(&self) -> u64 {
        self.value(PmuEvent::MEMORY_ERROR)
    }
}

fn warm() -> Rig {
    Rig::new(K3, &[D, D + 0x40], &[CODE])
}

fn faults(reply: MemReply) -> bool {
    reply.outcome.has(AccessOutcome::FAULT)
}

#[test]
fn one_bit_is_corrected_once() {
    // T.MEMORY_ERROR.1
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Correctable);
    let reply = rig.ld(8, D);
    assert!(reply.outcome.has(AccessOutcome::ERROR) && !faults(reply));
    assert_eq!(reply.done - rig.now, 8, "the read is repeated");
    rig.then().ld(8, D);
    rig.expect("2 V3 + MEMORY_ERROR");
}

#[test]
fn two_bits_fault_and_leave_poison_that_is_not_counted_again() {
    // T.MEMORY_ERROR.2 and .3: the line is poisoned, whether the load retires or not
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Uncorrectable);
    let first = rig.ld(8, D);
    assert!(faults(first) && first.outcome.has(AccessOutcome::ERROR));
    let second = rig.then().ld(8, D);
    assert!(faults(second) && !second.outcome.has(AccessOutcome::ERROR), "the error was known");
    rig.expect("2 V3 + MEMORY_ERROR");
}

#[test]
fn an_error_that_no_access_reads_is_not_detected() {
    // T.MEMORY_ERROR.6
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Uncorrectable);
    rig.ld(8, D + 0x40);
    rig.expect("V3");
}

#[test]
fn a_bad_instruction_line_is_fetched_again() {
    // T.MEMORY_ERROR.4: parity corrects nothing, one bit or two
    for ram in [Ram::L1iData, Ram::L1iTag] {
        for defect in [Defect::Correctable, Defect::Uncorrectable] {
            let mut rig = warm();
            rig.inject(CODE, ram, defect);
            assert!(!faults(rig.fetch(CODE)));
            rig.expect("V8 + MEMORY_ERROR");
            rig.then().fetch(CODE);
            rig.expect("V8 + V9 + MEMORY_ERROR");
        }
    }
}

#[test]
fn any_access_to_the_set_detects_a_broken_tag() {
    // T.MEMORY_ERROR.5: a hit on another line, a miss, a store, a fetch
    let set = &A[..3];
    let broken = || {
        let mut rig = Rig::new(K3, &set[..2], &[]);
        rig.inject(A[0], Ram::L1dTag, Defect::Correctable);
        rig
    };
    let mut rig = broken();
    rig.ld(8, A[1]);
    rig.expect("V3 + MEMORY_ERROR");
    rig.then().ld(8, A[0]);
    rig.expect("2 V3 + MEMORY_ERROR");
    let mut rig = broken();
    rig.st(8, A[1]);
    rig.expect("V6 + MEMORY_ERROR");
    let mut rig = broken();
    rig.ld(8, A[2]);
    assert_eq!(rig.errors(), 1);
    let mut rig = broken();
    rig.place(D, CacheLevel::L1d, false).ld(8, D);
    assert_eq!(rig.errors(), 0, "another set");
}

#[test]
fn a_tag_that_cannot_be_corrected_loses_its_line() {
    // 3.2.20: a clean line is refilled, modified data is lost
    let mut rig = warm();
    rig.inject(D, Ram::L1dTag, Defect::Uncorrectable);
    assert!(!faults(rig.ld(8, D)));
    rig.expect("V2 + MEMORY_ERROR");
    let mut rig = warm();
    rig.place(D, CacheLevel::L1d, true).inject(D, Ram::L1dTag, Defect::Uncorrectable);
    assert!(faults(rig.ld(8, D)));
}

#[test]
fn the_l2_corrects_silently_and_passes_poison_on() {
    // T.MEMORY_ERROR.7: decision A28
    let mut rig = Rig::new(K2, &[D], &[]);
    rig.inject(D, Ram::L2Data, Defect::Correctable);
    assert!(!faults(rig.ld(8, D)));
    rig.expect("V2");
    let mut rig = Rig::new(K2, &[D], &[CODE]);
    rig.inject(D, Ram::L2Data, Defect::Uncorrectable);
    assert!(faults(rig.ld(8, D)));
    assert!(faults(rig.then().ld(8, D)), "the poison moved with the data");
    rig.expect("V2 + V3");
    rig.inject(CODE, Ram::L2Data, Defect::Uncorrectable);
    rig.maintain_code();
    assert!(faults(rig.then().fetch(CODE)), "instructions are consumed too");
}

impl Rig {
    fn maintain_code(&mut self) {
        let all = Maintenance::InstAll { broadcast: false };
        self.access(MemKind::Maintain(all), 1, 0);
    }
}

#[test]
fn poison_travels_with_the_data_down_and_up() {
    // 3.2.20: until some access consumes it
    let mut rig = Rig::new(K3, &A[..1], &[]);
    rig.place(A[0], CacheLevel::L1d, true).inject(A[0], Ram::L1dData, Defect::Uncorrectable);
    let clean = Maintenance::DataByAddress(CacheOp::CleanInvalidate);
    rig.access(MemKind::Maintain(clean), 1, A[0]);
    assert_eq!(rig.errors(), 1, "the data is checked on its way out");
    assert!(faults(rig.then().ld(8, A[0])), "memory returns it with its poison");
    assert_eq!(rig.errors(), 1);
}

/// Returns a rig with a line that is modified in the L1, with an error in its data there.
fn modified(defect: Defect) -> Rig {
    let mut rig = Rig::new(K3, &[D], &[]);
    rig.place(D, CacheLevel::L1d, true).inject(D, Ram::L1dData, defect);
    rig
}

const L1_GIVES: &str = "BUS_ACCESS 2 + L1D_CACHE_WB + L1D_CACHE_WB_CLEAN";

#[test]
fn a_snoop_that_takes_modified_data_detects_its_error() {
    // 3.2.20: an access that reads the data detects its error; one bit is corrected, and counts
    // once
    let mut rig = modified(Defect::Correctable);
    rig.snoop(Snoop::Shared, D).expect(&format!("{L1_GIVES} + MEMORY_ERROR"));
    assert!(!faults(rig.then().ld(8, D)), "the remaining copy was corrected");
    assert_eq!(rig.errors(), 1);
    // With two wrong bits, the snoop returns poisoned data, and the remaining copy is poisoned too.
    let mut rig = modified(Defect::Uncorrectable);
    rig.snoop(Snoop::Shared, D).expect(&format!("{L1_GIVES} + MEMORY_ERROR"));
    assert!(faults(rig.then().ld(8, D)));
    assert_eq!(rig.errors(), 1, "poison is not a new error");
}

#[test]
fn poison_that_a_snoop_took_returns_with_the_line() {
    for snoop in [Snoop::Unique, Snoop::CleanInvalidate] {
        let mut rig = modified(Defect::Uncorrectable);
        rig.snoop(snoop, D);
        assert!(faults(rig.then().ld(8, D)), "{snoop:?}");
        assert_eq!(rig.errors(), 1);
    }
    // After the snoop, the copy of the L2 equals that of the L1, including its poison.
    let mut rig = modified(Defect::Uncorrectable);
    rig.snoop(Snoop::Shared, D);
    for line in [D + 0x4000, D + 0x8000, D + 0xC000, D + 0x1_0000] {
        rig.place(line, CacheLevel::L1d, false);
    }
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), CacheLevel::L1d), None);
    assert!(faults(rig.then().ld(8, D)), "the L2 has the poison too");
}

#[test]
fn an_agent_that_overwrites_the_line_removes_its_poison() {
    let mut rig = modified(Defect::Uncorrectable);
    rig.snoop(Snoop::Unique, D).then().snoop(Snoop::MakeInvalid, D);
    assert!(!faults(rig.then().ld(8, D)));
    let mut rig = modified(Defect::Uncorrectable);
    rig.snoop(Snoop::Unique, D).then().stash(D);
    assert!(!faults(rig.then().ld(8, D)));
}

#[test]
fn a_snoop_that_reads_no_data_detects_nothing() {
    // A clean copy is dropped unread; errors of L2 data are not counted (decision A28).
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Uncorrectable);
    rig.snoop(Snoop::Unique, D);
    assert_eq!(rig.errors(), 0);
    let mut rig = modified(Defect::Uncorrectable);
    rig.snoop(Snoop::MakeInvalid, D);
    assert_eq!(rig.errors(), 0);
    let mut rig = Rig::new(K2, &[D], &[]);
    rig.place(D, CacheLevel::L2, true).inject(D, Ram::L2Data, Defect::Uncorrectable);
    rig.snoop(Snoop::CleanInvalidate, D);
    assert_eq!(rig.errors(), 0);
    assert!(faults(rig.then().ld(8, D)), "the L2 passes its poison on");
}

#[test]
fn snoops_and_maintenance_read_the_tags_of_the_set() {
    for defect in [Defect::Correctable, Defect::Uncorrectable] {
        let mut rig = warm();
        rig.inject(D, Ram::L1dTag, defect).snoop(Snoop::Shared, D);
        assert_eq!(rig.errors(), 1);
        let mut rig = warm();
        rig.inject(D, Ram::L1dTag, defect);
        rig.maintain(Maintenance::DataByAddress(CacheOp::Clean), D);
        assert_eq!(rig.errors(), 1);
    }
}

#[test]
fn a_clean_that_corrects_an_error_removes_it() {
    let mut rig = modified(Defect::Correctable);
    rig.maintain(Maintenance::DataByAddress(CacheOp::Clean), D);
    assert_eq!(rig.errors(), 1);
    rig.then().ld(8, D);
    assert_eq!(rig.errors(), 1, "the line was corrected in place");
}

#[test]
fn an_eviction_takes_poison_out_of_the_core_and_a_read_brings_it_back() {
    let lines = l2_set();
    let mut rig = Rig::new(K1, &lines, &[]);
    rig.place(lines[0], CacheLevel::L2, false);
    rig.place(lines[0], CacheLevel::L1d, true);
    rig.inject(lines[0], Ram::L1dData, Defect::Uncorrectable);
    for line in &lines[1..] {
        rig.place(*line, CacheLevel::L2, false);
    }
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(lines[0]), CacheLevel::L2), None);
    assert!(faults(rig.ld(8, lines[0])));
}

#[test]
fn a_store_does_not_consume_poison_and_a_whole_line_write_removes_it() {
    // 3.2.20: a store consumes nothing; DC ZVA replaces all 64 bytes
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Uncorrectable);
    assert!(!faults(rig.st(8, D)));
    assert_eq!(rig.errors(), 1);
    assert!(faults(rig.then().ld(8, D)), "the rest of the line is still lost");
    rig.then().zva(D);
    assert!(!faults(rig.then().ld(8, D)));
    assert_eq!(rig.errors(), 1);
}

#[test]
fn an_atomic_consumes_poison() {
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Uncorrectable);
    assert!(faults(rig.access(MemKind::AtomicLoad, 8, D)));
    assert_eq!(rig.errors(), 1);
}

#[test]
fn a_preload_does_not_check_the_data() {
    let mut rig = warm();
    rig.inject(D, Ram::L1dData, Defect::Uncorrectable);
    rig.access(MemKind::PrefetchLoad, 1, D);
    rig.expect("");
}

#[test]
fn a_dirty_victim_is_checked_when_it_is_written_back() {
    let mut rig = Rig::new(K3, &A[..4], &[]);
    rig.warm(A[4], sim_cache::TlbLevel::L1d);
    for line in &A[..4] {
        rig.place(*line, CacheLevel::L1d, true).inject(*line, Ram::L1dData, Defect::Correctable);
    }
    rig.ld(8, A[4]);
    assert_eq!(rig.value(PmuEvent::L1D_CACHE_WB_VICTIM), 1);
    assert_eq!(rig.errors(), 1);
}

#[test]
fn seeded_errors_occur_at_their_rate_and_repeat() {
    let run = |rate| {
        let mut tables = Tables::quiet();
        tables.memory.errors.l1d_correctable_per_million_refills = rate;
        let mut rig = Rig::with(&tables, K1, &[], &[]);
        for line in 0..4000 {
            rig.ld(8, 0x100_0000 + 64 * line);
            rig.then().ld(8, 0x100_0000 + 64 * line);
        }
        rig.errors()
    };
    assert_eq!(run(0), 0);
    let counted = run(100_000);
    assert!((320..480).contains(&counted), "{counted} errors in 4000 refills at one in ten");
    assert_eq!(run(100_000), counted);
}
