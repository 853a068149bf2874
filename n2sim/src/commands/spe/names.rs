//! Names for a profile without its trace, from the mapped programs and libraries of the file, as
//! perf finds them.

use crate::host::call;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::profile_file::read;
use anyhow::Context;
use sim_core::Shown;
use sim_report::spe::input::{Input, Mapped};
use sim_report::symbols::{ProgramFile, Symbols};

/// Returns the names of all mapped files that exist here. A file in `given` replaces the mapped
/// file of its name.
pub(super) fn find(input: &Input, given: &[PathBuf]) -> anyhow::Result<Symbols> {
    let mut symbols = Symbols::default();
    let mapped = first_parts(&input.mapped);
    for path in given {
        let name = path.file_name();
        let is_it = |part: &&&Mapped| Path::new(&part.path).file_name() == name;
        let part = mapped.iter().find(is_it).or(only(&mapped));
        let part = part.with_context(|| not_mapped(path, &mapped))?;
        symbols.add(&program(path, part)?)?;
    }
    let is_given = |path: &Path| given.iter().any(|own| own.file_name() == path.file_name());
    for part in &mapped {
        let path = Path::new(&part.path);
        if !path.is_file() || is_given(path) || (!given.is_empty() && mapped.len() == 1) {
            continue;
        }
        match program(path, part) {
            Ok(program) => symbols.add(&program)?,
            Err(error) => writeln!(call::stderr(), "n2sim: note: no names: {error:#}")?,
        }
    }
    Ok(symbols)
}

/// Returns the first part of each mapped file that may hold code.
fn first_parts(mapped: &[Mapped]) -> Vec<&Mapped> {
    let mut parts: Vec<&Mapped> = Vec::new();
    for part in mapped.iter().filter(|part| part.path.starts_with('/')) {
        let is_pseudo = part.path.starts_with("//");
        if !is_pseudo && !parts.iter().any(|other| other.path == part.path) {
            parts.push(part);
        }
    }
    parts
}

/// Returns the only element, if there is one.
fn only<'a, 'b>(parts: &'b [&'a Mapped]) -> Option<&'b &'a Mapped> {
    if parts.len() == 1 { parts.first() } else { None }
}

fn not_mapped(path: &Path, mapped: &[&Mapped]) -> String {
    let names: Vec<&str> = mapped.iter().map(|part| part.path.as_str()).collect();
    let path = path.shown();
    match names.is_empty() {
        true => format!("{path}: the profile does not say where it was loaded; give --trace too"),
        false => format!("{path}: the profile maps no file of this name, but {}", names.join(", ")),
    }
}

fn program(path: &Path, part: &Mapped) -> anyhow::Result<ProgramFile> {
    let name = path.shown().to_string();
    let bytes = read(path).with_context(|| name.clone())?;
    Ok(ProgramFile::mapped(&name, bytes, part.start, part.offset)?)
}
