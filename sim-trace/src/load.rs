//! Loading of the static part of a trace: META text, page map, code pages, block definitions.

use std::io::{Read, Seek};

use sim_core::{MemoryBudget, OverBudget, Reserved};

use crate::column::Columns;
use crate::error::TraceError;
use crate::image::CodeImage;
use crate::index::IndexEntry;
use crate::layout::{ChunkHeader, ChunkKind, MAX_BLOCK_INSTS, MAX_META_BYTES, u32_at};
use crate::limits::{
    CODE, CodeMemory, TooLarge, blocks_columns, image_columns, map_columns, places,
};
use crate::meta::{MachineInfo, Meta};
use crate::page_map::PageMap;
use crate::source::{At, ChunkList, Source};
use crate::statics::{StaticTable, StaticTableBuilder};
use crate::varint::{Bytes, unzigzag};

/// Code pages and blocks.
pub(crate) struct Code {
    pub(crate) image: CodeImage,
    pub(crate) statics: StaticTable,
    /// Memory reserved for both.
    pub(crate) reserved: Reserved,
}

/// Loads the last META chunk. Returns empty metadata if an unfinished file has none.
pub(crate) fn load_meta<R: Read + Seek>(
    source: &Source<R>,
    chunks: &ChunkList,
    machine: MachineInfo,
) -> Result<Meta, TraceError> {
    let last = chunks.entries.iter().rposition(|e| e.header.kind == ChunkKind::Meta);
    let Some(k) = last else {
        return Ok(Meta { machine, ..Meta::default() });
    };
    let place = || chunks.place(source.path(), k);
    let mut columns = new_columns::<1>(source.path())?;
    let entry = &chunks.entries[k];
    check_columns::<1>(&entry.header).at(place)?;
    let mut buffer = Vec::new();
    let payload = source.chunk(entry, place, &mut buffer)?;
    columns.unpack(payload, entry.header.codec, [MAX_META_BYTES]).at(place)?;
    let meta: Meta = serde_json::from_slice(columns.column(0))
        .map_err(|source| TraceError::Meta { place: place(), source })?;
    Ok(Meta { machine, ..meta })
}

/// Loads the page map, if the file has one.
pub(crate) fn load_page_map<R: Read + Seek>(
    source: &Source<R>,
    chunks: &ChunkList,
) -> Result<Option<PageMap>, TraceError> {
    let is_map = |e: &&IndexEntry| e.header.kind == ChunkKind::Map;
    let Some(k) = chunks.entries.iter().position(|e| is_map(&e)) else { return Ok(None) };
    let place = || chunks.place(source.path(), k);
    if chunks.entries.iter().filter(is_map).count() > 1 {
        return Err("the file has more than one page map").at(place);
    }
    let entry @ IndexEntry { header, .. } = &chunks.entries[k];
    check_columns::<1>(header).at(place)?;
    let limits = map_columns(header).at(place)?;
    let (mut columns, mut buffer) = (new_columns::<1>(source.path())?, Vec::new());
    let payload = source.chunk(entry, place, &mut buffer)?;
    columns.unpack(payload, header.codec, limits).at(place)?;
    let map = PageMap::decode(columns.column(0), header.blocks);
    map.map(Some).map_err(|source| TraceError::PageMap { place: place(), source })
}

/// Loads pages and blocks in file order. A block takes its words from the pages before it.
///
/// # Errors
/// A chunk is damaged, or the code exceeds `budget`.
pub(crate) fn load_code<R: Read + Seek>(
    source: &Source<R>,
    chunks: &ChunkList,
    page_bytes: u32,
    budget: &MemoryBudget,
) -> Result<Code, TraceError> {
    let over = |problem| TraceError::memory(source.path(), problem);
    let mut loader = CodeLoader {
        image: CodeImage::new(page_bytes),
        blocks: StaticTableBuilder::new(),
        memory: CodeMemory::new(budget).map_err(over)?,
        columns: new_columns::<2>(source.path())?,
    };
    let mut buffer = Vec::new();
    for (k, entry @ IndexEntry { header, .. }) in chunks.entries.iter().enumerate() {
        let place = || chunks.place(source.path(), k);
        let limits = match header.kind {
            ChunkKind::Image => image_columns(header, page_bytes).at(place)?,
            ChunkKind::Blocks => blocks_columns(header).at(place)?,
            _ => continue,
        };
        check_columns::<2>(header).at(place)?;
        let payload = source.chunk(entry, place, &mut buffer)?;
        let unpacked = loader.columns.raw_bytes(payload);
        let _unpacked = budget.reserve(unpacked, CODE).map_err(over)?;
        loader.columns.unpack(payload, header.codec, limits).at(place)?;
        let loaded = if header.kind == ChunkKind::Image {
            loader.pages(header)
        } else {
            loader.blocks(header)
        };
        match loaded {
            Err(Stop::Fault(what)) => return Err(what).at(place),
            Err(Stop::TooLarge(what)) => return Err(what).at(place),
            Err(Stop::Memory(problem)) => return Err(over(problem)),
            Ok(()) => {}
        }
    }
    let reserved = loader.memory.finish();
    Ok(Code { image: loader.image, statics: loader.blocks.finish(), reserved })
}

