//! Setups of a lesson: what runs before a question is answered.

use serde::Serialize;
use sim_core::PmuEvent;
use sim_core::config::ConfigError;
use sim_machine::{ConfigSource, MachineConfig};
use sim_scenario::{Case, Place, Walked, configure, parse_named_steps, walk_case};
use toml::de::DeValue;

use crate::document::{Table, integer_of, wrong_type};
use crate::error::{Fault, place_inside, place_of};

const KEYS: [&str; 9] =
    ["name", "given", "do", "set", "names", "trace", "instructions", "counters", "interval"];
/// Most instructions of a trace that a lesson runs.
const INSTRUCTIONS_MAX: u64 = 20_000_000;
const SET: &str = "a table: { \"memory.l2.size-bytes\" = 524288 }";
const NAMES: &str = "a table: { b = 0x9000 }";

/// A scenario or a part of a trace, by name.
#[derive(Clone, Debug, Serialize)]
pub struct Setup {
    /// Name for questions and formulas: small letters, digits and `_`.
    pub name: String,
    /// Scenario or trace.
    #[serde(flatten)]
    pub run: Run,
    /// Place in the file.
    #[serde(skip)]
    pub(crate) place: Place,
}

/// A scenario or a part of a trace.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Run {
    /// Steps on a machine in a given state.
    Scenario(Box<Scenario>),
    /// The begin of a trace.
    Trace(TraceRun),
}

/// Steps on a machine in a given state, in the language of `docs/scenarios.md`.
#[derive(Clone, Debug, Serialize)]
pub struct Scenario {
    /// State before the first step.
    pub given: String,
    /// All steps.
    #[serde(rename = "do")]
    pub done: String,
    /// Changed keys of the configuration, with their values as TOML.
    pub set: Vec<(String, String)>,
    /// Named addresses.
    pub names: Vec<(String, u64)>,
    /// The written steps, numbered from 1 in questions and formulas.
    pub steps: Vec<String>,
    /// The parsed case.
    #[serde(skip)]
    pub case: Case,
}

/// The begin of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceRun {
    /// Name of the file, without a folder.
    pub trace: String,
    /// Instructions that run, from the first one.
    pub instructions: u64,
    /// Changed keys of the configuration, with their values as TOML.
    pub set: Vec<(String, String)>,
    /// Counters and interval, if the events of `estimate` share counters.
    pub sharing: Option<Sharing>,
    /// Events of all `estimate` in the lesson, in the order in which a tool would be given them.
    pub events: Vec<String>,
}

/// Events that share counters in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sharing {
    /// Number of counters.
    pub counters: u8,
    /// Time that a group of events counts before the next one, in microseconds.
    pub interval: u64,
}

impl Setup {
    /// Returns the number of written steps; `None` for a trace.
    pub fn steps(&self) -> Option<usize> {
        match &self.run {
            Run::Scenario(scenario) => Some(scenario.steps.len()),
            Run::Trace(_) => None,
        }
    }
}

