//! Setting up translation without counting: mappings of any size, stage 2, partial walk entries.

use sim_core::{PhysAddr, VirtAddr};

use crate::memory_system::MemorySystem;
use crate::units::mapping::{BadMapping, Mapping};

impl MemorySystem {
    /// Maps the page, block or contiguous range that holds `addr`, in place of all that was mapped
    /// there. TLBs keep what they hold.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables of the configured granule cannot say it.
    pub fn map_block(&mut self, addr: VirtAddr, mapping: Mapping) -> Result<(), BadMapping> {
        let page = self.uncore.page_map.page_of(addr);
        self.uncore.page_map.map_block(page, mapping)
    }

    /// Switches stage 2 on, with tables of their own granule that map every intermediate address to
    /// itself until [`MemorySystem::map_stage2`] says otherwise. TLBs keep what they hold.
    ///
    /// # Errors
    ///
    /// [`BadMapping::Granule`] when it is neither 4, 16 nor 64 KiB.
    pub fn enable_stage2(&mut self, granule_bytes: u64) -> Result<(), BadMapping> {
        self.uncore.page_map.enable_stage2(granule_bytes)
    }

    /// Maps the intermediate page, block or range that holds `ipa`, or with `None` makes its page
    /// fault; does nothing while stage 2 is off. TLBs keep what they hold.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables of the granule of stage 2 cannot say it.
    pub fn map_stage2(
        &mut self,
        ipa: PhysAddr,
        mapping: Option<Mapping>,
    ) -> Result<(), BadMapping> {
        self.uncore.page_map.map_stage2(ipa, mapping)
    }

    /// Puts the partial entries for the tables below the first `levels` levels of a walk for `addr`
    /// into the L2 TLB of a core. Without a walk cache: nothing.
    pub fn warm_walk_cache(&mut self, core: usize, addr: VirtAddr, levels: u32) {
        let granule = self.uncore.page_map.stage1().granule();
        let page = self.uncore.page_map.page_of(addr);
        let core = &mut self.cores[core];
        if core.walker.keeps_partial {
            core.warm_walk_cache(granule, core.space.key(page), levels);
        }
    }

    /// The ASID in which a core runs.
    pub fn asid(&self, core: usize) -> u16 {
        self.cores[core].space.asid()
    }

    /// The VMID in which a core runs.
    pub fn vmid(&self, core: usize) -> u16 {
        self.cores[core].space.vmid()
    }
}
