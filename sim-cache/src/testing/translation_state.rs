//! Translation state without counting: mappings of any size, stage 2, partial walk entries.

use sim_core::{PhysAddr, VirtAddr};

use crate::memory_system::MemorySystem;
use crate::units::mapping::{BadMapping, Mapping};

impl MemorySystem {
    /// Maps the page, block or contiguous range that holds `addr`, replacing all mappings inside
    /// it. TLBs keep their entries.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables of the configured granule cannot express it.
    pub fn map_block(&mut self, addr: VirtAddr, mapping: Mapping) -> Result<(), BadMapping> {
        let page = self.uncore.page_map.page_of(addr);
        self.uncore.page_map.map_block(page, mapping)
    }

    /// Switches stage 2 on. Its tables use their own granule and map every intermediate address to
    /// itself unless [`MemorySystem::map_stage2`] maps it. TLBs keep their entries.
    ///
    /// # Errors
    ///
    /// [`BadMapping::Granule`] when it is neither 4, 16 nor 64 KiB.
    pub fn enable_stage2(&mut self, granule_bytes: u64) -> Result<(), BadMapping> {
        self.uncore.page_map.enable_stage2(granule_bytes)
    }

    /// Maps the intermediate page, block or range that holds `ipa`, or makes its page fault with
    /// `None`. Has no effect while stage 2 is off. TLBs keep their entries.
    ///
    /// # Errors
    ///
    /// [`BadMapping`] when the tables of the granule of stage 2 cannot express it.
    pub fn map_stage2(
        &mut self,
        ipa: PhysAddr,
        mapping: Option<Mapping>,
    ) -> Result<(), BadMapping> {
        self.uncore.page_map.map_stage2(ipa, mapping)
    }

    /// Puts the partial entries for the first `levels` levels of a walk for `addr` into the L2 TLB
    /// of a core. Has no effect without a walk cache.
    pub fn warm_walk_cache(&mut self, core: usize, addr: VirtAddr, levels: u32) {
        let granule = self.uncore.page_map.stage1().granule();
        let page = self.uncore.page_map.page_of(addr);
        let core = &mut self.cores[core];
        if core.walker.keeps_partial {
            core.warm_walk_cache(granule, core.space.key(page), levels);
        }
    }

    /// Returns the current ASID of a core.
    pub fn asid(&self, core: usize) -> u16 {
        self.cores[core].space.asid()
    }

    /// Returns the current VMID of a core.
    pub fn vmid(&self, core: usize) -> u16 {
        self.cores[core].space.vmid()
    }
}
