//! Errors in the RAMs. TRM 8, the chapter on cache protection.
//!
//! A line or an entry gets its error when it enters a RAM, at a rate that the configuration sets,
//! or from a directed test. The next access finds the error. A faulty line of an L1 cache leaves it
//! and is fetched again, a faulty TLB entry is walked again; the L2 cache and the snoop filter
//! correct theirs. Assumed: correction takes no time of its own, and a MEMORY_ERROR is an error in
//! a RAM of the core, which those of the L2 cache and the snoop filter are not.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::cache::{LineState, Victim};
use super::cluster::Cluster;
use super::config::ErrorsConfig;
use crate::event::{A53Condition, A53Event, A53Sink};

/// Rates of errors, with their random sequence.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    rates: ErrorsConfig,
    rng: Xoshiro256PlusPlus,
    /// The snoop filter may have an error.
    pub(crate) in_snoop_filter: bool,
}

impl Errors {
    /// Creates the source of errors. `seed` selects the sequence.
    pub(crate) fn new(rates: &ErrorsConfig, seed: u64) -> Errors {
        Errors {
            rates: rates.clone(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            in_snoop_filter: rates.snoop_filter_per_million_lines > 0,
        }
    }

    /// Returns the errors of a line that enters an L1 data cache.
    pub(crate) fn of_l1d(&mut self) -> LineState {
        let is_faulty = self.draws(self.rates.l1d_per_million_refills);
        let is_tag_faulty = self.draws(self.rates.snoop_filter_per_million_lines);
        LineState::CLEAN
            .with_if(is_faulty, LineState::FAULTY)
            .with_if(is_tag_faulty, LineState::TAG_FAULTY)
    }

    /// Returns the error of a line that enters an L1 instruction cache.
    pub(crate) fn of_l1i(&mut self) -> LineState {
        LineState::CLEAN.with_if(self.draws(self.rates.l1i_per_million_refills), LineState::FAULTY)
    }

    /// Returns whether a line that enters the L2 cache has an error.
    pub(crate) fn of_l2(&mut self) -> bool {
        self.draws(self.rates.l2_per_million_lines)
    }

    /// Returns whether an entry of the main TLB has an error.
    pub(crate) fn of_tlb(&mut self) -> bool {
        self.draws(self.rates.tlb_per_million_refills)
    }

    #[inline]
    fn draws(&mut self, rate: u32) -> bool {
        rate > 0 && ((u64::from(self.rng.next_u32()) * 1_000_000) >> 32) < u64::from(rate)
    }
}

impl Cluster {
    /// Removes a line with an error from the L1 data cache of a core, and writes it back if it is
    /// dirty, its error corrected.
    #[cold]
    pub(crate) fn find_l1d_error<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        at: u64,
        sink: &mut S,
    ) {
        sink.raise(A53Event::L1D_CACHE_ERR, at, 1);
        sink.raise(A53Event::MEMORY_ERROR, at, 1);
        if let Some(state) = self.snoop.l1d(core).remove(line) {
            self.evict(Victim { line, state }, at, sink);
        }
    }

    /// Removes a line with an error from the L1 instruction cache of a core.
    #[cold]
    pub(crate) fn find_l1i_error<S: A53Sink>(
        &mut self,
        core: usize,
        line: u64,
        at: u64,
        sink: &mut S,
    ) {
        sink.raise(A53Event::L1I_CACHE_ERR, at, 1);
        sink.raise(A53Event::MEMORY_ERROR, at, 1);
        self.cores[core].l1i.remove(line);
    }

    /// Finds the error of a line in the snoop filter, if it has one.
    pub(crate) fn check_snoop_filter<S: A53Sink>(&mut self, line: u64, at: u64, sink: &mut S) {
        if self.errors.in_snoop_filter && self.snoop.correct_tag(line) {
            sink.signal(A53Condition::SnoopFilterError, at, 1);
        }
    }

    /// Finds the error of a line in the L2 cache, if its state has one. Returns the state without.
    #[inline]
    pub(crate) fn check_l2<S: A53Sink>(
        &mut self,
        line: u64,
        state: LineState,
        at: u64,
        sink: &mut S,
    ) -> LineState {
        if !state.has(LineState::FAULTY) {
            return state;
        }
        sink.signal(A53Condition::L2Error, at, 1);
        self.l2.correct(line);
        state.without(LineState::FAULTY)
    }

    /// Enters a line into the L2 cache, with the error that it may get. Returns the line that it
    /// replaces.
    pub(crate) fn write_l2(
        &mut self,
        line: u64,
        dirty: bool,
        at: u64,
        ready: u64,
    ) -> Option<Victim> {
        let victim = self.l2.write(line, dirty, at, ready);
        if self.errors.of_l2() {
            self.l2.spoil(line);
        }
        victim
    }
}

#[cfg(test)]
mod tests {
    use super::{Errors, ErrorsConfig, LineState};

    #[test]
    fn errors_come_at_their_rate_and_repeat_with_the_seed() {
        let rates = ErrorsConfig {
            l1i_per_million_refills: 0,
            l1d_per_million_refills: 20_000,
            tlb_per_million_refills: 10_000,
            l2_per_million_lines: 0,
            snoop_filter_per_million_lines: 0,
        };
        let draw = || {
            let mut errors = Errors::new(&rates, 7);
            let faulty = (0..100_000).filter(|_| errors.of_l1d().has(LineState::FAULTY)).count();
            let in_tlb = (0..100_000).filter(|_| errors.of_tlb()).count();
            assert!(!errors.of_l2() && errors.of_l1i() == LineState::CLEAN);
            (faulty, in_tlb)
        };
        let (faulty, in_tlb) = draw();
        assert!((1800..2200).contains(&faulty) && (850..1150).contains(&in_tlb));
        assert_eq!(draw(), (faulty, in_tlb));
    }
}
