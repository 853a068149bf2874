//! MOP cache: decoded operations of 32-byte code blocks, virtually addressed (HC33).
//!
//! A set holds as many blocks as it has ways, up to the MOPs that all ways have room for. A fused
//! pair is one MOP. A block stores its decoded instructions, so that changed words do not hit.

use sim_core::InstId;

/// log2 of the code block that one entry covers.
const BLOCK_SHIFT: u32 = 5;
const WORDS: usize = 8;
/// Number of an empty block.
const EMPTY: u64 = u64::MAX;
/// Marks a word that is not decoded.
const NO_INST: InstId = InstId::MAX;

/// Decoded operations of one block.
#[derive(Clone, Copy, Debug)]
struct Block {
    number: u64,
    insts: [InstId; WORDS],
    mops: u32,
}

impl Block {
    const fn new(number: u64) -> Block {
        Block { number, insts: [NO_INST; WORDS], mops: 0 }
    }
}

/// Blocks by set, most recently used first.
#[derive(Clone, Debug)]
pub(super) struct MopCache {
    blocks: Box<[Block]>,
    ways: usize,
    set_mask: u64,
    mops_per_set: u32,
    /// Index of the block that is being read or built, always the first of its set.
    current: usize,
    /// Decoded instructions of the current block.
    insts: [InstId; WORDS],
    /// Bits in which instructions are compared; 0 if all instructions always hit.
    compared: InstId,
}

impl MopCache {
    /// Returns an empty cache; `sets` must be a power of two.
    pub(super) fn new(sets: usize, ways: usize, mops_per_way: usize) -> MopCache {
        MopCache {
            blocks: vec![Block::new(EMPTY); sets * ways].into_boxed_slice(),
            ways,
            set_mask: sets as u64 - 1,
            mops_per_set: (ways * mops_per_way) as u32,
            current: 0,
            insts: [NO_INST; WORDS],
            compared: InstId::MAX,
        }
    }

    /// Returns this cache with every instruction in it.
    pub(super) fn with_all(self) -> MopCache {
        MopCache { compared: 0, ..self }
    }

    /// Moves to the block of `pc`. An absent block starts without MOPs and replaces the least
    /// recently used block of its set.
    #[inline]
    pub(super) fn enter(&mut self, pc: u64) {
        let number = pc >> BLOCK_SHIFT;
        self.current = (number & self.set_mask) as usize * self.ways;
        let set = &mut self.blocks[self.current..self.current + self.ways];
        if set[0].number != number {
            let way = set.iter().position(|block| block.number == number);
            set[..=way.unwrap_or(self.ways - 1)].rotate_right(1);
            if way.is_none() {
                set[0] = Block::new(number);
            }
        }
        self.insts = set[0].insts;
    }

    /// Returns whether the current block has the word at `pc` decoded as this instruction.
    #[inline]
    pub(super) fn holds(&self, pc: u64, id: InstId) -> bool {
        (self.insts[word(pc)] ^ id) & self.compared == 0
    }

    /// Adds the MOPs of a word of the current block. The least recently used blocks are evicted for
    /// them.
    pub(super) fn build(&mut self, pc: u64, id: InstId, mops: u8) {
        let set = &mut self.blocks[self.current..self.current + self.ways];
        if set[0].insts[word(pc)] != NO_INST {
            // The code was changed, so the decoded instructions of this block are stale.
            set[0] = Block::new(set[0].number);
        }
        set[0].insts[word(pc)] = id;
        set[0].mops += u32::from(mops);
        let mut sum = 0;
        for block in set {
            sum += block.mops;
            if sum > self.mops_per_set {
                *block = Block::new(EMPTY);
            }
        }
        self.insts = self.blocks[self.current].insts;
    }

    /// Removes all blocks.
    pub(super) fn clear(&mut self) {
        self.blocks.fill(Block::new(EMPTY));
        self.insts = [NO_INST; WORDS];
    }
}

#[inline]
fn word(pc: u64) -> usize {
    (pc >> 2) as usize % WORDS
}

#[cfg(test)]
mod tests {
    use super::MopCache;

    /// Runs `words` one-MOP instructions from `pc` on. Returns how many hit.
    fn pass(cache: &mut MopCache, pc: u64, words: u64) -> usize {
        let mut held = 0;
        for pc in (pc..pc + 4 * words).step_by(4) {
            cache.enter(pc);
            let id = pc as u32;
            match cache.holds(pc, id) {
                true => held += 1,
                false => cache.build(pc, id, 1),
            }
        }
        held
    }

    #[test]
    fn a_block_hits_the_second_time_where_it_was_decoded() {
        let mut cache = MopCache::new(2, 2, 6);
        assert_eq!(pass(&mut cache, 0x1000, 3), 0);
        assert_eq!(pass(&mut cache, 0x1000, 8), 3);
        assert_eq!(pass(&mut cache, 0x1000, 8), 8);
    }

    #[test]
    fn a_loop_of_the_cache_size_fits_and_one_more_block_does_not() {
        let mut cache = MopCache::new(64, 4, 6);
        pass(&mut cache, 0, 1536);
        assert_eq!(pass(&mut cache, 0, 1536), 1536);
        pass(&mut cache, 0, 1544);
        assert_eq!(pass(&mut cache, 0, 1544), 1536 - 3 * 8);
    }

    #[test]
    fn a_changed_word_drops_its_block() {
        let mut cache = MopCache::new(2, 2, 6);
        pass(&mut cache, 0x1000, 8);
        cache.enter(0x1000);
        assert!(!cache.holds(0x1008, 7));
        cache.build(0x1008, 7, 1);
        assert!(cache.holds(0x1008, 7) && !cache.holds(0x1004, 0x1004));
    }

    #[test]
    fn a_word_of_more_mops_than_a_set_never_hits() {
        let mut cache = MopCache::new(2, 2, 6);
        cache.enter(0x1000);
        cache.build(0x1000, 1, 13);
        cache.enter(0x1000);
        assert!(!cache.holds(0x1000, 1));
    }
}
