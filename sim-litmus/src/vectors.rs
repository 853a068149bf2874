//! Cases that a recording must show the predicates and addresses of SVE for.

use sim_machine::caveats;
use sim_trace::{MissingData, TraceFile};

use crate::plan::Plan;

impl Plan {
    /// Returns true if a step has a predicate or an access of SVE.
    pub fn needs_elements(&self) -> bool {
        self.steps.iter().any(|step| {
            let has_access = sim_isa::is_sve_access(step.word);
            has_access || sim_isa::decode(step.word).mem.elements > 0 || !step.has_all_elements()
        })
    }
}

/// Returns true if the recording has the active elements of SVE instructions and their addresses.
/// Cases that need them are not counted without them.
pub fn has_elements(recording: &TraceFile) -> bool {
    let lacks = caveats::lacks(recording);
    !lacks.contains(&MissingData::SveAccesses) && !lacks.contains(&MissingData::Predicates)
}
