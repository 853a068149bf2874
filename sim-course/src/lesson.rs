//! A lesson file.

use serde::Serialize;

use crate::document::{Table, read_file, wrong_type};
use crate::error::{Fault, LessonError};
use crate::question::{self, Question};
use crate::setup::{self, Setup};

/// Longest lesson file in bytes.
const FILE_MAX: usize = 1 << 20;
const KEYS: [&str; 14] = [
    "title",
    "minutes",
    "level",
    "text",
    "setup",
    "question",
    "given",
    "do",
    "set",
    "names",
    "trace",
    "instructions",
    "counters",
    "interval",
];

/// A lesson. Serializes without its answers.
#[derive(Clone, Debug, Serialize)]
pub struct Lesson {
    /// Name of the file, without folder and `.toml`.
    pub name: String,
    /// The file as it was named to the parser.
    #[serde(skip)]
    pub file: String,
    /// Title.
    pub title: String,
    /// Time that the lesson takes a class, in minutes.
    pub minutes: u64,
    /// Level of the students.
    pub level: Level,
    /// Text that the students read first, in the Markdown of [`crate::text`].
    pub text: String,
    /// Setups, in their order. At least one.
    pub setups: Vec<Setup>,
    /// Questions in their order. At least one.
    pub questions: Vec<Question>,
}

/// Level of the students.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Has programmed; knows no event.
    Beginner,
    /// Knows caches and a pipeline.
    Intermediate,
    /// Has counted events of programs.
    Advanced,
}

impl Level {
    /// Returns the level as lesson files write it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Beginner => "beginner",
            Level::Intermediate => "intermediate",
            Level::Advanced => "advanced",
        }
    }

    fn from_name(name: &str) -> Option<Level> {
        [Level::Beginner, Level::Intermediate, Level::Advanced]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

impl Lesson {
    /// Reads a lesson. `name` is the file for messages; the lesson's name is that of the file
    /// without folder and `.toml`.
    ///
    /// # Errors
    /// The first fault, with its place and a remedy. No text makes this panic.
    pub fn parse(text: &str, name: &str) -> Result<Lesson, LessonError> {
        if text.len() > FILE_MAX {
            let fault =
                Fault::other(0, "the file is larger than 1 MiB; a lesson is a page of text");
            return Err(fault.of(name, text));
        }
        read_file(text, "a lesson", |head| read(&head, name)).map_err(|fault| fault.of(name, text))
    }

    /// Returns the setup of a question.
    pub fn setup_of(&self, question: &Question) -> &Setup {
        &self.setups[question.setup]
    }

    /// Returns the sum of the points of all questions.
    pub fn points(&self) -> u64 {
        self.questions.iter().map(|question| question.points).sum()
    }
}

fn read(head: &Table<'_>, file: &str) -> Result<Lesson, Fault> {
    head.refuse_unknown(&KEYS)?;
    let title = head.need_string("title", "\"First touch\"")?.text.trim().to_owned();
    let minutes = head.integer("minutes", (1, 600), "a number of minutes from 1 to 600")?;
    let (minutes, _) = minutes.ok_or_else(|| head.missing("minutes", "20"))?;
    let level = head.need_string("level", "\"beginner\"")?;
    let expected = "\"beginner\", \"intermediate\" or \"advanced\"";
    let level = Level::from_name(level.text)
        .ok_or_else(|| wrong_type(level.offset.saturating_sub(1), "level", expected))?;
    let text = head.need_string("text", "\"\"\"...\"\"\"")?;
    let mut setups = setup::read_all(head)?;
    let questions = question::read_all(head, &setups)?;
    question::share_events(&mut setups, &questions);
    let stem = file.rsplit(['/', '\\']).next().unwrap_or_default();
    Ok(Lesson {
        name: stem.strip_suffix(".toml").unwrap_or(stem).to_owned(),
        file: file.to_owned(),
        title,
        minutes,
        level,
        text: text.text.trim().to_owned(),
        setups,
        questions,
    })
}
