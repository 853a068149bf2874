//! The MOP cache: decoded operations of 32-byte code blocks, virtually addressed (HC33).
//!
//! Modeled as one entry per block whatever the number of its MOPs (assumed: 6 per entry).

/// log2 of the code block that one entry covers.
const BLOCK_SHIFT: u32 = 5;
const EMPTY: u64 = u64::MAX;

/// Entries by set, most recently used first.
#[derive(Clone, Debug)]
pub(super) struct MopCache {
    blocks: Box<[u64]>,
    ways: usize,
    set_mask: u64,
    current: u64,
    hit: bool,
}

impl MopCache {
    /// An empty cache; `sets` is a power of two.
    pub(super) fn new(sets: usize, ways: usize) -> MopCache {
        MopCache {
            blocks: vec![EMPTY; sets * ways].into_boxed_slice(),
            ways,
            set_mask: sets as u64 - 1,
            current: EMPTY,
            hit: false,
        }
    }

    /// Moves to the block of `pc`; true when it is another one than before. A block that is absent
    /// is built from what decode delivers, and the least recently used one of its set goes.
    #[inline]
    pub(super) fn enter(&mut self, pc: u64) -> bool {
        let block = pc >> BLOCK_SHIFT;
        if block == self.current {
            return false;
        }
        self.current = block;
        let first = (block & self.set_mask) as usize * self.ways;
        let set = &mut self.blocks[first..first + self.ways];
        let way = set.iter().position(|b| *b == block);
        self.hit = way.is_some();
        set[..=way.unwrap_or(self.ways - 1)].rotate_right(1);
        set[0] = block;
        true
    }

    /// Whether the current block was there when it was entered.
    #[inline]
    pub(super) fn hit(&self) -> bool {
        self.hit
    }

    /// Every block goes.
    pub(super) fn clear(&mut self) {
        self.blocks.fill(EMPTY);
        self.current = EMPTY;
    }

    /// The next block is entered anew even if it is the same one.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.current = EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::MopCache;

    #[test]
    fn a_block_is_there_the_second_time() {
        let mut cache = MopCache::new(2, 2);
        assert!(cache.enter(0x1000) && !cache.hit());
        assert!(!cache.enter(0x101C), "still the same 32 bytes");
        cache.leave();
        assert!(cache.enter(0x1000) && cache.hit());
    }
}
