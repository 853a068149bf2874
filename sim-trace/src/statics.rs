//! Static code of a trace: each distinct instruction once, and the instructions of each block.

use rustc_hash::FxHashMap;
use sim_core::InstId;

use crate::block::BlockId;

/// A static instruction: one word at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeWord {
    /// Address of the instruction.
    pub pc: u64,
    /// A64 instruction word.
    pub word: u32,
}

/// Static instructions and blocks of a trace. Instructions are numbered from 0 in the order of
/// block definitions. Two blocks over the same code share instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticTable {
    words: Vec<CodeWord>,
    /// Instructions of all blocks, block after block.
    block_insts: Vec<InstId>,
    /// Start of each block: block `b` is `block_insts[starts[b]..starts[b + 1]]`.
    starts: Vec<u32>,
}

impl StaticTable {
    /// Returns the static instructions. An [`InstId`] is an index into them.
    pub fn insts(&self) -> &[CodeWord] {
        &self.words
    }

    /// Returns the number of static instructions.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns true if the trace has no code.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the instructions of `block`.
    pub fn block(&self, block: BlockId) -> Option<&[InstId]> {
        let start = *self.starts.get(block.0 as usize)?;
        let end = *self.starts.get(block.0 as usize + 1)?;
        Some(&self.block_insts[start as usize..end as usize])
    }

    /// Returns the instructions of all blocks, block after block. A place that is passed to a
    /// [`BlockVisitor`](crate::BlockVisitor) is an index into them.
    pub fn places(&self) -> &[InstId] {
        &self.block_insts
    }

    /// Returns the start of each block in [`StaticTable::places`], and the end of the last block.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }
}

/// Builder of a [`StaticTable`], block by block.
pub(crate) struct StaticTableBuilder {
    table: StaticTable,
    known: FxHashMap<CodeWord, InstId>,
}

impl StaticTableBuilder {
    pub(crate) fn new() -> StaticTableBuilder {
        let table = StaticTable { words: Vec::new(), block_insts: Vec::new(), starts: vec![0] };
        StaticTableBuilder { table, known: FxHashMap::default() }
    }

    /// Returns the number of the next block.
    pub(crate) fn next_block(&self) -> u64 {
        self.table.blocks() as u64
    }

    /// Returns the number of instructions of all blocks.
    pub(crate) fn places(&self) -> u64 {
        self.table.block_insts.len() as u64
    }

    /// Returns the number of distinct instructions.
    pub(crate) fn distinct(&self) -> usize {
        self.table.words.len()
    }

    /// Adds an instruction to the block under construction. The caller keeps the number of places
    /// within the limits of the format.
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

    /// Returns the table, without spare capacity.
    pub(crate) fn finish(mut self) -> StaticTable {
        self.table.words.shrink_to_fit();
        self.table.block_insts.shrink_to_fit();
        self.table.starts.shrink_to_fit();
        self.table
    }
}
