//! Physical address of a virtual one, for observers of a run: read from the tables, without a
//! counted lookup.

use sim_cache::{Mapping, MemoryType, PageTarget};
use sim_core::{MemoryPort, PhysAddr, VirtAddr};

use super::rig::{Base, Rig};

const PAGE: VirtAddr = VirtAddr(0x40_0123);

fn physical(rig: &mut Rig, addr: VirtAddr) -> Option<PhysAddr> {
    rig.memory.port(0).physical(addr)
}

#[test]
fn the_tables_determine_the_physical_address() {
    let mut rig = Rig::new(Base::K0, &[], &[]);
    assert_eq!(physical(&mut rig, PAGE), Some(PhysAddr(PAGE.0)), "the map of the rig is identity");
    let tagged = VirtAddr(PAGE.0 | 0xA5 << 56);
    assert_eq!(
        physical(&mut rig, tagged),
        Some(PhysAddr(PAGE.0)),
        "the tag is not part of the address"
    );
    let target = PageTarget { frame: 0x777, memory: MemoryType::Device, tagged: false };
    rig.memory.map_page(PAGE, Some(target));
    assert_eq!(physical(&mut rig, PAGE), Some(PhysAddr(0x77_7123)));
    rig.memory.map_page(PAGE, None);
    assert_eq!(physical(&mut rig, PAGE), None, "no translation, no address");
}

#[test]
fn blocks_and_stage_2_determine_the_physical_address() {
    let mut rig = Rig::new(Base::K0, &[], &[]);
    let block = Mapping::normal(PhysAddr(0x8000_0000), 2 << 20);
    rig.memory.map_block(PAGE, block).expect("an aligned block");
    assert_eq!(physical(&mut rig, PAGE), Some(PhysAddr(0x8000_0000 | PAGE.0 & 0x1F_FFFF)));
    rig.memory.enable_stage2(4096).expect("the granule of the rig");
    let page = PhysAddr(0x8000_0000);
    let mapping = Mapping::normal(PhysAddr(0x1_2345_6000), 4096);
    rig.memory.map_stage2(page, Some(mapping)).expect("an aligned page");
    assert_eq!(physical(&mut rig, VirtAddr(0x40_0123)), Some(PhysAddr(0x1_2345_6123)));
    rig.memory.map_stage2(page, None).expect("a page of stage 2");
    assert_eq!(physical(&mut rig, VirtAddr(0x40_0123)), None);
}

#[test]
fn querying_the_address_has_no_side_effects() {
    let mut rig = Rig::new(Base::K0, &[], &[]);
    for n in 0..64 {
        physical(&mut rig, VirtAddr(PAGE.0 + n * 4096));
    }
    assert_eq!(rig.counts, sim_core::Counts::default());
    assert_eq!(rig.memory.resident_lines(0), [0; 3]);
}
