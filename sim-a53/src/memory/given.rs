//! Lines and translations that are present before the first instruction, for directed tests.

use super::ClusterMemory;
use super::cache::{ADDRESS_MASK, LINE_SHIFT, LineState};
use super::cluster::Cluster;
use super::main_tlb::PageKey;
use super::micro_tlb::PAGE_SHIFT;
use super::page_map::{LAST_LEVEL, MemoryType};
use super::walker::{Walk, descriptor2_line};

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
                let key = cluster.walk_of(core, addr >> PAGE_SHIFT).key;
                cluster.cores[core].main_tlb.spoil(key)
            }
        }
    }

    /// Puts the line of an address into a cache, unless its memory is not cacheable. Copies of
    /// several caches become shared.
    pub fn hold_line(&mut self, core: usize, addr: u64, held: HeldLine) {
        let core = self.index(core);
        let line = (addr & ADDRESS_MASK) >> LINE_SHIFT;
        let cluster = &mut self.cluster;
        if cluster.memory_at(addr & ADDRESS_MASK) != MemoryType::Cacheable {
            return;
        }
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
        let cluster = &mut self.cluster;
        let walk = cluster.walk_of(core, page);
        if held == HeldPage::Descriptors {
            return cluster.hold_descriptors(core, &walk);
        }
        cluster.hold_intermediate(core, page);
        let table = walk.table(cluster.map.granule);
        let units = &mut cluster.cores[core];
        if let Some(table) = table.filter(|table| !units.walker.cache.holds(*table)) {
            units.walker.cache.fill(table);
        }
        if held != HeldPage::WalkCache && !units.main_tlb.holds(walk.key) {
            units.main_tlb.fill(walk.key);
        }
        if held == HeldPage::MicroTlbs {
            for micro_tlb in [&mut units.fetch_micro_tlb, &mut units.data_micro_tlb] {
                if micro_tlb.lookup(page).is_none() {
                    micro_tlb.fill(page, walk.leaf.size, 0);
                }
            }
        }
    }
}

impl Cluster {
    /// Puts the result of stage 2 for a page into the IPA cache.
    fn hold_intermediate(&mut self, core: usize, page: u64) {
        let Some(stage2) = self.map.stage2 else { return };
        let units = &mut self.cores[core];
        let key = PageKey::of_intermediate(page, stage2.page, units.space.vmid);
        if !units.walker.ipa_cache.holds(key) {
            units.walker.ipa_cache.fill(key);
        }
    }

    /// Puts all descriptors of a page, of both stages, into the L1 data cache.
    fn hold_descriptors(&mut self, core: usize, walk: &Walk) {
        let granule = self.map.granule;
        let vmid = self.cores[core].space.vmid;
        let mut lines = Vec::new();
        let mut intermediate = vec![walk.page];
        for level in granule.first_level..=walk.leaf.level {
            lines.push(walk.descriptor_line(granule, level));
            intermediate.push(walk.descriptor_page(granule, level));
        }
        if let Some(stage2) = self.map.stage2 {
            for page in intermediate {
                let levels = stage2.first_level2..=LAST_LEVEL;
                lines.extend(levels.map(|level| descriptor2_line(stage2, page, level, vmid)));
            }
        }
        for line in lines {
            let l1d = self.snoop.l1d(core);
            l1d.remove(line);
            l1d.insert(line, LineState::CLEAN, 0, 0);
        }
    }
}
