//! Flows 5.1 to 5.3 after the lookup of the L1 TLB, which the access itself counts; `TLBI`, `AT`
//! and writes of table base registers.

use sim_cache::PageTarget;
use sim_cache::config::{TableBaseRegister, WalkReads};
use sim_core::{Maintenance, TlbScope};

use super::l2::Reader;
use super::model::{Oracle, Way};
use super::tags::bare;
use super::tlb::{Entry, Known, LruList};
use super::world::Region;

/// Base of the descriptor addresses, above all data.
const TABLES: u64 = 1 << 51;

fn is_refused(way: Way, region: Region) -> bool {
    match way {
        Way::Fetch => region.no_exec,
        Way::Read => false,
        Way::Write | Way::ReadToWrite => region.read_only,
    }
}

impl Oracle {
    /// Returns the target of the page; `None` is a fault. Permissions are checked at the end of a
    /// walk and at every hit of the L1 TLB; an L2 TLB hit refills the L1 TLB first.
    pub(crate) fn translate(&mut self, way: Way, addr: u64) -> Option<PageTarget> {
        let (space, place) = (self.core.space, bare(addr));
        let hit = self.l1_tlb(way).find(|entry| entry.serves(space, place));
        let entry = match hit {
            Some(entry) => entry,
            None => {
                let entry = self.look_up_l2_tlb(way, place)?;
                self.l1_tlb(way).add(entry);
                match way {
                    Way::Fetch => self.count(&["L1I_TLB_REFILL"]),
                    Way::Read | Way::ReadToWrite => {
                        self.count(&["L1D_TLB_REFILL", "L1D_TLB_REFILL_RD"]);
                    }
                    Way::Write => self.count(&["L1D_TLB_REFILL", "L1D_TLB_REFILL_WR"]),
                }
                entry
            }
        };
        let Known::Region(region) = entry.known else { return None };
        self.world.target_by(region, addr).filter(|_| !is_refused(way, region))
    }

    fn l1_tlb(&mut self, way: Way) -> &mut LruList {
        if way == Way::Fetch { &mut self.core.itlb } else { &mut self.core.dtlb }
    }

    /// Returns the L2 TLB set. Each size has its own index: the number of the piece of that size.
    fn l2_tlb_set(&mut self, addr: u64, bytes: u64) -> &mut LruList {
        let sets = self.core.l2_tlb.len() as u64;
        &mut self.core.l2_tlb[(addr / bytes % sets) as usize]
    }

