//! Flow 5.6: fetches, and the next-line prefetcher of the I-side.

use super::cache::Line;
use super::l2::Reader;
use super::model::{Oracle, Way, clean, is_cacheable};

impl Oracle {
    pub(crate) fn fetch(&mut self, pc: u64) {
        self.count(&["L1I_TLB"]);
        let Some(target) = self.translate(Way::Fetch, pc) else { return };
        if !is_cacheable(target) {
            self.bus("BUS_ACCESS_RD", 64);
            return;
        }
        self.count(&["L1I_CACHE"]);
        let line = self.line_of(pc, target);
        let at = pc / 64;
        if !self.core.l1i.find_at(line, at) {
            self.refill_l1i(line, at, false);
            self.prefetch_code(line + 1, at + 1);
            return;
        }
        let found = self.core.l1i.change_at(line, at).expect("the line was found");
        if std::mem::take(&mut found.prefetched) {
            self.prefetch_code(line + 1, at + 1);
        }
    }

    /// Removes the copy that a write of this core made stale from the L1 I-cache (guide 3.2.12).
    pub(crate) fn invalidate_l1i(&mut self, line: u64) {
        if self.config.l1i.coherent {
            self.core.l1i.remove(line);
        }
    }

    /// Refills the L1 I-cache. Copies under several virtual addresses may stay, because none is
    /// ever modified.
    fn refill_l1i(&mut self, line: u64, at: u64, prefetched: bool) {
        self.drain_if_held(line);
        let answer = self.read_l2(line, Reader::Fetch);
        self.count(&["L1I_CACHE_REFILL", "L1I_CACHE_LMISS"]);
        self.core.l1i.add_at(Line { prefetched, ..clean(line) }, at);
        if answer.trains {
            self.train_prefetcher(line);
        }
    }

    /// Prefetches the next line of the page, which counts as a fetch in every event (A35).
    fn prefetch_code(&mut self, line: u64, at: u64) {
        let is_other_page = line.is_multiple_of(self.world.lines_of_page());
        if !self.config.prefetch.l1i_next_line || is_other_page {
            return;
        }
        self.count(&["L1I_TLB", "L1I_CACHE"]);
        if !self.core.l1i.holds_at(line, at) {
            self.refill_l1i(line, at, true);
        }
    }
}
