//! ELF file of a traced program: check against the trace, load address, names.

use std::io::{Read, Seek};
use std::path::Path;

use object::elf::{EM_AARCH64, ET_DYN, PF_X, PT_LOAD, SHT_NOBITS};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind};
use sim_core::Shown;
use sim_trace::{MappedFile, Symbol, TraceFile};
use thiserror::Error;

use super::lines::Lines;
use super::{Function, debug_file, placement, unlisted};

/// Alignment of mappings, in bytes.
pub(super) const PAGE_BYTES: u64 = 4096;

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
    /// File that cannot be the mapped one: a part of the mapped file was from a place that this
    /// file does not load.
    #[error(
        "{file} loads nothing from offset {offset:#x}, from where the file of the profile was mapped; pass the \
         recorded ELF file, or the trace too (--trace)"
    )]
    NotMapped {
        /// File name.
        file: String,
        /// Offset in the mapped file.
        offset: u64,
    },
    /// Debug file of code that the trace does not have by its build identity.
    #[error(
        "{file} is a debug file, which has no code, and the trace has no file of its build identity; \
         pass the recorded ELF file"
    )]
    Unplaced {
        /// File name.
        file: String,
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
    /// Content of its separate debug file.
    debug: Option<Vec<u8>>,
    /// Content of the file to which the debug file moved what it has in common with others.
    common: Option<Vec<u8>>,
}

impl ProgramFile {
    /// Opens the program of `trace`, one of its libraries, or the debug file of one that the trace
    /// has by its build identity. `file` is its name, for messages.
    ///
    /// # Errors
    /// Fails if it is not an ELF file for AArch64, or if the trace executed other code.
    pub fn new<R: Read + Seek>(
        file: &str,
        bytes: Vec<u8>,
        trace: &TraceFile<R>,
    ) -> Result<ProgramFile, SymbolError> {
        let elf = parse(file, &bytes)?;
        let endian = elf.endian();
        if is_debug_file(&elf) {
            let bias = placement::recorded(&elf, trace);
            let bias = bias.ok_or_else(|| SymbolError::Unplaced { file: file.to_owned() })?;
            return Ok(ProgramFile::at(file, bytes, bias, Vec::new()));
        }
        let is_relocatable = elf.elf_header().e_type(endian) == ET_DYN;
        let bias = if is_relocatable { placement::bias(&elf, trace).unwrap_or(0) } else { 0 };
        let segments = segments(file, &elf, bias)?;
        if placement::compare(file, &elf, bias, trace)? == 0 {
            return Err(SymbolError::Elsewhere { file: file.to_owned() });
        }
        Ok(ProgramFile::at(file, bytes, bias, segments))
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
        let elf = parse(file, &bytes)?;
        let endian = elf.endian();
        let biases = elf.elf_program_headers().iter().filter_map(|header| {
            let (begin, bytes) = (header.p_offset(endian), header.p_filesz(endian));
            // The system maps whole pages.
            let page = begin - begin % PAGE_BYTES;
            let is_loaded = header.p_type(endian) == PT_LOAD;
            let is_it = is_loaded && page <= offset && offset < begin.saturating_add(bytes);
            let address = header.p_vaddr(endian).wrapping_add(offset.wrapping_sub(begin));
            let is_code = header.p_flags(endian).contains(PF_X);
            is_it.then(|| (is_code, start.wrapping_sub(address)))
        });
        // Code and data may share a page of the file. Profiles and traces map code.
        let bias = biases.min_by_key(|(is_code, _)| !is_code).map(|(_, bias)| bias);
        let bias = bias.ok_or_else(|| SymbolError::NotMapped { file: file.to_owned(), offset })?;
        let segments = segments(file, &elf, bias)?;
        Ok(ProgramFile::at(file, bytes, bias, segments))
    }

