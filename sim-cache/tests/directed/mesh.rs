//! Parts outside the cores: mesh, second chip, far atomics. Guide sections 3.2.21, 4.5, 4.6.

use sim_cache::CacheLevel;
use sim_cache::config::FarAtomics;
use sim_core::{DataSource, MemKind, PmuEvent, VirtAddr};

use super::rig::Base::{K1, K3};
use super::rig::{Rig, Tables};

const D: u64 = 0x8000;
/// Counts of the memory accesses and TLB lookups of an atomic load.
const LDADD: &str =
    "MEM_ACCESS 2 + MEM_ACCESS_RD + MEM_ACCESS_WR + L1D_TLB 2 + L1D_TLB_RD + L1D_TLB_WR";

fn with(change: impl Fn(&mut Tables)) -> Tables {
    let mut tables = Tables::quiet();
    change(&mut tables);
    tables
}

/// Returns the latency of a load of each of `n` consecutive lines, each after the previous one has
/// completed.
fn latencies(tables: &Tables, level: Option<CacheLevel>, n: u64) -> Vec<u64> {
    let lines: Vec<u64> = (0..n).map(|i| 0x100_0000 + 64 * i).collect();
    let mut rig = Rig::with(tables, K1, &lines, &[]);
    for line in &lines {
        if let Some(level) = level {
            rig.place(*line, level, false);
        }
    }
    let latency = |line: &u64| {
        rig.then();
        rig.ld(8, *line).done - rig.now
    };
    lines.iter().map(latency).collect()
}

fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

#[test]
fn the_mean_over_all_slices_is_the_measured_latency() {
    // N2, Chips and Cheese: 97.6 and 388 cycles, within 2 percent
    let tables = Tables::quiet();
    let slc = mean(&latencies(&tables, Some(CacheLevel::Slc), 256));
    assert!((slc / 97.6 - 1.0).abs() < 0.02, "{slc}");
    let dram = mean(&latencies(&tables, None, 256));
    assert!((dram / 388.0 - 1.0).abs() < 0.02, "{dram}");
}

#[test]
fn a_near_home_node_answers_earlier_than_a_far_one() {
    let slc = latencies(&Tables::quiet(), Some(CacheLevel::Slc), 64);
    let (near, far) = (slc.iter().min(), slc.iter().max());
    // From the corner: 0 to 14 hops of 3 cycles, there and back
    assert_eq!(far.expect("64 lines") - near.expect("64 lines"), 2 * 14 * 3);
    let free = with(|t| t.memory.mesh.hop_cycles = 0);
    let flat = latencies(&free, Some(CacheLevel::Slc), 64);
    assert!(flat.iter().all(|l| *l == flat[0]), "{flat:?}");
}

#[test]
fn pages_of_the_other_chip_are_remote_and_farther() {
    // T.REMOTE_ACCESS.1 and .4, T.LL_CACHE_RD.4; decisions A33 and A44
    let all = with(|t| (t.memory.chips.count, t.memory.chips.remote_pages_per_256) = (2, 256));
    let mut rig = Rig::with(&all, K1, &[D, 0x9000], &[]);
    assert_eq!(rig.ld(8, D).source, DataSource::Remote);
    rig.then().st(8, 0x9000);
    rig.expect("V1 + V4 + REMOTE_ACCESS 2");
    let away = mean(&latencies(&all, None, 64));
    let here = mean(&latencies(&Tables::quiet(), None, 64));
    assert!(away > here + 2.0 * 150.0, "{away} and {here}: the link is crossed twice");
}

#[test]
fn the_system_level_cache_of_the_other_chip_is_remote_too() {
    // Decision A33
    let all = with(|t| (t.memory.chips.count, t.memory.chips.remote_pages_per_256) = (2, 256));
    let mut rig = Rig::with(&all, K1, &[D], &[]);
    rig.place(D, CacheLevel::Slc, false).ld(8, D);
    rig.expect("V1 + REMOTE_ACCESS");
}

#[test]
fn writes_that_return_no_data_are_not_remote() {
    // Decision A44
    let all = with(|t| (t.memory.chips.count, t.memory.chips.remote_pages_per_256) = (2, 256));
    let mut rig = Rig::with(&all, K1, &[D], &[]);
    rig.zva(D);
    rig.expect("V6 + L2D_CACHE + L2D_CACHE_WR + L2D_CACHE_REFILL + BUS_ACCESS + BUS_ACCESS_WR");
}

#[test]
fn a_share_of_the_pages_is_remote() {
    let half = with(|t| (t.memory.chips.count, t.memory.chips.remote_pages_per_256) = (2, 128));
    let mut rig = Rig::with(&half, K1, &[], &[]);
    for page in 0..256 {
        rig.then().ld(8, 0x100_0000 + 4096 * page);
    }
    let remote = rig.value(PmuEvent::REMOTE_ACCESS);
    assert!((108..=148).contains(&remote), "{remote} of 256");
}

#[test]
fn a_far_atomic_is_one_bus_write_and_no_cache_access() {
    // Decision A20
    for far in [FarAtomics::Miss, FarAtomics::Always] {
        let tables = with(|t| t.memory.far_atomics = far);
        let mut rig = Rig::with(&tables, K1, &[D], &[]);
        rig.access(MemKind::AtomicLoad, 8, D);
        rig.expect(&format!("{LDADD} + BUS_ACCESS + BUS_ACCESS_WR"));
        let at = |level| rig.memory.line_is_dirty(0, VirtAddr(D), level);
        assert_eq!([at(CacheLevel::L2), at(CacheLevel::Slc)], [None, Some(true)]);
        // The second atomic finds the line at its home node.
        rig.then();
        let begin = rig.now;
        assert!((60..140).contains(&(rig.access(MemKind::AtomicLoad, 8, D).done - begin)));
    }
}

#[test]
fn atomics_on_a_line_of_this_core_are_near_unless_all_are_far() {
    let near = with(|t| t.memory.far_atomics = FarAtomics::Miss);
    let mut rig = Rig::with(&near, K3, &[D], &[]);
    rig.access(MemKind::AtomicLoad, 8, D);
    rig.expect(&format!("{LDADD} + L1D_CACHE 2 + L1D_CACHE_RD + L1D_CACHE_WR"));
    let far = with(|t| t.memory.far_atomics = FarAtomics::Always);
    let mut rig = Rig::with(&far, K3, &[D], &[]);
    rig.access(MemKind::AtomicLoad, 8, D);
    rig.expect(&format!(
        "{LDADD} + BUS_ACCESS 3 + BUS_ACCESS_WR + L1D_CACHE_INVAL + L2D_CACHE_INVAL"
    ));
    assert!(rig.memory.is_inclusive(0));
}
