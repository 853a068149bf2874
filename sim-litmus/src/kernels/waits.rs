//! Loads that wait: for stores, atomics, barriers, branches, and for each other.

use super::assembly::{CHAIN, NEXT_RANDOM, SEED};
use super::kernel::{Kernel, LINES, Layout};
use crate::pages::Pages::Blocks;

const MIB: u64 = 1 << 20;

/// A pair of instructions and what it is: name, body, cycles of a round, meaning.
type Wait = (&'static str, &'static str, f64, &'static str);

const WAITS: [Wait; 14] = [
    (
        "forward-same",
        "str x3, [x0]\nldr x3, [x0]",
        5.0,
        "a store and a load of the same 8 bytes that gets its data",
    ),
    (
        "forward-lower",
        "str x3, [x0]\nldr w3, [x0]",
        5.0,
        "a store of 8 bytes and a load of the lower 4 of them",
    ),
    (
        "forward-upper",
        "str x3, [x0]\nldr w3, [x0, #4]",
        5.0,
        "a store of 8 bytes and a load of the upper 4 of them",
    ),
    (
        "forward-crossing",
        "str x3, [x0, #60]\nldr x3, [x0, #60]",
        6.0,
        "a store and a load of the same 8 bytes in two lines",
    ),
    (
        "forward-fails",
        "str w3, [x0, #4]\nldr x3, [x0]",
        12.0,
        "a store of 4 bytes and a load of 8 that has only 4 of them from the store",
    ),
    // LSE atomics as words, for assemblers that do not have them switched on.
    (
        "ldadd-own",
        ".inst 0xf8230004 // ldadd x3, x4, [x0]",
        5.0,
        "an atomic addition to a line in the L1 D-cache, whose result nothing needs",
    ),
    (
        "ldadd-chain",
        ".inst 0xf8230003 // ldadd x3, x3, [x0]",
        8.0,
        "an atomic addition to a line in the L1 D-cache that needs the result of the last one",
    ),
    (
        "cas-own",
        ".inst 0xc8a37c04 // cas x3, x4, [x0]",
        8.0,
        "a compare-and-swap of a word in the L1 D-cache",
    ),
    (
        "exclusive-pair",
        "ldxr x3, [x0]\nadd x3, x3, #1\nstxr w4, x3, [x0]",
        10.0,
        "a load-exclusive, an addition and a store-exclusive that stores",
    ),
    (
        "store-dmb-load",
        "str x3, [x0]\ndmb ish\nldr x4, [x0, #64]",
        15.0,
        "a store, DMB ISH, and a load of another line",
    ),
    ("store-dsb", "str x3, [x0]\ndsb ish", 15.0, "a store and DSB ISH"),
    ("isb", "isb", 30.0, "an ISB"),
    (
        "acquire-release",
        ".inst 0xc89ffc03 // stlr x3, [x0]\n.inst 0xc8dffc04 // ldar x4, [x0]",
        12.0,
        "a store-release and a load-acquire of the same word",
    ),
    (
        "split-load",
        "ldr x4, [x0, #60]\nldr x5, [x0, #124]",
        2.0,
        "two loads that each cross two lines in the L1 D-cache",
    ),
];

/// Instructions after each of two loads that miss: name, a few instructions, how often, their
/// number, what they are, and the limit of how many of them the core holds.
type Window = (&'static str, &'static str, u64, u64, &'static str, &'static str);

/// Results of two kinds, so that neither kind of register limits the window first. NOPs may share
/// entries of the reorder buffer.
const MIXED: &str = "add x5, x6, #1\nfadd d3, d1, d2\nadd x7, x8, #1\nfadd d4, d1, d2\nadd x9, x10, #1\n\
                     fadd d5, d1, d2\nadd x11, x12, #1\nfadd d6, d1, d2\nadd x13, x14, #1";
const ADDS: &str = "add x5, x6, #1\nadd x7, x8, #1";
const IS_MIXED: &str = "additions of integers and doubles";
const OF_BUFFER: &str = "the reorder buffer holds more instructions";
const OF_REGISTERS: &str = "there are more registers for results";

/// The modeled reorder buffer has 160 entries, and 116 registers for results of integers.
const WINDOWS: [Window; 5] = [
    ("window-72", MIXED, 8, 72, IS_MIXED, OF_BUFFER),
    ("window-144", MIXED, 16, 144, IS_MIXED, OF_BUFFER),
    ("window-180", MIXED, 20, 180, IS_MIXED, OF_BUFFER),
    ("registers-96", ADDS, 48, 96, "additions", OF_REGISTERS),
    ("registers-128", ADDS, 64, 128, "additions", OF_REGISTERS),
];

/// Returns the kernels.
pub(super) fn kernels() -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = WAITS.into_iter().map(wait).collect();
    kernels.extend([2, 4, 8, 16].map(parallel));
    kernels.extend(WINDOWS.map(window));
    kernels.extend([(32, "l1"), (4096, "slc")].map(|(kib, level)| branch_on_load(kib, level)));
    kernels
}

