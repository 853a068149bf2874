//! The static side of a trace: every different instruction once, and which of them a block has.

use rustc_hash::FxHashMap;
use sim_core::InstId;

use crate::writer::BlockId;

/// A static instruction: one word at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeWord {
    /// Address.
    pub pc: u64,
    /// The A64 word.
    pub word: u32,
}

/// Static instructions and blocks of a trace. Instruction numbers are dense, in the order in which
/// the blocks that contain them were defined; two blocks over the same code share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticTable {
    words: Vec<CodeWord>,
    /// Instructions of all blocks, one after the other.
    block_insts: Vec<InstId>,
    /// `block_insts[starts[b]..starts[b + 1]]` is block `b`.
    starts: Vec<u32>,
}

impl StaticTable {
    /// The static instructions; an [`InstId`] is an index.
    pub fn insts(&self) -> &[CodeWord] {
        &self.words
    }

    /// Number of static instructions.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True if the trace has no code.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The instructions of `block`.
    pub fn block(&self, block: BlockId) -> Option<&[InstId]> {
        let start = *self.starts.get(block.0 as usize)?;
        let end = *self.starts.get(block.0 as usize + 1)?;
        Some(&self.block_insts[start as usize..end as usize])
    }

    /// The instructions of all blocks, one block after the other: what stands in each place that a
    /// [`BlockVisitor`](crate::BlockVisitor) hears of.
    pub fn places(&self) -> &[InstId] {
        &self.block_insts
    }

    /// Start of each block in [`StaticTable::places`], and the end of the last.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }
}

/// Builds a [`StaticTable`] block by block.
pub(crate) struct StaticTableBuilder {
    table: StaticTable,
    known: FxHashMap<CodeWord, InstId>,
}

impl StaticTableBuilder {
    pub(crate) fn new() -> StaticTableBuilder {
        let table = StaticTable { words: Vec::new(), block_insts: Vec::new(), starts: vec![0] };
        StaticTableBuilder { table, known: FxHashMap::default() }
    }

    /// Number of the next block.
    pub(crate) fn next_block(&self) -> u64 {
        self.table.blocks() as u64
    }

    /// Number of instructions of all blocks.
    pub(crate) fn places(&self) -> u64 {
        self.table.block_insts.len() as u64
    }

    /// Number of distinct instructions.
    pub(crate) fn distinct(&self) -> usize {
        self.table.words.len()
    }

    /// Adds an instruction to the block that is being built. The caller keeps the number of places within the
    /// limits of the format.
    pub(crate) fn inst(&mut self, pc: u64, word: u32) {
        let word = CodeWord { pc, word };
        let words = &mut self.table.words;
        let id = *self.known.entry(word).or_insert_with(|| {
            words.push(word);
            words.len() as InstId - 1
        });
        self.table.block_insts.push(id);
    }

    /// Ends the block.
    pub(crate) fn end_block(&mut self) {
        self.table.starts.push(self.table.block_insts.len() as u32);
    }

    /// Returns the table, which has no spare room.
    pub(crate) fn finish(mut self) -> StaticTable {
        self.table.words.shrink_to_fit();
        self.table.block_insts.shrink_to_fit();
        self.table.starts.shrink_to_fit();
        self.table
    }
}
