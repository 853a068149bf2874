//! Page map of a trace: physical pages and attributes of its virtual pages (PMU guide 3.2.18).
//! Sizes of blocks and contiguous ranges are those of the Arm architecture.

use thiserror::Error;

use crate::layout::MAX_MAP_ENTRIES;
use crate::varint::{Bytes, put_varint, unzigzag, zigzag};

/// Memory type of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageMemory {
    /// Normal memory, write-back cacheable.
    #[default]
    Cacheable,
    /// Normal memory, non-cacheable.
    NonCacheable,
    /// Device memory.
    Device,
}

/// One page, block or contiguous range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageEntry {
    /// First virtual address, a multiple of `bytes`.
    pub virt: u64,
    /// Size of the page or block in bytes; with `contiguous`, size of the whole range.
    pub bytes: u64,
    /// Physical address of the first byte, a multiple of `bytes`.
    pub phys: u64,
    /// Memory type.
    pub memory: PageMemory,
    /// Normal Tagged memory. Only cacheable memory can be tagged.
    pub tagged: bool,
    /// Permission to write.
    pub write: bool,
    /// Permission to execute.
    pub execute: bool,
    /// Global mapping, valid in every address space.
    pub global: bool,
    /// Contiguous hint: one TLB entry covers the whole range.
    pub contiguous: bool,
}

/// Error of a map that no translation tables can express.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadPageMap {
    /// The granule does not exist.
    #[error("{0} bytes is not a translation granule; use 4096, 16384 or 65536")]
    Granule(u64),
    /// There are more entries than a trace may have.
    #[error("{0} entries, the limit is {MAX_MAP_ENTRIES}")]
    TooMany(usize),
    /// An entry has a wrong size.
    #[error(
        "entry {virt:#x}: {bytes} bytes is not a {what} of the {granule}-byte granule; use {sizes}"
    )]
    Size {
        /// Virtual address of the entry.
        virt: u64,
        /// Size of the entry.
        bytes: u64,
        /// "page or block" or "contiguous range".
        what: &'static str,
        /// Granule of the map.
        granule: u64,
        /// List of the possible sizes.
        sizes: String,
    },
    /// An address does not begin a page, block or range.
    #[error("entry {virt:#x}: {which} address {addr:#x} is not a multiple of its {bytes} bytes")]
    Unaligned {
        /// Virtual address of the entry.
        virt: u64,
        /// "virtual" or "physical".
        which: &'static str,
        /// Unaligned address.
        addr: u64,
        /// Size of the entry.
        bytes: u64,
    },
    /// An address has more than 48 bits.
    #[error("entry {virt:#x}: {which} address {addr:#x} has more than 48 bits")]
    Beyond {
        /// Virtual address of the entry.
        virt: u64,
        /// "virtual" or "physical".
        which: &'static str,
        /// Address with too many bits.
        addr: u64,
    },
    /// Two entries map the same virtual address.
    #[error("entry {virt:#x} overlaps the entry {before:#x}")]
    Overlap {
        /// Virtual address of the later entry.
        virt: u64,
        /// Virtual address of the earlier entry.
        before: u64,
    },
    /// Attributes are damaged or from a later version.
    #[error("entry {virt:#x}: unknown attributes {attributes:#x}")]
    Attributes {
        /// Virtual address of the entry.
        virt: u64,
        /// Attributes as stored.
        attributes: u64,
    },
    /// Tagged memory is not cacheable.
    #[error("entry {virt:#x}: only cacheable memory can be tagged")]
    Tagged {
        /// Virtual address of the entry.
        virt: u64,
    },
    /// The chunk contains fewer or more entries than its header counts.
    #[error("{0}")]
    Cut(&'static str),
}

/// Width of an address in bits; for virtual addresses, in each half of the address space.
const ADDRESS_BITS: u32 = 48;
/// First attribute bit, of tagged memory. Bits 0 and 1 are the memory type.
const TAGGED: u64 = 1 << 2;
const WRITE: u64 = 1 << 3;
const EXECUTE: u64 = 1 << 4;
const GLOBAL: u64 = 1 << 5;
const CONTIGUOUS: u64 = 1 << 6;

/// Returns the sizes of pages and blocks of a granule, each with the number of them in a contiguous
/// range.
fn sizes(granule: u64) -> Option<&'static [(u64, u64)]> {
    match granule {
        4096 => Some(&[(4 << 10, 16), (2 << 20, 16), (1 << 30, 16)]),
        16_384 => Some(&[(16 << 10, 128), (32 << 20, 32)]),
        65_536 => Some(&[(64 << 10, 32), (512 << 20, 32)]),
        _ => None,
    }
}

/// A page map: entries in order of virtual address, without overlaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMap {
    granule: u64,
    entries: Vec<PageEntry>,
}

