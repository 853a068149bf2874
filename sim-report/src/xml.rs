//! Texts in drawings.

/// Escapes a text for XML. Characters that XML forbids become blanks.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_escaped_and_what_xml_forbids_is_blank() {
        assert_eq!(escaped("a<b> & \"c\"\nd"), "a&lt;b&gt; &amp; &quot;c&quot;\nd");
        assert_eq!(escaped("a\u{1b}b\0c\u{fffe}"), "a b c ");
    }
}
