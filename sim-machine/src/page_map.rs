//! Enters the page map of a trace into the machine's tables (PMU guide 3.2.18). Pages outside the
//! map keep the synthetic mapping of the configuration.

use sim_cache::{BadMapping, Mapping, MemorySystem, MemoryType};
use sim_core::{PhysAddr, VirtAddr};
use sim_trace::{PageEntry, PageMap, PageMemory};

/// Enters all entries of `map`, whose granule equals the configured one.
///
/// # Errors
/// If the machine's tables cannot represent an entry.
pub(crate) fn attach(map: &PageMap, memory: &mut MemorySystem) -> Result<(), BadMapping> {
    let mut entries: Vec<&PageEntry> = map.entries().iter().collect();
    // Large blocks first: entering a smaller one splits them.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.bytes));
    entries
        .into_iter()
        .try_for_each(|entry| memory.map_block(VirtAddr(entry.virt), mapping(entry, map.granule())))
}

fn mapping(entry: &PageEntry, granule: u64) -> Mapping {
    Mapping {
        contiguous: entry.contiguous,
        memory: match entry.memory {
            PageMemory::Cacheable => MemoryType::Cacheable,
            PageMemory::NonCacheable => MemoryType::NonCacheable,
            PageMemory::Device => MemoryType::Device,
        },
        tagged: entry.tagged,
        global: entry.global,
        read_only: !entry.write,
        no_exec: !entry.execute,
        ..Mapping::normal(PhysAddr(entry.phys), entry.unit_bytes(granule))
    }
}
