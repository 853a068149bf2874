//! Dispatch: the micro-operations that one instruction sends from rename, and the limit of each
//! type per cycle (PMU guide 3.2.2; optimization guides of the cores with five slots).

use crate::config::DispatchConfig;
use sim_isa::{Inst, UopCounts};

/// Outcome of renaming an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RenameOutcome {
    /// The micro-operations of the instruction wait in issue queues.
    Dispatched,
    /// Rename completes it: it takes a slot and a reorder buffer entry only.
    Eliminated,
    /// The micro-operation of its fusion partner executes it.
    Fused,
}

/// Returns the limits of one cycle, in the order of [`Inst::by_type`].
pub(crate) fn limits(d: &DispatchConfig) -> UopCounts {
    let limits = [d.uops, d.branch_single, d.multi, d.multi0, d.vector0, d.vector1, d.load_store];
    UopCounts::new(limits.map(u32::from))
}

/// Returns the micro-operations that one instruction dispatches.
#[inline]
pub(crate) fn uops_of(inst: &Inst, outcome: RenameOutcome) -> UopCounts {
    if outcome == RenameOutcome::Dispatched { inst.by_type } else { UopCounts::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_isa::decode;

    /// `madd x0, x1, x2, x3`, `ldp x0, x1, [x2]`
    const WORDS: [u32; 2] = [0x9b02_0c20, 0xa940_0440];

    #[test]
    fn a_type_at_its_limit_dispatches_no_further_operation() {
        let [madd, pair] = WORDS.map(|word| uops_of(&decode(word), RenameOutcome::Dispatched));
        let limits = UopCounts::new([10, 4, 4, 2, 2, 2, 5]);
        assert!(madd.plus(madd).within(limits), "two for M0");
        assert!(!madd.plus(madd).plus(madd).within(limits), "three for M0");
        assert!(pair.plus(pair).plus(madd).within(limits), "four loads and one for M0");
        assert!(!pair.plus(pair).plus(pair).within(limits), "six loads");
        assert_eq!(uops_of(&decode(WORDS[0]), RenameOutcome::Fused), UopCounts::default());
    }
}
