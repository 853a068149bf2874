//! Exported event bus of another core, driven by a run (Cortex-A53 manual, 12.9; `PMCR_EL0.X`
//! exports events). It has the bits that the bus sets in each cycle, for the events that both cores
//! have.
//!
//! An event occurs in the cycle that [`Notice::At`] reports. The bus has one wire for each
//! event, so several occurrences in one cycle set its bit once. Two retired instructions have a
//! wire of their own. Not modeled: the registers between the core and its pins.

use std::collections::BTreeMap;

use sim_core::pmu_event::COUNT;
use sim_core::{Cycle, EventSink, Notice, PmuEvent};

use crate::other_core::OtherCore;
use crate::routes::for_each_raised;

/// Number of operations by which prediction can run ahead of fetch, with margin. An operation
/// fetched this many operations later is requested only after the present one left the fetch stage.
const AHEAD: u32 = 2048;

/// Connected wire of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Bit of the wire.
    pub bit: u8,
    /// Mnemonic of the wire's event; `None` for the condition that two instructions retired.
    pub event: Option<&'static str>,
    /// Short description of the condition.
    pub title: &'static str,
}

/// State of the pins in one cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Pins {
    bits: u32,
    retired: u64,
}

/// Event bus of one core, cycle by cycle.
#[derive(Clone, Debug)]
pub struct EventBus {
    /// Bits that each raised event sets.
    routes: [u32; COUNT],
    /// Bit for two instructions that retire in the same cycle.
    two_retired: u32,
    now: Cycle,
    /// First cycle that has not been drained.
    drained: Cycle,
    pending: BTreeMap<Cycle, Pins>,
    late: u64,
    /// Operations since `fetched` was updated.
    operations: u32,
    /// Cycle in which the last operation of the previous span left the fetch stage.
    fetched: Cycle,
    horizon: Cycle,
}

impl EventBus {
    /// Returns the bus of `core`, or `None` if the bus is unknown.
    pub fn new(core: &OtherCore) -> Option<EventBus> {
        let wires = wires(core);
        if wires.is_empty() {
            return None;
        }
        let mut bus = EventBus {
            routes: [0; COUNT],
            two_retired: 0,
            now: 0,
            drained: 0,
            pending: BTreeMap::new(),
            late: 0,
            operations: 0,
            fetched: 0,
            horizon: 0,
        };
        for wire in wires {
            let bit = 1 << wire.bit;
            match wire.event.and_then(|name| core.from_mnemonic(name)?.code) {
                Some(code) => bus.connect(code, bit),
                None => bus.two_retired = bit,
            }
        }
        Some(bus)
    }

    fn connect(&mut self, code: u16, bit: u32) {
        if let Ok(event) = PmuEvent::from_code(u32::from(code)) {
            for_each_raised(event, &mut |raised| self.routes[raised as usize] |= bit);
        }
    }

    /// Drains the cycles before `horizon` in which a bit is set, each once and in order. Later
    /// events in these cycles are lost; [`EventBus::late`] counts them.
    pub fn drain(&mut self, horizon: Cycle, mut take: impl FnMut(Cycle, u32)) {
        while let Some(first) = self.pending.first_entry().filter(|first| *first.key() < horizon) {
            let (cycle, Pins { bits, retired }) = first.remove_entry();
            let pair = if retired >= 2 { self.two_retired } else { 0 };
            take(cycle, bits | pair);
        }
        self.drained = self.drained.max(horizon);
    }

    /// Returns a cycle before which this core raises no more events.
    pub fn horizon(&self) -> Cycle {
        self.horizon
    }

    /// Returns the number of events whose cycle had already been drained.
    pub fn late(&self) -> u64 {
        self.late
    }
}

