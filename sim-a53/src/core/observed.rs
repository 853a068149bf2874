//! Reports of a core to an observer of single instructions. A plain run makes none.

use super::{Core, Readiness};
use crate::event::Issued;
use crate::timing::Timing;

impl Core {
    /// Returns the cycles of the instruction that issued last.
    pub(super) fn issued(&self, timing: &Timing, ready: &Readiness) -> Issued {
        let issue = self.group.cycle;
        let (fetch, fetched) = self.front_end.fetched(ready.arrival);
        Issued {
            fetch,
            fetched,
            arrived: ready.arrival,
            operands: ready.operands,
            issue,
            is_second: self.group.insts == 2,
            more_cycles: u64::from(timing.more_cycles),
            write_back: self.write_back.begins(issue),
            leaves: self.write_back.end(),
            ..Issued::default()
        }
    }

    /// Returns the register that decides the cycle `operands`, before the instruction issues.
    pub(super) fn awaited(&self, timing: &Timing, operands: u64) -> Option<u8> {
        let srcs = &timing.srcs[..usize::from(timing.n_srcs)];
        let decides = |reg: u8, at: u64| (at > 0 && at == operands).then_some(reg);
        srcs.iter()
            .find_map(|(reg, how)| decides(*reg, self.results[usize::from(*reg)].ready_for(*how)))
    }
}
