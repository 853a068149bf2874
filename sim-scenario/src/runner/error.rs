//! Faults of a case that only a machine shows.

use sim_core::config::ConfigError;

/// Why a case could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// Its configuration is no machine.
    #[error("the case '{test}' sets an impossible machine: {source}")]
    Config {
        /// Name of the case.
        test: String,
        /// What is wrong with it.
        source: ConfigError,
    },
    /// It wants to place a line or a translation of an unmapped page.
    #[error("'{test}' needs a line or a translation of an unmapped page: {source}")]
    NotMapped {
        /// Name of the case, or the step.
        test: String,
        /// Which address.
        source: sim_cache::NotMapped,
    },
    /// A step by set and way names an address that the cache does not hold.
    #[error("'{step}': no place of that cache holds 0x{addr:x}; give it a state, or load it first")]
    NotHeld {
        /// The step as written.
        step: String,
        /// The address.
        addr: u64,
    },
    /// A step names elements or addresses that its instruction does not have.
    #[error("'{step}': {given} {what} for an access that has {limit}; write as many as it has")]
    Elements {
        /// The step as written.
        step: String,
        /// What there is too much of.
        what: &'static str,
        /// How many the instruction has.
        limit: u8,
        /// How many the step names.
        given: usize,
    },
    /// A statement names a core of which nothing is known.
    #[error("'{test}' names the core {core}, of which nothing is known; known are {known}")]
    UnknownCore {
        /// Name of the case.
        test: String,
        /// The core.
        core: String,
        /// Cores that are known.
        known: String,
    },
    /// A step accesses a register of the PMU that it may not: no exception is taken for it here.
    #[error("'{step}': {source}; say at which level it runs, or expect what the register gives")]
    Refused {
        /// The step as written.
        step: String,
        /// Why.
        source: sim_pmu::AccessError,
    },
}
