//! The page map of a trace: which physical page and which attributes its virtual pages had (PMU
//! guide 3.2.18). The sizes of blocks and of contiguous ranges are the Arm architecture's.

use thiserror::Error;

use crate::layout::MAX_MAP_ENTRIES;
use crate::varint::{Bytes, put_varint, unzigzag, zigzag};

/// What a page's attributes say about caching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageMemory {
    /// Normal memory, write-back cacheable.
    #[default]
    Cacheable,
    /// Normal memory that no cache keeps.
    NonCacheable,
    /// A device.
    Device,
}

/// One page, block or contiguous range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageEntry {
    /// First virtual address, a multiple of `bytes`.
    pub virt: u64,
    /// Bytes of the page or block; with `contiguous`, of the whole range.
    pub bytes: u64,
    /// Physical address of the first byte, a multiple of `bytes`.
    pub phys: u64,
    /// Memory type.
    pub memory: PageMemory,
    /// Normal Tagged memory; only cacheable memory can be.
    pub tagged: bool,
    /// May be written.
    pub write: bool,
    /// May be executed.
    pub execute: bool,
    /// Holds for every address space.
    pub global: bool,
    /// Contiguous hint: one TLB entry holds the whole range.
    pub contiguous: bool,
}

/// A map that no tables of its granule can say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadPageMap {
    /// The granule.
    #[error("{0} bytes are no translation granule: use 4096, 16384 or 65536")]
    Granule(u64),
    /// More entries than a trace may have.
    #[error("{0} entries, the limit is {MAX_MAP_ENTRIES}")]
    TooMany(usize),
    /// The size of an entry.
    #[error(
        "entry {virt:#x}: {bytes} bytes are no {what} of the {granule}-byte granule: use {sizes}"
    )]
    Size {
        /// Its virtual address.
        virt: u64,
        /// Its size.
        bytes: u64,
        /// "page or block" or "contiguous range".
        what: &'static str,
        /// The granule of the map.
        granule: u64,
        /// The sizes that there are.
        sizes: String,
    },
    /// An address that does not begin a page, block or range.
    #[error("entry {virt:#x}: {which} address {addr:#x} is not a multiple of its {bytes} bytes")]
    Unaligned {
        /// Its virtual address.
        virt: u64,
        /// "virtual" or "physical".
        which: &'static str,
        /// The address.
        addr: u64,
        /// Bytes of the entry.
        bytes: u64,
    },
    /// An address of more than 48 bits.
    #[error("entry {virt:#x}: {which} address {addr:#x} has more than 48 bits")]
    Beyond {
        /// Its virtual address.
        virt: u64,
        /// "virtual" or "physical".
        which: &'static str,
        /// The address.
        addr: u64,
    },
    /// Two entries map the same virtual address.
    #[error("entry {virt:#x} overlaps the entry {before:#x}")]
    Overlap {
        /// Virtual address of the later one.
        virt: u64,
        /// Virtual address of the one before.
        before: u64,
    },
    /// Attributes of a later version, or damaged ones.
    #[error("entry {virt:#x}: unknown attributes {attributes:#x}")]
    Attributes {
        /// Its virtual address.
        virt: u64,
        /// The number that stands for them.
        attributes: u64,
    },
    /// Tagged memory that is not cacheable.
    #[error("entry {virt:#x}: only cacheable memory can be tagged")]
    Tagged {
        /// Its virtual address.
        virt: u64,
    },
    /// The entries do not fill the chunk, or the chunk ends before them.
    #[error("{0}")]
    Cut(&'static str),
}

/// Bits of addresses, virtual ones in each half of the address space.
const ADDRESS_BITS: u32 = 48;
/// Numbers of the attribute bits; bits 0 and 1 are the memory type.
const TAGGED: u64 = 1 << 2;
const WRITE: u64 = 1 << 3;
const EXECUTE: u64 = 1 << 4;
const GLOBAL: u64 = 1 << 5;
const CONTIGUOUS: u64 = 1 << 6;

/// Sizes of pages and blocks of a granule, and pages or blocks in a contiguous range.
fn sizes(granule: u64) -> Option<&'static [(u64, u64)]> {
    match granule {
        4096 => Some(&[(4 << 10, 16), (2 << 20, 16), (1 << 30, 16)]),
        16_384 => Some(&[(16 << 10, 128), (32 << 20, 32)]),
        65_536 => Some(&[(64 << 10, 32), (512 << 20, 32)]),
        _ => None,
    }
}

/// A whole map: entries in order of virtual address that do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageMap {
    granule: u64,
    entries: Vec<PageEntry>,
}

