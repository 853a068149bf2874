//! The `[memory.*]` tables of a configuration, as written in the file.
//!
//! Every key is required. [`MemoryConfig::problems`] reports invalid values. The file
//! `configs/cortex-a53/machine.toml` has the source of each value.

mod pages;

use serde::Deserialize;
use sim_core::config::Problem;

pub use pages::{AddressRange, AsidFrom, PagesConfig};

/// Longest delay of one part in cycles; more than 100 times the latency of memory.
const MAX_DELAY: u64 = 100_000;
/// Largest cache, in bytes: its tags fit into the host.
const MAX_CACHE_BYTES: u64 = 1 << 26;
/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// `[memory.l1i]`: the L1 instruction cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L1iConfig {
    /// Capacity.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// A fetch that misses also requests the next line.
    pub next_line_prefetch: bool,
}

/// `[memory.l1d]`: the L1 data cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L1dConfig {
    /// Capacity.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Linefills of loads and stores at the same time.
    pub linefills: u32,
    /// Cycles after the first beat in which a linefill that replaces a line holds its buffer: the
    /// rest of the line arrives, and the victim leaves.
    pub victim_cycles: u32,
    /// Cycles after the first beat in which another miss of the same set waits for the victim.
    pub set_cycles: u32,
}

/// `[memory.l2]`: the L2 cache of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct L2Config {
    /// Capacity; 0 is a cluster without L2 cache.
    pub size_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Cycles that a hit adds to an access that misses the L1 cache.
    pub hit_cycles: u32,
    /// Cycles until a miss is known, and its request leaves the cluster.
    pub miss_cycles: u32,
    /// Cycles of the L2 RAMs for one line read or written.
    pub line_cycles: u32,
}

/// `[memory.snoop]`: the snoop control unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SnoopConfig {
    /// Cycles that a line of another core's L1 cache takes more than an L2 hit.
    pub transfer_cycles: u32,
}

/// `[memory.micro-tlb]`: the fully associative TLBs of fetches and of data accesses.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MicroTlbConfig {
    /// Entries for instructions.
    pub instruction_entries: u32,
    /// Entries for data.
    pub data_entries: u32,
    /// Cycles of a refill from the main TLB.
    pub refill_cycles: u32,
    /// Further cycles of a refill for each further size of page that the main TLB has, and that is
    /// looked up before.
    pub size_cycles: u32,
}

/// `[memory.main-tlb]`: the unified main TLB.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MainTlbConfig {
    /// Entries.
    pub entries: u32,
    /// Entries per set.
    pub ways: u32,
}

/// `[memory.walker]`: the table walker and its walk cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WalkerConfig {
    /// Entries of the walk cache.
    pub cache_entries: u32,
    /// Entries per set of the walk cache.
    pub cache_ways: u32,
    /// Cycles of a descriptor read that hits the L1 data cache.
    pub read_cycles: u32,
    /// Entries of the IPA cache.
    pub ipa_entries: u32,
    /// Entries per set of the IPA cache.
    pub ipa_ways: u32,
}

/// `[memory.store-buffer]`: the store buffer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StoreBufferConfig {
    /// Entries of 16 bytes.
    pub entries: u32,
    /// Cycles in which the newest entry waits for stores to the same 16 bytes.
    pub merge_cycles: u32,
}

/// `[memory.read-allocate]`: the mode in which store misses go out without linefill.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReadAllocateConfig {
    /// Line of a stream of full lines from which on the L1 data cache is not filled; 0 is never.
    pub l1_lines: u32,
    /// Line of such a stream from which on the L2 cache is not filled either; 0 is never.
    pub l2_lines: u32,
}

/// `[memory.prefetch]`: the data prefetcher.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PrefetchConfig {
    /// Prefetches outstanding at the same time; 0 is off.
    pub outstanding: u32,
    /// Streams followed at the same time.
    pub streams: u32,
    /// Misses at one stride that begin a stream.
    pub sequence: u32,
    /// Largest stride, in lines, up or down.
    pub stride_lines: u32,
    /// Store misses begin streams, too.
    pub stores: bool,
}

/// `[memory.bus]`: the path to external memory, and that memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BusConfig {
    /// Cycles from a request that leaves the cluster until its first beat is in the L1 cache.
    pub latency_cycles: u32,
    /// Cycles between two lines, read or written.
    pub line_cycles: u32,
    /// Data linefills of a core outside the cluster at the same time.
    pub data_reads: u32,
    /// Writes of the cluster outstanding at the same time.
    pub writes: u32,
    /// Reads of a core from memory that is not cacheable, or from devices, at the same time.
    pub uncached_reads: u32,
    /// Cycles from a request that leaves the cluster until a device has answered it.
    pub device_cycles: u32,
}

