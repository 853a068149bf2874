//! Assembly text of a case: two functions, one with the steps and one without them.
//!
//! A function takes the address of the program's memory (X0) and the number of rounds (X1). Each
//! round prepares the state, waits until that is complete, runs the steps, and waits again.
//! X19 holds the address and X20 the rounds that are left; X9 to X12 are for preparation.

use std::fmt::Write;

use sim_core::LINE_BYTES;

use crate::el1::Before;
use crate::memory::L1_WAY_BYTES;
use crate::operands::{Offsets, Predicate};
use crate::plan::{CASE_BYTES, Condition, PAGE_BYTES, Plan, PlannedStep, Prepare};

/// Offset of the lines that take others out of the L1 D-cache.
const L1_LINES: u64 = CASE_BYTES;
/// Offset of the functions whose pages take others out of the L1 instruction TLB.
const CODE_PAGES: u64 = 2 << 20;
/// Stores a function that returns at once: `bti c` and `ret`.
const STORE_FUNCTION: &str = "movz w10, #0x245f\nmovk w10, #0xd503, lsl #16\nmovz w11, #0x03c0\n\
                              movk w11, #0xd65f, lsl #16\nstp w10, w11, [x9]";
/// Offset of the function in each line of the cases. The runner writes it too.
const FUNCTION_IN_LINE: u64 = 56;
/// Lines of one set that are loaded: four times the ways of the L1 D-cache.
const L1_LINES_OF_SET: u64 = 16;
/// Offset of the lines that take others out of the L2.
const L2_LINES: u64 = 8 << 20;
/// Distance of lines with one set of an L2 of up to 1 MiB with 8 ways.
const L2_WAY_BYTES: u64 = 128 << 10;
/// Lines of one set that are loaded: four times the ways of the L2.
const L2_LINES_OF_SET: u64 = 32;
/// Offset of the pages that fill the TLBs.
const PAGES: u64 = 16 << 20;
/// Divisions that a mispredicted return waits for.
const DIVISIONS: u32 = 12;
/// Undefined instructions that end a wrong path.
const STOPS: u32 = 16;
/// Pages that take others out of the L1 data TLB, which has 40 to 48 entries.
const PAGES_OF_L1: u64 = 128;
/// Pages that take others out of the L2 TLB, which has up to 2048 entries.
const PAGES_OF_L2: u64 = 4096;
/// Landing pad of a function that is called through a pointer (`bti c`), for programs with branch
/// protection; elsewhere it does nothing.
const CALLED: &str = "hint #34";
/// Landing pad of an indirect jump or call (`bti jc`).
const JUMPED_TO: &str = "hint #38";
/// Signs X30 with the stack pointer (`paciasp`).
const PACIASP: &str = "hint #25";
/// Alignment of eight instructions whose last ones give the address of an earlier one: an emulator
/// that translates page by page has all of them in one block.
const REVEALED: &str = ".p2align 5";
/// `ptrue p0.b` as a word, for assemblers that do not have SVE switched on.
const PTRUE: &str = ".inst 0x2518e3e0 // ptrue p0.b";
/// Predicate without active elements.
const PFALSE: &str = ".inst 0x2518e400 // pfalse p0.b";
/// All elements of first-fault loads may be loaded.
const SETFFR: &str = ".inst 0x252c9000 // setffr";
/// Distance of the vector of synchronous exceptions of the same level from VBAR_EL1.
const SYNCHRONOUS_VECTOR: u32 = 0x200;
/// The state that an exception return finds: the address of label 3, the level, all exceptions
/// masked, and the access of the kernel to pages of programs as it is (PAN). The rest is clear
/// until the kernel is entered again: SSBS, DIT, TCO, UAO and the flags.
const RETURN_STATE: &str = "adr x1, 3f\nmsr elr_el1, x1\nmrs x1, CurrentEL\norr x1, x1, #1\n\
                            orr x1, x1, #0x3c0\nmrs x2, s3_0_c4_c2_3\norr x1, x1, x2\n\
                            msr spsr_el1, x1\nisb";
/// Bytes of the memory of the module.
pub(crate) const EL1_MEMORY_BYTES: u64 = PAGES + (2 << 20);
/// Bytes of the program's memory.
pub(crate) const MEMORY_BYTES: u64 = PAGES + PAGES_OF_L2 * PAGE_BYTES;

