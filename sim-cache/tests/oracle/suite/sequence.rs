//! Random sequences of operations on a few pages and lines, so that they collide, and their
//! shortening when one shows a difference.

use sim_core::{MemKind, Snoop};

use super::geometry::Geometry;
use super::random::Random;
use super::world::World;

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
    LoadExclusive(u64),
    StoreExclusive(u64),
    /// `CLREX`; the address is where the monitor is looked at afterwards.
    ClearExclusive(u64),
    /// An agent outside wants the line.
    Snoop(Snoop, u64),
    /// An I/O agent sends the line into the L2.
    Stash(u64),
}

impl Op {
    /// The address it is about.
    pub(crate) fn addr(self) -> u64 {
        match self {
            Op::Load(addr, ..)
            | Op::Store(addr, _)
            | Op::Atomic(_, addr)
            | Op::ZeroLine(addr)
            | Op::Preload(_, addr)
            | Op::Fetch(addr)
            | Op::LoadExclusive(addr)
            | Op::StoreExclusive(addr)
            | Op::ClearExclusive(addr)
            | Op::Snoop(_, addr)
            | Op::Stash(addr) => addr,
        }
    }
}

/// Operations that start in the same cycle.
pub(crate) type Group = Vec<Op>;

const ATOMICS: [MemKind; 3] = [MemKind::AtomicLoad, MemKind::AtomicStore, MemKind::AtomicSwap];
const PRELOADS: [MemKind; 2] = [MemKind::PrefetchLoad, MemKind::PrefetchStore];
const SNOOPS: [Snoop; 7] = [
    Snoop::Shared,
    Snoop::Unique,
    Snoop::Forward,
    Snoop::Clean,
    Snoop::CleanInvalidate,
    Snoop::Invalidate,
    Snoop::MakeInvalid,
];
/// Bytes of an access: registers, pairs, structures.
const BYTES: [u64; 9] = [1, 2, 4, 8, 8, 16, 16, 32, 64];

/// An operation, often on the line of `near`.
fn any_op(world: &World, near: u64, random: &mut Random) -> Op {
    match random.below(100) {
        0..25 => {
            let bytes = random.pick(&BYTES);
            let element = if random.coin() { bytes.min(16) } else { bytes.min(8) };
            Op::Load(world.any_start(bytes, near, random), bytes, element)
        }
        25..45 => {
            let bytes = random.pick(&BYTES);
            Op::Store(world.any_start(bytes, near, random), bytes)
        }
        // Whole lines, so that write streaming begins.
        45..57 => Op::Store(world.any_addr(near, random) / 64 * 64, 64),
        57..63 => Op::Atomic(random.pick(&ATOMICS), world.any_addr(near, random) / 16 * 16),
        63..68 => Op::ZeroLine(world.any_addr(near, random)),
        68..73 => Op::Preload(random.pick(&PRELOADS), world.any_addr(near, random)),
        73..80 => Op::Snoop(random.pick(&SNOOPS), world.any_addr(near, random)),
        80..82 => Op::Stash(world.any_addr(near, random)),
        82..84 => any_exclusive(world.any_addr(near, random) / 8 * 8, random),
        _ => Op::Fetch(world.any_addr(near, random) / 4 * 4),
    }
}

fn any_exclusive(addr: u64, random: &mut Random) -> Op {
    match random.below(4) {
        0 => Op::StoreExclusive(addr),
        1 => Op::ClearExclusive(addr),
        _ => Op::LoadExclusive(addr),
    }
}

/// Groups with `operations` operations in all.
pub(crate) fn any_groups(geometry: &Geometry, operations: u64, random: &mut Random) -> Vec<Group> {
    let world = &geometry.world;
    let mut groups = Vec::new();
    let mut left = operations;
    while left > 0 {
        let length = (1 + random.below(geometry.longest_group())).min(left);
        let near = world.any_line(random);
        groups.push((0..length).map(|_| any_op(world, near, random)).collect());
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
