//! The event bus: a consumer that sees only the bits counts what the counters count.

use std::path::Path;

use sim_a53::cluster::EMBEDDED;
use sim_a53::event_bus::{BusSink, TWO_RETIRED, WIRES, bit_of};
use sim_a53::{A53Config, A53Error, A53Event, A53Sink, run_with_bus};
use sim_core::config::Document;
use sim_pmu::other_core::CORTEX_A53;
use sim_trace::TraceFile;

/// The bits are those of the manual (table 12.28), all 29 of them.
#[test]
fn every_bit_of_the_table_is_a_wire() {
    let mut rows: Vec<u8> = CORTEX_A53.events.iter().filter_map(|row| row.bus_bit).collect();
    rows.sort_unstable();
    assert_eq!(rows, WIRES.map(|(bit, _)| bit));
    for row in CORTEX_A53.events {
        if let Some(event) = row.code.and_then(A53Event::from_code) {
            assert_eq!(bit_of(event), row.bus_bit, "{event:?}");
        }
    }
}

/// Given every committed trace, when the bits of each core are counted, then they are the totals of
/// the events; bit 8 is the second instruction of a cycle. Cycles and cores come in order.
#[test]
fn the_bits_add_up_to_the_counts() {
    let document = Document::from_embedded(EMBEDDED[0].name, &EMBEDDED).expect("the defaults");
    let config = A53Config::from_document(&document).expect("valid defaults");
    for path in super::traces::traces() {
        let trace = TraceFile::open(Path::new(&path)).expect("a committed trace");
        let mut bits = vec![[0_u64; 32]; trace.streams().len()];
        let mut last = (0, 0);
        let outcomes = run_with_bus(&trace, &config, Some(150_000), |cycle, core, set| {
            assert!((cycle, core) > last || cycle == 0, "{path:?}: {cycle} after {last:?}");
            last = (cycle, core);
            (0..32).for_each(|bit| bits[core][bit] += u64::from(set >> bit & 1));
            Ok::<(), A53Error>(())
        });
        for (core, bits) in outcomes.expect("a run").iter().zip(&bits) {
            for event in A53Event::ALL {
                let Some(bit) = bit_of(event) else { continue };
                let second = match event {
                    A53Event::INST_RETIRED => bits[usize::from(TWO_RETIRED)],
                    _ => 0,
                };
                let seen = bits[usize::from(bit)] + second;
                assert_eq!(seen, core.counts.value(event), "{path:?}: {event:?}");
            }
            assert_eq!(bits[usize::from(TWO_RETIRED)], core.two_retired, "{path:?}");
        }
    }
}

/// Two lookups in one cycle set their bit in two cycles, two instructions in one.
#[test]
fn a_bit_means_one_occurrence() {
    let mut bus = BusSink::default();
    bus.raise(A53Event::L1D_CACHE, 10, 2);
    bus.raise(A53Event::INST_RETIRED, 10, 1);
    bus.raise(A53Event::INST_RETIRED, 10, 1);
    bus.raise(A53Event::CPU_CYCLES, 10, 1);
    let mut cycles = Vec::new();
    bus.drain(20, |cycle, bits| cycles.push((cycle, bits)));
    assert_eq!(cycles, [(10, 1 << 3 | 1 << 7 | 1 << 8), (11, 1 << 3)]);
    bus.raise(A53Event::L1D_CACHE, 5, 1);
    bus.drain(u64::MAX, |cycle, bits| cycles.push((cycle, bits)));
    assert_eq!(cycles[2..], [(20, 1 << 3)], "an event for a drained cycle is not lost");
}
