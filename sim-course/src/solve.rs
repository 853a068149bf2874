//! The true answers of a lesson.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::{Counts, DataSource, Operation, OperationKind, PmuEvent};
use sim_scenario::{Place, Walked};

use crate::error::{LessonError, Problem};
use crate::expression::{Reference, Values, What};
use crate::lesson::Lesson;
use crate::question::{Answer, Question};
use crate::setup::{Run, Setup, TraceRun};
use crate::text::{plain, shown};

/// The true answer of a question.
#[derive(Clone, Debug, Serialize)]
pub struct Solved {
    /// Index of the question.
    pub question: usize,
    /// The true answer.
    pub truth: Truth,
    /// The true answer for people, with its unit if it is not a count.
    pub shown: String,
    /// Explanation, with the values of the model.
    pub why: String,
}

/// A true answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Truth {
    /// A number.
    Number {
        /// The number.
        value: f64,
    },
    /// Source of the data.
    Source {
        /// Its name, such as `L2` or `DRAM`.
        name: &'static str,
    },
    /// A text of a choice.
    Choice {
        /// Index of the text.
        index: usize,
        /// The text.
        text: String,
    },
}

/// Counts of a part of a trace.
#[derive(Clone, Debug, Default)]
pub struct TraceCounts {
    /// Exact counts over all cores.
    pub counts: Counts,
    /// Estimates of the events that share counters.
    pub estimates: BTreeMap<PmuEvent, f64>,
}

/// Runs traces for lessons.
pub trait TraceSource {
    /// Returns the counts of a run.
    ///
    /// # Errors
    /// A trace that cannot run, as a sentence.
    fn run(&mut self, run: &TraceRun) -> Result<TraceCounts, String>;
}

/// Source without traces.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTraces;

impl TraceSource for NoTraces {
    fn run(&mut self, run: &TraceRun) -> Result<TraceCounts, String> {
        Err(format!("the trace {} cannot be run here", run.trace))
    }
}

/// Results of a setup.
enum Ran {
    Steps(Vec<Walked>),
    Trace(Box<TraceCounts>),
}

/// Results of all setups of a lesson.
pub struct Results {
    all: Vec<Ran>,
}

impl Lesson {
    /// Runs every setup once and returns the true answer of each question.
    ///
    /// # Errors
    /// As [`Lesson::run`] and [`Lesson::answers`].
    pub fn solve(&self, traces: &mut dyn TraceSource) -> Result<Vec<Solved>, LessonError> {
        self.answers(&self.run(traces)?)
    }

    /// Runs every setup once.
    ///
    /// # Errors
    /// A setup that cannot run, with its place in the file.
    pub fn run(&self, traces: &mut dyn TraceSource) -> Result<Results, LessonError> {
        let ran = |setup: &Setup| ran(setup, traces).map_err(|text| self.error(setup.place, text));
        Ok(Results { all: self.setups.iter().map(ran).collect::<Result<_, _>>()? })
    }

    /// Returns the true answer of each question, from the results of [`Lesson::run`].
    ///
    /// # Errors
    /// A formula without a value, or a condition that does not hold, with the place in the file.
    pub fn answers(&self, results: &Results) -> Result<Vec<Solved>, LessonError> {
        let solve = |(index, question): (usize, &Question)| {
            question.confirm(results).map_err(|(place, text)| self.error(place, text))?;
            question.solve(index, results).map_err(|text| self.error(question.place, text))
        };
        self.questions.iter().enumerate().map(solve).collect()
    }

    fn error(&self, place: Place, text: String) -> LessonError {
        LessonError { file: self.file.clone(), place, problem: Problem::Other(text) }
    }
}

fn ran(setup: &Setup, traces: &mut dyn TraceSource) -> Result<Ran, String> {
    match &setup.run {
        Run::Scenario(scenario) => scenario.walk().map(Ran::Steps),
        Run::Trace(run) => traces.run(run).map(Box::new).map(Ran::Trace),
    }
}

impl Question {
    /// Refuses a condition that the model does not confirm, with its place.
    fn confirm(&self, results: &Results) -> Result<(), (Place, String)> {
        let Some(condition) = &self.holds else { return Ok(()) };
        match condition.failure(results) {
            Ok(None) => Ok(()),
            Err(text) => Err((condition.place, text)),
            Ok(Some(failure)) => Err((
                condition.place,
                format!(
                    "the model does not confirm holds = \"{}\": {failure}; fix the condition, or the right choice",
                    condition.text
                ),
            )),
        }
    }

