//! Pages of a kit: lessons without answers for students, solutions for the teacher.

use maud::{Markup, html};
use sim_course::{Answer, Lesson, Question, Setup};
use sim_report::page::{Page, Section};

use super::lessons::Solution;
use super::{markup, texts};
use crate::plural::number_of;

/// Returns the page of a lesson, without answers.
pub(super) fn lesson(lesson: &Lesson) -> String {
    let text = html! {
        (markup::text(&lesson.text))
        (setups(&lesson.setups))
        (notation(lesson))
    };
    let mut sections = vec![section("lesson", "The lesson", text)];
    for (at, question) in lesson.questions.iter().enumerate() {
        let heading = format!("Question {}", at + 1);
        sections.push(section(&format!("question-{}", at + 1), &heading, asked(question, true)));
    }
    let sheet = html! {
        p { "Write your answers into a copy of " code { "answers.toml" } ", below "
            code { "[\"" (lesson.name) "\"]" } "." }
        p { a href="index.html" { "All lessons" } }
    };
    sections.push(section("answers", "Your answers", sheet));
    let lead = html! { p { (number_of(lesson.minutes, "minute")) ", " (lesson.level.name()) ", "
    (number_of(lesson.points(), "point")) ". Guess each answer first, then find out." } };
    Page { title: lesson.title.clone(), lead, sections }.html()
}

/// Returns the list of all lessons.
pub(super) fn index(solved: &[Solution<'_>]) -> String {
    let list = html! { ol { @for Solution { lesson, .. } in solved {
        li { a href={ (lesson.name) ".html" } { (lesson.title) } ": "
            (number_of(lesson.minutes, "minute")) ", " (lesson.level.name()) ", "
            (number_of(lesson.questions.len(), "question")) }
    } } };
    let lead = html! { p { "Each lesson is a short text with questions about the counts of a core. Read, guess, and write the \
    answers into your copy of " code { "answers.toml" } "." } };
    let sections = vec![section("lessons", "Lessons", list)];
    Page { title: String::from("Lessons about PMU events"), lead, sections }.html()
}

/// Returns the page with all answers.
pub(super) fn solutions(solved: &[Solution<'_>]) -> String {
    let body = |one: &Solution<'_>| {
        html! { @for (at, (question, answer)) in one.lesson.questions.iter().zip(&one.answers).enumerate() {
            h3 { "Question " (at + 1) " (" (number_of(question.points, "point")) ")" }
            (asked(question, false))
            p { "Answer: " strong { (answer.shown) } @if !question.unit.is_empty() { " " (question.unit) } }
            (markup::text(&answer.why))
        } }
    };
    let sections =
        solved.iter().map(|one| section(&one.lesson.name, &one.lesson.title, body(one))).collect();
    let lead = html! { p { "For the teacher. The model computed every number on this page." } };
    Page { title: String::from("Solutions"), lead, sections }.html()
}

/// Returns a question with its choices and, if wished, its hint.
pub(super) fn asked(question: &Question, has_hint: bool) -> Markup {
    html! {
        p { (markup::line(&question.ask)) }
        @if let Answer::Choice { options, .. } = &question.answer {
            ol { @for option in options { li { (markup::line(option)) } } }
        }
        p.quiet { "Answer: " (texts::wanted(question)) "." }
        @if let Some(hint) = question.hint.as_ref().filter(|_| has_hint) {
            details { summary { "Hint" } (markup::text(hint)) }
        }
    }
}

/// Returns a table of the setups.
pub(super) fn setups(setups: &[Setup]) -> Markup {
    html! { @for setup in setups {
        h3 { @if setups.len() == 1 { "What runs" } @else { code { (setup.name) } } }
        dl.facts { @for (name, text) in texts::facts(setup) {
            dt { (name) } dd { code { (text) } }
        } }
    } }
}

/// Returns the meanings of the terms that the setups use; nothing for traces alone.
fn notation(lesson: &Lesson) -> Markup {
    let terms = lesson.notation();
    html! { @if !terms.is_empty() {
        h3 { "Notation" }
        dl.facts { @for term in &terms { dt { code { (term.sign) } } dd { (term.meaning) } } }
    } }
}

fn section(id: &str, heading: &str, body: Markup) -> Section {
    Section { id: id.to_owned(), heading: heading.to_owned(), body }
}
