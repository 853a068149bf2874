//! Kernel files: assembly for people and for `llvm-mca`, words for this model.
//!
//! `NAME.s` holds regions as `llvm-mca` reads them, each with its class and its purpose;
//! `NAME.words` holds the assembled words of each with their text, see `tests/kernels/README.md`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{files_below, read};

/// First line of a kernel.
pub const BEGIN: &str = "# LLVM-MCA-BEGIN ";
/// Last line of a kernel.
pub const END: &str = "# LLVM-MCA-END";

/// One instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The A64 word.
    pub word: u32,
    /// Its text, as LLVM's assembler prints it.
    pub text: String,
}

/// A loop without its backward branch.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Unique name.
    pub name: String,
    /// Group of instructions, one for each file.
    pub class: String,
    /// Purpose, in one line.
    pub shows: String,
    /// The body.
    pub words: Vec<Word>,
}

/// Words by kernel.
pub type Words = BTreeMap<String, Vec<Word>>;

/// Reads all kernels, in the order of the files and within them.
///
/// # Panics
///
/// When a file cannot be read or is not valid.
pub fn corpus() -> Vec<Kernel> {
    sources().iter().flat_map(|path| kernels_of(path)).collect()
}

/// Returns the paths of the assembly files.
pub fn sources() -> Vec<std::path::PathBuf> {
    files_below(&super::folder(), "s")
}

fn kernels_of(path: &Path) -> Vec<Kernel> {
    let mut words = parse_words(&read(&path.with_extension("words")));
    let mut kernels = Vec::new();
    for (name, lines) in regions(&read(path)) {
        let field = |key: &str| {
            let value = lines.iter().find_map(|line| line.strip_prefix(key));
            value.unwrap_or_else(|| panic!("{}: {name} has no line `{key}`", path.display()))
        };
        let (class, shows) = (field("# class: ").to_owned(), field("# shows: ").to_owned());
        let found = words.remove(&name);
        let words = found.unwrap_or_else(|| {
            panic!("{}: {name} has no words; run `cargo xtask compare-mca`", path.display())
        });
        kernels.push(Kernel { name, class, shows, words });
    }
    let left: Vec<_> = words.keys().collect();
    assert!(left.is_empty(), "{}: words without a kernel: {left:?}", path.display());
    kernels
}

/// Returns name and lines of each region of an assembly file.
pub fn regions(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(BEGIN) {
            found.push((name.trim().to_owned(), Vec::new()));
            inside = true;
        } else if line == END {
            inside = false;
        } else if let (true, Some((_, lines))) = (inside, found.last_mut()) {
            lines.push(line);
        }
    }
    found
}

/// Reads a `.words` file: the name of a kernel, then its words, indented, each with its text.
///
/// # Panics
///
/// When a line has neither form.
pub fn parse_words(text: &str) -> Words {
    let mut words = Words::new();
    let mut name = String::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => line.clone_into(&mut name),
            Some(rest) => {
                let parsed = rest.split_once(' ').and_then(|(hex, text)| {
                    let word = u32::from_str_radix(hex, 16).ok()?;
                    Some(Word { word, text: text.to_owned() })
                });
                let word = parsed.unwrap_or_else(|| panic!("`{line}`: write `  HEX TEXT`"));
                words.entry(name.clone()).or_default().push(word);
            }
        }
    }
    words
}

/// Returns a `.words` file for these kernels.
pub fn write_words(words: &[(String, Vec<Word>)]) -> String {
    use std::fmt::Write;
    let mut text = String::from("# Assembled by LLVM; written by `cargo xtask compare-mca`.\n");
    for (name, words) in words {
        let _ = writeln!(text, "{name}");
        for Word { word, text: instruction } in words {
            let _ = writeln!(text, "  {word:08x} {instruction}");
        }
    }
    text
}

/// Returns these kernels as assembly with all repeated blocks written out.
pub fn write_regions(words: &[(String, Vec<Word>)]) -> String {
    let mut text = String::new();
    for (name, words) in words {
        text.push_str(&format!("{BEGIN}{name}\n"));
        words.iter().for_each(|word| text.push_str(&format!("{}\n", word.text)));
        text.push_str(&format!("{END}\n"));
    }
    text
}
