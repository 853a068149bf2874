//! Lessons: texts and questions for the page, and guesses compared with the model.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_course::text::{self, Block, Span};
use sim_course::{
    Answer, LESSONS, Lesson, Question, Solved, Term, TraceCounts, TraceRun, TraceSource, Verdict,
};

use crate::machine::Choice;
use crate::traces;

/// Traces of lessons by name, and the lesson that was solved last.
#[derive(Debug, Default)]
pub(crate) struct Lessons {
    traces: BTreeMap<String, Vec<u8>>,
    last: Option<(String, Vec<Solved>)>,
}

/// Head of a lesson of n2sim.
#[derive(Debug, Serialize)]
pub(crate) struct Head {
    name: String,
    title: String,
    minutes: u64,
    level: &'static str,
}

/// A lesson without its answers, and the notation of its setups.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    #[serde(flatten)]
    lesson: Lesson,
    notation: Vec<Term>,
    texts: Texts,
}

/// Texts of a lesson as the page prints them: in blocks and spans, as the pages of a course kit.
#[derive(Debug, Serialize)]
struct Texts {
    text: Vec<Block>,
    questions: Vec<Asked>,
}

/// Texts of a question.
#[derive(Debug, Serialize)]
struct Asked {
    ask: Vec<Span>,
    hint: Option<Vec<Block>>,
    /// Texts of a choice without marks; empty for other answers.
    options: Vec<String>,
}

impl Texts {
    fn of(lesson: &Lesson) -> Texts {
        let asked = |question: &Question| Asked {
            ask: text::spans(&question.ask),
            hint: question.hint.as_deref().map(text::blocks),
            options: match &question.answer {
                Answer::Choice { options, .. } => {
                    options.iter().map(|option| text::plain(option)).collect()
                }
                _ => Vec::new(),
            },
        };
        let questions = lesson.questions.iter().map(asked).collect();
        Texts { text: text::blocks(&lesson.text), questions }
    }
}

/// Judged guess, with the true answer and the reason once it is right or given up.
#[derive(Debug, Serialize)]
pub(crate) struct Guessed {
    right: bool,
    /// The guess is not an answer of the kind that the question asks for.
    unread: bool,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Blocks of `why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<Block>>,
}

/// Returns the lessons of n2sim in their order.
pub(crate) fn heads() -> Result<Vec<Head>, String> {
    let head = |(name, text): &(&str, &str)| {
        let Lesson { name, title, minutes, level, .. } = parse(text, name)?;
        Ok(Head { name, title, minutes, level: level.name() })
    };
    LESSONS.iter().map(head).collect()
}

/// Returns a lesson with what the page shows beside it.
pub(crate) fn page(name: &str, text: Option<&str>) -> Result<Page, String> {
    let lesson = lesson(name, text)?;
    Ok(Page { notation: lesson.notation(), texts: Texts::of(&lesson), lesson })
}

/// Returns a lesson of n2sim by its name, or the lesson in `text`.
fn lesson(name: &str, text: Option<&str>) -> Result<Lesson, String> {
    if let Some(text) = text {
        return parse(text, name);
    }
    for (file, text) in LESSONS {
        let lesson = parse(text, file)?;
        if lesson.name == name {
            return Ok(lesson);
        }
    }
    Err(format!(
        "there is no lesson '{name}': choose one of the list, or drop a lesson file (*.toml)"
    ))
}

fn parse(text: &str, file: &str) -> Result<Lesson, String> {
    Lesson::parse(text, file).map_err(|error| error.to_string())
}

impl Lessons {
    /// Keeps a trace for the lessons that name it.
    pub(crate) fn keep(&mut self, name: String, trace: Vec<u8>) {
        self.traces.insert(name, trace);
        self.last = None;
    }

    /// Solves every question of a lesson file, so that its faults are found before it is shown.
    pub(crate) fn solve(&mut self, name: &str, text: &str) -> Result<(), String> {
        self.solved(&parse(text, name)?, text).map(|_| ())
    }

    /// Returns the answers of a lesson. The lesson of the last `key` is not solved again.
    fn solved(&mut self, lesson: &Lesson, key: &str) -> Result<&[Solved], String> {
        if self.last.as_ref().is_none_or(|(known, _)| known != key) {
            let solved = lesson.solve(&mut Source(&self.traces)).map_err(|e| e.to_string())?;
            self.last = Some((key.to_owned(), solved));
        }
        Ok(self.last.as_ref().map(|(_, solved)| solved.as_slice()).unwrap_or_default())
    }

    /// Judges what was typed as the answer of question `number`, counted from 0. `None` gives up.
    pub(crate) fn guess(
        &mut self,
        name: &str,
        text: Option<&str>,
        number: usize,
        typed: Option<&str>,
    ) -> Result<Guessed, String> {
        let lesson = lesson(name, text)?;
        let question = lesson
            .questions
            .get(number)
            .ok_or_else(|| format!("the lesson has {} questions", lesson.questions.len()))?;
        let solved = self.solved(&lesson, text.unwrap_or(name))?.get(number);
        let solved = solved.ok_or("the lesson has no answer to this question")?;
        let verdict = typed.map(|typed| question.check(typed, &solved.truth));
        let right = verdict.as_ref().is_some_and(Verdict::is_right);
        let unread = matches!(verdict, Some(Verdict::Unreadable { .. } | Verdict::Empty));
        let message = verdict.map_or_else(
            || String::from("given up"),
            |verdict| match verdict {
                // The distance would give the answer away.
                Verdict::Off { by, .. } if by > 0.0 => String::from("too high"),
                Verdict::Off { .. } => String::from("too low"),
                other => other.message(),
            },
        );
        let is_open = !right && typed.is_some();
        Ok(Guessed {
            right,
            unread,
            message,
            truth: (!is_open).then(|| solved.shown.clone()),
            why: (!is_open).then(|| solved.why.clone()),
            blocks: (!is_open).then(|| text::blocks(&solved.why)),
        })
    }
}

/// Runs the traces that the page has given.
struct Source<'a>(&'a BTreeMap<String, Vec<u8>>);

impl TraceSource for Source<'_> {
    fn run(&mut self, run: &TraceRun) -> Result<TraceCounts, String> {
        let bytes = self.0.get(&run.trace).map(Vec::as_slice).unwrap_or_default();
        if bytes.is_empty() {
            return Err(format!("the lesson needs the trace {}: drop it on the page", run.trace));
        }
        let session = traces::session(bytes, &Choice::changed(run.overrides()));
        run.count(&session.map_err(|fault| fault.text)?)
    }
}
