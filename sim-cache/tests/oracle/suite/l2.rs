//! Flows 5.7 and 5.8, and the system level cache behind them.

use sim_cache::config::{PrefetchConfig, StoreMissDirection, WalkReads};
use sim_core::DataSource;

use super::cache::Line;
use super::home::{CoherenceRequest, Granted};
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
    /// A store whose write comes later.
    StoreAhead,
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
            Reader::Prefetcher | Reader::StoreAhead => self.semantics.prefetch_counts_in_l2,
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
        let prefetched = matches!(reader, Reader::Prefetcher | Reader::StoreAhead);
        self.add_to_l2(Line { dirty, prefetched, shared, ..clean(line) });
    }

    /// The home node decides, unless the supplier is fixed: then it only keeps its books, and nobody
    /// gives a duty along.
    fn read_outside(&mut self, line: u64, reader: Reader) -> Granted {
        let request = match reader {
            Reader::Fetch => CoherenceRequest::Code,
            Reader::Store | Reader::StoreAhead | Reader::Atomic => CoherenceRequest::Own,
            _ => CoherenceRequest::Read,
        };
        if self.taken.contains(&line) {
            return self.ask_agent(line, request);
        }
        match self.world.supplier(line) {
            None => self.ask_home(line, request),
            Some(source) if self.other.is_none() => Granted { source, dirty: false, shared: false },
            Some(source) => Granted { source, dirty: false, ..self.ask_home(line, request) },
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
        self.ask_home(line, CoherenceRequest::Upgrade);
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
        self.invalidate_l1i(line);
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if self.core.l2.find(line) {
            self.write_found_line(line);
            return;
        }
        self.count(&["L2D_CACHE_REFILL"]);
        self.bus("BUS_ACCESS_WR", 0);
        self.ask_home(line, CoherenceRequest::Claim);
        self.core.arriving.remove(&line);
        self.add_to_l2(Line { dirty: true, ..clean(line) });
    }

    /// A part of a line is written: it is read in first if it is absent.
    pub(crate) fn write_part_line(&mut self, line: u64) {
        self.invalidate_l1i(line);
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if !self.core.l2.find(line) {
            self.refill_l2(line, Reader::Store);
        }
        self.write_found_line(line);
    }

    /// The L2's prefetcher hears of a line: two equal steps of at most four lines in one page start a
    /// stream, which then asks for at most `degree` absent lines of the page at a time, each once, none
    /// farther than the distance from the newest request.
    pub(crate) fn prefetch_after(&mut self, line: u64) {
        let prefetch = self.config.prefetch.clone();
        if !prefetch.l2_stream {
            return;
        }
        let page = line / self.world.lines_of_page();
        let pages = &mut self.core.streams;
        let known = pages.iter().position(|stream| stream.page == page);
        let mut stream = match known {
            Some(place) => pages.remove(place),
            None => Stream { page, ..Stream::default() },
        };
        let goes_on = stream.hear(line as i64, prefetch.l2_distance_lines.into());
        if goes_on {
            self.follow(&mut stream, &prefetch);
        }
        let pages = &mut self.core.streams;
        pages.push(stream);
        if pages.len() > prefetch.l2_table_entries as usize {
            pages.remove(0);
        }
    }

    fn follow(&mut self, stream: &mut Stream, prefetch: &PrefetchConfig) {
        let (newest, step) = (stream.seen[0], stream.step);
        let lines = self.world.lines_of_page() as i64;
        let inside = |line: i64| line.div_euclid(lines) == stream.page as i64;
        let mut asked = 0;
        while asked < prefetch.l2_degree_lines {
            let next = stream.asked_to + step;
            if !inside(next) || (next - newest).abs() > prefetch.l2_distance_lines.into() {
                return;
            }
            stream.asked_to = next;
            if !self.core.l2.holds(next as u64) {
                self.read_l2(next as u64, Reader::Prefetcher);
                asked += 1;
            }
        }
    }
}

/// The lines of a page that the L2's prefetcher heard of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    page: u64,
    /// The last three lines, the newest first. Of a stream that runs, the one farthest on its way.
    seen: Vec<i64>,
    runs: bool,
    step: i64,
    /// The last line asked for, or the newest request.
    asked_to: i64,
}

impl Stream {
    /// Returns whether the stream starts or goes on with this line.
    fn hear(&mut self, line: i64, distance: i64) -> bool {
        let Some(&newest) = self.seen.first() else {
            self.seen.push(line);
            return false;
        };
        if line == newest {
            return false;
        }
        if self.runs {
            let forward = (line - newest) * self.step.signum();
            if (-16..0).contains(&forward) {
                return false;
            }
            if (1..=distance).contains(&forward) && forward % self.step.abs() == 0 {
                self.seen[0] = line;
                let passed = (line - self.asked_to) * self.step.signum() > 0;
                self.asked_to = if passed { line } else { self.asked_to };
                return true;
            }
        }
        if self.runs {
            self.seen = vec![newest, newest - self.step, newest - 2 * self.step];
        }
        self.seen.insert(0, line);
        self.seen.truncate(3);
        let steps: Vec<i64> = self.seen.windows(2).map(|pair| pair[0] - pair[1]).collect();
        self.step = steps[0];
        self.runs = steps.len() == 2 && steps[0] == steps[1] && steps[0].abs() <= 4;
        self.asked_to = line;
        self.runs
    }
}
