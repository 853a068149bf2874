//! TOML part of a scenario file: keys, types, cases, and inheritance from the file's head.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::action::{Action, RawStep, Step};
use super::bound::{Bound, event_named, parse_bound};
use super::case::Case;
use super::cursor::{Cursor, Names};
use super::error::{Fault, Places, Problem, ScenarioError, place_of};
use super::expect::{Draft, Expectation};
use super::flows::{self, Way};
use super::mesh::{MeshExpectation, parse_mesh};
use super::on_machines::OnMachines;
use super::place::Place;
use super::vectors::Reading;
use super::{given, meant, steps};

#[rustfmt::skip]
const KEYS: [&str; 16] = [
    "guide", "claim", "test", "given", "set", "names", "do", "expect", "others", "path",
    "mesh", "silicon", "source", "on", "tolerance", "except",
];

/// Reads the cases of a scenario file. `file` names it in errors.
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
pub fn parse_steps(given: (&str, &str), done: (&str, &str)) -> Result<Case, ScenarioError> {
    parse_named_steps(given, done, &[])
}

/// Returns a case as [`parse_steps`] does. Given state and steps may use names of addresses.
///
/// # Errors
///
/// The first fault, with its place and a remedy.
pub fn parse_named_steps(
    (given_name, given): (&str, &str),
    (steps_name, done): (&str, &str),
    own_names: &[(String, u64)],
) -> Result<Case, ScenarioError> {
    let mut names = named_lines();
    names.extend(own_names.iter().cloned());
    let located = |file: &str, text: &str, fault: Fault| ScenarioError {
        file: file.to_owned(),
        place: place_of(text, fault.offset),
        problem: fault.problem,
    };
    let state = given::parse_given(&mut Cursor::new(given, 0), &names)
        .map_err(|fault| located(given_name, given, fault))?;
    let raw = steps::parse_steps(&mut Cursor::new(done, 0), &names)
        .map_err(|fault| located(steps_name, done, fault))?;
    Ok(Case {
        test: done.trim().to_owned(),
        guide: String::from("PMU guide 5"),
        claim: String::new(),
        place: Place { line: 1, column: 1 },
        given: state,
        steps: placed(&mut Places::new(done), raw),
        expect: Expectation::default(),
        mesh: MeshExpectation::default(),
        ways: Vec::new(),
        silicon: Expectation::default(),
        source: None,
        on_machines: OnMachines::default(),
    })
}

/// Returns five lines of one set of the L1 D-cache.
fn named_lines() -> Names {
    (0..5).map(|i| (format!("a{i}"), 0x10_0000 + i * 0x4000)).collect()
}

fn placed(places: &mut Places<'_>, steps: Vec<RawStep>) -> Vec<Step> {
    let step = |step: RawStep| Step {
        text: step.text,
        place: places.of(step.offset),
        join: step.join,
        wrong_path: step.wrong_path,
        action: step.action,
        other_path: placed(places, step.other_path),
    };
    steps.into_iter().map(step).collect()
}

/// Refuses steps of a core that the machine does not have.
fn check_cores(steps: &[RawStep], cores: u32) -> Result<(), Fault> {
    for step in steps {
        if let Action::OtherCore { core, .. } = step.action
            && core >= cores
        {
            return Err(Fault::new(step.offset, Problem::NoSuchCore { core }));
        }
    }
    Ok(())
}

fn parse_file(text: &str) -> Result<Vec<Case>, Fault> {
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        Fault::new(offset, Problem::Toml(error.message().to_owned()))
    })?;
    let head = Table { text, table: document.get_ref(), offset: 0, head: None };
    head.refuse_unknown(true)?;
    let Some((key, cases)) = head.entry("case") else {
        return Ok(vec![head.case()?]);
    };
    let DeValue::Array(cases) = cases.get_ref() else {
        return Err(wrong_type(key.start, "case", "tables, each headed [[case]]"));
    };
    let mut parsed = Vec::new();
    // Cases may inherit the steps of the head, so a short file could ask for unlimited memory.
    let mut steps = 0;
    for case in cases.iter() {
        let offset = case.span().start;
        let DeValue::Table(table) = case.get_ref() else {
            return Err(wrong_type(offset, "case", "tables, each headed [[case]]"));
        };
        let case = Table { text, table, offset, head: Some(&head) };
        case.refuse_unknown(false)?;
        let case = case.case()?;
        steps += case.steps.len() as u64;
        if steps > steps::MAX_STEPS as u64 {
            let (what, range) = ("the number of steps in all cases", "at most 1048576");
            let problem = Problem::OutOfRange { what, range, value: steps };
            return Err(Fault::new(offset, problem));
        }
        parsed.push(case);
    }
    Ok(parsed)
}

/// Table of one case, or of the file's head.
pub(crate) struct Table<'a> {
    pub(crate) text: &'a str,
    pub(crate) table: &'a DeTable<'a>,
    pub(crate) offset: usize,
    pub(crate) head: Option<&'a Table<'a>>,
}

