//! The main TLB, the walk cache and the IPA cache, which have the same shape. TRM 5.2.2 to 5.2.4.
//!
//! All are set-associative, and hold entries of several sizes of page; sizes that are not present
//! are not looked up (said of the Cortex-A7, DDI 0464, 5.3). Assumed: pseudo-random replacement, as
//! in the caches, and lookups from the smallest size to the largest.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::page_map::{Leaf, PAGE_BITS, PageSize};
use super::slots::Taken;

/// Key of an empty entry: a global one has no ASID.
const EMPTY: u64 = u64::MAX;

/// First bits of a key's parts above the page number.
const VMID_SHIFT: u32 = PAGE_BITS + 16;
const SIZE_SHIFT: u32 = VMID_SHIFT + 8;
const GLOBAL: u64 = 1 << 63;

/// Number of a page, in pages of its size, with the address space that owns it: ASID and VMID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageKey(pub(crate) u64);

/// Address space: a program, and the virtual machine that it runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) asid: u64,
    pub(crate) vmid: u64,
}

impl PageKey {
    /// Creates the key of the page, of 4 KB, that `leaf` translates.
    #[inline]
    pub(crate) fn of_page(page: u64, leaf: Leaf, space: Space) -> PageKey {
        let owner = if leaf.is_global { GLOBAL } else { (space.asid & 0xFFFF) << PAGE_BITS };
        PageKey(page_number(page, leaf.size) | owner | (space.vmid & 0xFF) << VMID_SHIFT)
    }

    /// Creates the key of an intermediate page of a size.
    pub(crate) fn of_intermediate(page: u64, size: PageSize, vmid: u64) -> PageKey {
        PageKey(page_number(page, size) | (vmid & 0xFF) << VMID_SHIFT)
    }

    /// Returns the key of the last table above a page of 4 KB in the same address space.
    #[inline]
    pub(crate) fn table(self, page: u64, table: PageSize) -> PageKey {
        let owner = self.0 & (GLOBAL | ((1 << (SIZE_SHIFT - PAGE_BITS)) - 1) << PAGE_BITS);
        PageKey(page_number(page, table) | owner)
    }

    /// Returns whether it covers a page of 4 KB.
    pub(crate) fn covers(self, page: u64) -> bool {
        let size = SIZES[(self.0 >> SIZE_SHIFT & 3) as usize];
        let mask = (1 << PAGE_BITS) - 1;
        self.0 & mask == (page & mask) >> size.bits()
    }

    /// Returns whether an operation on this ASID means it.
    pub(crate) fn is_of(self, asid: u64) -> bool {
        self.is_global() || self.asid() == asid
    }

    /// Returns whether it is valid in all address spaces of its virtual machine.
    pub(crate) fn is_global(self) -> bool {
        self.0 & GLOBAL != 0
    }

    /// Returns the ASID.
    pub(crate) fn asid(self) -> u64 {
        self.0 >> PAGE_BITS & 0xFFFF
    }

    /// Returns the VMID.
    pub(crate) fn vmid(self) -> u64 {
        self.0 >> VMID_SHIFT & 0xFF
    }

    fn size_bit(self) -> u8 {
        1 << (self.0 >> SIZE_SHIFT & 3)
    }
}

/// Sizes by their number in a key.
const SIZES: [PageSize; 4] = [PageSize::K4, PageSize::K64, PageSize::M2, PageSize::M512];

fn page_number(page: u64, size: PageSize) -> u64 {
    (page & ((1 << PAGE_BITS) - 1)) >> size.bits() | (size as u64) << SIZE_SHIFT
}

/// Set-associative table of keys.
#[derive(Clone, Debug)]
pub(crate) struct TlbArray {
    keys: Box<[u64]>,
    set_mask: u64,
    ways: usize,
    rng: Xoshiro256PlusPlus,
    /// Keys whose entries have an error.
    faulty: Vec<u64>,
    /// Bit of each size that was entered since the last removal.
    sizes: u8,
    /// Period of the last lookup, during which another one waits.
    pub(crate) taken: Taken,
}

impl TlbArray {
    /// Creates an empty table.
    pub(crate) fn new(entries: u32, ways: u32, seed: u64) -> TlbArray {
        let ways = ways.clamp(1, 16);
        let sets = (entries / ways).clamp(1, 1 << 16).next_power_of_two();
        TlbArray {
            keys: vec![EMPTY; (sets * ways) as usize].into_boxed_slice(),
            set_mask: u64::from(sets) - 1,
            ways: ways as usize,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            faulty: Vec::new(),
            sizes: 0,
            taken: Taken::default(),
        }
    }

    fn first_of(&self, key: PageKey) -> usize {
        (key.0 & self.set_mask) as usize * self.ways
    }

    /// Returns whether an entry has the key.
    #[inline]
    pub(crate) fn holds(&self, key: PageKey) -> bool {
        let first = self.first_of(key);
        self.keys[first..first + self.ways].contains(&key.0)
    }

    /// Returns the number of sizes that are looked up before that of a key: all others of a key
    /// that is not present.
    #[inline]
    pub(crate) fn sizes_before(&self, key: PageKey, is_present: bool) -> u64 {
        let own = key.size_bit();
        let others = if is_present { self.sizes & (own - 1) } else { self.sizes & !own };
        others.count_ones().into()
    }

    /// Gives the entry of a key an error, if it is present. Returns whether it is.
    pub(crate) fn spoil(&mut self, key: PageKey) -> bool {
        let holds = self.holds(key);
        if holds && !self.faulty.contains(&key.0) {
            self.faulty.push(key.0);
        }
        holds
    }

    /// Removes the entry of a key if it has an error. Returns whether it had.
    #[inline]
    pub(crate) fn take_error(&mut self, key: PageKey) -> bool {
        if self.faulty.is_empty() {
            return false;
        }
        let Some(at) = self.faulty.iter().position(|own| *own == key.0) else { return false };
        self.faulty.swap_remove(at);
        let was_present = self.holds(key);
        self.remove(|own| own == key);
        was_present
    }

    /// Enters a key that is not present.
    pub(crate) fn fill(&mut self, key: PageKey) {
        self.sizes |= key.size_bit();
        let first = self.first_of(key);
        let empty = self.keys[first..first + self.ways].iter().position(|own| *own == EMPTY);
        let way = empty.unwrap_or_else(|| {
            ((u64::from(self.rng.next_u32()) * self.ways as u64) >> 32) as usize
        });
        let old = std::mem::replace(&mut self.keys[first + way], key.0);
        if !self.faulty.is_empty() {
            self.faulty.retain(|own| *own != old);
        }
    }

    /// Removes every entry for which `removes` holds.
    pub(crate) fn remove(&mut self, removes: impl Fn(PageKey) -> bool) {
        self.faulty.retain(|key| !removes(PageKey(*key)));
        self.sizes = 0;
        for key in &mut self.keys {
            if *key != EMPTY && removes(PageKey(*key)) {
                *key = EMPTY;
            }
            if *key != EMPTY {
                self.sizes |= PageKey(*key).size_bit();
            }
        }
    }
}