/// Returns the two functions of a case as assembly text. Their names are `litmus_N_with` and
/// `litmus_N_without`.
pub(crate) fn functions(number: usize, plan: &Plan) -> String {
    let mut text = String::new();
    let [with, without] = symbols(number);
    for (symbol, runs_steps) in [(with, true), (without, false)] {
        let calls_pages = plan.prepare.iter().any(|act| matches!(act, Prepare::LeaveL1ITlb(_)));
        open(&mut text, &symbol, plan, calls_pages);
        for act in plan.prepare.iter().filter(|act| !(calls_pages && act.is_of_tlb())) {
            prepare(&mut text, *act);
        }
        if calls_pages {
            line(&mut text, "bl 7f");
        }
        line(&mut text, "mov x0, #1\nmov x2, #3\nmov x3, #2");
        if !plan.at_el1 {
            line(&mut text, "fmov v2.2d, #1.0\nfmov v3.2d, #2.0");
        }
        if plan.steps.iter().any(|step| sim_isa::is_sve(step.word)) {
            line(&mut text, PTRUE);
            line(&mut text, SETFFR);
        }
        for (i, step) in plan.steps.iter().enumerate() {
            if i == 0 || step.waits {
                line(&mut text, "dsb sy\nisb");
            }
            write_step(&mut text, step, runs_steps);
        }
        line(&mut text, "dsb sy\nisb");
        // The next round finds the same TLBs, whether the steps ran or not.
        match calls_pages {
            true => line(&mut text, "bl 7f"),
            false => write_tlb_acts(&mut text, plan),
        }
        line(&mut text, "subs x20, x20, #1\nb.ne 1b\nisb");
        // What the last round left is counted here, not in the function that is called next.
        for act in plan.prepare.iter().filter(|act| act.drops()) {
            prepare(&mut text, *act);
        }
        close(&mut text, &symbol, calls_pages.then_some(plan));
    }
    text
}

/// Writes what empties TLBs.
fn write_tlb_acts(text: &mut String, plan: &Plan) {
    for act in plan.prepare.iter().filter(|act| act.is_of_tlb()) {
        prepare(text, *act);
    }
}

/// Returns the names of the functions with and without the steps.
pub(crate) fn symbols(number: usize) -> [String; 2] {
    ["with", "without"].map(|name| format!("litmus_{number}_{name}"))
}

/// Returns a function that only carries its name.
pub(crate) fn mark(symbol: &str) -> String {
    format!(
        ".p2align 6\n.globl {symbol}\n.type {symbol}, %function\n{symbol}:\n    ret\n\
         .size {symbol}, .-{symbol}\n"
    )
}

/// Writes the beginning of a function, up to the label `1` of its loop. Functions in lines that it
/// fetches are written again, as another case may have changed them. Where instruction TLBs count,
/// the function has a page of its own.
fn open(text: &mut String, symbol: &str, plan: &Plan, in_one_page: bool) {
    let alignment = if in_one_page { PAGE_BYTES.trailing_zeros() } else { 6 };
    line(
        text,
        &format!(
            ".p2align {alignment}\n.globl {symbol}\n.type {symbol}, %function\n{symbol}:\n\
             {CALLED}\nstp x29, x30, [sp, #-32]!\nstp x19, x20, [sp, #16]\nmov x19, x0\nmov x20, x1"
        ),
    );
    // Zero in the trial, which is one round.
    if plan.steps.iter().any(PlannedStep::needs_trial) {
        line(text, "sub x13, x1, #1");
    }
    for act in &plan.prepare {
        if let Prepare::DropCode(addr) = act {
            address(text, 9, function_in_line(*addr));
            line(text, STORE_FUNCTION);
        }
    }
    // No round begins on a wrong path.
    line(text, "1:\nisb");
}

/// Writes the end of a function, and for `tlbs` a function inside it that empties the TLBs: written
/// twice, it would not fit a page.
fn close(text: &mut String, symbol: &str, tlbs: Option<&Plan>) {
    line(text, "ldp x19, x20, [sp, #16]\nldp x29, x30, [sp], #32\nret");
    if let Some(plan) = tlbs {
        line(text, "7:\nmov x12, x30");
        write_tlb_acts(text, plan);
        line(text, "ret x12");
    }
    line(text, &format!(".size {symbol}, .-{symbol}"));
}