    fn solve(&self, index: usize, results: &Results) -> Result<Solved, String> {
        let truth = self.truth(results)?;
        let shown = truth.shown();
        let why = self.why.fill(&shown, results)?;
        Ok(Solved { question: index, truth, shown, why })
    }

    fn truth(&self, results: &Results) -> Result<Truth, String> {
        match &self.answer {
            Answer::Number { expression, .. } => {
                Ok(Truth::Number { value: expression.evaluate(results)? })
            }
            Answer::Source { reference, .. } => {
                Ok(Truth::Source { name: results.source(reference)?.label() })
            }
            Answer::Choice { options, right } => {
                Ok(Truth::Choice { index: *right, text: options[*right].clone() })
            }
        }
    }
}

impl Truth {
    /// Returns the answer for people.
    pub fn shown(&self) -> String {
        match self {
            Truth::Number { value } => shown(*value),
            Truth::Source { name } => (*name).to_owned(),
            Truth::Choice { text, .. } => plain(text),
        }
    }
}

impl Results {
    /// Returns all counts of a setup, by its index in the lesson.
    pub fn counts_of(&self, setup: usize) -> Counts {
        match &self.all[setup] {
            Ran::Trace(run) => run.counts.clone(),
            Ran::Steps(steps) => {
                let mut counts = Counts::default();
                steps.iter().for_each(|step| counts.add(&step.counts));
                counts
            }
        }
    }

    /// Returns the results of the steps of a setup; `None` for a trace.
    pub fn steps_of(&self, setup: usize) -> Option<&[Walked]> {
        match &self.all[setup] {
            Ran::Steps(steps) => Some(steps),
            Ran::Trace(_) => None,
        }
    }

    fn step(&self, reference: &Reference) -> Result<&Walked, String> {
        let number = reference.step.unwrap_or_default();
        match &self.all[reference.setup] {
            Ran::Steps(steps) => {
                steps.get(number).ok_or_else(|| format!("step {} did not run", number + 1))
            }
            Ran::Trace(_) => Err(String::from("a trace has no steps")),
        }
    }

    fn counts(&self, reference: &Reference) -> Result<Counts, String> {
        match (&self.all[reference.setup], reference.step) {
            (Ran::Steps(_), Some(_)) => Ok(self.step(reference)?.counts.clone()),
            _ => Ok(self.counts_of(reference.setup)),
        }
    }
}

impl Values for Results {
    fn number(&self, reference: &Reference) -> Result<f64, String> {
        match reference.what {
            What::Event(event) => Ok(self.counts(reference)?.value(event) as f64),
            What::Cycles => Ok(self.step(reference)?.cycles as f64),
            What::Estimate(event) => match &self.all[reference.setup] {
                Ran::Trace(run) => run.estimates.get(&event).copied().ok_or_else(|| {
                    format!(
                        "{event:?} was never counted: its group got no time; take more instructions, a shorter \
                         interval, or fewer events"
                    )
                }),
                Ran::Steps(_) => Err(format!("{event:?}: a scenario has no estimate")),
            },
            What::Source => Err(String::from("a source is not a number")),
        }
    }

    fn source(&self, reference: &Reference) -> Result<DataSource, String> {
        let step = self.step(reference)?;
        let number = reference.step.unwrap_or_default() + 1;
        match &sources(step)[..] {
            [] => Err(format!(
                "step '{}' accesses no data, so that nothing has a source",
                step.step.text
            )),
            [(source, _)] => Ok(*source),
            several => {
                let part =
                    |(source, n): &(DataSource, usize)| format!("{n} from {}", source.label());
                let parts: Vec<String> = several.iter().map(part).collect();
                let all: usize = several.iter().map(|(_, n)| n).sum();
                Err(format!(
                    "step {number} has {all} accesses: {}; ask about a step with one source, such as one of its \
                     repetitions, written as a step of its own",
                    parts.join(", ")
                ))
            }
        }
    }
}

/// Returns the sources of a step's data with the number of their accesses, in order. Accesses on a
/// wrong path count only if there are no others.
fn sources(step: &Walked) -> Vec<(DataSource, usize)> {
    let accesses = step.operations.iter();
    let accesses: Vec<&Operation> =
        accesses.filter(|one| matches!(one.kind, OperationKind::Access(_))).collect();
    let has_own = accesses.iter().any(|one| !one.timeline.wrong_path);
    let mut sources: Vec<(DataSource, usize)> = Vec::new();
    for one in accesses.into_iter().filter(|one| !(has_own && one.timeline.wrong_path)) {
        let source = one.timeline.source;
        match sources.iter_mut().find(|(own, _)| *own == source) {
            Some((_, n)) => *n += 1,
            None => sources.push((source, 1)),
        }
    }
    sources
}
