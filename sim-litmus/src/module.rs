//! The source of a Linux kernel module that counts the cases of EL1.

use std::fmt::Write;

use crate::assembly::{EL1_MEMORY_BYTES, functions, mark, symbols};
use crate::c_text::{TAKES, c_string};
use crate::program::{Litmus, counted_events, mark_of, write_assembly};

/// The runner, which counts the cases of its tables.
const RUNNER: &str = include_str!("../program/module.c");

/// Rules for the build system of the kernel.
pub const MAKEFILE: &str = include_str!("../program/module.mk");

/// The end of the text, which gives the runner its tables.
const ENDS: &str = "
static int __init litmus_init(void)
{
    static const struct tables TABLES = { EVENTS, ARRAY_SIZE(EVENTS), CASES, ARRAY_SIZE(CASES), PROGRAM, MEMORY_BYTES };

    return start(&TABLES);
}

static void __exit litmus_exit(void)
{
    stop();
}

module_init(litmus_init);
module_exit(litmus_exit);
MODULE_DESCRIPTION(\"Counts small cases at EL1 with the performance counters of this machine\");
MODULE_LICENSE(\"Dual MIT/GPL\");
";

/// Returns the text of the module.
pub fn text(cases: &[Litmus]) -> String {
    let mut text = String::from(RUNNER);
    text += "\n// ---- Events ----\n\nstatic const struct event EVENTS[] = {\n";
    for event in counted_events() {
        let (name, code) = (event.info().mnemonic, event.info().code);
        writeln!(text, "    {{\"{name}\", 0x{code:04x}}},").expect(TAKES);
    }
    text += "};\n\n// ---- Cases ----\n\n";
    writeln!(text, "#define MEMORY_BYTES {EL1_MEMORY_BYTES}ul").expect(TAKES);
    writeln!(text, "#define PROGRAM {}\n", c_string(&mark_of(cases))).expect(TAKES);
    for symbol in (0..cases.len()).flat_map(symbols) {
        writeln!(text, "void {symbol}(void *memory, unsigned long rounds);").expect(TAKES);
    }
    text += "\nstatic const struct litmus CASES[] = {\n";
    for (number, case) in cases.iter().enumerate() {
        let (id, [with, without]) = (c_string(&case.id), symbols(number));
        let (rounds, alone) = (case.plan.rounds, u8::from(case.plan.is_of_el1_alone()));
        writeln!(text, "    {{{id}, {with}, {without}, {rounds}, {alone}}},").expect(TAKES);
    }
    text += "};\n\n// ---- Functions of the cases ----\n";
    write_assembly(&mut text, &mark(&mark_of(cases)));
    for (number, case) in cases.iter().enumerate() {
        write_assembly(&mut text, &functions(number, &case.plan));
    }
    text + ENDS
}
