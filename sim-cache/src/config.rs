//! The `[memory.*]` and `[semantics]` tables of a configuration, as written in the file.
//!
//! Every key is required. [`MemoryConfig::problems`] reports invalid values.

mod ideal;
mod outside;

use serde::Deserialize;
use sim_core::config::Problem;

use crate::units::mapping::Granule;

pub use ideal::{IdealData, IdealMemory};
pub use outside::{
    BusConfig, ChipsConfig, DramConfig, DvmConfig, FarAtomics, MeshConfig, SlcConfig,
    SnoopFilterConfig,
};

/// Longest delay of one part in cycles; more than 100 times the latency of memory.
const MAX_DELAY: u64 = 100_000;

/// Replacement policy of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementKind {
    /// Pseudo-LRU by a binary tree of bits; the ways must be a power of two.
    TreePlru,
    /// Least recently used.
    Lru,
    /// Re-reference interval prediction with two bits; prefetches enter as distant.
    Rrip,
    /// Re-reference interval prediction with two insertion policies: lines enter as long or as
    /// distant. A few sets try each policy, and all others use the policy with fewer misses. The
    /// first use of a prefetched line counts as its insertion.
    DynamicRrip,
    /// Seeded pseudo-random way.
    Random,
    /// A counter in each set, which selects the ways in turn.
    VictimCounter,
}

/// `[memory.l1i]`: the L1 instruction cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L1iConfig {
    /// Capacity.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Victim selection.
    pub replacement: ReplacementKind,
    /// Cycles from the start of a fetch until the words reach decode, on a hit.
    pub hit_cycles: u32,
    /// Refills in flight.
    pub mshrs: u32,
    /// Writes remove copies from this cache; if false, the program must use `IC IVAU`
    /// (`CTR_EL0.DIC`).
    pub coherent: bool,
}

/// `[memory.l1d]`: the L1 data cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L1dConfig {
    /// Capacity.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Victim selection.
    pub replacement: ReplacementKind,
    /// Load-to-use latency of a hit, in cycles.
    pub hit_cycles: u32,
    /// Refills in flight.
    pub mshrs: u32,
    /// Cycles added when a load is split over two cycles.
    pub split_cycles: u32,
    /// Consecutive full lines of stores after which store misses stop allocating; 0 means never.
    pub write_stream_lines: u32,
    /// Cycles after which bytes of a stream leave without the rest of their line; 0 means never.
    pub merge_idle_cycles: u32,
    /// Cycles added to an L2 hit that first recalls a copy from another set of this cache.
    pub alias_cycles: u32,
}

/// `[memory.l2]`: the private L2 cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L2Config {
    /// Capacity.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Ways of each set reserved for records of a prefetcher, which hold no lines.
    pub record_ways: u32,
    /// Victim selection.
    pub replacement: ReplacementKind,
    /// Cycles added to the L1 hit time on an L2 hit, and spent before a miss leaves.
    pub lookup_cycles: u32,
    /// Cycles from the arrival of the first beat until the L1 forwards it.
    pub fill_cycles: u32,
    /// Sustained rate of L1 refills.
    pub read_bytes_per_cycle: u32,
    /// Sustained rate of stores that stream past the L1 D-cache.
    pub write_bytes_per_cycle: u32,
    /// Transactions outstanding outside the core.
    pub queue_entries: u32,
    /// Victims on their way to the home node. 0 means that they take entries of the queue.
    pub write_back_entries: u32,
}

impl L2Config {
    /// Returns the ways of each set that hold lines.
    pub fn line_ways(&self) -> u32 {
        self.ways - self.record_ways
    }

    /// Returns the bytes of lines that the cache can hold.
    pub fn line_bytes(&self) -> u64 {
        self.size_bytes / u64::from(self.ways) * u64::from(self.line_ways())
    }
}

/// `[memory.itlb]` or `[memory.dtlb]`: a fully associative L1 TLB.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L1TlbConfig {
    /// Entries.
    pub entries: u32,
}

/// `[memory.l2-tlb]`: the unified L2 TLB.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L2TlbConfig {
    /// Entries.
    pub entries: u32,
    /// Entries per set.
    pub ways: u32,
    /// Cycles added to an access that misses the L1 TLB and hits here.
    pub hit_cycles: u32,
    /// Lookups in flight at the same time.
    pub lookups: u32,
}

