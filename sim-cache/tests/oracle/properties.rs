//! Properties that need no oracle: conservation, relations of the event table, determinism.

use sim_cache::MemorySystem;
use sim_cache::config::ReplacementKind;
use sim_core::pmu_event::RelationKind;
use sim_core::{AccessOutcome, Counts, MemKind, MemRequest, MemoryPort, PmuEvent, VirtAddr};

use super::suite;
use super::suite::compare::memory_events;
use super::suite::driver::Driver;
use super::suite::geometry::{Geometry, Tables};
use super::suite::random::Random;

fn load(addr: u64, pc: u64) -> MemRequest {
    MemRequest::new(VirtAddr(pc), VirtAddr(addr), 8, MemKind::Load)
}

#[test]
fn every_load_hits_waits_or_refills() {
    for number in 0..60 {
        let mut geometry = Geometry::numbered(7, number);
        geometry.tables.memory.prefetch.l2_stream = false;
        let most = geometry.tables.memory.l1d.size_bytes / 64;
        let mut random = Random::new(8, number);
        let mut driver = Driver::new(&geometry, Counts::default());
        let (mut hits, mut waits, mut refills, mut now) = (0, 0, 0, 0);
        for _ in 0..300 {
            now += 1 + random.below(60);
            let request = load(random.below(64) * 64, 0x40_0000);
            let reply = driver.memory.port(0).access(request, now, &mut driver.sink);
            assert!(reply.done > now);
            if reply.outcome.has(AccessOutcome::L1_REFILL) {
                refills += 1;
            } else if reply.outcome.has(AccessOutcome::L1_MISS) {
                waits += 1;
            } else {
                hits += 1;
            }
        }
        assert_eq!(hits + waits + refills, driver.sink.value(PmuEvent::L1D_CACHE));
        assert_eq!(refills, driver.sink.value(PmuEvent::L1D_CACHE_REFILL));
        // Nothing else was allocated, so every line that is not resident was evicted.
        assert!(driver.memory.resident_lines(0)[1] <= refills.min(most));
    }
}

#[test]
fn relations_of_the_event_table_hold_with_every_prefetcher_on() {
    for number in 0..120 {
        let (mut geometry, groups) = suite::case(3, number, 600);
        let prefetch = &mut geometry.tables.memory.prefetch;
        (prefetch.l1d, prefetch.l2_stream, prefetch.l1i_next_line) = (true, true, true);
        let mut driver = Driver::new(&geometry, Counts::default());
        for group in &groups {
            driver.settle();
            group.iter().for_each(|op| driver.run(*op));
            assert!(driver.memory.is_inclusive(0), "geometry {number}");
        }
        check_relations(&driver.sink);
    }
}

/// Checks that subsets are not larger, sums are exact, and events that never count are 0.
fn check_relations(counts: &Counts) {
    for event in memory_events() {
        let name = event.mnemonic();
        let value = counts.value(event);
        for kind in [RelationKind::SubsetOf, RelationKind::ImpliedSubsetOf] {
            for whole in event.relation(kind).unwrap_or_default() {
                assert!(value <= counts.value(*whole), "{name} and {}", whole.mnemonic());
            }
        }
        for kind in [RelationKind::SumOf, RelationKind::ImpliedSumOf] {
            if let Some(parts) = event.relation(kind) {
                let sum: u64 = parts.iter().map(|part| counts.value(*part)).sum();
                // Snoops are transactions that are neither reads nor writes (A08).
                let residue = if name == "BUS_ACCESS" { counts.raised(event) } else { 0 };
                assert_eq!(value, sum + residue, "{name}");
            }
        }
        assert!(!event.never_counts() || value == 0, "{name}");
    }
}

#[test]
fn the_same_sequence_gives_the_same_counts_and_times() {
    let run = || {
        let mut tables = Tables::committed();
        tables.memory.l2.replacement = ReplacementKind::Random;
        tables.memory.l2.size_bytes = 131_072;
        let mut memory = MemorySystem::new(&tables.memory, &tables.semantics, 2, 9);
        let mut counts = Counts::default();
        let mut last = 0;
        for i in 0..50_000u64 {
            let request = load(i.wrapping_mul(0x9E37_79B9) % (1 << 24), i % 64 * 4);
            let mut port = memory.port(i as usize % 2);
            last = port.access(request, 2 * i, &mut counts).done.max(last);
        }
        (counts, last)
    };
    assert_eq!(run(), run());
}
