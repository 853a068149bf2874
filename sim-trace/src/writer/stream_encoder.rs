//! Encoder of the block executions of one thread into the columns of STREAM chunks. Its predictors
//! learn from the same sequence as those of [`crate::reader::decoder`].

use sim_isa::Exit;

use crate::block::{Access, BlockShape};
use crate::event::StreamEvent;
use crate::layout::{ChunkHeader, ChunkKind};
use crate::predict::{
    AddrPredictor, BlockMemory, CONTROL_EXPLICIT, CONTROL_PARTIAL, CONTROL_SHAPE,
};
use crate::varint::{put_varint, zigzag};

/// Number of columns of a STREAM chunk.
pub(crate) const STREAM_COLUMNS: usize = 5;

/// Encoder of the stream of one thread.
pub(crate) struct StreamEncoder {
    stream: u32,
    sequence: u32,
    first: u64,
    /// Number of block executions in the open chunk.
    blocks: u32,
    instructions: u32,
    accesses: u32,
    events: u32,
    /// Columns in file order: control, explicit block numbers, shapes, addresses, events.
    columns: [Vec<u8>; STREAM_COLUMNS],
    last_event: u32,
    last_ticket: u64,
    /// Previous block of the open chunk.
    previous: Option<u32>,
    last_addr: u64,
    /// Stamp of the open chunk in `memory` and `predictors`, from 1.
    chunk: u32,
    memory: Vec<BlockMemory>,
    predictors: Vec<AddrPredictor>,
    /// Indexes of the accessing instructions of each block, from the start of the block on.
    shapes: Vec<u16>,
    /// Exit of the last block, kept across chunks; `None` if any block may follow.
    exit: Option<Exit>,
}

impl StreamEncoder {
    pub(crate) fn new(stream: u32) -> StreamEncoder {
        StreamEncoder {
            stream,
            sequence: 0,
            first: 0,
            blocks: 0,
            instructions: 0,
            accesses: 0,
            events: 0,
            columns: Default::default(),
            last_event: 0,
            last_ticket: 0,
            previous: None,
            last_addr: 0,
            chunk: 1,
            memory: Vec::new(),
            predictors: Vec::new(),
            shapes: Vec::new(),
            exit: None,
        }
    }

    /// Returns the number of the stream.
    #[inline]
    pub(crate) fn stream(&self) -> u32 {
        self.stream
    }

    /// Returns the number of instructions in the open chunk.
    #[inline]
    pub(crate) fn open_instructions(&self) -> u32 {
        self.instructions
    }

    /// Returns the number of events in the open chunk.
    #[inline]
    pub(crate) fn open_events(&self) -> u32 {
        self.events
    }

