//! Branch target buffers: a nano BTB, and a main BTB of two levels (HC33, Chips and Cheese; pairs:
//! jiegec, N2 and V1).
//!
//! An entry of the nano BTB or of the main BTB's first level holds a branch and the branch that ran
//! next when the first one was taken. Both are predicted at once if the second is an unconditional
//! direct branch at the target of the first. Such a pair has run before, so a new branch is always
//! predicted alone. A prediction from the nano BTB takes one cycle. The first level of the main BTB
//! holds regions of 32 bytes with up to four branches each, at two cycles per prediction. Its
//! second level holds single branches and delivers all branches of a region at once. The branches
//! of a region share the bubble of this access, so the cycles per branch depend on the spacing of
//! branches.

use sim_core::{StateVisitor, Stored, WarmState};

/// Buffer that held a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BtbHit {
    /// Nano BTB.
    Nano,
    /// First level of the main BTB.
    First,
    /// Second level of the main BTB.
    Main,
    /// None: decode finds the branch.
    Miss,
}

const NANO_WAYS: usize = 4;
const REGION_WAYS: usize = 4;
const REGION_BRANCHES: usize = 4;
const MAIN_WAYS: usize = 8;
/// log2 of the bytes of a region.
const REGION_SHIFT: u32 = 5;
/// Empty entry: no branch has an address that is not a multiple of four, and no region has this
/// number.
const EMPTY: u64 = u64::MAX;

/// Branch and its last target.
type Single = (u64, u64);
const NO_SINGLE: Single = (EMPTY, 0);

/// Branch, and the branch that is predicted with it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: u64,
    target: u64,
    /// Program counter of the second branch; [`EMPTY`] if there is none.
    second: u64,
}

const NO_ENTRY: Entry = Entry { pc: EMPTY, target: 0, second: EMPTY };

impl Entry {
    /// Returns an entry of a branch without a second one.
    fn alone((pc, target): Single) -> Entry {
        Entry { pc, target, second: EMPTY }
    }
}

/// Result of a look-up in the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtbLookup {
    /// Buffer that held the branch.
    pub hit: BtbHit,
    /// Last target.
    pub target: Option<u64>,
    /// Second branch of the pair, at the target of this one.
    pub second: Option<u64>,
}

/// Returns whether a branch taken to `target` and the next taken branch, at `second`, may share an
/// entry. One step of prediction covers the rest of one region.
#[inline]
pub fn may_pair(target: u64, second: u64) -> bool {
    target >> REGION_SHIFT == second >> REGION_SHIFT && target <= second
}

/// Returns the set number of `value`. All its low bits are folded into it, so that strides of any
/// power of two use all sets equally.
#[inline]
fn fold(value: u64, sets: usize) -> usize {
    let bits = sets.trailing_zeros();
    let folded = value ^ (value >> bits) ^ (value >> (2 * bits)) ^ (value >> (3 * bits));
    folded as usize & (sets - 1)
}

/// Makes one entry of a set the most recently used one.
#[inline]
fn move_first<const N: usize>(set: &mut [Entry; N], way: usize) {
    let first = set[way];
    for i in (0..way).rev() {
        set[i + 1] = set[i];
    }
    set[0] = first;
}

/// Inserts the entry into a set as the most recently used one, replacing the last.
#[inline]
fn put_first<const N: usize>(set: &mut [Entry; N], entry: Entry) {
    let way = set.iter().position(|old| old.pc == entry.pc).unwrap_or(N - 1);
    set[..=way].rotate_right(1);
    set[0] = entry;
}

/// Inserts the entry into a set of the second level as the most recently used one, replacing the
/// last.
#[inline]
fn put_single_first<const N: usize>(set: &mut [Single; N], entry: Single) {
    let way = set.iter().position(|(pc, _)| *pc == entry.0).unwrap_or(N - 1);
    set[..=way].rotate_right(1);
    set[0] = entry;
}

/// Region of the first level: branches, most recently used first.
#[derive(Clone, Copy, Debug)]
struct Region {
    number: u64,
    branches: [Entry; REGION_BRANCHES],
}

const NO_REGION: Region = Region { number: EMPTY, branches: [NO_ENTRY; REGION_BRANCHES] };

/// All buffers.
#[derive(Clone, Debug)]
pub struct Btb {
    nano: Box<[[Entry; NANO_WAYS]]>,
    regions: Box<[[Region; REGION_WAYS]]>,
    main: Box<[[Single; MAIN_WAYS]]>,
}

