//! Latency, TLB reach and read rates of a Cortex-A53, and what was published of an Amlogic S905X.

use sim_a53::{A53Config, A53Event, Stepper};
use sim_core::LINE_BYTES;

use super::kernel::Kernel;
use super::run::Plan;
use super::target::{Target, Unit};

/// Size of a page in bytes.
const PAGE_BYTES: u64 = 4 << 10;
/// Fewest measured loads.
const LOADS_LEAST: u64 = 4_096;
/// Most measured loads of a latency.
const LOADS_MOST: u64 = 20_000;
/// Footprints of the latencies in bytes: from, to.
const FOOTPRINTS: (u64, u64) = (2 << 10, 32 << 20);
/// Largest number of pages of the sweep.
const LAST_PAGES: u64 = 2_048;
/// Distance from a knee within which every number of pages is measured.
const NEAR: u64 = 2;
/// Measured loads of a read rate, and loads of a memory stream before them.
const STREAM: Plan = Plan { warmup: 20_000, measured: 100_000 };

/// Cycles that loads took, with some of the events during them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    loads: u64,
    cycles: u64,
    micro_tlb_refills: u64,
}

impl Measured {
    fn cycles_per_load(&self) -> f64 {
        self.cycles as f64 / self.loads as f64
    }
}

/// Runs a kernel on a core with cold caches: first the warm-up, then the measured loads.
fn measure(config: &A53Config, kernel: &Kernel, plan: Plan) -> Measured {
    let words = kernel.words().len();
    let mut core = Stepper::new(config, kernel.code(), kernel.words());
    let mut load = 0;
    let mut run_until = |core: &mut Stepper, last: u64| {
        while load < last {
            for at in 0..words {
                let addr = (at < kernel.loads_per_turn()).then(|| kernel.address(load));
                core.step(at, addr, (at + 1) % words);
                load += u64::from(addr.is_some());
            }
        }
        (load, core.cycle(), core.count(A53Event::L1D_TLB_REFILL))
    };
    let before = run_until(&mut core, plan.warmup);
    let after = run_until(&mut core, before.0 + plan.measured);
    Measured {
        loads: after.0 - before.0,
        cycles: after.1 - before.1,
        micro_tlb_refills: after.2 - before.2,
    }
}

/// Returns the configuration with or without the data prefetcher.
fn with_prefetch(config: &A53Config, prefetch: bool) -> A53Config {
    let mut config = config.clone();
    if !prefetch {
        config.memory.prefetch.outstanding = 0;
    }
    config
}

/// Order of the lines of a chase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChaseOrder {
    /// Reversed bits of the line's number, as in the published measurements.
    Reversed,
    /// Random.
    Random,
}

/// Curves of the latencies: the order of the lines, and whether the prefetcher runs.
pub const CURVES: [(ChaseOrder, bool); 3] =
    [(ChaseOrder::Reversed, true), (ChaseOrder::Random, true), (ChaseOrder::Random, false)];

/// Latencies of one footprint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct A53Latency {
    /// Footprint in bytes.
    pub footprint_bytes: u64,
    /// Cycles per load, one for each of [`CURVES`].
    pub cycles: [f64; CURVES.len()],
}

/// Returns the footprints of the latencies: powers of two, and one between each two.
pub fn footprints() -> Vec<u64> {
    let (first, last) = FOOTPRINTS;
    let powers = std::iter::successors(Some(first), |bytes| Some(2 * bytes));
    let below = powers.take_while(|bytes| *bytes < last);
    below.flat_map(|bytes| [bytes, bytes + bytes / 2]).chain([last]).collect()
}

/// Measures the load-to-use latencies of one footprint.
pub fn latency(config: &A53Config, footprint_bytes: u64) -> A53Latency {
    let cycles = CURVES.map(|(order, prefetch)| {
        let kernel = match order {
            ChaseOrder::Reversed => Kernel::reversed_chase(footprint_bytes),
            ChaseOrder::Random => Kernel::chase(footprint_bytes, config.cluster.seed),
        };
        let measured = kernel.period().clamp(LOADS_LEAST, LOADS_MOST);
        // A chase of a footprint beyond the caches needs no second pass.
        let cached = config.memory.l2.size_bytes.max(config.memory.l1d.size_bytes);
        let passes = if footprint_bytes > 2 * cached { 1 } else { 3 };
        let plan = Plan { warmup: passes * kernel.period(), measured };
        measure(&with_prefetch(config, prefetch), &kernel, plan).cycles_per_load()
    });
    A53Latency { footprint_bytes, cycles }
}

/// Cost of one load per page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct A53Knee {
    /// Number of visited pages.
    pub pages: u64,
    /// Cycles per load.
    pub cycles: f64,
    /// Cycles per load when the same number of lines is packed: the cost of the caches alone.
    pub packed_cycles: f64,
    /// `L1D_TLB_REFILL` per load: refills of the micro-TLB.
    pub micro_tlb_refills: f64,
}

