//! Snoops on their way to the cores. The home node decides at once; a core answers when it next uses
//! its memory, so that what it counts is its own.

use crate::units::request::SnoopRequest;

/// One box for each core.
#[derive(Clone, Debug)]
pub(crate) struct SnoopQueues {
    /// Bit `core % 64`: something may wait for that core.
    flags: u64,
    queues: Box<[Vec<SnoopRequest>]>,
    /// Cores that never look into theirs again.
    closed: Box<[bool]>,
}

impl SnoopQueues {
    /// Empty queues.
    pub(crate) fn new(cores: usize) -> SnoopQueues {
        SnoopQueues {
            flags: 0,
            queues: vec![Vec::new(); cores].into(),
            closed: vec![false; cores].into(),
        }
    }

    /// False when nothing waits for a core. The one question that every access asks.
    #[inline(always)]
    pub(crate) fn may_have(&self, core: usize) -> bool {
        self.flags & 1 << (core % 64) != 0
    }

    /// Sends a snoop.
    pub(crate) fn send(&mut self, core: usize, request: SnoopRequest) {
        if self.closed[core] {
            return;
        }
        self.flags |= 1 << (core % 64);
        self.queues[core].push(request);
    }

    /// Throws a core's snoops away, those to come as well.
    pub(crate) fn close(&mut self, core: usize) {
        drop(self.take(core));
        self.closed[core] = true;
    }

    /// Empties a box; what is taken is handed back with [`SnoopQueues::put_back`].
    pub(crate) fn take(&mut self, core: usize) -> Vec<SnoopRequest> {
        let taken = std::mem::take(&mut self.queues[core]);
        let same_flag = self.queues.iter().skip(core % 64).step_by(64);
        if same_flag.map(Vec::len).sum::<usize>() == 0 {
            self.flags &= !(1 << (core % 64));
        }
        taken
    }

    /// Hands the emptied list back, so that its memory is used again.
    pub(crate) fn put_back(&mut self, core: usize, mut list: Vec<SnoopRequest>) {
        list.clear();
        if self.queues[core].is_empty() {
            self.queues[core] = list;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::{LineAddr, Snoop};

    #[test]
    fn a_box_is_emptied_once_and_cores_that_share_a_flag_keep_theirs() {
        let mut snoops = SnoopQueues::new(66);
        let request = SnoopRequest::new(Snoop::Shared, LineAddr(1), 0);
        snoops.send(1, request);
        snoops.send(65, request);
        assert!(snoops.may_have(1) && snoops.may_have(65) && !snoops.may_have(0));
        assert_eq!(snoops.take(1), [request]);
        assert!(snoops.may_have(65), "core 65 has a snoop");
        assert_eq!(snoops.take(65), [request]);
        assert!(!snoops.may_have(1) && !snoops.may_have(65));
    }

    #[test]
    fn a_closed_box_takes_nothing() {
        let mut snoops = SnoopQueues::new(2);
        let request = SnoopRequest::new(Snoop::Shared, LineAddr(1), 0);
        snoops.send(1, request);
        snoops.close(1);
        snoops.send(1, request);
        assert!(!snoops.may_have(1));
        assert_eq!(snoops.take(1), []);
    }
}
