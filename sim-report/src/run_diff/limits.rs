//! Limits on the change between two runs, such as `l1d_cache_refill>+5%`: which of them hold, and
//! where and why a broken one broke.

use serde::Serialize;

use super::quantities::{Group, groups};
use super::{Number, ROUNDING};
use crate::run_report::{Cost, HotFunction, HotLine, RunReport};

/// Most functions and most lines named for a broken limit.
const PLACES: usize = 3;
/// Code that moved less than this part, one in 20, of what moved most is not named.
const SHARE: i128 = 20;

/// Bound of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// Change in percent of the first value.
    Percent(f64),
    /// Change.
    Change(f64),
    /// Second value.
    Value(f64),
}

/// Limit on a number of the second run.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Text of the limit.
    pub text: String,
    name: String,
    /// Values above the bound break the limit; otherwise values below it.
    is_upper: bool,
    bound: Bound,
}

/// Fault of a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The text is not a limit.
    #[error(
        "'{0}': write NAME>+5% (more than 5 % above the first run), NAME<-5%, NAME>+1000 (more than 1000 \
         above), or NAME>2.5 (the second run has more than 2.5)"
    )]
    Form(String),
    /// Neither report has a number of this name.
    #[error(
        "'{text}': the reports have no number '{name}'; name an event (l1d_cache_refill), a metric (ipc), \
         cycles, instructions or seconds"
    )]
    Name {
        /// Text of the limit.
        text: String,
        /// Name in it.
        name: String,
    },
    /// One of the runs has no value, such as a ratio to 0.
    #[error("'{text}': {name} has no value in the {run} run")]
    Value {
        /// Text of the limit.
        text: String,
        /// Name in it.
        name: String,
        /// Run without a value: first or second.
        run: &'static str,
    },
}

impl std::str::FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Limit, LimitError> {
        let wrong = || LimitError::Form(text.to_owned());
        let at = text.find(['>', '<']).ok_or_else(wrong)?;
        let (name, bound) = (text[..at].trim(), text[at + 1..].trim());
        let (digits, is_percent) = match bound.strip_suffix('%') {
            Some(digits) => (digits.trim(), true),
            None => (bound, false),
        };
        let value: f64 = digits.parse().map_err(|_| wrong())?;
        if name.is_empty() || !value.is_finite() {
            return Err(wrong());
        }
        let bound = match is_percent {
            true => Bound::Percent(value),
            false if digits.starts_with(['+', '-']) => Bound::Change(value),
            false => Bound::Value(value),
        };
        let is_upper = text.as_bytes()[at] == b'>';
        Ok(Limit { text: text.to_owned(), name: name.to_owned(), is_upper, bound })
    }
}

/// Source line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourcePlace {
    /// File as the compiler names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// Code whose share of a number grew or fell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedCode {
    /// Function, or source line as `file.c:12`.
    pub name: String,
    /// Source file and line, for a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<SourcePlace>,
    /// Number in the first run.
    pub from: u64,
    /// Number in the second run.
    pub to: u64,
    /// Cause of lost slots that grew most there, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// Result of a limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// Text of the limit.
    pub limit: String,
    /// Name of the number.
    pub name: String,
    /// Whether it holds.
    pub holds: bool,
    /// Number in the first run.
    pub from: Number,
    /// Number in the second run.
    pub to: Number,
    /// Change in percent; absent if the first value is 0.
    pub percent: Option<f64>,
    /// Number that the places are about: the limited one, or the slots of code.
    pub measure: String,
    /// Functions where it moved most towards the bound.
    pub functions: Vec<ChangedCode>,
    /// Source lines where it did.
    pub lines: Vec<ChangedCode>,
}

