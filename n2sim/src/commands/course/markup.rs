//! The small Markdown of lessons as HTML.

use maud::{Markup, html};
use sim_course::text::{Block, Span, blocks, spans};

/// Returns a text of paragraphs, lists and code.
pub(super) fn text(text: &str) -> Markup {
    html! { @for block in blocks(text) { (one(&block)) } }
}

/// Returns the blocks of a text, each by itself.
pub(super) fn parts(text: &str) -> Vec<Markup> {
    blocks(text).iter().map(one).collect()
}

/// Returns a text of one line.
pub(super) fn line(text: &str) -> Markup {
    inline(&spans(text))
}

fn one(block: &Block) -> Markup {
    match block {
        Block::Paragraph(spans) => html! { p { (inline(spans)) } },
        Block::List(items) => html! { ul { @for item in items { li { (inline(item)) } } } },
        Block::Numbered(items) => html! { ol { @for item in items { li { (inline(item)) } } } },
        Block::Code(code) => html! { pre { code { (code) } } },
    }
}

fn inline(spans: &[Span]) -> Markup {
    html! { @for span in spans {
        @match span {
            Span::Text(text) => { (text) }
            Span::Code(text) => { code { (text) } }
            Span::Bold(text) => { strong { (text) } }
            Span::Italic(text) => { em { (text) } }
        }
    } }
}
