//! Formulas over counts of setups and steps.
//!
//! An expression is a formula as metric files have it, with more names: `EVENT` and `cycles` of
//! the question's own setup and step, `step2.EVENT` of another step, `after.EVENT` of another
//! setup, `after.step1.cycles`, `estimate.EVENT` of a trace whose events share counters.

use sim_core::spelling::similar;
use sim_core::{DataSource, PmuEvent};
use sim_metrics::formula::{Catalog, Formula, Linked, Machine};

use crate::setup::Setup;

/// Words of formulas that are not counts.
const WORDS: [&str; 5] = ["if", "else", "min", "max", "d_ratio"];

/// Names of values that are not events.
const NAMES: [&str; 4] = ["answer", "cycles", "source", "estimate"];
const ANSWER: &str = "write {answer} by itself: it is the answer as it is shown, with its rounding; a formula \
                      computes with events and cycles, as in {2 * L1D_CACHE}";

/// A formula over counts.
#[derive(Clone, Debug)]
pub struct Expression {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Value(String, Reference),
}

/// A value of a setup or of one of its steps.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Index of the setup.
    pub setup: usize,
    /// Index of the written step; all steps without it.
    pub step: Option<usize>,
    /// The value.
    pub what: What,
}

/// Kind of a value.
#[derive(Clone, Debug)]
pub enum What {
    /// Count of an event.
    Event(PmuEvent),
    /// Count of an event that shares counters, as a tool estimates it.
    Estimate(PmuEvent),
    /// Cycles from the begin of the step to its end.
    Cycles,
    /// Source of the data of the step's first access.
    Source,
}

/// A fault of an expression: offset in its text, and the sentence.
pub(crate) type ExpressionFault = (usize, String);

/// Source of the values.
pub(crate) trait Values {
    /// Returns a number, or a sentence that says why there is none.
    fn number(&self, reference: &Reference) -> Result<f64, String>;
    /// Returns the source of the data of a step.
    fn source(&self, reference: &Reference) -> Result<DataSource, String>;
}

/// Setups of the lesson, and the ones that names without a setup and step mean.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) setups: &'a [Setup],
    pub(crate) setup: usize,
    pub(crate) step: Option<usize>,
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn parse(text: &str, scope: Scope<'_>) -> Result<Expression, ExpressionFault> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let first = rest.chars().next().unwrap_or_default();
            let is_inside: fn(char) -> bool = match first {
                '0'..='9' | '.' => |letter| letter.is_ascii_alphanumeric() || letter == '.',
                _ if is_name(first) => |letter| is_name(letter) || letter == '.',
                _ => |letter| !letter.is_ascii_digit() && !is_name(letter) && letter != '.',
            };
            let end = rest.find(|letter| !is_inside(letter)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            pieces.push(
                match is_name(first) && !first.is_ascii_digit() && !WORDS.contains(&word) {
                    true => {
                        let reference = scope.reference(word).map_err(|text| (at, text))?;
                        Piece::Value(word.to_owned(), reference)
                    }
                    false => Piece::Text(word.to_owned()),
                },
            );
            rest = after;
        }
        let expression = Expression { pieces };
        let is_source = |reference: &Reference| matches!(reference.what, What::Source);
        if expression.references().any(is_source) {
            let text = "source is a name and not a number; ask for it with source = true";
            return Err((0, String::from(text)));
        }
        expression.check().map_err(|text| (0, text))?;
        Ok(expression)
    }

    /// Checks the form of the formula with a number for each value.
    fn check(&self) -> Result<(), String> {
        self.with(|_| Ok(1.0)).and_then(|text| {
            Formula::parse(&text).map(|_| ()).map_err(|error| error.fault.to_string())
        })
    }

    /// Returns the formula with numbers for its values.
    fn with(&self, value: impl Fn(&Reference) -> Result<f64, String>) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Value(_, reference) => text.push_str(&format!("({})", value(reference)?)),
            }
        }
        Ok(text)
    }

    /// Returns the values that the expression reads.
    pub(crate) fn references(&self) -> impl Iterator<Item = &Reference> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(_, reference) => Some(reference),
            Piece::Text(_) => None,
        })
    }

    /// Returns whether the expression has a number of its own, such as a factor.
    pub(crate) fn has_number(&self) -> bool {
        let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if is_number(text)))
    }

    /// Returns the names of the expression as written, with their values.
    pub(crate) fn named(&self, values: &dyn Values) -> Result<Vec<(&str, f64)>, String> {
        let named = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(name, reference) => Some((name.as_str(), reference)),
            Piece::Text(_) => None,
        });
        named.map(|(name, reference)| Ok((name, values.number(reference)?))).collect()
    }

    /// Computes the value.
    pub(crate) fn evaluate(&self, values: &dyn Values) -> Result<f64, String> {
        let text = self.with(|reference| values.number(reference))?;
        let formula = Formula::parse(&text).map_err(|error| error.to_string())?;
        let linked =
            Linked::new(&formula, &Catalog::default()).map_err(|error| error.to_string())?;
        let evaluation = linked.evaluate(&Machine::neoverse_n2(0, 1), |_| None);
        match evaluation.nan_reason {
            Some(reason) if evaluation.value.is_nan() => Err(linked.explain(reason)),
            _ if !evaluation.value.is_finite() => Err(String::from("the value is not finite")),
            _ => Ok(evaluation.value),
        }
    }
}

fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

impl Scope<'_> {
    /// Reads a name with its setup and step: `EVENT`, `step2.EVENT`, `after.step1.cycles`.
    pub(crate) fn reference(self, name: &str) -> Result<Reference, String> {
        let mut parts: Vec<&str> = name.split('.').collect();
        let last = parts.pop().unwrap_or_default();
        let is_estimate = parts.last() == Some(&"estimate");
        if is_estimate {
            parts.pop();
        }
        let (mut setup, mut step) = (self.setup, self.step);
        let mut parts = parts.into_iter().peekable();
        if let Some(own) = parts.next_if(|part| step_number(part).is_none()) {
            setup = self.setup_named(own)?;
            step = None;
        }
        if let Some(part) = parts.next() {
            let number = step_number(part).ok_or_else(|| {
                format!("'{part}' is not a step; write step1 for the first one: step1.{last}")
            })?;
            step = Some(self.step_of(setup, number)?);
        }
        if parts.next().is_some() {
            return Err(format!("'{name}' has too many parts; write setup.step1.EVENT at most"));
        }
        let reference = Reference { setup, step, what: self.what(last, is_estimate)? };
        self.checked(reference)
    }

    /// Returns the index of a setup.
    pub(crate) fn setup_named(self, name: &str) -> Result<usize, String> {
        self.setups.iter().position(|setup| setup.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.setups.iter().map(|setup| setup.name.as_str()).collect();
            format!("no setup is named '{name}'; the lesson has {}", known.join(", "))
        })
    }

    /// Returns the index of a written step from its number.
    pub(crate) fn step_of(self, setup: usize, number: u64) -> Result<usize, String> {
        let setup = &self.setups[setup];
        match setup.steps() {
            None => Err(format!(
                "setup '{}' is a trace, which has no steps; leave the step out",
                setup.name
            )),
            Some(steps) => usize::try_from(number)
                .ok()
                .filter(|number| (1..=steps).contains(number))
                .map(|number| number - 1)
                .ok_or_else(|| {
                    format!(
                        "setup '{}' has no step {number}; it has the steps 1 to {steps}",
                        setup.name
                    )
                }),
        }
    }

    fn what(self, name: &str, is_estimate: bool) -> Result<What, String> {
        match name {
            "cycles" if !is_estimate => return Ok(What::Cycles),
            "source" if !is_estimate => return Ok(What::Source),
            _ => {}
        }
        match PmuEvent::from_name(name) {
            Ok(event) if is_estimate => Ok(What::Estimate(event)),
            Ok(event) => Ok(What::Event(event)),
            Err(_) if name == "answer" => Err(String::from(ANSWER)),
            Err(error) => Err(match similar(name, NAMES) {
                Some(near) => format!("unknown name '{name}'; did you mean {near}?"),
                None => error.to_string(),
            }),
        }
    }

    /// Refuses values that a setup cannot have.
    fn checked(self, mut reference: Reference) -> Result<Reference, String> {
        let setup = &self.setups[reference.setup];
        let name = &setup.name;
        match (&reference.what, setup.steps()) {
            (What::Cycles | What::Source, None) => Err(format!(
                "setup '{name}' is a trace, which has no steps; use CPU_CYCLES and events for it"
            )),
            (What::Cycles | What::Source, Some(steps)) if reference.step.is_none() => {
                if steps > 1 {
                    return Err(format!(
                        "setup '{name}' has {steps} steps; say which one, such as step{steps}.cycles, or \
                         step = {steps}"
                    ));
                }
                reference.step = Some(0);
                Ok(reference)
            }
            (What::Estimate(_), Some(_)) => Err(format!(
                "setup '{name}' is a scenario, whose events are all counted; estimate is for a trace with \
                 counters and interval"
            )),
            _ => Ok(reference),
        }
    }
}

fn step_number(part: &str) -> Option<u64> {
    part.strip_prefix("step").and_then(|digits| digits.parse().ok())
}
