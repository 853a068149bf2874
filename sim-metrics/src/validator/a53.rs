//! Comparison of formulas with the ground truth of a Cortex-A53.
//!
//! A formula is evaluated on exact counts. If it differs from its claim, faults of the formula are
//! found without the run (`structure`, `probe`), and counting biases of the events by taking them
//! out of the counts (`bias`). What neither explains is called unexplained.

mod bias;
pub mod evidence;
mod probe;
pub mod reason;
mod reference;
mod structure;

use super::claims;
use super::missing;
use super::reason::Reason;
use super::rules;
use super::verdict::{Tolerance, ValidationStatus, Verdict};
use crate::a53_truth;
use crate::builtin;
use crate::formula::event_use::{Quantity, absent_on_a53};
use crate::formula::foreign;
use crate::formula::{Catalog, EventUse, Formula, FormulaCore, Linked, MetricFormula, NanReason};
use crate::truth::Truth;
use bias::Case;
use evidence::A53Evidence;
use reason::A53Reason;
use sim_core::A53Event;

/// Largest fraction of a difference that may remain when counting biases explain it.
const EXPLAINED: f64 = 0.5;

/// Names of published metrics, beside those that all Arm cores share. Source: the default metrics
/// of Linux perf.
const KNOWN: &[(&str, Truth)] = &[
    ("insn_per_cycle", Truth::Ipc),
    ("branch_miss_rate", Truth::BranchMissRatio),
    ("l1d_miss_rate", Truth::L1dMissRatio),
    ("l1i_miss_rate", Truth::L1iMissRatio),
];

/// Linked metric for a Cortex-A53 with a known claim.
#[derive(Clone, Debug)]
pub struct A53Validator<'a> {
    metric: &'a MetricFormula,
    catalog: &'a Catalog,
    formula: Result<Linked, String>,
    truth: Option<Truth>,
    tolerance: Tolerance,
    missing: Option<String>,
}

impl<'a> A53Validator<'a> {
    /// Links the metric.
    ///
    /// # Errors
    /// The claim is not a ground truth of this core; the message names similar ones.
    pub fn new(
        metric: &'a MetricFormula,
        catalog: &'a Catalog,
        tolerance: Tolerance,
    ) -> Result<A53Validator<'a>, String> {
        let truth = claim(metric)?;
        let formula = match &metric.formula {
            Ok(formula) => Linked::on(FormulaCore::CortexA53, &metric.name, formula, catalog)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let unknown =
            || formula.as_ref().ok().and_then(|linked| linked.events().iter().find_map(missing));
        let missing = metric.missing.clone().or_else(unknown);
        Ok(A53Validator { metric, catalog, formula, truth, tolerance, missing })
    }

    /// Returns the metric.
    pub fn metric(&self) -> &MetricFormula {
        self.metric
    }

    /// Returns the claimed ground truth.
    pub fn truth(&self) -> Option<Truth> {
        self.truth
    }

    /// Returns the linked formula, or the reason why there is none.
    pub fn formula(&self) -> Result<&Linked, &str> {
        self.formula.as_ref().map_err(String::as_str)
    }

    /// Returns the missing data that prevent a verdict.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Returns the factor that converts a value of the formula to the unit of its truth.
    fn factor(&self) -> f64 {
        match self.truth {
            Some(truth) => claims::factor(&self.metric.scale, truth),
            None => self.metric.scale.factor,
        }
    }

    /// Returns the reasons that need no run, and the correct formula.
    pub fn lint(&self) -> (Vec<Reason>, Option<String>) {
        let (Ok(formula), None) = (&self.formula, &self.missing) else { return (Vec::new(), None) };
        let (faults, structure) = self.faults(formula);
        if structure.is_known { (Vec::new(), None) } else { (faults, structure.corrected) }
    }