/// `[memory.walker]`: the table walker.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WalkerConfig {
    /// Parallel walks.
    pub walks: u32,
    /// Walker overhead of each level.
    pub level_cycles: u32,
    /// Cycles of one descriptor read over the side port.
    pub read_cycles: u32,
    /// Walks leave the address of their last table in the L2 TLB and begin at the deepest one
    /// there.
    pub walk_cache: bool,
}

/// Limit of a data prefetch at a page without an L1 translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageCross {
    /// Stop at the page.
    Stop,
    /// Look up the L2 TLB, and stop on a miss.
    L2Tlb,
    /// Look up the L2 TLB, and walk on a miss.
    Walk,
}

/// `[memory.prefetch]`: the hardware prefetchers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PrefetchConfig {
    /// The stride and stream prefetcher of the L1 D-cache.
    pub l1d: bool,
    /// Strides (by program counter) and streams (by page) followed at the same time, each.
    pub l1d_table_entries: u32,
    /// Distance of the L1 D prefetcher ahead of the demand, in lines.
    pub l1d_distance_lines: u32,
    /// Lines that the L1 D prefetcher requests at once.
    pub l1d_degree_lines: u32,
    /// Limit of the L1 D prefetcher at a page without a translation.
    pub l1d_page_cross: PageCross,
    /// Each store requests its line for the L2, with ownership, once its address is known.
    pub stores: bool,
    /// Pages whose streams of stores are remembered and followed into the L2, inside the page.
    pub store_table_entries: u32,
    /// Distance of a store stream ahead of the newest store's line, in lines; 0 follows no stream.
    pub store_distance_lines: u32,
    /// The stream prefetcher of the L2.
    pub l2_stream: bool,
    /// Pages whose streams the L2 prefetcher remembers.
    pub l2_table_entries: u32,
    /// The L1 D prefetcher names the page that follows in virtual addresses, and the L2 prefetcher
    /// continues into it.
    pub l2_page_cross: bool,
    /// Distance of the L2 prefetcher ahead of the L1's requests, in lines.
    pub l2_distance_lines: u32,
    /// Lines that the L2 prefetcher requests at once.
    pub l2_degree_lines: u32,
    /// The next-line prefetcher of the L1 I-cache.
    pub l1i_next_line: bool,
}

/// Rule for the physical pages of virtual pages without an explicit mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageMapping {
    /// Physical equals virtual.
    Identity,
    /// Fixed bijective mix of the page number.
    Mixed,
}

/// Table base register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableBaseRegister {
    /// `TTBR0_EL1`.
    Lower,
    /// `TTBR1_EL1`.
    Upper,
}

/// `[memory.pages]`: the synthetic page map.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PagesConfig {
    /// Translation granule, which is the page size: 4, 16 or 64 KiB.
    pub page_bytes: u64,
    /// Size of the blocks that map memory without an explicit mapping; 0 maps it by pages.
    pub block_bytes: u64,
    /// Rule for pages without an explicit mapping.
    pub mapping: PageMapping,
    /// Table base register that provides the ASID.
    pub asid_from: TableBaseRegister,
}

/// `[memory.errors]`: seeded bit errors of a run, drawn when a line is refilled.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ErrorsConfig {
    /// L1 D-cache refills per million whose line has one wrong bit.
    pub l1d_correctable_per_million_refills: u32,
    /// L1 D-cache refills per million whose line has two wrong bits.
    pub l1d_uncorrectable_per_million_refills: u32,
    /// L1 I-cache refills per million whose line has a wrong bit.
    pub l1i_per_million_refills: u32,
}

