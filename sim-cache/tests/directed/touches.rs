//! Touches that represent a skipped part of a program.

use sim_cache::{CacheLevel, Touch, TouchKind};
use sim_core::{Maintenance, TlbScope, VirtAddr};

use super::rig::Base::{K1, K3};
use super::rig::Rig;

const D: u64 = 0x8000;

impl Rig {
    fn touch(&mut self, addr: u64, kind: TouchKind) -> &mut Rig {
        let touch = Touch { addr: VirtAddr(addr), kind };
        self.now = self.memory.touch(0, [touch], self.now);
        self
    }
}

#[test]
fn a_touch_of_the_last_byte_of_a_line_touches_no_other_and_only_a_write_makes_it_dirty() {
    for (kind, dirty) in [(TouchKind::Read, false), (TouchKind::Write, true)] {
        let mut rig = Rig::new(K1, &[D], &[]);
        rig.touch(D + 63, kind);
        let state = |line| rig.memory.line_is_dirty(0, VirtAddr(line), CacheLevel::L1d);
        assert_eq!([state(D), state(D + 64)], [Some(dirty), None], "{kind:?}");
    }
}

#[test]
fn a_maintenance_touch_keeps_its_whole_operand() {
    // The lowest bits of the operand of a `TLBI` number pages.
    let scope = TlbScope::PageAnyAsid { last_level: false };
    let walks = |removed: u64| {
        let mut rig = Rig::new(K3, &[D, D + 0x1000], &[]);
        rig.touch(removed >> 12, TouchKind::Maintain(Maintenance::Tlb { scope, broadcast: false }));
        rig.then().ld(8, D + 0x1000).translation_cycles > 1
    };
    assert_eq!([walks(D), walks(D + 0x1000)], [false, true]);
}