    /// Validates the metric on one run.
    pub fn verdict(&self, run: &A53Evidence) -> Verdict {
        let mut verdict = self.empty(run);
        let Ok(formula) = &self.formula else { return verdict };
        verdict.counts = run.counts_of(formula);
        if verdict.missing.is_some() {
            verdict.status = ValidationStatus::Missing;
            return verdict;
        }
        let truth = self.truth.unwrap_or(Truth::Retired);
        let case = Case { formula, factor: self.factor(), truth, run };
        verdict.value = Some(case.value()).filter(|value| value.is_finite());
        let (faults, structure) = self.faults(formula);
        let has_fault = !faults.is_empty();
        faults.into_iter().for_each(|fault| verdict.add(fault));
        let corrected = structure.corrected.filter(|_| has_fault);
        let corrected = corrected.and_then(|text| Some((self.linked(&text)?, text)));
        self.compare(&case, structure.is_known, corrected.as_ref().map(|own| &own.0), &mut verdict);
        if let Some((linked, text)) = corrected {
            let value = Case { formula: &linked, ..case }.value();
            let distance = |value: f64| verdict.real.map(|real| (value - real).abs());
            let before = verdict.value.and_then(distance);
            if before.is_none() || distance(value) <= before {
                verdict.corrected_value = Some(value).filter(|value| value.is_finite());
                verdict.corrected = Some(text);
            }
        }
        verdict.doubt = run.doubt(formula);
        if verdict.doubt.is_some() {
            verdict.doubted();
        }
        verdict
    }

    fn linked(&self, text: &str) -> Option<Linked> {
        let formula = Formula::parse(text).ok()?;
        Linked::on(FormulaCore::CortexA53, "", &formula, self.catalog).ok()
    }

    /// Returns a verdict without results.
    fn empty(&self, run: &A53Evidence) -> Verdict {
        Verdict {
            trace: run.trace.clone(),
            status: ValidationStatus::NoValue,
            truth: self.truth,
            real: self.truth.and_then(|truth| run.truths.value(truth)),
            value: None,
            on_erratum: None,
            on_sound: None,
            on_six: None,
            missing: self.missing.clone(),
            doubt: None,
            counts: Vec::new(),
            corrected: None,
            corrected_value: None,
            findings: Vec::new(),
            rest: None,
        }
    }

    /// Returns the faults that do not depend on counts, and the relation to the known formulas.
    fn faults(&self, formula: &Linked) -> (Vec<Reason>, structure::Structure) {
        let known = |truth| structure::compare(formula, self.factor(), truth);
        let structure = self.truth.map(known).unwrap_or_default();
        let mut faults: Vec<Reason> = formula.events().iter().filter_map(useless).collect();
        if faults.is_empty() && !structure.is_known {
            faults.extend(self.truth.and_then(|truth| probe::misfit(formula, truth)));
        }
        if faults.is_empty() {
            faults.extend(structure.fault.clone());
        }
        if faults.is_empty() && !structure.is_known {
            faults.extend(structure::counted_twice(formula));
        }
        (faults, structure)
    }

    /// Compares the value with the truth and finds the reasons of a difference. `corrected` is the
    /// formula without its fault.
    fn compare(
        &self,
        case: &Case<'_>,
        is_known: bool,
        corrected: Option<&Linked>,
        verdict: &mut Verdict,
    ) {
        let Some(value) = verdict.value else { return without_value(case, verdict) };
        let Some(truth) = self.truth else {
            verdict.status = ValidationStatus::Unclaimed;
            return;
        };
        let Some(real) = verdict.real else {
            verdict.status = ValidationStatus::Nothing;
            return;
        };
        let tolerance = self.tolerance.of(truth, real, &case.run.truths);
        if (value - real).abs() <= tolerance {
            verdict.status = ValidationStatus::Right;
            verdict.rest = Some(value - real);
            return;
        }
        verdict.status = ValidationStatus::Off;
        rules::out_of_range(value, truth.unit()).into_iter().for_each(|reason| verdict.add(reason));
        // What is left of the difference without the fault has reasons of its own.
        let case = match corrected {
            Some(formula) => Case { formula, ..*case },
            None => *case,
        };
        let is_something_else = verdict.findings.iter().any(|own| own.reason.is_fault());
        if is_something_else && corrected.is_none() {
            return;
        }
        let exact = || rules::exact_factor(case.value(), real).filter(|_| verdict.is_of_many());
        if let Some(reason) = (!is_known && corrected.is_none()).then(exact).flatten() {
            return verdict.add(reason);
        }
        conclude(&case, (real, tolerance), verdict);
    }
}

/// Returns the reason that only several runs together reveal: a factor that is the same in all of
/// them.
pub fn common_factor(verdicts: &[&Verdict]) -> Option<Reason> {
    match super::common_factor(verdicts)? {
        // The width that a multiple hints at is that of a Neoverse N2.
        Reason::SlotWidth { times: Some(times), .. } => Some(Reason::Factor(times)),
        other => Some(other),
    }
}

