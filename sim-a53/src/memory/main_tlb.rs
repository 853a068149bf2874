//! The main TLB, and the walk cache, which has the same shape. TRM 5.2.2, 5.2.4.
//!
//! Both are set-associative. Assumed: pseudo-random replacement, as in the caches.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::slots::Taken;

/// Key of an empty entry.
const EMPTY: u64 = u64::MAX;

/// Bits of a key that hold the page number: addresses of 48 bits, and one for the upper half.
const PAGE_BITS: u32 = 37;

/// Page number with the ASID that owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageKey(pub(crate) u64);

impl PageKey {
    /// Creates the key of a page number. Assumed: pages of the upper half are global.
    #[inline]
    pub(crate) fn of_page(page: u64, asid: u64) -> PageKey {
        let page = page & ((1 << PAGE_BITS) - 1);
        let is_upper = page >> (PAGE_BITS - 1) != 0;
        PageKey(page | if is_upper { 0 } else { (asid & 0xFFFF) << PAGE_BITS })
    }

    /// Returns the page number.
    #[inline]
    pub(crate) fn page(self) -> u64 {
        self.0 & ((1 << PAGE_BITS) - 1)
    }

    /// Returns the ASID.
    pub(crate) fn asid(self) -> u64 {
        self.0 >> PAGE_BITS
    }

    /// Returns the key of the 2 MB that the last level of one table maps.
    #[inline]
    pub(crate) fn table(self) -> PageKey {
        PageKey(self.page() >> 9 | self.asid() << PAGE_BITS)
    }
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
        for key in &mut self.keys {
            if *key != EMPTY && removes(PageKey(*key)) {
                *key = EMPTY;
            }
        }
    }
}
