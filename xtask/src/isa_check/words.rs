//! Sources of words: executable sections of ELF files, and lists.

use std::path::Path;

use anyhow::{Context, Result, bail};
use object::elf::{EM_AARCH64, SHF_EXECINSTR};
use object::{Architecture, Object, ObjectSection, SectionFlags};

/// Returns the distinct words of all executable sections, sorted.
pub(super) fn of_elf(path: &Path) -> Result<Vec<u32>> {
    let place = || format!("reading {}", path.display());
    let data = std::fs::read(path).with_context(place)?;
    let file = object::File::parse(&*data).with_context(place)?;
    if file.architecture() != Architecture::Aarch64 {
        bail!("{} is not an AArch64 file (machine {EM_AARCH64} expected)", path.display());
    }
    let mut words = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if !sh_flags.contains(SHF_EXECINSTR) {
            continue;
        }
        let bytes = section.data().with_context(place)?;
        words.extend(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    }
    Ok(distinct(words))
}

/// Returns the distinct words of a list, one hexadecimal number at the beginning of each line.
pub(super) fn of_list(path: &Path) -> Result<Vec<u32>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let digits = line.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or("");
        if digits.is_empty() {
            continue;
        }
        let word = u32::from_str_radix(digits, 16).with_context(|| {
            format!("{}:{}: {digits} is not a hexadecimal word", path.display(), number + 1)
        })?;
        words.push(word);
    }
    Ok(distinct(words))
}

fn distinct(mut words: Vec<u32>) -> Vec<u32> {
    words.sort_unstable();
    words.dedup();
    words
}
