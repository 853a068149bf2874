//! Lines and translations that are present before the first instruction, for directed tests.

use super::ClusterMemory;
use super::cache::{ADDRESS_MASK, LINE_SHIFT, LineState};
use super::main_tlb::PageKey;
use super::micro_tlb::PAGE_SHIFT;
use super::walker::{LAST_LEVEL, descriptor_line};

/// Place and state of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldLine {
    /// In the L1 data cache of the core.
    L1d {
        /// Memory has older data.
        dirty: bool,
    },
    /// In the L1 instruction cache of the core.
    L1i,
    /// In the L2 cache.
    L2 {
        /// Memory has older data.
        dirty: bool,
    },
}

/// Place of the translation of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldPage {
    /// In both micro-TLBs, the main TLB and the walk cache.
    MicroTlbs,
    /// In the main TLB and the walk cache.
    MainTlb,
    /// In the walk cache only.
    WalkCache,
    /// In no TLB, but its descriptors of all levels are in the L1 data cache.
    Descriptors,
}

/// RAM that has an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ram {
    /// L1 instruction cache of a core.
    L1i,
    /// L1 data cache of a core.
    L1d,
    /// Main TLB of a core.
    MainTlb,
    /// L2 cache.
    L2,
    /// Snoop filter: its tag of a line in an L1 data cache.
    SnoopFilter,
}

impl ClusterMemory {
    /// Gives the line or the page of an address an error in a RAM that has it. Returns false if the
    /// RAM does not have it.
    pub fn spoil(&mut self, core: usize, addr: u64, ram: Ram) -> bool {
        let core = self.index(core);
        let addr = addr & ADDRESS_MASK;
        let line = addr >> LINE_SHIFT;
        let cluster = &mut self.cluster;
        match ram {
            Ram::L1i => cluster.cores[core].l1i.spoil(line, LineState::FAULTY),
            Ram::L1d => cluster.snoop.l1d(core).spoil(line, LineState::FAULTY),
            Ram::L2 => cluster.l2.spoil(line),
            Ram::SnoopFilter => {
                cluster.errors.in_snoop_filter = true;
                cluster.snoop.l1d(core).spoil(line, LineState::TAG_FAULTY)
            }
            Ram::MainTlb => {
                let units = &mut cluster.cores[core];
                let key = PageKey::of_page(addr >> PAGE_SHIFT, units.asid);
                units.main_tlb.spoil(key)
            }
        }
    }

    /// Puts the line of an address into a cache. Copies of several caches become shared.
    pub fn hold_line(&mut self, core: usize, addr: u64, held: HeldLine) {
        let core = self.index(core);
        let line = (addr & ADDRESS_MASK) >> LINE_SHIFT;
        let cluster = &mut self.cluster;
        match held {
            HeldLine::L1d { dirty } => {
                let is_elsewhere =
                    cluster.snoop.find(line, core).is_some() || cluster.l2.lookup(line).is_some();
                cluster.snoop.share(line, core, dirty);
                let state = LineState::CLEAN
                    .with_if(dirty, LineState::DIRTY)
                    .with_if(is_elsewhere, LineState::SHARED);
                let l1d = cluster.snoop.l1d(core);
                l1d.remove(line);
                l1d.insert(line, state, 0, 0);
            }
            HeldLine::L1i => {
                let l1i = &mut cluster.cores[core].l1i;
                l1i.remove(line);
                l1i.insert(line, LineState::CLEAN, 0, 0);
            }
            HeldLine::L2 { dirty } => {
                cluster.snoop.share(line, usize::MAX, false);
                cluster.l2.write(line, dirty, 0, 0);
            }
        }
    }

    /// Puts the translation of the page of an address into the TLBs of a core.
    pub fn hold_page(&mut self, core: usize, addr: u64, held: HeldPage) {
        let core = self.index(core);
        let page = (addr & ADDRESS_MASK) >> PAGE_SHIFT;
        let units = &mut self.cluster.cores[core];
        let key = PageKey::of_page(page, units.asid);
        if held == HeldPage::Descriptors {
            let lines = (0..=LAST_LEVEL).map(|level| descriptor_line(key, level));
            for line in lines {
                let l1d = self.cluster.snoop.l1d(core);
                l1d.remove(line);
                l1d.insert(line, LineState::CLEAN, 0, 0);
            }
            return;
        }
        if !units.walker.cache.holds(key.table()) {
            units.walker.cache.fill(key.table());
        }
        if held != HeldPage::WalkCache && !units.main_tlb.holds(key) {
            units.main_tlb.fill(key);
        }
        if held == HeldPage::MicroTlbs {
            for micro_tlb in [&mut units.fetch_micro_tlb, &mut units.data_micro_tlb] {
                if micro_tlb.lookup(page).is_none() {
                    micro_tlb.fill(page, 0);
                }
            }
        }
    }
}
