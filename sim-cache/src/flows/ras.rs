//! Parity and ECC errors: what an access meets, what it counts, and how poison travels. PMU guide
//! 3.2.20 and 4.6.3, decision A28.
//!
//! The L1 D-cache corrects one bit and detects two; the L1 I-cache only detects. `MEMORY_ERROR` counts
//! once where an error is detected, and never for the L2, which corrects silently or hands its data on
//! as poisoned. Poison is no new error: it aborts whoever consumes it. Not modeled: errors of TLB
//! RAMs, SError (an uncorrectable error is reported synchronously), the RAS registers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use sim_core::{EventSink, Happened, LineAddr, MemReply, PmuEvent, VirtAddr};

use crate::config::ErrorsConfig;
use crate::core_memory::{CoreMemory, MemorySystem};
use crate::testing::state::{CacheLevel, NotMapped};
use crate::units::cache::Level;
use crate::units::indexed::Indexed;
use crate::units::tag_array::{Defect, Place};

/// A memory array of a core in which a bit can flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ram {
    /// Data of the L1 D-cache (ECC).
    L1dData,
    /// Tags of the L1 D-cache (ECC).
    L1dTag,
    /// Data of the L1 I-cache (parity).
    L1iData,
    /// Tags of the L1 I-cache (parity).
    L1iTag,
    /// Data of the L2 (ECC).
    L2Data,
}

impl Ram {
    fn level(self) -> CacheLevel {
        match self {
            Ram::L1dData | Ram::L1dTag => CacheLevel::L1d,
            Ram::L1iData | Ram::L1iTag => CacheLevel::L1i,
            Ram::L2Data => CacheLevel::L2,
        }
    }
}

impl MemorySystem {
    /// Flips bits in a memory array of a core where the line of `addr` is; the line is placed there
    /// first if it is absent. Nothing is counted before an access meets the error.
    ///
    /// # Errors
    ///
    /// [`NotMapped`] when the page faults.
    pub fn inject(
        &mut self,
        core: usize,
        addr: VirtAddr,
        ram: Ram,
        defect: Defect,
    ) -> Result<(), NotMapped> {
        self.place_line(core, addr, ram.level(), false)?;
        let line = self.line_of(addr)?;
        let core = &mut self.cores[core];
        let cache = match ram.level() {
            CacheLevel::L1i => &mut core.l1i,
            CacheLevel::L1d => &mut core.l1d,
            CacheLevel::L2 | CacheLevel::Slc => &mut core.l2,
        };
        let line = Indexed::virtually(addr, line);
        let place = cache.find(line).or_else(|| cache.probe(line.physical));
        let place = place.expect("the line was just placed");
        match ram {
            Ram::L1dTag | Ram::L1iTag => cache.break_tag(place, defect),
            Ram::L1dData | Ram::L1iData | Ram::L2Data => {
                cache.set_state(place, cache.state(place).with_defect(defect));
            }
        }
        Ok(())
    }
}

/// What a read of stored data met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checked {
    /// No error.
    Sound,
    /// One bit, corrected: the read is repeated.
    Corrected,
    /// Two bits, found by this access.
    Broken,
    /// Poison that somebody left.
    Poisoned,
}

impl Checked {
    /// The data cannot be used.
    pub(crate) fn is_lost(self) -> bool {
        matches!(self, Checked::Broken | Checked::Poisoned)
    }

    /// Tells the access that consumed the data.
    pub(crate) fn tell(self, reply: &mut MemReply) {
        if matches!(self, Checked::Corrected | Checked::Broken) {
            reply.happened.add(Happened::ERROR);
        }
        if self.is_lost() {
            reply.happened.add(Happened::FAULT.with(Happened::EXTERNAL));
        }
    }
}

impl CoreMemory {
    /// An access reads the data in a place of the L1 D-cache: a corrected line is scrubbed, a broken one
    /// is poisoned, for the access may never retire.
    pub(crate) fn check_l1d_data<S: EventSink>(&mut self, place: Place, sink: &mut S) -> Checked {
        let state = self.l1d.state(place);
        let (checked, left) = match state.defect() {
            Defect::None => return Checked::Sound,
            Defect::Poisoned => return Checked::Poisoned,
            Defect::Correctable => (Checked::Corrected, Defect::None),
            Defect::Uncorrectable => (Checked::Broken, Defect::Poisoned),
        };
        sink.raise(PmuEvent::MEMORY_ERROR);
        self.l1d.set_state(place, state.with_defect(left));
        checked
    }

    /// Modified data leaves the L1 D-cache and is checked on its way; true when it goes as poisoned.
    pub(crate) fn check_written_back<S: EventSink>(&self, defect: Defect, sink: &mut S) -> bool {
        if matches!(defect, Defect::Correctable | Defect::Uncorrectable) {
            sink.raise(PmuEvent::MEMORY_ERROR);
        }
        matches!(defect, Defect::Uncorrectable | Defect::Poisoned)
    }

    /// A line is looked for in every set in which it may be.
    pub(crate) fn settle_l1d_tags<S: EventSink>(&mut self, line: LineAddr, sink: &mut S) {
        for set in self.l1d.sets_of(line) {
            self.settle_l1d_set(set, sink);
        }
    }