    /// Opens a file that the trace names, now at `path`. Returns `None` if it is not what was
    /// recorded: another build, or no such file.
    pub fn recorded<R: Read + Seek>(
        path: &Path,
        mapped: &MappedFile,
        bytes: Vec<u8>,
        trace: &TraceFile<R>,
    ) -> Option<ProgramFile> {
        let name = path.shown().to_string();
        let program = ProgramFile::mapped(&name, bytes, mapped.start, mapped.offset).ok()?;
        let elf = parse(&name, &program.bytes).ok()?;
        let same = placement::compare(&name, &elf, program.bias, trace);
        let is_same = same.is_ok_and(|same| same > 0) && program.build_id() == mapped.build_id;
        is_same.then_some(program)
    }

    fn at(file: &str, bytes: Vec<u8>, bias: u64, segments: Vec<Segment>) -> ProgramFile {
        ProgramFile { file: file.to_owned(), bytes, bias, segments, debug: None, common: None }
    }

    /// Adds the names and lines of the separate debug file of this file, which is at `path`. It is
    /// looked for by build identity and by debug link, in the directories of the system to which
    /// `path` belongs.
    #[must_use]
    pub fn with_debug_file(mut self, path: &Path) -> ProgramFile {
        let Ok(own) = self.parse() else { return self };
        let has_all = own.symbol_table().is_some() && own.section_by_name(".debug_info").is_some();
        let debug = if has_all { None } else { debug_file::find(path, &own) };
        let common = match &debug {
            Some(debug) => object::File::parse(&**debug)
                .ok()
                .and_then(|debug| debug_file::find_common(path, &debug)),
            None => debug_file::find_common(path, &own),
        };
        (self.debug, self.common) = (debug, common);
        self
    }

    /// Returns the build identity that the linker gave it, in hexadecimal digits.
    pub fn build_id(&self) -> Option<String> {
        self.parse().ok()?.build_id().ok()?.map(debug_file::hex)
    }

    /// Returns the address at which address 0 of the file was.
    pub fn base(&self) -> u64 {
        self.bias
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

    /// Returns all functions as the file names them, at their executed addresses: those of its
    /// symbol table, of its debug file or of its exports, entries of the procedure linkage table,
    /// and functions that only the unwind table has, with a made name in brackets.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = self.definitions(SymbolKind::Text).unwrap_or_default();
        let Ok(elf) = self.parse() else { return symbols };
        let file = self.file.rsplit('/').next().unwrap_or_default();
        let unlisted = unlisted::plt(&elf).into_iter().chain(unlisted::unwound(&elf, file));
        let unlisted: Vec<Symbol> = unlisted.map(|symbol| self.moved(symbol)).collect();
        symbols.sort_by_key(|symbol| symbol.addr);
        symbols.dedup_by_key(|symbol| symbol.addr);
        let is_listed = |addr: u64| {
            let after = symbols.partition_point(|symbol| symbol.addr <= addr);
            let before = after.checked_sub(1).and_then(|index| symbols.get(index));
            before.is_some_and(|symbol| addr - symbol.addr < symbol.size.max(1))
        };
        let new: Vec<Symbol> =
            unlisted.into_iter().filter(|symbol| !is_listed(symbol.addr)).collect();
        symbols.extend(new);
        symbols
    }

    /// Returns the functions, at their executed addresses.
    pub(crate) fn functions(&self) -> Vec<Function> {
        self.symbols().into_iter().map(Function::from).collect()
    }

    /// Returns the variables, at their addresses in the run.
    pub(crate) fn variables(&self) -> Result<Vec<Function>, SymbolError> {
        let mut variables = self.definitions(SymbolKind::Data)?;
        variables.retain(|variable| variable.size > 0);
        Ok(variables.into_iter().map(Function::from).collect())
    }

