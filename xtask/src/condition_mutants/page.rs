//! The page of survivors: written, and read again by a later run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;

use super::{Mutant, State};

/// Writes the results so far: numbers of each crate, then the survivors.
pub(super) fn write(path: &Path, mutants: &[Mutant<'_>]) -> anyhow::Result<()> {
    // A run that is stopped during the write keeps the old page.
    let new = path.with_extension("new");
    std::fs::write(&new, page(mutants)).with_context(|| new.display().to_string())?;
    std::fs::rename(&new, path).with_context(|| path.display().to_string())
}

fn page(mutants: &[Mutant<'_>]) -> String {
    let mut page = String::from(
        "# Wrong conditions\n\n| Crate | Tried | Noticed | Survive | Not asked yet |\n|-|-|-|-|-|\n",
    );
    let mut crates: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for mutant in mutants {
        let numbers = crates.entry(mutant.folder()).or_default();
        numbers[0] += 1;
        numbers[match mutant.state {
            State::Noticed => 1,
            State::Survives | State::Unasked => 2,
            State::Waits => 3,
        }] += 1;
    }
    for (name, [tried, noticed, survive, wait]) in crates {
        let _ = writeln!(page, "| {name} | {tried} | {noticed} | {survive} | {wait} |");
    }
    page.push_str("\n| File | Line | Condition | Fault | Asked |\n|-|-|-|-|-|\n");
    for mutant in mutants.iter().filter(|mutant| mutant.state != State::Noticed) {
        let asked = match mutant.state {
            State::Waits => "not yet",
            State::Unasked => "no",
            State::Survives | State::Noticed => "yes",
        };
        let [file, text, fault] = key(mutant);
        let _ = writeln!(page, "| {file} | {} | {text} | {fault} | {asked} |", mutant.site.line);
    }
    page
}

/// Returns the fields of a row that do not depend on the line number.
fn key(mutant: &Mutant<'_>) -> [String; 3] {
    let text = format!("`{}`", mutant.site.text.replace('|', "\\|"));
    [mutant.file.to_owned(), text, mutant.fault_name().to_owned()]
}

/// Marks all mutants as noticed but the survivors of an earlier page. Equal conditions of a file
/// match each other, because line numbers change.
///
/// # Errors
/// The page cannot be read, or is not a page of survivors.
pub(super) fn keep_survivors(path: &Path, mutants: &mut [Mutant<'_>]) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let survivors: BTreeSet<[String; 3]> = text.lines().filter_map(row).collect();
    anyhow::ensure!(
        !survivors.is_empty(),
        "{}: no row names a condition; give a page of `condition-mutants`",
        path.display()
    );
    for mutant in mutants.iter_mut().filter(|mutant| !survivors.contains(&key(mutant))) {
        mutant.state = State::Noticed;
    }
    Ok(())
}

fn row(line: &str) -> Option<[String; 3]> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
    let &[file, _, text, fault, _] = &cells[..] else { return None };
    text.starts_with('`').then(|| [file, text, fault].map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Site};
    use super::*;

    #[test]
    fn a_page_that_was_written_reads_back_equal() {
        let site = |line, text: &str| Site { line, text: text.to_owned(), kind: Kind::Truth };
        let sites = [site(3, "all(|c| c | 1 == 2)"), site(5, "b")];
        let mutant = |i: usize, state| Mutant {
            file: "sim-cache/src/a.rs",
            site: &sites[i],
            number: 1,
            fault: 0,
            state,
            is_in_a_case: false,
        };
        let before = page(&[mutant(0, State::Survives), mutant(1, State::Noticed)]);
        assert!(before.contains("| sim-cache | 2 | 1 | 1 | 0 |"), "{before}");
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("page.md");
        std::fs::write(&file, before).expect("it is written");
        let mut again = [mutant(0, State::Waits), mutant(1, State::Waits)];
        keep_survivors(&file, &mut again).expect("it is a page");
        assert_eq!([&again[0].state, &again[1].state], [&State::Waits, &State::Noticed]);
    }
}
