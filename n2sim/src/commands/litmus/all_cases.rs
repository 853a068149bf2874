//! The cases of the scenarios in this program.

use std::path::Path;

use sim_litmus::{Admission, LeftOut, Litmus, select};

use crate::files::packed;

/// The scenarios, as the build script packs them.
const SCENARIOS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scenarios.z"));

/// All cases of the scenarios.
pub(super) struct AllCases {
    /// Cases that user mode can run.
    pub(super) candidates: Vec<Litmus>,
    /// The others.
    pub(super) left_out: Vec<LeftOut>,
    /// Cases whose claim the model reproduces.
    pub(super) admission: Admission,
}

impl AllCases {
    /// Reads the scenarios in this program.
    pub(super) fn read() -> anyhow::Result<AllCases> {
        let mut files = Vec::new();
        for (path, text) in packed::unpack(SCENARIOS)? {
            let stem = Path::new(&path).file_stem().and_then(|stem| stem.to_str());
            files.push((stem.unwrap_or(&path).to_owned(), sim_scenario::parse(&path, &text)?));
        }
        let (candidates, left_out) = select(&files);
        Ok(AllCases { candidates, left_out, admission: Admission::builtin() })
    }

    /// Returns the cases that the exported program has.
    pub(super) fn admitted(&self) -> Vec<Litmus> {
        let admitted = |litmus: &&Litmus| self.admission.of(&litmus.id).is_some();
        self.candidates.iter().filter(admitted).cloned().collect()
    }
}