impl Btb {
    /// Returns empty buffers. All sizes must be powers of two and at least one set.
    pub fn new(nano_entries: usize, regions: usize, main_entries: usize) -> Btb {
        Btb {
            nano: vec![[NO_ENTRY; NANO_WAYS]; nano_entries / NANO_WAYS].into_boxed_slice(),
            regions: vec![[NO_REGION; REGION_WAYS]; regions / REGION_WAYS].into_boxed_slice(),
            main: vec![[NO_SINGLE; MAIN_WAYS]; main_entries / MAIN_WAYS].into_boxed_slice(),
        }
    }

    /// Looks up the branch at `pc`, and makes it the most recently used one.
    #[inline]
    pub fn look_up(&mut self, pc: u64) -> BtbLookup {
        let set = self.nano_set(pc);
        if let Some(way) = set.iter().position(|entry| entry.pc == pc) {
            move_first(set, way);
            return BtbLookup::of(BtbHit::Nano, set[0]);
        }
        let Some((hit, entry)) = self.look_up_main(pc) else {
            return BtbLookup { hit: BtbHit::Miss, target: None, second: None };
        };
        put_first(self.nano_set(pc), entry);
        BtbLookup::of(hit, entry)
    }

    fn look_up_main(&mut self, pc: u64) -> Option<(BtbHit, Entry)> {
        if let Some(region) = self.region(pc)
            && let Some(way) = region.branches.iter().position(|entry| entry.pc == pc)
        {
            region.branches[..=way].rotate_right(1);
            return Some((BtbHit::First, region.branches[0]));
        }
        let set = self.main_set(pc);
        let way = set.iter().position(|(at, _)| *at == pc)?;
        set[..=way].rotate_right(1);
        let branches = *set;
        // The oldest first, so that the requested one stays if not all fit.
        for single in branches.iter().rev().filter(|e| e.0 >> REGION_SHIFT == pc >> REGION_SHIFT) {
            self.put_in_region(Entry::alone(*single));
        }
        Some((BtbHit::Main, Entry::alone(branches[0])))
    }

    /// Records the target of the taken branch at `pc`; `known` is the target that the look-up
    /// found.
    #[inline]
    pub fn train(&mut self, pc: u64, target: u64, known: Option<u64>) {
        if known != Some(target) {
            let entry = Entry::alone((pc, target));
            put_first(self.nano_set(pc), entry);
            put_single_first(self.main_set(pc), (pc, target));
            self.put_in_region(entry);
        }
    }

    /// Pairs the branch at `first` with the direct branch at `second`. The second branch followed
    /// the first one, which was taken. One prediction gives both from then on.
    pub fn pair(&mut self, first: u64, second: u64) {
        if let Some(entry) = self.nano_set(first).iter_mut().find(|entry| entry.pc == first) {
            entry.second = second;
        }
        if let Some(region) = self.region(first)
            && let Some(entry) = region.branches.iter_mut().find(|entry| entry.pc == first)
        {
            entry.second = second;
        }
    }

    /// Inserts a branch into the first level, replacing the least recently used region.
    fn put_in_region(&mut self, entry: Entry) {
        let number = entry.pc >> REGION_SHIFT;
        let sets = self.regions.len();
        let set = &mut self.regions[fold(number, sets)];
        let way = set.iter().position(|region| region.number == number);
        set[..=way.unwrap_or(REGION_WAYS - 1)].rotate_right(1);
        if way.is_none() {
            set[0] = Region { number, ..NO_REGION };
        }
        put_first(&mut set[0].branches, entry);
    }

    /// Returns the region of `pc` in the first level, and makes it the most recently used one of
    /// its set.
    fn region(&mut self, pc: u64) -> Option<&mut Region> {
        let number = pc >> REGION_SHIFT;
        let sets = self.regions.len();
        let set = &mut self.regions[fold(number, sets)];
        let way = set.iter().position(|region| region.number == number)?;
        set[..=way].rotate_right(1);
        Some(&mut set[0])
    }

    fn nano_set(&mut self, pc: u64) -> &mut [Entry; NANO_WAYS] {
        let sets = self.nano.len();
        &mut self.nano[fold(pc >> 2, sets)]
    }

    /// Returns the set of `pc` in the second level, which all branches of one region share.
    fn main_set(&mut self, pc: u64) -> &mut [Single; MAIN_WAYS] {
        let sets = self.main.len();
        &mut self.main[fold(pc >> REGION_SHIFT, sets)]
    }
}

