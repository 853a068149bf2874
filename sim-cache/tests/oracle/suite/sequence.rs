//! Random sequences of operations on a few pages and lines, so that they conflict, and their
//! reduction when one shows a difference.

use sim_core::{CacheOp, Maintenance, MemKind, Snoop, TlbScope};

use super::geometry::Geometry;
use super::random::Random;

/// Operation of a sequence.
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
    /// `CLREX`; the address is where the monitor is compared afterwards.
    ClearExclusive(u64),
    /// `DSB`, for its effect on stores; the address is where the monitor is compared afterwards.
    Barrier(u64),
    /// Operand: an address, or a level, way and set.
    Maintain(Maintenance, u64),
    /// Snoop by an external agent.
    Snoop(Snoop, u64),
    /// Stash into the L2 by an I/O agent.
    Stash(u64),
    /// New allocation tag of 16 bytes of memory.
    SetTag(u64, u8),
    /// Core that performs the following operations; the address is where its monitor is compared.
    Core(usize, u64),
}

impl Op {
    /// Returns the address of the operation.
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
            | Op::Barrier(addr)
            | Op::Maintain(_, addr)
            | Op::Snoop(_, addr)
            | Op::Stash(addr)
            | Op::Core(_, addr)
            | Op::SetTag(addr, _) => addr,
        }
    }
}

/// Operations that start in the same cycle.
pub(crate) type Group = Vec<Op>;

const ATOMICS: [MemKind; 3] = [MemKind::AtomicLoad, MemKind::AtomicStore, MemKind::AtomicSwap];
const PRELOADS: [MemKind; 4] = [
    MemKind::PrefetchLoad,
    MemKind::PrefetchStore,
    MemKind::PrefetchOuter { for_write: false },
    MemKind::PrefetchOuter { for_write: true },
];
const CACHE_OPS: [CacheOp; 4] =
    [CacheOp::Invalidate, CacheOp::Clean, CacheOp::CleanToUnification, CacheOp::CleanInvalidate];
const PLACE_OPS: [CacheOp; 3] = [CacheOp::Invalidate, CacheOp::Clean, CacheOp::CleanInvalidate];
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

/// Returns an operation, often on the line of `near`.
fn any_op(geometry: &Geometry, near: u64, random: &mut Random) -> Op {
    let world = &geometry.world;
    match random.below(100) {
        0..25 => {
            let bytes = random.pick(&BYTES);
            let element = if random.coin() { bytes.min(16) } else { bytes.min(8) };
            Op::Load(any_tag(random) | world.any_start(bytes, near, random), bytes, element)
        }
        25..45 => {
            let bytes = random.pick(&BYTES);
            Op::Store(any_tag(random) | world.any_start(bytes, near, random), bytes)
        }
        // Whole lines, so that write streaming begins.
        45..57 => Op::Store(world.any_addr(near, random) / 64 * 64, 64),
        57..63 => {
            let addr = any_tag(random) | (world.any_addr(near, random) & !15);
            Op::Atomic(random.pick(&ATOMICS), addr)
        }
        63..68 => Op::ZeroLine(any_tag(random) | world.any_addr(near, random)),
        68..73 => Op::Preload(random.pick(&PRELOADS), world.any_addr(near, random)),
        73..80 => Op::Snoop(random.pick(&SNOOPS), world.any_addr(near, random)),
        80..81 if random.coin() => Op::Barrier(world.any_addr(near, random)),
        80..81 => Op::Stash(world.any_addr(near, random)),
        81..82 => Op::SetTag(world.any_addr(near, random), random.below(3) as u8),
        92..96 if geometry.two_cores => {
            Op::Core(random.below(2) as usize, world.any_addr(near, random))
        }
        84..89 => any_maintenance(geometry, world.any_addr(near, random), random),
        89..92 => any_translation(world.any_addr(near, random), random),
        82..84 => any_exclusive(world.any_addr(near, random) / 8 * 8, random),
        _ => Op::Fetch(world.any_addr(near, random) / 4 * 4),
    }
}

/// Returns cache maintenance: by address, or at an entry of the L1 D-cache or the L2.
fn any_maintenance(geometry: &Geometry, addr: u64, random: &mut Random) -> Op {
    let memory = &geometry.tables.memory;
    match random.below(10) {
        0..5 => Op::Maintain(Maintenance::DataByAddress(random.pick(&CACHE_OPS)), addr),
        5..7 => {
            let (level, bytes, ways) = random.pick(&[
                (0, memory.l1d.size_bytes, memory.l1d.ways),
                (1, memory.l2.line_bytes(), memory.l2.line_ways()),
            ]);
            let set = random.below(bytes / 64 / u64::from(ways));
            let way = random.below(ways.into());
            // The way occupies the top of 32 bits, in as many bits as it needs.
            let way_bits = u64::from(ways).next_power_of_two().trailing_zeros();
            let operand = way << (32 - way_bits) | set << 6 | level << 1;
            Op::Maintain(Maintenance::DataBySetWay(random.pick(&PLACE_OPS)), operand)
        }
        7..9 => Op::Maintain(Maintenance::InstByAddress, addr),
        _ => Op::Maintain(Maintenance::InstAll { broadcast: random.coin() }, 0),
    }
}

/// Returns an address tag at its position.
fn any_tag(random: &mut Random) -> u64 {
    if random.chance(80) { 0 } else { random.below(3) << 56 }
}

/// Returns translation maintenance; few address spaces, so that each is used again.
fn any_translation(addr: u64, random: &mut Random) -> Op {
    let (asid, vmid) = (random.below(3) << 48, random.below(2) << 48);
    let (last_level, broadcast) = (random.coin(), random.coin());
    let page = asid | addr >> 12;
    let tlbi = |scope, operand| Op::Maintain(Maintenance::Tlb { scope, broadcast }, operand);
    match random.below(16) {
        0 => tlbi(TlbScope::All, 0),
        1 => tlbi(TlbScope::Vmid { stage2: random.coin() }, 0),
        2 => tlbi(TlbScope::Asid, asid),
        3..6 => tlbi(TlbScope::Page { last_level }, page),
        6 => tlbi(TlbScope::PageAnyAsid { last_level }, page),
        7 => tlbi(TlbScope::IntermediatePage, page),
        8..11 => Op::Maintain(Maintenance::Translate { write: random.coin() }, addr),
        11 => Op::Maintain(Maintenance::Stage2TableBase, vmid | 0x1000),
        _ => Op::Maintain(Maintenance::TableBase { upper: random.coin() }, asid | 0x2000),
    }
}

fn any_exclusive(addr: u64, random: &mut Random) -> Op {
    match random.below(4) {
        0 => Op::StoreExclusive(addr),
        1 => Op::ClearExclusive(addr),
        _ => Op::LoadExclusive(addr),
    }
}

/// Returns groups with `operations` operations in total.
pub(crate) fn any_groups(geometry: &Geometry, operations: u64, random: &mut Random) -> Vec<Group> {
    let world = &geometry.world;
    let mut groups = Vec::new();
    let mut left = operations;
    while left > 0 {
        let length = (1 + random.below(geometry.longest_group())).min(left);
        let near = world.any_line(random);
        groups.push((0..length).map(|_| any_op(geometry, near, random)).collect());
        left -= length;
    }
    groups
}

/// Returns the shortest failing sequence found: halves, quarters and so on down to single
/// operations are removed while the failure remains.
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