/// Returns the numbers of pages of the sweep: a coarse row, and each number near the entries of the
/// micro-TLB and of the main TLB.
pub fn page_counts(config: &A53Config) -> Vec<u64> {
    let memory = &config.memory;
    let sizes = [memory.micro_tlb.data_entries, memory.main_tlb.entries].map(u64::from);
    let near = sizes.into_iter().flat_map(|size| size.saturating_sub(NEAR).max(1)..=size + NEAR);
    let coarse = (0..).map(|i| (4 << (i / 2)) + (i % 2) * (2 << (i / 2)));
    let mut all: Vec<u64> = coarse.take_while(|pages| *pages <= LAST_PAGES).chain(near).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Measures the cost of one load per page, without the prefetcher.
pub fn knee(config: &A53Config, pages: u64) -> A53Knee {
    let config = with_prefetch(config, false);
    let run = |kernel: &Kernel| {
        let measured = LOADS_LEAST.next_multiple_of(kernel.period());
        measure(&config, kernel, Plan::after_passes(kernel, 2, measured))
    };
    let seed = config.cluster.seed;
    // Physical bits 6 to 12 select one of 128 sets.
    let spread = run(&Kernel::one_per_page_of_two(pages, PAGE_BYTES, seed));
    A53Knee {
        pages,
        cycles: spread.cycles_per_load(),
        packed_cycles: run(&Kernel::chase(pages * LINE_BYTES, seed)).cycles_per_load(),
        micro_tlb_refills: spread.micro_tlb_refills as f64 / spread.loads as f64,
    }
}

/// Level that holds the data of a read rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum A53Level {
    /// L1 D-cache.
    L1,
    /// L2 cache of the cluster.
    L2,
    /// Memory.
    Memory,
}

impl A53Level {
    /// All levels, from the core outward.
    pub const ALL: [A53Level; 3] = [A53Level::L1, A53Level::L2, A53Level::Memory];

    /// Returns the levels that the configuration has.
    pub fn of(config: &A53Config) -> Vec<A53Level> {
        let has_l2 = config.memory.l2.size_bytes > 0;
        A53Level::ALL.into_iter().filter(|level| has_l2 || *level != A53Level::L2).collect()
    }

    /// Returns the name for people.
    pub fn label(self) -> &'static str {
        match self {
            A53Level::L1 => "L1D",
            A53Level::L2 => "L2",
            A53Level::Memory => "memory",
        }
    }

    /// Returns the footprint: half of a cache's size, and for memory one that is read once.
    pub fn footprint_bytes(self, config: &A53Config) -> u64 {
        match self {
            A53Level::L1 => config.memory.l1d.size_bytes / 2,
            A53Level::L2 => config.memory.l2.size_bytes / 2,
            A53Level::Memory => (STREAM.warmup + STREAM.measured) * 16,
        }
    }
}

/// Read rate of one core from a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct A53Rate {
    /// Level that holds the data.
    pub level: A53Level,
    /// The prefetcher ran.
    pub prefetch: bool,
    /// Footprint of the loop in bytes.
    pub footprint_bytes: u64,
    /// Bytes per cycle.
    pub bytes_per_cycle: f64,
    /// Bytes per nanosecond at the configured clock.
    pub gigabytes_per_second: f64,
}

/// Measures consecutive 16-byte loads from one level.
pub fn read_rate(config: &A53Config, level: A53Level, prefetch: bool) -> A53Rate {
    let footprint_bytes = level.footprint_bytes(config);
    let kernel = Kernel::stream(footprint_bytes);
    let plan = match level {
        A53Level::Memory => STREAM,
        _ => Plan::after_passes(&kernel, 2, STREAM.measured),
    };
    let measured = measure(&with_prefetch(config, prefetch), &kernel, plan);
    let bytes_per_cycle = (measured.loads * kernel.load_bytes()) as f64 / measured.cycles as f64;
    A53Rate {
        level,
        prefetch,
        footprint_bytes,
        bytes_per_cycle,
        gigabytes_per_second: bytes_per_cycle * config.cluster.clock_hz as f64 / 1e9,
    }
}

const fn published(quantity: &'static str, cycles: f64, tolerance: f64) -> Target {
    let source = "sbc-bench, Amlogic S905X at 1.413 GHz";
    Target { quantity, low: cycles, high: cycles, unit: Unit::Cycles, tolerance, source }
}

/// Published latencies of a chase in the order [`ChaseOrder::Reversed`], each with its footprint in
/// bytes. Memory is 122 ns.
pub const TARGETS: [(Target, u64); 5] = [
    (published("chase in 16 KB", 3.0, 0.02), 16 << 10),
    (published("chase in 64 KB", 26.5, 0.1), 64 << 10),
    (published("chase in 128 KB", 31.4, 0.1), 128 << 10),
    (published("chase in 256 KB", 34.3, 0.1), 256 << 10),
    (published("chase in memory", 172.4, 0.05), 16 << 20),
];