impl Scenario {
    /// Runs the steps on a new machine and returns the results of each.
    ///
    /// # Errors
    /// A machine or a state that cannot be, as a sentence.
    pub fn walk(&self) -> Result<Vec<Walked>, String> {
        let config = configure(&self.case, &ConfigSource::default());
        let config = config.map_err(|error| one_line(&error.to_string()))?;
        walk_case(&self.case, &config).map_err(|error| one_line(&error.to_string()))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads the setups: those under `[[setup]]`, or the one in the head of the file.
pub(crate) fn read_all(head: &Table<'_>) -> Result<Vec<Setup>, Fault> {
    let tables = head.tables("setup", "a setup", "tables, each headed [[setup]]")?;
    if tables.is_empty() {
        let has = |key| head.entry(key).is_some();
        if !["given", "do", "trace"].into_iter().any(has) {
            return Err(Fault::other(
                0,
                "the lesson runs nothing; add given = \"K1\" and do = \"LD8 0x8000\", or [[setup]] tables, \
                 or trace = \"search.n2t\"",
            ));
        }
        return Ok(vec![read(head, None)?]);
    }
    let mut setups: Vec<Setup> = Vec::new();
    for table in &tables {
        table.refuse_unknown(&KEYS)?;
        let setup = read(table, Some(head))?;
        if setups.iter().any(|other| other.name == setup.name) {
            let text =
                format!("two setups are named '{}'; give each a name of its own", setup.name);
            return Err(Fault::other(table.offset, text));
        }
        setups.push(setup);
    }
    Ok(setups)
}

fn read(table: &Table<'_>, head: Option<&Table<'_>>) -> Result<Setup, Fault> {
    let name = match head {
        None => String::from("run"),
        Some(_) => name_of(table)?,
    };
    let own = |key| table.entry(key).is_some();
    let (is_trace, is_scenario) = (own("trace"), own("given") || own("do"));
    if is_trace && is_scenario {
        let text = "a setup has either given and do, or a trace, not both; make two setups of it";
        return Err(Fault::other(table.offset, text));
    }
    let is_trace =
        is_trace || !is_scenario && head.is_some_and(|head| head.entry("trace").is_some());
    let run = match is_trace {
        true => Run::Trace(trace(table, head)?),
        false => Run::Scenario(Box::new(scenario(table, head)?)),
    };
    Ok(Setup { name, run, place: place_of(table.text, table.offset) })
}

fn name_of(table: &Table<'_>) -> Result<String, Fault> {
    let name = table.need_string("name", "\"cold\"")?;
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let is_step = name.text.strip_prefix("step").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let is_taken =
        ["if", "else", "min", "max", "cycles", "source", "estimate", "answer"].contains(&name.text);
    let starts = name.text.starts_with(|first: char| first.is_ascii_lowercase());
    if !starts || !name.text.chars().all(is_plain) || is_step || is_taken {
        let expected = "small letters, digits and _, and no word of formulas such as step1 or cycles: \"cold\"";
        return Err(wrong_type(name.offset, "name", expected));
    }
    Ok(name.text.to_owned())
}

/// Returns the table of a setup that has a key: its own or the head.
fn with<'t, 'a>(table: &'t Table<'a>, head: Option<&'t Table<'a>>, key: &str) -> &'t Table<'a> {
    match head {
        Some(head) if table.entry(key).is_none() => head,
        _ => table,
    }
}

fn scenario(table: &Table<'_>, head: Option<&Table<'_>>) -> Result<Scenario, Fault> {
    for key in ["instructions", "counters", "interval"] {
        if let Some((span, _)) = table.entry(key) {
            let text = format!("'{key}' is for a trace; remove it, or add trace = \"search.n2t\"");
            return Err(Fault::other(span.start, text));
        }
    }
    let find = |key, example| {
        let found = with(table, head, key).string(key)?;
        found.ok_or_else(|| table.missing(key, example))
    };
    let given = find("given", "\"K1\"")?;
    let done = find("do", "\"LD8 0x8000 ; LD8 0x8008\"")?;
    let set = settings(with(table, head, "set"))?;
    let names = names(with(table, head, "names"))?;
    let parsed = parse_named_steps(("given", given.text), ("do", done.text), &names);
    let mut case = parsed.map_err(|error| {
        let start = if error.file == "given" { given.offset } else { done.offset };
        let place = place_inside(place_of(table.text, start), error.place);
        Fault::other(offset_of(table.text, place), error.problem.to_string())
    })?;
    case.given.set.clone_from(&set);
    if !set.is_empty() {
        let machine = configure(&case, &ConfigSource::default());
        check_settings(with(table, head, "set"), machine)?;
    }
    let mut steps: Vec<(Place, String)> = Vec::new();
    for step in &case.steps {
        match steps.iter().any(|(place, _)| *place == step.place) {
            true => {}
            false => steps.push((step.place, step.text.clone())),
        }
    }
    let steps = steps.into_iter().map(|(_, text)| text).collect();
    Ok(Scenario {
        given: given.text.to_owned(),
        done: done.text.trim().to_owned(),
        set,
        names,
        steps,
        case,
    })
}

/// Returns the byte offset of a place.
fn offset_of(text: &str, place: Place) -> usize {
    let before: usize =
        text.split_inclusive('\n').take(place.line.saturating_sub(1)).map(str::len).sum();
    let line = text[before..].chars().take(place.column.saturating_sub(1));
    before + line.map(char::len_utf8).sum::<usize>()
}

fn settings(table: &Table<'_>) -> Result<Vec<(String, String)>, Fault> {
    let entries = table.entries("set", SET)?.into_iter();
    Ok(entries
        .map(|(key, value)| (key.get_ref().to_string(), table.text[value.span()].to_owned()))
        .collect())
}

/// Refuses settings that make no machine, at the key of the first fault.
fn check_settings(
    table: &Table<'_>,
    machine: Result<MachineConfig, ConfigError>,
) -> Result<(), Fault> {
    let Err(error) = machine else { return Ok(()) };
    let entries = table.entries("set", SET)?;
    let first = match &error {
        ConfigError::Refused(faults) => faults.first(),
        _ => None,
    };
    let is_own = |key: &str| first.is_some_and(|fault| fault.key == key.trim_matches('"'));
    let entry = entries.iter().find(|(key, _)| is_own(key.get_ref())).or(entries.first());
    let offset = entry.map_or(table.offset, |(key, _)| key.span().start);
    let text = first.map_or_else(|| one_line(&error.to_string()), |fault| fault.message.clone());
    Err(Fault::other(offset, text))
}

fn names(table: &Table<'_>) -> Result<Vec<(String, u64)>, Fault> {
    let mut names = Vec::new();
    for (key, value) in table.entries("names", NAMES)? {
        let fault =
            || wrong_type(value.span().start, key.get_ref(), "an address from 0 to 2^64 - 1");
        names.push((key.get_ref().to_string(), integer_of(value).ok_or_else(fault)?));
    }
    Ok(names)
}

fn trace(table: &Table<'_>, head: Option<&Table<'_>>) -> Result<TraceRun, Fault> {
    if let Some((span, _)) = table.entry("names") {
        let text = "'names' is for the addresses of a scenario; remove it, for a trace has its own";
        return Err(Fault::other(span.start, text));
    }
    let trace = with(table, head, "trace").need_string("trace", "\"search.n2t\"")?;
    if trace.text.is_empty() || trace.text.contains(['/', '\\']) || trace.text.starts_with('.') {
        let text = "'trace' must be the name of a file without a folder: \"search.n2t\"";
        return Err(Fault::other(trace.offset, text));
    }
    let (instructions, _) = with(table, head, "instructions")
        .integer("instructions", (1, INSTRUCTIONS_MAX), "a number from 1 to 20000000")?
        .ok_or_else(|| table.missing("instructions", "200000"))?;
    let set = settings(with(table, head, "set"))?;
    let overrides = overrides(&set);
    let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
    let machine = source.document().and_then(|document| MachineConfig::from_document(&document));
    check_settings(with(table, head, "set"), machine)?;
    Ok(TraceRun {
        trace: trace.text.to_owned(),
        instructions,
        set,
        sharing: sharing(with(table, head, "counters"))?,
        events: Vec::new(),
    })
}

fn sharing(table: &Table<'_>) -> Result<Option<Sharing>, Fault> {
    let counters = table.integer("counters", (2, 31), "a number of counters from 2 to 31")?;
    let expected = "a number of microseconds from 1 to 1000000";
    let interval = table.integer("interval", (1, 1_000_000), expected)?;
    match (counters, interval) {
        (None, None) => Ok(None),
        (Some((counters, _)), Some((interval, _))) => {
            let counters = u8::try_from(counters).unwrap_or(u8::MAX);
            Ok(Some(Sharing { counters, interval }))
        }
        (Some(_), None) => Err(table.missing("interval", "10")),
        (None, Some(_)) => Err(table.missing("counters", "6")),
    }
}

/// Returns changed keys of the configuration as assignments `key=value`.
pub(crate) fn overrides(set: &[(String, String)]) -> Vec<String> {
    set.iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// Adds an event that the trace run of a setup shares counters for.
pub(crate) fn share_event(run: &mut TraceRun, event: PmuEvent) {
    let name = event.mnemonic().to_owned();
    if !run.events.contains(&name) {
        run.events.push(name);
    }
}

/// Returns whether a value is a boolean `true`.
pub(crate) fn is_true(value: &DeValue<'_>) -> bool {
    matches!(value, DeValue::Boolean(true))
}
