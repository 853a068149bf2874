//! Differences between two runs: every number of their reports, paired by its name, with size and
//! sign. Equal numbers are only counted.

pub(crate) mod csv;
pub mod forms;
pub mod limits;
mod page;
mod quantities;
mod text;
mod verdict;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::run_report::RunReport;
use quantities::{Group, Quantity, groups};

pub use csv::write_csv;
pub use limits::{Checked, Limit};
pub use page::html;
pub use text::write_text;

/// Name and version of the JSON form.
pub const FORMAT: &str = "n2sim-diff/2";

/// Number of a report. Counts are exact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// Count.
    Count(u64),
    /// Difference of counts.
    Difference(i64),
    /// Any other value.
    Value(f64),
}

impl Number {
    /// Returns the number, rounded if it is a very large count.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Count(count) => count as f64,
            Number::Difference(difference) => difference as f64,
            Number::Value(value) => value,
        }
    }

    fn minus(self, other: Number) -> Number {
        match (self, other) {
            (Number::Count(a), Number::Count(b)) => {
                let difference = i128::from(a) - i128::from(b);
                let limit = if difference < 0 { i64::MIN } else { i64::MAX };
                Number::Difference(i64::try_from(difference).unwrap_or(limit))
            }
            _ => Number::Value(self.as_f64() - other.as_f64()),
        }
    }
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Argument of the command line.
    pub name: String,
    /// Trace.
    pub trace: String,
    /// Configuration.
    pub config: String,
    /// Retired instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Data missing from the trace that makes counts doubtful.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// Setting that differs between the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingChange {
    /// Name of the setting.
    pub name: String,
    /// Value in the first run.
    pub from: String,
    /// Value in the second run.
    pub to: String,
}

/// Number that differs between the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Identifier, the same in every report and unique in its section.
    pub id: String,
    /// Readable name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Event, if the number is the count of one.
    pub event: Option<String>,
    /// Value in the first run; absent if its report does not have it.
    pub from: Option<Number>,
    /// Value in the second run.
    pub to: Option<Number>,
    /// Second value minus the first.
    pub change: Option<Number>,
    /// Change in percent of the first value; absent if that is 0.
    pub percent: Option<f64>,
    /// Change of the count per instruction, in percent, if the runs have different numbers of
    /// instructions.
    pub rate_percent: Option<f64>,
    /// Share of all slots of the first run, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_share: Option<f64>,
    /// Share of all slots of the second run, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_share: Option<f64>,
    /// Data missing from the trace of one of the runs that makes this count doubtful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// Differences in one part of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SectionDiff {
    /// Identifier, the same in every comparison.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Differences, in the order of the report.
    pub changes: Vec<Change>,
    /// Number of equal numbers.
    pub unchanged: u64,
    /// Number of changes below the requested minimum.
    pub small: u64,
}

/// Comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunDiff {
    /// Name and version of this form: `n2sim-diff/2`.
    pub format: String,
    /// The first run.
    pub from: Side,
    /// The second run.
    pub to: Side,
    /// Verdict in a sentence or two: the faster run, and its largest gain or loss.
    pub verdict: String,
    /// Settings that differ.
    pub settings: Vec<SettingChange>,
    /// Parts of the report.
    pub sections: Vec<SectionDiff>,
    /// Results of limits on the change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Checked>,
}

/// Run with its name.
#[derive(Clone, Copy, Debug)]
pub struct NamedRun<'a> {
    /// Name.
    pub name: &'a str,
    /// Report.
    pub report: &'a RunReport,
}

impl RunDiff {
    /// Compares two runs. Changes below `least` percent are only counted.
    pub fn new(from: NamedRun<'_>, to: NamedRun<'_>, least: f64) -> RunDiff {
        let instructions = (from.report.run.instructions, to.report.run.instructions);
        let sections = groups(from.report).into_iter().zip(groups(to.report));
        RunDiff {
            format: FORMAT.to_owned(),
            from: side(from),
            to: side(to),
            verdict: verdict::sentence(from.report, to.report),
            settings: settings(from.report, to.report),
            sections: sections.map(|(from, to)| section(from, to, instructions, least)).collect(),
            limits: Vec::new(),
        }
    }

