//! Cycles that a run would save if one cost were zero: a cross-check of the slot ledger.
//!
//! The ledger gives each lost slot one cause. It does not say what the absence of the cause would
//! save, because another cause may follow. Here the trace runs again with one cost ideal, and with
//! two, and the ledgers show where the difference went. Two costs interact as Fields and others
//! define it (MICRO 2003): the saving of both less the savings of each. A positive value is
//! overlap: either hides the other.
//!
//! The costs of a core, and the uses of its slots, are data: an enumeration of each.

mod a53;
mod n2;

pub use a53::{A53Ideal, A53Loss};
pub use n2::{Ideal, Loss, WITNESSED, witness};

/// A cost of a core that is removed, or a limit that is lifted.
pub trait CoreIdeal: Copy + Ord + 'static {
    /// Uses of the slots of this core.
    type Loss: CoreLoss;
    /// All ideals, in the order of reports.
    const EACH: &'static [Self];

    /// Returns the configuration key and its value, in the form of an override.
    fn setting(self) -> &'static str;

    /// Returns the name in machine-readable outputs.
    fn name(self) -> &'static str;

    /// Returns the name in reports.
    fn label(self) -> &'static str;

    /// Returns the losses that the ideal removes. A symptom has none.
    fn removes(self) -> &'static [Self::Loss];

    /// Returns the slots that the ledger assigns to what the ideal removes; `None` if the ledger
    /// has them together with others.
    fn charged(self, slots: &Slots) -> Option<u64> {
        Some(slots.of_losses(self.removes()))
    }

    /// Returns whether the limit is a symptom in the ledger, not a cause.
    fn is_symptom(self) -> bool {
        false
    }

    /// Returns whether another ideal removes all of the cost, and more.
    fn is_part_of_another(self) -> bool {
        false
    }
}

/// Use of an issue or rename slot; every slot has exactly one.
pub trait CoreLoss: Copy + PartialEq + 'static {
    /// All uses, in the order of their numbers.
    const EACH: &'static [Self];

    /// Returns the number of the use.
    fn number(self) -> usize;

    /// Returns a short name for reports.
    fn label(self) -> &'static str;

    /// Returns true if the slot stayed empty.
    fn is_empty(self) -> bool;
}

/// Cycles and slots of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Cycles of all cores.
    pub cycles: u64,
    per_cycle: u64,
    /// Slots by the numbers of their uses.
    by_loss: Vec<u64>,
    empty: u64,
    /// Empty slots while a structure of the window was full.
    of_symptom: u64,
}

impl Slots {
    fn new(cycles: u64, per_cycle: u64) -> Slots {
        Slots { cycles, per_cycle, ..Slots::default() }
    }

    fn add<L: CoreLoss>(&mut self, loss: L, slots: u64) {
        self.by_loss.resize(L::EACH.len(), 0);
        self.by_loss[loss.number()] += slots;
        self.empty += if loss.is_empty() { slots } else { 0 };
    }

    /// Returns the slots of one use.
    pub fn loss(&self, loss: impl CoreLoss) -> u64 {
        self.by_loss.get(loss.number()).copied().unwrap_or(0)
    }

    /// Returns the slots of several uses.
    fn of_losses<L: CoreLoss>(&self, losses: &[L]) -> u64 {
        losses.iter().map(|loss| self.loss(*loss)).sum()
    }

    /// Returns all slots.
    pub fn total(&self) -> u64 {
        self.per_cycle * self.cycles
    }

    /// Returns the slots that stayed empty.
    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// Returns the slots that the ledger assigns to what an ideal removes; 0 if that is unknown.
    pub fn charged(&self, ideal: impl CoreIdeal) -> u64 {
        ideal.charged(self).unwrap_or(0)
    }
}

/// A run with two ideals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair<I = Ideal> {
    /// The two ideals.
    pub ideals: [I; 2],
    /// Slots of the run with both.
    pub slots: Slots,
}

/// Difference of one use of slots between two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change<L = Loss> {
    /// Use of the slots.
    pub loss: L,
    /// Difference as a fraction of all slots of the base run; positive if the ideal run has more.
    pub share: f64,
}

/// Runs of one trace: the base, with one ideal, with two, with all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterfactual<I = Ideal> {
    /// Run of the machine as modeled.
    pub base: Slots,
    /// Runs with one ideal.
    pub singles: Vec<(I, Slots)>,
    /// Runs with two ideals, of the most important ones.
    pub pairs: Vec<Pair<I>>,
    /// Run with all ideals.
    pub all: Slots,
}

