//! Text of the source lines that a report names.

use std::collections::{BTreeMap, BTreeSet};

use super::RunReport;

/// Lines before and after the line of a finding whose text is in the report too.
const CONTEXT: u32 = 2;
/// Longest text of a line, in characters; the rest is left out.
const MAX_CHARS: usize = 200;

impl RunReport {
    /// Adds the text of the source lines that the report names. `read` returns the text of a source
    /// file, or `None` if it is not there.
    #[must_use]
    pub fn with_source(mut self, mut read: impl FnMut(&str) -> Option<String>) -> RunReport {
        for (file, lines) in self.named_lines() {
            let Some(text) = read(&file) else { continue };
            let numbered = (1_u32..).zip(text.lines());
            let named = numbered.filter(|(number, _)| lines.contains(number));
            self.source.extend(named.map(|(number, text)| (key(&file, number), plain(text))));
        }
        self
    }

    /// Returns the text of a line, `file.c:12`, if the report has it.
    pub fn source_text(&self, line: &str) -> Option<&str> {
        self.source.get(line).map(String::as_str)
    }

    /// Returns the lines around a line, `file.c:12`, that the report has: number, text, share of
    /// all slots in percent.
    pub fn source_around(&self, line: &str) -> Vec<(u32, &str, f64)> {
        let Some((file, at)) = split(line) else { return Vec::new() };
        let share = |number| {
            let own = self.code.lines.iter().filter(|own| own.line == number && own.file == file);
            own.map(|own| own.cost.percent).sum()
        };
        let text = |number| Some((number, self.source_text(&key(file, number))?, share(number)));
        around(at).filter_map(text).collect()
    }

    /// Returns the lines that the report names, by file.
    fn named_lines(&self) -> BTreeMap<String, BTreeSet<u32>> {
        let mut named: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for line in &self.code.lines {
            named.entry(line.file.clone()).or_default().insert(line.line);
        }
        let listed = self.listings.iter().flat_map(|listing| &listing.rows);
        for (file, number) in listed.filter_map(|row| split(row.line.as_deref()?)) {
            named.entry(file.to_owned()).or_default().insert(number);
        }
        let places = self.findings.iter().filter_map(|finding| finding.place.as_ref());
        for (file, number) in places.filter_map(|hot| split(hot.place.line.as_deref()?)) {
            named.entry(file.to_owned()).or_default().extend(around(number));
        }
        named
    }
}

fn around(line: u32) -> std::ops::RangeInclusive<u32> {
    line.saturating_sub(CONTEXT).max(1)..=line.saturating_add(CONTEXT)
}

fn key(file: &str, line: u32) -> String {
    format!("{file}:{line}")
}

/// Splits `file.c:12`.
fn split(line: &str) -> Option<(&str, u32)> {
    let (file, number) = line.rsplit_once(':')?;
    Some((file, number.parse().ok()?))
}

/// Returns a line with blanks instead of tabs and control characters, as long as a page shows.
fn plain(text: &str) -> String {
    let text = text.trim_end().replace('\t', "    ");
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_text_without_control_characters() {
        assert_eq!(plain("\tif (a)\u{1b}[2J \r"), "    if (a) [2J");
        assert_eq!(plain(&"x".repeat(900)).len(), MAX_CHARS);
        assert_eq!(split("/src/a:b.c:12"), Some(("/src/a:b.c", 12)));
        assert_eq!(split("a.c"), None);
        assert_eq!(around(1), 1..=3);
        assert_eq!(around(u32::MAX).count(), 3);
    }
}
