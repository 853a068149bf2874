//! Where the TLBs end: a chain of loads, one on each page, over more and more pages.

use sim_core::{LINE_BYTES, PmuEvent};

use super::kernel::Kernel;
use super::latency::Setting;
use super::run::{Measurement, Plan, measure};
use sim_machine::config::MachineConfig;

/// Size of the pages.
const PAGE_BYTES: u64 = 4 << 10;
/// Loads measured at one number of pages, at least.
const LOADS_LEAST: u64 = 4_096;
/// Numbers of pages on both sides of a knee that are measured one by one.
const NEAR: u64 = 3;
/// Largest number of pages of the sweep.
const LAST_PAGES: u64 = 4_096;

/// The cost at one number of pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Pages visited.
    pub pages: u64,
    /// Cycles of one load.
    pub cycles: f64,
    /// Cycles of one load when the same number of lines lies on as few pages as possible: the part
    /// that is not translation.
    pub packed_cycles: f64,
    /// Refills of the L1 data TLB, per load.
    pub l1_refills: f64,
    /// Table walks, per load.
    pub walks: f64,
}

/// The numbers of pages of the sweep: a coarse row, and each number around the configured sizes.
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

/// Runs the chain over `pages` pages, without prefetchers.
pub fn chain(config: &MachineConfig, pages: u64) -> Measurement {
    run(config, &Kernel::one_per_page(pages, PAGE_BYTES, config.run.seed))
}

/// The cost at a number of pages.
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
    // Whole turns: every page is as often measured as any other.
    let measured = LOADS_LEAST.next_multiple_of(kernel.period());
    measure(&config, kernel, Plan::after_passes(kernel, 2, measured))
}
