//! ELF file of a traced program: check against the trace, load address, names.

use std::io::{Read, Seek};

use object::elf::{EM_AARCH64, ET_DYN, PF_X, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind};
use sim_trace::TraceFile;
use thiserror::Error;

use super::lines::Lines;
use super::{Function, demangled};

/// Alignment of mappings, in bytes.
const PAGE_BYTES: u64 = 4096;

/// Error in an ELF file that should name the code of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SymbolError {
    /// File that is not an ELF file, or an ELF file for another machine.
    #[error("{file} is not a 64-bit ELF program for AArch64: {reason}")]
    NotAProgram {
        /// File name.
        file: String,
        /// Type of the file, or its fault.
        reason: String,
    },
    /// File with other code than the trace recorded.
    #[error(
        "{file} is not the program of the trace: at {pc:#x} it has the word {word:08x}, the trace \
         {traced:08x}; pass the recorded ELF file"
    )]
    AnotherProgram {
        /// File name.
        file: String,
        /// First address that differs, as executed.
        pc: u64,
        /// Word of the file at this address.
        word: u32,
        /// Word of the trace at this address.
        traced: u32,
    },
    /// File whose code the trace did not execute.
    #[error("{file} contains none of the code the trace executed; pass the recorded ELF file")]
    Elsewhere {
        /// File name.
        file: String,
    },
}

/// Part of a file as mapped during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First address, a multiple of the page size.
    pub start: u64,
    /// Length in bytes, a multiple of the page size.
    pub bytes: u64,
    /// Offset in the file, a multiple of the page size.
    pub offset: u64,
    /// Whether it holds code.
    pub is_code: bool,
}

/// ELF file with its load offset.
#[derive(Clone, Debug)]
pub struct ProgramFile {
    file: String,
    bytes: Vec<u8>,
    bias: u64,
    segments: Vec<Segment>,
}

impl ProgramFile {
    /// Opens the program of `trace`, or one of its libraries. `file` is its name, for messages.
    ///
    /// # Errors
    /// Fails if it is not an ELF file for AArch64, or if the trace executed other code.
    pub fn new<R: Read + Seek>(
        file: &str,
        bytes: Vec<u8>,
        trace: &TraceFile<R>,
    ) -> Result<ProgramFile, SymbolError> {
        let refuse = |reason: &str| SymbolError::NotAProgram {
            file: file.to_owned(),
            reason: reason.to_owned(),
        };
        let elf = ElfFile64::<Endianness>::parse(&*bytes).map_err(|e| refuse(&e.to_string()))?;
        let endian = elf.endian();
        if elf.elf_header().e_machine(endian) != EM_AARCH64 {
            return Err(refuse("it is for another machine"));
        }
        let is_relocatable = elf.elf_header().e_type(endian) == ET_DYN;
        let bias = if is_relocatable { bias(&elf, trace).unwrap_or(0) } else { 0 };
        let loads = elf.elf_program_headers().iter().filter(|h| h.p_type(endian) == PT_LOAD);
        let mut segments = Vec::new();
        let mut compared = 0usize;
        for header in loads {
            let (vaddr, offset) = (header.p_vaddr(endian), header.p_offset(endian));
            let is_code = header.p_flags(endian).contains(PF_X);
            let start = vaddr.wrapping_add(bias);
            let data = header.data(endian, &*bytes).map_err(|()| refuse("a segment is cut"))?;
            if is_code {
                compared += compare(file, start, data, trace)?;
            }
            segments.push(rounded(start, header.p_memsz(endian), offset, is_code));
        }
        if compared == 0 {
            return Err(SymbolError::Elsewhere { file: file.to_owned() });
        }
        Ok(ProgramFile { file: file.to_owned(), segments, bias, bytes })
    }