/// `[memory.errors]`: how often what enters a RAM has an error. 0 is never.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ErrorsConfig {
    /// Lines with an error, of a million that enter an L1 instruction cache.
    pub l1i_per_million_refills: u32,
    /// Lines with an error, of a million that enter an L1 data cache.
    pub l1d_per_million_refills: u32,
    /// Entries with an error, of a million that enter a main TLB.
    pub tlb_per_million_refills: u32,
    /// Lines with an error, of a million that enter the L2 cache.
    pub l2_per_million_lines: u32,
    /// Tags with an error, of a million that enter the snoop filter with a line of an L1 D-cache.
    pub snoop_filter_per_million_lines: u32,
}

/// First level beyond which data accesses cost no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdealData {
    /// Nowhere: every access takes its modeled time.
    #[default]
    Nowhere,
    /// Beyond the L2 cache: an L2 miss of a data access takes as long as an L2 hit.
    BeyondL2,
    /// Beyond the L1 data cache: every cacheable access takes as long as an L1 hit.
    BeyondL1,
}

/// `[memory.ideal]`: costs that are left out, to measure what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IdealMemory {
    /// Loads, stores, preloads and prefetches of cacheable data.
    pub data: IdealData,
    /// Misses of the micro-TLBs take no time.
    pub translation: bool,
    /// The store buffer is never full.
    pub store_buffer: bool,
}

/// All `[memory.*]` tables.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemoryConfig {
    /// L1 instruction cache.
    pub l1i: L1iConfig,
    /// L1 data cache.
    pub l1d: L1dConfig,
    /// L2 cache.
    pub l2: L2Config,
    /// Snoop control unit.
    pub snoop: SnoopConfig,
    /// Micro-TLBs.
    pub micro_tlb: MicroTlbConfig,
    /// Main TLB.
    pub main_tlb: MainTlbConfig,
    /// Table walker.
    pub walker: WalkerConfig,
    /// Store buffer.
    pub store_buffer: StoreBufferConfig,
    /// Read-allocate mode.
    pub read_allocate: ReadAllocateConfig,
    /// Data prefetcher.
    pub prefetch: PrefetchConfig,
    /// External memory.
    pub bus: BusConfig,
    /// Costs that are left out.
    pub ideal: IdealMemory,
    /// Pages, and memory that no cache keeps.
    pub pages: PagesConfig,
    /// Errors in the RAMs.
    pub errors: ErrorsConfig,
}

