//! Contents of the site: pages in the order of reading, and their names.

use std::collections::BTreeMap;

use super::summary::Summary;

/// Sources of the book by path: `docs/book/src/start.md`, `docs/book/scenarios/1-path.toml`.
pub type Sources = BTreeMap<String, String>;

/// Directory of the chapters in the sources.
pub(super) const CHAPTERS: &str = "docs/book/src/";
/// Page with the scenario, prediction and metric files of the book.
pub(super) const FILES_PAGE: &str = "files";
/// Page with all chapters in one.
pub(super) const WHOLE_PAGE: &str = "whole-book";

/// Origin of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Listed in the summary.
    Chapter,
    /// A document of `docs/` that a chapter names.
    Document,
    /// The files of the book.
    Files,
}

/// Page before it is written.
pub(super) struct BookPage {
    /// Name of its source without the extension.
    pub(super) stem: String,
    pub(super) title: String,
    pub(super) kind: Kind,
    pub(super) source: String,
}

/// Sources in the order of reading.
pub(super) struct Book<'a> {
    pub(super) sources: &'a Sources,
    pub(super) summary: Summary,
    pub(super) pages: Vec<BookPage>,
}

impl<'a> Book<'a> {
    pub(super) fn new(sources: &'a Sources) -> Book<'a> {
        let summary = Summary::parse(&sources[&format!("{CHAPTERS}SUMMARY.md")]);
        let mut pages: Vec<BookPage> = Vec::new();
        for chapter in summary.parts.iter().flat_map(|part| &part.chapters) {
            let source = sources[&format!("{CHAPTERS}{}.md", chapter.stem)].clone();
            let (stem, title) = (chapter.stem.clone(), chapter.title.clone());
            pages.push(BookPage { stem, title, kind: Kind::Chapter, source });
        }
        let documents: Vec<BookPage> = sources
            .iter()
            .filter_map(|(path, text)| Some((document(path)?, text)))
            .filter(|(stem, _)| {
                let word = format!("docs/{stem}.md");
                pages.iter().any(|page| page.source.contains(&word))
            })
            .map(|(stem, source)| BookPage {
                stem: stem.to_owned(),
                title: first_heading(source),
                kind: Kind::Document,
                source: source.clone(),
            })
            .collect();
        pages.extend(documents);
        let (stem, title) = (FILES_PAGE.to_owned(), "Files of the book".to_owned());
        pages.push(BookPage { stem, title, kind: Kind::Files, source: files_source(sources) });
        Book { sources, summary, pages }
    }

    /// Returns a book without pages, for slides, which link to none.
    pub(super) fn without_pages(sources: &'a Sources) -> Book<'a> {
        Book { sources, summary: Summary { parts: Vec::new() }, pages: Vec::new() }
    }

    pub(super) fn find(&self, stem: &str) -> Option<&BookPage> {
        self.pages.iter().find(|page| page.stem == stem)
    }

    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &BookPage> {
        self.pages.iter().filter(move |page| page.kind == kind)
    }
}

/// Returns the file of a page. The first chapter is the entry of the site.
pub(super) fn page_name(stem: &str) -> String {
    match stem {
        "start" => "index.html".to_owned(),
        other => format!("{other}.html"),
    }
}

/// Returns the file of the slides of a chapter.
pub(super) fn slides_name(stem: &str) -> String {
    format!("slides-{stem}.html")
}

/// Returns the name of a document directly in `docs/`.
fn document(path: &str) -> Option<&str> {
    let stem = path.strip_prefix("docs/")?.strip_suffix(".md")?;
    (!stem.contains('/') && stem != "README").then_some(stem)
}

fn first_heading(source: &str) -> String {
    let heading = source.lines().find_map(|line| line.strip_prefix("# "));
    heading.unwrap_or_default().replace('`', "")
}

/// Returns the page of the scenario, prediction and metric files as Markdown.
fn files_source(sources: &Sources) -> String {
    let mut text = String::from(
        "# Files of the book\n\nThe files that chapters and exercises name, as n2sim reads them.\n",
    );
    for (path, content) in sources.iter().filter(|(path, _)| path.ends_with(".toml")) {
        text += &format!("\n## {path}\n\n```toml\n{}\n```\n", content.trim_end());
    }
    text
}
