//! Chases: each load gives the address of the next one, so that a step takes the latency of the
//! level that holds the lines, or the translations.

use super::assembly::CHAIN;
use super::kernel::{Kernel, LINES, Layout};
use crate::pages::Pages::{self, Blocks, Small};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// A size of memory, its name, recorded steps, cycles of a step, and where its lines are.
type Size = (u64, &'static str, u64, f64, &'static str);

/// Sizes with small pages. Steps are a lap or more while the memory fits the L2, so that the caches
/// are as after many laps.
const SIZES: [Size; 12] = [
    (16 * KIB, "16k", 1024, 4.0, "all steps hit the L1 D-cache"),
    (32 * KIB, "32k", 1024, 4.0, "all steps hit the L1 D-cache"),
    (64 * KIB, "64k", 1024, 5.0, "the lines fill the L1 D-cache"),
    (128 * KIB, "128k", 2048, 10.0, "most steps miss the L1 D-cache and hit the L2"),
    (256 * KIB, "256k", 4096, 14.0, "steps hit the L2, and most miss the L1 data TLB"),
    (512 * KIB, "512k", 8192, 16.0, "steps hit the L2, and most miss the L1 data TLB"),
    (MIB, "1m", 16384, 25.0, "the lines fill an L2 of 1 MiB"),
    (2 * MIB, "2m", 4096, 70.0, "half of the steps or more miss the L2"),
    (4 * MIB, "4m", 2048, 100.0, "most steps miss the L2 and hit the system level cache"),
    (16 * MIB, "16m", 2048, 150.0, "steps hit the system level cache, and miss the L2 TLB"),
    (64 * MIB, "64m", 1024, 450.0, "steps miss all caches and the L2 TLB"),
    (256 * MIB, "256m", 1024, 500.0, "steps miss all caches and the L2 TLB"),
];

/// Sizes with huge pages.
const HUGE: [Size; 5] = [
    (256 * KIB, "256k-huge", 4096, 13.0, "steps hit the L2 and the L1 data TLB"),
    (4 * MIB, "4m-huge", 2048, 90.0, "most steps miss the L2 and hit the system level cache"),
    (16 * MIB, "16m-huge", 2048, 110.0, "steps hit the system level cache and the L1 data TLB"),
    (64 * MIB, "64m-huge", 1024, 400.0, "steps miss all caches and hit the L1 data TLB"),
    (256 * MIB, "256m-huge", 1024, 410.0, "steps miss all caches and the L1 data TLB"),
];

/// Pages of the chases with one line a page, and cycles of a step.
const PAGES: [(u64, f64, &str); 5] = [
    (32, 4.0, "both TLBs and the L1 D-cache hold them"),
    (64, 9.0, "the L1 data TLB misses, the L2 TLB and the L1 D-cache hit"),
    (512, 9.0, "the L1 data TLB misses, the L2 TLB hits, the lines are half an L1 D-cache"),
    (1024, 20.0, "the L1 data TLB misses, the L2 TLB hits, the lines fill the L1 D-cache"),
    (4096, 40.0, "both TLBs miss, the lines are in the L2"),
];

/// Returns the kernels.
pub(super) fn kernels() -> Vec<Kernel> {
    let small = SIZES.into_iter().map(|size| (size, Small));
    let huge = HUGE.into_iter().map(|size| (size, Blocks));
    let chases = small.chain(huge).map(|(size, pages)| chase(size, pages));
    chases.chain(PAGES.into_iter().map(|(pages, cycles, what)| tlb(pages, cycles, what))).collect()
}

fn chase((bytes, name, rounds, cycles, where_lines_are): Size, pages: Pages) -> Kernel {
    let id = format!("chase-{name}");
    let what = format!("a round is one dependent load of a random line; {where_lines_are}");
    let touch = match (bytes > 16 * MIB, pages) {
        (false, _) => LINES,
        (true, Blocks) => 2 * MIB,
        (true, Small) => 0,
    };
    steps(id, what)
        .with_memory(bytes, Layout::Cycle { distance: 64 }, pages)
        .touched(touch)
        .timed(rounds, cycles)
}

fn tlb(pages: u64, cycles: f64, what: &str) -> Kernel {
    let what = format!("a round is one dependent load of a random page of {pages}; {what}");
    let layout = Layout::Cycle { distance: 4 * KIB };
    steps(format!("tlb-{pages}"), what)
        .with_memory(pages * 4 * KIB, layout, Small)
        .timed(pages.max(1024), cycles)
}

fn steps(id: String, what: String) -> Kernel {
    Kernel::new(id, what, "ldr x3, [x3]", 16)
        .entered_by(&format!("ldr x3, [x2, #{CHAIN}]"))
        .left_by(&format!("str x3, [x2, #{CHAIN}]"))
}
