//! Errors of trace files, with place and remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sim_core::OverBudget;

use crate::page_map::BadPageMap;
use sim_core::Shown;

/// Place of a fault in a trace file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path of the file.
    pub path: PathBuf,
    /// Number of the chunk in file order, from 0.
    pub chunk: u32,
    /// Byte offset of the header of the chunk in the file.
    pub offset: u64,
    /// Number of instructions of all streams in the intact chunks before it.
    pub good_instructions: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: chunk {} at byte {}", self.path.shown(), self.chunk, self.offset)
    }
}

/// Error of writing or reading a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file does not exist.
    #[error("{}: no such trace; record one with `n2sim capture -o {} -- PROGRAM`", .0.shown(), .0.shown())]
    NotFound(PathBuf),
    /// The path names a directory, a device or a pipe.
    #[error("{}: this is {found}, and a trace is read in many places at once; pass a file", path.shown())]
    NotAFile {
        /// Path that was passed.
        path: PathBuf,
        /// Kind of the path.
        found: &'static str,
    },
    /// The trace cannot have this name.
    #[error("{}: {what}; choose another name for the trace", path.shown())]
    Destination {
        /// Path of the destination.
        path: PathBuf,
        /// Reason.
        what: String,
    },
    /// The file is empty.
    #[error("{}: the file is empty; the recording probably never started: record it again", .0.shown())]
    Empty(PathBuf),
    /// The file has another format.
    #[error("{}: not an n2sim trace: it begins with {found}, a trace begins with the bytes 89 4e 32 54 (\".N2T\"); {remedy}", path.shown())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Kind of the first bytes.
        found: &'static str,
        /// Remedy for such a file.
        remedy: &'static str,
    },
    /// A trace of another tool is damaged, or not of A64 code.
    #[error("{}: {format}: {place}: {what}; {}", path.shown(), kept(*instructions))]
    Import {
        /// Path of the file.
        path: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// Line or byte of the unpacked trace.
        place: String,
        /// Description of the fault.
        what: String,
        /// Number of instructions before the fault.
        instructions: u64,
    },
    /// A trace of another tool has no instruction words.
    #[error("{}: {what}; pass the program that ran with \
             `n2sim trace import --elf PROGRAM {} -o FILE.n2t`", path.shown(), path.shown())]
    NeedsProgram {
        /// Path of the trace.
        path: PathBuf,
        /// Description of the trace.
        what: String,
    },
    /// A program file cannot belong to a trace.
    #[error("{}: not a program of a trace: {what}", path.shown())]
    Program {
        /// Path of the file.
        path: PathBuf,
        /// Description of the fault.
        what: String,
    },
    /// The format has another major version.
    #[error("{}: trace format {found}, this program reads format {supported}; use the n2sim version that wrote it, or record again", path.shown())]
    Version {
        /// Path of the file.
        path: PathBuf,
        /// Major version in the file.
        found: u16,
        /// Major version of this reader.
        supported: u16,
    },
    /// The 64-byte file header is truncated or has impossible values.
    #[error("{}: file header: {what}; copy or record the file again", path.shown())]
    FileHeader {
        /// Path of the file.
        path: PathBuf,
        /// Description of the fault.
        what: &'static str,
    },
    /// The file ends before its END chunk.
    #[error("{place}: the file ends inside or before this chunk ({what}); {} instructions before it are good: \
             copy the file again, or keep them with `n2sim trace recover`", place.good_instructions)]
    Truncated {
        /// End of the file.
        place: Place,
        /// Missing part.
        what: &'static str,
    },
    /// Bytes have changed since they were written.
    #[error("{place}: {part} checksum does not match; {} instructions before it are good: \
             copy the file again, or keep them with `n2sim trace recover`", place.good_instructions)]
    Checksum {
        /// Damaged chunk.
        place: Place,
        /// "header" or "payload".
        part: &'static str,
    },
    /// A length or count exceeds the limits of the format or of the file.
    #[error(
        "{place}: {what} is {value}, the limit is {limit}; the file is damaged or hostile: do not use it"
    )]
    TooLarge {
        /// Chunk with the value.
        place: Place,
        /// Name of the length or count.
        what: &'static str,
        /// Value in the file.
        value: u64,
        /// Largest accepted value.
        limit: u64,
    },
    /// The replay exceeds its memory budget.
    #[error("{}: {problem}", path.shown())]
    Memory {
        /// Path of the file.
        path: PathBuf,
        /// Needed memory and limit.
        problem: OverBudget,
    },
    /// The file contradicts itself.
    #[error("{place}: {what}; {} instructions before it are good: report it with the producer's version \
             (`n2sim trace info`), or record again", place.good_instructions)]
    Inconsistent {
        /// Chunk with the contradiction.
        place: Place,
        /// Description of the contradiction.
        what: &'static str,
    },
    /// The META text cannot be parsed.
    #[error("{place}: META: {source}; report it with the producer's version, or record again")]
    Meta {
        /// META chunk.
        place: Place,
        /// Error of the JSON reader.
        source: serde_json::Error,
    },
    /// The page map is impossible.
    #[error("{place}: page map: {source}; record again, or fix the program that wrote the map")]
    PageMap {
        /// MAP chunk.
        place: Place,
        /// Fault of the map.
        source: BadPageMap,
    },
    /// The file does not have the requested stream or chunk.
    #[error("{}: there is no {what}; `n2sim trace info` lists what the file has", path.shown())]
    Absent {
        /// Path of the file.
        path: PathBuf,
        /// Requested stream or chunk.
        what: String,
    },
    /// The requested part of a trace is empty.
    #[error("the trace has no {what}; `n2sim trace info` lists what it has")]
    Nothing {
        /// Requested part.
        what: String,
    },
    /// A trace cannot be merged with the others.
    #[error("{}: it does not fit the first trace: {what}", path.shown())]
    Misfit {
        /// Path of the file.
        path: PathBuf,
        /// Difference.
        what: &'static str,
    },
    /// The caller of the writer passed data that a trace cannot represent.
    #[error("trace writer: {0}")]
    Rejected(&'static str),
    /// A system call failed.
    #[error("{}: {doing}: {source}{}", path.shown(), remedy(source))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Description of the operation.
        doing: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl TraceError {
    /// Wraps a failed system call.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> TraceError {
        let path = path.to_path_buf();
        move |source| TraceError::Io { path, doing, source }
    }

    /// Wraps the error of a file whose use exceeds the memory budget.
    pub(crate) fn memory(path: &Path, problem: OverBudget) -> TraceError {
        TraceError::Memory { path: path.to_path_buf(), problem }
    }

    /// Returns the place of the fault, if it has a place in the file.
    pub fn place(&self) -> Option<&Place> {
        match self {
            TraceError::Truncated { place, .. }
            | TraceError::Checksum { place, .. }
            | TraceError::TooLarge { place, .. }
            | TraceError::Inconsistent { place, .. }
            | TraceError::PageMap { place, .. }
            | TraceError::Meta { place, .. } => Some(place),
            _ => None,
        }
    }

    /// Returns the number of usable instructions before the fault, if it has a place in the file.
    pub fn good_instructions(&self) -> Option<u64> {
        self.place().map(|place| place.good_instructions)
    }

    /// Returns the number of the chunk with the fault.
    pub(crate) fn chunk(&self) -> Option<u32> {
        self.place().map(|place| place.chunk)
    }
}

