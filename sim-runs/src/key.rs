//! The key of a run: a hash of everything that determines its counts, and of nothing else.

use sha2::{Digest, Sha256};

/// Version of this crate, which is that of n2sim.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the SHA-256 of a text in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    hexadecimal(&Sha256::digest(text.as_bytes()))
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Inputs that determine the counts of a run. Seed and order of threads are values of the
/// configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    /// Content hash of the trace.
    pub(crate) trace: u64,
    /// Name of the core.
    pub(crate) core: &'a str,
    /// SHA-256 of the configuration's canonical text.
    pub(crate) config: &'a str,
    /// Instructions of each thread that only warm the machine.
    pub(crate) warmup: u64,
    /// Instructions of each thread that count.
    pub(crate) limit: Option<u64>,
    /// Part of the trace, in words that determine it.
    pub(crate) part: &'a str,
}

impl Inputs<'_> {
    /// Returns the key.
    pub(crate) fn key(&self) -> String {
        let Inputs { trace, core, config, warmup, limit, part } = self;
        let limit = limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
        sha256(&format!(
            "n2sim {VERSION}\ncore {core}\nmode full\ntrace {trace:016x}\nconfig {config}\n\
             warmup {warmup}\nlimit {limit}\npart {part}\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), expected);
    }

    #[test]
    fn every_input_changes_the_key() {
        let one =
            Inputs { trace: 1, core: "a", config: "c", warmup: 0, limit: None, part: "whole" };
        let keys = [
            one,
            Inputs { trace: 2, ..one },
            Inputs { core: "b", ..one },
            Inputs { config: "d", ..one },
            Inputs { warmup: 1, ..one },
            Inputs { limit: Some(0), ..one },
            Inputs { limit: Some(1), ..one },
            Inputs { part: "chunk 0 9 0 0", ..one },
        ]
        .map(|inputs| inputs.key());
        assert!(keys.iter().all(|key| keys.iter().filter(|other| *other == key).count() == 1));
    }
}
