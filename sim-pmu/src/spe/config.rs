//! Implementation choices of the core: samples in flight, the wrong path, the random generator (SPE
//! supplement 2.2, 2.3.5, 4.3.11).

use serde::Deserialize;
use sim_core::config::Problem;

/// Size of the largest record in bytes, `PMSIDR_EL1.MaxSize`.
pub const MAX_RECORD_BYTES: u64 = 64;

/// Table `[spe]` of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SpeConfig {
    /// Maximum number of samples in flight; 0 means no limit.
    pub samples_in_flight: u32,
    /// Operations on a wrong path belong to the population.
    pub population_wrong_path: bool,
    /// A sampled operation on a wrong path leaves a record.
    pub record_wrong_path: bool,
    /// `PMSIDR_EL1.ERnd`: the random number is counted after the interval instead of being part of
    /// it.
    #[serde(rename = "random-behind-interval")]
    pub random_after_interval: bool,
    /// `PMBIDR_EL1.Align`: every record is padded to a multiple of this many bytes.
    pub align_bytes: u32,
    /// Seed of the generator for random intervals. Each core has its own generator.
    pub seed: u64,
}

impl SpeConfig {
    /// Returns all values that no core can have.
    pub fn problems(&self) -> Vec<Problem> {
        let align = self.align_bytes;
        let fits = align.is_power_of_two() && u64::from(align) <= MAX_RECORD_BYTES;
        let message =
            format!("records aligned to {align} bytes: give a power of two from 1 to 64, as in 64");
        (!fits).then(|| Problem::new("spe.align-bytes", message)).into_iter().collect()
    }
}

impl Default for SpeConfig {
    /// Returns the values of N2, which are those of the built-in configuration.
    fn default() -> SpeConfig {
        SpeConfig {
            samples_in_flight: 1,
            population_wrong_path: true,
            record_wrong_path: false,
            random_after_interval: false,
            align_bytes: MAX_RECORD_BYTES as u32,
            seed: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_alignment_is_a_power_of_two_up_to_the_record_size() {
        let problems = |align_bytes| SpeConfig { align_bytes, ..SpeConfig::default() }.problems();
        for align in [1, 2, 8, 64] {
            assert!(problems(align).is_empty(), "{align}");
        }
        for align in [0, 3, 48, 128, u32::MAX] {
            assert_eq!(problems(align)[0].key, "spe.align-bytes", "{align}");
        }
    }
}
