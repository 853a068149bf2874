//! Slides: one file with its own keys for the next and the previous slide, which prints one slide
//! on each sheet of paper. Without its script the slides follow one another.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::palette;

const STYLE: &str = include_str!("slides.css");
const SCRIPT: &str = include_str!("slides.js");
/// SHA-256 of the script, the only one that the policy of the file allows.
const SCRIPT_HASH: &str = "+UHj4vZOICGmSsTxNpu1/SOGWggQLCT9gtQ5bBIbh0I=";

/// Slides of a talk.
#[derive(Clone, Debug)]
pub struct Slides {
    /// Title of the file.
    pub title: String,
    /// Slides in their order.
    pub slides: Vec<Slide>,
}

/// One slide.
#[derive(Clone, Debug)]
pub struct Slide {
    /// Heading.
    pub heading: String,
    /// Content below the heading.
    pub body: Markup,
}

impl Slides {
    /// Returns the whole file.
    pub fn html(&self) -> String {
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'; \
             img-src data:; base-uri 'none'; form-action 'none'"
        );
        let count = self.slides.len();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content={ "n2sim " (env!("CARGO_PKG_VERSION")) };
                    link rel="icon" href="data:,";
                    title { (self.title) }
                    style { (PreEscaped(palette::page_style())) (PreEscaped(STYLE)) }
                }
                body {
                    main { @for (at, slide) in self.slides.iter().enumerate() {
                        section.slide aria-label={ (at + 1) " of " (count) } {
                            @if at == 0 { h1 { (slide.heading) } } @else { h2 { (slide.heading) } }
                            (slide.body)
                        }
                    } }
                    div.bar role="toolbar" aria-label="Slides" {
                        button type="button" { "Back" }
                        output aria-live="polite" {}
                        button type="button" { "Next" }
                        span.quiet { "arrow keys, space, Home, End" }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use sha2::{Digest, Sha256};

    use super::*;

    fn file() -> String {
        let slide =
            |heading: &str| Slide { heading: heading.into(), body: html! { p { "1 < 2" } } };
        Slides { title: "A & B".into(), slides: vec![slide("One"), slide("Two")] }.html()
    }

    #[test]
    fn the_policy_allows_the_script_as_it_is() {
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(SCRIPT));
        assert_eq!(SCRIPT_HASH, hash, "the script has changed: this is its new hash");
        assert!(file().contains(&format!("script-src 'sha256-{hash}'")));
    }

    #[test]
    fn slides_ask_no_network_and_escape_their_texts() {
        let text = file();
        for word in ["http://", "https://", "url(", "@import", "src=", "fetch(", "XMLHttp"] {
            assert!(!text.contains(word), "{word}");
        }
        assert!(text.contains("A &amp; B") && text.contains("1 &lt; 2"));
        assert_eq!(text.matches("<section").count(), 2);
    }
}
