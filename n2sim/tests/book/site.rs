//! The site that `n2sim book` writes: it is complete, its links and anchors lead somewhere, and it
//! is written as a whole or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::{book, expect_none, files, pages, repository};

fn write(directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    command.arg("book").arg("-o").arg(directory).output().unwrap()
}

/// The files of the site by name.
fn site() -> BTreeMap<String, String> {
    let folder = TempDir::new().unwrap();
    let directory = folder.path().join("site");
    let output = write(&directory);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let entries = directory.read_dir().unwrap().map(Result::unwrap);
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|one| (name(&one.path()), fs::read_to_string(one.path()).unwrap())).collect()
}

/// Values of an attribute, which is ` id="` for example.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let rest = html.split(attribute).skip(1);
    rest.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_link_of_the_site_leads_to_a_page_and_an_anchor() {
    let site = site();
    let pages = || site.iter().filter(|(name, _)| name.ends_with(".html"));
    let anchors: BTreeMap<&str, BTreeSet<&str>> = pages()
        .map(|(name, html)| (name.as_str(), values(html, " id=\"").into_iter().collect()))
        .collect();
    let mut faults = Vec::new();
    let mut links = 0;
    for (name, html) in pages() {
        let ids = values(html, " id=\"");
        if ids.len() != anchors[name.as_str()].len() {
            faults.push(format!("{name}: two elements have one identifier"));
        }
        for target in values(html, " href=\"") {
            if target.starts_with("https://") || target == "data:," {
                continue;
            }
            links += 1;
            let (page, anchor) = target.split_once('#').unwrap_or((target, ""));
            let page = if page.is_empty() { name } else { page };
            let is_there = match anchors.get(page) {
                Some(anchors) => anchor.is_empty() || anchors.contains(anchor),
                None => site.contains_key(page) && anchor.is_empty(),
            };
            if !is_there {
                faults.push(format!("{name}: {target}"));
            }
        }
    }
    expect_none(&faults);
    assert!(links > 500, "{links} links");
}

#[test]
fn the_site_has_every_file_of_the_book() {
    let site = site();
    let all: String = site.values().map(String::as_str).collect();
    for page in pages() {
        let name = page.name();
        let stem = name.trim_end_matches(".md");
        let html = if stem == "start" { "index.html".to_owned() } else { format!("{stem}.html") };
        assert!(name == "SUMMARY.md" || site.contains_key(&html), "no page of {name}");
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            assert!(site.contains_key(&format!("slides-{html}")), "no slides of {name}");
        }
    }
    for folder in ["scenarios", "predict", "metrics"] {
        for file in files(folder, "toml") {
            let path = file.strip_prefix(repository()).unwrap().display().to_string();
            assert!(site["files.html"].contains(&path), "{path} is not in the site");
        }
    }
    for figure in files("src/figures", "svg") {
        let svg = fs::read_to_string(&figure).unwrap();
        let title = svg.split("<title").nth(1).and_then(|rest| rest.split(['>', '<']).nth(1));
        assert!(all.contains(title.expect("a title")), "{} is not in the site", figure.display());
    }
}

#[test]
fn pages_load_nothing_from_a_network() {
    for (name, text) in site() {
        for word in ["src=\"http", "@import", "url(http", "fetch(", "XMLHttp"] {
            assert!(!text.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn a_directory_with_other_files_is_refused_and_stays_as_it_is() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
    let output = write(folder.path());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("has other files, such as thesis.txt"), "{said}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    fs::remove_file(folder.path().join("thesis.txt")).unwrap();
    for _ in 0..2 {
        assert!(write(folder.path()).status.success(), "an empty one, then one with a site");
    }
    let output = write(&folder.path().join("a/b"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("there is no directory"), "{said}");
}

#[test]
fn figures_have_the_colors_of_both_themes_and_a_name() {
    for figure in files("src/figures", "svg") {
        let svg = fs::read_to_string(&figure).unwrap();
        assert!(sim_report::book::is_drawn_in_palette(&svg), "{}", figure.display());
    }
}

/// A figure repeats shares that its chapter prints.
#[test]
fn numbers_in_figures_are_those_of_their_chapters() {
    for (figure, chapter) in [("tree", "5-slots"), ("stacks", "9-two-cores")] {
        let svg = fs::read_to_string(book().join(format!("src/figures/{figure}.svg"))).unwrap();
        let text = fs::read_to_string(book().join(format!("src/{chapter}.md"))).unwrap();
        let shown = svg.split("</text>").filter_map(|part| part.rsplit('>').next());
        let is_number = |word: &&str| word.contains('.') && word[..1].parse::<u8>().is_ok();
        let numbers: Vec<&str> = shown.filter(is_number).collect();
        assert!(numbers.len() >= 6, "{figure}: {numbers:?}");
        for number in numbers {
            let digits = number.trim_end_matches('%');
            assert!(text.contains(digits), "{figure}.svg shows {number}, {chapter}.md does not");
        }
    }
}