/// Reason why code cannot be loaded.
enum Stop {
    Fault(&'static str),
    TooLarge(TooLarge),
    Memory(OverBudget),
}

impl From<&'static str> for Stop {
    fn from(what: &'static str) -> Stop {
        Stop::Fault(what)
    }
}

impl From<TooLarge> for Stop {
    fn from(what: TooLarge) -> Stop {
        Stop::TooLarge(what)
    }
}

impl From<OverBudget> for Stop {
    fn from(problem: OverBudget) -> Stop {
        Stop::Memory(problem)
    }
}

/// Creates columns for one kind of chunk.
pub(crate) fn new_columns<const N: usize>(
    path: &std::path::Path,
) -> Result<Columns<N>, TraceError> {
    Columns::new().map_err(TraceError::io(path, "starting zstd"))
}

/// Refuses a chunk with the wrong number of columns for its kind.
pub(crate) fn check_columns<const N: usize>(header: &ChunkHeader) -> Result<(), &'static str> {
    if usize::from(header.columns) == N {
        Ok(())
    } else {
        Err("the number of columns is wrong for this kind of chunk")
    }
}

struct CodeLoader {
    image: CodeImage,
    blocks: StaticTableBuilder,
    memory: CodeMemory,
    columns: Columns<2>,
}

impl CodeLoader {
    /// Adds the pages of an unpacked IMAGE chunk.
    fn pages(&mut self, header: &ChunkHeader) -> Result<(), Stop> {
        let page_bytes = self.image.page_bytes();
        let mut places = Bytes::new(self.columns.column(0));
        let mut bytes = Bytes::new(self.columns.column(1));
        let mut expected = 0u64;
        for _ in 0..header.blocks {
            let distance = places.varint().ok_or("the page addresses end early")?;
            let number = expected.wrapping_add(unzigzag(distance));
            let va = number.checked_mul(page_bytes.into()).ok_or("a page address overflows")?;
            let page = bytes.take(page_bytes as usize).ok_or("the page bytes end early")?;
            self.memory.page(page_bytes, self.image.page(va).is_some())?;
            self.image.insert(va, page);
            expected = number.wrapping_add(1);
        }
        if places.is_empty() && bytes.is_empty() {
            Ok(())
        } else {
            Err("more pages than counted".into())
        }
    }

    /// Adds the blocks of an unpacked BLOCKS chunk.
    fn blocks(&mut self, header: &ChunkHeader) -> Result<(), Stop> {
        if header.first != self.blocks.next_block() {
            return Err("block numbers do not continue those of the previous chunk".into());
        }
        let mut heads = Bytes::new(self.columns.column(0));
        let mut inline = Bytes::new(self.columns.column(1));
        let mut left = header.instructions as usize;
        let mut expected = 0u64;
        for _ in 0..header.blocks {
            let distance = heads.varint().ok_or("the block heads end early")?;
            let pc = expected.wrapping_add(unzigzag(distance).wrapping_mul(4));
            let shape = heads.varint().ok_or("the block heads end early")?;
            let len = usize::try_from(shape >> 1).unwrap_or(usize::MAX);
            if !(1..=MAX_BLOCK_INSTS.min(left)).contains(&len) {
                return Err("a block is empty, too long or beyond the instruction count".into());
            }
            left -= len;
            places(self.blocks.places(), len as u64)?;
            self.memory.block(len)?;
            let before = self.blocks.distinct();
            expected = pc.checked_add(4 * len as u64).ok_or("a block wraps around")?;
            for pc in (pc..expected).step_by(4) {
                let word = if shape & 1 == 1 {
                    inline.take(4).map(|bytes| u32_at(bytes, 0))
                } else {
                    self.image.word_at(pc)
                };
                let word = word.ok_or("a block's words are neither here nor in the image")?;
                self.blocks.inst(pc, word);
            }
            self.blocks.end_block();
            self.memory.known(len - (self.blocks.distinct() - before));
        }
        let all = left == 0 && heads.is_empty() && inline.is_empty();
        if all { Ok(()) } else { Err("more blocks than counted".into()) }
    }
}
