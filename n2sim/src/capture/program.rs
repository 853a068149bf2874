//! The program to record: its kind, its dependencies and its functions.

use anyhow::{Context, Result, bail};
use object::elf::{EM_AARCH64, ET_DYN, PF_X, PT_INTERP, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{
    Architecture, Endianness, Object, ObjectSection, ObjectSymbol, SectionIndex, SectionKind,
    SymbolKind,
};
use sim_core::Shown;
use sim_trace::Symbol;
use std::path::{Path, PathBuf};

/// The usual places of a sysroot of AArch64 libraries.
pub(crate) const USUAL_SYSROOTS: &[&str] = &["/usr/aarch64-linux-gnu", "/"];

/// An AArch64 program.
#[derive(Debug)]
pub(crate) struct Program {
    /// File of the program.
    pub(crate) path: PathBuf,
    /// Functions of the program, at the addresses of the file.
    symbols: Vec<Symbol>,
    /// All names in the program's code, including labels inside functions and second names of
    /// functions, at the addresses of the file.
    places: Vec<Symbol>,
    /// Dynamic linker of the program, if it needs one.
    interpreter: Option<String>,
    /// Address of its lowest executable segment in the file, if it may be loaded elsewhere.
    pub(crate) relocatable_from: Option<u64>,
}

impl Program {
    /// Finds and reads `name`: a path, or a name in the sysroot's or the system's directories.
    pub(crate) fn open(name: &str, sysroot: Option<&Path>) -> Result<Program> {
        let path = find(name, sysroot)
            .with_context(|| format!("no program {name:?}: give the path of an AArch64 program"))?;
        let data =
            sim_files::read(&path).with_context(|| format!("cannot read {}", path.shown()))?;
        let shown = path.shown();
        if data.starts_with(b"#!") {
            bail!("{shown} is a script: record its interpreter and give it the script's name");
        }
        let elf = ElfFile64::<Endianness>::parse(&*data)
            .with_context(|| format!("{shown} is not a 64-bit ELF program"))?;
        let endian = elf.endian();
        if elf.elf_header().e_machine(endian) != EM_AARCH64 {
            let machine = match elf.architecture() {
                Architecture::X86_64 => "x86-64".to_owned(),
                other => format!("{other:?}"),
            };
            bail!("{shown} is a program for {machine}: n2sim records AArch64 programs");
        }
        let interpreter = elf.elf_program_headers().iter().find_map(|header| {
            if header.p_type(endian) != PT_INTERP {
                return None;
            }
            let bytes = header.data(endian, &*data).ok()?;
            let text = bytes.split(|byte| *byte == 0).next()?;
            Some(String::from_utf8_lossy(text).into_owned())
        });
        let code = elf.elf_program_headers().iter().filter(|header| {
            header.p_type(endian) == PT_LOAD && header.p_flags(endian).contains(PF_X)
        });
        let lowest = code.map(|header| header.p_vaddr(endian)).min();
        let is_relocatable = elf.elf_header().e_type(endian) == ET_DYN;
        let relocatable_from = lowest.filter(|_| is_relocatable);
        let places = places(&elf);
        let symbols = functions(&places);
        let places = places.into_iter().map(|place| place.symbol).collect();
        Ok(Program { symbols, places, interpreter, relocatable_from, path })
    }

    /// Returns its functions at the executed addresses, if its code was loaded at `start`.
    pub(crate) fn symbols_at(&self, start: u64) -> Vec<Symbol> {
        self.symbols_moved_by(start.wrapping_sub(self.relocatable_from.unwrap_or(start)))
    }

    /// Returns its functions at the executed addresses, if address 0 of its file is at `base`. A
    /// program that cannot be loaded elsewhere keeps the addresses of its file.
    pub(crate) fn symbols_from(&self, base: u64) -> Vec<Symbol> {
        self.symbols_moved_by(self.relocatable_from.map_or(0, |_| base))
    }

    fn symbols_moved_by(&self, bias: u64) -> Vec<Symbol> {
        let mut symbols = self.symbols.clone();
        for symbol in &mut symbols {
            symbol.addr = symbol.addr.wrapping_add(bias);
        }
        symbols
    }

    /// Returns its dynamic linker, if it needs one.
    pub(crate) fn interpreter(&self) -> Option<&str> {
        self.interpreter.as_deref()
    }

    /// Returns the address of the function or label `name` in the file.
    pub(crate) fn function(&self, name: &str) -> Option<u64> {
        self.places.iter().find(|place| place.name == name).map(|place| place.addr)
    }

    /// Returns the number of functions that it names.
    pub(crate) fn functions(&self) -> usize {
        self.symbols.len()
    }

    /// Returns the directory in which the engine must look for libraries, if the program needs any.
    pub(crate) fn sysroot(&self, given: Option<&Path>) -> Result<Option<PathBuf>> {
        let Some(interpreter) = &self.interpreter else {
            return Ok(given.map(Path::to_path_buf));
        };
        let has_linker = |root: &Path| root.join(interpreter.trim_start_matches('/')).exists();
        if let Some(root) = given {
            if has_linker(root) {
                return Ok(Some(root.to_path_buf()));
            }
            bail!("{} has no {interpreter}, which the program needs", root.shown());
        }
        let usual = USUAL_SYSROOTS.iter().map(Path::new).find(|root| has_linker(root));
        match usual {
            Some(root) => Ok(Some(root.to_path_buf())),
            None => bail!(
                "the program needs {interpreter} and no directory with AArch64 libraries was found: \
                 `apt-get install libc6-arm64-cross`, or name one with --sysroot"
            ),
        }
    }
}

fn find(name: &str, sysroot: Option<&Path>) -> Option<PathBuf> {
    let direct = PathBuf::from(name);
    if name.contains('/') {
        let inside = sysroot.map(|root| root.join(name.trim_start_matches('/')));
        return [Some(direct), inside].into_iter().flatten().find(|path| path.is_file());
    }
    let directories = ["usr/bin", "bin", "usr/sbin", "usr/local/bin"];
    let inside =
        sysroot.into_iter().flat_map(|root| directories.map(|directory| root.join(directory)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let outside: Vec<PathBuf> = std::env::split_paths(&path).collect();
    inside.chain(outside).map(|directory| directory.join(name)).find(|path| path.is_file())
}

/// A name in the program's code.
struct NamedPlace {
    symbol: Symbol,
    /// The file declares it a function; assemblers omit the type where the source does.
    is_typed: bool,
}

/// Returns the names in executable sections, by address; typed names precede others at the same
/// address.
fn places(elf: &ElfFile64<'_, Endianness>) -> Vec<NamedPlace> {
    let is_in_code = |section: SectionIndex| {
        let section = elf.section_by_index(section);
        section.is_ok_and(|section| section.kind() == SectionKind::Text)
    };
    let mut places: Vec<NamedPlace> = elf
        .symbols()
        .filter_map(|symbol| {
            let is_typed = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            let is_untyped = symbol.kind() == SymbolKind::Unknown
                && symbol.section_index().is_some_and(is_in_code);
            let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'));
            let name = name.filter(|_| is_typed || is_untyped)?.to_owned();
            let symbol = Symbol { name, addr: symbol.address(), size: symbol.size() };
            Some(NamedPlace { symbol, is_typed })
        })
        .collect();
    places.sort_by(|a, b| {
        let key = |place: &NamedPlace| (place.symbol.addr, !place.is_typed);
        (key(a), &a.symbol.name).cmp(&(key(b), &b.symbol.name))
    });
    places
}

/// Returns the functions among `places`: one name per address, and no label inside a function that
/// has a length.
fn functions(places: &[NamedPlace]) -> Vec<Symbol> {
    let mut functions: Vec<Symbol> = Vec::new();
    let mut end = 0;
    for NamedPlace { symbol, is_typed } in places {
        let is_second_name = functions.last().is_some_and(|last| last.addr == symbol.addr);
        if !is_second_name && (*is_typed || symbol.addr >= end) {
            end = end.max(symbol.addr.saturating_add(symbol.size));
            functions.push(symbol.clone());
        }
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, addr: u64, size: u64, is_typed: bool) -> NamedPlace {
        NamedPlace { symbol: Symbol { name: name.to_owned(), addr, size }, is_typed }
    }

    #[test]
    fn labels_are_functions_where_no_function_is() {
        let places = [
            place("_start", 0x1000, 0, false),
            place("run", 0x1010, 0x40, true),
            place("alias", 0x1010, 0, false),
            place("loop", 0x1020, 0, false),
            place("kernel", 0x1050, 0, false),
        ];
        let names: Vec<String> = functions(&places).into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["_start", "run", "kernel"]);
    }
}
