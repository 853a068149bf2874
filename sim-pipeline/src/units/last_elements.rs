//! Element addresses of earlier SVE accesses. Wrong paths use them, because they have no trace
//! record.

use sim_core::{InstFlags, InstId, MAX_FURTHER, TraceInst};

/// Predicate and element addresses of the last execution of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    flags: InstFlags,
    /// Distances of the further addresses from the first, in bytes.
    further: [u64; MAX_FURTHER],
}

/// Last execution of each SVE access, by static instruction. Wrong paths use it, because they have
/// no trace record.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastElements {
    seen: Vec<Seen>,
}

impl LastElements {
    /// Records an execution on the correct path.
    #[inline(never)]
    pub(crate) fn learn(&mut self, id: InstId, inst: TraceInst, more: &[u64]) {
        let slot = id as usize;
        if slot >= self.seen.len() {
            // Grows with the static code only, not with the number of instructions run.
            self.seen.resize((slot + 1).next_power_of_two(), Seen::default());
        }
        let mut further = [0; MAX_FURTHER];
        for (distance, addr) in further.iter_mut().zip(more) {
            *distance = addr.wrapping_sub(inst.addr);
        }
        let flags = InstFlags::default().with_further(more.len());
        let (activity, elements) = (inst.flags.activity(), inst.flags.active_elements());
        self.seen[slot] = Seen { flags: flags.with_predicate(activity, elements), further };
    }

    /// Returns the predicted predicate and further addresses of an execution at `addr`.
    pub(crate) fn predict(&self, id: InstId, addr: u64) -> (InstFlags, [u64; MAX_FURTHER]) {
        let Seen { flags, further } = self.seen.get(id as usize).copied().unwrap_or_default();
        (flags, further.map(|distance| addr.wrapping_add(distance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::Activity;

    #[test]
    fn a_wrong_path_uses_the_last_distances_of_the_elements_from_the_first() {
        let mut last = LastElements::default();
        let flags = InstFlags::HAS_ADDR.with_further(2).with_predicate(Activity::Partial, 0b1011);
        let inst = TraceInst { addr: 0x1000, id: 5, flags };
        last.learn(5, inst, &[0x1040, 0x0ff0]);
        let (flags, further) = last.predict(5, 0x2000);
        assert_eq!((flags.activity(), flags.further()), (Activity::Partial, 2));
        assert_eq!(further[..2], [0x2040, 0x1ff0]);
        assert_eq!(last.predict(77, 0x2000).0, InstFlags::default());
    }
}