/// Returns the remedy for an error of the operating system, unless the error contains one.
fn remedy(source: &io::Error) -> &'static str {
    match has_remedy(source) {
        true => "",
        false => "; check space and permissions",
    }
}

/// Returns true for the error of an unfinished file that was kept.
#[cfg(unix)]
fn has_remedy(source: &io::Error) -> bool {
    source.get_ref().is_some_and(|reason| reason.is::<sim_files::Kept>())
}

/// Returns false: nothing is written.
#[cfg(not(unix))]
fn has_remedy(_source: &io::Error) -> bool {
    false
}

/// Returns the remedy for a damaged foreign trace, which keeps its intact part.
fn kept(instructions: u64) -> String {
    match instructions {
        0 => "no instruction before it is good".into(),
        n => format!(
            "{n} instructions before it are good: keep them with `n2sim trace import --limit {n}`"
        ),
    }
}

/// Remedy for a compressed file.
const PACKED: &str = "only `n2sim trace import` and commands that run a trace unpack it";

/// Remedy for an unknown format.
const OTHER_FORMAT: &str = "n2sim does not recognize a trace of another tool in it either \
     (docs/foreign-traces.md); name its format with `n2sim trace import --from`, or record the program \
     with `n2sim capture`";

/// Returns the kind of the first bytes of a file that is not a trace, and the remedy.
pub(crate) fn recognize(head: &[u8]) -> (&'static str, &'static str) {
    const KNOWN: &[(&[u8], &str, &str)] = &[
        (b"\x7fELF", "an ELF header", "record it with `n2sim capture -- PROGRAM`"),
        (b"\x1f\x8b", "a gzip header", PACKED),
        (b"\x28\xb5\x2f\xfd", "a zstd frame", PACKED),
        (b"\xfd7zXZ\0", "an xz header", PACKED),
        (b"PK\x03\x04", "a zip header", PACKED),
        (
            b"PERFILE2",
            "a perf.data header",
            "a perf recording has no instruction stream; record the program with `n2sim capture`",
        ),
        (b"2ELIFREP", "a byte-swapped perf.data header", "record the program with `n2sim capture`"),
        (b"N2CK", "a chunk of a trace whose first 64 bytes are missing", "copy the file again"),
        (
            b"\x89N2T",
            "a trace signature changed by a text-mode transfer",
            "copy the file in binary mode",
        ),
        (b"\0\0\0\0", "zeros", "the copy or the recording is incomplete: make it again"),
    ];
    for &(magic, found, remedy) in KNOWN {
        if head.starts_with(magic) {
            return (found, remedy);
        }
    }
    if !head.is_empty() && head.iter().all(|&b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
        return ("text", OTHER_FORMAT);
    }
    ("unknown bytes", OTHER_FORMAT)
}