    /// Opens a file of which a part was mapped: the byte at `offset` was at address `start`.
    ///
    /// # Errors
    /// Fails if it is not an ELF file for AArch64, or has no segment at that offset.
    pub fn mapped(
        file: &str,
        bytes: Vec<u8>,
        start: u64,
        offset: u64,
    ) -> Result<ProgramFile, SymbolError> {
        let refuse = |reason: &str| SymbolError::NotAProgram {
            file: file.to_owned(),
            reason: reason.to_owned(),
        };
        let elf = ElfFile64::<Endianness>::parse(&*bytes).map_err(|e| refuse(&e.to_string()))?;
        let endian = elf.endian();
        if elf.elf_header().e_machine(endian) != EM_AARCH64 {
            return Err(refuse("it is for another machine"));
        }
        let bias = elf.elf_program_headers().iter().find_map(|header| {
            let (begin, bytes) = (header.p_offset(endian), header.p_filesz(endian));
            // The system maps whole pages.
            let page = begin - begin % PAGE_BYTES;
            let is_loaded = header.p_type(endian) == PT_LOAD;
            let is_it = is_loaded && page <= offset && offset < begin.saturating_add(bytes);
            let address = header.p_vaddr(endian).wrapping_add(offset.wrapping_sub(begin));
            is_it.then(|| start.wrapping_sub(address))
        });
        let bias = bias.ok_or_else(|| refuse("it has no segment at the mapped offset"))?;
        Ok(ProgramFile { file: file.to_owned(), segments: Vec::new(), bias, bytes })
    }

    /// Returns the file name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the mapped parts.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the functions, at their executed addresses.
    pub(crate) fn functions(&self) -> Result<Vec<Function>, SymbolError> {
        self.named(SymbolKind::Text)
    }

    /// Returns the variables, at their addresses in the run.
    pub(crate) fn variables(&self) -> Result<Vec<Function>, SymbolError> {
        let mut variables = self.named(SymbolKind::Data)?;
        variables.retain(|variable| variable.size > 0);
        Ok(variables)
    }

    /// Returns the definitions of a kind, at their addresses in the run. A stripped file still has
    /// its exported names.
    fn named(&self, kind: SymbolKind) -> Result<Vec<Function>, SymbolError> {
        let elf = self.parse()?;
        let is_stripped = elf.symbols().next().is_none();
        let own = elf.symbols().filter(|_| !is_stripped);
        let exported = elf.dynamic_symbols().filter(|_| is_stripped);
        let named = own.chain(exported).filter(|symbol| symbol.kind() == kind);
        let functions = named.filter(|symbol| symbol.is_definition()).filter_map(|symbol| {
            let name =
                symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'))?;
            let addr = symbol.address().wrapping_add(self.bias);
            Some(Function { name: demangled(name), addr, size: symbol.size() })
        });
        Ok(functions.collect())
    }

    /// Returns the source lines, if the file contains them.
    pub(crate) fn lines(&self) -> Option<Lines> {
        Lines::of(&self.parse().ok()?, self.bias)
    }

    fn parse(&self) -> Result<object::File<'_>, SymbolError> {
        object::File::parse(&*self.bytes).map_err(|error| SymbolError::NotAProgram {
            file: self.file.clone(),
            reason: error.to_string(),
        })
    }
}

/// Returns the load offset of a relocatable file, found by a function that both the file and the
/// trace name.
fn bias<R: Read + Seek>(elf: &ElfFile64<'_>, trace: &TraceFile<R>) -> Option<u64> {
    let known = &trace.meta().symbols;
    elf.symbols().find_map(|symbol| {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        let executed = known.iter().find(|known| known.name == name)?;
        let bias = executed.addr.wrapping_sub(symbol.address());
        bias.is_multiple_of(PAGE_BYTES).then_some(bias)
    })
}

/// Compares a code segment with the instructions that the trace executed in it. Returns the number
/// of compared words.
fn compare<R: Read + Seek>(
    file: &str,
    start: u64,
    data: &[u8],
    trace: &TraceFile<R>,
) -> Result<usize, SymbolError> {
    let mut compared = 0;
    for code in trace.statics().insts() {
        let Some(at) = code.pc.checked_sub(start).and_then(|at| usize::try_from(at).ok()) else {
            continue;
        };
        let Some(word) = data.get(at..).and_then(<[u8]>::first_chunk) else { continue };
        let word = u32::from_le_bytes(*word);
        if word != code.word {
            let (file, pc, traced) = (file.to_owned(), code.pc, code.word);
            return Err(SymbolError::AnotherProgram { file, pc, word, traced });
        }
        compared += 1;
    }
    Ok(compared)
}

fn rounded(start: u64, bytes: u64, offset: u64, is_code: bool) -> Segment {
    let within = start % PAGE_BYTES;
    Segment {
        start: start - within,
        bytes: within.saturating_add(bytes).checked_next_multiple_of(PAGE_BYTES).unwrap_or(0),
        offset: offset - (offset % PAGE_BYTES),
        is_code,
    }
}
