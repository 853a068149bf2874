//! The program to record: is it an AArch64 executable, what does it need, which functions has it.

use anyhow::{Context, Result, bail};
use object::elf::{EM_AARCH64, ET_DYN, PF_X, PT_INTERP, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Architecture, Endianness, Object, ObjectSymbol, SymbolKind};
use sim_trace::Symbol;
use std::path::{Path, PathBuf};

/// Where a sysroot of AArch64 libraries usually is.
pub(crate) const USUAL_SYSROOTS: &[&str] = &["/usr/aarch64-linux-gnu", "/"];

/// An AArch64 program.
#[derive(Debug)]
pub(super) struct Program {
    /// Its file.
    pub(super) path: PathBuf,
    /// Its functions, at the addresses of the file.
    symbols: Vec<Symbol>,
    /// Its dynamic linker, if it needs one.
    interpreter: Option<String>,
    /// Address of its lowest executable segment in the file, if it may be loaded elsewhere.
    pub(super) relocatable_from: Option<u64>,
}

impl Program {
    /// Finds and reads `name`: a path, or a name in the sysroot's or the system's folders.
    pub(super) fn open(name: &str, sysroot: Option<&Path>) -> Result<Program> {
        let path = find(name, sysroot)
            .with_context(|| format!("no program {name:?}: give the path of an AArch64 program"))?;
        let data =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let shown = path.display();
        if data.starts_with(b"#!") {
            bail!("{shown} is a script: record its interpreter and give it the script's name");
        }
        let elf = ElfFile64::<Endianness>::parse(&*data)
            .with_context(|| format!("{shown} is no 64-bit ELF program"))?;
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
        Ok(Program { symbols: functions(&elf), interpreter, relocatable_from, path })
    }

    /// Its functions as executed, when its code was loaded at `start`.
    pub(super) fn symbols_at(&self, start: u64) -> Vec<Symbol> {
        self.symbols_moved_by(start.wrapping_sub(self.relocatable_from.unwrap_or(start)))
    }

    /// Its functions as executed, when its file's address 0 is at `base`; where the file says if it cannot be
    /// loaded elsewhere.
    pub(super) fn symbols_from(&self, base: u64) -> Vec<Symbol> {
        self.symbols_moved_by(self.relocatable_from.map_or(0, |_| base))
    }

    fn symbols_moved_by(&self, bias: u64) -> Vec<Symbol> {
        let mut symbols = self.symbols.clone();
        for symbol in &mut symbols {
            symbol.addr = symbol.addr.wrapping_add(bias);
        }
        symbols
    }

    /// Its dynamic linker, if it needs one.
    pub(super) fn interpreter(&self) -> Option<&str> {
        self.interpreter.as_deref()
    }

    /// Address of the function `name` in the file.
    pub(super) fn function(&self, name: &str) -> Option<u64> {
        self.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.addr)
    }

    /// How many functions it names.
    pub(super) fn functions(&self) -> usize {
        self.symbols.len()
    }

    /// The folder in which the engine shall look for libraries, if the program needs any.
    pub(super) fn sysroot(&self, given: Option<&Path>) -> Result<Option<PathBuf>> {
        let Some(interpreter) = &self.interpreter else {
            return Ok(given.map(Path::to_path_buf));
        };
        let has_linker = |root: &Path| root.join(interpreter.trim_start_matches('/')).exists();
        if let Some(root) = given {
            if has_linker(root) {
                return Ok(Some(root.to_path_buf()));
            }
            bail!("{} has no {interpreter}, which the program needs", root.display());
        }
        let usual = USUAL_SYSROOTS.iter().map(Path::new).find(|root| has_linker(root));
        match usual {
            Some(root) => Ok(Some(root.to_path_buf())),
            None => bail!(
                "the program needs {interpreter} and no folder with AArch64 libraries was found: \
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
    let folders = ["usr/bin", "bin", "usr/sbin", "usr/local/bin"];
    let inside = sysroot.into_iter().flat_map(|root| folders.map(|folder| root.join(folder)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let outside: Vec<PathBuf> = std::env::split_paths(&path).collect();
    inside.chain(outside).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn functions(elf: &ElfFile64<'_, Endianness>) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = elf
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty() && !name.starts_with('$'));
            name.map(|name| Symbol {
                name: name.to_owned(),
                addr: symbol.address(),
                size: symbol.size(),
            })
        })
        .collect();
    symbols.sort_by(|a, b| (a.addr, &a.name).cmp(&(b.addr, &b.name)));
    symbols.dedup_by_key(|symbol| symbol.addr);
    symbols
}
