//! Direction predictors: TAGE, and gshare.

use super::history::History;
use sim_pipeline::config::{BranchConfig, Direction};
use std::collections::BTreeMap;

/// Width to which histories are folded for tags.
const TAG_FOLD_BITS: u32 = 9;
const TAG_BITS: u32 = 12;
/// Updates between two agings of the usefulness.
const AGING_PERIOD: u32 = 262_144;

/// 2-bit counters, weakly not taken until they are trained.
#[derive(Default)]
struct Counters(BTreeMap<u64, u8>);

impl Counters {
    fn is_taken(&self, slot: u64) -> bool {
        matches!(self.0.get(&slot), Some(2 | 3))
    }

    fn train(&mut self, slot: u64, taken: bool) {
        let counter = self.0.entry(slot).or_insert(1);
        *counter = match (*counter, taken) {
            (0, false) => 0,
            (3, true) => 3,
            (value, false) => value - 1,
            (value, true) => value + 1,
        };
    }
}

/// Gshare: one table of counters, indexed by address and last directions.
pub(crate) struct Gshare {
    counters: Counters,
    slots: u64,
}

impl Gshare {
    /// Returns an empty table of `1 << bits` counters.
    pub(crate) fn new(bits: u32) -> Gshare {
        Gshare { counters: Counters::default(), slots: 1 << bits }
    }

    fn slot(&self, pc: u64, history: &History) -> u64 {
        // A fold that is as wide as the history is the history itself.
        ((pc / 4) ^ history.fold(32, 32)) % self.slots
    }
}

/// Entry of a branch in one tagged table: table, slot, and the tag that it has there.
#[derive(Clone, Copy)]
struct Place {
    table: usize,
    slot: u64,
    tag: u64,
}

/// Entry of a tagged table.
struct Entry {
    tag: u64,
    /// -4 to 3, taken if not negative.
    counter: i32,
    /// 0 to 3.
    useful: u32,
}

impl Entry {
    fn is_taken(&self) -> bool {
        self.counter >= 0
    }

    fn is_weak(&self) -> bool {
        self.counter == 0 || self.counter == -1
    }
}

/// Result of a look-up, kept for training.
pub(crate) struct Found {
    /// Predicted direction.
    pub(crate) taken: bool,
    /// Slot of gshare.
    slot: u64,
    /// Entries in all tagged tables, shortest history first.
    places: Vec<Place>,
    /// Table of the longest history that knows the branch.
    provider: Option<usize>,
    /// Direction of the next shorter table that knows it, or of the bimodal table.
    alternate: bool,
    /// Set if the provider's counter was weak.
    weak: bool,
}

/// TAGE: a bimodal table and tagged tables of increasing history length.
pub(crate) struct Tage {
    bimodal: Counters,
    bimodal_slots: u64,
    entries: BTreeMap<(usize, u64), Entry>,
    lengths: Vec<u32>,
    slots: u64,
    folded_bits: u32,
    /// Confidence in a new entry against its alternate, -8 to 7. A new entry decides unless it is
    /// negative.
    confidence: i32,
    updates: u32,
    random: u32,
}

impl Tage {
    /// Returns empty tables.
    pub(crate) fn new(config: &BranchConfig) -> Tage {
        Tage {
            bimodal: Counters::default(),
            bimodal_slots: 1 << config.bimodal_bits,
            entries: BTreeMap::new(),
            lengths: config.history_lengths.clone(),
            slots: 1 << config.tagged_bits,
            folded_bits: config.folded_bits,
            confidence: 0,
            updates: 0,
            random: 1,
        }
    }

    fn place(&self, table: usize, pc: u64, history: &History) -> Place {
        // 32 bits of a product spread addresses: the upper half selects the slot, the middle ones
        // the tag.
        let spread = (pc / 4 % (1 << 32)) * 0x9e37_79b1 % (1 << 32);
        let length = self.lengths[table];
        let index = history.fold(length, self.folded_bits);
        let slot = (spread >> 16 ^ index) % self.slots;
        let tag = spread >> 8 ^ history.fold(length, TAG_FOLD_BITS) << 1 ^ index << 3;
        Place { table, slot, tag: tag % (1 << TAG_BITS) }
    }

