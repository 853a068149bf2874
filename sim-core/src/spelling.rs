//! Names that resemble a mistyped one, for messages.

/// Returns the known name that `name` most likely means: one that is a few letters away, or that
/// begins as `name` does. Returns `None` if no name resembles it. Of equal ones the first is taken.
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.len() / 3).max(1);
    let distance = |own: &str| match own.starts_with(name) && name.len() > 2 {
        true => 1,
        false => edit_distance(own, name),
    };
    let close = known.into_iter().filter(|own| distance(own) <= allowed);
    close.min_by_key(|own| distance(own))
}

/// Returns the Levenshtein distance in bytes.
pub fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_resemble_are_similar() {
        let known = ["expect", "others", "given", "set"];
        assert_eq!(similar("expects", known), Some("expect"));
        assert_eq!(similar("other", known), Some("others"));
        assert_eq!(similar("gven", known), Some("given"));
        assert_eq!(similar("cycles", known), None);
        assert_eq!(similar("", known), None);
    }
}
