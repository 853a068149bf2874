//! The C program of all cases: runner, table of events, table of cases, and their functions.

use std::fmt::Write;

use sim_core::PmuEvent;
use sim_scenario::Case;
use xxhash_rust::xxh3::xxh3_64;

use crate::assembly::{MEMORY_BYTES, functions, mark, symbols};
use crate::c_text::{TAKES, c_string};
use crate::kernels;
use crate::plan::{Plan, is_compared, plan, plan_el1};
use crate::reason::Reason;

/// The runner, which reads the tables.
const RUNNER: &str = include_str!("../program/runner.c");

/// A case that the program has.
#[derive(Clone, Debug, PartialEq)]
pub struct Litmus {
    /// Name: that of its file without extension, a colon, and that of the case.
    pub id: String,
    /// The case.
    pub case: Case,
    /// Its work.
    pub plan: Plan,
}

/// A case that the program does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Name, as in [`Litmus::id`].
    pub id: String,
    /// Reason.
    pub reason: Reason,
}

/// Returns the cases that a program of user mode can run, and the others. `files` are names of
/// scenario files without extension, with their cases.
pub fn select(files: &[(String, Vec<Case>)]) -> (Vec<Litmus>, Vec<LeftOut>) {
    let mut chosen = Vec::new();
    let mut left_out = Vec::new();
    for (file, cases) in files {
        for case in cases {
            let id = format!("{file}:{}", case.test);
            match plan(case) {
                Ok(plan) => chosen.push(Litmus { id, case: case.clone(), plan }),
                Err(reason) => left_out.push(LeftOut { id, reason }),
            }
        }
    }
    (chosen, left_out)
}

/// Returns the cases that a module of the kernel can run, and the others, of those that user mode
/// cannot run because they need EL1.
pub fn select_el1(files: &[(String, Vec<Case>)]) -> (Vec<Litmus>, Vec<LeftOut>) {
    let mut chosen = Vec::new();
    let mut left_out = Vec::new();
    for (file, cases) in files {
        for case in cases.iter().filter(|case| plan(case) == Err(Reason::NeedsEl1)) {
            let id = format!("{file}:{}", case.test);
            match plan_el1(case) {
                Ok(plan) => chosen.push(Litmus { id, case: case.clone(), plan }),
                Err(reason) => left_out.push(LeftOut { id, reason }),
            }
        }
    }
    (chosen, left_out)
}

/// Returns the events that the program counts: all that a case can claim and a counter can show.
pub fn counted_events() -> impl Iterator<Item = PmuEvent> {
    PmuEvent::ALL.into_iter().filter(|event| is_compared(*event) && !event.never_counts())
}

/// Returns the name of a function that a program of these cases has, and no program of others.
pub fn mark_of(cases: &[Litmus]) -> String {
    let mut all = String::new();
    for (number, case) in cases.iter().enumerate() {
        all += &case.id;
        all += &functions(number, &case.plan);
    }
    format!("litmus_cases_{:016x}", xxh3_64(all.as_bytes()))
}

/// Returns the text of the program.
pub fn text(cases: &[Litmus]) -> String {
    let mut text = String::from(RUNNER);
    write_events(&mut text);
    write_cases(&mut text, cases);
    let kernels = kernels::all();
    let with_pairs = [&kernels[..], &kernels::pairs()].concat();
    kernels::write_table(&mut text, &with_pairs);
    text += "\n// ---- Functions of the cases ----\n";
    write_assembly(&mut text, &mark(&mark_of(cases)));
    for (number, case) in cases.iter().enumerate() {
        write_assembly(&mut text, &functions(number, &case.plan));
    }
    text += "\n// ---- Functions of the kernels ----\n";
    // A recording of the kernels alone names functions of pages that it has, so also the mark.
    write_assembly(&mut text, &format!(".p2align 12\n{}", mark(&kernels::mark())));
    write_assembly(&mut text, &kernels::touch());
    for (number, kernel) in with_pairs.iter().enumerate() {
        if number == kernels.len() {
            write_assembly(&mut text, &format!(".p2align 12\n{}", mark(&kernels::pair_mark())));
        }
        write_assembly(&mut text, &kernels::functions(number, kernel));
    }
    text += MAIN;
    text
}

/// Writes assembly as a statement of C.
pub(crate) fn write_assembly(text: &mut String, lines: &str) {
    *text += "\n__asm__(\n    \".text\\n\"\n";
    for line in lines.lines() {
        writeln!(text, "    {}", c_string(&format!("{line}\n"))).expect(TAKES);
    }
    *text += ");\n";
}

const MAIN: &str = "
int main(int argc, char **argv) {
    static const struct tables TABLES = {EVENTS,  sizeof EVENTS / sizeof *EVENTS,
                                         CASES,   sizeof CASES / sizeof *CASES,
                                         KERNELS, sizeof KERNELS / sizeof *KERNELS,
                                         PROGRAM, KERNEL_PROGRAM, MEMORY_BYTES};
    return run(argc, argv, &TABLES);
}
";

fn write_events(text: &mut String) {
    *text += "\n// ---- Events ----\n\nstatic const struct event EVENTS[] = {\n";
    // Those of cases are first.
    let (of_cases, others): (Vec<_>, Vec<_>) =
        kernels::counted_events().partition(|event| is_compared(*event));
    for event in of_cases.into_iter().chain(others) {
        let (info, in_cases) = (event.info(), u8::from(is_compared(event)));
        let (name, code) = (info.mnemonic, info.code);
        writeln!(text, "    {{\"{name}\", 0x{code:04x}, {in_cases}}},").expect(TAKES);
    }
    *text += "};\n";
}

fn write_cases(text: &mut String, cases: &[Litmus]) {
    *text += "\n// ---- Cases ----\n\n";
    writeln!(text, "#define MEMORY_BYTES {MEMORY_BYTES}ul").expect(TAKES);
    writeln!(text, "#define PROGRAM {}", c_string(&mark_of(cases))).expect(TAKES);
    writeln!(text, "#define KERNEL_PROGRAM {}\n", c_string(&kernels::mark())).expect(TAKES);
    for symbol in (0..cases.len()).flat_map(symbols) {
        writeln!(text, "void {symbol}(void *memory, unsigned long rounds);").expect(TAKES);
    }
    *text += "\nstatic const struct litmus CASES[] = {\n";
    for (number, case) in cases.iter().enumerate() {
        let Plan { small_pages, needs_blocks, rounds, .. } = case.plan;
        let (small, blocks) = (u8::from(small_pages), u8::from(needs_blocks));
        let (id, [with, without]) = (c_string(&case.id), symbols(number));
        writeln!(text, "    {{{id}, {with}, {without}, {rounds}, {small}, {blocks}}},")
            .expect(TAKES);
    }
    *text += "};\n";
}
