//! Points of students.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;
use sim_core::Shown;
use sim_course::sheet::SheetLesson;
use sim_course::{Grade, Lesson, Sheet, Solved, grade};

use super::lessons::{self, Loaded, Solution};
use crate::files::output::Output;
use crate::verdict::Verdict;

/// Widest column of a student's name.
const NAME_MAX: usize = 30;

/// Grades sheets and prints a table, or an object for each student. A sheet with a fault fails the
/// command after all others are graded.
pub(super) fn run(
    sheets: &[PathBuf],
    folder: Option<&Path>,
    json: bool,
) -> anyhow::Result<Verdict> {
    let loaded = lessons::load(folder)?;
    let solved: Vec<Solution<'_>> =
        loaded.iter().map(Loaded::solve).collect::<anyhow::Result<_>>()?;
    let lessons: Vec<&Lesson> = solved.iter().map(|one| one.lesson).collect();
    let pairs: Vec<(&Lesson, &[Solved])> =
        solved.iter().map(|one| (one.lesson, one.answers.as_slice())).collect();
    let (mut grades, mut faults) = (Vec::new(), Vec::new());
    for path in sheets {
        match read(path, &lessons, folder) {
            Ok(sheet) => grades.push((path, grade(&sheet, &pairs))),
            Err(error) => faults.push(crate::failure::message(&error)),
        }
    }
    let mut out = Output::create(None)?;
    match json {
        true => write_json(&mut out, &grades)?,
        false => write_table(&mut out, &grades)?,
    }
    out.finish()?;
    if !faults.is_empty() {
        anyhow::bail!("{}", faults.join("\n"));
    }
    Ok(Verdict::Good)
}

fn read(path: &Path, lessons: &[&Lesson], folder: Option<&Path>) -> anyhow::Result<Sheet> {
    let name = path.shown().to_string();
    if path.is_dir() {
        let name = name.trim_end_matches('/');
        anyhow::bail!("{name} is a directory; name the files in it: --grade {name}/*.toml");
    }
    let text = sim_files::text(path).with_context(|| format!("cannot read the answers {name}"))?;
    let sheet = Sheet::parse(&text, &name)?;
    let is_known = |own: &SheetLesson| lessons.iter().any(|lesson| lesson.name == own.name);
    let is_strange = folder.is_none() && !sheet.lessons.iter().all(is_known);
    match sheet.fits(lessons, &name) {
        Err(error) if is_strange => {
            anyhow::bail!("{error}; for lessons of your own add --lessons DIR")
        }
        fits => fits?,
    }
    Ok(sheet)
}

fn write_json(out: &mut impl Write, grades: &[(&PathBuf, Grade)]) -> io::Result<()> {
    for (path, grade) in grades {
        let mut object = serde_json::to_value(grade)?;
        object["file"] = json!(path.shown().to_string());
        writeln!(out, "{object}")?;
    }
    Ok(())
}

fn write_table(out: &mut impl Write, grades: &[(&PathBuf, Grade)]) -> io::Result<()> {
    let Some((_, first)) = grades.first() else { return Ok(()) };
    let names = grades.iter().map(|(_, grade)| shown_name(grade).chars().count());
    let width = names.max().unwrap_or(0).max("student".len());
    let lessons = first.lessons.iter().map(|lesson| short(&lesson.lesson));
    let lessons: Vec<String> = lessons.map(|name| format!("{name:>6}")).collect();
    writeln!(out, "{:<width$} {:>8}{}", "student", "points", lessons.concat())?;
    for (_, grade) in grades {
        let points = format!("{}/{}", grade.points, grade.of);
        let of_lesson = grade.lessons.iter();
        let of_lesson = of_lesson.map(|one| format!("{:>6}", format!("{}/{}", one.points, one.of)));
        let cells: String = of_lesson.collect();
        writeln!(out, "{:<width$} {points:>8}{cells}", shown_name(grade))?;
    }
    for (path, grade) in grades {
        writeln!(out, "\n{} ({})", shown_name(grade), path.shown())?;
        let mut is_perfect = true;
        for lesson in &grade.lessons {
            if lesson.questions.iter().all(|question| question.typed.is_empty()) {
                writeln!(out, "  {}: no answers", lesson.lesson.shown())?;
                is_perfect = false;
                continue;
            }
            for question in lesson.questions.iter().filter(|one| !one.verdict.is_right()) {
                is_perfect = false;
                writeln!(
                    out,
                    "  {} question {}: {}; the answer is {}",
                    lesson.lesson.shown(),
                    question.question,
                    said(&question.typed, &question.verdict.message()),
                    question.truth.shown()
                )?;
            }
        }
        if is_perfect {
            writeln!(out, "  all right")?;
        }
    }
    Ok(())
}

/// Returns the typed answer with the verdict on it.
fn said(typed: &str, message: &str) -> String {
    match message.contains('\'') || typed.is_empty() {
        true => message.shown().to_string(),
        false => format!("{} is {message}", typed.shown()),
    }
}

fn shown_name(grade: &Grade) -> String {
    let name = grade.student.shown().to_string();
    match name.chars().count() > NAME_MAX {
        true => name.chars().take(NAME_MAX - 1).chain(['…']).collect(),
        false => name,
    }
}

/// Returns the number in front of a lesson's name, or the begin of the name.
fn short(name: &str) -> String {
    let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
    if digits.is_empty() { name.chars().take(5).collect() } else { digits }
}