    /// Returns the definitions of a kind, at their addresses in the run. A stripped file still has
    /// its exported names.
    fn definitions(&self, kind: SymbolKind) -> Result<Vec<Symbol>, SymbolError> {
        let own = self.parse()?;
        let mut definitions = Vec::new();
        let mut add = |symbol: object::Symbol<'_, '_>| {
            let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'));
            if let Some(name) = name
                && symbol.kind() == kind
                && symbol.is_definition()
            {
                let (addr, size) = (symbol.address(), size_of(&own, &symbol));
                definitions.push(Symbol { name: name.to_owned(), addr, size });
            }
        };
        own.symbols().for_each(&mut add);
        if let Some(debug) = self.debug() {
            debug.symbols().for_each(&mut add);
        }
        own.dynamic_symbols().for_each(&mut add);
        Ok(definitions.into_iter().map(|symbol| self.moved(symbol)).collect())
    }

    fn moved(&self, symbol: Symbol) -> Symbol {
        Symbol { addr: symbol.addr.wrapping_add(self.bias), ..symbol }
    }

    /// Returns the source lines, if the file or its debug file contains them.
    pub(crate) fn lines(&self) -> Option<Lines> {
        let common = self.common.as_ref().and_then(|bytes| object::File::parse(&**bytes).ok());
        let own = self.parse().ok()?;
        let lines = Lines::of(&own, common.as_ref(), self.bias);
        lines.or_else(|| Lines::of(&self.debug()?, common.as_ref(), self.bias))
    }

    fn debug(&self) -> Option<object::File<'_>> {
        object::File::parse(&**self.debug.as_ref()?).ok()
    }

    fn parse(&self) -> Result<object::File<'_>, SymbolError> {
        object::File::parse(&*self.bytes).map_err(|error| SymbolError::NotAProgram {
            file: self.file.clone(),
            reason: error.to_string(),
        })
    }
}

/// Returns the length of a symbol. One without a length ends at the end of its section.
fn size_of(file: &object::File<'_>, symbol: &object::Symbol<'_, '_>) -> u64 {
    if symbol.size() > 0 {
        return symbol.size();
    }
    let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
    let end = section.map_or(0, |section| section.address().saturating_add(section.size()));
    end.saturating_sub(symbol.address())
}

/// Returns the ELF file of `bytes`, if it is one for AArch64.
fn parse<'a>(file: &str, bytes: &'a [u8]) -> Result<ElfFile64<'a, Endianness>, SymbolError> {
    let elf = ElfFile64::<Endianness>::parse(bytes);
    let elf = elf.map_err(|error| refusal(file, &error.to_string()))?;
    match elf.elf_header().e_machine(elf.endian()) {
        EM_AARCH64 => Ok(elf),
        _ => Err(refusal(file, "it is for another machine")),
    }
}

/// Returns the parts of a file that are mapped if it is loaded at `bias`.
fn segments(
    file: &str,
    elf: &ElfFile64<'_, Endianness>,
    bias: u64,
) -> Result<Vec<Segment>, SymbolError> {
    let endian = elf.endian();
    let loads = elf.elf_program_headers().iter().filter(|h| h.p_type(endian) == PT_LOAD);
    let segment = |header: &object::elf::ProgramHeader64<Endianness>| {
        let (vaddr, offset) = (header.p_vaddr(endian), header.p_offset(endian));
        let is_code = header.p_flags(endian).contains(PF_X);
        header.data(endian, elf.data()).map_err(|()| refusal(file, "a segment is cut"))?;
        Ok(rounded(vaddr.wrapping_add(bias), header.p_memsz(endian), offset, is_code))
    };
    loads.map(segment).collect()
}

fn refusal(file: &str, reason: &str) -> SymbolError {
    SymbolError::NotAProgram { file: file.to_owned(), reason: reason.to_owned() }
}

/// Returns whether a file has the names and lines of another one, but not its code.
fn is_debug_file(elf: &ElfFile64<'_, Endianness>) -> bool {
    let text = elf.section_by_name(".text");
    text.is_some_and(|text| text.elf_section_header().sh_type(elf.endian()) == SHT_NOBITS)
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
