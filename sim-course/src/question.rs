//! Questions of a lesson.

use serde::Serialize;
use sim_core::PmuEvent;

use crate::condition::Condition;
use crate::document::{Table, Text, wrong_type};
use crate::error::{Fault, Problem, place_inside, place_of};
use crate::expression::{Expression, ExpressionFault, Reference, Scope, What};
use crate::setup::{Run, Setup, is_true, share_event};
use crate::source;
use crate::text::{Template, estimated};
use sim_scenario::Place;

const KEYS: [&str; 15] = [
    "ask", "setup", "step", "count", "cycles", "source", "metric", "unit", "choice", "right",
    "holds", "within", "hint", "why", "points",
];
const KINDS: [&str; 5] = ["count", "cycles", "source", "metric", "choice"];
/// Percent by which a typed number may differ if the file says nothing: counts are exact.
const USUAL_PERCENT: f64 = 5.0;

/// A question. Serializes without its answer.
#[derive(Clone, Debug, Serialize)]
pub struct Question {
    /// The question.
    pub ask: String,
    /// Index of its setup in the lesson.
    pub setup: usize,
    /// Whether the file names the setup. Without, a formula or a text may be about all of them.
    pub names_setup: bool,
    /// Number of its step, from 1; all steps without it.
    pub step: Option<usize>,
    /// Kind of its answer.
    pub answer: Answer,
    /// Unit of the number, for people; empty for a choice.
    pub unit: String,
    /// Distance at which a typed number still counts as right.
    pub within: Tolerance,
    /// Help before the answer.
    pub hint: Option<String>,
    /// Points for the right answer.
    pub points: u64,
    /// Explanation after the answer.
    #[serde(skip)]
    pub(crate) why: Template,
    /// Condition that the model must confirm.
    #[serde(skip)]
    pub(crate) holds: Option<Condition>,
    #[serde(skip)]
    pub(crate) place: Place,
}

/// Kind of an answer.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Answer {
    /// A number that the model computes.
    Number {
        /// Formula as written: an event, `cycles`, or a formula.
        formula: String,
        /// The parsed formula.
        #[serde(skip)]
        expression: Expression,
    },
    /// Source of the data of a step.
    Source {
        /// Names of all sources.
        options: Vec<&'static str>,
        /// The step.
        #[serde(skip)]
        reference: Reference,
    },
    /// One of several texts.
    Choice {
        /// The texts.
        options: Vec<String>,
        /// Index of the right one.
        #[serde(skip)]
        right: usize,
    },
}

/// Distance at which a typed number still counts as right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "kebab-case")]
pub enum Tolerance {
    /// The same distance up or down.
    Absolute(f64),
    /// Percent of the true number.
    Percent(f64),
}

/// Reads all questions, and gives traces the events that they have to estimate.
pub(crate) fn read_all(head: &Table<'_>, setups: &[Setup]) -> Result<Vec<Question>, Fault> {
    let tables = head.tables("question", "a question", "tables, each headed [[question]]")?;
    if tables.is_empty() {
        let text = "the lesson asks nothing; add [[question]] with ask = \"...\" and count = \"L1D_CACHE\"";
        return Err(Fault::other(0, text));
    }
    tables.iter().map(|table| read(table, setups)).collect()
}

/// Adds the events of all estimates to the trace runs of their setups.
pub(crate) fn share_events(setups: &mut [Setup], questions: &[Question]) {
    for question in questions {
        let own: Vec<&Reference> = match &question.answer {
            Answer::Number { expression, .. } => expression.references().collect(),
            _ => Vec::new(),
        };
        let held = question.holds.iter().flat_map(Condition::references);
        let all = own.into_iter().chain(held).chain(question.why.references());
        for (setup, event) in all.filter_map(estimated) {
            if let Run::Trace(run) = &mut setups[setup].run {
                share_event(run, event);
            }
        }
    }
}

