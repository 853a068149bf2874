//! Branch target buffers: nano BTB, regions, and single branches.

use super::REGION_BYTES;
use super::lru::{LruSets, set_of};
use sim_pipeline::branch::btb::{BtbHit, BtbLookup};

const NANO_WAYS: usize = 4;
const REGION_WAYS: usize = 4;
const REGION_BRANCHES: usize = 4;
const MAIN_WAYS: usize = 8;

/// Known branch: its last target, and the branch that is predicted with it.
#[derive(Clone, Copy)]
struct Entry {
    target: u64,
    second: Option<u64>,
}

/// All buffers. Keys are program counters; keys of regions are their numbers.
pub(crate) struct BtbReference {
    nano: LruSets<u64, Entry>,
    nano_sets: usize,
    regions: LruSets<u64, LruSets<u64, Entry>>,
    region_sets: usize,
    main: LruSets<u64, u64>,
    main_sets: usize,
}

impl BtbReference {
    /// Returns empty buffers for these numbers of entries, regions, and single branches.
    pub(crate) fn new(nano_entries: usize, regions: usize, main_entries: usize) -> BtbReference {
        BtbReference {
            nano: LruSets::new(NANO_WAYS),
            nano_sets: nano_entries / NANO_WAYS,
            regions: LruSets::new(REGION_WAYS),
            region_sets: regions / REGION_WAYS,
            main: LruSets::new(MAIN_WAYS),
            main_sets: main_entries / MAIN_WAYS,
        }
    }

    /// Looks up the branch at `pc`. A branch that only the main BTB knows enters the nano BTB.
    pub(crate) fn look_up(&mut self, pc: u64) -> BtbLookup {
        let nano_set = set_of(pc / 4, self.nano_sets);
        let (hit, entry) = if let Some(entry) = self.nano.touch(nano_set, &pc) {
            (BtbHit::Nano, *entry)
        } else if let Some(entry) = self.look_up_region(pc) {
            (BtbHit::First, entry)
        } else if let Some(entry) = self.move_region_up(pc) {
            (BtbHit::Main, entry)
        } else {
            return BtbLookup { hit: BtbHit::Miss, target: None, second: None };
        };
        if hit != BtbHit::Nano {
            self.nano.put(nano_set, pc, entry);
        }
        BtbLookup { hit, target: Some(entry.target), second: entry.second }
    }

    fn look_up_region(&mut self, pc: u64) -> Option<Entry> {
        self.region(pc)?.touch(0, &pc).copied()
    }

    /// Moves all branches of a region from the second level of the main BTB into the first. The
    /// second level keeps no pairs.
    fn move_region_up(&mut self, pc: u64) -> Option<Entry> {
        let number = pc / REGION_BYTES;
        let set = set_of(number, self.main_sets);
        let target = *self.main.touch(set, &pc)?;
        let of_region: Vec<_> = self
            .main
            .oldest_first(set)
            .into_iter()
            .filter(|(pc, _)| **pc / REGION_BYTES == number)
            .map(|(pc, target)| (*pc, *target))
            .collect();
        of_region.into_iter().for_each(|(pc, target)| self.put_in_region(pc, target));
        Some(Entry { target, second: None })
    }

    /// Records the target of the taken branch at `pc`, if the look-up did not know it.
    pub(crate) fn train(&mut self, pc: u64, target: u64, known: Option<u64>) {
        if known == Some(target) {
            return;
        }
        self.nano.put(set_of(pc / 4, self.nano_sets), pc, Entry { target, second: None });
        self.main.put(set_of(pc / REGION_BYTES, self.main_sets), pc, target);
        self.put_in_region(pc, target);
    }

    /// Makes a pair, in the nano BTB and in the first level of the main BTB.
    pub(crate) fn pair(&mut self, first: u64, second: u64) {
        if let Some(entry) = self.nano.peek_mut(set_of(first / 4, self.nano_sets), &first) {
            entry.second = Some(second);
        }
        if let Some(entry) = self.region(first).and_then(|region| region.peek_mut(0, &first)) {
            entry.second = Some(second);
        }
    }

    /// Returns the region of `pc`, and makes it the most recently used one of its set.
    fn region(&mut self, pc: u64) -> Option<&mut LruSets<u64, Entry>> {
        let number = pc / REGION_BYTES;
        self.regions.touch(set_of(number, self.region_sets), &number)
    }

    fn put_in_region(&mut self, pc: u64, target: u64) {
        let number = pc / REGION_BYTES;
        if self.region(pc).is_none() {
            let set = set_of(number, self.region_sets);
            self.regions.put(set, number, LruSets::new(REGION_BRANCHES));
        }
        let region = self.region(pc).expect("it was just made");
        region.put(0, pc, Entry { target, second: None });
    }
}
