//! Escaping that makes foreign text safe to print: names of files and functions, command lines and
//! notes of a trace.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};
use std::path::Path;

/// Text from outside the program.
///
/// Control characters could move the cursor of a terminal, set its clipboard, or forge a line of a
/// table. Marks of writing direction could disguise a name.
pub trait Shown {
    /// Returns the text on one line. Control characters and marks of writing direction become
    /// escapes (`\n`, `\x1b`, `\u{202e}`); bytes that are not UTF-8 become U+FFFD.
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

/// Returns text of several lines: keeps line ends and tabs, and escapes the rest as
/// [`Shown::shown`] does.
pub fn shown_lines(text: &str) -> Escaped<'_> {
    Escaped { text: Cow::Borrowed(text), keeps_lines: true }
}

/// Escaped text, returned by [`Shown::shown`]. Printing honors width and fill of the format.
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

/// Returns true for a character that acts instead of being visible: controls, line and paragraph
/// ends, marks of writing direction (Unicode Bidirectional Algorithm, section 2).
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
    fn characters_that_act_on_a_terminal_or_a_table_are_escaped() {
        let name = "a\x1b]52;c;aGk=\x07\nfake,1\r\t\u{9b}2J\u{202e}gpj.exe\x7f";
        let expected = r"a\x1b]52;c;aGk=\x07\nfake,1\r\t\x9b2J\u{202e}gpj.exe\x7f";
        assert_eq!(name.shown().to_string(), expected);
        assert_eq!(Path::new(name).shown().to_string(), expected);
    }

    #[test]
    fn visible_text_does_not_change() {
        for name in ["", "main", "Größe::λ<T>", r"C:\new", "a b", "名前"] {
            assert_eq!(name.shown().to_string(), name);
        }
        assert_eq!(format!("{:>6}|", "main".shown()), "  main|", "widths are kept");
        assert_eq!(Path::new(OsStr::from_bytes(b"\xff.n2t")).shown().to_string(), "\u{fffd}.n2t");
    }

    #[test]
    fn text_of_several_lines_keeps_its_lines() {
        assert_eq!(shown_lines("a\n\tb\x1b[2J").to_string(), "a\n\tb\\x1b[2J");
    }
}