impl EventSink for EventBus {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let bits = self.routes[event as usize];
        if bits == 0 || n == 0 {
            return;
        }
        if self.now < self.drained {
            self.late += 1;
            return;
        }
        let pins = self.pending.entry(self.now).or_default();
        pins.bits |= bits;
        if event == PmuEvent::INST_RETIRED {
            pins.retired += n;
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.now = cycle;
            }
            Notice::Operation(operation) => {
                self.operations += 1;
                if self.operations == AHEAD {
                    (self.operations, self.horizon) = (0, self.fetched);
                    self.fetched = self.fetched.max(operation.timeline.fetch);
                }
            }
            _ => {}
        }
    }
}

/// Returns the wires of the bus of `core` whose events the Neoverse N2 also has, by bit.
pub fn wires(core: &OtherCore) -> Vec<Wire> {
    let is_here =
        |code: u16| PmuEvent::from_code(u32::from(code)).is_ok_and(|event| !event.never_counts());
    let mut wires: Vec<Wire> = Vec::new();
    for event in core.events {
        let is_carried = event.code.map_or_else(|| event.is_two_retired(), is_here);
        if let (Some(bit), true) = (event.bus_bit, is_carried) {
            wires.push(Wire { bit, event: event.mnemonic, title: event.title });
        }
    }
    wires.sort_by_key(|wire| wire.bit);
    wires
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::other_core::{CORTEX_A32, CORTEX_A53};
    use sim_core::Counts;

    #[test]
    fn the_bus_has_a_wire_for_each_event_that_both_cores_have() {
        let bits: Vec<u8> = wires(&CORTEX_A53).iter().map(|wire| wire.bit).collect();
        assert_eq!(bits, [0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19, 20, 21, 22]);
        assert!(EventBus::new(&CORTEX_A32).is_none(), "its bus is unknown");
    }

    /// Compares the cycles of the bus with each event's own bits, for every raised event alone and
    /// in pairs.
    #[test]
    fn each_cycle_sets_the_bits_of_its_events() {
        let raised: Vec<PmuEvent> =
            PmuEvent::ALL.into_iter().filter(|event| !event.never_counts()).collect();
        let mut bus = EventBus::new(&CORTEX_A53).expect("a bus");
        let mut expected = Vec::new();
        for (cycle, event) in raised.iter().enumerate() {
            let other = raised[(cycle * 7 + 3) % raised.len()];
            let mut counts = Counts::default();
            bus.notify(Notice::At(cycle as Cycle));
            for (event, n) in [(*event, 1 + cycle as u64 % 2), (other, 1)] {
                bus.count(event, n);
                counts.count(event, n);
            }
            let here = |code: u16| PmuEvent::from_code(u32::from(code)).ok();
            let value = |code| here(code).map_or(0, |event| counts.value(event));
            match CORTEX_A53.event_bus(value) {
                0 => {}
                bits => expected.push((cycle as Cycle, bits)),
            }
        }
        let mut drained = Vec::new();
        bus.drain(Cycle::MAX, |cycle, bits| drained.push((cycle, bits)));
        assert_eq!(drained, expected);
        assert!(drained.len() > 20 && bus.late() == 0);
    }

    #[test]
    fn drained_cycles_are_in_order_and_late_events_are_counted() {
        let mut bus = EventBus::new(&CORTEX_A53).expect("a bus");
        for cycle in [9, 4, 9, 6] {
            bus.notify(Notice::At(cycle));
            bus.raise(PmuEvent::INST_RETIRED);
        }
        let mut drained = Vec::new();
        bus.drain(7, |cycle, bits| drained.push((cycle, bits)));
        assert_eq!(drained, [(4, 1 << 7), (6, 1 << 7)]);
        bus.notify(Notice::At(5));
        bus.raise(PmuEvent::INST_RETIRED);
        drained.clear();
        bus.drain(Cycle::MAX, |cycle, bits| drained.push((cycle, bits)));
        assert_eq!((drained, bus.late()), (vec![(9, 1 << 7 | 1 << 8)], 1));
    }
}