fn prepare(text: &mut String, act: Prepare) {
    match act {
        Prepare::Drop(addr) => {
            line(text, REVEALED);
            address(text, 9, addr);
            line(text, "dc civac, x9");
            reveal(text, 9);
            line(text, "dsb sy");
        }
        Prepare::Load(addr) => {
            address(text, 9, addr);
            line(text, "ldrb w10, [x9]\ndsb sy");
        }
        Prepare::Store(addr) => {
            address(text, 9, addr);
            line(text, "strb wzr, [x9]\ndsb sy");
        }
        Prepare::LeaveL1(addr) => {
            let from = L1_LINES + addr % L1_WAY_BYTES;
            load_set(text, from, L1_WAY_BYTES, L1_LINES_OF_SET);
        }
        Prepare::LeaveL2(addr) => {
            load_set(text, L2_LINES + addr % L2_WAY_BYTES, L2_WAY_BYTES, L2_LINES_OF_SET);
        }
        Prepare::LeaveL1Tlb(offset) => touch_pages(text, offset, PAGES_OF_L1),
        Prepare::LeaveTlbs(offset) => touch_pages(text, offset, PAGES_OF_L2),
        Prepare::DropCode(addr) => {
            line(text, REVEALED);
            address(text, 9, addr);
            line(text, "ic ivau, x9");
            reveal(text, 9);
            line(text, "dsb sy\nisb");
        }
        Prepare::Fetch(addr) => {
            address(text, 9, function_in_line(addr));
            line(text, "blr x9\ndsb sy\nisb");
        }
        Prepare::LeaveL1ITlb(offset) => call_pages(text, offset),
        Prepare::DropPage(addr) => {
            page_number(text, 9, addr);
            line(text, "tlbi vaae1, x9\ndsb sy\nisb");
        }
        Prepare::DropLeaf(addr) => {
            page_number(text, 9, addr);
            line(text, "tlbi vaale1, x9\ndsb sy\nisb");
        }
    }
}

/// Loads from `lines` lines, a power of two, `stride` bytes apart. Their order has no stride that a
/// prefetcher could follow, and no branch.
fn load_set(text: &mut String, from: u64, stride: u64, lines: u64) {
    address(text, 9, from);
    let mut place = 0;
    for _ in 0..lines {
        place = (place * 5 + 1) % lines;
        let pages = place * stride / PAGE_BYTES;
        line(text, &format!("add x10, x9, #{pages}, lsl #12\nldrb w10, [x10]"));
    }
    line(text, "dsb sy");
}

/// Loads from `pages` pages, a multiple of [`PAGES_OF_L1`], in an order without a stride. Their
/// lines take turns in a quarter of the page, so that they have many sets of the caches for
/// themselves. The loads of one group have no branch between them that could be mispredicted, and
/// no group begins on a wrong path.
fn touch_pages(text: &mut String, quarter: u64, pages: u64) {
    address(text, 9, PAGES + quarter);
    let (groups, last) = (pages / PAGES_OF_L1, PAGES_OF_L1 - 1);
    line(
        text,
        &format!(
            "mov x11, #{groups}\n2:\nisb\n.set place, 0\n.rept {PAGES_OF_L1}\n\
             .set place, (place * 5 + 1) & {last}\nadd x10, x9, #place, lsl #12\n\
             ldrb w10, [x10, #(((place >> 2) & 15) * 64)]\n.endr\n\
             add x9, x9, #{PAGES_OF_L1}, lsl #12\nsubs x11, x11, #1\nb.ne 2b\ndsb sy"
        ),
    );
}

/// Calls functions in [`PAGES_OF_L1`] pages, in the order of [`touch_pages`].
fn call_pages(text: &mut String, quarter: u64) {
    address(text, 9, CODE_PAGES + quarter + FUNCTION_IN_LINE);
    let last = PAGES_OF_L1 - 1;
    line(
        text,
        &format!(
            ".set place, 0\n.rept {PAGES_OF_L1}\n.set place, (place * 5 + 1) & {last}\n\
             add x10, x9, #place, lsl #12\nadd x10, x10, #(((place >> 2) & 15) * 64)\nblr x10\n\
             .endr\ndsb sy\nisb"
        ),
    );
}

/// Returns the offset of the function in a line of the program's memory.
fn function_in_line(addr: u64) -> u64 {
    addr / LINE_BYTES * LINE_BYTES + FUNCTION_IN_LINE
}

