//! Random sequences of memory operations on a few pages and lines, so that they collide.

use proptest::prelude::*;
use sim_core::MemKind;

/// Pages used.
const PAGES: u64 = 22;

const ATOMICS: [MemKind; 3] = [MemKind::AtomicLoad, MemKind::AtomicStore, MemKind::AtomicSwap];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Load(u64, u64),
    Store(u64, u64),
    FillLine(u64),
    Atomic(MemKind, u64),
    ZeroLine(u64),
    Preload(bool, u64),
    Fetch(u64),
}

/// A few lines at the beginning and the end of each page, so that sets and pages collide.
fn any_addr() -> impl Strategy<Value = u64> {
    let line = prop_oneof![0u64..6, 60u64..64];
    (0..PAGES, line, 0u64..64).prop_map(|(page, line, byte)| page * 4096 + line * 64 + byte)
}

/// An address at which `bytes` bytes stay inside the pages used.
fn any_range() -> impl Strategy<Value = (u64, u64)> {
    let bytes = prop_oneof![Just(1u64), Just(4), Just(8), Just(16), Just(32), Just(64)];
    (any_addr(), bytes).prop_map(|(addr, bytes)| (addr.min(PAGES * 4096 - bytes), bytes))
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => any_range().prop_map(|(addr, bytes)| Op::Load(addr, bytes)),
        5 => any_range().prop_map(|(addr, bytes)| Op::Store(addr, bytes)),
        3 => any_addr().prop_map(Op::FillLine),
        2 => (prop::sample::select(&ATOMICS[..]), any_addr())
            .prop_map(|(kind, addr)| Op::Atomic(kind, addr / 16 * 16)),
        2 => any_addr().prop_map(Op::ZeroLine),
        2 => (any::<bool>(), any_addr()).prop_map(|(store, addr)| Op::Preload(store, addr)),
        5 => any_addr().prop_map(Op::Fetch),
    ]
}

/// Groups of operations that start in the same cycle.
pub(crate) fn any_groups() -> impl Strategy<Value = Vec<Vec<Op>>> {
    prop::collection::vec(prop::collection::vec(any_op(), 1..4), 1..150)
}
