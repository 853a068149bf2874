//! Text from outside, made safe to print: names of files and functions, command lines, notes of a trace.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};
use std::path::Path;

/// Text that somebody else wrote.
///
/// Control characters would move the cursor of a terminal, set its clipboard, or forge a line of a table;
/// marks of writing direction would show a name other than the one that is there.
pub trait Shown {
    /// The text on one line: each such character stands as an escape (`\n`, `\x1b`, `\u{202e}`), and bytes that
    /// are no UTF-8 as U+FFFD.
    fn shown(&self) -> Escaped<'_>;
}

impl Shown for str {
    fn shown(&self) -> Escaped<'_> {
        Escaped { text: Cow::Borrowed(self), keeps_lines: false }
    }
}

impl Shown for Path {
    fn shown(&self) -> Escaped<'_> {
        Escaped { text: self.to_string_lossy(), keeps_lines: false }
    }
}

/// Text of several lines: ends of lines and tabulators stay, all else as [`Shown::shown`] has it.
pub fn shown_lines(text: &str) -> Escaped<'_> {
    Escaped { text: Cow::Borrowed(text), keeps_lines: true }
}

/// What [`Shown::shown`] prints; widths and fills of the format are kept.
pub struct Escaped<'a> {
    text: Cow<'a, str>,
    keeps_lines: bool,
}

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_escaped = |c: char| acts(c) && !(self.keeps_lines && matches!(c, '\n' | '\t'));
        if !self.text.contains(is_escaped) {
            return f.pad(&self.text);
        }
        let mut escaped = String::with_capacity(self.text.len() + 8);
        for c in self.text.chars() {
            match c {
                c if !is_escaped(c) => escaped.push(c),
                '\n' => escaped.push_str("\\n"),
                '\r' => escaped.push_str("\\r"),
                '\t' => escaped.push_str("\\t"),
                c if u32::from(c) < 0x100 => write!(escaped, "\\x{:02x}", u32::from(c))?,
                c => write!(escaped, "\\u{{{:x}}}", u32::from(c))?,
            }
        }
        f.pad(&escaped)
    }
}

/// True for a character that does something instead of being seen: controls, ends of lines and paragraphs, marks of
/// writing direction (Unicode Bidirectional Algorithm, section 2).
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_acts_on_a_terminal_or_a_table_stands_as_an_escape() {
        let name = "a\x1b]52;c;aGk=\x07\nfake,1\r\t\u{9b}2J\u{202e}gpj.exe\x7f";
        let expected = r"a\x1b]52;c;aGk=\x07\nfake,1\r\t\x9b2J\u{202e}gpj.exe\x7f";
        assert_eq!(name.shown().to_string(), expected);
        assert_eq!(Path::new(name).shown().to_string(), expected);
    }

    #[test]
    fn what_is_only_seen_stays_as_it_is() {
        for name in ["", "main", "Größe::λ<T>", r"C:\new", "a b", "名前"] {
            assert_eq!(name.shown().to_string(), name);
        }
        assert_eq!(format!("{:>6}|", "main".shown()), "  main|", "widths are kept");
        assert_eq!(Path::new(OsStr::from_bytes(b"\xff.n2t")).shown().to_string(), "\u{fffd}.n2t");
    }

    #[test]
    fn a_text_of_several_lines_keeps_its_lines() {
        assert_eq!(shown_lines("a\n\tb\x1b[2J").to_string(), "a\n\tb\\x1b[2J");
    }
}
