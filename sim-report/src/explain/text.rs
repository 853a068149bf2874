//! An explanation as text for a terminal of 100 columns.

use std::io::{self, Write};

use super::{EventRelation, Explanation, Kind, Origin, Place};

/// Width of a line, in columns.
const WIDTH: usize = 100;

/// Writes the whole explanation.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, of: &Explanation) -> io::Result<()> {
    let code = of.code.as_ref().map_or(String::new(), |code| format!(" ({code})"));
    writeln!(out, "{}{code}  {}", of.name, of.title)?;
    writeln!(out, "{}", heading(of))?;
    let first = match of.kind {
        Kind::Event => "counts",
        Kind::Metric | Kind::Cause => "meaning",
        Kind::Section => "about",
    };
    list(out, first, &of.counts)?;
    list(out, "does not count", &of.excludes)?;
    relations(out, of)?;
    let pitfalls: Vec<String> =
        of.pitfalls.iter().map(|pitfall| format!("{}: {}", pitfall.title, pitfall.text)).collect();
    list(out, "pitfalls", &pitfalls)?;
    list(
        out,
        "raised in",
        &of.raised.iter().map(|place| place_text(of, place)).collect::<Vec<_>>(),
    )?;
    let mut proofs: Vec<String> =
        of.scenarios.iter().map(|proof| format!("{}: {}", proof.test, proof.claim)).collect();
    if of.more_scenarios > 0 {
        proofs.push(format!("and {} more scenarios", of.more_scenarios));
    }
    list(out, "proved by", &proofs)?;
    if let Some(example) = &of.example {
        writeln!(out, "\ntry\n  $ {}", example.command)?;
        for line in example.output.lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// Returns section, unit, formula and other names, one line each.
fn heading(of: &Explanation) -> String {
    let mut lines = Vec::new();
    let unit = match of.unit.as_str() {
        "" => String::new(),
        unit => format!(", unit: {unit}"),
    };
    lines.push(format!("PMU guide {}{unit}", of.section));
    lines.extend(of.formula.as_ref().map(|formula| format!("= {formula}")));
    if !of.other_names.is_empty() {
        lines.push(format!("also called {}", of.other_names.join(", ")));
    }
    lines.iter().map(|line| wrapped(line, 0)).collect::<Vec<_>>().join("\n")
}

fn list(out: &mut impl Write, title: &str, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    for line in lines {
        writeln!(out, "  - {}", wrapped(line, 4))?;
    }
    Ok(())
}

/// Writes the relations as a small tree.
fn relations(out: &mut impl Write, of: &Explanation) -> io::Result<()> {
    if of.relations.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nrelations\n  {}", of.name)?;
    let last = of.relations.len() - 1;
    for (i, relation) in of.relations.iter().enumerate() {
        let branch = if i == last { "`-" } else { "|-" };
        let stem = if i == last { "  " } else { "| " };
        let text = wrapped(&format!("{}: {}", label(relation), relation.others.join(", ")), 7);
        let text = text.replace("\n     ", &format!("\n  {stem} "));
        writeln!(out, "  {branch} {text}")?;
    }
    Ok(())
}

/// Returns the label of a relation, marked if the guide does not state it.
pub(super) fn label(relation: &EventRelation) -> String {
    match relation.origin {
        Origin::Inferred => format!("{} (inferred)", relation.label),
        Origin::Printed | Origin::Formula => relation.label.clone(),
    }
}

/// Returns `file: function`, with the event if it is not the explained one.
pub(super) fn place_text(of: &Explanation, place: &Place) -> String {
    match place.event == of.name {
        true => format!("{}: {}", place.file, place.function),
        false => format!("{}: {} ({})", place.file, place.function, place.event),
    }
}

/// Breaks a text at blanks. Lines after the first are indented.
pub(super) fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = indent;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > indent && column + 1 + length > WIDTH {
            lines += "\n";
            lines += &" ".repeat(indent);
            column = indent;
        } else if column > indent {
            lines += " ";
            column += 1;
        }
        lines += word;
        column += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::PmuEvent;

    #[test]
    fn no_line_of_any_event_exceeds_the_terminal() {
        for event in PmuEvent::ALL {
            let mut out = Vec::new();
            write(&mut out, &super::super::event(event)).expect("memory can be written");
            let text = String::from_utf8(out).expect("text");
            let own = text.split("\ntry\n").next().unwrap_or_default();
            for line in own.lines() {
                assert!(line.chars().count() <= WIDTH, "{event:?}: {line}");
            }
        }
    }

    #[test]
    fn text_breaks_at_blanks_and_keeps_every_word() {
        let text = "word ".repeat(60);
        let broken = wrapped(text.trim(), 4);
        assert_eq!(broken.split_whitespace().count(), 60);
        assert!(broken.lines().skip(1).all(|line| line.starts_with("    word")));
    }
}
