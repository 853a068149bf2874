//! Names of code: functions from a trace or an ELF file, source lines and inlined calls from DWARF.
//! Every conversion of an address to a name is here.

mod code_elf;
mod debug_file;
mod lines;
mod placement;
mod program;
mod unlisted;

use std::io::{Read, Seek};

use sim_core::Shown;
use sim_trace::{MappedFile, Symbol, TraceFile};

pub use code_elf::code_elf;
pub use debug_file::read_elf;
pub use program::{ProgramFile, Segment, SymbolError};

use lines::Lines;

/// Named range of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name, demangled.
    pub name: String,
    /// First address, as executed.
    pub addr: u64,
    /// Length in bytes.
    pub size: u64,
}

impl From<Symbol> for Function {
    fn from(symbol: Symbol) -> Function {
        let Symbol { name, addr, size } = symbol;
        Function { name: demangled(&name), addr, size }
    }
}

/// Function, and the offset of an address in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Function.
    pub function: &'a Function,
    /// Offset in bytes.
    pub offset: u64,
}

/// Function that is active at an address. The innermost inlined one comes first, the real one last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name.
    pub function: String,
    /// File and line, if the program contains them.
    pub line: Option<SourceLine>,
}

/// Line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// File as the compiler names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// Known names of a program's code and data.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Functions by address, without overlaps.
    functions: Vec<Function>,
    /// Variables by address. Only programs name them, traces do not.
    variables: Vec<Function>,
    lines: Vec<Lines>,
}

impl Symbols {
    /// Returns the functions that the trace names.
    pub fn from_trace<R: Read + Seek>(trace: &TraceFile<R>) -> Symbols {
        let files = &trace.meta().files;
        let functions = trace.meta().symbols.iter().cloned().map(|mut symbol| {
            // One without a length ends with its file, not with the next function of another one.
            let end = |file: &MappedFile| file.start.saturating_add(file.bytes);
            let own = files.iter().find(|file| (file.start..end(file)).contains(&symbol.addr));
            if let (0, Some(file)) = (symbol.size, own) {
                symbol.size = end(file) - symbol.addr;
            }
            Function::from(symbol)
        });
        let functions = sorted(functions.collect());
        Symbols { functions, ..Symbols::default() }
    }

    /// Returns the given functions.
    #[cfg(test)]
    pub(crate) fn from_functions(functions: Vec<Function>) -> Symbols {
        Symbols { functions: sorted(functions), ..Symbols::default() }
    }

    /// Adds the names of an ELF file at its load address. Existing names of an address stay unless
    /// they are made ones in brackets.
    ///
    /// # Errors
    /// Fails if it is not an ELF file for AArch64, or not the program of the trace.
    pub fn add(&mut self, program: &ProgramFile) -> Result<(), SymbolError> {
        let mut functions = std::mem::take(&mut self.functions);
        functions.extend(program.functions());
        self.functions = sorted(functions);
        let mut variables = std::mem::take(&mut self.variables);
        variables.extend(program.variables()?);
        self.variables = sorted(variables);
        self.lines.extend(program.lines());
        Ok(())
    }

    /// Returns the functions, by address.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the function at an address.
    pub fn function(&self, pc: u64) -> Option<Place<'_>> {
        let after = self.functions.partition_point(|function| function.addr <= pc);
        let function = self.functions.get(after.checked_sub(1)?)?;
        let offset = pc - function.addr;
        (offset < function.size).then_some(Place { function, offset })
    }

    /// Returns `function+0x14`, or the bare address if no function is known.
    pub fn name(&self, pc: u64) -> String {
        match self.function(pc) {
            Some(Place { function, offset: 0 }) => function.name.clone(),
            Some(Place { function, offset }) => format!("{}+{offset:#x}", function.name),
            None => format!("{pc:#x}"),
        }
    }

    /// Returns `variable+0x14` for data, or `None` if no variable is known.
    pub fn data_name(&self, address: u64) -> Option<String> {
        let after = self.variables.partition_point(|variable| variable.addr <= address);
        let variable = self.variables.get(after.checked_sub(1)?)?;
        match address - variable.addr {
            0 => Some(variable.name.clone()),
            offset if offset < variable.size => Some(format!("{}+{offset:#x}", variable.name)),
            _ => None,
        }
    }

    /// Returns the functions active at an address with their lines, innermost first. Returns an
    /// empty list if none is known.
    pub fn frames(&self, pc: u64) -> Vec<Frame> {
        let inlined = self.lines.iter().map(|lines| lines.frames(pc));
        if let Some(frames) = inlined.into_iter().find(|frames| !frames.is_empty()) {
            return frames;
        }
        let function = self.function(pc).map(|place| place.function.name.clone());
        function.map(|function| Frame { function, line: None }).into_iter().collect()
    }
}