impl MemoryConfig {
    /// Returns every value that the model cannot use.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let (l1i, l1d, l2) = (&self.l1i, &self.l1d, &self.l2);
        check_cache(
            &mut found,
            ["memory.l1i.size-bytes", "memory.l1i.ways"],
            l1i.size_bytes,
            l1i.ways,
        );
        check_cache(
            &mut found,
            ["memory.l1d.size-bytes", "memory.l1d.ways"],
            l1d.size_bytes,
            l1d.ways,
        );
        if l2.size_bytes > 0 {
            check_cache(
                &mut found,
                ["memory.l2.size-bytes", "memory.l2.ways"],
                l2.size_bytes,
                l2.ways,
            );
        }
        self.check_tlbs(&mut found);
        self.check_counts(&mut found);
        self.check_delays(&mut found);
        self.check_errors(&mut found);
        self.pages.check(&mut found);
        found
    }

    fn check_tlbs(&self, found: &mut Vec<Problem>) {
        let (main, walker) = (&self.main_tlb, &self.walker);
        let shapes = [
            (["memory.main-tlb.entries", "memory.main-tlb.ways"], main.entries, main.ways),
            (
                ["memory.walker.cache-entries", "memory.walker.cache-ways"],
                walker.cache_entries,
                walker.cache_ways,
            ),
            (
                ["memory.walker.ipa-entries", "memory.walker.ipa-ways"],
                walker.ipa_entries,
                walker.ipa_ways,
            ),
        ];
        for (keys, entries, ways) in shapes {
            check_range(found, keys[1], ways.into(), 1, 16);
            let sets = entries / ways.clamp(1, 16);
            if !sets.is_power_of_two() || sets * ways.clamp(1, 16) != entries || sets > 1 << 16 {
                let wrong = format!("{entries} entries in {ways} ways make {sets} sets");
                refuse(found, keys[0], &wrong, "the sets must be a power of two of at most 65536");
            }
        }
    }

    fn check_counts(&self, found: &mut Vec<Problem>) {
        let ranges: [(&str, u32, u64, u64); 15] = [
            ("memory.l1d.linefills", self.l1d.linefills, 1, 64),
            ("memory.l2.line-cycles", self.l2.line_cycles, 1, 64),
            ("memory.micro-tlb.instruction-entries", self.micro_tlb.instruction_entries, 1, 64),
            ("memory.micro-tlb.data-entries", self.micro_tlb.data_entries, 1, 64),
            ("memory.store-buffer.entries", self.store_buffer.entries, 2, 64),
            ("memory.read-allocate.l1-lines", self.read_allocate.l1_lines, 0, 1 << 20),
            ("memory.read-allocate.l2-lines", self.read_allocate.l2_lines, 0, 1 << 20),
            ("memory.prefetch.outstanding", self.prefetch.outstanding, 0, 64),
            ("memory.prefetch.streams", self.prefetch.streams, 1, 4),
            ("memory.prefetch.sequence", self.prefetch.sequence, 2, 3),
            ("memory.prefetch.stride-lines", self.prefetch.stride_lines, 1, 63),
            ("memory.bus.line-cycles", self.bus.line_cycles, 1, 1000),
            ("memory.bus.data-reads", self.bus.data_reads, 1, 64),
            ("memory.bus.writes", self.bus.writes, 1, 64),
            ("memory.bus.uncached-reads", self.bus.uncached_reads, 1, 64),
        ];
        for (key, value, low, high) in ranges {
            check_range(found, key, value.into(), low, high);
        }
    }

    fn check_errors(&self, found: &mut Vec<Problem>) {
        let errors = &self.errors;
        let rates = [
            ("memory.errors.l1i-per-million-refills", errors.l1i_per_million_refills),
            ("memory.errors.l1d-per-million-refills", errors.l1d_per_million_refills),
            ("memory.errors.tlb-per-million-refills", errors.tlb_per_million_refills),
            ("memory.errors.l2-per-million-lines", errors.l2_per_million_lines),
            ("memory.errors.snoop-filter-per-million-lines", errors.snoop_filter_per_million_lines),
        ];
        for (key, rate) in rates {
            check_range(found, key, rate.into(), 0, 1_000_000);
        }
    }

    fn check_delays(&self, found: &mut Vec<Problem>) {
        let delays = [
            ("memory.l1d.victim-cycles", self.l1d.victim_cycles),
            ("memory.l1d.set-cycles", self.l1d.set_cycles),
            ("memory.l2.hit-cycles", self.l2.hit_cycles),
            ("memory.l2.miss-cycles", self.l2.miss_cycles),
            ("memory.snoop.transfer-cycles", self.snoop.transfer_cycles),
            ("memory.micro-tlb.refill-cycles", self.micro_tlb.refill_cycles),
            ("memory.micro-tlb.size-cycles", self.micro_tlb.size_cycles),
            ("memory.walker.read-cycles", self.walker.read_cycles),
            ("memory.store-buffer.merge-cycles", self.store_buffer.merge_cycles),
            ("memory.bus.latency-cycles", self.bus.latency_cycles),
            ("memory.bus.device-cycles", self.bus.device_cycles),
        ];
        for (key, cycles) in delays {
            check_range(found, key, cycles.into(), 0, MAX_DELAY);
        }
    }
}

fn refuse(found: &mut Vec<Problem>, key: &str, wrong: &str, right: &str) {
    found.push(Problem::new(key, format!("{wrong}; {right}")));
}

fn check_range(found: &mut Vec<Problem>, key: &str, value: u64, low: u64, high: u64) {
    if !(low..=high).contains(&value) {
        refuse(found, key, &format!("{value} is out of range"), &format!("use {low} to {high}"));
    }
}

/// Checks a cache, which needs 1 to 16 ways and a power of two of sets of 64-byte lines.
fn check_cache(found: &mut Vec<Problem>, keys: [&str; 2], size_bytes: u64, ways: u32) {
    check_range(found, keys[1], ways.into(), 1, 16);
    if size_bytes > MAX_CACHE_BYTES {
        refuse(found, keys[0], &format!("{size_bytes} bytes are too many"), "use at most 64 MiB");
        return;
    }
    let set_bytes = u64::from(ways.clamp(1, 16)) * LINE_BYTES;
    let sets = size_bytes / set_bytes;
    if !sets.is_power_of_two() || sets * set_bytes != size_bytes {
        let wrong = format!("{size_bytes} bytes in {ways} ways of 64-byte lines make {sets} sets");
        refuse(found, keys[0], &wrong, "the sets must be a power of two");
    }
}