fn wait((id, body, cycles, what): Wait) -> Kernel {
    Kernel::new(id, format!("a round is {what}"), body, 8)
        .entered_by("mov x3, #0")
        .timed(1024, cycles)
}

/// Returns a kernel of so many independent chases in memory.
fn parallel(chains: u64) -> Kernel {
    // X1 counts the rounds and X2 is needed at the end, so the sixteenth chain is in X0.
    let register = |chain: u64| if chain < 15 { chain + 3 } else { 0 };
    let each = |text: &dyn Fn(u64, u64) -> String| {
        (0..chains)
            .map(|chain| text(register(chain), CHAIN + chain * 16 / chains * 8))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let body = each(&|x, _| format!("ldr x{x}, [x{x}]"));
    let what = format!(
        "a round is one load in memory, of {chains} independent chases in turn; their misses overlap"
    );
    Kernel::new(format!("parallel-{chains}"), what, &body, 4)
        .of_rounds(chains)
        .entered_by(&each(&|x, word| format!("ldr x{x}, [x2, #{word}]")))
        .left_by(&each(&|x, word| format!("str x{x}, [x2, #{word}]")))
        .with_memory(64 * MIB, Layout::Cycle { distance: 64 }, Blocks)
        .touched(2 * MIB)
        .timed(1024, 360.0 / chains as f64)
}

fn window((id, some, times, distance, of, limit): Window) -> Kernel {
    let between = format!(".rept {times}\n{some}\n.endr");
    let body = format!("ldr x3, [x3]\n{between}\nldr x4, [x4]\n{between}");
    let what = format!(
        "a round is two loads in memory of two independent chases, and {distance} {of} after each; their misses \
         overlap if {limit}"
    );
    let middle = CHAIN + 8 * 8;
    Kernel::new(id, what, &body, 1)
        .entered_by(&format!("ldr x3, [x2, #{CHAIN}]\nldr x4, [x2, #{middle}]"))
        .left_by(&format!("str x3, [x2, #{CHAIN}]\nstr x4, [x2, #{middle}]"))
        .with_memory(64 * MIB, Layout::Cycle { distance: 64 }, Blocks)
        .touched(2 * MIB)
        .timed(48, 600.0)
}

fn branch_on_load(kib: u64, level: &str) -> Kernel {
    let what = format!(
        "a round is a dependent load that hits the {}, and a branch in a random direction that waits for it; half of \
         the branches are mispredicted",
        if level == "l1" { "L1 D-cache" } else { "system level cache" }
    );
    let body =
        format!("{NEXT_RANDOM}\nldr x3, [x3]\neor x4, x3, x5\ntbz x4, #32, 7f\nadd x6, x6, #1\n7:");
    Kernel::new(format!("branch-on-{level}"), what, &body, 4)
        .entered_by(&format!("ldr x3, [x2, #{CHAIN}]\nldr x5, [x2, #{SEED}]"))
        .left_by(&format!("str x3, [x2, #{CHAIN}]\nstr x5, [x2, #{SEED}]"))
        .with_memory(kib << 10, Layout::Cycle { distance: 64 }, Blocks)
        .touched(LINES)
        .timed(2048, if kib < 64 { 12.0 } else { 90.0 })
}
