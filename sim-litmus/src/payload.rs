//! The payload for a bare machine: runs the cases of EL1 without counting, for a recording.

use std::fmt::Write;

use crate::assembly::{functions, mark, symbols};
use crate::c_text::TAKES;
use crate::program::{Litmus, mark_of};

/// The runner, which calls the functions of its table.
const RUNNER: &str = include_str!("../program/payload.S");
/// Function that ends the last one.
const END: &str = "litmus_end";

/// Returns the text of the payload: assembly for an image that boots as a Linux kernel does.
pub fn text(cases: &[Litmus]) -> String {
    let mut text = String::from(RUNNER);
    text += "\n// ---- Cases ----\n\n    .balign 8\ntable:\n";
    for (number, case) in cases.iter().enumerate() {
        let [with, without] = symbols(number);
        let (rounds, id) = (case.plan.rounds, &case.id);
        writeln!(text, "    .quad {with}, {without}, {rounds}   // {id}").expect(TAKES);
    }
    text += "    .quad 0\n\n// ---- Functions of the cases ----\n\n    .text\n";
    text += &mark(&mark_of(cases));
    for (number, case) in cases.iter().enumerate() {
        text += &functions(number, &case.plan);
    }
    text + &mark(END)
}
