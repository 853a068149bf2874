//! Comparison of formulas with ground truth: the error of a metric, and its reasons.
//!
//! A [`Validator`] takes a metric and the [`Evidence`] of a run. It evaluates the formula on exact
//! counts and on both revisions, and compares it with the ground truth that the metric claims. It
//! then looks for reasons: faults of the formula by `structure`, `rules` and `probe`, counting
//! biases of the events by `adjust`. Every reason is computed by a rule: with the cause removed,
//! the value approaches the truth, or the formula becomes a known one. A metric with `missing` data
//! gets no verdict. [`a53`] does the same for a Cortex-A53, and [`mesh`] for the mesh.

pub mod a53;
mod adjust;
pub mod claims;
mod correction;
mod edit;
pub mod evidence;
mod explanation;
mod fraction;
pub mod mesh;
mod missing;
mod multiple;
mod probe;
pub mod reason;
mod reference;
mod rules;
mod sample;
mod structure;
#[cfg(test)]
mod tests;
mod verdict;

use crate::formula::{Catalog, Linked, Machine, MetricFormula, NanReason};
use crate::truth::Truth;
pub use a53::A53Validator;
pub use a53::evidence::{A53Evidence, A53Surplus};
pub use a53::reason::A53Reason;
use adjust::Case;
pub use adjust::Finding;
use correction::Correction;
pub use evidence::{ERRATUM_PATCH, Evidence, FIRST_SOUND_PATCH, L2Lines, Prefetched};
pub use mesh::MeshValidator;
pub use mesh::evidence::{MeshCount, MeshEvidence};
pub use mesh::reason::MeshReason;
pub use reason::Reason;
use structure::{Structure, Subject};
pub use verdict::{Tolerance, ValidationStatus, Verdict};

/// Largest fraction of a difference that may remain when counting biases explain it.
const EXPLAINED: f64 = 0.5;

/// Linked metric with a known claim.
#[derive(Clone, Debug)]
pub struct Validator<'a> {
    metric: &'a MetricFormula,
    catalog: &'a Catalog,
    formula: Result<Linked, String>,
    truth: Option<Truth>,
    tolerance: Tolerance,
    missing: Option<String>,
}

