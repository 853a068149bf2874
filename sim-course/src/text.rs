//! The texts of a lesson: a small Markdown, and values of the model in braces.
//!
//! A text has paragraphs, lists (lines that begin with `- ` or `1. `), blocks of code between
//! lines of three backticks, `code`, **bold** and *italic*.
//!
//! In `why`, `{answer}` and `{EVENT}` or any other expression in braces is replaced by its value;
//! braces inside code stay.

use serde::Serialize;

use crate::expression::{Expression, ExpressionFault, Reference, Scope, Values, What};

/// A part of a text between blank lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "content", rename_all = "kebab-case")]
pub enum Block {
    /// Running text.
    Paragraph(Vec<Span>),
    /// Items, each with its text.
    List(Vec<Vec<Span>>),
    /// Numbered items, from 1.
    Numbered(Vec<Vec<Span>>),
    /// Lines of code.
    Code(String),
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "text", rename_all = "kebab-case")]
pub enum Span {
    /// Plain text.
    Text(String),
    /// Code, without its backticks.
    Code(String),
    /// Bold text.
    Bold(String),
    /// Italic text.
    Italic(String),
}

/// Splits a text into its blocks.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut code: Option<Vec<&str>> = None;
    let mut starts = true;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            match code.take() {
                Some(lines) => blocks.push(Block::Code(lines.join("\n"))),
                None => code = Some(Vec::new()),
            }
            starts = true;
            continue;
        }
        match &mut code {
            Some(lines) => lines.push(line),
            None if line.trim().is_empty() => starts = true,
            None => {
                add_line(&mut blocks, line.trim(), starts);
                starts = false;
            }
        }
    }
    blocks.extend(code.map(|lines| Block::Code(lines.join("\n"))));
    blocks
}

fn add_line(blocks: &mut Vec<Block>, line: &str, starts: bool) {
    let number =
        line.find(". ").filter(|at| *at > 0 && line[..*at].bytes().all(|b| b.is_ascii_digit()));
    let last = if starts { None } else { blocks.last_mut() };
    if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        match last {
            Some(Block::List(items)) => items.push(spans(item)),
            _ => blocks.push(Block::List(vec![spans(item)])),
        }
    } else if let Some(at) = number {
        let item = spans(&line[at + 2..]);
        match last {
            Some(Block::Numbered(items)) => items.push(item),
            _ => blocks.push(Block::Numbered(vec![item])),
        }
    } else {
        let open = match last {
            Some(Block::Paragraph(open)) => Some(open),
            Some(Block::List(items) | Block::Numbered(items)) => items.last_mut(),
            _ => None,
        };
        match open {
            Some(open) => {
                open.push(Span::Text(String::from(" ")));
                open.extend(spans(line));
            }
            None => blocks.push(Block::Paragraph(spans(line))),
        }
    }
}

/// Splits a line into plain text, code, bold and italic text. A mark without its second one is
/// plain text, and so are the stars of `2 * 3 * 4` and `2*3*4`.
pub fn spans(line: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut plain = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let mark = ["**", "*", "`"].into_iter().find(|mark| rest.starts_with(mark));
        let inner = mark.and_then(|mark| {
            let (inner, after) = rest[mark.len()..].split_once(mark)?;
            let is_loose = inner.starts_with(' ') || inner.ends_with(' ');
            let is_product = plain.ends_with(|last: char| last.is_alphanumeric());
            let is_star = mark == "*" && (is_loose || is_product);
            (!inner.is_empty() && !is_star).then_some((mark, inner, after))
        });
        let Some((mark, inner, after)) = inner else {
            plain.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        if !plain.is_empty() {
            spans.push(Span::Text(std::mem::take(&mut plain)));
        }
        spans.push(match mark {
            "`" => Span::Code(inner.to_owned()),
            "*" => Span::Italic(inner.to_owned()),
            _ => Span::Bold(inner.to_owned()),
        });
        rest = after;
    }
    if !plain.is_empty() {
        spans.push(Span::Text(plain));
    }
    spans
}

/// Returns a line without its marks.
pub fn plain(line: &str) -> String {
    let text = |span| match span {
        Span::Text(text) | Span::Code(text) | Span::Bold(text) | Span::Italic(text) => text,
    };
    spans(line).into_iter().map(text).collect()
}

/// A text with values in braces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Answer,
    Source(Reference),
    Value(Expression),
}

impl Template {
    /// Reads a text. The offset of a fault is that of the opening brace or after it.
    pub(crate) fn parse(text: &str, scope: Scope<'_>) -> Result<Template, ExpressionFault> {
        let mut pieces = Vec::new();
        let (mut plain, mut is_code) = (String::new(), false);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let at = text.len() - rest.len();
            if first != '{' || is_code {
                is_code ^= first == '`';
                plain.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let closed = rest[1..].split_once('}').filter(|(inner, _)| !inner.contains('{'));
            let Some((inner, after)) = closed else {
                let text = "'{' has no '}'; write {answer} or {EVENT}, and braces in `code` for themselves";
                return Err((at, String::from(text)));
            };
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            let piece = Template::value(inner, scope);
            pieces.push(piece.map_err(|(offset, text)| (at + 1 + offset, text))?);
            rest = after;
        }
        pieces.push(Piece::Text(plain));
        Ok(Template { pieces })
    }

    fn value(inner: &str, scope: Scope<'_>) -> Result<Piece, ExpressionFault> {
        let name = inner.trim();
        if name == "answer" {
            return Ok(Piece::Answer);
        }
        if name.is_empty() {
            return Err((0, String::from("the braces are empty; write {answer} or {EVENT}")));
        }
        if let Some(at) = inner.find(':') {
            let text = format!("numbers are rounded by themselves; leave '{}' out", &inner[at..]);
            return Err((at, text));
        }
        if name == "source" || name.ends_with(".source") {
            return scope.reference(name).map(Piece::Source).map_err(|text| (0, text));
        }
        Expression::parse(inner, scope).map(Piece::Value)
    }

    /// Returns the text with its values.
    pub(crate) fn fill(&self, answer: &str, values: &dyn Values) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Answer => text.push_str(answer),
                Piece::Source(reference) => text.push_str(values.source(reference)?.label()),
                Piece::Value(expression) => text.push_str(&shown(expression.evaluate(values)?)),
            }
        }
        Ok(text)
    }

    /// Returns the events that the text estimates.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.pieces.iter().flat_map(|piece| match piece {
            Piece::Value(expression) => expression.references().collect(),
            Piece::Source(reference) => vec![reference],
            _ => Vec::new(),
        })
    }
}

/// Returns whether a value is an estimate.
pub(crate) fn estimated(reference: &Reference) -> Option<(usize, sim_core::PmuEvent)> {
    match reference.what {
        What::Estimate(event) => Some((reference.setup, event)),
        _ => None,
    }
}

/// Returns a number for people: groups of three digits, and decimals by its size.
pub fn shown(value: f64) -> String {
    let size = value.abs();
    let decimals = match () {
        () if value.fract() == 0.0 || size >= 1000.0 => 0,
        () if size >= 100.0 => 1,
        () if size >= 1.0 => 2,
        // Three digits after the zeros.
        () => (2.0 - size.log10().floor()).clamp(3.0, 12.0) as usize,
    };
    let text = format!("{size:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign =
        if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) { "-" } else { "" };
    match fraction {
        "" => format!("{sign}{grouped}"),
        _ => format!("{sign}{grouped}.{fraction}"),
    }
}
