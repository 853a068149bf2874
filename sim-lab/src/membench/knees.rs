//! TLB capacity: a pointer chase with one load per page over a growing number of pages.

use sim_core::{LINE_BYTES, PmuEvent};

use super::kernel::Kernel;
use super::latency::Setting;
use super::run::{Measurement, Plan, measure};
use sim_machine::config::MachineConfig;

/// Page size in bytes.
const PAGE_BYTES: u64 = 4 << 10;
/// Fewest loads measured at one number of pages.
const LOADS_LEAST: u64 = 4_096;
/// Distance from a knee within which every number of pages is measured.
const NEAR: u64 = 3;
/// Largest number of pages of the sweep.
const LAST_PAGES: u64 = 4_096;

/// Cost at one number of pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Number of visited pages.
    pub pages: u64,
    /// Cycles per load.
    pub cycles: f64,
    /// Cycles per load when the same number of lines lies on as few pages as possible: the cost
    /// without translation.
    pub packed_cycles: f64,
    /// L1 data TLB refills per load.
    pub l1_refills: f64,
    /// Table walks per load.
    pub walks: f64,
}

/// Returns the page counts of the sweep: a coarse row, and each number near a configured size.
pub fn page_counts(config: &MachineConfig) -> Vec<u64> {
    let memory = &config.memory;
    let sizes = [memory.dtlb.entries, memory.l2_tlb.entries].map(u64::from);
    let near = sizes.into_iter().flat_map(|size| size.saturating_sub(NEAR).max(1)..=size + NEAR);
    let coarse = (0..).map(|i| (4 << (i / 4)) + (i % 4) * (1 << (i / 4)));
    let mut all: Vec<u64> = coarse.take_while(|pages| *pages <= LAST_PAGES).chain(near).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Runs the chase over `pages` pages, without prefetchers.
pub fn chain(config: &MachineConfig, pages: u64) -> Measurement {
    run(config, &Kernel::one_per_page(pages, PAGE_BYTES, config.run.seed))
}

/// Measures the cost at a number of pages.
pub fn knee(config: &MachineConfig, pages: u64) -> Knee {
    let spread = chain(config, pages);
    let packed = run(config, &Kernel::chase(pages * LINE_BYTES, config.run.seed));
    let per_load = |event| spread.counts.value(event) as f64 / spread.loads as f64;
    Knee {
        pages,
        cycles: spread.cycles_per_load(),
        packed_cycles: packed.cycles_per_load(),
        l1_refills: per_load(PmuEvent::L1D_TLB_REFILL),
        walks: per_load(PmuEvent::DTLB_WALK),
    }
}

fn run(config: &MachineConfig, kernel: &Kernel) -> Measurement {
    let config = Setting { page_bytes: PAGE_BYTES, prefetch: false }.applied_to(config);
    // Whole iterations, so that all pages are measured equally often.
    let measured = LOADS_LEAST.next_multiple_of(kernel.period());
    measure(&config, kernel, Plan::after_passes(kernel, 2, measured))
}
