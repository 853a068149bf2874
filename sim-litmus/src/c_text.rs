//! Text of C.

use std::fmt::Write;

/// Reason why text is always written.
pub(crate) const TAKES: &str = "a String takes all text";

/// Returns a string literal of C.
pub(crate) fn c_string(text: &str) -> String {
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
