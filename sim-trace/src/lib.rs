//! Recorded instruction streams on disk.

mod column;
mod error;
mod event;
mod flow;
mod image;
mod index;
mod layout;
mod meta;
mod predict;
pub mod scenario;
mod varint;
mod writer;

pub use error::{Place, TraceError};
pub use event::StreamEvent;
pub use image::CodeImage;
pub use index::IndexEntry;
pub use layout::{ChunkHeader, ChunkKind};
pub use meta::{MachineInfo, Meta, Symbol};
pub use writer::{Access, BlockId, Summary, TraceWriter, WriterOptions};