/// Smallest fraction of a run that reports show: one percent.
pub const LEAST: f64 = 0.01;
/// Most ideals that are combined in pairs.
const MOST_PAIRED: usize = 5;

impl<I: CoreIdeal> Counterfactual<I> {
    /// Performs all runs beside the base run with slots `base`: first with one ideal, which shows
    /// the pairs worth a run. `several` runs each of these sets of ideals.
    ///
    /// # Errors
    /// Those of `several`.
    pub fn run<E>(
        base: Slots,
        several: impl Fn(&[Vec<I>]) -> Result<Vec<Slots>, E>,
    ) -> Result<Counterfactual<I>, E> {
        let each = || I::EACH.iter().copied();
        let mut sets: Vec<Vec<I>> = each().map(|ideal| vec![ideal]).collect();
        sets.push(each().filter(|own| !own.is_part_of_another()).collect());
        let mut slots = several(&sets)?;
        let all = slots.pop().unwrap_or_default();
        let singles: Vec<(I, Slots)> = each().zip(slots).collect();
        let chosen = Self::pairs_to_run(&base, &singles);
        let sets: Vec<Vec<I>> = chosen.iter().map(|pair| pair.to_vec()).collect();
        let pairs = chosen.into_iter().zip(several(&sets)?);
        let pairs = pairs.map(|(ideals, slots)| Pair { ideals, slots }).collect();
        Ok(Counterfactual { base, singles, pairs, all })
    }

    /// Returns the fraction of the cycles that another run saves.
    pub fn saved(&self, slots: &Slots) -> f64 {
        1.0 - part(slots.cycles, self.base.cycles)
    }

    /// Returns the fraction of the slots that the ledger assigns to what an ideal removes; `None`
    /// if that is unknown.
    pub fn known_charge(&self, ideal: I) -> Option<f64> {
        ideal.charged(&self.base).map(|slots| part(slots, self.base.total()))
    }

    /// Returns the fraction of the slots that the ledger assigns to what an ideal removes; 0 if
    /// that is unknown.
    pub fn charged(&self, ideal: I) -> f64 {
        self.known_charge(ideal).unwrap_or(0.0)
    }

    /// Returns the joint saving of a pair less the single savings, as a fraction of the cycles.
    pub fn interaction(&self, pair: &Pair<I>) -> f64 {
        let alone = |ideal| {
            let single = self.singles.iter().find(|(own, _)| *own == ideal);
            single.map_or(0.0, |(_, slots)| self.saved(slots))
        };
        let [a, b] = pair.ideals;
        self.saved(&pair.slots) - alone(a) - alone(b)
    }

    /// Returns the uses of slots that changed by one percent or more, the largest change first.
    /// They show where an ideal saves something else than the ledger's share. A rest of its own
    /// losses counts as growth.
    pub fn changes(&self, ideal: I, slots: &Slots) -> Vec<Change<I::Loss>> {
        let total = self.base.total();
        let change = |loss: I::Loss| {
            let before = if ideal.removes().contains(&loss) { 0 } else { self.base.loss(loss) };
            Change { loss, share: part(slots.loss(loss), total) - part(before, total) }
        };
        let mut changes: Vec<Change<I::Loss>> = I::Loss::EACH.iter().copied().map(change).collect();
        changes.retain(|change| change.share.abs() >= LEAST);
        changes.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        changes
    }

    /// Returns the pairs of the most important ideals, by saving and by ledger.
    fn pairs_to_run(base: &Slots, singles: &[(I, Slots)]) -> Vec<[I; 2]> {
        let saved = |slots: &Slots| 1.0 - part(slots.cycles, base.cycles);
        let matters = |(ideal, slots): &(I, Slots)| {
            let charged = part(base.charged(*ideal), base.total());
            (saved(slots).max(charged), *ideal)
        };
        let mut most: Vec<(f64, I)> = singles.iter().map(matters).collect();
        most.retain(|(part, ideal)| *part >= LEAST && !ideal.is_part_of_another());
        most.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        most.truncate(MOST_PAIRED);
        let mut chosen: Vec<I> = most.into_iter().map(|(_, ideal)| ideal).collect();
        chosen.sort_unstable();
        let mut pairs = Vec::new();
        for (i, a) in chosen.iter().enumerate() {
            pairs.extend(chosen[i + 1..].iter().map(|b| [*a, *b]));
        }
        pairs
    }
}

fn part(of: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { of as f64 / whole as f64 }
}
