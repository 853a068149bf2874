//! What both sides of a STREAM chunk guess alike: the next block and the next address. The file
//! holds only what the guess missed. Nothing is remembered across chunks, so each decodes alone.

/// Recent successors that one block remembers; two bits of the control byte choose among them.
pub(crate) const SUCCESSORS: usize = 4;
/// A successor that is not known yet.
pub(crate) const NO_BLOCK: u32 = u32::MAX;

/// Control byte: bits 0-1 choose a recent successor of the previous block.
pub(crate) const CONTROL_SUCCESSOR: u8 = 3;
/// Control byte: the block's number is in the column of explicit numbers.
pub(crate) const CONTROL_EXPLICIT: u8 = 1 << 2;
/// Control byte: other instructions access memory than when the block last ran as a whole.
pub(crate) const CONTROL_SHAPE: u8 = 1 << 3;
/// Control byte: the block was left early; executed count and shape of this run follow.
pub(crate) const CONTROL_PARTIAL: u8 = 1 << 4;

/// What one stream remembers of one block within a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockMemory {
    /// The chunk in which the rest is valid.
    pub(crate) chunk: u32,
    successors: [u32; SUCCESSORS],
    oldest: u8,
    /// Accesses of a whole run of the block.
    pub(crate) accesses: u16,
}

impl BlockMemory {
    pub(crate) const EMPTY: BlockMemory =
        BlockMemory { chunk: 0, successors: [NO_BLOCK; SUCCESSORS], oldest: 0, accesses: 0 };

    /// Nothing known yet in `chunk`.
    pub(crate) fn fresh(chunk: u32) -> BlockMemory {
        BlockMemory { chunk, ..BlockMemory::EMPTY }
    }

    /// The remembered successor number `k` (only its low two bits count).
    #[inline(always)]
    pub(crate) fn successor(&self, k: u8) -> u32 {
        self.successors[usize::from(k & CONTROL_SUCCESSOR)]
    }

    /// Which remembered successor `block` is.
    #[inline]
    pub(crate) fn find(&self, block: u32) -> Option<u8> {
        self.successors.iter().position(|&b| b == block).map(|k| k as u8)
    }

    /// Remembers `block` in place of the oldest. Places do not move, so loops repeat their bytes.
    pub(crate) fn remember(&mut self, block: u32) {
        self.successors[usize::from(self.oldest)] = block;
        self.oldest = (self.oldest + 1) & CONTROL_SUCCESSOR;
    }
}

/// Guess for the next address of one instruction of one block: last address plus a stride that was
/// seen twice in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddrGuess {
    last: u64,
    stride: u64,
    candidate: u64,
    /// The chunk in which the rest is valid.
    pub(crate) chunk: u32,
}

impl AddrGuess {
    /// The first address of the instruction in `chunk` was `addr`.
    pub(crate) fn first(addr: u64, chunk: u32) -> AddrGuess {
        AddrGuess { last: addr, stride: 0, candidate: 0, chunk }
    }

    /// The address expected next.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.last.wrapping_add(self.stride)
    }

    /// The address was `addr`.
    #[inline(always)]
    pub(crate) fn learn(&mut self, addr: u64) {
        let step = addr.wrapping_sub(self.last);
        if step == self.candidate {
            self.stride = step;
        }
        self.candidate = step;
        self.last = addr;
    }
}
