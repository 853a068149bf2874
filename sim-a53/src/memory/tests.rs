//! Random accesses of four cores against rules that always hold.

use proptest::prelude::*;
use serde::Deserialize;
use sim_core::{CacheOp, Maintenance, TlbScope};

use super::cache::LineState;
use super::cluster::Cluster;
use super::config::AddressRange;
use super::{ClusterMemory, DataAccess, MemoryConfig};
use crate::event::{A53Counts, A53Event};

#[derive(Deserialize)]
struct File {
    memory: MemoryConfig,
}

/// Returns the defaults with small caches, so that lines leave them often.
fn small(l2_bytes: u64) -> MemoryConfig {
    let file: File = toml::from_str(include_str!("../../../configs/cortex-a53/machine.toml"))
        .expect("the file of defaults has every memory table");
    let mut config = file.memory;
    config.l1i.size_bytes = 512;
    config.l1d.size_bytes = 1024;
    config.l2.size_bytes = l2_bytes;
    config
}

#[derive(Clone, Copy, Debug)]
struct Step {
    core: usize,
    kind: u8,
    addr: u64,
    bytes: u32,
    wait: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let line = prop_oneof![0_u64..64, 0_u64..400];
    let step = (0_usize..4, 0_u8..14, line, 0_u64..64, 1_u32..65, 0_u64..20).prop_map(
        |(core, kind, line, offset, bytes, wait)| {
            // Some accesses lie in sequence, so that streams begin.
            let offset = if kind > 9 { 0 } else { offset };
            Step { core, kind, addr: line * 64 + offset, bytes, wait }
        },
    );
    proptest::collection::vec(step, 1..600)
}

/// Performs a step at `now`. Returns the cycle of its answer.
fn perform(memory: &mut ClusterMemory, step: Step, now: u64, counts: &mut A53Counts) -> u64 {
    let Step { core, addr, bytes, .. } = step;
    let access = DataAccess { addr, bytes, non_temporal: step.kind == 1, exclusive: false };
    match step.kind {
        0..3 => memory.load(core, access, now, counts).ready,
        3..5 => memory.store(core, access, now, counts).accepted,
        5 => memory.fetch(core, addr, now, counts).ready,
        6 => {
            memory.prefetch(core, addr, bytes > 32, now, counts);
            now
        }
        7 => memory.drain(core, now, counts),
        8 => {
            let op = [
                CacheOp::Clean,
                CacheOp::CleanInvalidate,
                CacheOp::CleanToUnification,
                CacheOp::Invalidate,
            ];
            let op = op[bytes as usize % 4];
            memory.maintain(core, Maintenance::DataByAddress(op), addr, now, counts)
        }
        9 => {
            let tlb = Maintenance::Tlb { scope: TlbScope::All, broadcast: bytes > 32 };
            memory.maintain(core, tlb, addr, now, counts)
        }
        10 => memory.zero_line(core, addr, now, counts).accepted,
        _ => {
            let mut at = now;
            for part in 0..8 * 4 {
                let access = DataAccess { addr: addr + part * 16, bytes: 16, ..access };
                at = memory.store(core, access, at, counts).accepted + 1;
            }
            at
        }
    }
}

/// Checks that a line that one L1 data cache has alone is in no other cache, and that at most one
/// L1 data cache has to write it back.
fn check_copies(cluster: &mut Cluster, line: u64) -> Result<(), TestCaseError> {
    let cores = cluster.cores.len();
    let states: Vec<LineState> = (0..cores)
        .filter_map(|core| {
            let l1d = cluster.snoop.l1d(core);
            l1d.probe(line).map(|entry| l1d.state(entry))
        })
        .collect();
    let dirty = states.iter().filter(|state| state.has(LineState::DIRTY)).count();
    prop_assert!(dirty <= 1, "line {} is dirty in {} caches", line, dirty);
    if states.iter().any(|state| !state.has(LineState::SHARED)) {
        let in_l2 = cluster.l2.lookup(line).is_some();
        prop_assert!(states.len() == 1 && !in_l2, "line {}: {:?}, L2 {}", line, states, in_l2);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn copies_and_counts_agree_after_any_accesses(
        steps in steps(),
        l2_bytes in prop_oneof![Just(0_u64), Just(8192)],
        has_uncached: bool,
        tables in 0_usize..4,
    ) {
        let mut config = small(l2_bytes);
        if has_uncached {
            config.pages.non_cacheable = vec![AddressRange { first: 0x1000, end: 0x2000 }];
            config.pages.device = vec![AddressRange { first: 0x3000, end: 0x4000 }];
        }
        (config.pages.block_bytes, config.pages.stage2_page_bytes) =
            [(0, 0), (2 << 20, 0), (0, 4096), (1 << 30, 65_536)][tables];
        prop_assert_eq!(config.problems(), []);
        let mut memory = ClusterMemory::new(&config, 4, 1);
        let mut counts = A53Counts::default();
        let mut now = [0; 4];
        for step in steps {
            let start = now[step.core];
            let end = perform(&mut memory, step, start, &mut counts);
            prop_assert!(end >= start, "{:?} answers at {}, asked at {}", step, end, start);
            now[step.core] = end + step.wait;
            check_copies(&mut memory.cluster, step.addr >> 6)?;
        }
        for (core, now) in now.into_iter().enumerate() {
            memory.finish(core, now, &mut counts);
        }
        (0..500).try_for_each(|line| check_copies(&mut memory.cluster, line))?;
        if has_uncached {
            let uncached = (0x1000 >> 6..0x2000 >> 6).chain(0x3000 >> 6..0x4000 >> 6);
            for line in uncached {
                let cluster = &mut memory.cluster;
                let in_core = |core: usize| cluster.snoop.l1d(core).probe(line).is_some();
                prop_assert!(!(0..4).any(in_core) && cluster.l2.lookup(line).is_none());
            }
        }
        let value = |event| counts.value(event);
        let bus = value(A53Event::BUS_ACCESS_LD) + value(A53Event::BUS_ACCESS_ST);
        prop_assert_eq!(value(A53Event::BUS_ACCESS), bus);
        prop_assert!(value(A53Event::L2D_CACHE_REFILL) <= value(A53Event::EXT_MEM_REQ));
        prop_assert!(value(A53Event::L1D_CACHE_REFILL) <= value(A53Event::L1D_CACHE));
        let nc = value(A53Event::EXT_MEM_REQ_NC);
        prop_assert!(nc <= value(A53Event::EXT_MEM_REQ) && (has_uncached || nc == 0));
        let accesses = value(A53Event::MEM_ACCESS);
        prop_assert!(has_uncached || accesses <= value(A53Event::L1D_CACHE));
        prop_assert!(l2_bytes > 0 || value(A53Event::L2D_CACHE) == 0);
    }
}
