//! Every prefetched line is accounted for: used in time, used late, lost, or still present.

use serde::Deserialize;
use sim_cache::{MemoryConfig, MemorySystem, SemanticsConfig};
use sim_core::{Counts, MemKind, MemRequest, MemoryPort, Snoop, VirtAddr};

#[derive(Clone, Deserialize)]
struct Tables {
    memory: MemoryConfig,
    semantics: SemanticsConfig,
}

/// Returns the guide profile with caches so small that prefetched lines are lost, too.
fn tables() -> Tables {
    let mut tables: Tables = toml::from_str(include_str!("../../configs/neoverse-n2/machine.toml"))
        .expect("the committed configuration is complete");
    tables.memory.l1d.size_bytes = 8 << 10;
    tables.memory.l1i.size_bytes = 8 << 10;
    tables.memory.l2.size_bytes = 64 << 10;
    tables
}

fn memory(tables: &Tables) -> MemorySystem {
    MemorySystem::new(&tables.memory, &tables.semantics, 1, 1)
}

/// Asserts that issued lines minus those with a known outcome are still present: L1I, L1D, L2.
fn assert_conserved(memory: &MemorySystem) {
    let stats = memory.prefetch_stats(0);
    let rest = [stats.l1i, stats.l1d, stats.l2]
        .map(|counts| counts.issued - counts.used() - counts.useless);
    assert_eq!(rest, memory.unused_prefetches(0), "{stats:?}");
}

fn request(kind: MemKind, addr: u64, bytes: u32) -> MemRequest {
    MemRequest::new(VirtAddr(0x400), VirtAddr(addr), bytes, kind)
}

/// Runs a mixture of streams, jumps, stores and fetches, `gap` cycles apart.
fn run_mixture(memory: &mut MemorySystem, gap: u64) {
    let mut counts = Counts::default();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut now = 0;
    for i in 0..60_000_u64 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        now += gap;
        let far = 0x20_0000 + random % (1 << 20);
        let mut port = memory.port(0);
        match i % 8 {
            0..4 => port.access(request(MemKind::Load, 0x80_0000 + i * 16, 8), now, &mut counts),
            4 => port.access(request(MemKind::Load, far & !7, 8), now, &mut counts),
            5 => {
                let store = request(MemKind::Store, 0x100_0000 + i * 24, 8);
                port.translate_store(store, now, &mut counts);
                port.access(store, now, &mut counts)
            }
            6 => port.access(request(MemKind::ZeroLine, far & !63, 64), now, &mut counts),
            _ => port.fetch(VirtAddr(0x40_0000 + i / 2 % 8192 * 16), now, &mut counts),
        };
        if i % 1000 == 999 {
            let line = VirtAddr(0x80_0000 + i * 16 + 64);
            memory.snoop(0, Snoop::Unique, line, now, &mut counts).expect("every page is mapped");
        }
        if i % 5000 == 0 {
            assert_conserved(memory);
        }
    }
    assert_conserved(memory);
}

#[test]
fn every_prefetched_line_has_one_outcome() {
    for gap in [1, 20, 400] {
        let mut memory = memory(&tables());
        run_mixture(&mut memory, gap);
        let stats = memory.prefetch_stats(0);
        for (name, counts) in stats.named() {
            assert!(counts.issued > 0 && counts.used() > 0, "gap {gap}, {name}: {counts:?}");
        }
        assert!(stats.l2.useless > 0, "the caches are small: {stats:?}");
    }
}

/// A slow stream finds its lines present, a fast one finds them in flight.
#[test]
fn whether_a_prefetch_is_late_depends_on_the_time_between_accesses() {
    let stream = |gap: u64| {
        let mut tables = tables();
        tables.memory.prefetch.l2_stream = false;
        tables.memory.prefetch.l1d_distance_lines = 8;
        let mut memory = memory(&tables);
        let mut counts = Counts::default();
        for i in 0..512 {
            let load = request(MemKind::Load, 0x80_0000 + i * 64, 8);
            memory.port(0).access(load, i * gap, &mut counts);
        }
        assert_conserved(&memory);
        memory.prefetch_stats(0).l1d
    };
    let (fast, slow) = (stream(40), stream(2000));
    assert!(fast.late > 300 && fast.useful < 100, "{fast:?}");
    assert!(slow.useful > 400 && slow.late == 0, "{slow:?}");
    assert!(slow.coverage().is_some_and(|coverage| coverage > 0.9), "{slow:?}");
}

#[test]
fn without_prefetchers_nothing_is_issued() {
    let mut tables = tables();
    tables.memory.prefetch.l1d = false;
    tables.memory.prefetch.l2_stream = false;
    tables.memory.prefetch.l1i_next_line = false;
    tables.memory.prefetch.stores = false;
    let mut memory = memory(&tables);
    run_mixture(&mut memory, 20);
    for (name, counts) in memory.prefetch_stats(0).named() {
        assert_eq!((counts.issued, counts.used(), counts.useless), (0, 0, 0), "{name}");
        assert_eq!(counts.coverage(), Some(0.0), "{name}");
    }
}
