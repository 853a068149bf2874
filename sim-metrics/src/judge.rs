//! Formulas held against what truly happened: by how much a metric is off, and why.
//!
//! A [`Judge`] takes a metric and the [`Evidence`] of a run. It evaluates the formula on exact counts and
//! on both revisions, compares with the truth that the metric claims, and looks for reasons: faults of the
//! formula by `rules` and `probe`, habits of the events by `adjust`. Every reason is found by a
//! rule that computes: with the cause mended, the value comes near to the truth.

mod adjust;
pub mod claims;
pub mod evidence;
mod probe;
pub mod reason;
mod rules;
#[cfg(test)]
mod tests;

use crate::formula::{Catalog, Linked, MetricFormula};
use crate::truth::{Truth, TruthUnit};
use adjust::Case;
pub use adjust::Finding;
pub use evidence::{ERRATUM_PATCH, Evidence, FIRST_SOUND_PATCH, L2Lines, Prefetched};
pub use reason::Reason;

/// How a metric did on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It says what it claims, within the tolerance.
    Right,
    /// It claims nothing that is known; there is nothing to compare.
    Unclaimed,
    /// What it claims did not occur in the run: neither has a value.
    Nothing,
    /// It differs by more than the tolerance.
    Off,
    /// It has no value although there is one, or it cannot be read.
    NoValue,
}

impl Standing {
    /// A word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Right => "right",
            Standing::Unclaimed => "unclaimed",
            Standing::Nothing => "nothing",
            Standing::Off => "off",
            Standing::NoValue => "no value",
        }
    }
}

/// How far a value may be from its truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// As a part of the truth.
    pub relative: f64,
    /// For shares, in percentage points: less is never a difference.
    pub points: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { relative: 0.05, points: 0.5 }
    }
}

impl Tolerance {
    /// The largest difference from this truth that is none.
    fn of(&self, truth: Truth, real: f64) -> f64 {
        let least = match truth.unit() {
            TruthUnit::Share => self.points / 100.0,
            TruthUnit::PerKiloInstruction => 0.01,
            TruthUnit::PerCycle => 0.005,
            _ => 0.0,
        };
        (self.relative * real.abs()).max(least)
    }
}

/// A metric on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The trace.
    pub trace: String,
    /// How it did.
    pub standing: Standing,
    /// What it claims.
    pub truth: Option<Truth>,
    /// The real value of that.
    pub real: Option<f64>,
    /// Its value from exact counts, in the unit of the truth (with its own factor, without one).
    pub value: Option<f64>,
    /// Its value on a core of r0p0 to r0p2.
    pub on_erratum: Option<f64>,
    /// Its value on a core of r0p3.
    pub on_sound: Option<f64>,
    /// Its value from six counters that all metrics share.
    pub on_six: Option<f64>,
    /// Why it is off, or may be; the most important first.
    pub findings: Vec<Finding>,
    /// What the findings leave of the difference.
    pub rest: Option<f64>,
}

impl Verdict {
    /// Value less truth.
    pub fn difference(&self) -> Option<f64> {
        Some(self.value? - self.real?)
    }

    /// The difference as a part of the truth.
    pub fn relative(&self) -> Option<f64> {
        let real = self.real.filter(|real| *real != 0.0)?;
        Some(self.difference()? / real.abs())
    }

    /// True if anything is wrong with the formula, or the value is off.
    pub fn alarms(&self) -> bool {
        let has_fault = self.findings.iter().any(|finding| finding.reason.is_fault());
        has_fault || matches!(self.standing, Standing::Off | Standing::NoValue)
    }

    /// True if the reason with this code was found.
    pub fn has(&self, code: &str) -> bool {
        self.findings.iter().any(|finding| finding.reason.code() == code)
    }

    fn add(&mut self, reason: Reason) {
        if !self.has(reason.code()) {
            self.findings.push(Finding { reason, shift: None });
        }
    }
}

/// A metric that can be judged: linked, with its claim found.
#[derive(Clone, Debug)]
pub struct Judge<'a> {
    metric: &'a MetricFormula,
    formula: Result<Linked, String>,
    truth: Option<Truth>,
    tolerance: Tolerance,
}

