//! Content of a leaf descriptor: output address, size, attributes, permissions. PMU guide 3.2.18
//! lists the granules; the Arm architecture defines the sizes of blocks and contiguous ranges.

use sim_core::PhysAddr;
use thiserror::Error;

/// Bits of virtual and physical addresses.
pub(crate) const ADDRESS_BITS: u32 = 48;
/// log2 of the unit in which pages are counted: the smallest granule.
pub(crate) const FRAME_SHIFT: u32 = 12;
/// Bits of a physical page number.
pub(crate) const FRAME_BITS: u32 = ADDRESS_BITS - FRAME_SHIFT;
/// Bits of a virtual page number: one more, which selects the half of the address space.
pub(crate) const PAGE_BITS: u32 = FRAME_BITS + 1;

/// Memory type of a page. With two stages, the greater type applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryType {
    /// Normal memory, write-back cacheable.
    #[default]
    Cacheable,
    /// Normal memory that is not cacheable.
    NonCacheable,
    /// Device memory.
    Device,
}

/// Mapping of a page, a block, or a contiguous range of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Physical address of the first byte of the page, block or range.
    pub output: PhysAddr,
    /// Size of one page or block: 4 KiB, 2 MiB, 1 GiB; 16 KiB, 32 MiB; 64 KiB, 512 MiB.
    pub bytes: u64,
    /// Contiguous hint: one TLB entry maps the whole aligned range of 16 (4 KiB granule), 128 or 32
    /// (16 KiB: pages, blocks) or 32 (64 KiB) such pages or blocks.
    pub contiguous: bool,
    /// Memory type.
    pub memory: MemoryType,
    /// Normal Tagged memory.
    pub tagged: bool,
    /// Valid for every ASID (the descriptor's not-global bit is clear).
    pub global: bool,
    /// Writes fault.
    pub read_only: bool,
    /// Fetches fault.
    pub no_exec: bool,
}

impl Mapping {
    /// Returns a mapping of cacheable memory for one ASID that may be read, written and executed.
    pub fn normal(output: PhysAddr, bytes: u64) -> Mapping {
        Mapping {
            output,
            bytes,
            contiguous: false,
            memory: MemoryType::Cacheable,
            tagged: false,
            global: false,
            read_only: false,
            no_exec: false,
        }
    }
}

/// Mapping that the tables of the granule cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadMapping {
    /// The size is neither a page nor a block.
    #[error("{bytes} bytes is not a page or block size of the {granule}-byte granule; use {}", sizes(*granule))]
    Size {
        /// Requested size.
        bytes: u64,
        /// The granule of the tables.
        granule: u64,
    },
    /// The output address does not begin a page, block or range.
    #[error("output address 0x{:x} is not a multiple of the mapping size; align it to {bytes} bytes", .output.0)]
    Output {
        /// Output address.
        output: PhysAddr,
        /// Bytes of the page, block or contiguous range.
        bytes: u64,
    },
    /// The granule is not supported.
    #[error("{0} bytes is not a translation granule; use 4096, 16384 or 65536")]
    Granule(u64),
}

fn sizes(granule: u64) -> String {
    let granule = Granule::of(granule).unwrap_or(Granule { shift: 12 });
    let sizes: Vec<String> =
        granule.leaf_levels().map(|l| (1u64 << granule.level_shift(l)).to_string()).collect();
    sizes.join(", ")
}

/// Translation granule, which determines the shape of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granule {
    shift: u32,
}

/// Level of the tables that map pages.
pub(crate) const LAST_LEVEL: u32 = 3;

impl Granule {
    /// Returns the granule of 4, 16 or 64 KiB, or `None` for another size.
    pub(crate) fn of(bytes: u64) -> Option<Granule> {
        [12, 14, 16].into_iter().find(|shift| 1 << shift == bytes).map(|shift| Granule { shift })
    }

    /// Returns the bytes of a page.
    pub(crate) fn bytes(self) -> u64 {
        1 << self.shift
    }

    /// Returns log2 of the bytes of a page.
    #[inline]
    pub(crate) fn shift(self) -> u32 {
        self.shift
    }

    /// Returns the first level of a walk of 48 bits. Tables of 64 KiB resolve more bits, so they
    /// need one level fewer.
    pub(crate) fn first_level(self) -> u32 {
        if self.shift == 16 { 1 } else { 0 }
    }

    /// Returns log2 of the bytes that one descriptor of a level covers; a descriptor has 8 bytes.
    pub(crate) fn level_shift(self, level: u32) -> u32 {
        self.shift + (LAST_LEVEL - level) * (self.shift - 3)
    }

    /// Returns the levels whose descriptors may map memory, last level first.
    pub(crate) fn leaf_levels(self) -> impl Iterator<Item = u32> {
        let first = if self.shift == 12 { 1 } else { 2 };
        (first..=LAST_LEVEL).rev()
    }

    /// Returns the level whose descriptors map `bytes`.
    pub(crate) fn level_of(self, bytes: u64) -> Option<u32> {
        self.leaf_levels().find(|level| 1 << self.level_shift(*level) == bytes)
    }

