//! The book as a static site: chapters, reference pages, files, search and slides.
//!
//! Every page opens from disk. Pages share one style sheet and one script; figures are part of
//! the pages. The search index is a script too, because a page that is opened from disk cannot read
//! other files.

mod console;
mod contents;
mod exercises;
mod figures;
mod markdown;
mod search;
mod shell;
mod slides;
mod summary;

use maud::html;

pub use contents::Sources;
pub use figures::is_drawn_in_palette;

use contents::{Book, BookPage, CHAPTERS, Kind, WHOLE_PAGE, page_name, slides_name};
use markdown::{Links, Rendered};
use shell::Frame;

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
        file(&page_name(WHOLE_PAGE), whole(&book)),
    ];
    for page in &book.pages {
        files.push(file(&page_name(&page.stem), page_of(&book, page)));
        files.extend(slides_of(page, sources).map(|slides| file(&slides_name(&page.stem), slides)));
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn file(name: &str, text: String) -> SiteFile {
    SiteFile { name: name.to_owned(), text }
}

/// Returns the slides of a chapter; `None` for other pages and for chapters without marks.
fn slides_of(page: &BookPage, sources: &Sources) -> Option<String> {
    (page.kind == Kind::Chapter).then(|| slides::deck(page, sources))?
}

fn page_of(book: &Book, page: &BookPage) -> String {
    let links = Links { book, in_one_page: None };
    let content = content(page, &links);
    let at = book.pages.iter().position(|one| one.stem == page.stem).unwrap_or_default();
    let frame = Frame {
        title: &page.title,
        stem: &page.stem,
        headings: &content.headings,
        before: at.checked_sub(1).map(|before| &book.pages[before]),
        after: book.pages.get(at + 1),
        has_slides: slides_of(page, book.sources).is_some(),
    };
    shell::page(book, &frame, &content.html)
}

/// Returns the content of a page; answers follow their exercises, folded.
fn content(page: &BookPage, links: &Links) -> Rendered {
    let blocks = markdown::blocks(&page.source);
    let answers = match page.kind {
        Kind::Chapter => &*links.book.sources[&format!("{CHAPTERS}answers.md")],
        Kind::Document | Kind::Files => "",
    };
    exercises::render(&page.stem, &blocks, answers, links)
}

/// Returns all chapters on one page, for printing.
fn whole(book: &Book) -> String {
    let body = html! { @for page in book.of_kind(Kind::Chapter) {
        @let links = Links { book, in_one_page: Some(&page.stem) };
        section.chapter id=(page.stem) { (content(page, &links).html) }
    } };
    shell::page(book, &Frame::alone("The whole book", WHOLE_PAGE), &body)
}

#[cfg(test)]
mod tests;
