//! TOML part of a scenario file for the Cortex-A53: keys, cases, inheritance from the file's head.

use toml::de::{DeTable, DeValue};

use super::expect::{self, Expected};
use super::given::{self, Given};
use super::steps::{self, MAX_STEPS, Step};
use crate::language::Place;
use crate::language::cursor::Cursor;
use crate::language::document::{Table, wrong_type};
use crate::language::error::{Fault, Places, Problem, ScenarioError, place_of};

const KEYS: [&str; 9] =
    ["core", "guide", "claim", "test", "given", "set", "do", "expect", "others"];

/// One case of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name of the case.
    pub test: String,
    /// Section of the Cortex-A53 manual.
    pub guide: String,
    /// Claim that the counts prove, in one sentence.
    pub claim: String,
    /// Place of the case in its file.
    pub place: Place,
    /// State of caches and TLBs before the first step.
    pub given: Given,
    /// Configuration keys and their TOML values.
    pub set: Vec<(String, String)>,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Expected counts.
    pub expect: Vec<Expected>,
}

impl Case {
    /// Returns the number of cores that the case needs.
    pub fn cores(&self) -> usize {
        let steps = self.steps.iter().map(|step| step.core);
        let expected = self.expect.iter().map(|expected| expected.core);
        steps.chain(expected).chain(self.given.cores()).max().unwrap_or(0) + 1
    }
}

/// Returns whether a text is a scenario file for the Cortex-A53.
pub fn is_a53(text: &str) -> bool {
    let Ok(document) = DeTable::parse(text) else { return false };
    let core = document.get_ref().get("core").map(|value| value.get_ref());
    matches!(core, Some(DeValue::String(core)) if core.as_ref() == "cortex-a53")
}

/// Reads the cases of a scenario file for the Cortex-A53. `file` names it in errors.
///
/// # Errors
///
/// The first fault, with its place and a remedy. No text makes this panic.
pub fn parse(file: &str, text: &str) -> Result<Vec<Case>, ScenarioError> {
    parse_file(text).map_err(|fault| ScenarioError {
        file: file.to_owned(),
        place: place_of(text, fault.offset),
        problem: fault.problem,
    })
}

/// Returns a case of a given state and steps that expects nothing. Errors name the texts
/// `given_name` and `steps_name`.
///
/// # Errors
///
/// The first fault, with its place and a remedy.
pub fn parse_steps(
    (given_name, given): (&str, &str),
    (steps_name, done): (&str, &str),
) -> Result<Case, ScenarioError> {
    let located = |file: &str, text: &str, fault: Fault| ScenarioError {
        file: file.to_owned(),
        place: place_of(text, fault.offset),
        problem: fault.problem,
    };
    let state = given::parse(&mut Cursor::new(given, 0))
        .map_err(|fault| located(given_name, given, fault))?;
    let steps = steps::parse(&mut Cursor::new(done, 0), &mut Places::new(done))
        .map_err(|fault| located(steps_name, done, fault))?;
    Ok(Case {
        test: done.trim().to_owned(),
        guide: String::new(),
        claim: format!("given {}", given.trim()),
        place: Place { line: 1, column: 1 },
        given: state,
        set: Vec::new(),
        steps,
        expect: Vec::new(),
    })
}

fn parse_file(text: &str) -> Result<Vec<Case>, Fault> {
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Fault::new(offset, Problem::Toml(error.message().to_owned()))
    })?;
    let head = Table { text, table: document.get_ref(), offset: 0, head: None };
    refuse_unknown(&head, true)?;
    let (core, at) = head.need_string("core")?;
    if core != "cortex-a53" {
        return Err(wrong_type(at, "core", "\"cortex-a53\""));
    }
    let Some((key, cases)) = head.entry("case") else {
        return Ok(vec![case_of(&head)?]);
    };
    let DeValue::Array(cases) = cases.get_ref() else {
        return Err(wrong_type(key.start, "case", "tables, each headed [[case]]"));
    };
    let mut parsed = Vec::new();
    let mut steps = 0;
    for case in cases.iter() {
        let offset = case.span().start;
        let DeValue::Table(table) = case.get_ref() else {
            return Err(wrong_type(offset, "case", "tables, each headed [[case]]"));
        };
        let table = Table { text, table, offset, head: Some(&head) };
        refuse_unknown(&table, false)?;
        let case = case_of(&table)?;
        steps += case.steps.len() as u64;
        steps::check_number(steps, MAX_STEPS, offset)?;
        parsed.push(case);
    }
    Ok(parsed)
}

fn refuse_unknown(table: &Table<'_>, is_head: bool) -> Result<(), Fault> {
    for (key, _) in table.table.iter() {
        let name = key.get_ref().as_ref();
        let known = match name {
            "case" | "core" => is_head,
            name => KEYS.contains(&name),
        };
        if !known {
            return Err(Fault::new(key.span().start, Problem::UnknownA53Key(name.to_owned())));
        }
    }
    Ok(())
}

fn case_of(table: &Table<'_>) -> Result<Case, Fault> {
    let (given, at) = table.need_string("given")?;
    let given = given::parse(&mut Cursor::new(given, at))?;
    let (done, at) = table.need_string("do")?;
    let steps = steps::parse(&mut Cursor::new(done, at), &mut Places::new(table.text))?;
    let (expected, at) = table.need_string("expect")?;
    let others_open = table.others_open()?;
    Ok(Case {
        test: table.need_string("test")?.0.to_owned(),
        guide: table.need_string("guide")?.0.to_owned(),
        claim: table.need_string("claim")?.0.to_owned(),
        place: place_of(table.text, table.offset),
        given,
        set: table.settings()?,
        steps,
        expect: expect::parse(&mut Cursor::new(expected, at), others_open)?,
    })
}
