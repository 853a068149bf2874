//! Exercises and their answers: an answer is folded, below its exercise and on its own page.

use maud::{Markup, html};

use super::markdown::{self, Block, Heading, Links, Rendered};

/// Page of the answers.
const ANSWERS: &str = "answers";

/// Renders the blocks of the page `own`. Below every exercise that `answers` has an answer for, the
/// answer follows, folded.
pub(super) fn render(own: &str, blocks: &[Block], answers: &str, links: &Links) -> Rendered {
    let answer_blocks = markdown::blocks(answers);
    let mut figure = 0;
    let mut headings = Vec::new();
    let parts = parts(blocks);
    let html = html! { @for part in parts {
        @for block in part {
            @if let Block::Heading { level, text, .. } = block {
                @let () = headings.push(Heading { level: *level, id: links.id(text), text: text.clone() });
            }
        }
        @match number(part) {
            Some(number) if own == ANSWERS => {
                (markdown::render(&part[0], own, links, &mut figure))
                (folded(number, &all(&part[1..], own, links, &mut figure)))
            }
            Some(number) => {
                (all(part, own, links, &mut figure))
                @if let Some(answer) = parts_of(&answer_blocks, number) {
                    (folded(number, &all(&answer[1..], own, links, &mut figure)))
                }
            }
            None => (all(part, own, links, &mut figure)),
        }
    } };
    Rendered { html, headings }
}

fn all(blocks: &[Block], own: &str, links: &Links, figure: &mut usize) -> Markup {
    html! { @for block in blocks { (markdown::render(block, own, links, figure)) } }
}

fn folded(number: &str, content: &Markup) -> Markup {
    html! { details.answer { summary { "Answer to " (number) } (content) } }
}

/// Returns the blocks from each heading up to the next.
fn parts<'a, 'b>(blocks: &'a [Block<'b>]) -> Vec<&'a [Block<'b>]> {
    let is_heading = |block: &Block| matches!(block, Block::Heading { .. });
    let mut parts = Vec::new();
    let mut rest = blocks;
    while !rest.is_empty() {
        let end = rest.iter().skip(1).position(is_heading).map_or(rest.len(), |at| at + 1);
        let (part, others) = rest.split_at(end);
        parts.push(part);
        rest = others;
    }
    parts
}

fn parts_of<'a, 'b>(blocks: &'a [Block<'b>], number: &str) -> Option<&'a [Block<'b>]> {
    parts(blocks).into_iter().find(|part| self::number(part) == Some(number))
}

/// Returns the number of an exercise, such as `3.2`, that begins its heading.
fn number<'a>(part: &'a [Block]) -> Option<&'a str> {
    let Some(Block::Heading { text, .. }) = part.first() else { return None };
    let number = text.split(' ').next()?;
    let (chapter, exercise) = number.split_once('.')?;
    let is_number = |text: &str| text.parse::<u8>().is_ok();
    (is_number(chapter) && is_number(exercise)).then_some(number)
}
