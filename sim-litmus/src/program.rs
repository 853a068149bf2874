//! The C program of all cases: runner, table of events, table of cases, and their functions.

use std::fmt::Write;

use sim_core::PmuEvent;
use sim_scenario::Case;
use xxhash_rust::xxh3::xxh3_64;

use crate::assembly::{MEMORY_BYTES, functions, mark, symbols};
use crate::plan::{Plan, is_compared, plan};
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
    text += "\n// ---- Functions of the cases ----\n";
    let marked = std::iter::once(mark(&mark_of(cases)));
    let both = cases.iter().enumerate().map(|(number, case)| functions(number, &case.plan));
    for lines in marked.chain(both) {
        text += "\n__asm__(\n    \".text\\n\"\n";
        for line in lines.lines() {
            writeln!(text, "    {}", c_string(&format!("{line}\n"))).expect(TAKES);
        }
        text += ");\n";
    }
    text += MAIN;
    text
}

const MAIN: &str = "
int main(int argc, char **argv) {
    return run(argc, argv, EVENTS, sizeof EVENTS / sizeof *EVENTS, CASES,
               sizeof CASES / sizeof *CASES, PROGRAM, MEMORY_BYTES);
}
";

fn write_events(text: &mut String) {
    *text += "\n// ---- Events ----\n\nstatic const struct event EVENTS[] = {\n";
    for event in counted_events() {
        let info = event.info();
        writeln!(text, "    {{\"{}\", 0x{:04x}}},", info.mnemonic, info.code).expect(TAKES);
    }
    *text += "};\n";
}

fn write_cases(text: &mut String, cases: &[Litmus]) {
    *text += "\n// ---- Cases ----\n\n";
    writeln!(text, "#define MEMORY_BYTES {MEMORY_BYTES}ul").expect(TAKES);
    writeln!(text, "#define PROGRAM {}\n", c_string(&mark_of(cases))).expect(TAKES);
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

const TAKES: &str = "a String takes all text";

/// Returns a string literal of C.
fn c_string(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '\n' => literal += "\\n",
            '"' | '\\' => literal.extend(['\\', character]),
            ' '..='~' => literal.push(character),
            _ => write!(literal, "\\{:03o}", u32::from(character).min(0o377)).expect(TAKES),
        }
    }
    literal.push('"');
    literal
}