impl<'a> Table<'a> {
    pub(crate) fn entry(&self, key: &str) -> Option<(Range<usize>, &'a Spanned<DeValue<'a>>)> {
        let (name, value) = self.table.get_key_value(key)?;
        Some((name.span(), value))
    }

    /// Returns the value of `key` here, or else in the head of the file.
    pub(super) fn find(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        match self.entry(key) {
            Some((_, value)) => Some(value),
            None => self.head.and_then(|head| head.find(key)),
        }
    }

    fn refuse_unknown(&self, may_have_cases: bool) -> Result<(), Fault> {
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if name == "core" {
                return Err(Fault::new(key.span().start, self.other_core()));
            }
            let known = KEYS.contains(&name) || (may_have_cases && name == "case");
            if !known {
                let (name, near) = (name.to_owned(), meant::key(name, &KEYS));
                return Err(Fault::new(key.span().start, Problem::UnknownKey { name, near }));
            }
        }
        Ok(())
    }

    fn other_core(&self) -> Problem {
        let core = self.string("core").ok().flatten().map_or("other", |(core, _)| core);
        let remedy = match core {
            "cortex-a53" => "'n2sim check' runs them, and no other command",
            _ => "known is core = \"cortex-a53\"; leave the key out for the Neoverse N2",
        };
        Problem::OtherCore { core: core.to_owned(), remedy }
    }

    /// Returns the text of `key` with its offset in the file.
    pub(crate) fn string(&self, key: &'static str) -> Result<Option<(&'a str, usize)>, Fault> {
        self.find(key).map(|value| string_of(self.text, key, value)).transpose()
    }

    pub(crate) fn need_string(&self, key: &'static str) -> Result<(&'a str, usize), Fault> {
        self.string(key)?.ok_or_else(|| Fault::new(self.offset, Problem::MissingKey(key)))
    }

    fn case(&self) -> Result<Case, Fault> {
        let names = self.names()?;
        let (given, at) = self.need_string("given")?;
        let mut given = given::parse_given(&mut Cursor::new(given, at), &names)?;
        given.set = self.settings()?;
        given.set_places = self.setting_places();
        let (done, at) = self.need_string("do")?;
        let steps = steps::parse_steps(&mut Cursor::new(done, at), &names)?;
        check_cores(&steps, given.cores.unwrap_or(1))?;
        let (ways, path_offset) = self.ways()?;
        let expect = self.guide_expectation(&ways, path_offset)?;
        Ok(Case {
            test: self.need_string("test")?.0.to_owned(),
            guide: self.need_string("guide")?.0.to_owned(),
            claim: self.need_string("claim")?.0.to_owned(),
            place: place_of(self.text, self.offset),
            given,
            steps: placed(&mut Places::new(self.text), steps),
            on_machines: self.on_machines(&expect)?,
            expect,
            mesh: self.mesh()?,
            ways,
            silicon: self.silicon_expectation()?,
            source: self.string("source")?.map(|(text, _)| text.to_owned()),
        })
    }

    /// Returns the ways of `path`, with the offset of its text.
    fn ways(&self) -> Result<(Vec<Way>, usize), Fault> {
        match self.string("path")? {
            None => Ok((Vec::new(), self.offset)),
            Some((path, at)) => Ok((flows::parse_paths(&mut Cursor::new(path, at))?, at)),
        }
    }

    fn guide_expectation(&self, ways: &[Way], path_offset: usize) -> Result<Expectation, Fault> {
        let mut draft = self.expectation(Reading::Guide, "expect")?;
        if ways.is_empty() && self.find("expect").is_none() {
            if self.find("mesh").is_none() {
                return Err(Fault::new(self.offset, Problem::MissingKey("expect")));
            }
            // The mesh alone says nothing about the core.
            draft.others_open = true;
        }
        draft.path = flows::events_of(ways);
        draft.path_offset = path_offset;
        draft.resolve()
    }

    fn mesh(&self) -> Result<MeshExpectation, Fault> {
        match self.string("mesh")? {
            None => Ok(MeshExpectation::default()),
            Some((text, at)) => parse_mesh(&mut Cursor::new(text, at)),
        }
    }

    /// Returns the expectation of profile silicon: the case's own, or `expect` with the vectors of
    /// published counts.
    fn silicon_expectation(&self) -> Result<Expectation, Fault> {
        if let Some(value) = self.find("silicon") {
            if self.find("source").is_none() {
                return Err(Fault::new(value.span().start, Problem::MissingKey("source")));
            }
            return self.expectation(Reading::Silicon, "silicon")?.resolve();
        }
        if let Some((key, _)) = self.entry("source") {
            return Err(Fault::new(key.start, Problem::MissingKey("silicon")));
        }
        let draft = self.expectation(Reading::Silicon, "expect");
        draft.and_then(|draft| draft.resolve()).map_err(|mut fault| {
            if let Problem::Contradiction { because, .. } = &mut fault.problem {
                *because = "in profile silicon; state it there with silicon = and source =";
            }
            fault
        })
    }

    /// Returns the named addresses: five lines of one L1D set, those of the head, those of the
    /// case.
    fn names(&self) -> Result<Names, Fault> {
        let mut names = named_lines();
        let tables = [self.head.and_then(|head| head.entry("names")), self.entry("names")];
        for (key, value) in tables.into_iter().flatten() {
            let DeValue::Table(table) = value.get_ref() else {
                return Err(wrong_type(key.start, "names", "a table: { b = 0x9000 }"));
            };
            for (name, value) in table.iter() {
                names.insert(name.get_ref().to_string(), integer_of(name.get_ref(), value)?);
            }
        }
        Ok(names)
    }

    /// Returns configuration keys with their values as TOML text.
    pub(crate) fn settings(&self) -> Result<Vec<(String, String)>, Fault> {
        let Some(value) = self.find("set") else { return Ok(Vec::new()) };
        let DeValue::Table(table) = value.get_ref() else {
            let expected = "a table: { \"memory.l2.size-bytes\" = 524288 }";
            return Err(wrong_type(value.span().start, "set", expected));
        };
        let setting = |(key, value): (&Spanned<Cow<str>>, &Spanned<DeValue>)| {
            (key.get_ref().to_string(), self.text[value.span()].to_owned())
        };
        Ok(table.iter().map(setting).collect())
    }

    /// Returns the places of the configuration keys, in the order of [`Self::settings`].
    fn setting_places(&self) -> Vec<Place> {
        match self.find("set").map(Spanned::get_ref) {
            Some(DeValue::Table(table)) => {
                table.iter().map(|(key, _)| place_of(self.text, key.span().start)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the expectation under `key`, in one reading of the vectors.
    fn expectation(&self, reading: Reading, key: &'static str) -> Result<Draft, Fault> {
        let mut draft = Draft::default();
        draft.reading = reading;
        draft.others_open = self.others_open()?;
        let Some(value) = self.find(key) else {
            // A path alone determines only the flows of the guide.
            draft.others_open |= reading == Reading::Silicon;
            return Ok(draft);
        };
        match value.get_ref() {
            DeValue::Table(table) => self.expect_table(table, &mut draft)?,
            _ => {
                let (text, at) = string_of(self.text, key, value)?;
                draft.parse(&mut Cursor::new(text, at))?;
            }
        }
        Ok(draft)
    }

    pub(crate) fn others_open(&self) -> Result<bool, Fault> {
        match self.string("others")? {
            None | Some(("zero", _)) => Ok(false),
            Some(("any", _)) => Ok(true),
            Some((_, at)) => Err(wrong_type(at, "others", "\"zero\" or \"any\"")),
        }
    }

    /// Reads `[expect]`: `sum = "V3"` and events with a number or a bound.
    fn expect_table(&self, table: &'a DeTable<'a>, draft: &mut Draft) -> Result<(), Fault> {
        for (key, value) in table.iter() {
            if key.get_ref() == "sum" {
                let (text, at) = string_of(self.text, "sum", value)?;
                draft.parse(&mut Cursor::new(text, at))?;
                continue;
            }
            let at = key.span().start;
            let event = event_named(key.get_ref(), at)?;
            let bound = match value.get_ref() {
                DeValue::String(_) => {
                    let (text, at) = string_of(self.text, key.get_ref(), value)?;
                    let mut cursor = Cursor::new(text, at);
                    let bound = parse_bound(&mut cursor)?;
                    if !cursor.is_done() {
                        return Err(cursor.expected("the end of the bound"));
                    }
                    bound
                }
                _ => Bound::exactly(integer_of(key.get_ref(), value)?),
            };
            draft.state(event, bound, at)?;
        }
        Ok(())
    }
}

/// Returns the text of a string value and the file offset of its first character.
pub(super) fn string_of<'a>(
    text: &str,
    key: &str,
    value: &'a Spanned<DeValue<'a>>,
) -> Result<(&'a str, usize), Fault> {
    let span = value.span();
    let DeValue::String(string) = value.get_ref() else {
        return Err(wrong_type(span.start, key, "a string"));
    };
    let literal = text.get(span.clone()).unwrap_or_default();
    let quotes = literal.len() - literal.trim_start_matches(['"', '\'']).len();
    let opening = if quotes >= 3 { 3 } else { 1 };
    let newline = usize::from(quotes >= 3 && literal[opening..].starts_with('\n'));
    Ok((string.as_ref(), span.start + opening + newline))
}

fn integer_of(key: &str, value: &Spanned<DeValue>) -> Result<u64, Fault> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    number.ok_or_else(|| wrong_type(value.span().start, key, "a number from 0 to 2^64 - 1"))
}

pub(crate) fn wrong_type(offset: usize, key: &str, expected: &'static str) -> Fault {
    Fault::new(offset, Problem::WrongType { key: key.to_owned(), expected })
}