fn read(table: &Table<'_>, setups: &[Setup]) -> Result<Question, Fault> {
    table.refuse_unknown(&KEYS)?;
    let ask = table.need_string("ask", "\"How many refills?\"")?.text.trim().to_owned();
    let mut scope = Scope { setups, setup: 0, step: None };
    if let Some(name) = table.string("setup")? {
        let found = scope.setup_named(name.text);
        scope.setup = found.map_err(|text| Fault::other(name.offset, text))?;
    } else if setups.len() > 1 && needs_setup(table) {
        let names: Vec<&str> = setups.iter().map(|setup| setup.name.as_str()).collect();
        let text = format!("the question has no 'setup'; the lesson has {}", names.join(", "));
        return Err(Fault::other(table.offset, text));
    }
    if let Some((number, offset)) =
        table.integer("step", (1, u64::MAX), "a step's number, from 1")?
    {
        let step = scope.step_of(scope.setup, number);
        scope.step = Some(step.map_err(|text| Fault::other(offset, text))?);
    }
    let (answer, unit) = answer(table, scope)?;
    let why = table.need_string("why", "\"Because ... {answer} ...\"")?;
    let template = Template::parse(why.text, scope).map_err(|fault| inside(table, why, fault))?;
    let holds = table.string("holds")?.map(|text| {
        let place = place_of(table.text, text.offset.saturating_sub(1));
        Condition::parse(text.text, place, scope).map_err(|fault| inside(table, text, fault))
    });
    let (points, _) =
        table.integer("points", (1, 100), "a number from 1 to 100")?.unwrap_or((1, 0));
    Ok(Question {
        ask,
        setup: scope.setup,
        names_setup: table.entry("setup").is_some(),
        step: scope.step.map(|step| step + 1),
        within: tolerance(table, &answer)?,
        answer,
        unit,
        hint: table.string("hint")?.map(|hint| hint.text.trim().to_owned()),
        points,
        why: template,
        holds: holds.transpose()?,
        place: place_of(table.text, table.offset),
    })
}

/// Returns whether a question without a setup is ambiguous: one of several setups would be chosen
/// silently. A formula or a text may name the setup of each value.
fn needs_setup(table: &Table<'_>) -> bool {
    ["count", "cycles", "source", "step"].into_iter().any(|key| table.entry(key).is_some())
}

fn answer(table: &Table<'_>, scope: Scope<'_>) -> Result<(Answer, String), Fault> {
    let given: Vec<&str> = KINDS.into_iter().filter(|key| table.entry(key).is_some()).collect();
    let [kind] = given[..] else {
        let text = match given[..] {
            [] => String::from(
                "the question has no answer; add one of count = \"EVENT\", cycles = true, source = true, \
                 metric = \"formula\", or choice = [...] with right = 1",
            ),
            _ => format!("the question has {}; leave one of them", given.join(" and ")),
        };
        return Err(Fault::other(table.offset, text));
    };
    refuse_strays(table, kind)?;
    let unit = table.string("unit")?.map(|unit| unit.text.trim().to_owned());
    match kind {
        "count" => count(table, scope).map(|answer| (answer, String::new())),
        "metric" => {
            let text = table.need_string("metric", "\"L1D_CACHE_REFILL / L1D_CACHE\"")?;
            let expression = Expression::parse(text.text, scope);
            let expression = expression.map_err(|fault| inside(table, text, fault))?;
            let unit = unit.unwrap_or_default();
            if is_percent(&unit) && !expression.has_number() {
                return Err(share_in_percent(table, &unit, text.text.trim()));
            }
            Ok((Answer::Number { formula: text.text.trim().to_owned(), expression }, unit))
        }
        "choice" => choice(table).map(|answer| (answer, String::new())),
        _ => step_value(table, scope, kind),
    }
}

/// Returns whether numbers of a unit are hundredths: `%`, `percent of all loads`.
pub(crate) fn is_percent(unit: &str) -> bool {
    unit.starts_with('%') || unit.starts_with("percent")
}

/// Returns the fault of a formula that gives a share and not hundredths, in spite of its unit.
fn share_in_percent(table: &Table<'_>, unit: &str, formula: &str) -> Fault {
    let at = table.entry("unit").map_or(table.offset, |(span, _)| span.start);
    let text = format!(
        "unit = \"{unit}\" needs a formula in percent: metric = \"100 * ({formula})\"; or name another unit for \
         the share"
    );
    Fault::other(at, text)
}

fn count(table: &Table<'_>, scope: Scope<'_>) -> Result<Answer, Fault> {
    let name = table.need_string("count", "\"L1D_CACHE_REFILL\"")?;
    let event = PmuEvent::from_name(name.text.trim())
        .map_err(|error| Fault::other(name.offset, error.to_string()))?;
    let formula = event.mnemonic().to_owned();
    let expression =
        Expression::parse(&formula, scope).map_err(|fault| inside(table, name, fault))?;
    Ok(Answer::Number { formula, expression })
}