    fn look_up_l2_tlb(&mut self, way: Way, addr: u64) -> Option<Entry> {
        // The read half includes the I-side (flow 5.3).
        self.count(&["L2D_TLB", if way == Way::Write { "L2D_TLB_WR" } else { "L2D_TLB_RD" }]);
        let space = self.core.space;
        let page_bytes = self.world.page_bytes;
        let mut sizes: Vec<u64> =
            self.world.regions.iter().map(|region| region.pages * page_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for bytes in sizes {
            let set = self.l2_tlb_set(addr, bytes);
            let is_wanted = |entry: &Entry| {
                !entry.is_table() && entry.bytes == bytes && entry.serves(space, addr)
            };
            if let Some(entry) = set.find(is_wanted) {
                return Some(entry);
            }
        }
        self.count(&[if way == Way::Fetch { "ITLB_WALK" } else { "DTLB_WALK" }]);
        let region = self.world.region(addr);
        self.walk(way, addr, region);
        // A fault refills nothing (A15).
        if region.frame.is_none() || is_refused(way, region) {
            return None;
        }
        let bytes = region.pages * self.world.page_bytes;
        let entry = Entry {
            first: region.page * self.world.page_bytes,
            bytes,
            asid: (!region.global).then_some(space.asid),
            vmid: space.vmid,
            known: Known::Region(region),
        };
        self.l2_tlb_set(addr, bytes).add(entry);
        self.count_l2_tlb_refill(way);
        Some(entry)
    }

    fn count_l2_tlb_refill(&mut self, way: Way) {
        let half = if way == Way::Write { "L2D_TLB_REFILL_WR" } else { "L2D_TLB_REFILL_RD" };
        self.count(&["L2D_TLB_REFILL", half]);
    }

    /// Returns the bytes that one descriptor of a level covers: a page, times the entries of a
    /// table for each level above.
    fn covered(&self, level: u32) -> u64 {
        let page = self.world.page_bytes;
        (level..3).fold(page, |bytes, _| bytes * (page / 8))
    }

    /// Reads descriptors, beginning at the deepest table in the L2 TLB, and leaves the last table
    /// there. A new one counts with the key `partial-walks-count`, before a fault too (A14, A15).
    fn walk(&mut self, way: Way, addr: u64, region: Region) {
        let top = if self.world.page_bytes == 65_536 { 1 } else { 0 };
        let keeps = self.config.walker.walk_cache;
        let known =
            (top + 1..=region.level).rev().find(|level| keeps && self.knows_table(*level, addr));
        let first = known.unwrap_or(top);
        if self.semantics.walk_reads != WalkReads::SidePort {
            for level in first..=region.level {
                let at = TABLES + (u64::from(3 - level) << 46) + addr / self.covered(level) * 8;
                // Every address space has separate tables, far above the others.
                self.read_l2(at / 64 + (self.core.space.asid << 46), Reader::Walk);
            }
        }
        if !keeps || first == region.level {
            return;
        }
        let bytes = self.covered(region.level - 1);
        let space = self.core.space;
        let table = Entry {
            first: addr / bytes * bytes,
            bytes,
            asid: Some(space.asid),
            vmid: space.vmid,
            known: Known::Table(region.level),
        };
        self.l2_tlb_set(addr, bytes).add(table);
        if self.semantics.partial_walks_count {
            self.count_l2_tlb_refill(way);
        }
    }

    fn knows_table(&mut self, level: u32, addr: u64) -> bool {
        let (space, bytes) = (self.core.space, self.covered(level - 1));
        let is_wanted =
            |entry: &Entry| entry.known == Known::Table(level) && entry.serves(space, addr);
        self.l2_tlb_set(addr, bytes).find(is_wanted).is_some()
    }

    /// Performs `AT`, `TLBI` and writes of table base registers.
    pub(crate) fn maintain_translation(&mut self, what: Maintenance, operand: u64) {
        match what {
            // L2 TLB and walk, without the L1 (A16).
            Maintenance::Translate { write } => {
                self.look_up_l2_tlb(if write { Way::Write } else { Way::Read }, bare(operand));
            }
            Maintenance::Tlb { scope, broadcast } => {
                self.invalidate_tlbs(scope, operand, broadcast);
            }
            Maintenance::TableBase { upper } if upper == self.asid_is_upper() => {
                self.core.space.asid = operand >> 48;
            }
            Maintenance::Stage2TableBase => self.core.space.vmid = operand >> 48,
            _ => {}
        }
    }

    fn asid_is_upper(&self) -> bool {
        self.config.pages.asid_from == TableBaseRegister::Upper
    }

    /// Invalidates the entries that the architecture requires, and no more.
    fn invalidate_tlbs(&mut self, scope: TlbScope, operand: u64, broadcast: bool) {
        let (vmid, asid) = (self.core.space.vmid, operand >> 48);
        let addr = (operand & ((1 << 44) - 1)) << 12;
        let is_own = move |entry: &Entry| entry.asid.is_none_or(|own| own == asid);
        let of_page = move |entry: &Entry, last_level: bool| {
            entry.covers(addr) && !(last_level && entry.is_table())
        };
        let goes = move |entry: &Entry| match scope {
            TlbScope::All => true,
            _ if entry.vmid != vmid => false,
            TlbScope::Vmid { .. } => true,
            TlbScope::Asid => entry.asid == Some(asid),
            TlbScope::Page { last_level } => is_own(entry) && of_page(entry, last_level),
            TlbScope::PageAnyAsid { last_level } => of_page(entry, last_level),
            // The oracle has no stage 2.
            TlbScope::IntermediatePage => false,
        };
        let other = self.other.as_mut().filter(|_| broadcast);
        for core in [Some(&mut self.core), other].into_iter().flatten() {
            core.itlb.remove(goes);
            core.dtlb.remove(goes);
            core.l2_tlb.iter_mut().for_each(|set| set.remove(goes));
        }
    }
}