impl PageMap {
    /// A map of tables with pages of `granule` bytes; the entries may come in any order.
    ///
    /// # Errors
    /// If there is no such granule, or an entry cannot be in its tables, or two overlap.
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
            // Both are aligned to their sizes, so the subtraction is all that can show an overlap.
            if pair[1].virt - pair[0].virt < pair[0].bytes {
                return Err(BadPageMap::Overlap { virt: pair[1].virt, before: pair[0].virt });
            }
        }
        Ok(PageMap { granule, entries })
    }

    /// Bytes of a page of the tables: 4096, 16384 or 65536.
    pub fn granule(&self) -> u64 {
        self.granule
    }

    /// The entries in order of virtual address.
    pub fn entries(&self) -> &[PageEntry] {
        &self.entries
    }

    /// Bytes of virtual memory that the map names.
    pub fn mapped_bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    /// The column of a MAP chunk.
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

    /// The map that a MAP chunk's column holds; nothing of it is believed.
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
    /// Bytes of the descriptor's page or block: with `contiguous`, of one of the range.
    pub fn unit_bytes(&self, granule: u64) -> u64 {
        if !self.contiguous {
            return self.bytes;
        }
        let sizes = sizes(granule).unwrap_or_default();
        let unit = sizes.iter().find(|(unit, count)| unit * count == self.bytes);
        unit.map_or(self.bytes, |&(unit, _)| unit)
    }

    /// Refuses what no descriptor says.
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
            // Aligned and of a size that divides 2^48: an entry that begins inside ends inside.
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

    /// The attributes as one number.
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

    /// A column as a hostile writer would make it: nothing is checked.
    fn column(granule: u64, entries: &[PageEntry]) -> Vec<u8> {
        PageMap { granule, entries: entries.to_vec() }.encode()
    }

    fn page(virt: u64, bytes: u64, phys: u64) -> PageEntry {
        PageEntry { virt, bytes, phys, write: true, ..PageEntry::default() }
    }

    /// Why a reader refuses a chunk of these entries.
    fn refusal(granule: u64, entries: &[PageEntry]) -> String {
        let error = PageMap::decode(&column(granule, entries), entries.len() as u32);
        error.expect_err("a map that no tables can say").to_string()
    }

    #[test]
    fn a_reader_refuses_what_no_tables_can_say() {
        let good = page(0x40_0000, 0x20_0000, 0x8000_0000);
        assert!(PageMap::decode(&column(4096, &[good]), 1).is_ok());
        let tagged_device =
            PageEntry { memory: PageMemory::Device, tagged: true, ..page(0, 4096, 0) };
        let range = PageEntry { contiguous: true, ..page(0, 4096, 0) };
        for (granule, entries, reason) in [
            (8192, vec![], "8192 bytes are no translation granule"),
            (4096, vec![good, page(0x5f_f000, 4096, 0)], "overlaps the entry 0x400000"),
            (4096, vec![good, good], "overlaps"),
            (4096, vec![page(0x800, 4096, 0)], "virtual address 0x800 is not a multiple of"),
            (4096, vec![page(0, 2 << 20, 4096)], "physical address 0x1000 is not a multiple"),
            (4096, vec![page(0, 8192, 0)], "are no page or block of the 4096-byte granule"),
            (4096, vec![page(0, 0, 0)], "entry 0x0: 0 bytes"),
            (16_384, vec![page(0, 4096, 0)], "use 16384, 33554432"),
            (4096, vec![range], "no contiguous range of the 4096-byte granule: use 65536,"),
            (4096, vec![page(1 << 48, 4096, 0)], "virtual address 0x1000000000000 has more"),
            (4096, vec![page(0, 4096, 1 << 48)], "physical address 0x1000000000000 has more"),
            (4096, vec![tagged_device], "only cacheable memory can be tagged"),
        ] {
            let told = refusal(granule, &entries);
            assert!(told.contains(reason), "{told}");
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
            let told = PageMap::decode(&bytes, 1).expect_err("unknown").to_string();
            assert_eq!(told, format!("entry 0x0: unknown attributes {attributes:#x}"));
        }
        let told = |bytes: &[u8], n| PageMap::decode(bytes, n).expect_err("cut").to_string();
        assert_eq!(told(&whole, 0), "more entries than counted");
        assert_eq!(told(&whole, 2), "the entries end early");
        for length in 0..whole.len() {
            assert_eq!(told(&whole[..length], 1), "the entries end early");
        }
    }

    #[test]
    fn a_contiguous_range_knows_its_pages() {
        let units = [(4096, 64 << 10, 4096), (4096, 16 << 30, 1 << 30), (16_384, 2 << 20, 16_384)];
        for (granule, bytes, unit) in units {
            let range = PageEntry { contiguous: true, ..page(0, bytes, 0) };
            assert_eq!(range.check(granule), Ok(()));
            assert_eq!(range.unit_bytes(granule), unit);
        }
    }
}