    /// Returns how many numbers changed.
    pub fn changed(&self) -> usize {
        let changes = self.sections.iter().flat_map(|section| &section.changes);
        changes.filter(|change| !change.is_same()).count()
    }
}

fn side(run: NamedRun<'_>) -> Side {
    let info = &run.report.run;
    Side {
        name: run.name.to_owned(),
        trace: info.trace.clone(),
        config: info.config.clone(),
        instructions: info.instructions,
        cycles: info.cycles,
        doubts: doubts(run.report),
    }
}

/// Returns the data missing from the trace that makes counts of a run doubtful, each item once.
fn doubts(report: &RunReport) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    for doubt in report.events.iter().filter_map(|event| event.doubt.as_ref()) {
        if !doubts.contains(doubt) {
            doubts.push(doubt.clone());
        }
    }
    doubts
}

fn settings(from: &RunReport, to: &RunReport) -> Vec<SettingChange> {
    let all = |report: &RunReport| {
        let run = &report.run;
        let optional = |text: Option<String>| text.unwrap_or_else(|| String::from("all"));
        [
            ("n2sim", run.version.clone()),
            ("trace", run.trace.clone()),
            ("content of the trace", run.trace_hash.clone()),
            ("configuration", run.config.clone()),
            ("values of the configuration", run.config_hash.clone()),
            ("revision", run.revision.clone()),
            ("seed", run.seed.to_string()),
            ("clock in Hz", run.clock_hz.to_string()),
            ("warm-up", run.warmup.to_string()),
            ("limit", optional(run.limit.map(|limit| limit.to_string()))),
            ("region", optional(run.roi.clone())),
        ]
    };
    let differing = all(from).into_iter().zip(all(to)).filter(|(from, to)| from.1 != to.1);
    let change = |((name, from), (_, to)): ((&str, String), (&str, String))| SettingChange {
        name: name.to_owned(),
        from,
        to,
    };
    differing.map(change).collect()
}

/// Relative error by which a reader of JSON may round a number.
const ROUNDING: f64 = 1e-12;

fn is_same(from: Option<Number>, to: Option<Number>) -> bool {
    match (from, to) {
        (Some(Number::Value(from)), Some(Number::Value(to))) => {
            (from - to).abs() <= ROUNDING * from.abs().max(to.abs())
        }
        _ => from == to,
    }
}

/// Name of a number with its occurrence, so that numbers of the same name are paired in order.
type Key = (String, usize);

fn keyed(quantities: Vec<Quantity>) -> Vec<(Key, Quantity)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let key = |quantity: Quantity| {
        let times = seen.entry(quantity.id.clone()).or_default();
        *times += 1;
        ((quantity.id.clone(), *times), quantity)
    };
    quantities.into_iter().map(key).collect()
}

fn section(from: Group, to: Group, instructions: (u64, u64), least: f64) -> SectionDiff {
    let (id, title) = (from.id.to_owned(), from.title.to_owned());
    let wholes = (from.whole, to.whole);
    let shared = |change: Change| Change {
        from_share: share(change.from, wholes.0),
        to_share: share(change.to, wholes.1),
        ..change
    };
    let all: Vec<Change> = paired(from, to)
        .into_iter()
        .map(|(quantity, from, to)| shared(change(quantity, from, to, instructions)))
        .collect();
    let is_large = |change: &Change| {
        !change.is_same() && change.percent.is_none_or(|percent| percent.abs() >= least)
    };
    let large: Vec<String> =
        all.iter().filter(|change| is_large(change)).map(|change| change.id.clone()).collect();
    // A parent is shown above its changed parts, even if it did not change.
    let is_whole =
        |change: &Change| id == SLOTS && large.iter().any(|part| is_part(part, &change.id));
    let count =
        |is: &dyn Fn(&Change) -> bool| all.iter().filter(|change| is(change)).count() as u64;
    let unchanged = count(&|change| change.is_same());
    let small = count(&|change| !change.is_same() && !is_large(change) && !is_whole(change));
    let changes =
        all.iter().filter(|change| is_large(change) || is_whole(change)).cloned().collect();
    SectionDiff { id, title, changes, unchanged, small }
}

