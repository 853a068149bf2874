//! Indirect targets: a pool of targets, and two tables of indices into it.

use super::lru::{LruSets, set_of};
use std::collections::BTreeMap;

const WAYS: usize = 4;
/// Sets of the pool that one branch reaches.
const SETS_OF_A_BRANCH: usize = 16;
/// Targets that one branch can have.
const PLACES: usize = 64;

/// Set and way of a target among those that its branch reaches.
type Place = (usize, usize);

/// Index of a target, and the 2-bit confidence in it.
struct Pointer {
    place: Place,
    confidence: u32,
}

/// Target indices by a 64-bit name.
struct PointerTable {
    pointers: LruSets<u64, Pointer>,
    sets: u64,
}

impl PointerTable {
    fn new(bits: u32) -> PointerTable {
        PointerTable { pointers: LruSets::new(WAYS), sets: (1 << bits) / WAYS as u64 }
    }

    /// Returns set and 16-bit tag of a name. The lowest bit of a tag is always set.
    fn locate(&self, name: u64) -> (usize, u64) {
        let product = u128::from(name) * 0x9e37_79b9_7f4a_7c15 % (1 << 64);
        let (set, tag) = ((product >> 40) as u64, (product >> 20) as u64);
        ((set % self.sets) as usize, (tag % (1 << 16)) | 1)
    }

    fn look_up(&self, name: u64) -> Option<Place> {
        let (set, tag) = self.locate(name);
        self.pointers.peek(set, &tag).map(|pointer| pointer.place)
    }

    fn train(&mut self, name: u64, place: Place, may_add: bool) {
        let (set, tag) = self.locate(name);
        match self.pointers.touch(set, &tag) {
            Some(pointer) if pointer.place == place => {
                pointer.confidence = 3.min(pointer.confidence + 1);
            }
            Some(pointer) if pointer.confidence > 0 => pointer.confidence -= 1,
            Some(pointer) => pointer.place = place,
            None if may_add => self.pointers.put(set, tag, Pointer { place, confidence: 0 }),
            None => {}
        }
    }
}

/// Targets of indirect branches, and of returns whose address the return stack has lost.
pub(crate) struct IndirectReference {
    by_address: PointerTable,
    by_path: PointerTable,
    groups: usize,
    /// Branch and target, by the group of the branch and the index in it.
    pool: BTreeMap<(usize, Place), (u64, u64)>,
    /// New targets of each set of each group so far: the ways of a set are replaced in turn.
    additions: BTreeMap<(usize, usize), usize>,
}

impl IndirectReference {
    /// Returns empty tables of `1 << path_bits` entries, and an empty pool.
    pub(crate) fn new(path_bits: u32, targets: usize) -> IndirectReference {
        IndirectReference {
            by_address: PointerTable::new(path_bits),
            by_path: PointerTable::new(path_bits),
            groups: targets / PLACES,
            pool: BTreeMap::new(),
            additions: BTreeMap::new(),
        }
    }

    /// Predicts the target of the branch at `pc`. The path table has priority over the address
    /// table.
    pub(crate) fn look_up(&self, pc: u64, path: u64) -> Option<u64> {
        let by_path = self.by_path.look_up(path_name(pc, path));
        let place = by_path.or_else(|| self.by_address.look_up(pc))?;
        let (branch, target) = self.pool.get(&(self.group(pc), place))?;
        // Another branch of the group may have replaced the target.
        (*branch == pc).then_some(*target)
    }

    /// Trains with a target. Only a wrong prediction adds a path.
    pub(crate) fn train(&mut self, pc: u64, path: u64, target: u64, was_wrong: bool) {
        let place = self.place(pc, target);
        self.by_path.train(path_name(pc, path), place, was_wrong);
        self.by_address.train(pc, place, true);
    }

    fn place(&mut self, pc: u64, target: u64) -> Place {
        let (group, set) = (self.group(pc), set_of(target / 4, SETS_OF_A_BRANCH));
        let has_it =
            |outcome: &usize| self.pool.get(&(group, (set, *outcome))) == Some(&(pc, target));
        if let Some(outcome) = (0..WAYS).find(has_it) {
            return (set, outcome);
        }
        let additions = self.additions.entry((group, set)).or_default();
        let outcome = *additions % WAYS;
        *additions += 1;
        self.pool.insert((group, (set, outcome)), (pc, target));
        (set, outcome)
    }

    fn group(&self, pc: u64) -> usize {
        set_of(pc / 4, self.groups)
    }
}

/// Returns the name of a branch and the path to it.
fn path_name(pc: u64, path: u64) -> u64 {
    path ^ pc.rotate_left(32)
}
