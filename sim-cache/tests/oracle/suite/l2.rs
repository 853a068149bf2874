//! Flows 5.7 and 5.8, and the system level cache behind them.

use sim_cache::config::{StoreMissDirection, WalkReads};
use sim_core::DataSource;

use super::cache::Line;
use super::home::{Granted, Want};
use super::model::{Oracle, clean};

/// Who reads a line of the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A load, or a preload instruction.
    Load,
    /// A near atomic, which reads a line that it then writes.
    Atomic,
    /// A store that wants the line.
    Store,
    /// A fetch, or a prefetch of the I-side (A35).
    Fetch,
    /// The L2's own prefetcher.
    Prefetcher,
    /// A table walk.
    Walk,
}

/// What a reader is told.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    /// The data comes from outside the core, for this reader or one before (A03).
    pub(crate) outside: bool,
    /// A miss, or the first use of a prefetched line: the prefetcher hears of it.
    pub(crate) trains: bool,
}

impl Oracle {
    fn counts(&self, reader: Reader) -> bool {
        match reader {
            Reader::Prefetcher => self.semantics.prefetch_counts_in_l2,
            Reader::Walk => self.semantics.walk_reads == WalkReads::L2Counted,
            _ => true,
        }
    }

    /// A07: by the flow, or by what the transaction does.
    fn is_write(&self, reader: Reader) -> bool {
        reader == Reader::Store && self.semantics.store_miss_l2 == StoreMissDirection::Write
    }

    pub(crate) fn read_l2(&mut self, line: u64, reader: Reader) -> Answer {
        if self.counts(reader) {
            let half = if self.is_write(reader) { "L2D_CACHE_WR" } else { "L2D_CACHE_RD" };
            self.count(&["L2D_CACHE", half]);
        }
        if self.core.l2.find(line) {
            let found = self.core.l2.change(line).expect("the line was found");
            let trains = std::mem::take(&mut found.prefetched);
            if found.shared && matches!(reader, Reader::Store | Reader::Atomic) {
                self.ask_for_line(line);
            }
            return Answer { outside: self.core.arriving.contains(&line), trains };
        }
        self.refill_l2(line, reader);
        Answer { outside: true, trains: true }
    }

    pub(crate) fn refill_l2(&mut self, line: u64, reader: Reader) {
        let half = if self.is_write(reader) { "BUS_ACCESS_WR" } else { "BUS_ACCESS_RD" };
        self.bus(half, 64);
        if self.counts(reader) {
            self.count(&["L2D_CACHE_REFILL", "L2D_CACHE_REFILL_RD", "L2D_CACHE_LMISS_RD"]);
        }
        let Granted { source, dirty, shared } = self.read_outside(line, reader);
        if source == DataSource::Remote {
            self.count(&["REMOTE_ACCESS"]);
        }
        if self.semantics.extllc {
            self.count(&["LL_CACHE_RD"]);
            if source != DataSource::Slc {
                self.count(&["LL_CACHE_MISS_RD"]);
            }
        }
        self.core.arriving.insert(line);
        let prefetched = reader == Reader::Prefetcher;
        self.add_to_l2(Line { dirty, prefetched, shared, ..clean(line) });
    }

    /// The home node decides, unless the supplier is fixed: then it only keeps its books, and nobody
    /// gives a duty along.
    fn read_outside(&mut self, line: u64, reader: Reader) -> Granted {
        let want = match reader {
            Reader::Fetch => Want::Code,
            Reader::Store | Reader::Atomic => Want::Own,
            _ => Want::Read,
        };
        match self.world.supplier(line) {
            None => self.ask_home(line, want),
            Some(source) if self.other.is_none() => Granted { source, dirty: false, shared: false },
            Some(source) => Granted { source, dirty: false, ..self.ask_home(line, want) },
        }
    }

    /// Step 5: a victim takes its copies in the L1 caches along (A43) and goes to the system level
    /// cache; a dirty one counts, a clean one with the key `clean-victims-count` (A32, A48).
    pub(crate) fn add_to_l2(&mut self, line: Line) {
        let Some(old) = self.core.l2.add(line) else { return };
        self.core.l1i.remove(old.number);
        let l1_dirty = self.core.l1d.remove(old.number).is_some_and(|copy| copy.dirty);
        if l1_dirty {
            self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_VICTIM", "L2D_CACHE", "L2D_CACHE_WR"]);
        }
        let dirty = old.dirty || l1_dirty;
        if dirty || self.semantics.clean_victims_count {
            self.count(&["L2D_CACHE_WB", "L2D_CACHE_WB_VICTIM"]);
            self.bus("BUS_ACCESS_WR", 64);
        }
        self.left(old.number);
        self.send_to_slc(old.number, dirty);
    }

    pub(crate) fn send_to_slc(&mut self, line: u64, dirty: bool) {
        let Some(slc) = &mut self.slc else { return };
        if !slc.find(line) {
            slc.add(Line { dirty, ..clean(line) });
        } else if dirty {
            slc.make_dirty(line);
        }
    }

    /// A write to a line that others may share: one bus write without data, and it is this core's alone.
    pub(crate) fn ask_for_line(&mut self, line: u64) {
        self.bus("BUS_ACCESS_WR", 0);
        self.ask_home(line, Want::Upgrade);
        for cache in [&mut self.core.l1d, &mut self.core.l2] {
            if let Some(copy) = cache.change(line) {
                copy.shared = false;
            }
        }
    }

    /// A write found its line in the L2.
    fn write_found_line(&mut self, line: u64) {
        let found = self.core.l2.change(line).expect("the line was found");
        found.dirty = true;
        if found.shared {
            self.ask_for_line(line);
        }
    }

    /// A whole line is written without being read (A05, A36).
    pub(crate) fn write_full_line(&mut self, line: u64) {
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if self.core.l2.find(line) {
            self.write_found_line(line);
            return;
        }
        self.count(&["L2D_CACHE_REFILL"]);
        self.bus("BUS_ACCESS_WR", 0);
        self.ask_home(line, Want::Claim);
        self.core.arriving.remove(&line);
        self.add_to_l2(Line { dirty: true, ..clean(line) });
    }

    /// A part of a line is written: it is read in first if it is absent.
    pub(crate) fn write_part_line(&mut self, line: u64) {
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if !self.core.l2.find(line) {
            self.refill_l2(line, Reader::Store);
        }
        self.write_found_line(line);
    }

    /// The next lines of the page, if the line before is here: at most `degree` absent ones, not
    /// farther than the distance, none that this page's run asked for before.
    pub(crate) fn prefetch_after(&mut self, line: u64) {
        let prefetch = self.config.prefetch.clone();
        if !prefetch.l2_next_line || line == 0 || !self.core.l2.holds(line - 1) {
            return;
        }
        let page = line / self.world.lines_of_page();
        let page_end = (page + 1) * self.world.lines_of_page();
        let run = self.core.streams.get(&(page % 16)).filter(|run| run.0 == page);
        let first = run.map_or(line + 1, |run| run.1.max(line + 1));
        let end = page_end.min(line + 1 + u64::from(prefetch.l2_distance_lines));
        let (mut asked, mut up_to) = (0, first);
        for next in first..end {
            if asked == prefetch.l2_degree_lines {
                break;
            }
            if !self.core.l2.holds(next) {
                self.read_l2(next, Reader::Prefetcher);
                asked += 1;
            }
            up_to = next + 1;
        }
        self.core.streams.insert(page % 16, (page, up_to));
    }
}