/// Puts the address of an offset into X`register`.
fn address(text: &mut String, register: u32, offset: u64) {
    let (low, high) = (offset & 0xffff, offset >> 16);
    line(
        text,
        &format!(
            "movz x{register}, #{low}\nmovk x{register}, #{high}, lsl #16\n\
             add x{register}, x19, x{register}"
        ),
    );
}

/// Puts the number of the page of an offset into X`register`, as `TLBI` takes it, with ASID 0: so
/// `TLBI VAE1` takes out global pages alone, and those of the module must be global.
fn page_number(text: &mut String, register: u32, offset: u64) {
    address(text, register, offset);
    let x = register;
    line(text, &format!("ubfx x{x}, x{x}, #12, #44"));
}

/// Writes what a step of EL1 has before it.
fn write_before(text: &mut String, before: &Before) {
    match before {
        Before::OwnValue(register) => line(text, &format!("mrs x1, {register}")),
        Before::Page(addr) => page_number(text, 1, *addr),
        Before::Return => line(text, RETURN_STATE),
        Before::Vector | Before::Nothing => {}
    }
}

/// Writes a step whose exception leads to what follows it: the step is the last instruction before
/// the vector, so that the function without it comes there too. No branch goes to the vector, which
/// a recorder would take for an exception.
fn write_to_vector(text: &mut String, step: &PlannedStep, runs: bool) {
    let fill = SYNCHRONOUS_VECTOR - if runs { 8 } else { 4 };
    line(
        text,
        &format!(
            "mrs x12, vbar_el1\nadr x9, 6f\nmsr vbar_el1, x9\nisb\nb 5f\n\
             .p2align 11\n6:\n.skip {fill}\n5:\nnop"
        ),
    );
    if runs {
        line(text, &format!(".inst 0x{:08x} // {}", step.word, step.text));
    }
    line(text, "msr vbar_el1, x12\nisb");
}

fn write_step(text: &mut String, step: &PlannedStep, runs: bool) {
    if step.hides_address {
        line(text, REVEALED);
    }
    write_operands(text, step);
    match &step.before {
        Some(Before::Vector) => return write_to_vector(text, step, runs),
        Some(before) => write_before(text, before),
        None => {}
    }
    match step.condition {
        Some(Condition::Zero(true)) => line(text, "cmp xzr, xzr"),
        Some(Condition::Zero(false)) => line(text, "cmp x20, #0"),
        Some(Condition::X0(zero)) => line(text, &format!("mov x0, #{}", u8::from(!zero))),
        Some(Condition::X2(zero)) => line(text, &format!("mov x2, #{}", u8::from(!zero))),
        None => {}
    }
    if let Some(addr) = step.fetches {
        return write_fetch(text, step, addr, runs);
    }
    if step.wrong_path {
        write_wrong_path(text, step, runs);
        return write_after(text, step);
    }
    if let Some(register) = step.returns_to {
        return write_return(text, step, register, runs);
    }
    if let Some(register) = step.indirect {
        write_target(text, step, register);
    }
    if runs {
        line(text, &format!(".inst 0x{:08x} // {}", step.word, step.text));
    }
    // A taken branch skips this word; the function without it does not have it then.
    if step.skips && (runs || !step.taken) {
        line(text, "nop");
    }
    if step.indirect.is_some() {
        line(text, &format!("3:\n{JUMPED_TO}"));
    } else if step.before == Some(Before::Return) {
        line(text, "3:");
    }
    write_after(text, step);
}

/// Writes what gives an indirect branch its target, signed for `BRAAZ` and `BLRAAZ`.
fn write_target(text: &mut String, step: &PlannedStep, register: u8) {
    line(text, "adr x4, 3f\nmov x30, x4");
    if ![4, 30].contains(&register) {
        line(text, &format!("mov x{register}, x4"));
    }
    let register = u32::from(register);
    if [0xd61f_081f, 0xd63f_081f].map(|word| word | register << 5).contains(&step.word) {
        let word = 0xdac1_23e0 | register;
        line(text, &format!(".inst 0x{word:08x} // paciza or pacizb"));
    }
}

/// Writes what follows a step: all elements are active again, and its address is shown.
fn write_after(text: &mut String, step: &PlannedStep) {
    if !step.has_all_elements() {
        line(text, PTRUE);
    }
    if step.hides_address {
        line(text, "dsb sy");
        reveal(text, step.operands.base.map_or(1, |base| base.register.into()));
    }
}

