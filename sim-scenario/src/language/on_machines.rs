//! Statements of a case about real machines, which the model ignores: `on`, `tolerance`, `except`.
//!
//! * `on = "el0"`: the case is written for real machines in user mode. Its clocks and stalls are
//!   compared there too, which other cases are not asked for;
//! * `tolerance = "5 %"`, `tolerance = 2`, or a table of events with such values: how far the mean
//!   of the counts may be outside of the expectation;
//! * `except = { "r0p0..r0p2" = "STALL_SLOT 5" }`: cores and revisions of which other counts are
//!   expected. `"r0p1"` is a revision of the Neoverse N2, `"neoverse-v1"` another core.

use std::borrow::Cow;

use sim_core::PmuEvent;
use sim_core::cores;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::bound::{event_named, parse_bound};
use super::cursor::Cursor;
use super::document::{Table, string_of, wrong_type};
use super::error::{Fault, Problem};
use super::expect::{Expectation, Expected, parse_event};

/// Statements of a case about real machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnMachines {
    /// The case is written for user mode of real machines, and clocks and stalls are compared.
    pub in_user_mode: bool,
    /// Tolerances: of one event, or of all others.
    pub tolerances: Vec<(Option<PmuEvent>, Tolerance)>,
    /// Other counts of other machines. No two of them fit one machine and one event.
    pub exceptions: Vec<Exception>,
}

/// Distance that the mean of the counts may have from the expectation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Number of counts.
    Counts(f64),
    /// Percentage of the expected count.
    Percent(f64),
}

/// Expected counts on some machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Machines as the case names them.
    pub on: String,
    /// The machines.
    machines: Machines,
    /// Counts expected there.
    pub events: Vec<Expected>,
}

/// A core, and some or all of its revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machines {
    part: u64,
    /// Variant and revision, as in r0p3.
    first: (u64, u64),
    last: (u64, u64),
}

const ALL_REVISIONS: [(u64, u64); 2] = [(0, 0), (15, 15)];

impl OnMachines {
    /// Returns the tolerance that the case states for an event.
    pub fn tolerance(&self, event: PmuEvent) -> Option<Tolerance> {
        let of = |wanted| self.tolerances.iter().find(|(own, _)| *own == wanted);
        of(Some(event)).or_else(|| of(None)).map(|(_, tolerance)| *tolerance)
    }

    /// Returns what is expected of an event on the machine with this MIDR_EL1, if that differs from
    /// the expectation of the case.
    pub fn exception(&self, midr: u64, event: PmuEvent) -> Option<(&Exception, Expected)> {
        let fits = self.exceptions.iter().filter(|exception| exception.is_on(midr));
        let mut of_event = fits.filter_map(|exception| {
            let expected = exception.events.iter().find(|expected| expected.event == event)?;
            Some((exception, *expected))
        });
        of_event.next()
    }
}

impl Exception {
    /// Returns true if it is about the machine with this MIDR_EL1.
    pub fn is_on(&self, midr: u64) -> bool {
        let own = (midr >> 20 & 0xf, midr & 0xf);
        let Machines { part, first, last } = self.machines;
        cores::is_part(midr, part) && (first..=last).contains(&own)
    }

    /// Returns an event that both state for one machine.
    fn overlap(&self, other: &Exception) -> Option<PmuEvent> {
        let (a, b) = (&self.machines, &other.machines);
        let is_apart = a.part != b.part || a.last < b.first || b.last < a.first;
        let of_both = |own: &&Expected| other.events.iter().any(|two| two.event == own.event);
        let both = self.events.iter().find(of_both).map(|expected| expected.event);
        both.filter(|_| !is_apart)
    }
}

impl<'a> Table<'a> {
    /// Reads what the case says about real machines, beside what it expects elsewhere.
    pub(super) fn on_machines(&self, expect: &Expectation) -> Result<OnMachines, Fault> {
        let in_user_mode = match self.string("on")? {
            None => false,
            Some(("el0", _)) => true,
            Some((_, at)) => {
                return Err(wrong_type(at, "on", "\"el0\", a real machine in user mode"));
            }
        };
        let tolerances = match self.find("tolerance") {
            None => Vec::new(),
            Some(value) => self.tolerances(value)?,
        };
        let exceptions = self.exceptions(expect)?;
        Ok(OnMachines { in_user_mode, tolerances, exceptions })
    }

