//! The files that hold the program's code, as the system maps them into the engine.

use crate::wire::MAX_PATH;
use std::ops::Range;

/// List of this process's mappings.
const MAPS: &str = "/proc/self/maps";
/// Memory that has a name like a file but is none.
const NO_FILES: [&str; 3] = ["/memfd:", "/dev/zero", "/SYSV"];

/// A file of which a part is mapped, at addresses of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// Addresses of the part.
    pub(crate) host: Range<u64>,
    /// Offset of its first byte in the file.
    pub(crate) offset: u64,
    /// Path of the file.
    pub(crate) path: String,
}

/// The mappings that were looked up.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    known: Vec<Range<u64>>,
    /// Times that the list could not be read: the program may have taken all descriptors.
    failures: u32,
}

/// Failures after which the list is not asked for again.
const PATIENCE: u32 = 16;

impl Mappings {
    /// Returns the file mapped at address `host` of this process. Returns `None` if its mapping
    /// was asked for before, if it is of no file, or if the system does not list it.
    pub(crate) fn find(&mut self, host: u64) -> Option<Mapping> {
        if self.failures > PATIENCE || self.known.iter().any(|range| range.contains(&host)) {
            return None;
        }
        let Ok(text) = std::fs::read(MAPS) else {
            self.failures += 1;
            return None;
        };
        let mapping = String::from_utf8_lossy(&text).lines().find_map(|line| at(line, host))?;
        self.known.push(mapping.host.clone());
        let is_file = mapping.path.starts_with('/')
            && mapping.path.len() <= MAX_PATH
            && !NO_FILES.iter().any(|name| mapping.path.starts_with(name));
        is_file.then_some(mapping)
    }

    /// Forgets the mapping at an address whose content changed: another file may be there.
    pub(crate) fn forget(&mut self, host: u64) {
        self.known.retain(|range| !range.contains(&host));
    }
}

/// Returns the mapping in a line of the list, if it has the address `host`. A line is
/// `start-end access offset device inode path`, and the path may contain spaces.
fn at(line: &str, host: u64) -> Option<Mapping> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, rest) = line.split_once('-')?;
    let (end, rest) = rest.split_once(' ')?;
    let range = hex(start)?..hex(end)?;
    let mut fields = rest.splitn(5, ' ').skip(1);
    let offset = hex(fields.next()?)?;
    let path = fields.nth(2).unwrap_or_default().trim_start().to_owned();
    range.contains(&host).then_some(Mapping { host: range, offset, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_gives_the_mapping_of_its_addresses() {
        let line = "7f00a000-7f00c000 r--p 00001000 fe:00 1234                       /opt/a b.so";
        let mapping =
            Mapping { host: 0x7f00_a000..0x7f00_c000, offset: 0x1000, path: "/opt/a b.so".into() };
        assert_eq!(at(line, 0x7f00_a000), Some(mapping.clone()));
        assert_eq!(at(line, 0x7f00_bfff), Some(mapping));
        assert_eq!(at(line, 0x7f00_c000), None);
        let anonymous = "1000-2000 rw-p 00000000 00:00 0 ";
        assert_eq!(at(anonymous, 0x1000).map(|mapping| mapping.path), Some(String::new()));
        assert_eq!(at("no mapping", 0), None);
    }

    #[cfg(not(miri))] // Miri has no list of mappings.
    #[test]
    fn the_file_of_an_address_is_found_once() {
        let mut mappings = Mappings::default();
        let code = the_file_of_an_address_is_found_once as fn() as usize as u64;
        let own = mappings.find(code).expect("this program is a file");
        let program = std::env::current_exe().expect("it has a path");
        assert_eq!(own.path, program.to_string_lossy());
        assert!(own.host.contains(&code));
        assert_eq!(mappings.find(code), None);
        mappings.forget(code);
        assert_eq!(mappings.find(code), Some(own));
        let heap = Box::new(7u64);
        assert_eq!(mappings.find(&raw const *heap as u64), None, "no file is mapped there");
    }
}