impl PageMap {
    /// Creates a map for translation tables of this granule. The entries may be in any order.
    ///
    /// # Errors
    /// The granule does not exist, an entry cannot be in its tables, or two entries overlap.
    pub fn new(granule: u64, mut entries: Vec<PageEntry>) -> Result<PageMap, BadPageMap> {
        if sizes(granule).is_none() {
            return Err(BadPageMap::Granule(granule));
        }
        if entries.len() > MAX_MAP_ENTRIES as usize {
            return Err(BadPageMap::TooMany(entries.len()));
        }
        entries.sort_by_key(|entry| entry.virt);
        entries.iter().try_for_each(|entry| entry.check(granule))?;
        for pair in entries.windows(2) {
            // Both are aligned to their sizes, so this subtraction detects every overlap.
            if pair[1].virt - pair[0].virt < pair[0].bytes {
                return Err(BadPageMap::Overlap { virt: pair[1].virt, before: pair[0].virt });
            }
        }
        Ok(PageMap { granule, entries })
    }

    /// Returns the granule of the tables: 4096, 16384 or 65536 bytes.
    pub fn granule(&self) -> u64 {
        self.granule
    }

    /// Returns the entries in order of virtual address.
    pub fn entries(&self) -> &[PageEntry] {
        &self.entries
    }

    /// Returns the bytes of virtual memory that the map covers.
    pub fn mapped_bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    /// Returns the map as the column of a MAP chunk.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.granule);
        let (mut virt, mut phys) = (0u64, 0u64);
        for entry in &self.entries {
            put_varint(&mut out, zigzag(entry.virt.wrapping_sub(virt)));
            put_varint(&mut out, entry.bytes);
            put_varint(&mut out, zigzag(entry.phys.wrapping_sub(phys)));
            put_varint(&mut out, entry.attributes());
            virt = entry.virt.wrapping_add(entry.bytes);
            phys = entry.phys.wrapping_add(entry.bytes);
        }
        out
    }

    /// Returns the map in the column of a MAP chunk. Checks all content.
    pub(crate) fn decode(column: &[u8], count: u32) -> Result<PageMap, BadPageMap> {
        let mut bytes = Bytes::new(column);
        let mut next = || bytes.varint().ok_or(BadPageMap::Cut("the entries end early"));
        let granule = next()?;
        let mut entries = Vec::new();
        let (mut virt, mut phys) = (0u64, 0u64);
        for _ in 0..count {
            virt = virt.wrapping_add(unzigzag(next()?));
            let size = next()?;
            phys = phys.wrapping_add(unzigzag(next()?));
            entries.push(PageEntry::with_attributes(virt, size, phys, next()?)?);
            (virt, phys) = (virt.wrapping_add(size), phys.wrapping_add(size));
        }
        if !bytes.is_empty() {
            return Err(BadPageMap::Cut("more entries than counted"));
        }
        PageMap::new(granule, entries)
    }
}

impl PageEntry {
    /// Returns the size in bytes of the page or block of one descriptor; with `contiguous`, of one
    /// in the range.
    pub fn unit_bytes(&self, granule: u64) -> u64 {
        if !self.contiguous {
            return self.bytes;
        }
        let sizes = sizes(granule).unwrap_or_default();
        let unit = sizes.iter().find(|(unit, count)| unit * count == self.bytes);
        unit.map_or(self.bytes, |&(unit, _)| unit)
    }

    /// Refuses an entry that no descriptor can express.
    fn check(&self, granule: u64) -> Result<(), BadPageMap> {
        let PageEntry { virt, bytes, phys, .. } = *self;
        let known = sizes(granule).unwrap_or_default();
        let known: Vec<u64> =
            known.iter().map(|(unit, n)| if self.contiguous { unit * n } else { *unit }).collect();
        if !known.contains(&bytes) {
            let sizes: Vec<String> = known.iter().map(u64::to_string).collect();
            let what = if self.contiguous { "contiguous range" } else { "page or block" };
            return Err(BadPageMap::Size { virt, bytes, what, granule, sizes: sizes.join(", ") });
        }
        for (which, addr) in [("virtual", virt), ("physical", phys)] {
            if !addr.is_multiple_of(bytes) {
                return Err(BadPageMap::Unaligned { virt, which, addr, bytes });
            }
            // Entries are aligned and their sizes divide 2^48, so one that begins inside ends
            // inside.
            let upper = addr >> ADDRESS_BITS;
            if upper != 0 && (which == "physical" || upper != u64::MAX >> ADDRESS_BITS) {
                return Err(BadPageMap::Beyond { virt, which, addr });
            }
        }
        if self.tagged && self.memory != PageMemory::Cacheable {
            return Err(BadPageMap::Tagged { virt });
        }
        Ok(())
    }

    /// Returns the attributes as one number.
    fn attributes(&self) -> u64 {
        let memory = match self.memory {
            PageMemory::Cacheable => 0,
            PageMemory::NonCacheable => 1,
            PageMemory::Device => 2,
        };
        let bits = [
            (self.tagged, TAGGED),
            (self.write, WRITE),
            (self.execute, EXECUTE),
            (self.global, GLOBAL),
            (self.contiguous, CONTIGUOUS),
        ];
        bits.into_iter().filter(|(set, _)| *set).fold(memory, |number, (_, bit)| number | bit)
    }