/// The `[memory.*]` tables.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemoryConfig {
    /// Atomics that the home node performs instead of the L1 D-cache.
    pub far_atomics: FarAtomics,
    /// L1 instruction cache.
    pub l1i: L1iConfig,
    /// L1 data cache.
    pub l1d: L1dConfig,
    /// L2 cache.
    pub l2: L2Config,
    /// L1 instruction TLB.
    pub itlb: L1TlbConfig,
    /// L1 data TLB.
    pub dtlb: L1TlbConfig,
    /// L2 TLB.
    pub l2_tlb: L2TlbConfig,
    /// Table walker.
    pub walker: WalkerConfig,
    /// Hardware prefetchers.
    pub prefetch: PrefetchConfig,
    /// Bus interface.
    pub bus: BusConfig,
    /// Mesh.
    pub mesh: MeshConfig,
    /// Maintenance of all cores.
    pub dvm: DvmConfig,
    /// System level cache.
    pub slc: SlcConfig,
    /// Snoop filter of the home nodes.
    pub snoop_filter: SnoopFilterConfig,
    /// A second chip.
    pub chips: ChipsConfig,
    /// Local memory.
    pub dram: DramConfig,
    /// Page map.
    pub pages: PagesConfig,
    /// Bit errors.
    pub errors: ErrorsConfig,
    /// Parts that cost no time.
    pub ideal: IdealMemory,
}

/// Direction under which an L1 D-cache store miss counts in the L2 and on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoreMissDirection {
    /// `L2D_CACHE_WR`, `BUS_ACCESS_WR`: guide, flow 5.8.
    Write,
    /// `L2D_CACHE_RD`, `BUS_ACCESS_RD`: the opcode of the read for ownership.
    Read,
}

/// Unit of `BUS_ACCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusUnit {
    /// A transaction.
    Transaction,
    /// A data beat.
    Beats,
}

/// Path of the descriptor reads of table walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WalkReads {
    /// Outside the L2 and the bus.
    SidePort,
    /// Through the L2, for time and allocation; the bus counts them, no L2 event does.
    L2Silent,
    /// Through the L2, counted there as reads.
    L2Counted,
}

/// `[semantics]`: choices where the guide, other Arm data and silicon count differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SemanticsConfig {
    /// Direction of a store miss in the L2 and on the bus.
    pub store_miss_l2: StoreMissDirection,
    /// Unit of `BUS_ACCESS`.
    pub bus_unit: BusUnit,
    /// Path of descriptor reads.
    pub walk_reads: WalkReads,
    /// `CPUECTLR.EXTLLC`: the last level cache is outside; `LL_CACHE_*` count only when set.
    pub extllc: bool,
    /// Data-side and L2 hardware prefetches count in `L2D_CACHE` and `L2D_CACHE_REFILL`.
    pub prefetch_counts_in_l2: bool,
    /// Clean L2 victims that move to the system level cache count as write-backs.
    pub clean_victims_count: bool,
    /// Partial walk entries count in `L2D_TLB_REFILL` when they enter the L2 TLB.
    pub partial_walks_count: bool,
    /// Loads and stores of Advanced SIMD structures (`LD1` to `LD4`, `ST1` to `ST4`) count in
    /// `ASE_INST_SPEC`.
    pub ase_structures_count: bool,
}

