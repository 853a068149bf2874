//! Flows 5.4 and 5.5: loads, stores with merging, atomics, preloads, `DC ZVA`.

use sim_cache::{MemoryType, PageTarget};
use sim_core::MemKind;

use super::cache::Line;
use super::l2::Reader;
use super::model::{OpenLine, Oracle, Way, clean, is_cacheable, is_refused, operations, parts};

impl Oracle {
    /// Refills an absent line of the L1 D-cache. A preload is not a demand (A04).
    fn refill_l1d(&mut self, line: u64, at: u64, reader: Reader, is_demand: bool) {
        self.drain_if_held(line);
        let answer = self.read_l2(line, reader);
        self.recall_copy(line);
        if is_demand {
            self.count(&["L1D_CACHE_REFILL"]);
            self.count(&[if answer.outside {
                "L1D_CACHE_REFILL_OUTER"
            } else {
                "L1D_CACHE_REFILL_INNER"
            }]);
            match reader {
                Reader::Store => self.count(&["L1D_CACHE_REFILL_WR"]),
                _ => self.count(&["L1D_CACHE_REFILL_RD", "L1D_CACHE_LMISS_RD"]),
            }
        }
        let shared = self.core.l2.look(line).is_some_and(|copy| copy.shared);
        if reader == Reader::Store {
            self.invalidate_l1i(line);
        }
        let new = Line { dirty: reader == Reader::Store, shared, ..clean(line) };
        let old = self.core.l1d.add_at(new, at);
        if let Some(old) = old.filter(|old| old.dirty) {
            // By inclusion the L2 holds the line (A02).
            self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_VICTIM", "L2D_CACHE", "L2D_CACHE_WR"]);
            self.core.l2.make_dirty(old.number);
        }
        if answer.trains && reader != Reader::Store {
            self.train_prefetcher(line);
        }
    }

    /// Recalls the copy from the set of another virtual address: the L1 D-cache holds a line once.
    fn recall_copy(&mut self, line: u64) {
        let copy = self.core.l1d.remove(line);
        if copy.is_some_and(|copy| copy.dirty) {
            self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_VICTIM", "L2D_CACHE", "L2D_CACHE_WR"]);
            self.core.l2.make_dirty(line);
        }
    }

    fn begin_read(&mut self, addr: u64) -> Option<PageTarget> {
        self.count(&["MEM_ACCESS", "MEM_ACCESS_RD", "L1D_TLB", "L1D_TLB_RD"]);
        self.translate(Way::Read, addr)
    }

    fn begin_write(&mut self, addr: u64) -> Option<PageTarget> {
        self.count(&["MEM_ACCESS", "MEM_ACCESS_WR", "L1D_TLB", "L1D_TLB_WR"]);
        self.translate(Way::Write, addr)
    }

    /// Performs a load. Returns `false` if it faults.
    pub(crate) fn load(&mut self, addr: u64, bytes: u64, element: u64) -> bool {
        // 4.6.10 counts reads, as MEM_ACCESS_RD does: each quad word of a pair is one.
        for (read, length) in operations(addr, bytes) {
            let over_lines = read / 64 != (read + length - 1) / 64;
            if over_lines || (element >= 16 && !read.is_multiple_of(4)) {
                self.count(&["LD_ALIGN_LAT", "LDST_ALIGN_LAT"]);
            }
            for (part, length) in parts(read, length) {
                let Some(target) = self.begin_read(part) else { return false };
                if is_refused(target, addr, element) {
                    return false;
                }
                self.load_part(part, length, target);
                if !self.check_tag("MEM_ACCESS_RD_CHECKED", part, length, target) {
                    return false;
                }
            }
        }
        true
    }

    /// Accesses uncached memory: one aligned transaction for each bus width that is touched
    /// (3.2.16). The bus interface's transactions for one access each count as a memory access
    /// (4.6.7, 4.6.8).
    fn access_uncached(&mut self, half: &'static str, addr: u64, bytes: u64) {
        let width = u64::from(self.config.bus.beat_bytes);
        let access = if half == "BUS_ACCESS_RD" { "MEM_ACCESS_RD" } else { "MEM_ACCESS_WR" };
        for block in addr / width..=(addr + bytes - 1) / width {
            if block > addr / width {
                self.count(&["MEM_ACCESS", access]);
            }
            let (from, to) = (addr.max(block * width), (addr + bytes).min((block + 1) * width));
            self.bus(half, to - from);
        }
    }

