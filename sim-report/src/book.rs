//! The book as a static site: chapters, reference pages, files, search and slides.
//!
//! Every page opens from disk. Pages share one style sheet and one script; figures are part of
//! the pages. The search index is a script too, because a page that is opened from disk cannot read
//! other files.

mod console;
mod exercises;
mod figures;
mod markdown;
mod search;
mod shell;
mod slides;
mod summary;

use std::collections::BTreeMap;

use maud::html;

pub use figures::is_drawn_in_palette;

use crate::book::markdown::{Links, Rendered};
use crate::book::shell::Frame;
use crate::book::summary::Summary;

/// Sources of the book by path: `docs/book/src/start.md`, `docs/book/scenarios/1-path.toml`.
pub type Sources = BTreeMap<String, String>;

/// Directory of the chapters in the sources.
const CHAPTERS: &str = "docs/book/src/";
/// Page with the scenario, prediction and metric files of the book.
const FILES_PAGE: &str = "files";
/// Page with all chapters in one.
const WHOLE_PAGE: &str = "whole-book";

/// File of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Name in the directory of the site.
    pub name: String,
    /// Content.
    pub text: String,
}

/// Returns all files of the site. `index.html` is the first chapter of the summary.
///
/// # Panics
/// If `sources` has no `SUMMARY.md`, or lacks a chapter or a figure that is named in it. Tests run
/// this function on the sources that the program contains.
pub fn site(sources: &Sources) -> Vec<SiteFile> {
    let book = Book::new(sources);
    let mut files = vec![
        file("book.css", shell::style()),
        file("book.js", shell::SCRIPT.to_owned()),
        file("search-index.js", search::index(&book)),
        file(&page_name(WHOLE_PAGE), book.whole()),
    ];
    for page in &book.pages {
        files.push(file(&page_name(&page.stem), book.page(page)));
        if page.kind == Kind::Chapter
            && let Some(slides) = slides::deck(page, sources)
        {
            files.push(file(&slides_name(&page.stem), slides));
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn file(name: &str, text: String) -> SiteFile {
    SiteFile { name: name.to_owned(), text }
}

/// Returns the file of a page. The first chapter is the entry of the site.
fn page_name(stem: &str) -> String {
    match stem {
        "start" => "index.html".to_owned(),
        other => format!("{other}.html"),
    }
}

fn slides_name(stem: &str) -> String {
    format!("slides-{stem}.html")
}

/// Origin of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Listed in the summary.
    Chapter,
    /// A document of `docs/` that a chapter names.
    Document,
    /// The files of the book.
    Files,
}

/// Page before it is written.
struct BookPage {
    /// Name of its source without the extension.
    stem: String,
    title: String,
    kind: Kind,
    source: String,
}

/// Sources in the order of reading.
struct Book<'a> {
    sources: &'a Sources,
    summary: Summary,
    pages: Vec<BookPage>,
}

impl<'a> Book<'a> {
    fn new(sources: &'a Sources) -> Book<'a> {
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

    fn page(&self, page: &BookPage) -> String {
        let links = Links { book: self, in_one_page: None };
        let content = self.content(page, &links);
        let at = self.pages.iter().position(|one| one.stem == page.stem).unwrap_or_default();
        let frame = Frame {
            title: &page.title,
            stem: &page.stem,
            headings: &content.headings,
            before: at.checked_sub(1).map(|before| &self.pages[before]),
            after: self.pages.get(at + 1),
            has_slides: page.kind == Kind::Chapter && slides::deck(page, self.sources).is_some(),
        };
        shell::page(self, &frame, &content.html)
    }

    /// Returns the content of a page; answers follow their exercises, folded.
    fn content(&self, page: &BookPage, links: &Links) -> Rendered {
        let blocks = markdown::blocks(&page.source);
        let answers = match page.kind {
            Kind::Chapter => &*self.sources[&format!("{CHAPTERS}answers.md")],
            Kind::Document | Kind::Files => "",
        };
        exercises::render(&page.stem, &blocks, answers, links)
    }

    /// Returns all chapters on one page, for printing.
    fn whole(&self) -> String {
        let chapters = self.pages.iter().filter(|page| page.kind == Kind::Chapter);
        let body = html! { @for page in chapters {
            @let links = Links { book: self, in_one_page: Some(&page.stem) };
            section.chapter id=(page.stem) { (self.content(page, &links).html) }
        } };
        let frame = Frame::alone("The whole book", WHOLE_PAGE);
        shell::page(self, &frame, &body)
    }

    fn find(&self, stem: &str) -> Option<&BookPage> {
        self.pages.iter().find(|page| page.stem == stem)
    }
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

#[cfg(test)]
mod tests;
