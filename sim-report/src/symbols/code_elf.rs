//! ELF file made from a trace: its code pages at their addresses, with the names of its functions.
//! It serves readers that need the traced program after it is lost.

use std::io::{Read, Seek};

use object::elf::{
    EM_AARCH64, ET_EXEC, PF_R, PF_X, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS,
};
use object::elf::{SHT_STRTAB, SHT_SYMTAB, STB_GLOBAL, STT_FUNC};
use sim_trace::TraceFile;

use super::program::{ProgramFile, SymbolError};
use super::{Function, sorted};
use crate::perf_data::words::Words;

/// Bytes of the header of a 64-bit ELF file.
const FILE_HEADER: u64 = 64;
/// Bytes of the header of a segment.
const SEGMENT_HEADER: u64 = 56;
/// Bytes of the header of a section.
const SECTION_HEADER: u16 = 64;
/// Bytes of a symbol.
const SYMBOL: u64 = 24;
/// Alignment of segments, in bytes.
const PAGE_BYTES: u64 = 4096;

/// Contiguous code pages.
struct Region {
    addr: u64,
    bytes: Vec<u8>,
    /// Offset in the file.
    offset: u64,
}

impl Region {
    fn end(&self) -> u64 {
        self.addr.saturating_add(self.bytes.len() as u64)
    }
}

/// Returns the code of `trace` as an ELF file for AArch64, which readers accept as its program.
/// `file` is its name.
///
/// # Errors
/// Fails if the trace holds no code page with an executed instruction.
pub fn code_elf<R: Read + Seek>(
    file: &str,
    trace: &TraceFile<R>,
) -> Result<ProgramFile, SymbolError> {
    ProgramFile::new(file, encode(trace), trace)
}

fn encode<R: Read + Seek>(trace: &TraceFile<R>) -> Vec<u8> {
    let regions = regions(trace);
    let functions = sorted(
        trace
            .meta()
            .symbols
            .iter()
            .map(|symbol| Function {
                name: symbol.name.clone(),
                addr: symbol.addr,
                size: symbol.size,
            })
            .collect(),
    );
    let (symbols, strings) = symbol_table(&functions, &regions);
    let mut file = Words::default();
    let code_end = regions.last().map_or(FILE_HEADER, |last| last.offset + last.bytes.len() as u64);
    let strings_at = code_end + symbols.len() as u64;
    let headers_at = (strings_at + strings.len() as u64).next_multiple_of(8);
    file_header(&mut file, headers_at, regions.len() as u16);
    for region in &regions {
        segment_header(&mut file, region);
    }
    for region in &regions {
        file.0.resize(region.offset as usize, 0);
        file.bytes(&region.bytes);
    }
    file.bytes(&symbols).bytes(&strings);
    file.0.resize(headers_at as usize, 0);
    section_headers(&mut file, &regions, [code_end, strings_at], [symbols.len(), strings.len()]);
    file.0
}

/// Returns the code pages, with adjacent ones joined, each at an offset that is congruent to its
/// address.
fn regions<R: Read + Seek>(trace: &TraceFile<R>) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    for (addr, bytes) in trace.image().pages() {
        match regions.last_mut() {
            Some(last) if last.end() == addr => last.bytes.extend_from_slice(bytes),
            _ => regions.push(Region { addr, bytes: bytes.to_vec(), offset: 0 }),
        }
    }
    // The number of a section has 16 bits, and some are reserved.
    regions.truncate(0xfe00);
    let mut at = FILE_HEADER + SEGMENT_HEADER * regions.len() as u64;
    for region in &mut regions {
        let wanted = region.addr % PAGE_BYTES;
        region.offset = at + (wanted + PAGE_BYTES - at % PAGE_BYTES) % PAGE_BYTES;
        at = region.offset + region.bytes.len() as u64;
    }
    regions
}

