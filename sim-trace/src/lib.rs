//! Recorded instruction streams on disk.
//!
//! The file format (`.n2t`) is described byte by byte in `docs/trace-format.md`. In reading order:
//!
//! * [`TraceWriter`]: takes code pages, block definitions and block executions, and writes a trace;
//! * [`TraceFile`]: an open trace: [`Meta`], [`StaticTable`], [`CodeImage`], [`StreamInfo`];
//! * [`StreamReader`]: batches of [`sim_core::TraceInst`] and the [`StreamEvent`]s between them;
//! * [`PageMap`]: physical pages and attributes, if the trace has them;
//! * [`verify`], [`info`], [`dump`], [`repack`], [`slice()`], [`merge`]: check, describe, print and
//!   rewrite traces;
//! * [`TraceError`]: faults with file, chunk, offset and remedy;
//! * [`StatesWriter`], [`StatesReader`]: warm states of a machine at positions of a trace;
//! * [`foreign`]: traces of other tools, read directly or imported.
//!
//! An instruction in a trace is a number, [`sim_core::InstId`], into the [`StaticTable`] of
//! addresses and words, so that a replay decodes each word once. Of words this
//! crate uses only control flow, the kinds of memory accesses, and store-exclusives (`sim-isa`).
//!
//! ```
//! use sim_trace::{Access, Meta, TraceFile, TraceWriter, WriterOptions};
//! use std::io::Cursor;
//!
//! // ldr x1, [x2]; ret, executed twice.
//! let sink = Cursor::new(Vec::new());
//! let path = "example.n2t".as_ref();
//! let mut writer = TraceWriter::new(sink, path, Meta::default(), WriterOptions::default())?;
//! let block = writer.define_block(0x40_0000, &[0xf940_0041, 0xd65f_03c0])?;
//! for addr in [0x8000, 0x8008] {
//!     writer.push_block(0, block, 2, &[Access { index: 0, addr }], None)?;
//! }
//! let (summary, bytes) = writer.finish_into()?;
//! assert_eq!(summary.instructions, 4);
//!
//! let file = TraceFile::from_reader(bytes, path)?;
//! let mut reader = file.reader(0)?;
//! let mut batch = Vec::new();
//! while reader.next_batch(&mut batch)? {
//!     let second_load = batch[2];
//!     assert_eq!(second_load.addr, 0x8008);
//!     assert_eq!(file.statics().insts()[second_load.id as usize].pc, 0x40_0000);
//! }
//! # Ok::<(), sim_trace::TraceError>(())
//! ```
//!
//! Limits: A64 only; further data addresses only for gathers and scatters; no values of general
//! registers; one page map for the whole trace ([`PageMap`]), whatever address space runs.

// A target without files reads traces in memory and writes none.
#![cfg_attr(not(unix), allow(dead_code, unused_imports))]

mod block;
mod column;
mod error;
mod event;
mod file;
#[cfg(unix)]
pub mod foreign;
mod frame;
mod image;
mod index;
mod layout;
mod limits;
mod load;
mod meta;
mod missing_data;
#[cfg(unix)]
mod open;
mod page_map;
mod page_text;
mod predict;
mod read_ahead;
mod reader;
#[cfg(unix)]
mod repack;
#[cfg(unix)]
mod rewrite;
mod scan;
mod source;
mod states;
mod statics;
mod text;
mod varint;
#[cfg(unix)]
mod verify;
#[cfg(unix)]
mod writer;

pub use block::{Access, BlockId};
pub use error::{Place, TraceError};
pub use event::{EventAt, Further, StreamEvent};
pub use file::{StreamInfo, TraceFile};
pub use image::CodeImage;
pub use index::IndexEntry;
pub use layout::{ChunkHeader, ChunkKind};
pub use meta::{MachineInfo, MappedFile, Meta, OPERANDS, Symbol};
pub use missing_data::MissingData;
pub use page_map::{BadPageMap, PageEntry, PageMap, PageMemory};
pub use page_text::PageTextError;
pub use read_ahead::ReadAhead;
pub use reader::{BlockVisitor, Call, OrderNote, StreamReader, Ticket, TicketReader};
#[cfg(unix)]
pub use repack::{repack, repack_with_map};
#[cfg(unix)]
pub use rewrite::{Join, Slice, merge, slice};
#[cfg(unix)]
pub use states::StatesWriter;
pub use states::{MOST_WORDS, StatePlace, StatesError, StatesHeader, StatesReader};
pub use statics::{CodeWord, StaticTable};
pub use text::{Info, dump, info};
#[cfg(unix)]
pub use verify::{Report, verify, verify_file};
#[cfg(unix)]
pub use writer::{Summary, TraceWriter, WriterOptions};