/// Section of the slot tree.
const SLOTS: &str = "slots";

/// Returns whether the quantity `part` is below `whole` in the tree of names: `slots.backend` is
/// below `slots`.
fn is_part(part: &str, whole: &str) -> bool {
    part.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the quantities of both reports in the order of the first. A quantity of the second
/// report alone follows the others of the same parent; without a parent it is last.
fn paired(from: Group, to: Group) -> Vec<(Quantity, Option<Number>, Option<Number>)> {
    let (missing, mut order) = (from.missing, Vec::new());
    let mut others: BTreeMap<Key, Quantity> = BTreeMap::new();
    for (key, quantity) in keyed(to.quantities) {
        order.push(key.clone());
        others.insert(key, quantity);
    }
    let mut pairs: Vec<(Quantity, Option<Number>, Option<Number>)> = Vec::new();
    for (key, quantity) in keyed(from.quantities) {
        let other = others.remove(&key);
        let doubt = other.as_ref().and_then(|other| other.doubt.clone());
        let (value, other) = (quantity.value, other.map_or(missing, |other| other.value));
        let doubt = quantity.doubt.clone().or(doubt);
        pairs.push((Quantity { doubt, ..quantity }, value, other));
    }
    for quantity in order.iter().filter_map(|key| others.remove(key)) {
        let parent = quantity.id.rsplit_once('.').map(|(parent, _)| parent.to_owned());
        let is_family = |other: &Quantity| {
            parent.as_ref().is_some_and(|parent| other.id == *parent || is_part(&other.id, parent))
        };
        let last_of_family = pairs.iter().rposition(|(other, ..)| is_family(other));
        let value = quantity.value;
        let at = last_of_family.map_or(pairs.len(), |last| last + 1);
        pairs.insert(at, (quantity, missing, value));
    }
    pairs
}

fn change(
    quantity: Quantity,
    from: Option<Number>,
    to: Option<Number>,
    (before, after): (u64, u64),
) -> Change {
    let Quantity { id, name, unit, event, doubt, .. } = quantity;
    let both = from.zip(to);
    let rates = both.filter(|(from, _)| matches!(from, Number::Count(_)) && before != after);
    let rate = rates
        .and_then(|(from, to)| percent(from.as_f64() * after as f64, to.as_f64() * before as f64));
    Change {
        id,
        name,
        unit,
        event,
        change: both.map(|(from, to)| to.minus(from)),
        percent: both.and_then(|(from, to)| percent(from.as_f64(), to.as_f64())),
        rate_percent: rate,
        from_share: None,
        to_share: None,
        from,
        to,
        doubt,
    }
}

/// Returns the part of a whole, in percent.
fn share(number: Option<Number>, whole: Option<u64>) -> Option<f64> {
    let whole = whole.filter(|whole| *whole > 0)?;
    Some(number?.as_f64() / whole as f64 * 100.0)
}

impl Change {
    /// Returns whether the number is equal in both runs; it is listed only above its changed parts.
    fn is_same(&self) -> bool {
        is_same(self.from, self.to)
    }
}

fn percent(from: f64, to: f64) -> Option<f64> {
    let percent = (to - from) / from.abs() * 100.0;
    (from != 0.0 && percent.is_finite()).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(quantities: &[(&str, Option<Number>)]) -> Group {
        let quantity = |&(id, value): &(&str, Option<Number>)| Quantity {
            id: id.to_owned(),
            name: id.to_owned(),
            unit: String::new(),
            event: None,
            value,
            doubt: None,
        };
        Group {
            id: "g",
            title: "G",
            missing: None,
            whole: None,
            quantities: quantities.iter().map(quantity).collect(),
        }
    }

    #[test]
    fn a_part_is_listed_below_its_parent() {
        let count = |n| Some(Number::Count(n));
        let slots =
            |quantities: &[(&str, Option<Number>)]| Group { id: SLOTS, ..group(quantities) };
        let from = || {
            slots(&[
                ("slots", count(100)),
                ("slots.front", count(60)),
                ("slots.front.width", count(60)),
                ("slots.back", count(40)),
                ("slots.back.core", count(40)),
            ])
        };
        let to = || {
            slots(&[
                ("slots", count(100)),
                ("slots.front", count(60)),
                ("slots.front.miss", count(59)),
                ("slots.front.width", count(1)),
                ("slots.back", count(40)),
                ("slots.back.core", count(40)),
            ])
        };
        let diff = section(from(), to(), (10, 10), 0.0);
        let listed: Vec<&str> = diff.changes.iter().map(|change| change.id.as_str()).collect();
        assert_eq!(listed, ["slots", "slots.front", "slots.front.width", "slots.front.miss"]);
        assert_eq!(
            (diff.unchanged, diff.small),
            (4, 0),
            "two of the four are listed above their parts"
        );
        assert_eq!(diff.changes.iter().filter(|change| !change.is_same()).count(), 2);
    }

    #[test]
    fn only_changes_are_listed_with_size_and_sign() {
        let from = group(&[
            ("same", Some(Number::Count(7))),
            ("less", Some(Number::Count(u64::MAX))),
            ("zero", Some(Number::Count(0))),
            ("gone", Some(Number::Value(1.0))),
            ("never", None),
        ]);
        let to = group(&[
            ("new", Some(Number::Count(1))),
            ("zero", Some(Number::Count(5))),
            ("less", Some(Number::Count(u64::MAX - 1))),
            ("same", Some(Number::Count(7))),
            ("never", None),
        ]);
        let diff = section(from, to, (10, 10), 0.0);
        let listed: Vec<_> = diff.changes.iter().map(|c| (c.id.as_str(), c.change)).collect();
        assert_eq!(
            listed,
            [
                ("less", Some(Number::Difference(-1))),
                ("zero", Some(Number::Difference(5))),
                ("gone", None),
                ("new", None)
            ]
        );
        assert_eq!((diff.unchanged, diff.changes[1].percent), (2, None));
    }

    #[test]
    fn a_cause_that_a_report_leaves_out_has_no_slots() {
        let mut from = group(&[("a", Some(Number::Count(1)))]);
        from.missing = Some(Number::Count(0));
        let to = group(&[("b", Some(Number::Count(5)))]);
        let diff = section(from, to, (1, 1), 0.0);
        let listed: Vec<_> = diff.changes.iter().map(|c| (c.id.as_str(), c.change)).collect();
        let (a, b) = (Number::Difference(-1), Number::Difference(5));
        assert_eq!(listed, [("a", Some(a)), ("b", Some(b))]);
    }

    #[test]
    fn numbers_of_the_same_name_are_paired_in_order() {
        let from = group(&[("f", Some(Number::Count(1))), ("f", Some(Number::Count(2)))]);
        let to = group(&[("f", Some(Number::Count(1))), ("f", Some(Number::Count(3)))]);
        let diff = section(from, to, (10, 20), 0.0);
        assert_eq!(diff.changes.len(), 1);
        assert_eq!(diff.changes[0].percent, Some(50.0));
        assert_eq!(
            diff.changes[0].rate_percent,
            Some(-25.0),
            "1.5 times in twice the instructions"
        );
    }

    #[test]
    fn small_changes_are_only_counted() {
        let from = group(&[("a", Some(Number::Count(1000))), ("b", Some(Number::Value(1.0)))]);
        let to = group(&[("a", Some(Number::Count(1009))), ("b", Some(Number::Value(0.9)))]);
        let diff = section(from, to, (1, 1), 1.0);
        assert_eq!((diff.changes.len(), diff.small), (1, 1));
        assert!(diff.changes[0].change.expect("both have it").as_f64() < 0.0);
    }
}