/// Writes what gives a step its address, predicate and offsets.
fn write_operands(text: &mut String, step: &PlannedStep) {
    let operands = &step.operands;
    if sim_isa::is_sve(step.word) {
        match operands.predicate {
            Predicate::All => {}
            Predicate::None => line(text, PFALSE),
            Predicate::First { active, bytes } => {
                let word = 0x2529_1fe0 | bytes.trailing_zeros() << 22;
                line(
                    text,
                    &format!("mov x9, #{active}\n.inst 0x{word:08x} // whilelo p0, xzr, x9"),
                );
            }
        }
    }
    if let Some(offsets) = &operands.offsets {
        write_offsets(text, offsets);
    }
    if let Some(base) = operands.base {
        address(text, base.register.into(), base.offset);
    }
}

/// Shifts the offsets of a gather into Z3, the last one first.
fn write_offsets(text: &mut String, offsets: &Offsets) {
    line(text, ".inst 0x25f8c003 // mov z3.d, #0");
    let word = 0x0524_3923 | offsets.bytes.trailing_zeros() << 22;
    for offset in offsets.values.iter().rev() {
        let (low, high) = (offset & 0xffff, offset >> 16);
        line(
            text,
            &format!(
                "movz x9, #{low}\nmovk x9, #{high}, lsl #16\n.inst 0x{word:08x} // insr z3, x9"
            ),
        );
    }
}

/// Writes a call of the function in a line. Without the step the call goes to a function beside it,
/// so that all else is alike.
fn write_fetch(text: &mut String, step: &PlannedStep, addr: u64, runs: bool) {
    if runs {
        line(text, "adr x4, 8f");
    }
    address(text, 4, function_in_line(addr));
    if !runs {
        line(text, "adr x4, 8f");
    }
    let call = format!(".inst 0x{:08x} // {}", step.word, step.text);
    line(text, &format!("{call}\nb 9f\n8:\n{CALLED}\nret\n9:"));
}

/// Writes a return after a call, so that it is predicted: the call leads to the return, which leads
/// to the branch after the call. Without the return, a branch takes its place.
fn write_return(text: &mut String, step: &PlannedStep, register: u8, runs: bool) {
    line(text, "bl 4f\nb 3f\n4:");
    match register {
        30 => {}
        // An authenticated return names no register.
        31 => line(text, PACIASP),
        _ => line(text, &format!("mov x{register}, x30")),
    }
    match runs {
        true => line(text, &format!(".inst 0x{:08x} // {}", step.word, step.text)),
        false => line(text, "b 3f"),
    }
    line(text, &format!("3:\n{JUMPED_TO}"));
}

/// Writes a step on a wrong path: after a call whose return goes elsewhere. A return is predicted
/// to go back to its call, and this one resolves only after a chain of divisions. An access has an
/// architectural end too, for the trial.
fn write_wrong_path(text: &mut String, step: &PlannedStep, runs: bool) {
    line(text, &format!("adr x9, 5f\nmov x10, #1\n.rept {DIVISIONS}\nudiv x9, x9, x10\n.endr"));
    line(text, "bl 4f");
    if runs {
        line(text, &format!(".inst 0x{:08x} // {}", step.word, step.text));
        if step.skips {
            line(text, "nop");
        }
    }
    match step.needs_trial() {
        true => line(text, "b 5f\n4:\ncmp x13, #0\ncsel x30, x30, x9, eq"),
        false => line(text, &format!(".rept {STOPS}\nudf #0\n.endr\n4:\nmov x30, x9")),
    }
    line(text, "ret\n5:");
}

/// Loads through X`register`, far away and in another set of the L1 D-cache, so that the address
/// is known to a recorder that does not see operands of `DC`, `IC` and `PRFM`.
fn reveal(text: &mut String, register: u32) {
    let x = register;
    line(text, &format!("add x{x}, x{x}, #2048, lsl #12\nadd x{x}, x{x}, #2048\nldrb w10, [x{x}]"));
}

/// Appends lines, indented unless they are labels.
fn line(text: &mut String, lines: &str) {
    for one in lines.lines() {
        let indent = if one.ends_with(':') { "" } else { "    " };
        writeln!(text, "{indent}{one}").expect("a String takes all text");
    }
}
