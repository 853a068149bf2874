//! Flows 5.1 to 5.3 behind the lookup of the L1 TLB, which the access itself counts.

use sim_cache::PageTarget;
use sim_cache::config::WalkReads;

use super::l2::Reader;
use super::model::{Oracle, Way};

/// Addresses of descriptors lie above all data, and numbers of tables above all pages.
const TABLES: u64 = 1 << 51;

impl Oracle {
    /// Where the page goes; `None` is a fault.
    pub(crate) fn translate(&mut self, way: Way, page: u64) -> Option<PageTarget> {
        let l1 = if way == Way::Fetch { &mut self.core.itlb } else { &mut self.core.dtlb };
        if let Some(target) = l1.find(page) {
            return Some(target);
        }
        let target = self.ask_l2_tlb(way, page)?;
        match way {
            Way::Fetch => {
                self.core.itlb.add(page, target);
                self.count(&["L1I_TLB_REFILL"]);
            }
            Way::Read => {
                self.core.dtlb.add(page, target);
                self.count(&["L1D_TLB_REFILL", "L1D_TLB_REFILL_RD"]);
            }
            Way::Write => {
                self.core.dtlb.add(page, target);
                self.count(&["L1D_TLB_REFILL", "L1D_TLB_REFILL_WR"]);
            }
        }
        Some(target)
    }

    fn ask_l2_tlb(&mut self, way: Way, page: u64) -> Option<PageTarget> {
        // The read half takes the I-side (flow 5.3).
        self.count(&["L2D_TLB", if way == Way::Write { "L2D_TLB_WR" } else { "L2D_TLB_RD" }]);
        let set = (page % self.core.l2_tlb.len() as u64) as usize;
        if let Some(target) = self.core.l2_tlb[set].find(page) {
            return Some(target);
        }
        self.count(&[if way == Way::Fetch { "ITLB_WALK" } else { "DTLB_WALK" }]);
        self.walk(way, page);
        // A fault refills nothing (A15).
        let target = self.world.target(page)?;
        self.core.l2_tlb[set].add(page, target);
        self.count_l2_tlb_refill(way);
        Some(target)
    }

    fn count_l2_tlb_refill(&mut self, way: Way) {
        let half = if way == Way::Write { "L2D_TLB_REFILL_WR" } else { "L2D_TLB_REFILL_RD" };
        self.count(&["L2D_TLB_REFILL", half]);
    }

    /// Levels of the tables, and the pages that one last-level table maps.
    fn tables_of_granule(&self) -> (u32, u64) {
        match self.world.page_bytes {
            4096 => (4, 512),
            16_384 => (4, 2048),
            _ => (3, 8192),
        }
    }

    /// Reads descriptors, the last one only if the L2 TLB has its table, and leaves the table there. A
    /// new partial entry counts with the key `partial-walks-count`, before a fault too (A14, A15).
    fn walk(&mut self, way: Way, page: u64) {
        let (levels, table_pages) = self.tables_of_granule();
        let table = page / table_pages;
        let set = (table % self.core.l2_tlb.len() as u64) as usize;
        let has_tables = self.config.walker.walk_cache;
        let known = has_tables && self.core.l2_tlb[set].find(TABLES | table).is_some();
        if self.semantics.walk_reads != WalkReads::SidePort {
            let reads = if known { 1 } else { levels };
            for left in (0..reads).rev() {
                let index = page / table_pages.pow(left);
                self.read_l2(((TABLES | u64::from(left) << 46) + index * 8) / 64, Reader::Walk);
            }
        }
        if !has_tables || known {
            return;
        }
        self.core.l2_tlb[set].add(TABLES | table, PageTarget::default());
        if self.semantics.partial_walks_count {
            self.count_l2_tlb_refill(way);
        }
    }
}
