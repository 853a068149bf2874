//! Data of an open trace file that all its readers share.

use sim_core::{MemoryBudget, Reserved};

use crate::image::CodeImage;
use crate::meta::Meta;
use crate::page_map::PageMap;
use crate::source::{ChunkList, Source};
use crate::statics::StaticTable;

/// Summary of the stream of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamInfo {
    /// Number of the stream in the file.
    pub stream: u32,
    /// Number of executed instructions.
    pub instructions: u64,
    /// Number of block executions.
    pub blocks: u64,
    /// Number of data addresses.
    pub accesses: u64,
    /// Number of side events.
    pub events: u64,
    /// Numbers of the chunks of the stream in the file, in order.
    pub chunks: Vec<u32>,
}

/// Data that all readers of a file share.
pub(crate) struct Shared<R> {
    pub(crate) source: Source<R>,
    pub(crate) chunks: ChunkList,
    pub(crate) statics: StaticTable,
    pub(super) minor: u16,
    pub(super) meta: Meta,
    pub(super) page_map: Option<PageMap>,
    pub(super) image: CodeImage,
    pub(super) streams: Vec<StreamInfo>,
    pub(super) hash: u64,
    pub(super) index_rebuilt: bool,
    pub(crate) budget: MemoryBudget,
    /// Memory reserved for image and static table.
    pub(super) _code: Reserved,
}
