//! The table walker: how many walks run at once and which descriptors a walk has to read.
//!
//! PMU guide 3.2.18, 4.1.9. The reads themselves take a side port with a fixed latency, or the L2
//! (`translate`, key `semantics.walk-reads`). Not modeled: stage 2, contiguous entries.

use sim_core::{Cycle, LineAddr};

use crate::config::WalkerConfig;
use crate::mshr::{FreeRegister, Mshrs};

/// Bits of the page number that one level of a table resolves: 512 descriptors of 8 bytes.
const LEVEL_BITS: u32 = 9;
/// Table addresses lie above the 48 bits of data, so that they never meet a data line.
const TABLE_SPACE: u64 = 1 << 51;

/// Walk slots and the walk cache.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    slots: Mshrs,
    /// Page numbers without their last level: tables whose address is known, oldest first.
    walk_cache: Vec<u64>,
    walk_cache_entries: usize,
    levels: u32,
    level_bits: u32,
}

impl Walker {
    /// An idle walker for pages of `1 << page_shift` bytes.
    pub(crate) fn new(config: &WalkerConfig, page_shift: u32) -> Walker {
        let (levels, level_bits) = match page_shift {
            12 => (4, LEVEL_BITS),
            14 => (4, LEVEL_BITS + 2),
            16 => (3, LEVEL_BITS + 4),
            _ => (3, LEVEL_BITS), // blocks of 2 MiB end one level earlier
        };
        let walk_cache_entries = config.walk_cache_entries as usize;
        Walker {
            slots: Mshrs::new(config.walks),
            walk_cache: Vec::with_capacity(walk_cache_entries),
            walk_cache_entries,
            levels,
            level_bits,
        }
    }

    /// When a walk that is asked for at `at` can start. Pure.
    pub(crate) fn find_slot(&self, at: Cycle) -> FreeRegister {
        self.slots.find(at)
    }

    /// A walk ran in this slot until `end`.
    pub(crate) fn hold(&mut self, slot: FreeRegister, end: Cycle) {
        self.slots.hold(slot, end);
    }

    /// Descriptors that a walk for `page` reads: 1 when the walk cache knows the last table.
    pub(crate) fn reads_needed(&self, page: u64) -> u32 {
        if self.walk_cache.contains(&(page >> self.level_bits)) { 1 } else { self.levels }
    }

    /// The line of the descriptor that is read when `left` reads are still to come after it.
    pub(crate) fn descriptor_line(&self, page: u64, left: u32) -> LineAddr {
        let index = page >> (self.level_bits * left);
        LineAddr((TABLE_SPACE | u64::from(left) << 46 | index << 3) >> sim_core::LINE_SHIFT)
    }

    /// Remembers the last-level table of `page`; true when that made a new entry.
    pub(crate) fn remember(&mut self, page: u64) -> bool {
        if self.walk_cache_entries == 0 {
            return false;
        }
        let table = page >> self.level_bits;
        let known = self.walk_cache.iter().position(|t| *t == table);
        let replaced = known.or((self.walk_cache.len() == self.walk_cache_entries).then_some(0));
        if let Some(old) = replaced {
            self.walk_cache.remove(old);
        }
        self.walk_cache.push(table);
        known.is_none()
    }

    /// Forgets every table.
    pub(crate) fn forget_tables(&mut self) {
        self.walk_cache.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walker(walk_cache_entries: u32) -> Walker {
        let config =
            WalkerConfig { walks: 2, level_cycles: 4, read_cycles: 13, walk_cache_entries };
        Walker::new(&config, 12)
    }

    #[test]
    fn a_known_last_table_leaves_one_read() {
        let mut walker = walker(2);
        assert_eq!(walker.reads_needed(0x8), 4);
        assert!(walker.remember(0x8));
        assert!(!walker.remember(0x9), "same 2 MiB region");
        assert_eq!(walker.reads_needed(0x1FF), 1);
        assert!(walker.remember(0x200) && walker.remember(0x400));
        assert_eq!(walker.reads_needed(0x8), 4, "the oldest of two entries was dropped");
    }

    #[test]
    fn neighboring_pages_share_the_line_of_their_last_descriptor() {
        let walker = walker(0);
        assert_eq!(walker.descriptor_line(8, 0), walker.descriptor_line(15, 0));
        assert_ne!(walker.descriptor_line(8, 0), walker.descriptor_line(16, 0));
        assert_ne!(walker.descriptor_line(0, 0), walker.descriptor_line(0, 1));
    }
}