impl<'a> Judge<'a> {
    /// Links the metric.
    ///
    /// # Errors
    /// It claims something that is no truth: the message names those that are like it.
    pub fn new(
        metric: &'a MetricFormula,
        catalog: &Catalog,
        tolerance: Tolerance,
    ) -> Result<Judge<'a>, String> {
        let truth = claims::claim(metric).map_err(|name| {
            let like = claims::suggestions(&name).join(", ");
            let hint = if like.is_empty() { String::new() } else { format!("; there are {like}") };
            format!(
                "{}: metric '{}' claims '{name}', which is no truth{hint}",
                metric.source, metric.name
            )
        })?;
        let formula = match &metric.formula {
            Ok(formula) => {
                Linked::named(&metric.name, formula, catalog).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        Ok(Judge { metric, formula, truth, tolerance })
    }

    /// The metric.
    pub fn metric(&self) -> &MetricFormula {
        self.metric
    }

    /// What it claims.
    pub fn truth(&self) -> Option<Truth> {
        self.truth
    }

    /// The formula with all that it refers to, or why there is none.
    pub fn formula(&self) -> Result<&Linked, &str> {
        self.formula.as_ref().map_err(String::as_str)
    }

    /// By what a value of the formula is multiplied to be in the unit of its truth.
    pub fn factor(&self) -> f64 {
        match self.truth {
            Some(truth) => claims::factor(&self.metric.scale, truth),
            None => self.metric.scale.factor,
        }
    }

    /// Judges one run. `on_six` is the value of the formula, without factors, from six shared counters.
    pub fn verdict(&self, run: &Evidence, on_six: Option<f64>) -> Verdict {
        let real = self.truth.and_then(|truth| run.truths.value(truth));
        let mut verdict = Verdict {
            trace: run.trace.clone(),
            standing: Standing::NoValue,
            truth: self.truth,
            real,
            value: None,
            on_erratum: None,
            on_sound: None,
            on_six: None,
            findings: Vec::new(),
            rest: None,
        };
        let Ok(formula) = &self.formula else { return verdict };
        let truth = self.truth.unwrap_or(Truth::Retired);
        let case = Case { formula, factor: self.factor(), truth, evidence: run, patch: run.patch };
        self.values(&case, on_six, &mut verdict);
        let needed = formula.needed(&run.machine(run.patch));
        for reason in rules::useless_events(formula, &self.metric.name, Some(run), &needed) {
            verdict.add(reason);
        }
        if verdict.findings.is_empty() {
            let machine = run.machine(run.patch);
            let misfit = self.truth.and_then(|truth| probe::misfit(formula, &machine, truth));
            misfit.into_iter().for_each(|misfit| verdict.add(misfit));
        }
        self.stand(&case, &mut verdict);
        self.note_multiplexing(&mut verdict);
        verdict
    }

    /// The reasons that need no run: what a formula is made of.
    pub fn lint(&self, machine: &crate::formula::Machine) -> Vec<Reason> {
        let Ok(formula) = &self.formula else { return Vec::new() };
        let needed = formula.needed(machine);
        let mut reasons = rules::useless_events(formula, &self.metric.name, None, &needed);
        reasons.extend(self.truth.and_then(|truth| probe::misfit(formula, machine, truth)));
        reasons
    }

    fn values(&self, case: &Case, on_six: Option<f64>, verdict: &mut Verdict) {
        let number = |value: f64| value.is_finite().then_some(value);
        verdict.value = number(case.value());
        verdict.on_erratum = number(case.value_at(ERRATUM_PATCH));
        verdict.on_sound = number(case.value_at(FIRST_SOUND_PATCH));
        verdict.on_six = on_six.and_then(|value| number(case.factor * value));
    }

    /// Compares and finds the reasons of a difference.
    fn stand(&self, case: &Case, verdict: &mut Verdict) {
        let Some(value) = verdict.value else { return self.without_value(case, verdict) };
        let Some(truth) = self.truth else {
            verdict.standing = Standing::Unclaimed;
            return;
        };
        if let Some(reason) = rules::out_of_range(value, truth.unit()) {
            verdict.add(reason);
        }
        let Some(real) = verdict.real else {
            verdict.standing = Standing::Nothing;
            return;
        };
        let tolerance = self.tolerance.of(truth, real);
        if (value - real).abs() <= tolerance {
            verdict.standing = Standing::Right;
            verdict.rest = Some(value - real);
            return;
        }
        verdict.standing = Standing::Off;
        self.explain(case, real, tolerance, verdict);
    }

    fn explain(&self, case: &Case, real: f64, tolerance: f64, verdict: &mut Verdict) {
        // What says nothing, or something else, needs no other explanation.
        let is_something_else = verdict.findings.iter().any(|finding| {
            !matches!(finding.reason, Reason::AboveOne(_) | Reason::Negative(_) | Reason::NoL3)
        });
        if is_something_else {
            return;
        }
        let whole = [
            rules::erratum(case, real),
            rules::exact_factor(case.value(), real),
            rules::mixed_populations(case, real),
            rules::mispredict_term(case, real),
            rules::cycles_for_slots(case),
        ];
        if let Some(reason) = whole.into_iter().flatten().next() {
            verdict.add(reason);
            return;
        }
        let (findings, rest) = case.habits(real, tolerance);
        verdict.rest = Some(rest);
        let is_open = rest.abs() > tolerance.max(0.5 * (case.value() - real).abs());
        for finding in findings {
            if !verdict.has(finding.reason.code()) {
                verdict.findings.push(finding);
            }
        }
        if is_open {
            verdict.add(Reason::Unexplained);
        }
    }

    /// It has no value: because nothing happened, or because something is missing.
    fn without_value(&self, case: &Case, verdict: &mut Verdict) {
        let evaluation = case.evaluation();
        let is_empty = verdict.real.is_none_or(|real| real == 0.0) && verdict.findings.is_empty();
        verdict.standing = if is_empty { Standing::Nothing } else { Standing::NoValue };
        if let Some(trouble) = evaluation.trouble.filter(|_| verdict.findings.is_empty()) {
            verdict.add(Reason::DivisionByZero(case.formula.explain(trouble)));
        }
    }

    fn note_multiplexing(&self, verdict: &mut Verdict) {
        let (Some(value), Some(on_six)) = (verdict.value, verdict.on_six) else { return };
        let unit = self.truth.unwrap_or(Truth::Retired);
        if (on_six - value).abs() > self.tolerance.of(unit, value) {
            let shift = Some(on_six - value);
            verdict.findings.push(Finding { reason: Reason::Multiplexing, shift });
        }
    }
}

/// What only several runs together show: a factor is a fault if it is the same in all of them.
pub fn common_factor(verdicts: &[&Verdict]) -> Option<Reason> {
    let is_open = |verdict: &&Verdict| !verdict.findings.iter().any(|f| f.reason.is_fault());
    if verdicts.len() < 2 || !verdicts.iter().all(is_open) {
        return None;
    }
    let pairs: Vec<(f64, f64)> =
        verdicts.iter().filter_map(|verdict| Some((verdict.value?, verdict.real?))).collect();
    rules::factor(&pairs)
}

/// True if these truths together are all slots: the level 1 of top-down.
const LEVEL_1: [Truth; 4] =
    [Truth::Retiring, Truth::BadSpeculation, Truth::FrontendBound, Truth::BackendBound];

/// The shares of a run that should make up all slots and do not. `None` if one is missing.
pub fn tiling(verdicts: &[&Verdict], tolerance: Tolerance) -> Option<Reason> {
    let share = |truth| verdicts.iter().find(|verdict| verdict.truth == Some(truth))?.value;
    let sum: f64 = LEVEL_1.into_iter().map(share).sum::<Option<f64>>()?;
    ((sum - 1.0).abs() > tolerance.points / 100.0).then_some(Reason::NotTiling(sum))
}