impl BtbLookup {
    #[inline]
    fn of(hit: BtbHit, entry: Entry) -> BtbLookup {
        let second = (entry.second != EMPTY).then_some(entry.second);
        BtbLookup { hit, target: Some(entry.target), second }
    }
}

impl Stored for Entry {
    const WORDS: usize = 3;

    fn store(self, words: &mut [u64]) {
        words.copy_from_slice(&[self.pc, self.target, self.second]);
    }

    fn load(words: &[u64]) -> Entry {
        Entry { pc: words[0], target: words[1], second: words[2] }
    }
}

impl Stored for Region {
    const WORDS: usize = 1 + Entry::WORDS * REGION_BRANCHES;

    fn store(self, words: &mut [u64]) {
        words[0] = self.number;
        let places = words[1..].chunks_exact_mut(Entry::WORDS);
        for (entry, words) in self.branches.into_iter().zip(places) {
            entry.store(words);
        }
    }

    fn load(words: &[u64]) -> Region {
        let branch = |n: usize| Entry::load(&words[1 + Entry::WORDS * n..][..Entry::WORDS]);
        Region { number: words[0], branches: std::array::from_fn(branch) }
    }
}

impl WarmState for Btb {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(self.nano.as_flattened_mut());
        visitor.words(self.regions.as_flattened_mut());
        visitor.words(self.main.as_flattened_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs passes over taken branches at this spacing, which may share entries if they `pair`.
    /// Returns how many branches hit each buffer in the last pass.
    fn known(branches: u64, spacing: u64, pairs: bool) -> [usize; 4] {
        let mut btb = Btb::new(32, 512, 8192);
        let mut found = [0; 4];
        for pass in 0..4 {
            let (mut open, mut partner) = (None, None);
            for i in 0..branches {
                let pc = 0x10_0000 + i * spacing;
                if partner == Some(pc) {
                    (open, partner) = (None, None);
                    continue;
                }
                let BtbLookup { hit, target, second } = btb.look_up(pc);
                btb.train(pc, pc + spacing, target);
                found[hit as usize] += usize::from(pass == 3);
                partner = second;
                match open.take() {
                    Some(first) if pairs => btb.pair(first, pc),
                    _ => open = Some(pc),
                }
            }
        }
        found
    }

    #[test]
    fn each_buffer_holds_its_size_at_every_spacing() {
        for spacing in [8, 16, 32, 64] {
            assert_eq!(known(32, spacing, false), [32, 0, 0, 0], "{spacing} bytes");
        }
        assert_eq!(known(2048, 8, false), [0, 2048, 0, 0]);
        assert_eq!(known(1024, 16, false), [0, 1024, 0, 0]);
        assert_eq!(known(512, 32, false), [0, 512, 0, 0]);
    }

    #[test]
    fn a_pair_takes_one_entry() {
        for spacing in [8, 16, 32] {
            assert_eq!(known(64, spacing, true), [32, 0, 0, 0], "{spacing} bytes");
        }
        assert_eq!(known(512, 32, true), [0, 256, 0, 0]);
    }

    #[test]
    fn the_second_level_delivers_all_branches_of_a_region() {
        assert_eq!(known(8192, 8, false), [0, 6144, 2048, 0]);
        assert_eq!(known(8192, 32, false), [0, 0, 8192, 0]);
    }

    #[test]
    fn the_main_btb_holds_its_size_and_no_more() {
        assert_eq!(known(8192, 8, false)[BtbHit::Miss as usize], 0);
        assert!(known(9216, 8, false)[BtbHit::Miss as usize] > 2048);
    }

    #[test]
    fn a_region_of_more_than_four_branches_still_knows_them_all() {
        assert_eq!(known(256, 4, false)[BtbHit::Miss as usize], 0);
    }

    #[test]
    fn a_changed_target_updates_all_buffers_and_splits_its_pair() {
        let mut btb = Btb::new(32, 512, 8192);
        let known = |hit, target, second| BtbLookup { hit, target: Some(target), second };
        btb.train(0x1000, 0x2000, None);
        btb.pair(0x1000, 0x2008);
        assert_eq!(btb.look_up(0x1000), known(BtbHit::Nano, 0x2000, Some(0x2008)));
        btb.train(0x1000, 0x3000, Some(0x2000));
        assert_eq!(btb.look_up(0x1000), known(BtbHit::Nano, 0x3000, None));
        for i in 1..1000 {
            btb.train(0x1000 + 64 * i, 0, None);
        }
        assert_eq!(btb.look_up(0x1000), known(BtbHit::Main, 0x3000, None));
    }
}
