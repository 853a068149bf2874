//! Types of blocks for writers and readers: number, range of instructions, and data addresses.

/// Number of a block, which is straight-line code with a fixed address and fixed words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// One data address of a block execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Index of the instruction in the block, from 0.
    pub index: u16,
    /// Address of the first byte accessed.
    pub addr: u64,
}

/// Range of a block in arrays over the instructions of all blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockShape {
    /// Index of the first instruction of the block.
    pub(crate) start: u32,
    /// Number of instructions of the block.
    pub(crate) len: u16,
}
