//! Time of one access of the memory system, by the level that serves it. Run with
//! `cargo bench -p sim-benches --bench memory`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::Deserialize;
use sim_cache::{MemoryConfig, MemorySystem, SemanticsConfig};
use sim_core::{Counts, MemKind, MemRequest, MemoryPort, VirtAddr};

#[derive(Deserialize)]
struct Tables {
    memory: MemoryConfig,
    semantics: SemanticsConfig,
}

fn system() -> MemorySystem {
    let text = include_str!("../../configs/neoverse-n2/machine.toml");
    let tables: Tables = toml::from_str(text).expect("the committed configuration is complete");
    MemorySystem::new(&tables.memory, &tables.semantics, 1, 1)
}

/// Accesses per pass.
const N: u64 = 4096;

/// Loads `N` addresses repeatedly, one per cycle.
fn loads(c: &mut Criterion, name: &str, kind: MemKind, addr: impl Fn(u64) -> u64) {
    let mut memory = system();
    let mut counts = Counts::default();
    let (mut now, mut i) = (0, 0);
    let mut group = c.benchmark_group("memory");
    group.throughput(Throughput::Elements(N));
    group.bench_function(name, |b| {
        b.iter(|| {
            for _ in 0..N {
                let pc = VirtAddr(0x40_0000 + i % 8 * 4);
                let request = MemRequest::new(pc, VirtAddr(addr(i)), 8, kind);
                now = (now + 1).max(memory.port(0).access(request, now, &mut counts).done - 4);
                i += 1;
            }
            black_box(&counts);
        });
    });
    group.finish();
}

fn fetches(c: &mut Criterion) {
    let mut memory = system();
    let mut counts = Counts::default();
    let mut i = 0;
    let mut group = c.benchmark_group("memory");
    group.throughput(Throughput::Elements(N));
    group.bench_function("fetch, L1 hit", |b| {
        b.iter(|| {
            for _ in 0..N {
                black_box(memory.port(0).fetch(VirtAddr(0x40_0000 + i % 512 * 32), i, &mut counts));
                i += 1;
            }
        });
    });
    group.finish();
}

fn all(c: &mut Criterion) {
    fetches(c);
    let load = MemKind::Load;
    loads(c, "load, L1 hit, 4 pages", load, |i| 0x1000_0000 + i * 8 % 16_384);
    loads(c, "store, L1 hit, 4 pages", MemKind::Store, |i| 0x1000_0000 + i * 8 % 16_384);
    loads(c, "load, L1 hit, 32 pages", load, |i| 0x1000_0000 + (i * 4096 + i / 32 * 64) % 131_072);
    loads(c, "load, L2 hit", load, |i| 0x1000_0000 + i.wrapping_mul(0x9E37_79B1) % 2048 * 256);
    loads(c, "load, stream", load, |i| 0x1000_0000 + i * 8 % (1 << 30));
    loads(c, "load, DRAM, random", load, |i| {
        0x1000_0000 + i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (1 << 32)
    });
}

criterion_group!(benches, all);
criterion_main!(benches);
