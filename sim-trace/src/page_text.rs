//! Text form of a page map: one page, block or contiguous range per line.

use std::str::FromStr;

use thiserror::Error;

use crate::page_map::{BadPageMap, PageEntry, PageMap, PageMemory};

/// Error of a text that is not a page map.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PageTextError {
    /// A line cannot be parsed.
    #[error("line {line}: {what}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Fault and remedy.
        what: String,
    },
    /// The text has no page: an empty file, or the wrong one.
    #[error("it has no page; write VIRTUAL,BYTES,PHYSICAL,ATTRIBUTES on a line of its own")]
    Empty,
    /// The entries do not form a map.
    #[error(transparent)]
    Map(#[from] BadPageMap),
}

impl FromStr for PageMap {
    type Err = PageTextError;

    /// Reads lines `granule,BYTES` (once) and `VIRTUAL,BYTES,PHYSICAL,ATTRIBUTES`. Numbers are
    /// decimal or 0x.... Attributes are words with spaces between: `cacheable` (the default),
    /// `non-cacheable` or `device`; `tagged`, `write`, `execute`, `global`, `contiguous`. `#`
    /// starts a comment.
    fn from_str(text: &str) -> Result<PageMap, PageTextError> {
        let (mut granule, mut entries) = (None, Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            let at = |what| PageTextError::Line { line, what };
            let fields: Vec<&str> = text.split(',').map(str::trim).collect();
            match fields[..] {
                [""] => {}
                ["granule", bytes] if granule.is_none() => {
                    granule = Some(number(bytes).map_err(at)?);
                }
                ["granule", _] => return Err(at("the granule is given twice".to_owned())),
                [virt, bytes, phys, words] => {
                    entries.push(entry([virt, bytes, phys], words).map_err(at)?);
                }
                _ => {
                    let what = "expected granule,BYTES or VIRTUAL,BYTES,PHYSICAL,ATTRIBUTES";
                    return Err(at(what.to_owned()));
                }
            }
        }
        if entries.is_empty() {
            return Err(PageTextError::Empty);
        }
        Ok(PageMap::new(granule.unwrap_or(4096), entries)?)
    }
}

fn entry([virt, bytes, phys]: [&str; 3], words: &str) -> Result<PageEntry, String> {
    let (virt, bytes, phys) = (number(virt)?, number(bytes)?, number(phys)?);
    let mut entry = PageEntry { virt, bytes, phys, ..PageEntry::default() };
    for word in words.split_whitespace() {
        match word {
            "cacheable" => entry.memory = PageMemory::Cacheable,
            "non-cacheable" => entry.memory = PageMemory::NonCacheable,
            "device" => entry.memory = PageMemory::Device,
            "tagged" => entry.tagged = true,
            "write" => entry.write = true,
            "execute" => entry.execute = true,
            "global" => entry.global = true,
            "contiguous" => entry.contiguous = true,
            _ => {
                return Err(format!(
                    "unknown attribute '{word}'; use cacheable, non-cacheable, device, tagged, \
                     write, execute, global, contiguous"
                ));
            }
        }
    }
    Ok(entry)
}

fn number(text: &str) -> Result<u64, String> {
    let hex = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
    let value = hex.unwrap_or_else(|| text.parse());
    value.map_err(|_| format!("'{text}' is not a number; use decimal or 0x..."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_page_is_refused() {
        for text in ["", "# nothing\n", "granule,4096\n"] {
            assert_eq!(text.parse::<PageMap>(), Err(PageTextError::Empty), "{text:?}");
        }
    }

    #[test]
    fn lines_become_entries() {
        let text = "# code\ngranule,4096\n\n0x400000, 0x200000, 0x80000000, execute # text\n\
                    8192,4096,0x9000000,device write\n";
        let map: PageMap = text.parse().expect("a map");
        let code = PageEntry {
            virt: 0x40_0000,
            bytes: 2 << 20,
            phys: 0x8000_0000,
            execute: true,
            ..PageEntry::default()
        };
        let device = PageEntry {
            virt: 8192,
            bytes: 4096,
            phys: 0x900_0000,
            memory: PageMemory::Device,
            write: true,
            ..PageEntry::default()
        };
        assert_eq!(map, PageMap::new(4096, vec![code, device]).expect("a map"));
    }

    #[test]
    fn an_error_names_the_bad_line() {
        for (text, expected) in [
            ("\n0,4096,0,shared", "line 2: unknown attribute 'shared'; use cacheable"),
            ("0,4096", "line 1: expected granule,BYTES or VIRTUAL"),
            ("x,4096,0,", "line 1: 'x' is not a number"),
            ("granule,4096\ngranule,4096", "line 2: the granule is given twice"),
            ("granule,4095\n0,4096,0,", "4095 bytes is not a translation granule"),
            ("0,4097,0,", "entry 0x0: 4097 bytes is not a page or block"),
        ] {
            let error = text.parse::<PageMap>().expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
