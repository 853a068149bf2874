//! The exported event bus: one bit for each event of the bus, cycle by cycle (Cortex-A53 manual,
//! table 12.28).
//!
//! A bit means one occurrence in a cycle; bit 8 means a second retired instruction. An event
//! that occurs twice in a cycle for another reason, such as two lookups of one access, sets its bit
//! in the next cycle again. Counters that see only the bus therefore count what happened.

use std::collections::BTreeMap;

use crate::event::{A53Condition, A53Counts, A53Event, A53Sink, COUNT};

/// Bit of a second retired instruction.
pub const TWO_RETIRED: u8 = 8;

/// Bits of the exported bus. The last three are conditions without a number.
pub const WIRES: [(u8, &str); 29] = [
    (0, "L1I_CACHE_REFILL"),
    (1, "L1I_TLB_REFILL"),
    (2, "L1D_CACHE_REFILL"),
    (3, "L1D_CACHE"),
    (4, "L1D_TLB_REFILL"),
    (5, "LD_RETIRED"),
    (6, "ST_RETIRED"),
    (7, "INST_RETIRED"),
    (TWO_RETIRED, "TWO_INST_RETIRED"),
    (9, "EXC_TAKEN"),
    (10, "EXC_RETURN"),
    (11, "CID_WRITE_RETIRED"),
    (12, "PC_WRITE_RETIRED"),
    (13, "BR_IMMED_RETIRED"),
    (14, "UNALIGNED_LDST_RETIRED"),
    (15, "BR_MIS_PRED"),
    (16, "BR_PRED"),
    (17, "MEM_ACCESS"),
    (18, "L1I_CACHE"),
    (19, "L1D_CACHE_WB"),
    (20, "L2D_CACHE"),
    (21, "L2D_CACHE_REFILL"),
    (22, "L2D_CACHE_WB"),
    (23, "L1I_CACHE_ERR"),
    (24, "L1D_CACHE_ERR"),
    (25, "TLB_ERR"),
    (26, "L2_CACHE_ERR"),
    (27, "SNOOP_FILTER_ERR"),
    (28, "SIMD_RETENTION"),
];

/// Number of bits that the bus to the trace unit has: those of the core, without the last three.
pub const TRACE_WIRES: usize = 26;

/// Returns the bit of an event on the bus.
pub fn bit_of(event: A53Event) -> Option<u8> {
    WIRES.iter().find(|(_, name)| *name == event.mnemonic()).map(|(bit, _)| *bit)
}

/// Returns the mask of each event on the bus; 0 for an event without a bit.
fn masks() -> [u32; COUNT] {
    A53Event::ALL.map(|event| bit_of(event).map_or(0, |bit| 1 << bit))
}

/// Event bus of one core, together with the totals of its events.
#[derive(Clone, Debug)]
pub struct BusSink {
    counts: A53Counts,
    masks: [u32; COUNT],
    pending: BTreeMap<u64, u32>,
    /// First cycle that was not drained.
    from: u64,
}

impl Default for BusSink {
    fn default() -> BusSink {
        BusSink { counts: A53Counts::default(), masks: masks(), pending: BTreeMap::new(), from: 0 }
    }
}

impl BusSink {
    /// Passes the cycles before `until` in which a bit is set to `give`, in order. An event that
    /// comes later for one of them appears in the cycle `until`.
    pub fn drain(&mut self, until: u64, mut give: impl FnMut(u64, u32)) {
        while let Some(first) = self.pending.first_entry()
            && *first.key() < until
        {
            let (cycle, bits) = first.remove_entry();
            give(cycle, bits);
        }
        self.from = self.from.max(until);
    }

    /// Sets the bit of `mask`, or else that of `second`, in the first cycle from `cycle` on in
    /// which one of them is clear.
    fn set(&mut self, mask: u32, second: u32, cycle: u64) {
        let mut at = cycle.max(self.from);
        loop {
            let bits = self.pending.entry(at).or_default();
            if *bits & mask == 0 {
                *bits |= mask;
                return;
            }
            if *bits & second != second {
                *bits |= second;
                return;
            }
            at += 1;
        }
    }
}

impl AsRef<A53Counts> for BusSink {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

impl A53Sink for BusSink {
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.counts.raise(event, cycle, times);
        let mask = self.masks[event as usize];
        let second = if event == A53Event::INST_RETIRED { 1 << TWO_RETIRED } else { 0 };
        if mask != 0 {
            (0..times).for_each(|_| self.set(mask, second, cycle));
        }
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        self.counts.signal(condition, cycle, times);
        let wire = WIRES.iter().find(|(_, name)| *name == condition.name());
        if let Some((bit, _)) = wire {
            (0..times).for_each(|after| self.set(1 << bit, 0, cycle + after));
        }
    }
}