/// Returns the answer of `cycles = true` or `source = true`.
fn step_value(table: &Table<'_>, scope: Scope<'_>, kind: &str) -> Result<(Answer, String), Fault> {
    let (span, value) = table.entry(kind).ok_or_else(|| table.missing("cycles", "true"))?;
    if !is_true(value.get_ref()) {
        return Err(wrong_type(value.span().start, kind, "true; the step is step = 2"));
    }
    let reference = scope.reference(kind).map_err(|text| Fault::other(span.start, text))?;
    if matches!(reference.what, What::Source) {
        return Ok((Answer::Source { options: source::names(), reference }, String::new()));
    }
    let expression =
        Expression::parse(kind, scope).map_err(|(_, text)| Fault::other(span.start, text))?;
    Ok((Answer::Number { formula: kind.to_owned(), expression }, String::from("cycles")))
}

fn choice(table: &Table<'_>) -> Result<Answer, Fault> {
    let options = table.strings("choice")?.unwrap_or_default();
    let (_, value) =
        table.entry("choice").ok_or_else(|| table.missing("choice", "[\"a\", \"b\"]"))?;
    if !(2..=9).contains(&options.len())
        || options.iter().any(|option| option.text.trim().is_empty())
    {
        return Err(wrong_type(value.span().start, "choice", "a list of 2 to 9 texts"));
    }
    let most = options.len() as u64;
    let (right, _) = table
        .integer("right", (1, most), "the number of the right text in choice, from 1")?
        .ok_or_else(|| table.missing("right", "1"))?;
    let options = options.iter().map(|option| option.text.trim().to_owned()).collect();
    Ok(Answer::Choice { options, right: right as usize - 1 })
}

/// Refuses keys that do nothing for this kind of answer.
fn refuse_strays(table: &Table<'_>, kind: &str) -> Result<(), Fault> {
    let strays: &[(&str, &str)] = match kind {
        "choice" => &[("within", "a number"), ("unit", "metric")],
        "source" => &[("right", "choice"), ("within", "a number"), ("unit", "metric")],
        "metric" => &[("right", "choice")],
        _ => &[("right", "choice"), ("unit", "metric")],
    };
    for (key, owner) in strays {
        if let Some((span, _)) = table.entry(key) {
            let text = format!("'{key}' belongs to an answer that is {owner}; remove it");
            return Err(Fault::other(span.start, text));
        }
    }
    Ok(())
}

fn tolerance(table: &Table<'_>, answer: &Answer) -> Result<Tolerance, Fault> {
    let is_exact = !matches!(answer, Answer::Number { .. }) || table.entry("count").is_some();
    let Some((_, value)) = table.entry("within") else {
        return Ok(match is_exact {
            true => Tolerance::Absolute(0.0),
            false => Tolerance::Percent(USUAL_PERCENT),
        });
    };
    let fault =
        || wrong_type(value.span().start, "within", "a number, or percent as a text: \"10 %\"");
    let text = &table.text[value.span()];
    let (text, is_percent) = match table.string("within") {
        Ok(Some(own)) => (own.text.trim().strip_suffix('%').ok_or_else(fault)?.trim(), true),
        _ => (text, false),
    };
    let number: f64 = text.parse().map_err(|_| fault())?;
    if !(number.is_finite() && number >= 0.0) {
        return Err(fault());
    }
    Ok(if is_percent { Tolerance::Percent(number) } else { Tolerance::Absolute(number) })
}

/// Returns the fault of an expression inside a text of the file.
fn inside(table: &Table<'_>, text: Text<'_>, (offset, problem): ExpressionFault) -> Fault {
    let inner = place_of(text.text, offset);
    let place = place_inside(place_of(table.text, text.offset), inner);
    let before: usize =
        table.text.split_inclusive('\n').take(place.line.saturating_sub(1)).map(str::len).sum();
    let column = table.text[before..].chars().take(place.column.saturating_sub(1));
    let at = before + column.map(char::len_utf8).sum::<usize>();
    Fault::new(at, Problem::Other(problem))
}
