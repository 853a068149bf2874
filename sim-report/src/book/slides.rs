//! Slides of a chapter: its headings, its figures, and the blocks below `<!-- slide -->`.
//!
//! A deck is one file that needs no other. Arrow keys move; a printer gets one slide a page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::contents::{Book, BookPage, Sources, page_name};
use super::markdown::{self, Block, Links};
use super::shell;

const STYLE: &str = include_str!("slides.css");
const SCRIPT: &str = include_str!("slides.js");

/// Slide: its heading and its content.
struct Slide {
    heading: String,
    content: Markup,
}

/// Returns the deck of a chapter; `None` if nothing in the chapter is marked.
pub(super) fn deck(page: &BookPage, sources: &Sources) -> Option<String> {
    if !page.source.contains("<!-- slide -->") {
        return None;
    }
    let book = Book::without_pages(sources);
    let links = Links { book: &book, in_one_page: None };
    let slides = slides(page, &links);
    let body = html! {
        main {
            section.slide.first tabindex="-1" {
                p.quiet { "n2sim: Counting on a Neoverse N2" }
                h1 { (page.title) }
                p { a href=(page_name(&page.stem)) { "Read the chapter" } }
                p.quiet.keys { "Arrow keys or space: next and previous. Home, End: first and last." }
            }
            @for slide in &slides {
                section.slide tabindex="-1" { h2 { (slide.heading) } (slide.content) }
            }
        }
        nav.moves aria-label="Slides" {
            button #back type="button" { "Previous" }
            output #count {}
            button #next type="button" { "Next" }
        }
    };
    Some(file(&page.title, &body))
}

fn slides(page: &BookPage, links: &Links) -> Vec<Slide> {
    let mut slides: Vec<Slide> = Vec::new();
    let mut heading = page.title.clone();
    // Marked blocks below one heading share a slide; a figure has its own.
    let mut is_open = false;
    let mut is_marked = false;
    let mut figure = 0;
    for block in markdown::blocks(&page.source) {
        match &block {
            Block::Heading { level: 1, .. } => {}
            Block::Heading { text, .. } => {
                heading = text.clone();
                is_open = false;
            }
            Block::SlideMark => {
                is_marked = true;
                continue;
            }
            Block::Figure { .. } => {
                let content = markdown::render(&block, &page.stem, links, &mut figure);
                slides.push(Slide { heading: heading.clone(), content });
                is_open = false;
            }
            _ if is_marked => {
                let content = markdown::render(&block, &page.stem, links, &mut figure);
                match slides.last_mut() {
                    Some(slide) if is_open => slide.content.0 += &content.0,
                    _ => slides.push(Slide { heading: heading.clone(), content }),
                }
                is_open = true;
            }
            _ => {}
        }
        is_marked = false;
    }
    slides
}

fn file(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { "Slides: " (title) }
                style { (PreEscaped(shell::variables())) (PreEscaped(STYLE)) }
            }
            body { (body) script { (PreEscaped(SCRIPT)) } }
        }
    };
    page.into_string() + "\n"
}
