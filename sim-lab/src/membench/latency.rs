//! Load-to-use latency by footprint: a pointer chase through every line in random order.

use super::kernel::Kernel;
use super::run::{Plan, measure};
use super::target::{self, Target};
use sim_machine::config::MachineConfig;

/// Most loads measured at one footprint.
const LOADS_MOST: u64 = 20_000;
/// Fewest loads measured at one footprint; small footprints are visited many times.
const LOADS_LEAST: u64 = 4_096;
/// Passes over the footprint before the measurement: the first fills the caches, the second lets
/// the replacement state of the system level cache settle.
const WARMUP_PASSES: u64 = 2;
/// Loads of warm-up above which one pass is enough, because the footprint exceeds all caches.
const WARMUP_MOST: u64 = 1 << 20;
/// Smallest footprint of the sweep in bytes.
const FIRST_BYTES: u64 = 2 << 10;
/// Largest footprint of the sweep in bytes.
const LAST_BYTES: u64 = 128 << 20;
/// Footprint of the published latency of the system level cache, in bytes.
const SLC_BYTES: u64 = 16 << 20;

/// Settings of one curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Page size in bytes.
    pub page_bytes: u64,
    /// The hardware prefetchers run.
    pub prefetch: bool,
}

/// Size of the blocks that represent large pages.
const BLOCK_BYTES: u64 = 2 << 20;

/// Settings of the figure's curves.
pub const SETTINGS: [Setting; 4] = [
    Setting { page_bytes: 4 << 10, prefetch: true },
    Setting { page_bytes: 4 << 10, prefetch: false },
    Setting { page_bytes: 2 << 20, prefetch: true },
    Setting { page_bytes: 2 << 20, prefetch: false },
];

impl Setting {
    /// Returns the configuration with these pages and prefetchers.
    pub fn applied_to(self, config: &MachineConfig) -> MachineConfig {
        let mut config = config.clone();
        let pages = &mut config.memory.pages;
        // Pages of 2 MiB are blocks of the 4 KiB granule.
        (pages.page_bytes, pages.block_bytes) = match self.page_bytes {
            BLOCK_BYTES => (4 << 10, BLOCK_BYTES),
            bytes => (bytes, 0),
        };
        if !self.prefetch {
            config.memory.prefetch.l1d = false;
            config.memory.prefetch.stores = false;
            config.memory.prefetch.l2_stream = false;
            config.memory.prefetch.l1i_next_line = false;
        }
        config
    }
}

/// Setting in which the published latencies are compared.
pub const PUBLISHED_SETTING: Setting = SETTINGS[3];

/// Effort of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// Every footprint, after enough passes for the replacement state to settle.
    #[default]
    Full,
    /// A fourth of the footprints, after at most one pass: for a first look. Footprints that exceed
    /// all caches are warmed in part only; no pass would make their lines hit.
    Quick,
}

/// Loads of warm-up of one footprint in a quick sweep: one pass over 16 MiB.
const QUICK_WARMUP_MOST: u64 = 1 << 18;
/// Footprints of a quick sweep in bytes: powers of four, with twice the largest cache at the end.
const QUICK_FOOTPRINTS: [u64; 8] =
    [4 << 10, 16 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 128 << 20];

impl Effort {
    /// Returns the loads of warm-up for a loop of `period` loads.
    fn warmup(self, period: u64) -> u64 {
        match self {
            Effort::Full => (WARMUP_PASSES * period).min(WARMUP_MOST.max(period)),
            Effort::Quick => period.min(QUICK_WARMUP_MOST),
        }
    }

    /// Returns the measured loads for a loop of `period` loads.
    fn measured(self, period: u64) -> u64 {
        match self {
            Effort::Full => period.clamp(LOADS_LEAST, LOADS_MOST),
            Effort::Quick => LOADS_LEAST,
        }
    }
}

/// Returns the footprints of the sweep in bytes: powers of two, and one between each two; or the
/// few of a quick sweep.
pub fn footprints(effort: Effort) -> Vec<u64> {
    if effort == Effort::Quick {
        return QUICK_FOOTPRINTS.to_vec();
    }
    let mut all = Vec::new();
    let mut bytes = FIRST_BYTES;
    while bytes < LAST_BYTES {
        all.extend([bytes, bytes + bytes / 2]);
        bytes *= 2;
    }
    all.push(LAST_BYTES);
    all
}

/// Measures the cycles per load of a chase over the footprint.
pub fn load_to_use(config: &MachineConfig, setting: Setting, footprint_bytes: u64) -> f64 {
    with_effort(config, setting, footprint_bytes, Effort::Full)
}

fn with_effort(
    config: &MachineConfig,
    setting: Setting,
    footprint_bytes: u64,
    effort: Effort,
) -> f64 {
    let kernel = Kernel::chase(footprint_bytes, config.run.seed);
    let (warmup, measured) = (effort.warmup(kernel.period()), effort.measured(kernel.period()));
    measure(&setting.applied_to(config), &kernel, Plan { warmup, measured }).cycles_per_load()
}

/// Latencies of one footprint, one for each of [`SETTINGS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootprintRow {
    /// Footprint in bytes.
    pub footprint_bytes: u64,
    /// Cycles per load, by setting.
    pub cycles: [f64; SETTINGS.len()],
}

/// Measures one footprint in every setting.
pub fn footprint_row(config: &MachineConfig, footprint_bytes: u64, effort: Effort) -> FootprintRow {
    let cycles = SETTINGS.map(|setting| with_effort(config, setting, footprint_bytes, effort));
    FootprintRow { footprint_bytes, cycles }
}

/// Returns the published latencies, each with the footprint of its comparison. They were measured
/// with 2 MiB pages; a random chase defeats the prefetchers.
pub fn targets(config: &MachineConfig) -> [(Target, u64); 4] {
    let memory = &config.memory;
    [
        (target::L1D_LATENCY, memory.l1d.size_bytes / 2),
        (target::L2_LATENCY, memory.l2.size_bytes / 2),
        (target::SLC_LATENCY, SLC_BYTES),
        (target::DRAM_LATENCY, LAST_BYTES),
    ]
}
