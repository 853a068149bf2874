//! Holds the language of names, comments, messages and documents: banned words, how a doc comment
//! opens, and the width of comments.
//!
//! Uses nothing but the standard library, so that `rustc --test` builds it alone in a second:
//! `CARGO_MANIFEST_DIR=$PWD/tests rustc --edition 2024 --test tests/tests/words.rs -o target/words`.
//! `N2SIM_WORDS=sim-pmu/src target/words` checks the files below that path only.

use std::fs;
use std::path::{Path, PathBuf};

/// Widest comment line, in characters.
const COLUMNS: usize = 100;

/// Words with the remedy for each. A name that contains one of them (`behind_branch`,
/// `BehindBranch`) counts as well.
const BANNED: [(&[&str], &str); 9] = [
    (
        &["behind"],
        "after (time), younger or older (program order), following (addresses), below (layers)",
    ),
    (&["stands", "stood"], "is, lies, holds, or the verb that says what it does"),
    (&["told", "tell", "tells"], "notify, report, pass, say"),
    (&["hear", "hears", "heard", "listen", "listens"], "observe, receive, count"),
    (
        &["nobody", "somebody", "anybody", "everybody"],
        "name who: no sink, a reader, each core, every user",
    ),
    (&["vain", "astray"], "on the wrong path"),
    (&["anew"], "again"),
    (&["mend", "mends", "mended"], "fix, repair"),
    (&["kin"], "kind, related events"),
];

/// Phrases with the remedy for each.
const PHRASES: [(&str, &str); 3] = [
    ("right path", "correct path"),
    ("thrown away", "squashed, dropped"),
    ("throws away", "squashes, drops"),
];

/// Words that open no doc comment: it begins with the thing or with the action.
const OPENINGS: [&str; 10] =
    ["What", "Where", "How", "Who", "Whose", "Why", "As", "Of", "That", "Those"];

/// Lines that may keep a word: a part of the file's path, a part of the line, and the reason.
const KEPT: [(&str, &str, &str); 20] = [
    ("tests/tests/words.rs", "", "names the words that it looks for"),
    ("tests/scenarios/", "test", "names of cases stay: results are compared by them"),
    ("tests/scenarios/", "random-behind-interval", "a key of the configuration"),
    ("docs/conformance.md", "| ", "names of cases"),
    ("docs/condition-mutants.md", "| ", "quotes code of the revision that was tried"),
    ("tests/formulas/", "name", "names of seeds stay"),
    ("docs/formulas.md", "| ", "names of seeds"),
    ("configs/neoverse-n2/machine.toml", "random-behind-interval", "a key of the configuration"),
    ("docs/", "random-behind-interval", "a key of the configuration"),
    ("sim-pmu/src/spe/config.rs", "random-behind-interval", "a key of the configuration"),
    ("sim-lab/src/regions/windows.rs", "stands-for", "a key of the file of windows"),
    ("docs/regions.md", "stands-for", "a key of the file of windows"),
    ("sim-report/src/run_report/older.rs", "", "reads keys of older reports"),
    ("sim-report/src/run_report/code.rs", "thrown_away", "a key of older reports"),
    ("n2sim/tests/diff_runs.rs", "behind_branch", "a key of older reports"),
    ("n2sim/tests/diff_runs.rs", "thrown_away", "a key of older reports"),
    ("docs/report-data.md", "behind_branch", "a key of older reports"),
    ("docs/report-data.md", "thrown_away", "a key of older reports"),
    ("CHANGELOG.md", "`behind_branch`", "a key of older reports"),
    ("CHANGELOG.md", "`thrown_away`", "a key of older reports"),
];

/// Directories without text of ours, and documents that record what others wrote.
const SKIPPED: [&str; 6] = ["target", ".git", "corpus", "seeds", "artifacts", "mutants.out"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_owned()
}

/// Paths, from the top of the repository, of all files with one of these extensions.
fn files(extensions: &[&str]) -> Vec<PathBuf> {
    let (top, mut found) = (repository(), Vec::new());
    let mut open = vec![top.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory can be listed").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() {
                if !SKIPPED.contains(&name.as_str()) {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|own| extensions.iter().any(|one| own == *one)) {
                found.push(path.strip_prefix(&top).expect("below the top").to_owned());
            }
        }
    }
    let part = std::env::var("N2SIM_WORDS").unwrap_or_default();
    found.retain(|path| path.starts_with(&part) || part.is_empty());
    found.sort();
    found
}

