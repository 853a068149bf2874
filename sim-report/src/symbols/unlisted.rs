//! Functions that a symbol table does not list: entries of the procedure linkage table, and those
//! of a stripped file's unwind table, which has their addresses.

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, UnwindSection};
use object::elf::{R_AARCH64_IRELATIVE, R_AARCH64_JUMP_SLOT};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolIndex};
use sim_trace::Symbol;

/// Bytes of the code before the entries of a linkage table (GNU ld, LLD).
const PLT_HEADER: u64 = 32;
/// Bytes of an entry: without and with branch protection.
const PLT_ENTRIES: [u64; 2] = [16, 24];
/// Bytes of the code that resolves descriptors of thread-local storage, after the entries: without
/// and with branch protection.
const PLT_TAILS: [u64; 3] = [0, 32, 40];
/// Bytes of a relocation with an addend.
const RELOCATION: usize = 24;

/// Returns `function@plt` for each entry of the linkage table, at its address in the file.
pub(super) fn plt(file: &object::File<'_>) -> Vec<Symbol> {
    let Some(section) = file.section_by_name(".plt") else { return Vec::new() };
    let slots: Vec<Option<String>> = slots(file).unwrap_or_default();
    let room = section.size().saturating_sub(PLT_HEADER);
    let count = slots.len() as u64;
    let mut sizes = PLT_TAILS.iter().flat_map(|tail| PLT_ENTRIES.map(|size| (*tail, size)));
    let fits = |(tail, size): &(u64, u64)| count.checked_mul(*size) == room.checked_sub(*tail);
    let Some((_, size)) = sizes.find(fits) else { return Vec::new() };
    let start = section.address().saturating_add(PLT_HEADER);
    let entries = slots.into_iter().zip((0u64..).map(|index| start.saturating_add(index * size)));
    let named = |(name, addr): (Option<String>, u64)| {
        Some(Symbol { name: format!("{}@plt", name?), addr, size })
    };
    entries.filter_map(named).collect()
}

/// Returns the functions called through the table, in its order. One without a name is an indirect
/// function of the file itself.
fn slots(file: &object::File<'_>) -> Option<Vec<Option<String>>> {
    let symbols = file.dynamic_symbol_table()?;
    let relocations = file.section_by_name(".rela.plt")?.data().ok()?;
    let calls = relocations.as_chunks::<RELOCATION>().0.iter().filter_map(|entry| {
        // The second word has the number of the symbol above the kind.
        let (_, info) = entry[..16].split_last_chunk::<8>()?;
        let info = u64::from_le_bytes(*info);
        match info as u32 {
            kind if kind == R_AARCH64_JUMP_SLOT.0 => {
                let symbol = symbols.symbol_by_index(SymbolIndex((info >> 32) as usize)).ok();
                Some(symbol.and_then(|symbol| symbol.name().ok().map(str::to_owned)))
            }
            kind if kind == R_AARCH64_IRELATIVE.0 => Some(None),
            _ => None,
        }
    });
    Some(calls.collect())
}

/// Returns the functions of the unwind table, at their addresses in the file. The name of each is
/// made of the file's and the address, in brackets.
pub(super) fn unwound(file: &object::File<'_>, name: &str) -> Vec<Symbol> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(data) = section.data() else { return Vec::new() };
    let frames = EhFrame::new(data, LittleEndian);
    let text = file.section_by_name(".text").map_or(0, |text| text.address());
    let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
    let mut entries = frames.entries(&bases);
    let mut functions = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(function) = partial.parse(EhFrame::<EndianSlice<'_, _>>::cie_from_offset) else {
            continue;
        };
        let (addr, size) = (function.initial_address(), function.len());
        functions.push(Symbol { name: made_name(name, addr), addr, size });
    }
    functions
}

/// Returns the name of code of the file `name` at its address `addr`, which no symbol names.
fn made_name(name: &str, addr: u64) -> String {
    format!("[{name} {addr:#x}]")
}

/// Returns whether a name is one of those made here.
pub(super) fn is_made(name: &str) -> bool {
    name.starts_with('[') && name.ends_with(']')
}
