//! Random sequences of operations on a few pages and lines, so that they collide, and their
//! shortening when one shows a difference.

use sim_core::MemKind;

use super::geometry::Geometry;
use super::random::Random;

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Address, bytes, bytes of one register.
    Load(u64, u64, u64),
    Store(u64, u64),
    Atomic(MemKind, u64),
    ZeroLine(u64),
    Preload(MemKind, u64),
    Fetch(u64),
}

/// Operations that start in the same cycle.
pub(crate) type Group = Vec<Op>;

const ATOMICS: [MemKind; 3] = [MemKind::AtomicLoad, MemKind::AtomicStore, MemKind::AtomicSwap];
const PRELOADS: [MemKind; 2] = [MemKind::PrefetchLoad, MemKind::PrefetchStore];
/// Bytes of an access: registers, pairs, structures.
const BYTES: [u64; 9] = [1, 2, 4, 8, 8, 16, 16, 32, 64];

fn any_op(geometry: &Geometry, random: &mut Random) -> Op {
    let world = &geometry.world;
    match random.below(100) {
        0..25 => {
            let bytes = random.pick(&BYTES);
            let element = if random.coin() { bytes.min(16) } else { bytes.min(8) };
            Op::Load(world.any_start(bytes, random), bytes, element)
        }
        25..45 => {
            let bytes = random.pick(&BYTES);
            Op::Store(world.any_start(bytes, random), bytes)
        }
        // Whole lines, so that write streaming begins.
        45..57 => Op::Store(world.any_addr(random) / 64 * 64, 64),
        57..64 => Op::Atomic(random.pick(&ATOMICS), world.any_addr(random) / 16 * 16),
        64..71 => Op::ZeroLine(world.any_addr(random)),
        71..78 => Op::Preload(random.pick(&PRELOADS), world.any_addr(random)),
        _ => Op::Fetch(world.any_addr(random) / 4 * 4),
    }
}

/// Groups with `operations` operations in all.
pub(crate) fn any_groups(geometry: &Geometry, operations: u64, random: &mut Random) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut left = operations;
    while left > 0 {
        let length = (1 + random.below(geometry.longest_group())).min(left);
        groups.push((0..length).map(|_| any_op(geometry, random)).collect());
        left -= length;
    }
    groups
}

/// The shortest sequence found that still fails: halves, quarters ... and single operations are left
/// out as long as that keeps the failure.
pub(crate) fn shorten(groups: Vec<Group>, fails: impl Fn(&[Group]) -> bool) -> Vec<Group> {
    let mut groups = groups;
    let mut size = groups.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < groups.len() {
            let mut without = groups.clone();
            without.drain(at..(at + size).min(groups.len()));
            if fails(&without) { groups = without } else { at += size }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    drop_single_operations(groups, fails)
}

fn drop_single_operations(groups: Vec<Group>, fails: impl Fn(&[Group]) -> bool) -> Vec<Group> {
    let mut groups = groups;
    for group in 0..groups.len() {
        let mut at = 0;
        while groups[group].len() > 1 && at < groups[group].len() {
            let mut without = groups.clone();
            without[group].remove(at);
            if fails(&without) { groups = without } else { at += 1 }
        }
    }
    groups
}