    /// Predicts the direction of the branch at `pc`.
    pub(crate) fn look_up(&self, pc: u64, history: &History) -> Found {
        let places: Vec<_> =
            (0..self.lengths.len()).map(|table| self.place(table, pc, history)).collect();
        let mut matching = places.iter().rev().filter_map(|place| {
            let entry = self.entries.get(&(place.table, place.slot))?;
            (entry.tag == place.tag).then_some((place.table, entry))
        });
        let base = self.bimodal.is_taken(pc / 4 % self.bimodal_slots);
        let Some((table, entry)) = matching.next() else {
            return Found {
                taken: base,
                slot: 0,
                places,
                provider: None,
                alternate: base,
                weak: false,
            };
        };
        let alternate = matching.next().map_or(base, |(_, entry)| entry.is_taken());
        let weak = entry.is_weak();
        let follows_alternate = weak && self.confidence <= -1;
        let taken = if follows_alternate { alternate } else { entry.is_taken() };
        Found { taken, slot: 0, places, provider: Some(table), alternate, weak }
    }

    /// Trains with the outcome of the branch that was looked up.
    pub(crate) fn train(&mut self, pc: u64, found: &Found, taken: bool) {
        let trains_bimodal = match found.provider {
            None => true,
            Some(table) => self.train_provider(found, found.places[table], taken),
        };
        if trains_bimodal {
            self.bimodal.train(pc / 4 % self.bimodal_slots, taken);
        }
        let first_longer = found.provider.map_or(0, |table| table + 1);
        if found.taken != taken && first_longer < self.lengths.len() {
            self.allocate(&found.places[first_longer..], taken);
        }
        self.updates += 1;
        if self.updates == AGING_PERIOD {
            self.updates = 0;
            self.entries.values_mut().for_each(|entry| entry.useful /= 2);
        }
    }

    /// Trains the entry that was the longest match. Returns whether the bimodal table trains too:
    /// the entry was new and not useful.
    fn train_provider(&mut self, found: &Found, place: Place, taken: bool) -> bool {
        let entry = self.entries.get_mut(&(place.table, place.slot)).expect("it was found");
        let was_right = entry.is_taken() == taken;
        if entry.is_taken() != found.alternate {
            // A correct entry against the alternate is useful and raises the confidence in new
            // entries; a wrong one lowers both.
            entry.useful =
                if was_right { 3.min(entry.useful + 1) } else { entry.useful.max(1) - 1 };
            if found.weak {
                self.confidence = (self.confidence + if was_right { 1 } else { -1 }).clamp(-8, 7);
            }
        }
        entry.counter = (entry.counter + if taken { 1 } else { -1 }).clamp(-4, 3);
        found.weak && entry.useful == 0
    }

    /// Allocates an entry for the branch in one of the longer tables. Without a free one, all of
    /// them lose usefulness.
    fn allocate(&mut self, longer: &[Place], taken: bool) {
        // The constants of the C standard's example of `rand`, and the bit above its lower half.
        self.random = self.random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let skips_one = self.random >> 16 & 1 == 1 && longer.len() > 1;
        let candidates = if skips_one { &longer[1..] } else { longer };
        let is_free = |place: &&Place| {
            self.entries.get(&(place.table, place.slot)).is_none_or(|entry| entry.useful == 0)
        };
        if let Some(place) = candidates.iter().find(is_free) {
            let counter = if taken { 0 } else { -1 };
            let entry = Entry { tag: place.tag, counter, useful: 0 };
            self.entries.insert((place.table, place.slot), entry);
            return;
        }
        for place in candidates {
            let entry = self.entries.get_mut(&(place.table, place.slot)).expect("none is free");
            entry.useful -= 1;
        }
    }
}

/// Direction predictor that a configuration selects.
pub(crate) enum DirectionReference {
    Tage(Tage),
    Gshare(Gshare),
}

impl DirectionReference {
    /// Returns an empty predictor.
    pub(crate) fn new(config: &BranchConfig) -> DirectionReference {
        match config.direction {
            Direction::Tage => DirectionReference::Tage(Tage::new(config)),
            Direction::Gshare => DirectionReference::Gshare(Gshare::new(config.gshare_bits)),
            Direction::Perfect => unreachable!("perfect prediction has no tables to compare"),
        }
    }

    /// Predicts the direction of the branch at `pc`.
    pub(crate) fn look_up(&self, pc: u64, history: &History) -> Found {
        match self {
            DirectionReference::Tage(tage) => tage.look_up(pc, history),
            DirectionReference::Gshare(gshare) => {
                let slot = gshare.slot(pc, history);
                let taken = gshare.counters.is_taken(slot);
                Found { taken, slot, places: vec![], provider: None, alternate: taken, weak: false }
            }
        }
    }

    /// Trains with the outcome of the branch that was looked up.
    pub(crate) fn train(&mut self, pc: u64, found: &Found, taken: bool) {
        match self {
            DirectionReference::Tage(tage) => tage.train(pc, found, taken),
            DirectionReference::Gshare(gshare) => gshare.counters.train(found.slot, taken),
        }
    }
}
