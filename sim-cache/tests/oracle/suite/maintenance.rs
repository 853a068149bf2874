//! `DC` and `IC`, by address and by set and way (A01, A40).

use sim_core::{CacheOp, Maintenance, Snoop};

use super::cache::Cache;
use super::model::{Oracle, Way};

impl Oracle {
    pub(crate) fn maintain(&mut self, what: Maintenance, operand: u64) {
        match what {
            Maintenance::DataByAddress(op) => self.maintain_line(op, operand),
            Maintenance::DataBySetWay(op) => self.maintain_place(op, operand),
            Maintenance::InstByAddress => {
                // The address is translated as a read, without an access (A12).
                if let Some(target) = self.translate(Way::Read, operand) {
                    let line = self.line_of(operand, target);
                    self.core.l1i.remove(line);
                    self.others_l1i(|l1i| {
                        l1i.remove(line);
                    });
                }
            }
            Maintenance::InstAll { broadcast } => {
                self.core.l1i.remove_all();
                if broadcast {
                    self.others_l1i(Cache::remove_all);
                }
            }
            _ => self.maintain_translation(what, operand),
        }
    }

    fn others_l1i(&mut self, act: impl Fn(&mut Cache)) {
        if let Some(other) = &mut self.other {
            act(&mut other.l1i);
        }
    }

    /// Performs `DC` by address: translated without an access (A12), as a write only where data may
    /// be lost.
    fn maintain_line(&mut self, op: CacheOp, addr: u64) {
        let way = if op == CacheOp::Invalidate { Way::Write } else { Way::Read };
        let Some(target) = self.translate(way, addr) else { return };
        let line = self.line_of(addr, target);
        // Bytes that are still merged belong to the line.
        self.drain_if_held(line);
        match op {
            CacheOp::Invalidate => {
                self.invalidate(line);
                self.drop_holder(line);
                self.broadcast(line, Snoop::Invalidate);
            }
            CacheOp::CleanToUnification => self.clean_l1d(line),
            CacheOp::Clean => {
                self.clean_l1d(line);
                self.clean_l2(line);
                self.broadcast(line, Snoop::Clean);
            }
            CacheOp::CleanInvalidate => {
                self.clean_l1d(line);
                self.clean_l2(line);
                self.invalidate(line);
                self.drop_holder(line);
                self.broadcast(line, Snoop::CleanInvalidate);
            }
        }
    }

    /// Performs `DC` by set and way. `ISW` cleans too. No event counts this invalidation.
    fn maintain_place(&mut self, op: CacheOp, operand: u64) {
        let is_l2 = operand >> 1 & 7 == 1;
        let (bytes, ways) = if is_l2 {
            (self.config.l2.line_bytes(), self.config.l2.line_ways())
        } else {
            (self.config.l1d.size_bytes, self.config.l1d.ways)
        };
        let sets = bytes / 64 / u64::from(ways);
        let way_bits = u64::from(ways).next_power_of_two().trailing_zeros();
        let (set, way) = (operand >> 6 & (sets - 1), (operand >> (32 - way_bits)) as usize);
        let cache = if is_l2 { &self.core.l2 } else { &self.core.l1d };
        let Some(line) = cache.at(set, way) else { return };
        let goes = op != CacheOp::Clean;
        if !is_l2 {
            self.clean_l1d(line);
            if goes {
                self.core.l1d.remove(line);
            }
            return;
        }
        if goes {
            // By inclusion, the L1 copies leave too, their data first.
            self.clean_l1d(line);
        }
        self.clean_l2(line);
        if goes {
            self.core.l1i.remove(line);
            self.core.l1d.remove(line);
            self.core.l2.remove(line);
            self.drop_holder(line);
        }
    }

    fn clean_l1d(&mut self, line: u64) {
        let Some(copy) = self.core.l1d.change(line).filter(|copy| copy.dirty) else { return };
        copy.dirty = false;
        self.core.l2.make_dirty(line);
        self.count(&["L1D_CACHE_WB", "L1D_CACHE_WB_CLEAN", "L2D_CACHE", "L2D_CACHE_WR"]);
    }

    fn clean_l2(&mut self, line: u64) {
        let Some(copy) = self.core.l2.change(line).filter(|copy| copy.dirty) else { return };
        copy.dirty = false;
        self.count(&["L2D_CACHE_WB", "L2D_CACHE_WB_CLEAN"]);
        self.bus("BUS_ACCESS_WR", 64);
        self.send_to_slc(line, true);
    }
}
