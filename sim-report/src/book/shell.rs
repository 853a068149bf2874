//! Frame of a page of the site: head, navigation, search, previous and next page.

use maud::{DOCTYPE, Markup, html};

use super::contents::{Book, BookPage, Kind, WHOLE_PAGE, page_name, slides_name};
use super::markdown::Heading;
use super::summary::Part;
use crate::page::palette;

const STYLE: &str = include_str!("book.css");
/// The script of every page: theme, search, keys.
pub(super) const SCRIPT: &str = include_str!("book.js");
/// Name of the book.
pub(super) const NAME: &str = "Counting on a Neoverse N2";

/// Surroundings of the content of a page.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) stem: &'a str,
    /// Headings of the page, for its entry in the navigation.
    pub(super) headings: &'a [Heading],
    pub(super) before: Option<&'a BookPage>,
    pub(super) after: Option<&'a BookPage>,
    pub(super) has_slides: bool,
}

impl<'a> Frame<'a> {
    /// Returns the frame of a page without neighbors.
    pub(super) fn alone(title: &'a str, stem: &'a str) -> Frame<'a> {
        Frame { title, stem, headings: &[], before: None, after: None, has_slides: false }
    }
}

/// Returns the style sheet of the site.
pub(super) fn style() -> String {
    palette::page_style() + "svg text{font-family:system-ui,sans-serif}\n" + STYLE
}

/// Returns a whole page.
pub(super) fn page(book: &Book, frame: &Frame, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "n2sim " (env!("CARGO_PKG_VERSION")) };
                // An empty icon, so that browsers do not request one.
                link rel="icon" href="data:,";
                link rel="stylesheet" href="book.css";
                title { (frame.title) @if frame.title != NAME { " - " (NAME) } }
                script src="book.js" {}
                script src="search-index.js" defer {}
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (header())
                div.body {
                    (contents(book, frame))
                    main #main tabindex="-1" {
                        @if frame.has_slides {
                            p.to-slides { a href=(slides_name(frame.stem)) { "Slides of this chapter" } }
                        }
                        (content)
                        (neighbors(frame))
                    }
                }
                footer {
                    "Written by n2sim " (env!("CARGO_PKG_VERSION"))
                    ". These pages use no network. Keys: / searches, arrow keys left and right turn pages."
                }
            }
        }
    };
    page.into_string() + "\n"
}

fn header() -> Markup {
    html! {
        header {
            a.name href=(page_name("start")) { (NAME) }
            div.search role="search" {
                label for="words" { "Search" }
                input #words type="search" autocomplete="off" aria-controls="found" aria-describedby="found-count";
                output #found-count {}
                ol #found hidden {}
            }
            button #theme type="button" { "Theme: system" }
        }
    }
}

fn contents(book: &Book, frame: &Frame) -> Markup {
    html! {
        nav aria-label="Book" {
            details.contents open {
                summary { "Contents" }
                @for part in &book.summary.parts { (part_of(part, frame)) }
                h2 { "Documents and files" }
                ul {
                    @for page in book.of_kind(Kind::Document).chain(book.of_kind(Kind::Files)) {
                        (entry(&page.stem, &page.title, frame))
                    }
                    (entry(WHOLE_PAGE, "The whole book on one page", frame))
                }
            }
        }
    }
}

fn part_of(part: &Part, frame: &Frame) -> Markup {
    html! {
        @if !part.title.is_empty() { h2 { (part.title) } }
        ul { @for chapter in &part.chapters { (entry(&chapter.stem, &chapter.title, frame)) } }
    }
}

/// Returns an entry of the navigation. The entry of the page itself lists its headings.
fn entry(stem: &str, title: &str, frame: &Frame) -> Markup {
    let is_own = stem == frame.stem;
    html! {
        li {
            a href=(page_name(stem)) aria-current=[is_own.then_some("page")] { (title) }
            @if is_own && frame.headings.iter().any(|heading| heading.level == 2) {
                ul { @for heading in frame.headings.iter().filter(|heading| heading.level == 2) {
                    li { a href={ "#" (heading.id) } { (heading.text) } }
                } }
            }
        }
    }
}

fn neighbors(frame: &Frame) -> Markup {
    html! {
        nav.neighbors aria-label="Pages" {
            @if let Some(page) = frame.before {
                a rel="prev" href=(page_name(&page.stem)) { "Previous: " (page.title) }
            }
            @if let Some(page) = frame.after {
                a rel="next" href=(page_name(&page.stem)) { "Next: " (page.title) }
            }
        }
    }
}
