//! Load address of an ELF file in a recorded run, and the check that the run executed its code.

use std::collections::HashMap;
use std::io::{Read, Seek};

use object::elf::{PF_X, PT_LOAD};
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol};
use sim_trace::{MappedFile, TraceFile};

use super::debug_file::hex;
use super::program::{PAGE_BYTES, SymbolError};

/// Words of a stretch of code that is looked for in a file.
const STRETCH: usize = 4;
/// Load offsets that are tried, those with the most stretches first.
const TRIALS: usize = 8;

/// Returns the load offset of the file in the run of `trace`: as recorded for its build identity,
/// else found by the names of functions, else by its code. `None` if nothing is found.
pub(super) fn bias<R: Read + Seek>(elf: &ElfFile64<'_>, trace: &TraceFile<R>) -> Option<u64> {
    let recorded = recorded(elf, trace);
    if recorded.is_some() {
        return recorded;
    }
    let fits = |bias: &u64| compare("", elf, *bias, trace).is_ok_and(|same| same > 0);
    let named = by_name(elf, trace);
    let found = named.iter().copied().find(fits);
    // Where nothing fits, the first one shows the difference.
    found.or_else(|| by_code(elf, trace).into_iter().find(fits)).or(named.first().copied())
}

/// Returns the load offset that the trace has for a file of this build identity.
pub(super) fn recorded<R: Read + Seek>(elf: &ElfFile64<'_>, trace: &TraceFile<R>) -> Option<u64> {
    let id = hex(elf.build_id().ok()??);
    let is_it = |file: &&MappedFile| file.build_id.as_deref() == Some(&*id);
    trace.meta().files.iter().find(is_it)?.base
}

/// Returns the load offsets at which a function of the file is where the trace has one of its name.
fn by_name<R: Read + Seek>(elf: &ElfFile64<'_>, trace: &TraceFile<R>) -> Vec<u64> {
    let known = trace.meta().symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.addr));
    let known: HashMap<&str, u64> = known.collect();
    let mut found = Vec::new();
    for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
        let name = symbol.name().ok().filter(|name| !name.is_empty());
        let Some(executed) = name.and_then(|name| known.get(name)) else { continue };
        let bias = executed.wrapping_sub(symbol.address());
        if bias.is_multiple_of(PAGE_BYTES) && !found.contains(&bias) {
            found.push(bias);
        }
        if found.len() == TRIALS {
            break;
        }
    }
    found
}

/// A stretch of executed code: where it is in the run and in the file.
#[derive(Default)]
struct Seen {
    executed: Once,
    in_file: Once,
}

/// Address of something that should be at one place only.
#[derive(Clone, Copy, Default)]
enum Once {
    #[default]
    Nowhere,
    At(u64),
    Often,
}

impl Once {
    fn note(&mut self, addr: u64) {
        *self = if let Once::Nowhere = self { Once::At(addr) } else { Once::Often };
    }
}

/// Returns the load offsets that put the most stretches of executed code where the file has them,
/// the best first. Only stretches count that both have at one place.
fn by_code<R: Read + Seek>(elf: &ElfFile64<'_>, trace: &TraceFile<R>) -> Vec<u64> {
    let mut seen: HashMap<[u32; STRETCH], Seen> = HashMap::new();
    for (pc, words) in executed(trace) {
        seen.entry(words).or_default().executed.note(pc);
    }
    for (start, data) in code_segments(elf) {
        let words: Vec<u32> =
            data.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        for (index, stretch) in words.windows(STRETCH).enumerate() {
            if let Some(seen) =
                <&[u32; STRETCH]>::try_from(stretch).ok().and_then(|s| seen.get_mut(s))
            {
                seen.in_file.note(start.wrapping_add(4 * index as u64));
            }
        }
    }
    let mut votes: HashMap<u64, usize> = HashMap::new();
    for stretch in seen.values() {
        let (Once::At(pc), Once::At(address)) = (stretch.executed, stretch.in_file) else {
            continue;
        };
        let bias = pc.wrapping_sub(address);
        if bias.is_multiple_of(PAGE_BYTES) {
            *votes.entry(bias).or_default() += 1;
        }
    }
    let mut votes: Vec<(usize, u64)> = votes.into_iter().map(|(bias, n)| (n, bias)).collect();
    votes.sort_unstable_by(|a, b| b.cmp(a));
    votes.into_iter().take(TRIALS).map(|(_, bias)| bias).collect()
}

/// Returns all stretches of the executed code with the address of the first word.
fn executed<R: Read + Seek>(trace: &TraceFile<R>) -> Vec<(u64, [u32; STRETCH])> {
    let insts = trace.statics().insts().iter();
    let mut code: Vec<(u64, u32)> = insts.map(|inst| (inst.pc, inst.word)).collect();
    code.sort_unstable();
    code.dedup();
    let length = 4 * (STRETCH as u64 - 1);
    let stretches = code.windows(STRETCH).filter_map(|stretch| {
        let stretch = <&[(u64, u32); STRETCH]>::try_from(stretch).ok()?;
        let is_whole = stretch[STRETCH - 1].0.wrapping_sub(stretch[0].0) == length;
        is_whole.then(|| (stretch[0].0, stretch.map(|(_, word)| word)))
    });
    stretches.collect()
}

/// Returns the address in the file and the content of each segment of code.
fn code_segments<'a>(elf: &ElfFile64<'a>) -> Vec<(u64, &'a [u8])> {
    let endian = elf.endian();
    let is_code = |header: &&object::elf::ProgramHeader64<Endianness>| {
        header.p_type(endian) == PT_LOAD && header.p_flags(endian).contains(PF_X)
    };
    let segments = elf.elf_program_headers().iter().filter(is_code);
    let content = segments.filter_map(|segment| {
        Some((segment.p_vaddr(endian), segment.data(endian, elf.data()).ok()?))
    });
    content.collect()
}

/// Compares the code of a file loaded at `bias` with the instructions that the trace executed in
/// it. Returns the number of compared words.
///
/// # Errors
/// Fails at the first word that differs; `file` is the name for the message.
pub(super) fn compare<R: Read + Seek>(
    file: &str,
    elf: &ElfFile64<'_>,
    bias: u64,
    trace: &TraceFile<R>,
) -> Result<usize, SymbolError> {
    let mut compared = 0;
    for (start, data) in code_segments(elf) {
        let start = start.wrapping_add(bias);
        for code in trace.statics().insts() {
            let Some(at) = code.pc.checked_sub(start).and_then(|at| usize::try_from(at).ok())
            else {
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
    }
    Ok(compared)
}
