//! Fast pass over a chunk that reports executed blocks and their accesses without decoding
//! instructions.
//!
//! The pass reads the columns several times as fast as the full decoder, and ignores the flags that
//! events set on instructions. Decoder and pass may continue after each other, at any block end.

use crate::predict::{CONTROL_PARTIAL, CONTROL_SHAPE};
use crate::varint::{unzigzag, varint_at};

use super::{ADDRS, Block, CONTROL, Cursor, Decoder, EVENTS};

/// Visitor of executed blocks and their accesses.
///
/// A place is an index into the instructions of all blocks,
/// [`StaticTable::places`](crate::StaticTable::places).
pub trait BlockVisitor {
    /// True to visit accesses. Without them only half of the columns are read.
    const ACCESSES: bool;

    /// Visits a run of the first `executed` instructions of block `block`, whose first is at
    /// `place`.
    fn block(&mut self, block: u32, place: u32, executed: u16);

    /// Visits an access of the instruction at `place` to memory at `addr`.
    fn access(&mut self, place: u32, addr: u64) {
        let _ = (place, addr);
    }
}

impl Decoder {
    /// Passes executed blocks to `visitor`. Stops at the first block end at or after instruction
    /// `until` of the stream, or at the end of the open chunk. With [`BlockVisitor::ACCESSES`]
    /// decoding may continue from there.
    pub(crate) fn skim<V: BlockVisitor>(
        &mut self,
        until: u64,
        visitor: &mut V,
    ) -> Result<(), &'static str> {
        let Some(header) = self.header else { return Ok(()) };
        let mut cursor = self.cursor;
        let last = u32::try_from(until.saturating_sub(self.first)).unwrap_or(u32::MAX);
        while cursor.control < self.columns.length(CONTROL) && cursor.instructions < last {
            self.skim_block(&mut cursor, visitor)?;
            if cursor.instructions > header.instructions {
                return Err("more instructions than counted");
            }
        }
        self.cursor = cursor;
        if !V::ACCESSES && self.cursor.control == self.columns.length(CONTROL) {
            self.header = None;
            return Ok(());
        }
        self.skim_events()?;
        if self.cursor.control == self.columns.length(CONTROL) {
            self.check_end(&header)?;
            self.header = None;
        }
        Ok(())
    }

    #[inline(always)]
    fn skim_block<V: BlockVisitor>(
        &mut self,
        cursor: &mut Cursor,
        visitor: &mut V,
    ) -> Result<(), &'static str> {
        let control = self.columns.column(CONTROL)[cursor.control];
        cursor.control += 1;
        let id = self.next_block(control, cursor)?;
        let Some(&block) = self.blocks.get(id as usize) else {
            return Err("a block follows one that never preceded it");
        };
        cursor.previous = Some(id);
        if control & (CONTROL_SHAPE | CONTROL_PARTIAL) != 0 {
            return self.skim_irregular_block(id, block, control, cursor, visitor);
        }
        cursor.instructions += u32::from(block.len);
        visitor.block(id, block.start, block.len);
        if !V::ACCESSES {
            return Ok(());
        }
        let start = block.start as usize;
        let end = start + usize::from(block.len);
        let predictors = &mut self.predictors[start..end];
        let addrs = self.columns.padded(ADDRS);
        for &index in &self.shapes[start..start + usize::from(block.memory.accesses)] {
            let (delta, next) = varint_at(addrs, cursor.addrs).ok_or("the addresses end early")?;
            cursor.addrs = next;
            let predictor = &mut predictors[usize::from(index)];
            let addr = predictor.next().wrapping_add(unzigzag(delta));
            predictor.update(addr);
            cursor.last_addr = addr;
            visitor.access(block.start + u32::from(index), addr);
        }
        cursor.accesses += u32::from(block.memory.accesses);
        Ok(())
    }

    /// Visits a partial run, or a run whose accesses differ from those of the last run.
    #[cold]
    fn skim_irregular_block<V: BlockVisitor>(
        &mut self,
        id: u32,
        block: Block,
        control: u8,
        cursor: &mut Cursor,
        visitor: &mut V,
    ) -> Result<(), &'static str> {
        let mut executed = block.len;
        if control & CONTROL_PARTIAL != 0 {
            executed = self.partial_length(block, cursor)?;
        }
        cursor.instructions += u32::from(executed);
        visitor.block(id, block.start, executed);
        let mut accesses = std::mem::take(&mut self.partial);
        self.bitmap(executed, cursor, &mut accesses)?;
        if V::ACCESSES {
            if control & CONTROL_PARTIAL == 0 {
                self.set_shape(id, &accesses);
            }
            for &index in &accesses {
                let place = block.start + u32::from(index);
                let addr = self.irregular_address(place as usize, cursor)?;
                visitor.access(place, addr);
            }
            cursor.accesses += accesses.len() as u32;
        }
        self.partial = accesses;
        Ok(())
    }

    /// Skips the events up to the current position.
    fn skim_events(&mut self) -> Result<(), &'static str> {
        let cursor = &mut self.cursor;
        let column = self.columns.column(EVENTS);
        while cursor.events.next(column, cursor.instructions)?.is_some() {}
        Ok(())
    }
}
