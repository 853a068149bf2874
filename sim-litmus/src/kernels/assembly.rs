//! Assembly text of a kernel: a function that is counted, and one that calls it between the marks
//! of a recording.
//!
//! Both take the address of the kernel's memory (X0) and the number of rounds (X1). X2 holds the
//! address of words that outlive a call ([`CHAIN`], [`SEED`], [`POSITION`]). A kernel uses X3 to
//! X17 and V0 to V10.

use std::fmt::Write;

use super::kernel::Kernel;

/// Name of the array of words that outlive a call.
pub(crate) const STATE: &str = "litmus_state";
/// Offset of the first of 16 pointers into the cycle of the memory, evenly spread.
pub(super) const CHAIN: u64 = 0;
/// Offset of a random number.
pub(super) const SEED: u64 = 16 * 8;
/// Offset of the place that a stream has reached.
pub(super) const POSITION: u64 = 17 * 8;
/// Landing pad of a function that is called through a pointer (`bti c`).
const CALLED: &str = "hint #34";
/// Landing pad of an indirect jump (`bti j`).
pub(super) const JUMPED_TO: &str = "hint #36";

/// Next number of a xorshift generator in X5.
pub(super) const NEXT_RANDOM: &str =
    "eor x5, x5, x5, lsl #13\neor x5, x5, x5, lsr #7\neor x5, x5, x5, lsl #17";

/// Returns the name of the function that is counted.
pub(super) fn symbol(number: usize) -> String {
    format!("kernel_{number}")
}

/// Returns the name of the function that calls it.
pub(crate) fn caller(number: usize) -> String {
    format!("kernel_{number}_call")
}

/// Returns the name of the function of the other core.
pub(crate) fn peer(number: usize) -> String {
    format!("kernel_{number}_peer")
}

/// Returns the functions of a kernel.
pub(super) fn functions_of(number: usize, kernel: &Kernel) -> String {
    let (symbol, caller) = (symbol(number), caller(number));
    let mut text = String::new();
    function(
        &mut text,
        &caller,
        &format!(
            "{CALLED}\nstp x29, x30, [sp, #-16]!\nhint #40\nadrp x2, {STATE}\n\
             add x2, x2, :lo12:{STATE}\nbl {symbol}\nhint #41\nldp x29, x30, [sp], #16\nret"
        ),
    );
    let code = &kernel.code;
    let (repeats, rounds) = (code.repeats, code.repeats * code.rounds);
    let body = match repeats {
        1 => code.body.clone(),
        _ => format!(".rept {repeats}\n{}\n.endr", code.body),
    };
    let parts = [
        "stp x29, x30, [sp, #-16]!",
        &code.enter,
        ".p2align 6\n1:",
        &body,
        &format!("subs x1, x1, #{rounds}\nb.hi 1b"),
        &code.leave,
        // All that the loop began ends in the function, and is counted there.
        "dsb sy\nisb\nldp x29, x30, [sp], #16\nret",
        &code.callees,
    ];
    function(&mut text, &symbol, &parts.join("\n"));
    if !code.peer.is_empty() {
        function(&mut text, &peer(number), &format!("{CALLED}\n{}", code.peer));
    }
    text
}

/// Returns the function that loads from memory (X0) of so many bytes (X1): from 32 lines, every X2
/// bytes.
pub(crate) fn touch(symbol: &str) -> String {
    let mut text = String::new();
    let body = format!(
        "{CALLED}\nhint #40\nadd x1, x0, x1\n1:\n.set line, 0\n.rept 32\nldr x3, [x0, #(line * 64)]\n\
         .set line, line + 1\n.endr\nadd x0, x0, x2\ncmp x0, x1\nb.lo 1b\nhint #41\nret"
    );
    function(&mut text, symbol, &body);
    text
}

fn function(text: &mut String, symbol: &str, body: &str) {
    let mut line = |line: &str| writeln!(text, "{line}").expect("a String takes all text");
    line(&format!(".p2align 6\n.globl {symbol}\n.type {symbol}, %function\n{symbol}:"));
    for one in body.lines().filter(|line| !line.is_empty()) {
        let indent = if one.ends_with(':') { "" } else { "    " };
        line(&format!("{indent}{one}"));
    }
    line(&format!(".size {symbol}, .-{symbol}"));
}
