//! Configuration tables outside the cores: bus, mesh, home nodes, memory, a second chip.

use serde::Deserialize;
use sim_core::config::Problem;

use super::{
    MAX_CACHE_BYTES, MAX_DELAY, MemoryConfig, ReplacementKind, check_cache, check_power_of_two,
    check_range, refuse,
};

/// Maximum lines of all snoop filters: as many as 1024 cores have in L2 caches of 1 MiB.
const MAX_FILTER_LINES: u64 = 1 << 24;

/// `memory.far-atomics`: atomic operations on cacheable memory that leave the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FarAtomics {
    /// No atomic: the line is fetched into the L1 D-cache.
    Never,
    /// Atomics whose line neither the L1 D-cache nor the L2 holds with ownership.
    Miss,
    /// All atomics.
    Always,
}

/// `[memory.bus]`: the CHI interface of the core, and answers from outside the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BusConfig {
    /// Core to mesh, one way.
    pub interface_cycles: u32,
    /// Transactions that may start in one cycle.
    pub transactions_per_cycle: u32,
    /// Bytes of one beat of a data channel.
    pub beat_bytes: u32,
    /// Sustained rate of lines from the mesh.
    pub read_bytes_per_cycle: u32,
    /// Sustained rate of lines to the mesh.
    pub write_bytes_per_cycle: u32,
    /// Cycles that another core takes to answer a snoop with a line, including its interface.
    pub peer_cycles: u32,
    /// Cycles that a device or uncached memory beyond the edge of the mesh takes to answer.
    pub device_cycles: u32,
}

/// `[memory.mesh]`: the grid of crosspoints.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MeshConfig {
    /// Crosspoints of a row.
    pub columns: u32,
    /// Crosspoints of a column.
    pub rows: u32,
    /// One hop, in core cycles.
    pub hop_cycles: u32,
    /// Cycles of the mesh in 100 core cycles, for counts in cycles of the mesh.
    pub core_clock_percent: u32,
    /// Each link carries one flit of each channel in a cycle of the mesh, and messages wait for it.
    pub link_contention: bool,
}

/// `[memory.dvm]`: maintenance of TLBs and instruction caches of all cores.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DvmConfig {
    /// Operations take time, and a `DSB` after them waits for all cores.
    pub sync: bool,
    /// Cycles of the DVM node from a message to those that it causes.
    pub node_cycles: u32,
    /// Cycles that a core takes to answer the snoop of an operation.
    pub answer_cycles: u32,
    /// Cycles that a core takes to answer the snoop of a synchronization.
    pub sync_answer_cycles: u32,
}

/// `[memory.slc]`: the system level cache of the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SlcConfig {
    /// Home nodes with one slice each; addresses are distributed by a hash.
    pub slices: u32,
    /// Capacity of one slice; 0 models a mesh without a system level cache.
    pub slice_bytes: u64,
    /// Lines per set.
    pub ways: u32,
    /// Victim selection.
    pub replacement: ReplacementKind,
    /// Tag and data access of the home node, in core cycles.
    pub home_node_cycles: u32,
    /// Requests that a home node takes at the same time; it sends others back. 0 is no limit.
    pub queue_entries: u32,
    /// A request waits until an older one to the same line ends. Needs `queue-entries`.
    pub line_hazards: bool,
}

/// `[memory.snoop-filter]`: the directory of the home nodes for the cores' caches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SnoopFilterConfig {
    /// Lines that the filter of one home node can track.
    pub slice_lines: u32,
    /// Lines per set.
    pub ways: u32,
}

/// `[memory.dram]`: local memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DramConfig {
    /// Cycles from the controller at the edge of the mesh until the data is back there.
    pub access_cycles: u32,
    /// Channels; lines are distributed by a hash.
    pub channels: u32,
    /// Core cycles for which one line occupies a channel.
    pub line_cycles: u32,
    /// Banks of a channel; 0 if rows are not modeled.
    pub banks: u32,
    /// Bytes of a row of one channel.
    pub row_bytes: u32,
    /// Core cycles to open a row, which `access_cycles` include. An access to an open row saves
    /// them.
    pub activate_cycles: u32,
    /// Core cycles to close a row.
    pub precharge_cycles: u32,
    /// Core cycles for which a row is open at least. Then it is closed unless it is accessed.
    pub active_cycles: u32,
    /// Writes that wait at a channel; it sends others back. 0 is no limit. Needs
    /// `memory.slc.queue-entries`.
    pub write_entries: u32,
}

/// `[memory.chips]`: a second chip with the same mesh, home nodes and memory, whose cores are idle.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChipsConfig {
    /// Number of chips.
    pub count: u32,
    /// Cycles of the link between the chips, one way.
    pub link_cycles: u32,
    /// Number of 4 KiB physical pages in every 256 whose home is on the other chip.
    pub remote_pages_per_256: u32,
}

impl MemoryConfig {
    /// Checks all tables outside the cores.
    pub(super) fn check_outside(&self, found: &mut Vec<Problem>) {
        self.check_outside_ranges(found);
        self.check_home_nodes(found);
        let chips = &self.chips;
        if chips.count == 1 && chips.remote_pages_per_256 > 0 {
            let wrong = format!("{} pages have no chip to be on", chips.remote_pages_per_256);
            refuse(found, "memory.chips.remote-pages-per-256", wrong, "set memory.chips.count=2");
        }
    }

