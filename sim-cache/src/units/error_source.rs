//! Seeded bit errors of a run, drawn when a line is refilled. PMU guide 3.2.20, decision A28.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::config::ErrorsConfig;
use crate::units::tag_array::{Defect, arriving_defect};

/// Source of the seeded errors of a run: drawn when a line is refilled, detected by its later uses.
#[derive(Clone, Debug)]
pub(crate) struct ErrorSource {
    rates: ErrorsConfig,
    rng: Xoshiro256PlusPlus,
}

impl ErrorSource {
    /// Creates the source. `seed` starts the sequence; rates of 0 never draw from it.
    pub(crate) fn new(rates: &ErrorsConfig, seed: u64) -> ErrorSource {
        ErrorSource { rates: rates.clone(), rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Returns the error of a line that arrives in the L1 D-cache.
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

    /// Returns the error of a line that arrives in the L1 I-cache.
    pub(crate) fn l1i_defect(&mut self, poisoned: bool) -> Defect {
        let rate = self.rates.l1i_per_million_refills;
        if poisoned || rate == 0 {
            return arriving_defect(poisoned);
        }
        if self.per_million() < rate { Defect::Correctable } else { Defect::None }
    }

    /// Returns a random number below a million.
    fn per_million(&mut self) -> u32 {
        ((u64::from(self.rng.next_u32()) * 1_000_000) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_occur_at_their_rate_and_repeat_with_the_seed() {
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
    fn a_draw_that_equals_the_rate_is_not_an_error() {
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