/// Returns `.symtab` and its names, which follow the names of the sections.
fn symbol_table(functions: &[Function], regions: &[Region]) -> (Vec<u8>, Vec<u8>) {
    let mut strings = b"\0.text\0.symtab\0.strtab\0".to_vec();
    let mut table = Words::default();
    table.0.resize(SYMBOL as usize, 0);
    for function in functions {
        let inside = |region: &Region| region.addr <= function.addr && function.addr < region.end();
        let Some(section) = regions.iter().position(inside) else { continue };
        table.u32(strings.len() as u32);
        table.bytes(&[STB_GLOBAL.0 << 4 | STT_FUNC.0, 0]).u16(section as u16 + 1);
        table.u64(function.addr).u64(function.size);
        strings.extend_from_slice(function.name.as_bytes());
        strings.push(0);
    }
    (table.0, strings)
}

fn file_header(file: &mut Words, headers_at: u64, regions: u16) {
    // 64 bits, little-endian, version 1.
    file.bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    file.u16(ET_EXEC.0).u16(EM_AARCH64.0).u32(1).u64(0);
    file.u64(FILE_HEADER).u64(headers_at).u32(0);
    file.u16(FILE_HEADER as u16).u16(SEGMENT_HEADER as u16).u16(regions);
    // The sections of symbols and names follow the empty section and those of code.
    file.u16(SECTION_HEADER).u16(regions + 3).u16(regions + 2);
}

fn segment_header(file: &mut Words, region: &Region) {
    let bytes = region.bytes.len() as u64;
    file.u32(PT_LOAD.0).u32(PF_R.0 | PF_X.0).u64(region.offset);
    file.u64(region.addr).u64(region.addr).u64(bytes).u64(bytes).u64(PAGE_BYTES);
}

fn section_headers(file: &mut Words, regions: &[Region], at: [u64; 2], bytes: [usize; 2]) {
    let (text, symtab, strtab) = (1, 7, 15);
    file.0.resize(file.0.len() + usize::from(SECTION_HEADER), 0);
    for region in regions {
        file.u32(text).u32(SHT_PROGBITS.0).u64(SHF_ALLOC.0 | SHF_EXECINSTR.0);
        file.u64(region.addr).u64(region.offset).u64(region.bytes.len() as u64);
        file.u32(0).u32(0).u64(4).u64(0);
    }
    let names = regions.len() as u32 + 2;
    file.u32(symtab).u32(SHT_SYMTAB.0).u64(0).u64(0).u64(at[0]).u64(bytes[0] as u64);
    // All symbols except the empty one are global.
    file.u32(names).u32(1).u64(8).u64(SYMBOL);
    file.u32(strtab).u32(SHT_STRTAB.0).u64(0).u64(0).u64(at[1]).u64(bytes[1] as u64);
    file.u32(0).u32(0).u64(1).u64(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Symbols;
    use object::{Object, ObjectSymbol};
    use std::path::Path;

    fn trace(name: &str) -> TraceFile {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        TraceFile::open(&top.join("traces").join(name)).expect("a committed trace")
    }

    #[test]
    fn the_file_has_the_names_of_the_trace() {
        for name in ["hash.n2t", "sort.n2t", "vector.n2t"] {
            let trace = trace(name);
            let program = code_elf("made.elf", &trace).expect("the trace has its code");
            let expected = Symbols::from_trace(&trace);
            let mut read = Symbols::default();
            read.add(&program).expect("the same program");
            assert_eq!(read.functions(), expected.functions(), "{name}");
            assert!(!expected.functions().is_empty(), "{name}");
            let elf = object::File::parse(program.bytes()).expect("an ELF file");
            assert_eq!(elf.architecture(), object::Architecture::Aarch64);
            assert!(elf.symbols().all(|symbol| symbol.is_definition() || symbol.name() == Ok("")));
            assert!(program.segments().iter().all(|segment| segment.is_code), "{name}");
        }
    }

    #[test]
    fn another_program_is_refused() {
        let (hash, sort) = (trace("hash.n2t"), trace("sort.n2t"));
        let program = code_elf("hash.elf", &hash).expect("the trace has its code");
        let error = ProgramFile::new("hash.elf", program.bytes().to_vec(), &sort);
        let error = error.expect_err("another program").to_string();
        assert!(error.starts_with("hash.elf is not the program of the trace: at 0x"), "{error}");
        for damaged in [0, 3, 64, 100, program.bytes().len() - 1] {
            let cut = program.bytes()[..damaged].to_vec();
            ProgramFile::new("cut.elf", cut, &hash).expect_err("damaged");
        }
    }
}
