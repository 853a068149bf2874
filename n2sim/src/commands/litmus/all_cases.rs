//! The cases of the scenarios in this program.

use std::path::Path;

use sim_litmus::program::mark_of;
use sim_litmus::{Admission, LeftOut, Litmus, Reason, select, select_el1};

use crate::files::packed;

/// The scenarios, as the build script packs them.
const SCENARIOS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scenarios.z"));

/// Cases that run at one level.
pub(super) struct Cases {
    /// Cases that can run there.
    pub(super) candidates: Vec<Litmus>,
    /// Cases whose claim the model reproduces.
    pub(super) admission: Admission,
    /// They are those of the module of the kernel.
    pub(super) in_module: bool,
}

/// All cases of the scenarios.
pub(super) struct AllCases {
    /// Cases of the program of user mode.
    pub(super) user: Cases,
    /// Cases of the module of the kernel.
    pub(super) el1: Cases,
    /// The others.
    pub(super) left_out: Vec<LeftOut>,
}

impl Cases {
    /// Returns the cases that are exported.
    pub(super) fn admitted(&self) -> Vec<Litmus> {
        let admitted = |litmus: &&Litmus| self.admission.of(&litmus.id).is_some();
        self.candidates.iter().filter(admitted).cloned().collect()
    }
}

impl AllCases {
    /// Reads the scenarios in this program.
    pub(super) fn read() -> anyhow::Result<AllCases> {
        let mut files = Vec::new();
        for (path, text) in packed::unpack(SCENARIOS)? {
            let stem = Path::new(&path).file_stem().and_then(|stem| stem.to_str());
            files.push((stem.unwrap_or(&path).to_owned(), sim_scenario::parse(&path, &text)?));
        }
        let (user, mut left_out) = select(&files);
        let (el1, others) = select_el1(&files);
        left_out.retain(|one| one.reason != Reason::NeedsEl1);
        left_out.extend(others);
        let user = Cases { candidates: user, admission: Admission::builtin(), in_module: false };
        let el1 = Cases { candidates: el1, admission: Admission::builtin_el1(), in_module: true };
        Ok(AllCases { user, el1, left_out })
    }

    /// Returns the cases of the program or module with this mark.
    pub(super) fn of_program(&self, mark: &str) -> Option<&Cases> {
        let has_mark = |cases: &&Cases| {
            [mark_of(&cases.admitted()), mark_of(&cases.candidates)].iter().any(|own| own == mark)
        };
        [&self.user, &self.el1].into_iter().find(has_mark)
    }
}