/// Returns the name in the source, if the compiler mangled it. A symbol table may contain any
/// bytes: control characters and line ends become escapes.
fn demangled(name: &str) -> String {
    match rustc_demangle::try_demangle(name) {
        Ok(plain) => format!("{plain:#}").shown().to_string(),
        Err(_) => name.shown().to_string(),
    }
}

/// Sorts functions by address and removes duplicates, and made names where a listed function is. A
/// function without a length extends to the next one, and none overlaps the next one.
fn sorted(mut functions: Vec<Function>) -> Vec<Function> {
    functions.sort_by_key(|function| (function.addr, unlisted::is_made(&function.name)));
    functions.dedup_by_key(|function| function.addr);
    let mut listed_end = 0;
    functions.retain(|function| {
        let is_made = unlisted::is_made(&function.name);
        if !is_made {
            listed_end = function.addr.saturating_add(function.size);
        }
        !is_made || function.addr >= listed_end
    });
    let starts: Vec<u64> = functions.iter().map(|function| function.addr).skip(1).collect();
    for (function, next) in functions.iter_mut().zip(starts) {
        let room = next - function.addr;
        function.size = if function.size == 0 { room } else { function.size.min(room) };
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(functions: &[(&str, u64, u64)]) -> Symbols {
        let functions = functions.iter().map(|&(name, addr, size)| Function {
            name: demangled(name),
            addr,
            size,
        });
        Symbols { functions: sorted(functions.collect()), ..Symbols::default() }
    }

    #[test]
    fn an_address_belongs_to_the_function_that_contains_it() {
        let symbols = symbols(&[("b", 0x2000, 0x10), ("a", 0x1000, 0), ("alias", 0x2000, 0x10)]);
        assert_eq!(symbols.name(0x1ffc), "a+0xffc", "without a length it extends to the next");
        assert_eq!(symbols.name(0x2000), "b");
        assert_eq!(symbols.name(0x200c), "b+0xc");
        for unknown in [0, 0xfff, 0x2010, u64::MAX] {
            assert_eq!(symbols.name(unknown), format!("{unknown:#x}"));
        }
        assert_eq!(symbols.frames(0x200c)[0].function, "b");
        assert!(symbols.frames(0x3000).is_empty());
    }

    #[test]
    fn a_made_name_gives_way_to_a_listed_function() {
        let made = ("[lib.so 0x20]", 0x2000, 0x10);
        let symbols = symbols(&[made, ("b", 0x2000, 0x40), ("[lib.so 0x30]", 0x2030, 0x40)]);
        assert_eq!(symbols.name(0x2034), "b+0x34");
        assert_eq!(self::symbols(&[made]).name(0x2004), "[lib.so 0x20]+0x4");
    }

    #[test]
    fn data_belongs_to_the_variable_that_contains_it() {
        let variable = |name: &str, addr, size| Function { name: name.to_owned(), addr, size };
        let variables = sorted(vec![variable("pool", 0x2000, 0x100), variable("seed", 0x1000, 8)]);
        let symbols = Symbols { variables, ..Symbols::default() };
        let name = |address| symbols.data_name(address);
        assert_eq!(name(0x1000).as_deref(), Some("seed"));
        assert_eq!(name(0x20c0).as_deref(), Some("pool+0xc0"));
        assert_eq!((name(0x1008), name(0x2100), name(0)), (None, None, None));
    }

    #[test]
    fn rust_names_are_demangled() {
        let symbols = symbols(&[("_RNvCs1234_7mycrate3foo", 0, 4), ("_ZN3foo3barE", 8, 4)]);
        assert_eq!(symbols.name(0), "mycrate::foo");
        assert_eq!(symbols.name(8), "foo::bar");
    }
}
