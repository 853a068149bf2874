//! Frame of the HTML pages of n2sim: shell, style, tables, charts, links to events.
//!
//! A page is one file. It needs no network, which its own policy forbids, and is readable without
//! its script. The script sorts and filters tables, opens the cards of events, and shows the
//! numbers of an interval of time.

pub mod chart;
pub mod links;
pub mod matrix;
pub mod palette;
pub mod plot;
pub mod scale;
pub mod slides;
pub mod table;
#[cfg(test)]
pub(crate) mod vision;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use chart::{Chart, drawing};
pub use links::{event_href, event_link, glossary, named_link};
pub use matrix::{Matrix, MatrixCell};
pub use scale::Scale;
pub use slides::{Slide, Slides};
pub use table::{Cell, Table};

/// Name of the core that most pages are about.
const N2: &str = "Neoverse N2";
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = concat!(include_str!("page/script.js"), include_str!("page/interval.js"));
/// SHA-256 of the script, the only one that the page's policy allows.
const SCRIPT_HASH: &str = "ho7towgc1BwNNxznWyAqNUmH11Xv+fhxvpWL2XXNeF8=";

/// Page of sections.
#[derive(Clone, Debug)]
pub struct Page {
    /// Heading of the page.
    pub title: String,
    /// Introduction below the heading.
    pub lead: Markup,
    /// Sections, listed in the contents.
    pub sections: Vec<Section>,
}

/// Section of a page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Identifier, unique in the page.
    pub id: String,
    /// Heading.
    pub heading: String,
    /// Content; its headings begin at `h3`.
    pub body: Markup,
}

impl Page {
    /// Returns the whole file, about a model of the Neoverse N2.
    pub fn html(&self) -> String {
        self.html_on(N2)
    }

    /// Returns the whole file, about a model of this core.
    pub fn html_on(&self, core: &str) -> String {
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'; \
             img-src data:; base-uri 'none'; form-action 'none'"
        );
        let body = self.body(core);
        let cards = links::cards(&body.0, core == N2);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content={ "n2sim " (env!("CARGO_PKG_VERSION")) };
                    // An empty icon, so that browsers do not request one.
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(palette::page_style())) (PreEscaped(STYLE)) }
                }
                body { (body) (cards) script { (PreEscaped(SCRIPT)) } }
            }
        };
        page.into_string() + "\n"
    }

    fn body(&self, core: &str) -> Markup {
        html! {
            a.skip href="#main" { "Skip to the content" }
            header {
                h1 { (self.title) }
                div.lead { (self.lead) }
                (themes())
            }
            div.body {
                nav aria-labelledby="contents" {
                    h2 #contents { "Contents" }
                    ol { @for section in &self.sections {
                        li { a href={ "#" (section.id) } { (section.heading) } }
                    } }
                }
                main #main tabindex="-1" { @for Section { id, heading, body } in &self.sections {
                    section id=(id) aria-labelledby={ (id) "-heading" } {
                        h2 id={ (id) "-heading" } { (heading) }
                        (body)
                    }
                } }
            }
            footer { "Made by n2sim " (env!("CARGO_PKG_VERSION"))
                ", a model of the Arm " (core) ". This page is one file and asks no network." }
        }
    }
}

/// Returns the switch of themes, which works through the style sheet alone.
fn themes() -> Markup {
    html! {
        fieldset.themes {
            legend { "Theme" }
            @for (name, is_first) in [("system", true), ("light", false), ("dark", false)] {
                label { input type="radio" name="theme" id={ "theme-" (name) } checked[is_first]; " " (name) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use sha2::{Digest, Sha256};

    use super::*;

    fn page() -> String {
        let body = html! { p { "1 < 2" } };
        let section = Section { id: "one".into(), heading: "One & only".into(), body };
        Page { title: "T".into(), lead: html! { p { "lead" } }, sections: vec![section] }.html()
    }

    #[test]
    fn the_policy_allows_the_script_as_it_is() {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(SCRIPT));
        assert_eq!(SCRIPT_HASH, hash, "the script has changed: this is its new hash");
        assert!(page().contains(&format!("script-src 'sha256-{hash}'")));
    }

    #[test]
    fn a_page_asks_no_network() {
        for word in ["http://", "https://", "url(", "@import", "src=", "fetch(", "XMLHttp"] {
            assert!(!page().contains(word), "{word}");
        }
    }

    #[test]
    fn the_contents_link_to_the_sections() {
        let page = page();
        assert!(page.contains(r##"<a href="#one">One &amp; only</a>"##), "{page}");
        assert!(page.contains(r#"<section id="one" aria-labelledby="one-heading">"#));
        assert!(page.contains("<p>1 &lt; 2</p>"));
    }
}