/// Accepts counting biases as reasons if they explain the greater part of a difference.
fn conclude(case: &Case<'_>, (real, tolerance): (f64, f64), verdict: &mut Verdict) {
    let difference = (case.value() - real).abs();
    let (findings, rest) = case.biases(real, tolerance);
    verdict.rest = Some(rest);
    match rest.abs() > tolerance.max(EXPLAINED * difference) {
        true => verdict.add(Reason::Unexplained),
        false => verdict.explained_by(findings),
    }
}

/// Sets the status of a missing value: either nothing occurred, or data are missing.
fn without_value(case: &Case<'_>, verdict: &mut Verdict) {
    let evaluation = case.run.evaluate(case.formula, |event| case.run.count(event));
    let reason = evaluation.nan_reason.filter(|_| verdict.findings.is_empty());
    if let Some(reason @ NanReason::NotCounted(_)) = reason {
        verdict.status = ValidationStatus::Missing;
        verdict.missing = Some(format!(
            "{}: counts of single exception levels are not kept for a trace with a kernel",
            case.formula.explain(reason)
        ));
        return;
    }
    let is_empty = verdict.real.is_none_or(|real| real == 0.0) && verdict.findings.is_empty();
    verdict.status = if is_empty { ValidationStatus::Nothing } else { ValidationStatus::NoValue };
    if let Some(reason) = reason {
        verdict.add(Reason::DivisionByZero(case.formula.explain(reason)));
    }
}

/// Returns the ground truth of a metric: its stated claim, or the meaning of its published name.
fn claim(metric: &MetricFormula) -> Result<Option<Truth>, String> {
    let Some(name) = &metric.claims else {
        let is_named = |name: &str| metric.name.eq_ignore_ascii_case(name);
        let own = KNOWN.iter().find(|(name, _)| is_named(name)).map(|(_, truth)| *truth);
        let shared = claims::claim(metric).unwrap_or_default();
        return Ok(own.or(shared.filter(|truth| a53_truth::meaning(*truth).is_some())));
    };
    a53_truth::from_name(name).map(Some).ok_or_else(|| {
        let group = name.split('.').next().unwrap_or(name);
        let names = a53_truth::all().map(|(truth, _)| truth.name());
        let like: Vec<&str> = names.filter(|own| own.split('.').next() == Some(group)).collect();
        let hint = match (Truth::from_name(name), like.is_empty()) {
            (Some(_), _) => String::from(", only of the Neoverse N2"),
            (None, true) => String::new(),
            (None, false) => format!("; similar names are {}", like.join(", ")),
        };
        format!(
            "{}: metric '{}' claims '{name}', which is not a ground truth of the Cortex-A53{hint}",
            metric.source, metric.name
        )
    })
}

/// Returns the message about a name that is not an event of any core but may be something else.
fn missing(name: &EventUse) -> Option<String> {
    match &name.quantity {
        Quantity::Mesh => {
            Some(format!("{} is an event of the mesh, which a Cortex-A53 does not have", name.name))
        }
        Quantity::OtherPmu(pmu) => Some(format!(
            "{} is an event of {pmu}, outside the core: its count is not available",
            name.name
        )),
        Quantity::NotOnA53(spelled, None) if !is_foreign(spelled) => {
            let is_metric =
                missing::is_metric(spelled) || builtin::a53_catalog().get(spelled).is_some();
            Some(match is_metric {
                true => format!(
                    "{spelled} is the name of a metric, which is not defined; name the file that \
                     defines it too (--metrics FILE)"
                ),
                false => format!(
                    "{spelled} is neither an event of the Cortex-A53 nor a defined metric; write its \
                     value in its place, or name the file that defines it too (--metrics FILE)"
                ),
            })
        }
        _ => None,
    }
}

fn is_foreign(name: &str) -> bool {
    foreign::from_name(name).is_some() || foreign::is_of_x86(name)
}

/// Returns the reason of a name that counts nothing on this core.
fn useless(name: &EventUse) -> Option<Reason> {
    let reason = match &name.quantity {
        Quantity::NotOnA53(spelled, n2) => A53Reason::AbsentEvent(absent_on_a53(spelled, *n2)),
        Quantity::A53(event @ (A53Event::PRE_DECODE_ERR | A53Event::DECODE_DEP_STALL)) => {
            A53Reason::NeverCounts(*event)
        }
        Quantity::Misspelt(error) => A53Reason::AbsentEvent(error.to_string()),
        _ => return None,
    };
    Some(Reason::OnA53(reason))
}

#[cfg(test)]
mod tests;
