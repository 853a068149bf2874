//! Costs that a machine can omit, to measure their effect on performance.
//!
//! Decode removes these costs, so that no pipeline stage checks for them.

use crate::inst::{Inst, Rename, Special};
use crate::micro_op::Role;

/// Costs that are omitted for all instructions of a [`crate::Program`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spared {
    /// Computation takes one cycle and occupies its pipe for one cycle.
    pub latency: bool,
    /// Barriers (`DMB`, `DSB`, `ISB`), acquires and releases order nothing.
    pub ordering: bool,
}

impl Spared {
    /// Removes these costs from an instruction. Its events stay.
    pub(crate) fn apply(self, inst: &mut Inst) {
        if self.latency {
            compute_in_one_cycle(inst);
        }
        if self.ordering {
            order_nothing(inst);
        }
        inst.finish_decode();
    }
}

/// Sets all computation to one cycle. The cycles that a load adds to the latency of the
/// memory system stay, because they are part of an L1 hit.
fn compute_in_one_cycle(inst: &mut Inst) {
    let groups = &mut inst.uops[..usize::from(inst.n_uop_groups)];
    for group in groups.iter_mut().filter(|group| group.role != Role::Load) {
        group.latency = group.latency.min(1);
        group.occupancy = 1;
    }
    inst.accumulate.latency = inst.accumulate.latency.min(1);
}

fn order_nothing(inst: &mut Inst) {
    inst.mem.ordered = false;
    let orders = matches!(
        inst.special,
        Special::DataMemoryBarrier | Special::DataSyncBarrier | Special::InstSyncBarrier
    );
    if orders {
        (inst.special, inst.rename) = (Special::None, Rename::Nop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Costs, Program};
    use sim_core::PmuEvent;

    /// Words of `sdiv x0, x1, x2`, `ldr x1, [x2]`, `dmb ish`, `isb`, `ldar x1, [x0]`.
    const WORDS: [u32; 5] = [0x9ac2_0c20, 0xf940_0041, 0xd503_3bbf, 0xd503_3fdf, 0xc8df_fc01];

    fn decoded(spared: Spared) -> [Inst; 5] {
        let mut program = Program::costing(Costs { spared, ..Costs::default() });
        WORDS.map(|word| {
            let id = program.intern(0x1000, word);
            *program.inst(id)
        })
    }

    #[test]
    fn spared_latency_leaves_one_cycle_of_computation_and_the_time_of_loads() {
        let [divide, load, ..] = decoded(Spared::default());
        assert!(divide.uops[0].latency > 10 && divide.uops[0].occupancy > 1);
        let [spared, spared_load, ..] = decoded(Spared { latency: true, ordering: false });
        assert_eq!((spared.uops[0].latency, spared.uops[0].occupancy), (1, 1));
        assert_eq!(spared_load.uops, load.uops);
    }

    #[test]
    fn spared_ordering_leaves_the_events_of_barriers() {
        let [.., dmb, isb, acquire] = decoded(Spared { latency: false, ordering: true });
        assert_eq!((dmb.special, isb.special), (Special::None, Special::None));
        assert!(dmb.events.contains(PmuEvent::DMB_SPEC) && isb.events.contains(PmuEvent::ISB_SPEC));
        assert!(!acquire.mem.ordered && acquire.events.contains(PmuEvent::RC_LD_SPEC));
    }
}
