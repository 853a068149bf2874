//! What lies beyond the cores and is shared by them: mesh, system level cache slices, DRAM.
//!
//! PMU guide 3.2.21: with direct connect the system level cache allocates on evictions from an L2.
//! It is exclusive for data (a read takes the line away) and keeps code. Not modeled: positions on
//! the mesh, the snoop filter, contention inside the mesh.

use rustc_hash::{FxHashMap, FxHashSet};
use sim_core::{Cycle, DataSource, LineAddr};

use crate::calendar::Calendar;
use crate::config::MemoryConfig;
use crate::level::Level;
use crate::page_map::PageMap;
use crate::replacement::Insertion;
use crate::tag_array::LineState;
use crate::tags::AllocationTags;

/// Latencies of the ways through the uncore.
#[derive(Clone, Copy, Debug)]
struct Latencies {
    interface: Cycle,
    mesh: Cycle,
    home_node: Cycle,
    dram: Cycle,
    peer: Cycle,
    remote: Cycle,
    device: Cycle,
}

/// The system level cache: slices chosen by an address hash, kept as one array of sets.
#[derive(Clone, Debug)]
struct Slc {
    level: Level,
    slice_bits: u32,
    slice_sets_mask: u64,
}

/// The shared part of the memory system.
#[derive(Clone, Debug)]
pub(crate) struct Uncore {
    /// Virtual pages to physical pages.
    pub(crate) page_map: PageMap,
    slc: Option<Slc>,
    channels: Vec<Calendar>,
    latencies: Latencies,
    /// Allocation tags.
    pub(crate) tags: AllocationTags,
    /// Lines whose data outside the cores is poisoned.
    poisoned: FxHashSet<LineAddr>,
    /// Lines whose supplier a scenario fixed.
    suppliers: FxHashMap<LineAddr, DataSource>,
}

/// The answer to a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UncoreReply {
    /// When the first beat is back at the core's interface.
    pub(crate) arrives: Cycle,
    /// Who supplied the data.
    pub(crate) source: DataSource,
    /// The supplier passed on the duty to write the line back.
    pub(crate) dirty: bool,
}

impl Slc {
    fn new(config: &MemoryConfig, seed: u64) -> Option<Slc> {
        let slc = &config.slc;
        if slc.slice_bytes == 0 {
            return None;
        }
        let size_bytes = slc.slice_bytes * u64::from(slc.slices);
        let slice_sets = slc.slice_bytes / (u64::from(slc.ways) * sim_core::LINE_BYTES);
        Some(Slc {
            level: Level::new(size_bytes, slc.ways, slc.replacement, seed ^ 3),
            slice_bits: slc.slices.trailing_zeros(),
            slice_sets_mask: slice_sets - 1,
        })
    }

    /// Slice by hash, set by the bits above the slice bits.
    fn set_of(&self, line: LineAddr) -> u32 {
        let slice = fold(line.0, self.slice_bits);
        let set = line.0 >> self.slice_bits & self.slice_sets_mask;
        (slice * (self.slice_sets_mask + 1) + set) as u32
    }
}

/// Exclusive-or of all groups of `bits` bits.
fn fold(line: u64, bits: u32) -> u64 {
    if bits == 0 {
        return 0;
    }
    let mut folded = 0;
    let mut rest = line;
    while rest != 0 {
        folded ^= rest;
        rest >>= bits;
    }
    folded & ((1 << bits) - 1)
}

impl Uncore {
    /// An empty system level cache and idle channels.
    pub(crate) fn new(config: &MemoryConfig, seed: u64) -> Uncore {
        let (bus, slc, dram) = (&config.bus, &config.slc, &config.dram);
        Uncore {
            page_map: PageMap::new(&config.pages, seed),
            slc: Slc::new(config, seed),
            channels: vec![Calendar::rate(1, dram.line_cycles); dram.channels as usize],
            latencies: Latencies {
                interface: bus.interface_cycles.into(),
                mesh: Cycle::from(slc.mesh_hops) * Cycle::from(slc.hop_cycles),
                home_node: slc.home_node_cycles.into(),
                dram: dram.access_cycles.into(),
                peer: bus.peer_cycles.into(),
                remote: bus.remote_cycles.into(),
                device: bus.device_cycles.into(),
            },
            tags: AllocationTags::default(),
            poisoned: FxHashSet::default(),
            suppliers: FxHashMap::default(),
        }
    }

    /// Core to home node, and the home node's own access.
    fn at_home_node(&self, at: Cycle) -> Cycle {
        at + self.latencies.interface + self.latencies.mesh + self.latencies.home_node
    }

    fn back_at_core(&self, at: Cycle) -> Cycle {
        at + self.latencies.mesh + self.latencies.interface
    }

    /// Reads a cacheable line that left the core at `at`.
    pub(crate) fn read(&mut self, line: LineAddr, is_code: bool, at: Cycle) -> UncoreReply {
        let home = self.at_home_node(at);
        if let Some(source) = self.supplier(line) {
            let supplied = match source {
                DataSource::Peer => home + self.latencies.peer,
                DataSource::Remote => home + self.latencies.remote,
                DataSource::Dram => self.dram_access(line, home),
                _ => home,
            };
            return UncoreReply { arrives: self.back_at_core(supplied), source, dirty: false };
        }
        if let Some(state) = self.slc_read(line, is_code) {
            let dirty = state.is_dirty() && !is_code;
            return UncoreReply {
                arrives: self.back_at_core(home),
                source: DataSource::Slc,
                dirty,
            };
        }
        let supplied = self.dram_access(line, home);
        UncoreReply { arrives: self.back_at_core(supplied), source: DataSource::Dram, dirty: false }
    }