    /// Returns true if the open chunk is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.instructions == 0 && self.events == 0
    }

    /// Adds a redirect if `pc` is not a successor of the last block and no event explains it.
    /// Returns whether it did.
    #[inline]
    pub(crate) fn explain_arrival(&mut self, pc: u64) -> bool {
        let unexplained = self.exit.is_some_and(|exit| !exit.allows(pc));
        if unexplained {
            self.event(&StreamEvent::Redirect);
        }
        unexplained
    }

    /// Appends one execution of block `id`, which may be partial. The caller has checked the
    /// accesses.
    pub(crate) fn block(
        &mut self,
        id: u32,
        shape: BlockShape,
        executed: u16,
        accesses: &[Access],
        exit: Exit,
    ) {
        self.make_room(id, shape);
        let mut control = self.choose_block(id);
        if executed < shape.len {
            control |= CONTROL_PARTIAL;
            put_varint(&mut self.columns[2], executed.into());
            self.bitmap(executed, accesses);
            self.addresses_with_first(shape, accesses);
        } else if self.shape_differs(id, shape, accesses) {
            control |= CONTROL_SHAPE;
            self.bitmap(shape.len, accesses);
            self.remember_shape(id, shape, accesses);
            self.addresses_with_first(shape, accesses);
        } else {
            self.addresses(shape, accesses);
        }
        self.columns[0].push(control);
        self.previous = Some(id);
        self.blocks += 1;
        self.instructions += u32::from(executed);
        self.accesses += accesses.len() as u32;
        self.exit = Some(exit);
    }

    /// Appends an event after the last instruction.
    pub(crate) fn event(&mut self, event: &StreamEvent) {
        put_varint(&mut self.columns[4], u64::from(self.instructions - self.last_event));
        event.put(&mut self.last_ticket, &mut self.columns[4]);
        self.last_event = self.instructions;
        self.events += 1;
        if event.breaks_flow() {
            self.exit = None;
        }
    }

    /// Returns header and columns of the open chunk. Call [`StreamEncoder::next_chunk`] after
    /// writing them.
    pub(crate) fn chunk(&self) -> (ChunkHeader, [&[u8]; STREAM_COLUMNS]) {
        let header = ChunkHeader {
            columns: STREAM_COLUMNS as u8,
            stream: self.stream,
            blocks: self.blocks,
            instructions: self.instructions,
            accesses: self.accesses,
            events: self.events,
            first: self.first,
            ..ChunkHeader::new(ChunkKind::Stream, self.sequence)
        };
        (header, self.columns.each_ref().map(|c| c.as_slice()))
    }

    /// Starts the next chunk with empty predictors.
    pub(crate) fn next_chunk(&mut self) {
        self.sequence += 1;
        self.first += u64::from(self.instructions);
        self.blocks = 0;
        self.instructions = 0;
        self.accesses = 0;
        self.events = 0;
        self.columns.iter_mut().for_each(Vec::clear);
        self.last_event = 0;
        self.last_ticket = 0;
        self.previous = None;
        self.last_addr = 0;
        self.chunk += 1;
    }

    #[inline]
    fn make_room(&mut self, id: u32, shape: BlockShape) {
        let end = shape.start as usize + usize::from(shape.len);
        if self.memory.len() <= id as usize || self.predictors.len() < end {
            self.grow(id, end);
        }
    }

    #[cold]
    fn grow(&mut self, id: u32, end: usize) {
        if self.memory.len() <= id as usize {
            self.memory.resize(id as usize + 1, BlockMemory::EMPTY);
        }
        if self.predictors.len() < end {
            self.predictors.resize(end, AddrPredictor::default());
            self.shapes.resize(end, 0);
        }
    }

    /// Returns the control bits that select the block.
    #[inline]
    fn choose_block(&mut self, id: u32) -> u8 {
        if let Some(previous) = self.previous {
            if let Some(k) = self.memory[previous as usize].find(id) {
                return k;
            }
            self.memory[previous as usize].remember(id);
        }
        let from = self.previous.unwrap_or(0);
        put_varint(&mut self.columns[1], zigzag(u64::from(id).wrapping_sub(u64::from(from))));
        if self.memory[id as usize].chunk != self.chunk {
            self.memory[id as usize] = BlockMemory::fresh(self.chunk);
        }
        CONTROL_EXPLICIT
    }

    #[inline]
    fn shape_differs(&self, id: u32, shape: BlockShape, accesses: &[Access]) -> bool {
        let known = usize::from(self.memory[id as usize].accesses);
        let start = shape.start as usize;
        known != accesses.len()
            || !self.shapes[start..start + known].iter().zip(accesses).all(|(&i, a)| i == a.index)
    }

    fn remember_shape(&mut self, id: u32, shape: BlockShape, accesses: &[Access]) {
        self.memory[id as usize].accesses = accesses.len() as u16;
        let start = shape.start as usize;
        for (slot, access) in self.shapes[start..].iter_mut().zip(accesses) {
            *slot = access.index;
        }
    }

    /// Appends one bit per instruction, set if it accessed memory.
    fn bitmap(&mut self, len: u16, accesses: &[Access]) {
        let column = &mut self.columns[2];
        let start = column.len();
        column.resize(start + usize::from(len).div_ceil(8), 0);
        for access in accesses {
            column[start + usize::from(access.index / 8)] |= 1 << (access.index % 8);
        }
    }

    /// Appends addresses of instructions that have accessed memory in this chunk before.
    #[inline]
    fn addresses(&mut self, shape: BlockShape, accesses: &[Access]) {
        let Some(last) = accesses.last() else { return };
        self.last_addr = last.addr;
        let predictors = &mut self.predictors[shape.start as usize..][..usize::from(shape.len)];
        let column = &mut self.columns[3];
        for access in accesses {
            let predictor = &mut predictors[usize::from(access.index)];
            put_varint(column, zigzag(access.addr.wrapping_sub(predictor.next())));
            predictor.update(access.addr);
        }
    }

    /// Appends addresses, some of which may be the first of their instruction in the chunk. Those
    /// are stored relative to the previous address.
    fn addresses_with_first(&mut self, shape: BlockShape, accesses: &[Access]) {
        for access in accesses {
            let predictor = &mut self.predictors[shape.start as usize + usize::from(access.index)];
            let expected =
                if predictor.chunk == self.chunk { predictor.next() } else { self.last_addr };
            put_varint(&mut self.columns[3], zigzag(access.addr.wrapping_sub(expected)));
            if predictor.chunk == self.chunk {
                predictor.update(access.addr);
            } else {
                *predictor = AddrPredictor::first(access.addr, self.chunk);
            }
            self.last_addr = access.addr;
        }
    }
}
