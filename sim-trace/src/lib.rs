//! Recorded instruction streams on disk.

mod column;
mod error;
mod event;
mod file;
mod flow;
mod image;
mod index;
mod layout;
mod limits;
mod load;
mod meta;
mod predict;
mod reader;
mod repack;
mod scan;
pub mod scenario;
mod source;
mod statics;
mod text;
mod varint;
mod verify;
mod writer;

pub use error::{Place, TraceError};
pub use event::StreamEvent;
pub use file::{StreamInfo, TraceFile};
pub use image::CodeImage;
pub use index::IndexEntry;
pub use layout::{ChunkHeader, ChunkKind};
pub use meta::{MachineInfo, Meta, Symbol};
pub use reader::{EventAt, StreamReader};
pub use repack::repack;
pub use statics::{CodeWord, StaticTable};
pub use text::{Info, dump, info};
pub use verify::{Report, verify, verify_file};
pub use writer::{Access, BlockId, Summary, TraceWriter, WriterOptions};
