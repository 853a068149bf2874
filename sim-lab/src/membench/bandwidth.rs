//! Read bandwidth of one core from each level, in bytes per cycle: consecutive 16-byte loads.

use sim_core::DataSource;

use super::kernel::Kernel;
use super::latency::Setting;
use super::run::{Plan, measure};
use super::target::{self, Target, Unit};
use sim_machine::config::MachineConfig;

/// Page size, as in the published measurements.
const PAGE_BYTES: u64 = 2 << 20;
/// Bytes of one load.
const LOAD_BYTES: u64 = 16;
/// Number of measured loads.
const LOADS: u64 = 100_000;
/// Loads of a memory stream before the measurement, so that the prefetchers have detected it.
const STREAM_WARMUP: u64 = 20_000;

/// Level that holds the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// L1 D-cache.
    L1,
    /// L2 cache.
    L2,
    /// System level cache.
    Slc,
    /// Memory below all caches.
    Dram,
}

impl Level {
    /// All levels, from the core outward.
    pub const ALL: [Level; 4] = [Level::L1, Level::L2, Level::Slc, Level::Dram];

    /// Returns the name for people, as in all outputs.
    pub fn label(self) -> &'static str {
        match self {
            Level::L1 => "L1D",
            Level::L2 => DataSource::L2.label(),
            Level::Slc => DataSource::Slc.label(),
            Level::Dram => DataSource::Dram.label(),
        }
    }

    /// Returns true if the stream is read once, so that its footprint does not choose the level.
    pub fn is_read_once(self) -> bool {
        self == Level::Dram
    }

    /// Returns the name in separated values.
    pub fn name(self) -> &'static str {
        match self {
            Level::L1 => "L1D",
            Level::L2 => "L2",
            Level::Slc => "SLC",
            Level::Dram => "DRAM",
        }
    }

    /// Returns the published value.
    pub fn target(self) -> Target {
        match self {
            Level::L1 => target::L1D_BANDWIDTH,
            Level::L2 => target::L2_BANDWIDTH,
            Level::Slc => target::SLC_BANDWIDTH,
            Level::Dram => target::DRAM_BANDWIDTH,
        }
    }

    /// Returns the footprint of a stream in this level: half of a cache's size, and for memory one
    /// that is never read twice.
    pub fn footprint_bytes(self, config: &MachineConfig) -> u64 {
        let memory = &config.memory;
        match self {
            Level::L1 => memory.l1d.size_bytes / 2,
            Level::L2 => memory.l2.size_bytes / 2,
            Level::Slc => u64::from(memory.slc.slices) * memory.slc.slice_bytes / 2,
            Level::Dram => (STREAM_WARMUP + LOADS) * LOAD_BYTES,
        }
    }

    fn plan(self, kernel: &Kernel) -> Plan {
        match self {
            Level::Dram => Plan { warmup: STREAM_WARMUP, measured: LOADS },
            _ => Plan::after_passes(kernel, 2, LOADS),
        }
    }
}

/// Read rate of one core from a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Level that holds the data.
    pub level: Level,
    /// The hardware prefetchers ran.
    pub prefetch: bool,
    /// Footprint of the loop in bytes.
    pub footprint_bytes: u64,
    /// Bytes per core cycle.
    pub bytes_per_cycle: f64,
    /// Bytes per nanosecond at the configured clock.
    pub gigabytes_per_second: f64,
}

impl Rate {
    /// Returns the rate in the unit of the level's target.
    pub fn in_unit_of_target(&self) -> f64 {
        match self.level.target().unit {
            Unit::GigabytesPerSecond => self.gigabytes_per_second,
            _ => self.bytes_per_cycle,
        }
    }
}

/// Measures one level.
pub fn read_rate(config: &MachineConfig, level: Level, prefetch: bool) -> Rate {
    let footprint_bytes = level.footprint_bytes(config);
    let kernel = Kernel::stream(footprint_bytes);
    let setting = Setting { page_bytes: PAGE_BYTES, prefetch };
    let measured = measure(&setting.applied_to(config), &kernel, level.plan(&kernel));
    let bytes_per_cycle = measured.bytes_per_cycle();
    Rate {
        level,
        prefetch,
        footprint_bytes,
        bytes_per_cycle,
        gigabytes_per_second: bytes_per_cycle * config.core.clock_hz as f64 / 1e9,
    }
}