    /// Returns log2 of the bytes of a contiguous range at a level.
    pub(crate) fn contiguous_shift(self, level: u32) -> u32 {
        let entries_bits = match (self.shift, level) {
            (12, _) => 4,
            (14, LAST_LEVEL) => 7,
            _ => 5,
        };
        self.level_shift(level) + entries_bits
    }

    /// Returns log2 of the bytes that `mapping` maps at once, and its level.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables cannot express it.
    pub(crate) fn place(self, mapping: &Mapping) -> Result<(u32, u32), BadMapping> {
        let bytes = mapping.bytes;
        let level = self.level_of(bytes);
        let level = level.ok_or(BadMapping::Size { bytes, granule: self.bytes() })?;
        let shift =
            if mapping.contiguous { self.contiguous_shift(level) } else { self.level_shift(level) };
        let output = mapping.output;
        if output.0 & ((1 << shift) - 1) != 0 {
            return Err(BadMapping::Output { output, bytes: 1 << shift });
        }
        Ok((shift, level))
    }
}

/// Restrictions of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permissions {
    /// Writes fault.
    pub(crate) read_only: bool,
    /// Fetches fault.
    pub(crate) no_exec: bool,
}

/// Translation as the tables define it for one page of 4 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// log2 of the bytes around the page with the same translation: the reach of one TLB entry.
    pub(crate) shift: u32,
    /// Level of the descriptor.
    pub(crate) level: u32,
    /// Physical page of 4 KiB.
    pub(crate) frame: u64,
    /// Memory type.
    pub(crate) memory: MemoryType,
    /// Normal Tagged memory.
    pub(crate) tagged: bool,
    /// Valid for every ASID.
    pub(crate) global: bool,
    /// Restrictions of the page.
    pub(crate) permissions: Permissions,
}

impl Leaf {
    /// Returns the translation of a page inside `mapping`; `None` is an address size fault.
    pub(crate) fn of(mapping: &Mapping, shift: u32, level: u32, page: u64) -> Option<Leaf> {
        let within = page & ((1 << (shift - FRAME_SHIFT)) - 1);
        let frame = (mapping.output.0 >> FRAME_SHIFT) | within;
        let Mapping { memory, tagged, global, read_only, no_exec, .. } = *mapping;
        let permissions = Permissions { read_only, no_exec };
        let leaf = Leaf { shift, level, frame, memory, tagged, global, permissions };
        (frame >> FRAME_BITS == 0).then_some(leaf)
    }

    /// Combines stage 1 with stage 2: the smaller size, the stricter attributes, all restrictions.
    #[must_use]
    pub(crate) fn then(self, stage2: Leaf) -> Leaf {
        Leaf {
            shift: self.shift.min(stage2.shift),
            level: self.level,
            frame: stage2.frame,
            memory: self.memory.max(stage2.memory),
            tagged: self.tagged && stage2.tagged,
            global: self.global,
            permissions: Permissions {
                read_only: self.permissions.read_only || stage2.permissions.read_only,
                no_exec: self.permissions.no_exec || stage2.permissions.no_exec,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_every_granule_are_those_of_the_architecture() {
        let rows: [(u64, &[u64], &[u32]); 3] = [
            (4 << 10, &[4 << 10, 2 << 20, 1 << 30], &[16, 16, 16]),
            (16 << 10, &[16 << 10, 32 << 20], &[128, 32]),
            (64 << 10, &[64 << 10, 512 << 20], &[32, 32]),
        ];
        for (granule, sizes, contiguous) in rows {
            let granule = Granule::of(granule).expect("a granule");
            let levels: Vec<u32> = granule.leaf_levels().collect();
            let found: Vec<u64> = levels.iter().map(|l| 1 << granule.level_shift(*l)).collect();
            assert_eq!(found, sizes);
            for (level, entries) in levels.iter().zip(contiguous) {
                let range = granule.contiguous_shift(*level) - granule.level_shift(*level);
                assert_eq!(1 << range, *entries);
            }
        }
        assert_eq!(Granule::of(2 << 20), None);
    }

    #[test]
    fn a_mapping_that_no_descriptor_can_express_is_refused_with_the_valid_sizes() {
        let granule = Granule::of(4096).expect("a granule");
        let odd = granule.place(&Mapping::normal(PhysAddr(0), 8192)).expect_err("no such size");
        assert!(odd.to_string().contains("4096, 2097152, 1073741824"), "{odd}");
        let block = Mapping::normal(PhysAddr(0x1000), 2 << 20);
        let askew = granule.place(&block).expect_err("not a multiple");
        assert!(askew.to_string().contains("2097152"), "{askew}");
    }

    #[test]
    fn memory_is_tagged_only_if_both_stages_tag_it() {
        let leaf = |tagged| Leaf {
            shift: 12,
            level: 3,
            frame: 1,
            memory: MemoryType::Cacheable,
            tagged,
            global: false,
            permissions: Permissions::default(),
        };
        for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
            assert_eq!(leaf(first).then(leaf(second)).tagged, first && second);
        }
    }
}