    fn load_part(&mut self, addr: u64, bytes: u64, target: PageTarget) {
        if !is_cacheable(target) {
            self.access_uncached("BUS_ACCESS_RD", addr, bytes);
            return;
        }
        let line = self.line_of(addr, target);
        self.count(&["L1D_CACHE", "L1D_CACHE_RD"]);
        if !self.core.l1d.find_at(line, addr / 64) {
            self.refill_l1d(line, addr / 64, Reader::Load, true);
        }
    }

    /// Writes a line that was found in the L1 D-cache.
    fn write_l1d(&mut self, line: u64) {
        self.invalidate_l1i(line);
        let found = self.core.l1d.change(line).expect("the line was found");
        found.dirty = true;
        if found.shared {
            self.request_ownership(line);
        }
    }

    /// Performs both halves of a store: translation of all parts, then their writes. Returns
    /// `false` if it faults.
    pub(crate) fn store(&mut self, addr: u64, bytes: u64) -> bool {
        // The smallest granule in use decides (A17).
        let granule = self.world.page_bytes;
        for (write, length) in operations(addr, bytes) {
            if write / granule != (write + length - 1) / granule {
                self.count(&["ST_ALIGN_LAT", "LDST_ALIGN_LAT"]);
            }
        }
        let mut writes = Vec::new();
        let bytes_of_one = bytes.min(16);
        for (part, bytes) in parts(addr, bytes) {
            let Some(target) = self.begin_write(part) else { return false };
            if is_cacheable(target) {
                self.prefetch_for_store(part, target);
            }
            if is_refused(target, addr, bytes_of_one) {
                return false;
            }
            if !self.check_tag("MEM_ACCESS_WR_CHECKED", part, bytes, target) {
                return false;
            }
            writes.push((part, bytes, target));
        }
        // The write is later, so lines that walks evicted from a snoop filter are gone by then.
        self.answer_queued_snoops();
        for (part, bytes, target) in writes {
            self.store_part(part, bytes, target);
        }
        true
    }

    /// Prefetches the line of a store whose address is known, unless a cache holds it or the write
    /// will be merged. Consecutive stores to one line prefetch once.
    fn prefetch_for_store(&mut self, addr: u64, target: PageTarget) {
        let line = self.line_of(addr, target);
        if !self.config.prefetch.stores || self.core.stored_line == Some(line) {
            return;
        }
        self.core.stored_line = Some(line);
        let known = self.core.open.iter().find(|open| open.line == line).map(|open| open.held);
        let is_merged = known.unwrap_or(self.is_streaming());
        if !self.core.l1d.holds_at(line, addr / 64) && !is_merged && !self.core.l2.holds(line) {
            self.read_l2(line, Reader::StoreAhead);
        }
    }

    /// Returns whether enough consecutive full lines were stored that a missing store is merged.
    fn is_streaming(&self) -> bool {
        let stream_after = self.config.l1d.write_stream_lines;
        stream_after > 0 && self.core.full_lines >= stream_after
    }

