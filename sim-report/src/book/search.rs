//! The index of the search: one entry for each heading of every page, with the text below it.

use serde::Serialize;

use super::contents::{Book, Kind, page_name};
use super::markdown::{self, Block};

/// Entry of the index. Its fields have short names, because they repeat.
#[derive(Serialize)]
struct Entry {
    /// Address of the heading.
    a: String,
    /// Title of the page.
    p: String,
    /// Heading.
    h: String,
    /// Text below the heading, without outputs of commands.
    t: String,
}

/// Returns the script with the index.
pub(super) fn index(book: &Book) -> String {
    let pages = book.pages.iter().filter(|page| page.kind != Kind::Files);
    let entries: Vec<Entry> = pages
        .flat_map(|page| {
            let mut entries: Vec<Entry> = Vec::new();
            for block in markdown::blocks(&page.source) {
                match block {
                    Block::Heading { text, .. } => {
                        let address = page_name(&page.stem) + "#" + &markdown::anchor(&text);
                        let p = page.title.clone();
                        entries.push(Entry { a: address, p, h: text, t: String::new() });
                    }
                    Block::Other(events) => {
                        if let Some(entry) = entries.last_mut() {
                            entry.t += &(markdown::text_of(&events) + " ");
                        }
                    }
                    Block::Figure { caption, .. } => {
                        if let Some(entry) = entries.last_mut() {
                            entry.t += &(caption + " ");
                        }
                    }
                    Block::Code { .. } | Block::SlideMark => {}
                }
            }
            entries
        })
        .collect();
    let entries = serde_json::to_string(&entries).expect("strings are JSON");
    format!("window.bookIndex = {entries};\n")
}