impl<'a> Validator<'a> {
    /// Links the metric.
    ///
    /// # Errors
    /// The claim is not a known ground truth; the message names similar ones.
    pub fn new(
        metric: &'a MetricFormula,
        catalog: &'a Catalog,
        tolerance: Tolerance,
    ) -> Result<Validator<'a>, String> {
        let truth = claims::claim(metric).map_err(|name| {
            let like = claims::suggestions(&name).join(", ");
            let hint =
                if like.is_empty() { String::new() } else { format!("; similar names are {like}") };
            format!(
                "{}: metric '{}' claims '{name}', which is not a known ground truth{hint}",
                metric.source, metric.name
            )
        })?;
        let formula = match &metric.formula {
            Ok(formula) => {
                Linked::named(&metric.name, formula, catalog).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        let missing = missing::of(metric, formula.as_ref().ok());
        Ok(Validator { metric, catalog, formula, truth, tolerance, missing })
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

    /// Returns the missing data that prevent a verdict, with what to provide.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Returns the factor that converts a value of the formula to the unit of its truth.
    pub fn factor(&self) -> f64 {
        match self.truth {
            Some(truth) => claims::factor(&self.metric.scale, truth),
            None => self.metric.scale.factor,
        }
    }

    /// Validates the metric on one run. `on_six` is the value of the formula, without factors, from
    /// six shared counters.
    pub fn verdict(&self, run: &Evidence, on_six: Option<f64>) -> Verdict {
        let mut verdict = self.empty(run);
        let Ok(formula) = &self.formula else { return verdict };
        verdict.counts = run.counts_of(formula, run.patch);
        if verdict.missing.is_some() {
            verdict.status = ValidationStatus::Missing;
            return verdict;
        }
        let truth = self.truth.unwrap_or(Truth::Retired);
        let (factor, patch) = (self.factor(), run.patch);
        let case = Case { formula, factor, truth, evidence: run, patch, is_rest: false };
        self.values(&case, on_six, &mut verdict);
        let machine = run.machine(run.patch);
        let (mut faults, structure) = self.faults(formula, &machine, Some(run), run.patch);
        let corrected = structure.corrected.clone();
        let mut correction = corrected.and_then(|text| Correction::of(text, self.catalog, &case));
        let is_structural = structure.fault.is_some() && faults.first() == structure.fault.as_ref();
        let is_idle =
            |fault: &Reason, correction: &Correction| is_idle(fault, correction, &verdict);
        if is_structural
            && faults.first().zip(correction.as_ref()).is_some_and(|(f, c)| is_idle(f, c))
        {
            (faults, correction) = (Vec::new(), None);
        }
        let undone = correction.as_ref().filter(|_| is_structural);
        faults.into_iter().for_each(|fault| verdict.add(fault));
        let found = self.compare(&case, structure.is_known, undone, &mut verdict);
        self.offer(found.or(correction), &mut verdict);
        verdict.doubt = run.doubt(formula, run.patch);
        if verdict.doubt.is_some() {
            verdict.doubted();
        }
        verdict
    }

    /// Returns a verdict without results.
    fn empty(&self, run: &Evidence) -> Verdict {
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

    /// Adds the correction of a faulty formula to the verdict, unless it is farther from the truth.
    fn offer(&self, correction: Option<Correction>, verdict: &mut Verdict) {
        let has_fault = verdict.findings.iter().any(|finding| finding.reason.is_fault());
        let is_good = |correction: &Correction| !correction.moves_away(verdict.value, verdict.real);
        if let Some(correction) = correction.filter(|one| has_fault && is_good(one)) {
            verdict.corrected_value = correction.value.is_finite().then_some(correction.value);
            verdict.corrected = Some(correction.text);
        }
    }

    /// Returns the faults of a formula that do not depend on counts, and its relation to the known
    /// formulas.
    fn faults(
        &self,
        formula: &Linked,
        machine: &Machine,
        run: Option<&Evidence>,
        patch: u8,
    ) -> (Vec<Reason>, Structure) {
        let subject = |truth| Subject { formula, factor: self.factor(), truth, patch };
        let structure =
            self.truth.map(|truth| structure::compare(subject(truth))).unwrap_or_default();
        let needed = formula.needed(machine);
        let mut faults = rules::useless_events(formula, &self.metric.name, run, &needed);
        if faults.is_empty() && !structure.is_known {
            faults.extend(self.truth.and_then(|truth| probe::misfit(formula, machine, truth)));
        }
        if faults.is_empty() {
            faults.extend(structure.fault.clone());
        }
        if faults.is_empty() && !structure.is_known {
            faults.extend(structure::counted_twice(formula));
        }
        (faults, structure)
    }

    /// Returns the reasons that need no run, and the correct formula. Without a revision, a formula
    /// need only be correct on one.
    pub fn lint(&self, machine: Option<&Machine>) -> (Vec<Reason>, Option<String>) {
        let (Ok(formula), None) = (&self.formula, &self.missing) else { return (Vec::new(), None) };
        let patch_of = |machine: &Machine| (machine.midr & 0xF) as u8;
        let patches = match machine {
            Some(machine) => vec![patch_of(machine)],
            None => vec![FIRST_SOUND_PATCH, ERRATUM_PATCH],
        };
        let of_patch =
            |patch: u8| self.faults(formula, &Machine::neoverse_n2(patch, 1), None, patch);
        let all: Vec<_> = patches.into_iter().map(of_patch).collect();
        let is_known = all.iter().any(|(_, structure)| structure.is_known);
        let Some((faults, structure)) = all.into_iter().next().filter(|_| !is_known) else {
            return (Vec::new(), None);
        };
        (faults, structure.corrected)
    }

    fn values(&self, case: &Case, on_six: Option<f64>, verdict: &mut Verdict) {
        let number = |value: f64| value.is_finite().then_some(value);
        verdict.value = number(case.value());
        verdict.on_erratum = number(case.value_at(ERRATUM_PATCH));
        verdict.on_sound = number(case.value_at(FIRST_SOUND_PATCH));
        verdict.on_six = on_six.and_then(|value| number(case.factor * value));
    }

    /// Compares the value with the truth and finds the reasons of a difference. `undone` is the
    /// formula without its structural fault. Returns a correction that only the run reveals.
    fn compare(
        &self,
        case: &Case,
        is_known: bool,
        undone: Option<&Correction>,
        verdict: &mut Verdict,
    ) -> Option<Correction> {
        let Some(value) = verdict.value else {
            self.without_value(case, verdict);
            return None;
        };
        let Some(truth) = self.truth else {
            verdict.status = ValidationStatus::Unclaimed;
            return None;
        };
        let out_of_range = rules::out_of_range(value, truth.unit());
        let Some(real) = verdict.real else {
            out_of_range.into_iter().for_each(|reason| verdict.add(reason));
            verdict.status = ValidationStatus::Nothing;
            return None;
        };
        let tolerance = self.tolerance.of(truth, real, &case.evidence.truths);
        if (value - real).abs() <= tolerance {
            verdict.status = ValidationStatus::Right;
            verdict.rest = Some(value - real);
            return None;
        }
        verdict.status = ValidationStatus::Off;
        // A share that is truly above 1, such as instructions per slot, is not a fault.
        out_of_range.into_iter().for_each(|reason| verdict.add(reason));
        if let Some(undone) = undone {
            self.explain_rest(case, undone, (real, tolerance), verdict);
            return None;
        }
        self.explain(case, is_known, (real, tolerance), verdict)
    }

    /// Adds the reasons that remain after a structural fault is undone; they follow the fault.
    fn explain_rest(
        &self,
        case: &Case,
        undone: &Correction,
        (real, tolerance): (f64, f64),
        verdict: &mut Verdict,
    ) {
        let case = Case { formula: &undone.formula, ..*case };
        verdict.rest = Some(undone.value - real);
        if (undone.value - real).abs() > tolerance {
            let (findings, rest) = case.biases(real, tolerance);
            self.conclude(&case, (findings, rest), (real, tolerance), verdict);
        }
    }

    /// Finds the reasons of a difference. A known formula has no fault of its own.
    fn explain(
        &self,
        case: &Case,
        is_known: bool,
        (real, tolerance): (f64, f64),
        verdict: &mut Verdict,
    ) -> Option<Correction> {
        // A value that is meaningless or another quantity needs no other explanation.
        let is_something_else = verdict.findings.iter().any(|finding| {
            !matches!(finding.reason, Reason::AboveOne(_) | Reason::Negative(_) | Reason::NoL3)
        });
        if is_something_else {
            return None;
        }
        let exact = || rules::exact_factor(case.value(), real).filter(|_| verdict.is_of_many());
        let whole = || {
            rules::erratum(case, real)
                .or_else(exact)
                .or_else(|| rules::mixed_populations(case, real))
                .or_else(|| rules::mispredict_term(case, real))
        };
        if let Some(reason) = (!is_known).then(whole).flatten() {
            verdict.add(reason);
            return None;
        }
        let (findings, rest) = case.biases(real, tolerance);
        if !is_known && rest.abs() > tolerance {
            let is_of_many = verdict.is_of_many();
            if let Some(undone) = multiple::undone(case, real, tolerance, is_of_many) {
                verdict.add(undone.reason);
                verdict.rest = Some(undone.rest);
                verdict.explained_by(undone.findings);
                return undone.text.and_then(|text| Correction::of(text, self.catalog, case));
            }
        }
        self.conclude(case, (findings, rest), (real, tolerance), verdict);
        None
    }

    /// Accepts counting biases as reasons if they explain the greater part of a difference.
    /// Otherwise the difference has another cause, and what they seem to explain may be chance.
    fn conclude(
        &self,
        case: &Case,
        (findings, rest): (Vec<Finding>, f64),
        (real, tolerance): (f64, f64),
        verdict: &mut Verdict,
    ) {
        verdict.rest = Some(rest);
        match rest.abs() > tolerance.max(EXPLAINED * (case.value() - real).abs()) {
            true => verdict.add(Reason::Unexplained),
            false => verdict.explained_by(findings),
        }
    }

    /// Sets the status of a missing value: either nothing occurred, or data are missing.
    fn without_value(&self, case: &Case, verdict: &mut Verdict) {
        let evaluation = case.evaluation();
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
        verdict.status =
            if is_empty { ValidationStatus::Nothing } else { ValidationStatus::NoValue };
        if let Some(reason) = reason {
            verdict.add(Reason::DivisionByZero(case.formula.explain(reason)));
        }
    }
}

/// Returns whether a structural fault has no effect on this run. Either the formula without it has
/// the same value, or it confuses a part with its whole and the correction is farther from the
/// truth.
fn is_idle(fault: &Reason, correction: &Correction, verdict: &Verdict) -> bool {
    let is_extent = matches!(fault, Reason::Subset { .. } | Reason::Superset { .. });
    correction.is_same(verdict.value)
        || (is_extent && correction.moves_away(verdict.value, verdict.real))
}

/// Returns the reason that only several runs together reveal: a factor that is the same in all of
/// them.
pub fn common_factor(verdicts: &[&Verdict]) -> Option<Reason> {
    let is_open = |verdict: &&Verdict| !verdict.findings.iter().any(|f| f.reason.is_fault());
    let is_many = |verdict: &&Verdict| verdict.is_of_many();
    let is_off = |verdict: &&Verdict| verdict.status == ValidationStatus::Off;
    let are_all = |is: &dyn Fn(&&Verdict) -> bool| verdicts.iter().all(is);
    if verdicts.len() < 2 || !are_all(&is_open) || !are_all(&is_many) || !are_all(&is_off) {
        return None;
    }
    let pairs: Vec<(f64, f64)> =
        verdicts.iter().filter_map(|verdict| Some((verdict.value?, verdict.real?))).collect();
    let truth = verdicts.first()?.truth?;
    rules::factor(&pairs).map(|times| structure::factor_reason(truth, times))
}

/// Ground truths that together are all slots: level 1 of top-down.
const LEVEL_1: [Truth; 4] =
    [Truth::Retiring, Truth::BadSpeculation, Truth::FrontendBound, Truth::BackendBound];

/// Returns a reason if the shares of a run do not add up to all slots. Returns `None` if one is
/// missing.
pub fn tiling(verdicts: &[&Verdict], tolerance: Tolerance) -> Option<Reason> {
    let share = |truth| verdicts.iter().find(|verdict| verdict.truth == Some(truth))?.value;
    let sum: f64 = LEVEL_1.into_iter().map(share).sum::<Option<f64>>()?;
    ((sum - 1.0).abs() > tolerance.points / 100.0).then_some(Reason::NotTiling(sum))
}