    fn store_part(&mut self, addr: u64, bytes: u64, target: PageTarget) {
        if !is_cacheable(target) {
            self.access_uncached("BUS_ACCESS_WR", addr, bytes);
            return;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE_WR"]);
        let line = self.line_of(addr, target);
        let hit = self.core.l1d.find_at(line, addr / 64);
        if hit {
            self.write_l1d(line);
        }
        let known = self.core.open.iter().find(|open| open.line == line).map(|open| open.held);
        let hold = !hit && known.unwrap_or(self.is_streaming());
        if hold {
            // A line that is merged on its way to the L2 has no L1 copy.
            self.recall_copy(line);
        }
        self.merge(line, addr % 64..addr % 64 + bytes, hold);
        if !hit && !hold {
            self.refill_l1d(line, addr / 64, Reader::Store, true);
        }
    }

    /// Records the bytes of a store. Full lines, and the oldest of five, are closed.
    fn merge(&mut self, line: u64, bytes: std::ops::Range<u64>, hold: bool) {
        if self.config.l1d.write_stream_lines == 0 {
            return;
        }
        if !self.core.open.iter().any(|open| open.line == line) {
            if self.core.open.len() == 4 {
                self.close(0, true);
            }
            self.core.open.push_back(OpenLine { line, bytes: Default::default(), held: hold });
        }
        let at = self.core.open.iter().position(|open| open.line == line).expect("just opened");
        self.core.open[at].bytes.extend(bytes);
        if self.core.open[at].bytes.len() == 64 {
            self.close(at, true);
        }
    }

    fn close(&mut self, at: usize, write: bool) {
        let Some(open) = self.core.open.remove(at) else { return };
        let full = open.bytes.len() == 64;
        self.core.full_lines = if full { self.core.full_lines + 1 } else { 0 };
        if open.held && write && full {
            self.write_full_line(open.line);
        } else if open.held && write {
            self.write_part_line(open.line);
        }
    }

    fn held(&self, line: u64) -> Option<usize> {
        self.core.open.iter().position(|open| open.line == line && open.held)
    }

    /// Drains the merged stores of a line before another access to it.
    pub(crate) fn drain_if_held(&mut self, line: u64) {
        if let Some(at) = self.held(line) {
            self.close(at, true);
        }
    }

    /// Drains all bytes, for a barrier or after a time without stores; the line opened first drains
    /// first.
    pub(crate) fn drain_all(&mut self) {
        while let Some(at) = self.core.open.iter().position(|open| open.held) {
            self.close(at, true);
        }
    }

    /// Performs `DC ZVA` (A36).
    pub(crate) fn zero_line(&mut self, addr: u64) {
        let Some(target) = self.begin_write(addr) else { return };
        if target.memory == MemoryType::Device {
            return;
        }
        if !self.check_tag("MEM_ACCESS_WR_CHECKED", addr / 64 * 64, 64, target) {
            return;
        }
        self.answer_queued_snoops();
        if !is_cacheable(target) {
            self.bus("BUS_ACCESS_WR", 64);
            return;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE_WR"]);
        let line = self.line_of(addr, target);
        if self.core.l1d.find_at(line, addr / 64) {
            self.write_l1d(line);
            return;
        }
        // The whole line is overwritten, so a copy in another set is dropped.
        self.core.l1d.remove(line);
        if let Some(at) = self.held(line) {
            self.close(at, false);
        }
        self.write_full_line(line);
    }

    /// Performs a near atomic: a read, then a write, which count as in A20. Every atomic writes its
    /// location, so each needs write permission (Arm ARM, "permission faults": an atomic is treated
    /// as a write).
    pub(crate) fn atomic(&mut self, kind: MemKind, addr: u64) {
        let mut target = None;
        if kind != MemKind::AtomicStore {
            let way = if kind == MemKind::AtomicSwap { Way::ReadToWrite } else { Way::Read };
            self.count(&["MEM_ACCESS", "MEM_ACCESS_RD", "L1D_TLB", "L1D_TLB_RD"]);
            let Some(read) = self.translate(way, addr) else { return };
            if !self.check_tag("MEM_ACCESS_RD_CHECKED", addr, 8, read) {
                return;
            }
            target = Some(read);
        }
        if kind != MemKind::AtomicSwap {
            let Some(write) = self.begin_write(addr) else { return };
            if !self.check_tag("MEM_ACCESS_WR_CHECKED", addr, 8, write) {
                return;
            }
            target = Some(write);
        }
        let Some(target) = target else { return };
        if !is_cacheable(target) {
            if !is_refused(target, addr, 8) {
                self.bus("BUS_ACCESS_WR", 8);
            }
            return;
        }
        self.count(&["L1D_CACHE", "L1D_CACHE", "L1D_CACHE_RD", "L1D_CACHE_WR"]);
        let line = self.line_of(addr, target);
        if !self.core.l1d.find_at(line, addr / 64) {
            self.refill_l1d(line, addr / 64, Reader::Atomic, true);
        }
        // A prefetch after the refill may have evicted the line from a tiny L2.
        if self.core.l1d.holds(line) {
            self.write_l1d(line);
        }
    }

    /// Performs a preload: it fills TLB and cache, and is not an access (A12).
    pub(crate) fn preload(&mut self, way: Way, addr: u64) {
        let Some(target) = self.translate(way, addr) else { return };
        let line = self.line_of(addr, target);
        if is_cacheable(target) && !self.core.l1d.find_at(line, addr / 64) {
            self.refill_l1d(line, addr / 64, Reader::Load, false);
        }
    }

    /// Performs a preload for the L2 or L3 (`PLDL2KEEP`): it fills the L2 only.
    pub(crate) fn preload_outer(&mut self, way: Way, addr: u64) {
        let Some(target) = self.translate(way, addr) else { return };
        let line = self.line_of(addr, target);
        if !is_cacheable(target) || self.core.l1d.holds_at(line, addr / 64) {
            return;
        }
        self.drain_if_held(line);
        if self.read_l2(line, Reader::Load).trains {
            self.train_prefetcher(line);
        }
    }
}