    fn check_outside_ranges(&self, found: &mut Vec<Problem>) {
        let (bus, mesh, dvm) = (&self.bus, &self.mesh, &self.dvm);
        let (dram, chips) = (&self.dram, &self.chips);
        let delay = MAX_DELAY as u32;
        // The access time includes the opening of a row.
        let activate = if dram.banks > 0 { dram.access_cycles } else { delay };
        let rows: [(&'static str, u32, u32, u32); 28] = [
            ("memory.bus.interface-cycles", bus.interface_cycles, 0, delay),
            ("memory.bus.peer-cycles", bus.peer_cycles, 0, delay),
            ("memory.bus.device-cycles", bus.device_cycles, 0, delay),
            ("memory.bus.transactions-per-cycle", bus.transactions_per_cycle, 1, 8),
            ("memory.bus.read-bytes-per-cycle", bus.read_bytes_per_cycle, 4, 64),
            ("memory.bus.write-bytes-per-cycle", bus.write_bytes_per_cycle, 4, 64),
            ("memory.bus.beat-bytes", bus.beat_bytes, 8, 64),
            ("memory.mesh.columns", mesh.columns, 1, 64),
            ("memory.mesh.rows", mesh.rows, 1, 64),
            ("memory.mesh.hop-cycles", mesh.hop_cycles, 0, 1000),
            ("memory.mesh.core-clock-percent", mesh.core_clock_percent, 1, 1000),
            ("memory.dvm.node-cycles", dvm.node_cycles, 0, delay),
            ("memory.dvm.answer-cycles", dvm.answer_cycles, 0, delay),
            ("memory.dvm.sync-answer-cycles", dvm.sync_answer_cycles, 0, delay),
            ("memory.slc.home-node-cycles", self.slc.home_node_cycles, 0, delay),
            ("memory.slc.queue-entries", self.slc.queue_entries, 0, 1024),
            ("memory.dram.access-cycles", dram.access_cycles, 0, delay),
            ("memory.dram.channels", dram.channels, 1, 256),
            ("memory.dram.line-cycles", dram.line_cycles, 1, 32),
            ("memory.dram.banks", dram.banks, 0, 256),
            ("memory.dram.row-bytes", dram.row_bytes, 64, 65_536),
            ("memory.dram.activate-cycles", dram.activate_cycles, 0, activate.min(delay)),
            ("memory.dram.precharge-cycles", dram.precharge_cycles, 0, delay),
            ("memory.dram.active-cycles", dram.active_cycles, 0, delay),
            ("memory.dram.write-entries", dram.write_entries, 0, 1024),
            ("memory.chips.count", chips.count, 1, 2),
            ("memory.chips.link-cycles", chips.link_cycles, 0, delay),
            ("memory.chips.remote-pages-per-256", chips.remote_pages_per_256, 0, 256),
        ];
        for (key, value, low, high) in rows {
            check_range(found, key, value.into(), low.into(), high.into());
        }
        check_power_of_two(found, "memory.bus.beat-bytes", bus.beat_bytes.into());
        check_power_of_two(found, "memory.dram.channels", dram.channels.into());
        check_power_of_two(found, "memory.dram.row-bytes", dram.row_bytes.into());
        if dram.banks > 0 {
            check_power_of_two(found, "memory.dram.banks", dram.banks.into());
        }
    }

    /// Checks the slices of the system level cache and of the snoop filter.
    fn check_home_nodes(&self, found: &mut Vec<Problem>) {
        let (slc, filter) = (&self.slc, &self.snoop_filter);
        check_power_of_two(found, "memory.slc.slices", slc.slices.into());
        if slc.slice_bytes > 0 {
            let keys = ["memory.slc.slice-bytes", "memory.slc.ways"];
            check_cache(found, keys, slc.slice_bytes, slc.ways, slc.replacement);
        }
        let all_slices = slc.slice_bytes.saturating_mul(slc.slices.into());
        if slc.slice_bytes <= MAX_CACHE_BYTES && all_slices > MAX_CACHE_BYTES {
            let wrong = format!("{} slices make {all_slices} bytes", slc.slices);
            refuse(found, "memory.slc.slices", wrong, "use at most 1 GiB in all");
        } else {
            check_range(found, "memory.slc.slices", slc.slices.into(), 1, 1 << 10);
        }
        if slc.line_hazards && slc.queue_entries == 0 {
            let wrong = "requests wait in entries of a queue that has no limit".to_owned();
            let right = "set memory.slc.queue-entries, such as 32";
            refuse(found, "memory.slc.line-hazards", wrong, right);
        }
        if self.dram.write_entries > 0 && slc.queue_entries == 0 {
            let wrong =
                "a full queue of writes delays nothing without queues of home nodes".to_owned();
            let right = "set memory.slc.queue-entries, such as 32";
            refuse(found, "memory.dram.write-entries", wrong, right);
        }
        check_range(found, "memory.snoop-filter.ways", filter.ways.into(), 1, 64);
        let lines = u64::from(filter.slice_lines);
        check_range(found, "memory.snoop-filter.slice-lines", lines, 1, 1 << 20);
        let sets = lines / u64::from(filter.ways.max(1));
        if !sets.is_power_of_two() || sets * u64::from(filter.ways) != lines {
            let wrong =
                format!("{lines} lines in {} ways do not fill a power of two of sets", filter.ways);
            let right = "lines must be ways times a power of two";
            refuse(found, "memory.snoop-filter.slice-lines", wrong, right);
        }
        let all_lines = lines.saturating_mul(slc.slices.into());
        if lines <= 1 << 20 && slc.slices <= 1 << 10 && all_lines > MAX_FILTER_LINES {
            let wrong = format!("{} slices make {all_lines} lines", slc.slices);
            let right = format!("use at most {MAX_FILTER_LINES} in all");
            refuse(found, "memory.snoop-filter.slice-lines", wrong, right);
        }
    }
}