    /// An access to a set finds a broken tag of the L1 D-cache. ECC corrects one bit; with two the line is
    /// known no more: it goes, and modified data in it is poisoned.
    pub(crate) fn settle_l1d_set<S: EventSink>(&mut self, set: u32, sink: &mut S) {
        while let Some(broken) = self.l1d.repair_tag(set) {
            sink.raise(PmuEvent::MEMORY_ERROR);
            let Some((lost, state)) = self.l1d.content(broken.place) else { continue };
            if broken.defect == Defect::Correctable {
                continue;
            }
            if state.is_dirty() {
                self.l1d.set_state(broken.place, state.with_defect(Defect::Poisoned));
            } else {
                self.l1d.remove(lost);
            }
        }
    }

    /// A fetch finds a broken tag in its set of the L1 I-cache: parity corrects nothing, so the line goes
    /// and is fetched again.
    pub(crate) fn settle_l1i_tags<S: EventSink>(&mut self, line: Indexed, sink: &mut S) {
        while let Some(broken) = self.l1i.repair_tag(self.l1i.set_of(line)) {
            sink.raise(PmuEvent::MEMORY_ERROR);
            if let Some((lost, _)) = self.l1i.content(broken.place) {
                self.l1i.remove(lost);
            }
        }
    }
}

/// The L2 reads a line out: one bit is corrected and not counted; true when it hands on poison.
pub(crate) fn check_l2_data(l2: &mut Level, place: Place) -> bool {
    let state = l2.state(place);
    match state.defect() {
        Defect::None => false,
        Defect::Correctable => {
            l2.set_state(place, state.with_defect(Defect::None));
            false
        }
        Defect::Uncorrectable | Defect::Poisoned => true,
    }
}

/// The state's defect of a line that arrives.
pub(crate) fn arriving_defect(poisoned: bool) -> Defect {
    if poisoned { Defect::Poisoned } else { Defect::None }
}

/// Seeded errors of a run: decided when a line is refilled, met by its later uses.
#[derive(Clone, Debug)]
pub(crate) struct ErrorSource {
    rates: ErrorsConfig,
    rng: Xoshiro256PlusPlus,
}

impl ErrorSource {
    /// `seed` starts the sequence; rates of 0 never draw from it.
    pub(crate) fn new(rates: &ErrorsConfig, seed: u64) -> ErrorSource {
        ErrorSource { rates: rates.clone(), rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// What goes wrong in the L1 D-cache with a line that arrives.
    pub(crate) fn l1d_defect(&mut self, poisoned: bool) -> Defect {
        let correctable = self.rates.l1d_correctable_per_million_refills;
        let uncorrectable = self.rates.l1d_uncorrectable_per_million_refills;
        if poisoned || correctable + uncorrectable == 0 {
            return arriving_defect(poisoned);
        }
        match self.per_million() {
            drawn if drawn < uncorrectable => Defect::Uncorrectable,
            drawn if drawn < uncorrectable + correctable => Defect::Correctable,
            _ => Defect::None,
        }
    }

    /// What goes wrong in the L1 I-cache with a line that arrives.
    pub(crate) fn l1i_defect(&mut self, poisoned: bool) -> Defect {
        let rate = self.rates.l1i_per_million_refills;
        if poisoned || rate == 0 {
            return arriving_defect(poisoned);
        }
        if self.per_million() < rate { Defect::Correctable } else { Defect::None }
    }

    /// A number below a million.
    fn per_million(&mut self) -> u32 {
        ((u64::from(self.rng.next_u32()) * 1_000_000) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_met_and_repeats_with_its_seed() {
        let rates = ErrorsConfig {
            l1d_correctable_per_million_refills: 20_000,
            l1d_uncorrectable_per_million_refills: 10_000,
            l1i_per_million_refills: 0,
        };
        let draw = || {
            let mut source = ErrorSource::new(&rates, 7);
            (0..100_000).map(|_| source.l1d_defect(false)).collect::<Vec<Defect>>()
        };
        let drawn = draw();
        let count = |defect| drawn.iter().filter(|d| **d == defect).count();
        assert!((1800..2200).contains(&count(Defect::Correctable)));
        assert!((850..1150).contains(&count(Defect::Uncorrectable)));
        assert_eq!(drawn, draw());
        let mut source = ErrorSource::new(&rates, 7);
        assert_eq!(source.l1i_defect(false), Defect::None);
        assert_eq!(source.l1d_defect(true), Defect::Poisoned, "poison comes with the line");
    }

    #[test]
    fn a_draw_that_equals_the_rate_is_no_error() {
        let mut rates = ErrorsConfig {
            l1d_correctable_per_million_refills: 0,
            l1d_uncorrectable_per_million_refills: 0,
            l1i_per_million_refills: 0,
        };
        rates.l1i_per_million_refills = ErrorSource::new(&rates, 7).per_million();
        assert_eq!(ErrorSource::new(&rates, 7).l1i_defect(false), Defect::None);
        rates.l1i_per_million_refills += 1;
        assert_eq!(ErrorSource::new(&rates, 7).l1i_defect(false), Defect::Correctable);
    }
}