    fn tolerances(
        &self,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Result<Vec<(Option<PmuEvent>, Tolerance)>, Fault> {
        let DeValue::Table(table) = value.get_ref() else {
            return Ok(vec![(None, tolerance_of(value)?)]);
        };
        let of_event = |(key, value): (&Spanned<Cow<str>>, &Spanned<DeValue>)| {
            let event = event_named(key.get_ref(), key.span().start)?;
            Ok((Some(event), tolerance_of(value)?))
        };
        table.iter().map(of_event).collect()
    }

    fn exceptions(&self, expect: &Expectation) -> Result<Vec<Exception>, Fault> {
        let Some(value) = self.find("except") else { return Ok(Vec::new()) };
        let DeValue::Table(table) = value.get_ref() else {
            let expected = "a table: { \"r0p0..r0p2\" = \"STALL_SLOT 5\" }";
            return Err(wrong_type(value.span().start, "except", expected));
        };
        self.exceptions_of(table, expect)
    }

    fn exceptions_of(
        &self,
        table: &'a DeTable<'a>,
        expect: &Expectation,
    ) -> Result<Vec<Exception>, Fault> {
        let mut exceptions: Vec<Exception> = Vec::new();
        for (key, value) in table.iter() {
            let (name, place) = (key.get_ref(), key.span().start);
            let machines = machines(name)
                .ok_or_else(|| Fault::new(place, Problem::UnknownMachine(name.to_string())))?;
            let (text, at) = string_of(self.text, name, value)?;
            let events = statements(&mut Cursor::new(text, at), expect)?;
            let exception = Exception { on: name.to_string(), machines, events };
            let twice =
                exceptions.iter().find_map(|one| Some((one, one.overlap(&exception)?.mnemonic())));
            if let Some((one, event)) = twice {
                let (event, first, second) = (event, one.on.clone(), name.to_string());
                return Err(Fault::new(
                    place,
                    Problem::OverlappingMachines { event, first, second },
                ));
            }
            exceptions.push(exception);
        }
        Ok(exceptions)
    }
}

/// Reads statements about single events that `expect` compares.
fn statements(cursor: &mut Cursor, expect: &Expectation) -> Result<Vec<Expected>, Fault> {
    let mut events: Vec<Expected> = Vec::new();
    loop {
        let at = cursor.offset();
        let event = parse_event(cursor)?;
        let bound = parse_bound(cursor)?;
        let is_compared = expect.events.iter().any(|expected| expected.event == event);
        if !is_compared || events.iter().any(|own| own.event == event) {
            return Err(Fault::new(at, Problem::WrongException(event.mnemonic())));
        }
        events.push(Expected { event, bound });
        if cursor.is_done() {
            return Ok(events);
        }
        if !(cursor.take(";") || cursor.take(",")) {
            return Err(cursor.expected("';' or ',' and the count of another event"));
        }
    }
}

fn tolerance_of(value: &Spanned<DeValue>) -> Result<Tolerance, Fault> {
    let text = match value.get_ref() {
        DeValue::String(text) => text.trim(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        _ => "",
    };
    let percent = text.strip_suffix('%').map(str::trim_end);
    let number = percent.unwrap_or(text).parse::<f64>().ok();
    let number = number.filter(|number| (0.0..=1e6).contains(number)).ok_or_else(|| {
        let expected = "counts or a percentage up to 1000000, such as 2, 0.5 or \"5 %\", or a table of events with them";
        wrong_type(value.span().start, "tolerance", expected)
    })?;
    Ok(if percent.is_some() { Tolerance::Percent(number) } else { Tolerance::Counts(number) })
}

/// Returns the machines of `r0p0`, `r0p0..r0p2`, `neoverse-v1` or `neoverse-v1 r1p0`.
fn machines(name: &str) -> Option<Machines> {
    let (core, revisions) = match name.trim().split_once(' ') {
        Some((core, revisions)) => (cores::by_name(core)?, Some(revisions.trim())),
        None => match cores::by_name(name.trim()) {
            Some(core) => (core, None),
            None => (cores::neoverse_n2(), Some(name.trim())),
        },
    };
    let [first, last] =
        revisions.map_or(Some(ALL_REVISIONS), |text| match text.split_once("..") {
            Some((first, last)) => Some([revision(first)?, revision(last)?]),
            None => Some([revision(text)?; 2]),
        })?;
    let part = Some(u64::from(core.part)).filter(|part| *part > 0 && first <= last)?;
    Some(Machines { part, first, last })
}

fn revision(text: &str) -> Option<(u64, u64)> {
    let (variant, patch) = text.trim().strip_prefix('r')?.split_once('p')?;
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number < 16);
    Some((number(variant)?, number(patch)?))
}

#[cfg(test)]
mod tests {
    use super::super::{Bound, Case, parse};
    use super::*;

