//! Numbers with their nouns and verbs.

use std::fmt::Display;

/// Returns a number with its noun: `1 lesson`, `12 lessons`.
pub(crate) fn number_of<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns the form of a verb or noun for a number: `agrees` of one, `agree` of several.
pub(crate) fn form_for<'a>(number: usize, of_one: &'a str, of_several: &'a str) -> &'a str {
    if number == 1 { of_one } else { of_several }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0_u64, 1, 2].map(|n| number_of(n, "case")), ["0 cases", "1 case", "2 cases"]);
        assert_eq!([1, 2].map(|n| form_for(n, "differs", "differ")), ["differs", "differ"]);
    }
}
