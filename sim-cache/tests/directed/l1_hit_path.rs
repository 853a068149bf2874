//! The L1 hit path: accesses take it exactly if no further action is needed.

use sim_cache::CacheLevel::{L1d, L2};
use sim_core::{CacheOp, Maintenance, MemKind, MemoryPort, PmuEvent, VirtAddr};

use super::rig::Base::K3;
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;
const LINES: [u64; 6] = [D, D + 0x40, D + 0x80, D + 0xC0, D + 0x100, D + 0x140];

impl Rig {
    fn load_hits(&mut self, addr: u64, bytes: u32, element_bytes: u32) -> bool {
        let (now, counts) = (self.now, &mut self.counts);
        self.memory.port(0).load_hits(VirtAddr(addr), bytes, element_bytes, now, counts)
    }

    fn store_hits(&mut self, addr: u64, bytes: u32) -> bool {
        let (now, counts) = (self.now, &mut self.counts);
        self.memory.port(0).store_hits(VirtAddr(addr), bytes, now, counts)
    }
}

#[test]
fn a_load_of_one_line_in_the_l1_takes_the_hit_path() {
    let mut rig = Rig::new(K3, &LINES, &[]);
    assert!(rig.load_hits(D, 8, 8) && rig.load_hits(D + 4, 16, 16));
    rig.expect("2 V3");
}

#[test]
fn a_load_of_two_lines_or_misaligned_or_of_an_absent_line_does_not_take_it() {
    let mut rig = Rig::new(K3, &LINES, &[]);
    assert!(!rig.load_hits(D + 60, 8, 8), "two lines");
    assert!(!rig.load_hits(D, 32, 8), "two operations");
    assert!(!rig.load_hits(D + 2, 16, 16), "elements of 128 bits, not at a word");
    assert!(!rig.load_hits(D + 0x400, 8, 8), "not in the L1");
    rig.expect("");
}

#[test]
fn a_store_to_one_owned_line_takes_the_hit_path() {
    let mut rig = Rig::new(K3, &LINES, &[]);
    assert!(rig.store_hits(D, 8));
    rig.expect("V6");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), Some(true));
}

#[test]
fn a_store_to_two_lines_or_to_a_shared_or_absent_line_does_not_take_it() {
    let mut rig = Rig::new(K3, &LINES, &[]);
    rig.memory.share_line(0, VirtAddr(D)).expect("mapped");
    assert!(!rig.store_hits(D, 8), "shared");
    assert!(!rig.store_hits(D + 0x7C, 8), "two lines");
    assert!(!rig.store_hits(D + 0x400, 8), "not in the L1");
    rig.expect("");
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(D), L1d), Some(false));
}

#[test]
fn a_store_on_the_hit_path_drains_a_line_that_waits_for_its_rest() {
    let mut tables = Tables::quiet();
    tables.memory.l1d.write_stream_lines = 1;
    tables.memory.l1d.merge_idle_cycles = 0;
    let mut rig = Rig::with(&tables, K3, &LINES, &[]);
    for part in 0..8 {
        rig.st(8, D + 8 * part);
    }
    let waits = D + 0x400;
    rig.place(waits, L2, false).st(8, waits);
    let written = rig.value(PmuEvent::L2D_CACHE_WR);
    for line in &LINES[1..4] {
        assert!(rig.store_hits(*line, 8));
    }
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_WR), written, "four lines are open");
    assert!(rig.store_hits(LINES[4], 8));
    assert_eq!(rig.value(PmuEvent::L2D_CACHE_WR), written + 1);
    assert_eq!(rig.memory.line_is_dirty(0, VirtAddr(waits), L2), Some(true));
}

#[test]
fn a_store_on_the_hit_path_ends_the_previous_run_of_stores() {
    let mut tables = Tables::quiet();
    tables.memory.prefetch.stores = true;
    tables.memory.prefetch.store_distance_lines = 0;
    let mut rig = Rig::with(&tables, K3, &LINES, &[]);
    let away = D + 0x400;
    let address = |rig: &mut Rig| {
        let request = Rig::request(MemKind::Store, 8, away);
        rig.memory.port(0).translate_store(request, rig.now, &mut rig.counts);
        rig.value(PmuEvent::BUS_ACCESS_RD)
    };
    assert_eq!(address(&mut rig), 1, "it prefetches its line");
    let remove = MemKind::Maintain(Maintenance::DataByAddress(CacheOp::Invalidate));
    rig.then().access(remove, 8, away);
    assert_eq!(address(&mut rig), 1, "consecutive stores to one line prefetch once");
    assert!(rig.store_hits(D, 8));
    assert_eq!(address(&mut rig), 2, "a new run");
}
