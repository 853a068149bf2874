//! An explanation as Markdown, for notes and books.

use std::fmt::Write;

use super::text::{label, place_text};
use super::{Explanation, Kind};

/// Returns the whole explanation, with its name as a heading of the second level.
pub fn page(of: &Explanation) -> String {
    let mut text = format!("## `{}`\n\n", of.name);
    let code = of.code.as_ref().map_or(String::new(), |code| format!(", event `{code}`"));
    let unit = if of.unit.is_empty() { String::new() } else { format!(", unit: {}", of.unit) };
    let _ = writeln!(text, "{}. PMU guide {}{code}{unit}.", escaped(&of.title), of.section);
    if let Some(formula) = &of.formula {
        let _ = writeln!(text, "\n    {formula}");
    }
    if !of.other_names.is_empty() {
        let _ = writeln!(text, "\nAlso called {}.", of.other_names.join(", "));
    }
    let first = match of.kind {
        Kind::Event => "Counts",
        Kind::Metric | Kind::Cause => "Meaning",
        Kind::Section => "About",
    };
    list(&mut text, first, of.counts.iter().map(|clause| escaped(clause)));
    list(&mut text, "Does not count", of.excludes.iter().map(|clause| escaped(clause)));
    let relation = of.relations.iter().map(|relation| {
        let others: Vec<String> =
            relation.others.iter().map(|other| format!("`{other}`")).collect();
        format!("{}: {}", escaped(&label(relation)), others.join(", "))
    });
    list(&mut text, "Relations", relation);
    let pitfalls = of.pitfalls.iter();
    list(
        &mut text,
        "Pitfalls",
        pitfalls.map(|p| format!("**{}**: {}", escaped(&p.title), escaped(&p.text))),
    );
    list(
        &mut text,
        "Raised in",
        of.raised.iter().map(|place| format!("`{}`", place_text(of, place))),
    );
    let proofs = of.scenarios.iter();
    let proofs = proofs.map(|p| format!("`{}` in `{}`: {}", p.test, p.file, escaped(&p.claim)));
    let more = (of.more_scenarios > 0).then(|| format!("and {} more scenarios", of.more_scenarios));
    list(&mut text, "Proved by", proofs.chain(more));
    if let Some(example) = &of.example {
        let _ = write!(text, "\n```console\n$ {}\n{}```\n", example.command, example.output);
    }
    text
}

fn list(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(text, "\n**{title}**\n");
    }
    for line in lines {
        let _ = writeln!(text, "* {line}");
    }
}

/// Escapes the characters that have a meaning in Markdown.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '_' | '<' | '>' | '[' | ']' | '`' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
