//! The snoop control unit: the L1 data tags of all cores, and what a request does to their copies.
//! TRM 7.2.
//!
//! The unit has duplicates of the L1 data tags. They never differ from the tags of the cores, so
//! that the model keeps one array for each core, here. Lines are in one of the states of MOESI
//! (TRM 2.1.6). Dirty lines move from core to core without write-back. Assumed: the reader of a
//! dirty line takes over the duty to write it back, and the other copy stays, clean and shared.

use super::cache::{Cache, LineState};
use super::config::{L1dConfig, SnoopConfig};

/// Copy of a line in the L1 data cache of another core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// The copy was dirty.
    pub(crate) dirty: bool,
    /// Cycle in which the copy is complete.
    pub(crate) ready: u64,
    /// Core that has it.
    pub(crate) core: usize,
}

/// L1 data caches of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct SnoopControl {
    l1d: Box<[Cache]>,
    transfer_cycles: u64,
}

impl SnoopControl {
    /// Creates empty caches for `cores` cores.
    pub(crate) fn new(l1d: &L1dConfig, snoop: &SnoopConfig, cores: usize, seed: u64) -> Self {
        let cache = |core: usize| {
            Cache::new(l1d.size_bytes, l1d.ways, seed.wrapping_add(0x10 + core as u64))
        };
        SnoopControl {
            l1d: (0..cores).map(cache).collect(),
            transfer_cycles: snoop.transfer_cycles.into(),
        }
    }

    /// Returns the L1 data cache of a core.
    #[inline(always)]
    pub(crate) fn l1d(&mut self, core: usize) -> &mut Cache {
        &mut self.l1d[core]
    }

    /// Returns the first beat of a transfer, of which a hit of the L2 cache would give the first
    /// beat in the cycle `l2_first`.
    pub(crate) fn first_beat(&self, copy: Copy, l2_first: u64) -> u64 {
        l2_first.max(copy.ready) + self.transfer_cycles
    }

    /// Returns a copy that a core other than `reader` has. A dirty copy comes first.
    pub(crate) fn find(&self, line: u64, reader: usize) -> Option<Copy> {
        let mut found: Option<Copy> = None;
        for (core, cache) in self.l1d.iter().enumerate() {
            let entry = if core == reader { None } else { cache.probe(line) };
            if let Some(entry) = entry {
                let dirty = cache.state(entry).has(LineState::DIRTY);
                if dirty || found.is_none() {
                    found = Some(Copy { dirty, ready: cache.ready(entry), core });
                }
            }
        }
        found
    }

    /// Makes every copy of cores other than `reader` shared. `takes_dirt` makes them clean, too.
    pub(crate) fn share(&mut self, line: u64, reader: usize, takes_dirt: bool) {
        for (core, cache) in self.l1d.iter_mut().enumerate() {
            let entry = if core == reader { None } else { cache.probe(line) };
            if let Some(entry) = entry {
                let state = cache.state(entry).with(LineState::SHARED);
                let state = if takes_dirt { state.without(LineState::DIRTY) } else { state };
                cache.set_state(entry, state);
            }
        }
    }

    /// Corrects the error of a line's tags. Returns whether there was one.
    pub(crate) fn correct_tag(&mut self, line: u64) -> bool {
        let mut was_faulty = false;
        for cache in &mut self.l1d {
            let Some(entry) = cache.probe(line) else { continue };
            let state = cache.state(entry);
            was_faulty |= state.has(LineState::TAG_FAULTY);
            cache.set_state(entry, state.without(LineState::TAG_FAULTY));
        }
        was_faulty
    }

    /// Removes every copy of cores other than `writer`. Returns whether one was dirty.
    pub(crate) fn invalidate(&mut self, line: u64, writer: usize) -> bool {
        let mut was_dirty = false;
        for (core, cache) in self.l1d.iter_mut().enumerate() {
            let state = if core == writer { None } else { cache.remove(line) };
            was_dirty |= state.is_some_and(|state| state.has(LineState::DIRTY));
        }
        was_dirty
    }
}
