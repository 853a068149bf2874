//! Functions of the kernel, from a file that the user names.

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSymbol, SymbolKind};
use sim_core::Shown;
use sim_trace::Symbol;
use std::path::Path;

/// Reads an ELF file, or text with an address, a letter and a name on each line.
pub(super) fn read(path: &Path) -> Result<Vec<Symbol>> {
    // Not through `sim_files`: the fuzz target of the parser compiles this file alone, without that
    // crate.
    let data = std::fs::read(path).with_context(|| format!("cannot read {}", path.shown()))?;
    parse(&data, path)
}

/// Reads the functions of such a file; `path` names it in messages.
pub(super) fn parse(data: &[u8], path: &Path) -> Result<Vec<Symbol>> {
    let shown = path.shown();
    let symbols = if data.starts_with(b"\x7fELF") {
        from_elf(data).with_context(|| format!("{shown} is not a complete ELF file"))?
    } else {
        from_text(&String::from_utf8_lossy(data))
    };
    if symbols.is_empty() {
        bail!("{shown} names no function: use System.map, a copy of /proc/kallsyms, or vmlinux");
    }
    Ok(symbols)
}

fn from_elf(data: &[u8]) -> Result<Vec<Symbol>> {
    let elf = object::File::parse(data)?;
    let functions = elf.symbols().filter(|s| s.kind() == SymbolKind::Text && s.is_definition());
    let named = functions.filter_map(|s| Some((s.address(), s.name().ok()?.to_owned())));
    Ok(sized(named.collect()))
}

/// Functions have the letters t, T, w and W. Addresses of 0 are those that the kernel hides.
fn from_text(text: &str) -> Vec<Symbol> {
    let functions = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        let is_function = matches!(words.next()?, "t" | "T" | "w" | "W");
        let name = words.next()?;
        (is_function && address != 0).then(|| (address, name.to_owned()))
    });
    sized(functions.collect())
}

/// Gives each function the size up to the next one; the last has none.
fn sized(mut functions: Vec<(u64, String)>) -> Vec<Symbol> {
    // Marks of the compiler are not functions.
    functions.retain(|(_, name)| !name.starts_with('$') && !name.is_empty());
    functions.sort();
    functions.dedup_by_key(|(address, _)| *address);
    let ends: Vec<u64> = functions.iter().skip(1).map(|(address, _)| *address).collect();
    let ends = ends.into_iter().map(Some).chain([None]);
    functions
        .into_iter()
        .zip(ends)
        .map(|((addr, name), end)| Symbol { name, addr, size: end.map_or(0, |end| end - addr) })
        .collect()
}

/// Returns the program's functions and the kernel's, in order of address.
pub(super) fn merge(program: Vec<Symbol>, kernel: Vec<Symbol>) -> Vec<Symbol> {
    let mut symbols = program;
    symbols.extend(kernel);
    symbols.sort_by_key(|symbol| symbol.addr);
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_a_system_map_reach_to_the_next() {
        let text = "ffff800008010000 T _stext\n\
                    ffff800008010040 t el1_sync\n\
                    ffff800008010040 T alias\n\
                    ffff800008010080 t $x\n\
                    ffff800008020000 D data\n\
                    0000000000000000 T hidden\n\
                    no line of it\n\
                    ffff800008010090 W weak [module]\n";
        let symbols = from_text(text);
        let shown: Vec<_> =
            symbols.iter().map(|s| (s.name.as_str(), s.addr & 0xfff, s.size)).collect();
        assert_eq!(shown, [("_stext", 0, 0x40), ("alias", 0x40, 0x50), ("weak", 0x90, 0)]);
    }
}