    const HEAD: &str =
        "guide = \"4.8\"\nclaim = \"c\"\ntest = \"t\"\ngiven = 'K3'\ndo = 'LD8 a0'\n";

    fn read(body: &str) -> Result<Case, String> {
        let cases = parse("a.toml", &format!("{HEAD}{body}"));
        cases.map(|mut cases| cases.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn exceptions_fit_by_core_and_revision() {
        let case = read(
            "expect = 'V3; STALL_SLOT 0'\non = 'el0'\n\
             except = { \"r0p0..r0p2\" = 'STALL_SLOT 1..2', \"neoverse-v1 r1p1\" = 'STALL_SLOT 3; LD_SPEC 2' }",
        );
        let on = case.expect("it is well written").on_machines;
        assert!(on.in_user_mode);
        let bound = |midr, event| on.exception(midr, event).map(|(_, expected)| expected.bound);
        let one_or_two = Some(Bound { min: 1, max: 2 });
        assert_eq!(bound(0x410f_d490, PmuEvent::STALL_SLOT), one_or_two);
        assert_eq!(bound(0x410f_d492, PmuEvent::STALL_SLOT), one_or_two);
        assert_eq!(bound(0x410f_d493, PmuEvent::STALL_SLOT), None);
        // The same revision by another implementer.
        assert_eq!(bound(0x460f_d490, PmuEvent::STALL_SLOT), None);
        assert_eq!(bound(0x411f_d401, PmuEvent::LD_SPEC), Some(Bound::exactly(2)));
        assert_eq!(bound(0x411f_d400, PmuEvent::LD_SPEC), None);
        assert_eq!(
            on.exception(0x410f_d491, PmuEvent::STALL_SLOT).expect("one").0.on,
            "r0p0..r0p2"
        );
    }

    #[test]
    fn a_tolerance_is_of_all_events_or_of_one() {
        let of = |text: &str| {
            let case = read(&format!("expect = 'V3'\ntolerance = {text}")).expect("well written");
            [PmuEvent::LD_SPEC, PmuEvent::L1D_CACHE].map(|event| case.on_machines.tolerance(event))
        };
        assert_eq!(of("'5 %'"), [Some(Tolerance::Percent(5.0)); 2]);
        assert_eq!(of("2"), [Some(Tolerance::Counts(2.0)); 2]);
        assert_eq!(of("0.5"), [Some(Tolerance::Counts(0.5)); 2]);
        assert_eq!(of("{ LD_SPEC = '10%' }"), [Some(Tolerance::Percent(10.0)), None]);
    }

    #[test]
    fn a_mistake_is_explained() {
        for (body, hint) in [
            ("on = 'EL0'", "a.toml:7:7: 'on' must be \"el0\""),
            ("tolerance = '5 percent'", "'tolerance' must be counts or a percentage"),
            ("tolerance = '-1'", "'tolerance' must be counts or a percentage"),
            ("tolerance = 'nan'", "'tolerance' must be counts or a percentage"),
            ("tolerance = { LOADS = 1 }", "LOADS"),
            ("except = 'r0p0'", "'except' must be a table"),
            ("except = { r0p99 = 'LD_SPEC 2' }", "a.toml:7:12: unknown machine 'r0p99'; write"),
            ("except = { \"r0p2..r0p0\" = 'LD_SPEC 2' }", "unknown machine 'r0p2..r0p0'"),
            ("except = { graviton = 'LD_SPEC 2' }", "unknown machine 'graviton'"),
            ("except = { r0p0 = 'V1' }", "V1"),
            ("except = { r0p0 = 'LD_SPEC 2 LD_SPEC' }", "and the count of another event"),
            ("except = { r0p0 = 'CPU_CYCLES 2' }", "'except' states CPU_CYCLES"),
            ("except = { r0p0 = 'LD_SPEC 2, LD_SPEC 3' }", "'except' states LD_SPEC"),
            (
                "except = { r0p1 = 'LD_SPEC 2', \"r0p0..r0p2\" = 'LD_SPEC 3' }",
                "are both about one machine and LD_SPEC",
            ),
        ] {
            let message = read(&format!("expect = 'V3'\n{body}")).expect_err(body);
            assert!(message.contains(hint), "{body}: {message}");
        }
        let both = "expect = 'V3'\nexcept = { r0p1 = 'LD_SPEC 2', \"r0p0\" = 'LD_SPEC 3' }";
        assert_eq!(read(both).expect("apart").on_machines.exceptions.len(), 2);
    }
}
