//! Remedies for words that other tools and assembly use: the step, address or key that was meant.

use sim_core::spelling::similar;

/// Words for a step of the language, in capital letters, with the step to write instead. In it,
/// `{n}` is the size of the access in bytes.
#[rustfmt::skip]
const STEPS: [(&[&str], &str); 14] = [
    (&["LOAD", "READ", "LDR", "LDUR"], "LD{n} 0x8000"),
    (&["STORE", "WRITE", "STR", "STUR"], "ST{n} 0x8000"),
    (&["LDRB", "LDURB", "LDRSB"], "LD1 0x8000"),
    (&["LDRH", "LDURH", "LDRSH"], "LD2 0x8000"),
    (&["LDRSW"], "LD4 0x8000"),
    (&["STRB", "STURB"], "ST1 0x8000"),
    (&["STRH", "STURH"], "ST2 0x8000"),
    (&["LDP", "LDNP"], "LDP16 0x8000"),
    (&["STP", "STNP"], "STP16 0x8000"),
    (&["LDXR", "LDAXR"], "LDX8 0x8000"),
    (&["STXR", "STLXR"], "STX8 0x8000"),
    (&["FETCH", "IFETCH"], "IF 0x8000"),
    (&["PRFM", "PREFETCH", "PRELOAD"], "PLD 0x8000"),
    (&["BRANCH", "JUMP"], "B.EQ taken"),
];

/// Sizes of one access in bytes.
const SIZES: [&str; 7] = ["1", "2", "4", "8", "16", "32", "64"];

/// Registers of assembly with the size of their contents, in bytes.
const REGISTERS: [(char, &str); 7] =
    [('X', "8"), ('W', "4"), ('Q', "16"), ('D', "8"), ('S', "4"), ('H', "2"), ('B', "1")];

/// Returns the step that `name` means, as a text to write. `rest` is the text after the name, such
/// as `X0, [X1]`.
pub(super) fn step(name: &str, rest: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let word = upper.trim_end_matches(|c: char| c.is_ascii_digit());
    let step = STEPS.iter().find(|(words, _)| words.contains(&word) || words.contains(&&*upper))?.1;
    let digits = &upper[word.len()..];
    let register = rest.trim_start().chars().next().map(|c| c.to_ascii_uppercase());
    let of_register = REGISTERS.iter().find(|(letter, _)| Some(*letter) == register);
    let size = match SIZES.contains(&digits) {
        true => digits,
        false => of_register.map_or("8", |(_, size)| size),
    };
    Some(step.replace("{n}", size))
}

/// Words for all addresses of the steps, with the subject of a clause to write instead.
const SUBJECTS: [(&[&str], &str); 2] = [
    (&["line", "cache-line", "cacheline", "Lines", "Line", "all", "everything", "data"], "lines"),
    (&["page", "Page", "Pages", "all-pages"], "pages"),
];

/// Returns the subject of a clause that `name` means.
pub(super) fn subject(name: &str) -> Option<&'static str> {
    SUBJECTS.iter().find(|(words, _)| words.contains(&name)).map(|(_, subject)| *subject)
}

/// Returns `; 'expect'?` for a misspelt key, and nothing for a key that resembles none.
pub(super) fn key(name: &str, known: &[&'static str]) -> String {
    let near = similar(name, known.iter().copied());
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_assembly_and_of_plain_words_are_found() {
        for (name, rest, expected) in [
            ("LOAD8", " 0x8000", "LD8 0x8000"),
            ("load", "", "LD8 0x8000"),
            ("LDR", " X0, [X1]", "LD8 0x8000"),
            ("LDR", " w0, [x1]", "LD4 0x8000"),
            ("str", " q0, [x1]", "ST16 0x8000"),
            ("STORE3", "", "ST8 0x8000"),
            ("LDRB", " W0, [X1]", "LD1 0x8000"),
        ] {
            assert_eq!(step(name, rest).as_deref(), Some(expected), "{name}{rest}");
        }
        assert_eq!(step("TLBI", " X"), None);
    }

    #[test]
    fn every_step_to_write_is_one_of_the_language() {
        for (words, text) in STEPS {
            let step = step(words[0], "").expect("a row");
            let names = super::super::cursor::Names::new();
            let mut cursor = super::super::cursor::Cursor::new(&step, 0);
            let read = super::super::steps::parse_steps(&mut cursor, &names);
            assert!(read.is_ok(), "{text}: {:?}", read.err());
        }
    }
}
