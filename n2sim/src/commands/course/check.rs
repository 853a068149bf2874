//! Lessons of a teacher, checked and solved.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;
use sim_core::Shown;

use super::lessons::{self, Solution};
use super::texts;
use crate::files::output::Output;
use crate::plural::number_of;
use crate::verdict::Verdict;

/// Solves lessons and prints the answers that the model computes.
pub(super) fn run(paths: &[PathBuf], json: bool) -> anyhow::Result<Verdict> {
    let mut out = Output::create(None)?;
    for path in paths {
        let loaded = lessons::load_file(path)?;
        let solution = loaded.solve()?;
        match json {
            true => write_json(&mut out, &solution)?,
            false => write(&mut out, &solution)?,
        }
    }
    out.finish()?;
    Ok(Verdict::Good)
}

fn write_json(out: &mut impl Write, one: &Solution<'_>) -> io::Result<()> {
    let object = json!({ "lesson": one.lesson, "solved": one.answers });
    writeln!(out, "{object}")
}

fn write(out: &mut impl Write, one: &Solution<'_>) -> io::Result<()> {
    let lesson = one.lesson;
    writeln!(
        out,
        "{}: {} ({}, {}, {})",
        lesson.file.shown(),
        lesson.title.shown(),
        number_of(lesson.minutes, "minute"),
        lesson.level.name(),
        number_of(lesson.points(), "point")
    )?;
    for (at, (question, answer)) in lesson.questions.iter().zip(&one.answers).enumerate() {
        let unit = if question.unit.is_empty() { "" } else { " " };
        writeln!(out, "\n  {}. {}", at + 1, question.ask.shown())?;
        writeln!(out, "     answer: {}{unit}{}", answer.shown.shown(), question.unit.shown())?;
        writeln!(out, "     graded: {}", texts::wanted(question).shown())?;
        let why = answer.why.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "     why: {}", why.shown())?;
    }
    writeln!(out)
}