    fn with_attributes(
        virt: u64,
        bytes: u64,
        phys: u64,
        attributes: u64,
    ) -> Result<PageEntry, BadPageMap> {
        let memory = match attributes & 3 {
            0 => PageMemory::Cacheable,
            1 => PageMemory::NonCacheable,
            2 => PageMemory::Device,
            _ => return Err(BadPageMap::Attributes { virt, attributes }),
        };
        let has = |bit| attributes & bit != 0;
        let entry = PageEntry {
            virt,
            bytes,
            phys,
            memory,
            tagged: has(TAGGED),
            write: has(WRITE),
            execute: has(EXECUTE),
            global: has(GLOBAL),
            contiguous: has(CONTIGUOUS),
        };
        let known = entry.attributes() == attributes;
        if known { Ok(entry) } else { Err(BadPageMap::Attributes { virt, attributes }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an unchecked column, as a hostile writer would make it.
    fn column(granule: u64, entries: &[PageEntry]) -> Vec<u8> {
        PageMap { granule, entries: entries.to_vec() }.encode()
    }

    fn page(virt: u64, bytes: u64, phys: u64) -> PageEntry {
        PageEntry { virt, bytes, phys, write: true, ..PageEntry::default() }
    }

    /// Returns the reason why a reader refuses a chunk of these entries.
    fn refusal(granule: u64, entries: &[PageEntry]) -> String {
        let error = PageMap::decode(&column(granule, entries), entries.len() as u32);
        error.expect_err("a map that no tables can express").to_string()
    }

    #[test]
    fn a_reader_refuses_a_map_that_no_tables_can_express() {
        let good = page(0x40_0000, 0x20_0000, 0x8000_0000);
        assert!(PageMap::decode(&column(4096, &[good]), 1).is_ok());
        let tagged_device =
            PageEntry { memory: PageMemory::Device, tagged: true, ..page(0, 4096, 0) };
        let range = PageEntry { contiguous: true, ..page(0, 4096, 0) };
        for (granule, entries, reason) in [
            (8192, vec![], "8192 bytes is not a translation granule"),
            (4096, vec![good, page(0x5f_f000, 4096, 0)], "overlaps the entry 0x400000"),
            (4096, vec![good, good], "overlaps"),
            (4096, vec![page(0x800, 4096, 0)], "virtual address 0x800 is not a multiple of"),
            (4096, vec![page(0, 2 << 20, 4096)], "physical address 0x1000 is not a multiple"),
            (4096, vec![page(0, 8192, 0)], "is not a page or block of the 4096-byte granule"),
            (4096, vec![page(0, 0, 0)], "entry 0x0: 0 bytes"),
            (16_384, vec![page(0, 4096, 0)], "use 16384, 33554432"),
            (4096, vec![range], "not a contiguous range of the 4096-byte granule; use 65536,"),
            (4096, vec![page(1 << 48, 4096, 0)], "virtual address 0x1000000000000 has more"),
            (4096, vec![page(0, 4096, 1 << 48)], "physical address 0x1000000000000 has more"),
            (4096, vec![tagged_device], "only cacheable memory can be tagged"),
        ] {
            let error = refusal(granule, &entries);
            assert!(error.contains(reason), "{error}");
        }
        let top = page(u64::MAX << 12, 4096, 0);
        assert!(PageMap::new(4096, vec![top]).is_ok(), "the upper half ends with it");
    }

    #[test]
    fn a_reader_refuses_unknown_attributes_and_other_counts() {
        let whole = column(4096, &[page(0, 4096, 0)]);
        for attributes in [3u64, 1 << 7, u64::MAX] {
            let mut bytes = whole.clone();
            bytes.pop();
            put_varint(&mut bytes, attributes);
            let error = PageMap::decode(&bytes, 1).expect_err("unknown").to_string();
            assert_eq!(error, format!("entry 0x0: unknown attributes {attributes:#x}"));
        }
        let error = |bytes: &[u8], n| PageMap::decode(bytes, n).expect_err("cut").to_string();
        assert_eq!(error(&whole, 0), "more entries than counted");
        assert_eq!(error(&whole, 2), "the entries end early");
        for length in 0..whole.len() {
            assert_eq!(error(&whole[..length], 1), "the entries end early");
        }
    }

    #[test]
    fn a_contiguous_range_knows_the_size_of_its_pages() {
        let units = [(4096, 64 << 10, 4096), (4096, 16 << 30, 1 << 30), (16_384, 2 << 20, 16_384)];
        for (granule, bytes, unit) in units {
            let range = PageEntry { contiguous: true, ..page(0, bytes, 0) };
            assert_eq!(range.check(granule), Ok(()));
            assert_eq!(range.unit_bytes(granule), unit);
        }
    }
}
