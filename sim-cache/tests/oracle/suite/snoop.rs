//! Effects of other agents on this core: snoops, stashes, and the exclusive monitor.

use sim_core::Snoop;

use super::cache::Line;
use super::home::CoherenceRequest;
use super::model::{Oracle, clean};

impl Oracle {
    /// Performs a snoop: one bus transaction in, one out (A08). Modified data counts as written
    /// back by the cache that supplies it, the L1 before the L2, for any snoop (A01). Each removed
    /// copy counts (A40).
    pub(crate) fn snoop(&mut self, snoop: Snoop, addr: u64) {
        let Some(target) = self.world.target(addr) else { return };
        let line = self.line_of(addr, target);
        self.answer_queued_snoops();
        self.drain_if_owned(line);
        self.answer_snoop(line, snoop, snoop == Snoop::Forward);
        self.note_external_snoop(snoop, line);
        // Bytes that wait for a line of another owner request it after the answer.
        self.drain_if_held(line);
    }

    /// Drains bytes that wait for the rest of a line which this core may write, before any answer.
    pub(crate) fn drain_if_owned(&mut self, line: u64) {
        if self.core.l2.look(line).is_some_and(|copy| !copy.shared) {
            self.drain_if_held(line);
        }
    }

    fn note_external_snoop(&mut self, snoop: Snoop, line: u64) {
        match snoop {
            Snoop::Clean => {}
            Snoop::Shared | Snoop::Forward => {
                // The agent snooped this core alone, so a line that another core owns keeps its
                // owner.
                let number = self.core.number;
                if let Some(holders) = self.holders.get_mut(&line)
                    && holders.cores.contains(&number)
                {
                    holders.owned = false;
                }
            }
            Snoop::Unique | Snoop::MakeInvalid => {
                self.drop_holder(line);
                self.external.insert(line);
                self.read_slc(line, false);
            }
            Snoop::CleanInvalidate | Snoop::Invalidate => {
                self.drop_holder(line);
                self.external.remove(&line);
            }
        }
    }

    /// Answers a snoop. With `gives`, clean data of the L2 is sent too.
    pub(crate) fn answer_snoop(&mut self, line: u64, snoop: Snoop, gives: bool) {
        let l1_dirty = self.core.l1d.look(line).is_some_and(|copy| copy.dirty);
        let in_l2 = self.core.l2.look(line);
        let l2_dirty = in_l2.is_some_and(|copy| copy.dirty);
        let is_lost = matches!(snoop, Snoop::Invalidate | Snoop::MakeInvalid);
        let mut answer_bytes = 0;
        if l1_dirty && !is_lost {
            self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_CLEAN"]);
            answer_bytes = 64;
        } else if !is_lost && (l2_dirty || (in_l2.is_some() && gives)) {
            self.count(&["L2D_CACHE_WB", "L2D_CACHE_WB_CLEAN"]);
            answer_bytes = 64;
        }
        self.bus_of_others(0);
        self.bus_of_others(answer_bytes);
        if (l1_dirty || l2_dirty) && !is_lost && snoop != Snoop::Unique {
            self.send_to_slc(line, true);
        }
        match snoop {
            Snoop::Shared | Snoop::Forward => self.keep(line, true),
            Snoop::Clean => self.keep(line, false),
            _ => self.lose(line),
        }
    }

    fn keep(&mut self, line: u64, shared: bool) {
        for cache in [&mut self.core.l1d, &mut self.core.l2] {
            if let Some(copy) = cache.change(line) {
                copy.dirty = false;
                copy.shared |= shared;
            }
        }
    }

    fn lose(&mut self, line: u64) {
        self.invalidate(line);
        self.unmark(line);
    }

    /// Removes every copy. A line in both caches counts in each (A40).
    pub(crate) fn invalidate(&mut self, line: u64) {
        self.core.l1i.remove(line);
        if self.core.l1d.remove(line).is_some() {
            self.count(&["L1D_CACHE_INVAL"]);
        }
        if self.core.l2.remove(line).is_some() {
            self.count(&["L2D_CACHE_INVAL"]);
        }
    }

    fn unmark(&mut self, line: u64) {
        if self.core.marked == Some(line) {
            self.core.marked = None;
        }
    }

    /// Stashes a line: the agent's data replaces every older copy. A new L2 line is a refill
    /// without a read (A05).
    pub(crate) fn stash(&mut self, addr: u64) {
        let Some(target) = self.world.target(addr) else { return };
        let line = self.line_of(addr, target);
        self.answer_queued_snoops();
        // These bytes are older than the agent's data.
        self.drain_if_held(line);
        self.bus_of_others(0);
        self.bus_of_others(64);
        self.core.l1i.remove(line);
        if self.core.l1d.remove(line).is_some() {
            self.count(&["L1D_CACHE_INVAL"]);
        }
        self.unmark(line);
        self.request_from_home(line, CoherenceRequest::Claim);
        self.core.arriving.insert(line);
        let stashed: Line = clean(line);
        if let Some(copy) = self.core.l2.change(line) {
            *copy = stashed;
        } else {
            self.count(&["L2D_CACHE_REFILL"]);
            self.add_to_l2(stashed);
        }
    }

    /// Performs a store-exclusive. Its store clears the mark; a fault before it does not.
    pub(crate) fn store_exclusive(&mut self, addr: u64) {
        if self.store(addr, 8) {
            self.core.marked = None;
            self.drain_all();
        }
    }

    pub(crate) fn load_exclusive(&mut self, addr: u64) {
        let is_done = self.load(addr, 8, 8);
        let target = self.world.target(addr);
        if let Some(target) = target.filter(|_| is_done) {
            self.core.marked = Some(self.line_of(addr, target));
        }
    }
}
