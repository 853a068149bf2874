//! The exported event bus of a run: which of another core's bus bits are set in which cycle, for the
//! events that both cores have (Cortex-A53 manual, 12.9; `PMCR_EL0.X` exports events).
//!
//! An event stands in the cycle that [`EventSink::at`] tells. Events that happen several times in one
//! cycle set their bit once, as the bus has one wire for each; two retired instructions have a wire of
//! their own. Not modeled: the registers between the core and its pins.

use std::collections::BTreeMap;

use sim_core::pmu_event::COUNT;
use sim_core::{Cycle, EventSink, Operation, PmuEvent};

use crate::other_core::OtherCore;
use crate::pmu::for_each_raised;

/// Operations by which prediction can run ahead of fetch, with room to spare: what is fetched so many
/// operations later is asked for later than this one left the fetch stage.
const AHEAD: u32 = 2048;

/// A wire of the bus that carries something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Its bit.
    pub bit: u8,
    /// The mnemonic of its event; `None` for the condition that two instructions retired.
    pub event: Option<&'static str>,
    /// What it says.
    pub title: &'static str,
}

/// What one cycle set.
#[derive(Clone, Copy, Debug, Default)]
struct Pins {
    bits: u32,
    retired: u64,
}

/// The event bus of one core of the run, cycle by cycle.
#[derive(Clone, Debug)]
pub struct EventBus {
    /// For each event that is raised, the bits that it sets.
    routes: [u32; COUNT],
    /// The bit of two instructions that retire together.
    two_retired: u32,
    now: Cycle,
    /// Cycles before this one were given away.
    given: Cycle,
    pending: BTreeMap<Cycle, Pins>,
    late: u64,
    /// Operations heard since `fetched`.
    heard: u32,
    /// When the last operation of a stretch left the fetch stage.
    fetched: Cycle,
    horizon: Cycle,
}

impl EventBus {
    /// The bus of `core`; `None` if nothing is known of one.
    pub fn new(core: &OtherCore) -> Option<EventBus> {
        let wires = wires(core);
        if wires.is_empty() {
            return None;
        }
        let mut bus = EventBus {
            routes: [0; COUNT],
            two_retired: 0,
            now: 0,
            given: 0,
            pending: BTreeMap::new(),
            late: 0,
            heard: 0,
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

    /// Gives the cycles before `horizon` in which a bit is set, in order, each once. What happens in
    /// them later on is counted by [`EventBus::late`] and is lost.
    pub fn give(&mut self, horizon: Cycle, mut take: impl FnMut(Cycle, u32)) {
        while let Some(first) = self.pending.first_entry().filter(|first| *first.key() < horizon) {
            let (cycle, Pins { bits, retired }) = first.remove_entry();
            let pair = if retired >= 2 { self.two_retired } else { 0 };
            take(cycle, bits | pair);
        }
        self.given = self.given.max(horizon);
    }

    /// Nothing that this core does from now on happens before this cycle.
    pub fn horizon(&self) -> Cycle {
        self.horizon
    }

    /// Events that came when their cycle was given away.
    pub fn late(&self) -> u64 {
        self.late
    }
}

impl EventSink for EventBus {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let bits = self.routes[event as usize];
        if bits == 0 || n == 0 {
            return;
        }
        if self.now < self.given {
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
    fn at(&mut self, cycle: Cycle) {
        self.now = cycle;
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        self.heard += 1;
        if self.heard == AHEAD {
            (self.heard, self.horizon) = (0, self.fetched);
            self.fetched = self.fetched.max(operation.life.fetch);
        }
    }
}

/// The wires of the bus of `core` whose events the Neoverse N2 has as well, by bit.
pub fn wires(core: &OtherCore) -> Vec<Wire> {
    let is_here =
        |code: u16| PmuEvent::from_code(u32::from(code)).is_ok_and(|event| !event.never_counts());
    let mut wires: Vec<Wire> = Vec::new();
    for event in core.events {
        let is_carried = event.code.map_or_else(|| event.says_two_retired(), is_here);
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
        assert!(EventBus::new(&CORTEX_A32).is_none(), "nothing is known of its bus");
    }

    /// The fast way and the plain one, for every event that is raised, alone and with another.
    #[test]
    fn each_cycle_shows_what_its_events_alone_would_show() {
        let raised: Vec<PmuEvent> =
            PmuEvent::ALL.into_iter().filter(|event| !event.never_counts()).collect();
        let mut bus = EventBus::new(&CORTEX_A53).expect("a bus");
        let mut expected = Vec::new();
        for (cycle, event) in raised.iter().enumerate() {
            let other = raised[(cycle * 7 + 3) % raised.len()];
            let mut counts = Counts::default();
            bus.at(cycle as Cycle);
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
        let mut given = Vec::new();
        bus.give(Cycle::MAX, |cycle, bits| given.push((cycle, bits)));
        assert_eq!(given, expected);
        assert!(given.len() > 20 && bus.late() == 0);
    }

    #[test]
    fn cycles_come_in_order_and_what_is_late_is_told() {
        let mut bus = EventBus::new(&CORTEX_A53).expect("a bus");
        for cycle in [9, 4, 9, 6] {
            bus.at(cycle);
            bus.raise(PmuEvent::INST_RETIRED);
        }
        let mut given = Vec::new();
        bus.give(7, |cycle, bits| given.push((cycle, bits)));
        assert_eq!(given, [(4, 1 << 7), (6, 1 << 7)]);
        bus.at(5);
        bus.raise(PmuEvent::INST_RETIRED);
        given.clear();
        bus.give(Cycle::MAX, |cycle, bits| given.push((cycle, bits)));
        assert_eq!((given, bus.late()), (vec![(9, 1 << 7 | 1 << 8)], 1));
    }
}
