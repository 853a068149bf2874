//! Branches: directions, returns, indirect targets, many taken branches, and much code.

use super::assembly::{JUMPED_TO, NEXT_RANDOM, SEED};
use super::kernel::{Kernel, Layout};
use crate::pages::Pages::Small;

/// Depths of nested calls: the return stack of the modeled machine has 14 entries.
const DEPTHS: [u64; 4] = [8, 14, 16, 32];
const TARGETS: [u64; 4] = [1, 4, 16, 64];
/// Numbers of taken branches in a loop.
const TAKEN: [u64; 3] = [32, 512, 4096];
/// KiB of code in a loop, and how often a recording runs it.
const CODE: [(u64, u64); 2] = [(32, 2), (128, 1)];

/// Returns the kernels.
pub(super) fn kernels() -> Vec<Kernel> {
    let mut kernels = vec![
        Kernel::new(
            "branch-taken",
            "a round is one branch that is always taken, and the branch of the loop; none is mispredicted",
            "cbz xzr, 7f\nnop\n7:",
            1,
        )
        .timed(2048, 2.0),
        Kernel::new(
            "branch-alternating",
            "a round is one branch that is taken every second time, and the branch of the loop; none is mispredicted",
            "eor x4, x4, #1\ncbz x4, 7f\nadd x6, x6, #1\n7:",
            1,
        )
        .entered_by("mov x4, #0")
        .timed(2048, 2.0),
        random(),
    ];
    kernels.extend([16, 64, 256].map(pattern));
    kernels.extend(DEPTHS.map(calls));
    kernels.extend(TARGETS.map(indirect));
    kernels.push(indirect_random());
    kernels.extend(TAKEN.map(taken));
    kernels.extend(CODE.map(|(kib, laps)| code(kib, laps)));
    kernels
}

fn random() -> Kernel {
    let body = format!("{NEXT_RANDOM}\ntbz x5, #32, 7f\nadd x6, x6, #1\n7:");
    let what = "a round is one branch in a random direction; half of them are mispredicted";
    Kernel::new("branch-random", what, &body, 4)
        .entered_by(&format!("ldr x5, [x2, #{SEED}]"))
        .left_by(&format!("str x5, [x2, #{SEED}]"))
        .timed(2048, 10.0)
}

/// Returns a kernel with one branch that repeats `length` random directions.
fn pattern(length: u64) -> Kernel {
    let body = format!(
        "ldrb w7, [x0, x4]\nadd x4, x4, #1\nand x4, x4, #{}\ncbz w7, 7f\nadd x6, x6, #1\n7:",
        length - 1
    );
    let what = format!(
        "a round is one branch, and the branch of the loop; the first repeats {length} random directions, and few of \
         them are mispredicted"
    );
    Kernel::new(format!("branch-pattern-{length}"), what, &body, 1)
        .entered_by("mov x4, #0")
        .with_memory(4096, Layout::Bits, Small)
        .timed(4096, 2.5)
}

fn calls(depth: u64) -> Kernel {
    let body = "bl 61f";
    let mut callees = String::new();
    for level in 1..depth {
        let next = 60 + level + 1;
        callees += &format!(
            "\n.p2align 4\n{}:\nstp x29, x30, [sp, #-16]!\nbl {next}f\nldp x29, x30, [sp], #16\nret",
            60 + level
        );
    }
    callees += &format!("\n.p2align 4\n{}:\nret", 60 + depth);
    let what = match depth > 14 {
        false => format!("a round is {depth} nested calls and their returns; none is mispredicted"),
        true => format!(
            "a round is {depth} nested calls and their returns; a return stack of 14 has lost the outer ones, which \
             are mispredicted or predicted in another way"
        ),
    };
    let mut kernel = Kernel::new(format!("calls-{depth}"), what, body, 1);
    kernel.code.callees = callees;
    kernel.timed(128, 4.0 * depth as f64)
}

/// Returns a kernel whose indirect branch has so many targets in turn.
fn indirect(targets: u64) -> Kernel {
    let next = format!("add x4, x4, #1\nand x4, x4, #{}", targets - 1);
    let next = if targets == 1 { "mov x4, #0" } else { &next };
    let what = format!(
        "a round is one indirect branch with {targets} targets in turn, and two direct ones; few are mispredicted"
    );
    jumps(format!("indirect-{targets}"), what, targets, next)
        .entered_by("mov x4, #0")
        .timed(1024, 4.0)
}

fn indirect_random() -> Kernel {
    let next = format!("{NEXT_RANDOM}\nubfx x4, x5, #32, #4");
    let what = "a round is one indirect branch with 16 targets in a random order, and two direct ones; 15 of 16 \
                indirect branches are mispredicted";
    jumps("indirect-random-16".to_owned(), what.to_owned(), 16, &next)
        .entered_by(&format!("mov x4, #0\nldr x5, [x2, #{SEED}]"))
        .left_by(&format!("str x5, [x2, #{SEED}]"))
        .timed(2048, 20.0)
}

/// Returns a kernel with an indirect branch to the target with the number X4.
fn jumps(id: String, what: String, targets: u64, next: &str) -> Kernel {
    let body = format!(
        "adr x8, 7f\nadd x8, x8, x4, lsl #4\nbr x8\n.p2align 4\n7:\n.rept {targets}\n{JUMPED_TO}\nadd x6, x6, #1\n\
         b 8f\nnop\n.endr\n8:\n{next}"
    );
    Kernel::new(id, what, &body, 1)
}

fn taken(branches: u64) -> Kernel {
    let what = format!(
        "a round is one of {branches} branches that are always taken, one in 16 bytes; none is mispredicted, and its \
         time is that of the structure that holds so many"
    );
    Kernel::new(format!("taken-{branches}"), what, "b 7f\nnop\nnop\nnop\n7:", branches)
        .timed(branches.max(2048), 2.0)
}

fn code(kib: u64, laps: u64) -> Kernel {
    let adds: String = (3..11).map(|x| format!("add x{x}, x{x}, #1\n")).collect();
    let where_code_is = match kib > 64 {
        false => "the L1 I-cache holds all",
        true => "the L1 I-cache does not hold all, and each line is fetched from the L2",
    };
    let what = format!("a round is one line of {kib} KiB of code, 16 additions; {where_code_is}");
    let lines = kib * 16;
    Kernel::new(format!("code-{kib}k"), what, &adds.repeat(2), lines).timed(laps * lines, 5.0)
}