impl Limit {
    /// Checks the limit on two runs.
    ///
    /// # Errors
    /// If the reports have no such number.
    pub fn check(&self, from: &RunReport, to: &RunReport) -> Result<Checked, LimitError> {
        let (text, name) = (self.text.clone(), self.name.clone());
        let (first, second) = (self.number(from), self.number(to));
        if first.is_none() && second.is_none() {
            return Err(LimitError::Name { text, name });
        }
        let need = |found: &Option<Found>, other: &Option<Found>, run| {
            let missing = other.as_ref().and_then(|other| other.missing);
            let value = found.as_ref().map_or(missing, |found| found.value);
            value.ok_or(LimitError::Value { text: text.clone(), name: name.clone(), run })
        };
        let (before, after) = (need(&first, &second, "first")?, need(&second, &first, "second")?);
        let id = first.or(second).map_or(name, |found| found.id);
        let (a, b) = (before.as_f64(), after.as_f64());
        let holds = self.holds(a, b);
        let measure = Measure::of(&id);
        let places = |functions| match holds {
            true => Vec::new(),
            false => changed(&measure, (from, to), functions, self.is_upper),
        };
        Ok(Checked {
            limit: text.clone(),
            name: id.clone(),
            holds,
            from: before,
            to: after,
            percent: (a != 0.0).then(|| 100.0 * (b - a) / a),
            measure: measure.name.to_owned(),
            functions: places(true),
            lines: places(false),
        })
    }

    /// Returns the limited number of a report, with its name there.
    fn number(&self, report: &RunReport) -> Option<Found> {
        let event = report.events.iter().find(|own| own.perf_name.eq_ignore_ascii_case(&self.name));
        let name = event.map_or(self.name.as_str(), |own| own.event.as_str());
        let limited = ["run", "events", "metrics", "slots", "caches", "tlbs"];
        let mut all = groups(report).into_iter().filter(|group| limited.contains(&group.id));
        all.find_map(|Group { quantities, missing, .. }| {
            let own = quantities.into_iter().find(|own| own.id.eq_ignore_ascii_case(name))?;
            Some(Found { id: own.id, value: own.value, missing })
        })
    }

    fn holds(&self, from: f64, to: f64) -> bool {
        let change = to - from;
        if change.abs() <= ROUNDING * from.abs().max(to.abs())
            && !matches!(self.bound, Bound::Value(_))
        {
            return true;
        }
        let (value, bound) = match self.bound {
            // Any change from 0 is more than any number of percent.
            Bound::Percent(_) if from == 0.0 => (change.signum() * f64::INFINITY, 0.0),
            Bound::Percent(bound) => (100.0 * change / from.abs(), bound),
            Bound::Change(bound) => (change, bound),
            Bound::Value(bound) => (to, bound),
        };
        if self.is_upper { value <= bound } else { value >= bound }
    }
}

/// Number of a report that a limit names.
struct Found {
    id: String,
    value: Option<Number>,
    /// Value in a report that leaves it out.
    missing: Option<Number>,
}

/// Number that a report has for each function and line.
struct Measure {
    name: &'static str,
    of: fn(&Cost) -> u64,
    /// The number of code grows where the number of the run grows.
    grows_with_it: Option<bool>,
}

impl Measure {
    /// Returns the number of code for a number of the run, or its slots.
    fn of(id: &str) -> Measure {
        let (name, of): (_, fn(&Cost) -> u64) = match id {
            "cycles" | "CPU_CYCLES" | "ipc" | "seconds" => ("cycles", |cost| cost.cycles),
            "instructions" | "INST_RETIRED" => ("instructions", |cost| cost.instructions),
            "BR_MIS_PRED_RETIRED" | "BR_MIS_PRED" => ("branch misses", |cost| cost.branch_misses),
            "L1I_CACHE_REFILL" => ("L1I_CACHE_REFILL", |cost| cost.l1i_refills),
            "L1D_CACHE_REFILL" => ("L1D_CACHE_REFILL", |cost| cost.l1d_refills),
            "L2D_CACHE_REFILL" => ("L2D_CACHE_REFILL", |cost| cost.l2_refills),
            "DTLB_WALK" => ("DTLB_WALK", |cost| cost.dtlb_walks.unwrap_or(0)),
            "ITLB_WALK" => ("ITLB_WALK", |cost| cost.itlb_walks.unwrap_or(0)),
            "L1D_TLB_REFILL" => ("L1D_TLB_REFILL", |cost| cost.l1d_tlb_refills.unwrap_or(0)),
            "L1I_TLB_REFILL" => ("L1I_TLB_REFILL", |cost| cost.l1i_tlb_refills.unwrap_or(0)),
            _ => ("slots", |cost| cost.slots),
        };
        // Fewer instructions per cycle are more cycles. Slots stand for any other number: code that
        // takes more of them is where to look.
        let grows_with_it = match (id, name) {
            ("ipc", _) => Some(false),
            (_, "slots") => None,
            _ => Some(true),
        };
        Measure { name, of, grows_with_it }
    }
}

