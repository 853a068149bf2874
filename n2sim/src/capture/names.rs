//! The names of recorded code: functions of the program and of its libraries, also of stripped
//! ones, read when the recording ends.

use std::path::Path;

use sim_core::Shown;
use sim_report::symbols::{ProgramFile, read_elf};
use sim_trace::{MappedFile, Meta, Symbol};

use super::code::Code;
use super::program::Program;

/// Adds the names of the code to the description of a trace: all functions of `program`, whose
/// code was loaded at `start`, and those of mapped files that lie on recorded pages. Returns a
/// sentence for each file whose functions are absent.
pub(crate) fn add(meta: &mut Meta, program: &Program, start: u64, code: &Code) -> Vec<String> {
    let mut gaps = Vec::new();
    let listed = program.symbols_at(start);
    let own = std::fs::canonicalize(&program.path).ok();
    let mut found = listed.clone();
    let mut read: Vec<(String, u64)> = Vec::new();
    for file in &mut meta.files {
        let elf = match open(file, code) {
            Ok(elf) => elf,
            Err(reason) => {
                let path = Path::new(&file.path).shown();
                gaps.push(format!("the functions of {path} are absent: {reason}"));
                continue;
            }
        };
        (file.build_id, file.base) = (elf.build_id(), Some(elf.base()));
        let key = (file.path.clone(), elf.base());
        if read.contains(&key) {
            continue;
        }
        read.push(key);
        let is_own = own.as_deref() == Some(Path::new(&file.path));
        let is_known = |symbol: &Symbol| is_own && is_inside(&listed, symbol.addr);
        let elf = elf.with_debug_file(Path::new(&file.path));
        let mut symbols = elf.symbols();
        symbols.retain(|symbol| code.has_page_of(symbol.addr, symbol.size) && !is_known(symbol));
        found.append(&mut symbols);
    }
    meta.symbols = found;
    gaps
}

/// Opens a mapped file, or returns why it has no names of the recorded code.
fn open(file: &MappedFile, code: &Code) -> Result<ProgramFile, String> {
    let path = Path::new(&file.path);
    // A removed file has a note after its path.
    if !path.is_file() {
        return Err("there is no such file any more".to_owned());
    }
    let bytes = read_elf(path).map_err(|error| format!("cannot read it: {error}"))?;
    if !code.is_in(file, &bytes) {
        return Err("its code is not what was executed".to_owned());
    }
    let elf = ProgramFile::mapped(&path.shown().to_string(), bytes, file.start, file.offset);
    elf.map_err(|error| error.to_string())
}

/// Returns whether one of the functions, which are sorted by address, has the address.
fn is_inside(functions: &[Symbol], addr: u64) -> bool {
    let after = functions.partition_point(|function| function.addr <= addr);
    let Some(function) = after.checked_sub(1).and_then(|index| functions.get(index)) else {
        return false;
    };
    addr - function.addr < function.size.max(1)
}
