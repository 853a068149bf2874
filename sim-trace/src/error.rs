//! What can be wrong with a trace file, always with the place and a remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sim_core::OverBudget;

use crate::page_map::BadPageMap;
use sim_core::Shown;

/// Where in a trace file something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Number of the chunk in file order, from 0.
    pub chunk: u32,
    /// Byte offset of the chunk's header in the file.
    pub offset: u64,
    /// Instructions, over all streams, in the intact chunks before it.
    pub good_instructions: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: chunk {} at byte {}", self.path.shown(), self.chunk, self.offset)
    }
}

/// Why a trace cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file is not there.
    #[error("{}: no such trace; record one with `n2sim capture -o {} -- PROGRAM`", .0.shown(), .0.shown())]
    NotFound(PathBuf),
    /// A folder, a device or a pipe.
    #[error("{}: this is {found}, and a trace is read in many places at once; give a file", path.shown())]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A trace cannot get the name that it was to have.
    #[error("{}: {what}; give another name for the trace", path.shown())]
    Destination {
        /// The name.
        path: PathBuf,
        /// What forbids it.
        what: String,
    },
    /// The file has no bytes.
    #[error("{}: the file is empty; the recording probably never started: record it again", .0.shown())]
    Empty(PathBuf),
    /// The file is something else.
    #[error("{}: not an n2sim trace: it begins with {found}, a trace begins with the bytes 89 4e 32 54 (\".N2T\"); {remedy}", path.shown())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What the first bytes look like.
        found: &'static str,
        /// What to do with such a file.
        remedy: &'static str,
    },
    /// A trace of another tool is damaged, or of no A64 code.
    #[error("{}: {format}: {place}: {what}; {}", path.shown(), kept(*instructions))]
    Import {
        /// The file.
        path: PathBuf,
        /// What it was read as.
        format: &'static str,
        /// Line or byte, once it is unpacked.
        place: String,
        /// What is wrong.
        what: String,
        /// Instructions before it.
        instructions: u64,
    },
    /// A trace of another tool has no instruction words.
    #[error("{}: {what}: give the program that ran with \
             `n2sim trace import --elf PROGRAM {} -o FILE.n2t`", path.shown(), path.shown())]
    NeedsProgram {
        /// The trace.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// A program's file is none that could have run.
    #[error("{}: no program for a trace: {what}", path.shown())]
    Program {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A later format.
    #[error("{}: trace format {found}, this program reads format {supported}; use the n2sim version that wrote it, or record again", path.shown())]
    Version {
        /// The file.
        path: PathBuf,
        /// Major version in the file.
        found: u16,
        /// Major version of this reader.
        supported: u16,
    },
    /// The 64-byte file header is cut or its values cannot be.
    #[error("{}: file header: {what}; copy or record the file again", path.shown())]
    FileHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// The file ends before its END chunk.
    #[error("{place}: the file ends inside or before this chunk ({what}); {} instructions before it are good: \
             copy the file again, or keep them with `n2sim trace recover`", place.good_instructions)]
    Truncated {
        /// Where the file ends.
        place: Place,
        /// What is missing.
        what: &'static str,
    },
    /// Bytes changed since they were written.
    #[error("{place}: {part} checksum does not match; {} instructions before it are good: \
             copy the file again, or keep them with `n2sim trace recover`", place.good_instructions)]
    Checksum {
        /// The damaged chunk.
        place: Place,
        /// "header" or "payload".
        part: &'static str,
    },
    /// A length or a count is beyond what the format allows or the file can hold.
    #[error(
        "{place}: {what} is {value}, the limit is {limit}; the file is damaged or hostile: do not use it"
    )]
    TooLarge {
        /// The chunk.
        place: Place,
        /// Which length.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value accepted.
        limit: u64,
    },
    /// The replay needs more memory than it may take.
    #[error("{}: {problem}", path.shown())]
    Memory {
        /// The file.
        path: PathBuf,
        /// What is needed, and what may be taken.
        problem: OverBudget,
    },
    /// Two statements of the file contradict each other.
    #[error("{place}: {what}; {} instructions before it are good: report it with the producer's version \
             (`n2sim trace info`), or record again", place.good_instructions)]
    Inconsistent {
        /// The chunk.
        place: Place,
        /// The contradiction.
        what: &'static str,
    },
    /// The META text cannot be understood.
    #[error("{place}: META: {source}; report it with the producer's version, or record again")]
    Meta {
        /// The META chunk.
        place: Place,
        /// What the JSON reader says.
        source: serde_json::Error,
    },
    /// The page map is none.
    #[error(
        "{place}: page map: {source}; record again, or have the program that wrote the map mend it"
    )]
    PageMap {
        /// The MAP chunk.
        place: Place,
        /// What no tables can say.
        source: BadPageMap,
    },
    /// A stream or chunk that the file does not have was asked for.
    #[error("{}: there is no {what}; `n2sim trace info` lists what the file has", path.shown())]
    Absent {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        what: String,
    },
    /// Nothing is in the part of a trace that was asked for.
    #[error("the trace has no {what}; `n2sim trace info` lists what it has")]
    Nothing {
        /// What was asked for.
        what: String,
    },
    /// A trace cannot be merged with the others.
    #[error("{}: it does not fit the first trace: {what}", path.shown())]
    Misfit {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// The caller of the writer gave something that a trace cannot hold.
    #[error("trace writer: {0}")]
    Rejected(&'static str),
    /// The operating system refused.
    #[error("{}: {doing}: {source}{}", path.shown(), remedy(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl TraceError {
    /// Wraps a failed system call.
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> TraceError {
        let path = path.to_path_buf();
        move |source| TraceError::Io { path, doing, source }
    }

    /// Names the file whose use takes too much memory.
    pub(crate) fn memory(path: &Path, problem: OverBudget) -> TraceError {
        TraceError::Memory { path: path.to_path_buf(), problem }
    }

    /// Where the fault is, if it is at a place in the file.
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

    /// Instructions before the fault that can be used, if the fault is at a place in the file.
    pub fn good_instructions(&self) -> Option<u64> {
        self.place().map(|place| place.good_instructions)
    }

    /// Number of the chunk with the fault.
    pub(crate) fn chunk(&self) -> Option<u32> {
        self.place().map(|place| place.chunk)
    }
}

/// The remedy for what the operating system refused, unless its reason names one.
fn remedy(source: &io::Error) -> &'static str {
    match source.get_ref().is_some_and(|reason| reason.is::<sim_files::Kept>()) {
        true => "",
        false => "; check space and permissions",
    }
}

/// What can be done with the good part of a foreign trace.
fn kept(instructions: u64) -> String {
    match instructions {
        0 => "no instruction before it is good".into(),
        n => format!(
            "{n} instructions before it are good: keep them with `n2sim trace import --limit {n}`"
        ),
    }
}

/// The remedy for what is packed.
const PACKED: &str = "only `n2sim trace import` and commands that run a trace unpack it";

/// The remedy for what is no trace.
const OTHER_FORMAT: &str = "it is no trace of another tool that n2sim knows either \
     (docs/foreign-traces.md): name its format with `n2sim trace import --from`, or record the program \
     with `n2sim capture`";

/// What the first bytes of a file that is not a trace look like, and what to do with it.
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
            "a perf recording has no instruction stream: record the program with `n2sim capture`",
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
