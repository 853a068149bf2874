//! ELF file of the traced program: instruction words for traces without words, code for wrong
//! paths, and symbols.

use std::io::{Seek, Write};

use object::elf::{EM_AARCH64, ET_DYN, PF_X, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

use crate::error::TraceError;
use crate::meta::Symbol;
use crate::writer::TraceWriter;

/// Largest number of symbols that are kept.
const SYMBOLS_MAX: usize = 1 << 20;

/// Code of an ELF file at the addresses where it was loaded.
pub(super) struct Code {
    /// Start and bytes of each executable segment.
    segments: Vec<(u64, Vec<u8>)>,
    symbols: Vec<Symbol>,
}

impl Code {
    /// Returns the code of the ELF file in `bytes`. The addresses of a position-independent file
    /// are moved by `bias`.
    pub(super) fn parse(bytes: &[u8], bias: u64) -> Result<Code, String> {
        let elf = ElfFile64::<Endianness>::parse(bytes).map_err(|error| error.to_string())?;
        let (header, endian) = (elf.elf_header(), elf.endian());
        if header.e_machine(endian) != EM_AARCH64 {
            return Err("it is for another machine; pass the AArch64 program".into());
        }
        if bias != 0 && header.e_type(endian) != ET_DYN {
            return Err("it has fixed addresses; pass it without @ADDRESS".into());
        }
        let mut segments = Vec::new();
        let mut room = bytes.len();
        for segment in elf.elf_program_headers() {
            if segment.p_type(endian) != PT_LOAD || !segment.p_flags(endian).contains(PF_X) {
                continue;
            }
            let data = segment.data(endian, bytes).map_err(|()| "a segment is truncated")?;
            let start = segment.p_vaddr(endian).wrapping_add(bias);
            if start.checked_add(data.len() as u64).is_none() {
                return Err("a segment exceeds the address space".into());
            }
            // Headers that all refer to the same bytes could request unbounded memory.
            room = room.checked_sub(data.len()).ok_or("its segments overlap in the file")?;
            segments.push((start, data.to_vec()));
        }
        if segments.is_empty() {
            return Err("it has no code".into());
        }
        Ok(Code { segments, symbols: functions(&elf, bias) })
    }

    /// Returns the word at `pc`.
    pub(super) fn word_at(&self, pc: u64) -> Option<u32> {
        self.segments.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(pc.checked_sub(*start)?).ok()?;
            bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
        })
    }

    /// Returns the symbols of all functions.
    pub(super) fn symbols(&self) -> Vec<Symbol> {
        self.symbols.clone()
    }

    /// Writes every page of code.
    pub(super) fn write_pages<W: Write + Seek>(
        &self,
        writer: &mut TraceWriter<W>,
    ) -> Result<(), TraceError> {
        let page_bytes = u64::from(writer.meta().machine.page_bytes);
        for (start, bytes) in &self.segments {
            let mut at = start - start % page_bytes;
            let end = start + bytes.len() as u64;
            while at < end {
                let mut page = vec![0; page_bytes as usize];
                let (from, to) = (at.max(*start), end.min(at.saturating_add(page_bytes)));
                let part = &bytes[(from - start) as usize..(to - start) as usize];
                page[(from - at) as usize..][..part.len()].copy_from_slice(part);
                writer.image_page(at, &page)?;
                let Some(next) = at.checked_add(page_bytes) else { break };
                at = next;
            }
        }
        Ok(())
    }
}

fn functions(elf: &ElfFile64<'_>, bias: u64) -> Vec<Symbol> {
    let texts = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    let named = texts.filter(ObjectSymbol::is_definition).filter_map(|symbol| {
        let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'))?;
        let addr = symbol.address().wrapping_add(bias);
        Some(Symbol { name: name.to_owned(), addr, size: symbol.size() })
    });
    let mut symbols: Vec<Symbol> = named.take(SYMBOLS_MAX).collect();
    symbols.sort_by(|a, b| (a.addr, &a.name).cmp(&(b.addr, &b.name)));
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a program with this number of segments, each with the same 64 bytes of code.
    fn program(segments: u16) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0\x01\0\0\0".to_vec();
        for number in [0x40_0000u64, 64, 0] {
            file.extend(number.to_le_bytes());
        }
        file.extend([0; 4]);
        for number in [64u16, 56, segments, 64, 0, 0] {
            file.extend(number.to_le_bytes());
        }
        let code = 64 + 56 * u64::from(segments);
        for _ in 0..segments {
            file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
            for number in [code, 0x40_0000, 0x40_0000, 64, 64, 1] {
                file.extend(number.to_le_bytes());
            }
        }
        file.extend([0x1f; 64]);
        file
    }

    #[test]
    fn headers_that_refer_to_the_same_bytes_cannot_request_unbounded_memory() {
        let one = Code::parse(&program(1), 0).map(|code| code.word_at(0x40_0000));
        assert_eq!(one, Ok(Some(0x1f1f_1f1f)));
        assert!(Code::parse(&program(5), 0).is_ok(), "as many bytes as the file has");
        let result = Code::parse(&program(2000), 0).map(|code| code.segments.len());
        assert_eq!(result, Err(String::from("its segments overlap in the file")));
    }
}
