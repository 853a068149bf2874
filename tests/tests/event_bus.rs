//! The event bus of whole runs: every event of the counted part is on it, in a cycle of the run.

use sim_core::{Counts, Cycle, EventSink, Notice, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};
use sim_pmu::EventBus;
use sim_pmu::event_bus::wires;
use sim_pmu::other_core::CORTEX_A53;
use sim_tests::repository;

/// The bus of a run of one thread, drained while the run continues.
struct BusReader {
    bus: EventBus,
    is_counted: bool,
    operations: u64,
    cycles: Vec<(Cycle, u32)>,
}

impl EventSink for BusReader {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if self.is_counted {
            self.bus.count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.bus.notify(Notice::At(cycle));
            }
            Notice::Counting(is_counted) => {
                self.is_counted = is_counted;
            }
            Notice::Operation(operation) => {
                self.bus.notify(Notice::Operation(operation));
                self.operations += 1;
                if self.operations.is_multiple_of(512) {
                    let horizon = self.bus.horizon();
                    self.bus.drain(horizon, |cycle, bits| self.cycles.push((cycle, bits)));
                }
            }
            _ => {}
        }
    }
}

fn run(trace: &str) -> (BusReader, Counts) {
    let path = repository().join("traces").join(trace);
    let document = ConfigSource::default().document().expect("the built-in configuration");
    let config = MachineConfig::from_document(&document).expect("the built-in configuration");
    let session = Session::open(&path, config, RunHeader::default()).expect("a committed trace");
    let options = RunOptions { limit: Some(60_000), ..RunOptions::default() };
    let bus = EventBus::new(&CORTEX_A53).expect("a bus");
    let mut reader = BusReader { bus, is_counted: false, operations: 0, cycles: Vec::new() };
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut reader).expect("a run");
    reader.bus.drain(Cycle::MAX, |cycle, bits| reader.cycles.push((cycle, bits)));
    (reader, outcome.total())
}

#[test]
fn every_event_of_a_run_is_on_the_bus() {
    for trace in ["hash.n2t", "chase.n2t", "matrix.n2t", "sort.n2t"] {
        let (reader, truth) = run(trace);
        assert_eq!(reader.bus.late(), 0, "{trace}: no event comes after its cycle");
        assert!(reader.cycles.is_sorted_by_key(|(cycle, _)| cycle), "{trace}");
        // Stores drain after the last retirement; nothing retires after the last cycle.
        let retires = |(_, bits): &&(Cycle, u32)| bits >> 7 & 1 == 1;
        let last = reader.cycles.iter().rfind(retires).expect("a run retires").0;
        assert!(last <= truth.value(PmuEvent::CPU_CYCLES), "{trace}: {last}");
        let set = |bit: u8| {
            let cycles = reader.cycles.iter().filter(|(_, bits)| bits >> bit & 1 == 1);
            cycles.count() as u64
        };
        for wire in wires(&CORTEX_A53) {
            let Some(name) = wire.event else { continue };
            let code = CORTEX_A53.from_mnemonic(name).and_then(|event| event.code);
            let event = PmuEvent::from_code(code.expect("a number").into()).expect("it is here");
            let (cycles, counted) = (set(wire.bit), truth.value(event));
            assert!(cycles <= counted && (cycles > 0) == (counted > 0), "{trace}: {name}");
        }
        // At most eight instructions retire in a cycle, and some cycles retire one.
        let retired = truth.value(PmuEvent::INST_RETIRED);
        let (any, several) = (set(7), set(8));
        assert!(several < any && 8 * several + (any - several) >= retired, "{trace}");
    }
}
