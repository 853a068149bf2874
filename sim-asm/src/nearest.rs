//! The known name most like a given one.

/// Returns the name with the fewest letters to insert, delete or replace, if they are few.
pub(crate) fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = given.chars().count().div_ceil(2).min(3);
    names
        .map(|name| (distance(given, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= limit)
        .map(|(_, name)| name)
}

fn distance(a: &str, b: &str) -> usize {
    // Longer names are no misspelling of a mnemonic.
    if a.len() > 32 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_is_found_and_noise_is_not() {
        let names = || ["add", "ldr", "madd", "cbnz"].into_iter();
        assert_eq!(nearest("ad", names()), Some("add"));
        assert_eq!(nearest("maddd", names()), Some("madd"));
        assert_eq!(nearest("xyzxyz", names()), None);
        assert_eq!(nearest("", names()), None);
    }
}
