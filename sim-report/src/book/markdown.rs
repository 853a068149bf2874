//! Markdown to HTML: blocks, headings with anchors, links between pages, figures.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

use super::contents::{Book, CHAPTERS, FILES_PAGE, Kind, Sources, page_name};
use super::{console, figures};

/// Comment in the source: the next block is also on the slides.
const SLIDE_MARK: &str = "<!-- slide -->";

/// Block of the outermost level of a page.
pub(super) enum Block<'a> {
    Heading { level: u8, text: String, events: Vec<Event<'a>> },
    Code { language: String, text: String },
    Figure { path: String, caption: String },
    SlideMark,
    Other(Vec<Event<'a>>),
}

/// Heading of a page.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub(super) level: u8,
    pub(super) id: String,
    pub(super) text: String,
}

/// Content of a page.
pub(super) struct Rendered {
    pub(super) html: Markup,
    pub(super) headings: Vec<Heading>,
}

/// Targets of links.
pub(super) struct Links<'a> {
    pub(super) book: &'a Book<'a>,
    /// The page of the links, if all pages are sections of one.
    pub(super) in_one_page: Option<&'a str>,
}

/// Returns the blocks of a source.
pub(super) fn blocks(source: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut events: Vec<Event> = Vec::new();
    let mut depth = 0;
    for event in Parser::new_ext(source, Options::ENABLE_TABLES) {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        events.push(event);
        if depth == 0 {
            blocks.push(block(std::mem::take(&mut events)));
        }
    }
    blocks
}

fn block(events: Vec<Event>) -> Block {
    match &events[0] {
        Event::Start(Tag::Heading { level, .. }) => {
            let (level, text) = (*level as u8, text_of(&events));
            Block::Heading { level, text, events }
        }
        Event::Start(Tag::CodeBlock(kind)) => {
            let language = match kind {
                CodeBlockKind::Fenced(language) => language.to_string(),
                CodeBlockKind::Indented => String::new(),
            };
            Block::Code { language, text: text_of(&events) }
        }
        Event::Start(Tag::HtmlBlock) if text_of(&events).trim() == SLIDE_MARK => Block::SlideMark,
        Event::Start(Tag::Paragraph) => match &events[1] {
            Event::Start(Tag::Image { dest_url, .. }) if is_lone_image(&events) => {
                Block::Figure { path: dest_url.to_string(), caption: text_of(&events) }
            }
            _ => Block::Other(events),
        },
        _ => Block::Other(events),
    }
}

/// Returns whether a paragraph has a figure and nothing else.
fn is_lone_image(events: &[Event]) -> bool {
    let end = events.iter().position(|event| matches!(event, Event::End(TagEnd::Image)));
    end == Some(events.len() - 2)
}

/// Returns the text of events without markup.
pub(super) fn text_of(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(part) | Event::Code(part) | Event::Html(part) => text.push_str(part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::TableCell | TagEnd::Item | TagEnd::Paragraph) => text.push(' '),
            _ => {}
        }
    }
    match events.first() {
        Some(Event::Start(Tag::CodeBlock(_))) => text,
        _ => text.trim_end().to_owned(),
    }
}

/// Returns the name by which links reach a heading: small letters, digits and dashes.
pub(super) fn anchor(heading: &str) -> String {
    let small = heading.to_lowercase();
    let kept = small.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

impl Links<'_> {
    /// Returns the identifier of a heading in the written page.
    pub(super) fn id(&self, heading: &str) -> String {
        match self.in_one_page {
            Some(stem) => format!("{stem}--{}", anchor(heading)),
            None => anchor(heading),
        }
    }

    /// Returns the address of a page, at a heading's anchor if `anchor` is not empty. Returns
    /// `None` if the site has no such page.
    fn address(&self, stem: &str, anchor: &str) -> Option<String> {
        let page = self.book.find(stem)?;
        let is_part = self.in_one_page.is_some() && page.kind == Kind::Chapter;
        Some(match (is_part, anchor) {
            (true, "") => format!("#{stem}"),
            (true, _) => format!("#{stem}--{anchor}"),
            (false, "") => page_name(stem),
            (false, _) => format!("{}#{anchor}", page_name(stem)),
        })
    }

    /// Returns where a link of a source leads; `None` if the site has no such page.
    pub(super) fn target(&self, target: &str, own: &str) -> Option<String> {
        if target.starts_with("https://") {
            return Some(target.to_owned());
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let stem = match file {
            "" => own,
            file => file.rsplit('/').next()?.strip_suffix(".md")?,
        };
        self.address(stem, anchor)
    }

    /// Returns the page that a word of code names: a document, or a file of the book.
    fn page_of_word(&self, word: &str) -> Option<String> {
        if word.starts_with("docs/book/") {
            let is_known = word.ends_with(".toml") && self.book.sources.contains_key(word);
            return is_known.then(|| self.address(FILES_PAGE, &anchor(word)))?;
        }
        self.address(word.strip_prefix("docs/")?.strip_suffix(".md")?, "")
    }
}

/// Returns the HTML of a block on the page `own`. `figure` numbers the figures of the page.
pub(super) fn render(block: &Block, own: &str, links: &Links, figure: &mut usize) -> Markup {
    match block {
        Block::Heading { level, text, events } => {
            let inner = events[1..events.len() - 1].to_vec();
            let inner = html_of(inner, own, links);
            let id = links.id(text);
            let tag = format!("h{level}");
            PreEscaped(format!("<{tag} id=\"{id}\">{inner}</{tag}>\n"))
        }
        Block::Code { language, text } => html! { (console::block(language, text)) "\n" },
        Block::Figure { path, caption } => {
            *figure += 1;
            let prefix = format!("{own}-f{figure}-");
            drawing(links.book.sources, path, caption, &prefix)
        }
        Block::SlideMark => html! {},
        Block::Other(events) => {
            let is_table = matches!(events[0], Event::Start(Tag::Table(_)));
            let content = html_of(events.clone(), own, links);
            match is_table {
                true => html! { div.wide { (PreEscaped(content)) } },
                false => PreEscaped(content),
            }
        }
    }
}

/// Returns a figure with its caption.
pub(super) fn drawing(sources: &Sources, path: &str, caption: &str, prefix: &str) -> Markup {
    let Some(svg) = sources.get(&format!("{CHAPTERS}{path}")) else {
        // Figures of documents are not part of the site.
        return html! { p.quiet { "Figure: " (caption) " (" code { "docs/" (path) } ")" } };
    };
    html! {
        figure {
            div.drawing { (PreEscaped(figures::inline(svg, prefix))) }
            figcaption { (caption) }
        }
    }
}

fn html_of(events: Vec<Event>, own: &str, links: &Links) -> String {
    let mut is_linked = Vec::new();
    let mut text = String::new();
    let events = events.into_iter().filter_map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let target = links.target(&dest_url, own);
            is_linked.push(target.is_some());
            let dest_url = CowStr::from(target?);
            Some(Event::Start(Tag::Link { link_type, dest_url, title, id }))
        }
        Event::End(TagEnd::Link) => is_linked.pop()?.then_some(Event::End(TagEnd::Link)),
        Event::Code(word) if is_linked.is_empty() => match links.page_of_word(&word) {
            Some(page) => {
                let link = html! { a href=(page) { code { (&*word) } } };
                Some(Event::InlineHtml(CowStr::from(link.into_string())))
            }
            None => Some(Event::Code(word)),
        },
        // The sources have no HTML but comments, which a reader need not see.
        Event::Html(_) | Event::InlineHtml(_) => None,
        other => Some(other),
    });
    push_html(&mut text, events);
    text
}
