//! The examples of the book hold: commands print the output below them, quotations equal their
//! files, links lead somewhere, and every exercise has an answer.
//!
//! `N2SIM_BLESS=1 cargo test -p n2sim --test all book::` writes the current outputs; read the
//! difference.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod exercises;
mod figures;
mod page;
mod runs;
mod sharing;
mod site;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use page::{Block, Page};
use sim_core::{A53Event, PmuEvent};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn book() -> PathBuf {
    repository().join("docs/book")
}

/// Files of a folder of the book that end in `.extension`.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(book().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "docs/book/{folder} holds .{extension} files");
    files
}

fn pages() -> Vec<Page> {
    files("src", "md").iter().map(|path| Page::read(path)).collect()
}

/// Fails with one line per fault.
fn expect_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_command_prints_what_the_book_shows() {
    let bless = std::env::var_os("N2SIM_BLESS").is_some();
    let pages = pages();
    let faults: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            pages.iter().map(|page| scope.spawn(move || runs::check(page, bless))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    expect_none(&faults);
    let commands = pages.iter().flat_map(|page| &page.blocks).map(|block| block.commands().len());
    assert!(commands.sum::<usize>() > 40, "the book runs what it says");
}

#[test]
fn every_quotation_in_the_book_equals_its_file() {
    let mut faults = Vec::new();
    for page in pages() {
        for Block { line, language, text, named, .. } in &page.blocks {
            let place = format!("{}:{line}", page.name());
            match language.as_str() {
                "toml" => match named {
                    None => faults.push(format!("{place}: name the file above its text")),
                    Some(file) => {
                        let whole = std::fs::read_to_string(repository().join(file)).unwrap();
                        if !whole.contains(text.trim_end()) {
                            faults.push(format!("{place}: this is not a part of {file}"));
                        }
                    }
                },
                "text" if text.lines().any(|line| line.starts_with("$ ")) => {
                    faults.push(format!("{place}: a command belongs into a `console` block"));
                }
                "console" | "text" => {}
                other => faults.push(format!("{place}: a block of '{other}' is not checked")),
            }
        }
    }
    expect_none(&faults);
}

#[test]
fn every_file_of_the_book_is_used_by_it() {
    let pages = pages();
    let folders = ["scenarios", "predict", "metrics"];
    for file in folders.iter().flat_map(|folder| files(folder, "toml")) {
        let path = file.strip_prefix(repository()).unwrap().display().to_string();
        assert!(pages.iter().any(|page| page.text.contains(&path)), "no page names {path}");
    }
}

#[test]
fn the_summary_is_complete_and_every_link_leads_somewhere() {
    let pages = pages();
    let mut faults = Vec::new();
    let summary = pages.iter().find(|page| page.name() == "SUMMARY.md").expect("a summary");
    let listed: BTreeSet<String> = summary.links().map(|link| link.target).collect();
    for page in &pages {
        if page.name() != "SUMMARY.md" && !listed.contains(&page.name()) {
            faults.push(format!("{}: not in SUMMARY.md", page.name()));
        }
        for link in page.links() {
            let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let place = format!("{}:{}: {}", page.name(), link.line, link.target);
            if file.starts_with("https://") {
                continue;
            }
            let name = if file.is_empty() { page.name() } else { file.to_owned() };
            match pages.iter().find(|page| page.name() == name) {
                Some(target) if anchor.is_empty() || target.anchors().any(|a| a == anchor) => {}
                Some(_) => faults.push(format!("{place}: no heading has this name")),
                None if book().join("src").join(file).is_file() => {}
                None => faults.push(format!("{place}: no such file in docs/book/src")),
            }
        }
    }
    expect_none(&faults);
}

#[test]
fn every_event_and_file_that_is_named_exists() {
    let mut faults = Vec::new();
    for page in pages() {
        for (line, word) in page.code_words() {
            let is_event = word.contains('_')
                && !word.starts_with('_')
                && !word.contains("_EL")
                && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            let is_file = ["docs/", "tests/", "traces/", "configs/"]
                .iter()
                .any(|folder| word.starts_with(folder) && !word.contains(['*', ' ']));
            let exists = if is_event {
                PmuEvent::from_name(&word).is_ok() || A53Event::from_mnemonic(&word).is_some()
            } else {
                !is_file || repository().join(&word).exists()
            };
            if !exists {
                faults.push(format!("{}:{line}: there is no {word}", page.name()));
            }
        }
    }
    expect_none(&faults);
}

#[test]
fn the_list_of_events_leads_to_pages_that_speak_of_them() {
    let pages = pages();
    let list = pages.iter().find(|page| page.name() == "events.md").expect("the list of events");
    let mut rows = 0;
    for line in list.text.lines().filter(|line| line.starts_with("| `")) {
        let event = line.split('`').nth(1).unwrap();
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(['#', ')']).next());
        for target in targets {
            let page = pages.iter().find(|page| page.name() == target).expect(target);
            let text = page.text.to_uppercase();
            assert!(text.contains(event), "{target} does not speak of {event}");
            rows += 1;
        }
    }
    assert!(rows > 40, "{rows} places are listed");
}

#[test]
fn every_exercise_has_an_answer() {
    let numbered = |page: &Page| -> BTreeSet<String> {
        let numbers = page.headings().filter_map(|heading| {
            let number = heading.split(' ').next()?.to_owned();
            let (chapter, exercise) = number.split_once('.')?;
            let is_number = |text: &str| text.parse::<u8>().is_ok();
            (is_number(chapter) && is_number(exercise)).then_some(number)
        });
        numbers.collect()
    };
    let pages = pages();
    let is_answers = |page: &&Page| page.name() == "answers.md";
    let answers = numbered(pages.iter().find(is_answers).expect("the answers"));
    let exercises: BTreeSet<String> =
        pages.iter().filter(|page| !is_answers(page)).flat_map(numbered).collect();
    assert_eq!(exercises, answers);
    for chapter in 1..=13 {
        let own = exercises
            .iter()
            .filter(|number| number.split('.').next() == Some(&chapter.to_string()));
        assert!(own.count() >= 2, "chapter {chapter} has exercises");
    }
}
