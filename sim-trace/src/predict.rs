//! Predictors of the next block and the next address, shared by encoder and decoder of a STREAM
//! chunk. The file holds only the differences from the prediction. Each chunk starts with empty
//! predictors, so that it can be decoded separately.

/// Number of recent successors kept for each block. Two bits of the control byte select one.
pub(crate) const SUCCESSORS: usize = 4;
/// Number of a successor that is not known yet.
pub(crate) const NO_BLOCK: u32 = u32::MAX;

/// Mask of the control byte: bits that select a recent successor of the previous block.
pub(crate) const CONTROL_SUCCESSOR: u8 = 3;
/// Bit of the control byte: the block number is in the column of explicit numbers.
pub(crate) const CONTROL_EXPLICIT: u8 = 1 << 2;
/// Bit of the control byte: the accessing instructions differ from the last whole run of the block.
pub(crate) const CONTROL_SHAPE: u8 = 1 << 3;
/// Bit of the control byte: the block was left early; executed count and shape of this run follow.
pub(crate) const CONTROL_PARTIAL: u8 = 1 << 4;

/// Predictor state of one block within a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockMemory {
    /// Chunk in which the other fields are valid.
    pub(crate) chunk: u32,
    successors: [u32; SUCCESSORS],
    oldest: u8,
    /// Number of accesses of a whole run of the block.
    pub(crate) accesses: u16,
}

impl BlockMemory {
    pub(crate) const EMPTY: BlockMemory =
        BlockMemory { chunk: 0, successors: [NO_BLOCK; SUCCESSORS], oldest: 0, accesses: 0 };

    /// Returns the empty state for `chunk`.
    pub(crate) fn fresh(chunk: u32) -> BlockMemory {
        BlockMemory { chunk, ..BlockMemory::EMPTY }
    }

    /// Returns recent successor `k`. Only the low two bits of `k` count.
    #[inline(always)]
    pub(crate) fn successor(&self, k: u8) -> u32 {
        self.successors[usize::from(k & CONTROL_SUCCESSOR)]
    }

    /// Returns the index of `block` among the recent successors.
    #[inline]
    pub(crate) fn find(&self, block: u32) -> Option<u8> {
        self.successors.iter().position(|&b| b == block).map(|k| k as u8)
    }

    /// Replaces the oldest successor with `block`. The others keep their index, so loops repeat
    /// their control bytes.
    pub(crate) fn remember(&mut self, block: u32) {
        self.successors[usize::from(self.oldest)] = block;
        self.oldest = (self.oldest + 1) & CONTROL_SUCCESSOR;
    }
}

/// Stride predictor for the addresses of one instruction of one block. It predicts the last address
/// plus the last stride that occurred twice in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddrPredictor {
    last: u64,
    stride: u64,
    candidate: u64,
    /// Chunk in which the other fields are valid.
    pub(crate) chunk: u32,
}

impl AddrPredictor {
    /// Returns a predictor after the first address of the instruction in `chunk`.
    pub(crate) fn first(addr: u64, chunk: u32) -> AddrPredictor {
        AddrPredictor { last: addr, stride: 0, candidate: 0, chunk }
    }

    /// Returns the predicted next address.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.last.wrapping_add(self.stride)
    }

    /// Updates the predictor with the actual address.
    #[inline(always)]
    pub(crate) fn update(&mut self, addr: u64) {
        let step = addr.wrapping_sub(self.last);
        if step == self.candidate {
            self.stride = step;
        }
        self.candidate = step;
        self.last = addr;
    }
}
