//! The sheet that a student fills, and its points.
//!
//! A sheet is TOML: `student = "Ada"`, then a table for each lesson with `answer1`, `answer2` and
//! so on. An answer is a text or a number.

use serde::Serialize;
use sim_scenario::Place;
use toml::de::DeValue;

use crate::document::{Table, read_file, wrong_type};
use crate::error::{Fault, LessonError, place_of};
use crate::lesson::Lesson;
use crate::solve::Solved;
use crate::verdict::Verdict;

/// Longest sheet in bytes.
const FILE_MAX: usize = 1 << 20;

/// The answers of a student.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Name of the student.
    pub student: String,
    /// Answers of each lesson by its name.
    pub lessons: Vec<SheetLesson>,
}

/// The answers of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetLesson {
    /// Name of the lesson.
    pub name: String,
    /// Number of each answered question, from 1, and the answer as typed.
    pub answers: Vec<(usize, String, Place)>,
    place: Place,
}

/// The points of a student.
#[derive(Clone, Debug, Serialize)]
pub struct Grade {
    /// Name of the student.
    pub student: String,
    /// Points of all lessons.
    pub points: u64,
    /// Points that could be reached.
    pub of: u64,
    /// Lessons in their order.
    pub lessons: Vec<GradedLesson>,
}

/// The points of a lesson.
#[derive(Clone, Debug, Serialize)]
pub struct GradedLesson {
    /// Name of the lesson.
    pub lesson: String,
    /// Points.
    pub points: u64,
    /// Points that could be reached.
    pub of: u64,
    /// Questions in their order.
    pub questions: Vec<GradedQuestion>,
}

/// The verdict on an answer.
#[derive(Clone, Debug, Serialize)]
pub struct GradedQuestion {
    /// Number of the question, from 1.
    pub question: usize,
    /// Answer as typed; empty without one.
    pub typed: String,
    /// The true answer for people.
    pub truth: String,
    /// Points.
    pub points: u64,
    /// The verdict.
    pub verdict: Verdict,
}

impl Sheet {
    /// Reads a sheet. `file` names it in errors.
    ///
    /// # Errors
    /// The first fault, with its place and a remedy. No text makes this panic.
    pub fn parse(text: &str, file: &str) -> Result<Sheet, LessonError> {
        if text.len() > FILE_MAX {
            let fault =
                Fault::other(0, "the file is larger than 1 MiB; a sheet has one line an answer");
            return Err(fault.of(file, text));
        }
        read_file(text, "a sheet of answers", |head| read(&head))
            .map_err(|fault| fault.of(file, text))
    }

    /// Refuses answers to lessons and questions that are not among `lessons`.
    ///
    /// # Errors
    /// The first such answer, with its place.
    pub fn fits(&self, lessons: &[&Lesson], file: &str) -> Result<(), LessonError> {
        let error = |place, text: String| LessonError {
            file: file.to_owned(),
            place,
            problem: crate::error::Problem::Other(text),
        };
        for own in &self.lessons {
            let Some(lesson) = lessons.iter().find(|lesson| lesson.name == own.name) else {
                let known: Vec<&str> = lessons.iter().map(|lesson| lesson.name.as_str()).collect();
                let text =
                    format!("no lesson is named '{}'; known are {}", own.name, known.join(", "));
                return Err(error(own.place, text));
            };
            let questions = lesson.questions.len();
            if let Some((number, _, place)) =
                own.answers.iter().find(|(number, ..)| *number > questions)
            {
                let text = format!(
                    "lesson '{}' has no question {number}; it has the questions 1 to {questions}",
                    own.name
                );
                return Err(error(*place, text));
            }
        }
        Ok(())
    }
}

/// Returns the points of a sheet. Lessons that it leaves out have none.
pub fn grade(sheet: &Sheet, lessons: &[(&Lesson, &[Solved])]) -> Grade {
    let lessons: Vec<GradedLesson> =
        lessons.iter().map(|(lesson, solved)| grade_lesson(sheet, lesson, solved)).collect();
    Grade {
        student: sheet.student.clone(),
        points: lessons.iter().map(|lesson| lesson.points).sum(),
        of: lessons.iter().map(|lesson| lesson.of).sum(),
        lessons,
    }
}

fn grade_lesson(sheet: &Sheet, lesson: &Lesson, solved: &[Solved]) -> GradedLesson {
    let own = sheet.lessons.iter().find(|own| own.name == lesson.name);
    let typed = |number: usize| {
        let answers = own.map(|own| own.answers.as_slice()).unwrap_or_default();
        answers.iter().find(|(own, ..)| *own == number).map_or("", |(_, typed, _)| typed.as_str())
    };
    let pairs = lesson.questions.iter().zip(solved).enumerate();
    let questions: Vec<GradedQuestion> = pairs
        .map(|(index, (question, solved))| {
            let typed = typed(index + 1);
            let verdict = question.check(typed, &solved.truth);
            GradedQuestion {
                question: index + 1,
                typed: typed.to_owned(),
                truth: solved.shown.clone(),
                points: if verdict.is_right() { question.points } else { 0 },
                verdict,
            }
        })
        .collect();
    GradedLesson {
        lesson: lesson.name.clone(),
        points: questions.iter().map(|question| question.points).sum(),
        of: lesson.points(),
        questions,
    }
}

fn read(head: &Table<'_>) -> Result<Sheet, Fault> {
    let student = head.need_string("student", "\"Ada Lovelace\"")?;
    let name = student.text.trim();
    if name.is_empty() {
        return Err(wrong_type(student.offset, "student", "a name: \"Ada Lovelace\""));
    }
    let mut lessons = Vec::new();
    for (key, offset) in head.keys().filter(|(key, _)| *key != "student") {
        let Some((_, value)) = head.entry(key) else { continue };
        let DeValue::Table(table) = value.get_ref() else {
            let text =
                format!("'{key}' is not a lesson; write [\"01-first-touch\"] above its answers");
            return Err(Fault::other(offset, text));
        };
        let table = Table { text: head.text, table, name: "a lesson of a sheet", offset };
        lessons.push((offset, lesson(&table, key)?));
    }
    lessons.sort_by_key(|(offset, _)| *offset);
    let lessons = lessons.into_iter().map(|(_, lesson)| lesson).collect();
    Ok(Sheet { student: name.to_owned(), lessons })
}

fn lesson(table: &Table<'_>, name: &str) -> Result<SheetLesson, Fault> {
    let mut answers = Vec::new();
    for (key, offset) in table.keys() {
        let number = key.strip_prefix("answer").and_then(|digits| digits.parse().ok());
        let Some(number) = number.filter(|number: &usize| *number > 0) else {
            let text =
                format!("unknown key '{key}'; a lesson of a sheet has answer1, answer2 and so on");
            return Err(Fault::other(offset, text));
        };
        let Some((_, value)) = table.entry(key) else { continue };
        let typed = match value.get_ref() {
            DeValue::String(text) => text.trim().to_owned(),
            DeValue::Integer(_) | DeValue::Float(_) => table.text[value.span()].to_owned(),
            _ => {
                let expected = "a text or a number: \"12\" or 12";
                return Err(wrong_type(value.span().start, key, expected));
            }
        };
        answers.push((number, typed, place_of(table.text, offset)));
    }
    answers.sort_by_key(|(number, ..)| *number);
    Ok(SheetLesson { name: name.to_owned(), answers, place: place_of(table.text, table.offset) })
}
