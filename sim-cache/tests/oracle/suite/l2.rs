//! Flows 5.7 and 5.8, and the system level cache below them.

use sim_cache::config::{PrefetchConfig, StoreMissDirection, WalkReads};
use sim_core::DataSource;

use super::cache::Line;
use super::home::{CoherenceRequest, Granted};
use super::model::{Oracle, clean};

/// Requester of a line of the L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Load, or preload instruction.
    Load,
    /// Near atomic, which reads a line that it then writes.
    Atomic,
    /// Store that needs the line.
    Store,
    /// Fetch, or prefetch of the I-side (A35).
    Fetch,
    /// The L2's own prefetcher.
    Prefetcher,
    /// Prefetch of a store whose write is later.
    StoreAhead,
    /// Table walk.
    Walk,
}

/// Answer to a reader.
#[derive(Clone, Copy)]
pub(crate) struct Answer {
    /// The data comes from outside the core, for this reader or an earlier one (A03).
    pub(crate) outside: bool,
    /// A miss, or the first use of a prefetched line, which trains the prefetcher.
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

    /// Returns whether a reader counts as a write. A07: by the flow, or by the bus transaction.
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
                self.request_ownership(line);
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

    /// Reads a line from outside. The home node decides, unless the supplier is fixed. It then only
    /// updates its directory, and no duty to write back is transferred.
    fn read_outside(&mut self, line: u64, reader: Reader) -> Granted {
        let request = match reader {
            Reader::Fetch => CoherenceRequest::Code,
            Reader::Store | Reader::StoreAhead | Reader::Atomic => CoherenceRequest::Own,
            _ => CoherenceRequest::Read,
        };
        if self.external.contains(&line) {
            return self.request_from_agent(line, request);
        }
        match self.world.supplier(line) {
            None => self.request_from_home(line, request),
            Some(source) if self.other.is_none() => Granted { source, dirty: false, shared: false },
            Some(source) => {
                Granted { source, dirty: false, ..self.request_from_home(line, request) }
            }
        }
    }

    /// Adds a line to the L2: step 5. A victim removes its L1 copies (A43) and moves to the system
    /// level cache. A dirty one counts, a clean one with the key `clean-victims-count` (A32, A48).
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
        self.drop_holder(old.number);
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

    /// Requests ownership of a line that others may share: one bus write without data.
    pub(crate) fn request_ownership(&mut self, line: u64) {
        self.bus("BUS_ACCESS_WR", 0);
        self.request_from_home(line, CoherenceRequest::Upgrade);
        for cache in [&mut self.core.l1d, &mut self.core.l2] {
            if let Some(copy) = cache.change(line) {
                copy.shared = false;
            }
        }
    }

    /// Writes a line that was found in the L2.
    fn write_found_line(&mut self, line: u64) {
        let found = self.core.l2.change(line).expect("the line was found");
        found.dirty = true;
        if found.shared {
            self.request_ownership(line);
        }
    }

    /// Writes a whole line without reading it (A05, A36).
    pub(crate) fn write_full_line(&mut self, line: u64) {
        self.invalidate_l1i(line);
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if self.core.l2.find(line) {
            self.write_found_line(line);
            return;
        }
        self.count(&["L2D_CACHE_REFILL"]);
        self.bus("BUS_ACCESS_WR", 0);
        self.request_from_home(line, CoherenceRequest::Claim);
        self.core.arriving.remove(&line);
        self.add_to_l2(Line { dirty: true, ..clean(line) });
    }

    /// Writes a part of a line. Reads the line first if it is absent.
    pub(crate) fn write_part_line(&mut self, line: u64) {
        self.invalidate_l1i(line);
        self.count(&["L2D_CACHE", "L2D_CACHE_WR"]);
        if !self.core.l2.find(line) {
            self.refill_l2(line, Reader::Store);
        }
        self.write_found_line(line);
    }

    /// Trains the L2's prefetcher with a line. Two equal steps of at most four lines in one page
    /// start a stream. It then requests at most `degree` absent lines of the page at a time, each
    /// once, within the distance from the newest request.
    pub(crate) fn train_prefetcher(&mut self, line: u64) {
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
        let continues = stream.observe(line as i64, prefetch.l2_distance_lines.into());
        if continues {
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
        let mut issued = 0;
        while issued < prefetch.l2_degree_lines {
            let next = stream.requested_to + step;
            if !inside(next) || (next - newest).abs() > prefetch.l2_distance_lines.into() {
                return;
            }
            stream.requested_to = next;
            if !self.core.l2.holds(next as u64) {
                self.read_l2(next as u64, Reader::Prefetcher);
                issued += 1;
            }
        }
    }
}

/// Lines of a page that trained the L2's prefetcher.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    page: u64,
    /// The last three lines, newest first; for a running stream, the line reached last.
    seen: Vec<i64>,
    runs: bool,
    step: i64,
    /// Last requested line, or the newest training line.
    requested_to: i64,
}

impl Stream {
    /// Returns whether the stream starts or continues with this line.
    fn observe(&mut self, line: i64, distance: i64) -> bool {
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
                let passed = (line - self.requested_to) * self.step.signum() > 0;
                self.requested_to = if passed { line } else { self.requested_to };
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
        self.requested_to = line;
        self.runs
    }
}