impl MemoryConfig {
    /// Returns every value that the modeled hardware cannot have; empty for a valid memory system.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let (l1i, l1d, l2) = (&self.l1i, &self.l1d, &self.l2);
        let shapes = [
            (
                ["memory.l1i.size-bytes", "memory.l1i.ways"],
                l1i.size_bytes,
                l1i.ways,
                l1i.replacement,
            ),
            (
                ["memory.l1d.size-bytes", "memory.l1d.ways"],
                l1d.size_bytes,
                l1d.ways,
                l1d.replacement,
            ),
            (["memory.l2.size-bytes", "memory.l2.ways"], l2.size_bytes, l2.ways, l2.replacement),
        ];
        for (keys, size, ways, replacement) in shapes {
            check_cache(&mut found, keys, size, ways, replacement);
        }
        self.check_outside(&mut found);
        self.check_record_ways(&mut found);
        self.check_pages(&mut found);
        self.check_tlbs(&mut found);
        self.check_ranges(&mut found);
        found
    }

    fn check_record_ways(&self, found: &mut Vec<Problem>) {
        let (l2, key) = (&self.l2, "memory.l2.record-ways");
        if l2.ways == 0 {
            // Reported already.
            return;
        }
        if l2.record_ways >= l2.ways {
            let wrong = format!("{} of {} ways leave none for lines", l2.record_ways, l2.ways);
            refuse(found, key, wrong, "use fewer");
            return;
        }
        if l2.record_ways > 0 && l2.replacement == ReplacementKind::TreePlru {
            let wrong = "a binary tree has a leaf for each way";
            refuse(found, key, wrong, "use 0, or another replacement");
        }
        self.check_inclusion(found);
    }

    fn check_inclusion(&self, found: &mut Vec<Problem>) {
        let l1 = self.l1i.size_bytes.saturating_add(self.l1d.size_bytes);
        if self.l2.line_bytes() < l1 {
            refuse(
                found,
                "memory.l2.size-bytes",
                format!("{} bytes cannot include both L1 caches", self.l2.line_bytes()),
                format!("at least {l1} bytes are needed"),
            );
        }
    }

    fn check_pages(&self, found: &mut Vec<Problem>) {
        let PagesConfig { page_bytes, block_bytes, .. } = self.pages;
        let Some(granule) = Granule::of(page_bytes) else {
            let wrong = format!("{page_bytes} is not a translation granule");
            let right = "4096, 16384 or 65536; blocks are set by memory.pages.block-bytes";
            return refuse(found, "memory.pages.page-bytes", wrong, right);
        };
        if block_bytes != 0 && granule.level_of(block_bytes).is_none() {
            let wrong =
                format!("{block_bytes} is not a block size of the {page_bytes}-byte granule");
            let right = "0, 2097152 or 1073741824 (4 KiB), 33554432 (16 KiB), 536870912 (64 KiB)";
            refuse(found, "memory.pages.block-bytes", wrong, right);
        }
    }

    fn check_tlbs(&self, found: &mut Vec<Problem>) {
        let l2 = &self.l2_tlb;
        check_range(found, "memory.l2-tlb.ways", l2.ways.into(), 1, 16);
        check_range(found, "memory.l2-tlb.entries", l2.entries.into(), 1, 1 << 20);
        let sets = l2.entries / l2.ways.max(1);
        if !sets.is_power_of_two() || sets.saturating_mul(l2.ways) != l2.entries {
            refuse(
                found,
                "memory.l2-tlb.entries",
                format!(
                    "{} entries in {} ways do not fill a power of two of sets",
                    l2.entries, l2.ways
                ),
                "entries must be ways times a power of two",
            );
        }
    }

    /// Checks the delays. Their limit is far beyond any hardware, and far below an overflow of
    /// cycles.
    fn check_delays(&self, found: &mut Vec<Problem>) {
        let m = self;
        let rows: [(&'static str, u32); 7] = [
            ("memory.l1d.split-cycles", m.l1d.split_cycles),
            ("memory.l1d.alias-cycles", m.l1d.alias_cycles),
            ("memory.l2.lookup-cycles", m.l2.lookup_cycles),
            ("memory.l2.fill-cycles", m.l2.fill_cycles),
            ("memory.l2-tlb.hit-cycles", m.l2_tlb.hit_cycles),
            ("memory.walker.level-cycles", m.walker.level_cycles),
            ("memory.walker.read-cycles", m.walker.read_cycles),
        ];
        for (key, value) in rows {
            check_range(found, key, value.into(), 0, MAX_DELAY);
        }
    }

    fn check_errors(&self, found: &mut Vec<Problem>) {
        let rows: [(&'static str, u32); 3] = [
            (
                "memory.errors.l1d-correctable-per-million-refills",
                self.errors.l1d_correctable_per_million_refills,
            ),
            (
                "memory.errors.l1d-uncorrectable-per-million-refills",
                self.errors.l1d_uncorrectable_per_million_refills,
            ),
            ("memory.errors.l1i-per-million-refills", self.errors.l1i_per_million_refills),
        ];
        for (key, value) in rows {
            // Two such rates may add up to all refills.
            check_range(found, key, value.into(), 0, 500_000);
        }
    }

    fn check_ranges(&self, found: &mut Vec<Problem>) {
        let m = self;
        let rows: [(&'static str, u64, u64, u64); 20] = [
            ("memory.itlb.entries", m.itlb.entries.into(), 1, 255),
            ("memory.dtlb.entries", m.dtlb.entries.into(), 1, 255),
            ("memory.l1i.hit-cycles", m.l1i.hit_cycles.into(), 1, 64),
            ("memory.l1i.mshrs", m.l1i.mshrs.into(), 1, 64),
            ("memory.l1d.hit-cycles", m.l1d.hit_cycles.into(), 1, 64),
            ("memory.l1d.mshrs", m.l1d.mshrs.into(), 1, 64),
            ("memory.l2.queue-entries", m.l2.queue_entries.into(), 1, 256),
            ("memory.l2.write-back-entries", m.l2.write_back_entries.into(), 0, 256),
            ("memory.l2.read-bytes-per-cycle", m.l2.read_bytes_per_cycle.into(), 4, 64),
            ("memory.l2.write-bytes-per-cycle", m.l2.write_bytes_per_cycle.into(), 4, 64),
            ("memory.l2-tlb.lookups", m.l2_tlb.lookups.into(), 1, 16),
            ("memory.walker.walks", m.walker.walks.into(), 1, 16),
            ("memory.prefetch.l1d-table-entries", m.prefetch.l1d_table_entries.into(), 1, 256),
            ("memory.prefetch.l1d-distance-lines", m.prefetch.l1d_distance_lines.into(), 1, 64),
            ("memory.prefetch.l1d-degree-lines", m.prefetch.l1d_degree_lines.into(), 1, 16),
            ("memory.prefetch.store-table-entries", m.prefetch.store_table_entries.into(), 1, 256),
            ("memory.prefetch.store-distance-lines", m.prefetch.store_distance_lines.into(), 0, 64),
            ("memory.prefetch.l2-table-entries", m.prefetch.l2_table_entries.into(), 1, 256),
            ("memory.prefetch.l2-distance-lines", m.prefetch.l2_distance_lines.into(), 1, 64),
            ("memory.prefetch.l2-degree-lines", m.prefetch.l2_degree_lines.into(), 1, 16),
        ];
        for (key, value, low, high) in rows {
            check_range(found, key, value, low, high);
        }
        self.check_delays(found);
        self.check_errors(found);
    }
}

/// Adds a problem: the wrong value and the remedy.
fn refuse(
    found: &mut Vec<Problem>,
    key: &'static str,
    wrong: impl std::fmt::Display,
    right: impl std::fmt::Display,
) {
    found.push(Problem::new(key, format!("{wrong}; {right}")));
}

/// Largest cache, and largest system level cache of all slices together. The tags of such a cache
/// fit into the host.
const MAX_CACHE_BYTES: u64 = 1 << 30;

/// Checks a cache, which needs 1 to 16 ways and a power of two of sets of 64-byte lines.
fn check_cache(
    found: &mut Vec<Problem>,
    keys: [&'static str; 2],
    size_bytes: u64,
    ways: u32,
    replacement: ReplacementKind,
) {
    check_range(found, keys[1], ways.into(), 1, 16);
    if size_bytes > MAX_CACHE_BYTES {
        refuse(found, keys[0], format!("{size_bytes} bytes are too many"), "use at most 1 GiB");
        return;
    }
    let set_bytes = u64::from(ways.clamp(1, 16)) * sim_core::LINE_BYTES;
    let sets = size_bytes / set_bytes;
    if !sets.is_power_of_two() || sets * set_bytes != size_bytes {
        refuse(
            found,
            keys[0],
            format!("{size_bytes} bytes in {ways} ways of 64-byte lines make {sets} sets"),
            "the index is a bit field, so the sets must be a power of two",
        );
    }
    if replacement == ReplacementKind::TreePlru && !ways.is_power_of_two() {
        refuse(
            found,
            keys[1],
            format!("{ways} ways cannot be the leaves of a binary tree"),
            "use a power of two, or another replacement",
        );
    }
}

fn check_range(found: &mut Vec<Problem>, key: &'static str, value: u64, low: u64, high: u64) {
    if !(low..=high).contains(&value) {
        refuse(found, key, format!("{value} is out of range"), format!("use {low} to {high}"));
    }
}

fn check_power_of_two(found: &mut Vec<Problem>, key: &'static str, value: u64) {
    if !value.is_power_of_two() {
        let wrong = format!("{value} is not a power of two");
        refuse(found, key, wrong, "use a power of two");
    }
}
