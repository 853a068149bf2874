//! Slides of a chapter: its headings, its figures, and the blocks below `<!-- slide -->`.

use maud::html;

use super::contents::{Book, BookPage, Sources, page_name};
use super::markdown::{self, Block, Links};
use super::shell::NAME;
use crate::page::{Slide, Slides};

/// Returns the deck of a chapter; `None` if nothing in the chapter is marked.
pub(super) fn deck(page: &BookPage, sources: &Sources) -> Option<String> {
    if !page.source.contains("<!-- slide -->") {
        return None;
    }
    let book = Book::without_pages(sources);
    let links = Links { book: &book, in_one_page: None };
    let first = html! {
        p.quiet { "n2sim: " (NAME) }
        p { a href=(page_name(&page.stem)) { "Read the chapter" } }
    };
    let mut all = vec![Slide { heading: page.title.clone(), body: first }];
    all.extend(slides(page, &links));
    Some(Slides { title: format!("Slides: {}", page.title), slides: all }.html())
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
                let body = markdown::render(&block, &page.stem, links, &mut figure);
                slides.push(Slide { heading: heading.clone(), body });
                is_open = false;
            }
            _ if is_marked => {
                let body = markdown::render(&block, &page.stem, links, &mut figure);
                match slides.last_mut() {
                    Some(slide) if is_open => slide.body.0 += &body.0,
                    _ => slides.push(Slide { heading: heading.clone(), body }),
                }
                is_open = true;
            }
            _ => {}
        }
        is_marked = false;
    }
    slides
}