fn is_kept(path: &Path, line: &str) -> bool {
    let path = path.to_string_lossy();
    KEPT.iter().any(|(file, part, _)| path.contains(file) && line.contains(part))
}

/// The words of a line in lower case; `camelCase` and `snake_case` names come apart.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut was_lower) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        let splits = !letter.is_ascii_alphabetic() || (letter.is_ascii_uppercase() && was_lower);
        if splits && !word.is_empty() {
            all.push(std::mem::take(&mut word));
        }
        if letter.is_ascii_alphabetic() {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    all.push(word);
    all
}

/// The remedies of all banned words and phrases in a line.
fn banned_in(line: &str) -> Vec<String> {
    let words = words(line);
    let text = words.join(" ");
    let mut found = Vec::new();
    for (list, remedy) in BANNED {
        for word in words.iter().filter(|word| list.contains(&word.as_str())) {
            found.push(format!("'{word}': {remedy}"));
        }
    }
    for (phrase, remedy) in PHRASES {
        if format!(" {text} ").contains(&format!(" {phrase} ")) {
            found.push(format!("'{phrase}': {remedy}"));
        }
    }
    found
}

/// The comment of a line of Rust that holds nothing else, without its slashes.
fn comment_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|slashes| line.strip_prefix(slashes))
}

fn is_doc(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("///") || line.starts_with("//!")
}

/// Fails with one line for each fault, and how many there are.
fn expect_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Runs a check on every line of the files with these extensions. The check sees the line before,
/// too, and returns what is wrong.
fn check(extensions: &[&str], check: impl Fn(&str, &str) -> Vec<String>) {
    let mut faults = Vec::new();
    for path in files(extensions) {
        let bytes = fs::read(repository().join(&path)).expect("a file can be read");
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let mut before = "";
        for (number, line) in text.lines().enumerate() {
            if !is_kept(&path, line) {
                let place = format!("{}:{}", path.display(), number + 1);
                faults.extend(check(before, line).iter().map(|fault| format!("{place}: {fault}")));
            }
            before = line;
        }
    }
    expect_none(&faults);
}

#[test]
fn no_text_contains_a_banned_word() {
    check(&["rs", "md", "toml"], |_, line| banned_in(line));
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    check(&["rs"], |_, line| {
        let width = line.chars().count();
        let is_link = line.contains("http");
        match comment_of(line) {
            Some(_) if width > COLUMNS && !is_link => vec![format!("{width} columns")],
            _ => Vec::new(),
        }
    });
}

#[test]
fn doc_comments_open_with_the_thing_or_the_action() {
    check(&["rs"], |before, line| {
        let first = comment_of(line).and_then(|comment| comment.split_whitespace().next());
        match first {
            Some(word) if is_doc(line) && !is_doc(before) && OPENINGS.contains(&word) => {
                vec![format!("opens with '{word}'")]
            }
            _ => Vec::new(),
        }
    });
}

#[test]
fn messages_say_is_not_a_instead_of_is_no() {
    check(&["rs"], |_, line| {
        let text = if comment_of(line).is_some() { "" } else { line };
        let mut parts = text.split(" is no ").chain(text.split(" are no ")).skip(1);
        let says = text.contains('"')
            && parts.any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
            && !text.to_lowercase().contains("there is no ")
            && !text.to_lowercase().contains("there are no ");
        if says && (text.contains(" is no ") || text.contains(" are no ")) {
            vec!["say 'is not a' or 'has no'".to_owned()]
        } else {
            Vec::new()
        }
    });
}

#[test]
fn the_checks_find_what_they_look_for() {
    assert_eq!(banned_in("fn behind_branch(), BehindBranch").len(), 2);
    assert_eq!(banned_in("the Right path, thrown\taway").len(), 2);
    assert_eq!(banned_in("beforehand, standing, stand-in, skin").len(), 0);
}
