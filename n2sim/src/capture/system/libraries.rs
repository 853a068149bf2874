//! The shared libraries that a program needs in a file system of its own.

use anyhow::{Context, Result, bail};
use object::Endianness;
use object::elf::DT_NEEDED;
use object::read::elf::{Dyn, ElfFile64, FileHeader};
use sim_core::Shown;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The directories of libraries below a sysroot.
const DIRECTORIES: &[&str] =
    &["lib", "usr/lib", "lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib64"];

/// Returns the dynamic linker `interpreter` and all libraries that the program at `path` needs,
/// each with its name in the system. The linker searches /lib by itself.
pub(super) fn needed(
    path: &Path,
    interpreter: &str,
    sysroot: &Path,
) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let linker = sysroot.join(interpreter.trim_start_matches('/'));
    found.insert(interpreter.to_owned(), linker.clone());
    let mut waiting = vec![path.to_path_buf(), linker];
    while let Some(path) = waiting.pop() {
        for name in names(&path)? {
            let inside = format!("/lib/{name}");
            if found.contains_key(&inside) {
                continue;
            }
            let places = DIRECTORIES.iter().map(|directory| sysroot.join(directory).join(&name));
            let Some(file) = places.into_iter().find(|file| file.is_file()) else {
                bail!("{} has no {name}, which {} needs", sysroot.shown(), path.shown());
            };
            found.insert(inside, file.clone());
            waiting.push(file);
        }
    }
    Ok(found)
}

/// Returns the libraries that a file names.
fn names(path: &Path) -> Result<Vec<String>> {
    let shown = path.shown();
    let data = sim_files::read(path).with_context(|| format!("cannot read {shown}"))?;
    let parsed = || -> object::Result<Vec<String>> {
        let elf = ElfFile64::<Endianness>::parse(&*data)?;
        let endian = elf.endian();
        let sections = elf.elf_header().sections(endian, &*data)?;
        let Some((entries, strings)) = sections.dynamic(endian, &*data)? else {
            return Ok(Vec::new());
        };
        let strings = sections.strings(endian, &*data, strings)?;
        let needed = entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED);
        let names = needed.map(|entry| entry.string(endian, strings));
        names.map(|name| Ok(String::from_utf8_lossy(name?).into_owned())).collect()
    };
    parsed().with_context(|| format!("{shown} is not a complete ELF file"))
}