/// Code of a report with its cost.
struct Row<'a> {
    name: String,
    line: Option<SourcePlace>,
    cost: &'a Cost,
}

fn rows(report: &RunReport, functions: bool) -> Vec<Row<'_>> {
    let code = &report.code;
    if functions {
        let row = |own: &'_ HotFunction| (own.name.clone(), None);
        let all = code.functions.iter().map(|own| (row(own), &own.cost));
        return all.map(|((name, line), cost)| Row { name, line, cost }).collect();
    }
    let row = |own: &HotLine| {
        let place = SourcePlace { file: own.file.clone(), line: own.line };
        (format!("{}:{}", own.file, own.line), Some(place))
    };
    let all = code.lines.iter().map(|own| (row(own), &own.cost));
    all.map(|((name, line), cost)| Row { name, line, cost }).collect()
}

/// Returns the code whose number moved most. With `grew`, the code where it grew.
fn changed(
    measure: &Measure,
    (from, to): (&RunReport, &RunReport),
    functions: bool,
    is_upper: bool,
) -> Vec<ChangedCode> {
    let grew = measure.grows_with_it.is_none_or(|grows| grows == is_upper);
    let (before, after) = (rows(from, functions), rows(to, functions));
    let mut names: Vec<(&str, &Option<SourcePlace>)> = Vec::new();
    for row in before.iter().chain(&after) {
        if !names.iter().any(|(name, _)| *name == row.name) {
            names.push((&row.name, &row.line));
        }
    }
    let cost = |rows: &[Row<'_>], name: &str| {
        rows.iter().find(|row| row.name == name).map_or_else(Cost::default, |row| row.cost.clone())
    };
    let mut all: Vec<(i128, ChangedCode)> = Vec::new();
    for (name, line) in names {
        let (first, second) = (cost(&before, name), cost(&after, name));
        let (from, to) = ((measure.of)(&first), (measure.of)(&second));
        let change = i128::from(to) - i128::from(from);
        let change = if grew { change } else { -change };
        if change > 0 {
            let (name, line, cause) = (name.to_owned(), line.clone(), grown(&first, &second));
            all.push((change, ChangedCode { name, line, from, to, cause }));
        }
    }
    all.sort_by_key(|(change, _)| std::cmp::Reverse(*change));
    let least = all.first().map_or(0, |(change, _)| change / SHARE);
    let large = all.into_iter().filter(|(change, _)| *change >= least);
    large.take(PLACES).map(|(_, code)| code).collect()
}

/// Returns the cause of lost slots that grew most.
fn grown(from: &Cost, to: &Cost) -> Option<String> {
    let before =
        |cause: &str| from.causes.iter().find(|own| own.cause == cause).map_or(0, |own| own.slots);
    let growth = to.causes.iter().map(|own| (own.slots.saturating_sub(before(&own.cause)), own));
    let most = growth.max_by_key(|(slots, _)| *slots)?;
    (most.0 > 0).then(|| most.1.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().expect("a limit")
    }

    #[test]
    fn a_limit_is_on_the_change_or_on_the_value() {
        for (text, from, to, holds) in [
            ("x>+5%", 100.0, 105.0, true),
            ("x>+5%", 100.0, 105.1, false),
            ("x>5%", 100.0, 106.0, false),
            ("x > +5 %", 0.0, 0.0, true),
            ("x>+5%", 0.0, 1.0, false),
            ("x<-5%", 0.0, 1.0, true),
            ("x<-5%", 100.0, 94.0, false),
            ("x<-5%", 100.0, 200.0, true),
            ("x>+10", 100.0, 110.0, true),
            ("x>+10", 100.0, 111.0, false),
            ("x<-1", 2.0, 0.5, false),
            ("x>2.5", 9.0, 2.5, true),
            ("x>2.5", 0.0, 2.6, false),
            ("x<1", 1.0, 0.9, false),
            ("x>+0%", 100.0, 100.0, true),
            ("x>+0%", 100.0, 100.5, false),
        ] {
            assert_eq!(limit(text).holds(from, to), holds, "{text}: {from} to {to}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "x", "x>", ">5%", "x>five", "x>+5%%", "x=5", "x>inf", "x>nan%"] {
            let error = text.parse::<Limit>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("'{text}': write NAME>+5%")), "{error}");
        }
    }
}