    fn supplier(&self, line: LineAddr) -> Option<DataSource> {
        if self.suppliers.is_empty() { None } else { self.suppliers.get(&line).copied() }
    }

    /// A hit gives a data line away, with the duty to write it back; code stays.
    fn slc_read(&mut self, line: LineAddr, is_code: bool) -> Option<LineState> {
        let slc = self.slc.as_mut()?;
        let set = slc.set_of(line);
        if is_code {
            slc.level.lookup_in(set, line).map(|place| slc.level.state(place))
        } else {
            slc.level.remove_from(set, line)
        }
    }

    fn dram_access(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        let channel = fold(line.0, self.channels.len().trailing_zeros()) as usize;
        self.channels[channel].book(at) + self.latencies.dram
    }

    /// Takes a whole line for writing without its data; when the answer is back at the core.
    pub(crate) fn claim(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        self.slc_read(line, false);
        self.back_at_core(self.at_home_node(at))
    }

    /// Reads or writes memory that no cache keeps; when the answer is back at the core.
    pub(crate) fn access_uncached(&self, at: Cycle) -> Cycle {
        self.back_at_core(self.at_home_node(at) + self.latencies.device)
    }

    /// Takes in a line that an L2 evicted.
    pub(crate) fn accept_victim(&mut self, line: LineAddr, dirty: bool, at: Cycle) {
        let home = self.at_home_node(at);
        let Some(slc) = self.slc.as_mut() else {
            if dirty {
                self.dram_access(line, home);
            }
            return;
        };
        let set = slc.set_of(line);
        if let Some(place) = slc.level.lookup_in(set, line) {
            let state = slc.level.state(place);
            slc.level.set_state(place, state.with_dirty(state.is_dirty() | dirty));
            return;
        }
        let state = LineState::default().with_dirty(dirty);
        let victim = slc.level.allocate_in(set, line, state, Insertion::Demand);
        if let Some(victim) = victim.filter(|v| v.dirty) {
            self.dram_access(victim.line, home);
        }
    }

    /// Modified data of a line left a core, as poisoned or sound.
    pub(crate) fn note_poison(&mut self, line: LineAddr, poisoned: bool) {
        if poisoned {
            self.poisoned.insert(line);
        } else if !self.poisoned.is_empty() {
            self.poisoned.remove(&line);
        }
    }

    /// True when a read of the line gets poisoned data.
    pub(crate) fn is_poisoned(&self, line: LineAddr) -> bool {
        !self.poisoned.is_empty() && self.poisoned.contains(&line)
    }

    /// Tells the other agents of maintenance that left the core at `at`; when their answer is back.
    pub(crate) fn told(&self, at: Cycle) -> Cycle {
        self.back_at_core(self.at_home_node(at))
    }

    /// Grants a write to a line whose data the core has; when the answer is back at the core.
    pub(crate) fn upgrade(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        self.slc_read(line, false);
        self.back_at_core(self.at_home_node(at))
    }

    /// Takes modified data that a core gave up in answer to a snoop; the core may keep a clean copy.
    pub(crate) fn take_back(&mut self, line: LineAddr, at: Cycle) {
        self.accept_victim(line, true, at);
    }

    /// An I/O agent's line: written to memory, and sent on when the core that is to have it answers at
    /// `at`. When it is there.
    pub(crate) fn stash(&mut self, line: LineAddr, at: Cycle) -> Cycle {
        self.slc_read(line, false);
        let home = self.at_home_node(at);
        self.dram_access(line, home);
        self.back_at_core(home)
    }

    /// Empties the system level cache and the channels' bookings.
    pub(crate) fn flush(&mut self, config: &MemoryConfig, seed: u64) {
        self.slc = Slc::new(config, seed);
        self.channels.fill(Calendar::rate(1, config.dram.line_cycles));
        self.poisoned.clear();
    }

    /// Fixes who supplies a line; `None` goes back to the model's own rule.
    pub(crate) fn set_supplier(&mut self, line: LineAddr, source: Option<DataSource>) {
        match source {
            Some(source) => self.suppliers.insert(line, source),
            None => self.suppliers.remove(&line),
        };
    }

    /// The system level cache's state of a line. Pure.
    pub(crate) fn slc_state(&self, line: LineAddr) -> Option<LineState> {
        let slc = self.slc.as_ref()?;
        let place = slc.level.probe_in(slc.set_of(line), line)?;
        Some(slc.level.state(place))
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn neighboring_lines_spread_evenly_over_the_slices() {
        let mut hits = [0; 32];
        for line in 0x12_3400..0x12_3400 + 320u64 {
            hits[fold(line, 5) as usize] += 1;
        }
        assert_eq!(hits, [10; 32]);
        assert_eq!(fold(0xFFFF, 0), 0);
    }
}
