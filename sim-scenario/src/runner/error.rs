//! Errors of a case that only a machine reveals.

use sim_core::config::ConfigError;

/// A case that cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The configuration is not a valid machine.
    #[error("the case '{test}' sets an impossible machine: {source}")]
    Config {
        /// Name of the case.
        test: String,
        /// Fault of the configuration.
        source: ConfigError,
    },
    /// The case needs a line or a translation of an unmapped page.
    #[error("'{test}' needs a line or a translation of an unmapped page: {source}")]
    NotMapped {
        /// Name of the case, or the step.
        test: String,
        /// The address.
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
    /// A step has more elements or addresses than its instruction.
    #[error("'{step}': {given} {what} for an access that has {limit}; write as many as it has")]
    Elements {
        /// The step as written.
        step: String,
        /// Name of the surplus.
        what: &'static str,
        /// Number that the instruction has.
        limit: u8,
        /// Number that the step names.
        given: usize,
    },
    /// A statement names an unknown core.
    #[error("'{test}' names the unknown core {core}; known cores are {known}")]
    UnknownCore {
        /// Name of the case.
        test: String,
        /// Name of the core.
        core: String,
        /// Known cores.
        known: String,
    },
    /// A statement names a register that the core cannot have.
    #[error("'{test}' names {name}, and the PMU of {core} has no register of this name")]
    UnknownRegister {
        /// Name of the case.
        test: String,
        /// Name of the core.
        core: String,
        /// Name of the register.
        name: String,
    },
    /// A step accesses a PMU register without permission; the runner takes no exception for it.
    #[error("'{step}': {source}; say at which level it runs, or expect what the register gives")]
    Refused {
        /// The step as written.
        step: String,
        /// Reason of the refusal.
        source: sim_pmu::AccessError,
    },
}
