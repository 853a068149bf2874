//! Comparison of metrics of the mesh with its ground truth.
//!
//! A formula is evaluated on the counts of the PMU of the mesh, as a caller gives them by name.
//! Faults of units and groups are found without the run (`structure`). A difference from the claim
//! (`claims`) is explained by what the events count (`explain`).

mod claims;
pub mod evidence;
mod explain;
pub mod reason;
mod structure;
#[cfg(test)]
mod tests;

use super::adjust::Finding;
use super::reason::Reason;
use super::verdict::{Tolerance, ValidationStatus, Verdict};
use crate::formula::{Catalog, EventUse, Linked, Machine, MetricFormula};
use crate::truth::Truth;
use claims::Claim;
use evidence::MeshEvidence;
use reason::MeshReason;

/// Linked metric of the mesh with its claim.
#[derive(Clone, Debug)]
pub struct MeshValidator<'a> {
    metric: &'a MetricFormula,
    formula: Linked,
    claim: Claim,
    tolerance: Tolerance,
}

impl<'a> MeshValidator<'a> {
    /// Links the metric. Returns `None` if its formula has no name of the mesh, or cannot be read.
    ///
    /// # Errors
    /// The claim is not a ground truth of the mesh; the message names similar ones.
    pub fn new(
        metric: &'a MetricFormula,
        catalog: &'a Catalog,
        tolerance: Tolerance,
    ) -> Result<Option<MeshValidator<'a>>, String> {
        let linked = metric.formula.as_ref().ok();
        let linked = linked.and_then(|own| Linked::named(&metric.name, own, catalog).ok());
        let Some(formula) = linked.filter(Linked::is_of_mesh) else { return Ok(None) };
        let claim = claims::claim(metric)?;
        Ok(Some(MeshValidator { metric, formula, claim, tolerance }))
    }

    /// Returns the metric.
    pub fn metric(&self) -> &MetricFormula {
        self.metric
    }

    /// Returns the linked formula.
    pub fn formula(&self) -> &Linked {
        &self.formula
    }

    /// Returns the claimed ground truth.
    pub fn truth(&self) -> Option<Truth> {
        match self.claim {
            Claim::Is(truth) | Claim::Either(truth, _) => Some(truth),
            Claim::Open(_) | Claim::None => None,
        }
    }

    /// Returns the faults of the formula alone, which need no run.
    pub fn lint(&self) -> Vec<Reason> {
        let faults = structure::unit_faults(self.metric, &self.formula);
        faults.into_iter().map(Reason::InMesh).collect()
    }

    /// Validates the metric on one run.
    pub fn verdict(&self, run: &MeshEvidence) -> Verdict {
        let mut verdict = self.empty(run);
        let events = self.formula.events();
        if let Some(why) = events.iter().find_map(|event| run.unknown(event)) {
            verdict.status = ValidationStatus::Missing;
            verdict.missing = Some(why);
            return verdict;
        }
        let faults = self.lint();
        let times = faults.iter().find_map(times_too_large);
        faults.into_iter().for_each(|fault| verdict.add(fault));
        if let Some(why) = self.never_raised(run) {
            verdict.status = ValidationStatus::Missing;
            verdict.missing = Some(why);
            return verdict;
        }
        let evaluation = self.formula.evaluate(&machine(run), |event| run.count(event));
        let factor = self
            .truth()
            .map_or(self.metric.scale.factor, |truth| claims::factor(&self.metric.scale, truth));
        verdict.value = Some(factor * evaluation.value).filter(|value| value.is_finite());
        self.compare(run, &mut verdict, times);
        if let (Some(times), Some(value)) = (times, verdict.value)
            && self.truth().and_then(|truth| self.is_near(truth, value / times, run)) == Some(true)
        {
            let text = self.metric.formula.as_ref().map_or("", |formula| formula.text());
            verdict.corrected = Some(format!("({text}) / {times}"));
            verdict.corrected_value = Some(value / times);
        }
        verdict
    }

    /// Returns a verdict without results.
    fn empty(&self, run: &MeshEvidence) -> Verdict {
        let count = |event: &EventUse| Some((event.name.clone(), run.count(event)?));
        Verdict {
            trace: run.trace.clone(),
            status: ValidationStatus::NoValue,
            truth: self.truth(),
            real: self.truth().and_then(|truth| run.truths.value(truth)),
            value: None,
            on_erratum: None,
            on_sound: None,
            on_six: None,
            missing: None,
            doubt: None,
            counts: self.formula.events().iter().filter_map(count).collect(),
            corrected: None,
            corrected_value: None,
            findings: Vec::new(),
            rest: None,
        }
    }

    /// Returns why the value cannot be computed: the model never raises one of its events.
    fn never_raised(&self, run: &MeshEvidence) -> Option<String> {
        let events = structure::counted(&self.formula);
        let never: Option<Vec<&str>> = events.iter().map(|event| run.never(event)).collect();
        let never = never?;
        let (event, why) = (events.first()?, never.first()?);
        let others = match never.len() {
            1 => String::new(),
            more => format!(" and {} others", more - 1),
        };
        Some(format!("the model never raises {}{others}: {why}", event.name))
    }

    /// Returns whether a value is within the tolerance of a truth, if that has a value.
    fn is_near(&self, truth: Truth, value: f64, run: &MeshEvidence) -> Option<bool> {
        let real = run.truths.value(truth)?;
        Some((value - real).abs() <= self.tolerance.of(truth, real, &run.truths))
    }

    /// Compares the value with the truth and finds the reasons of a difference.
    fn compare(&self, run: &MeshEvidence, verdict: &mut Verdict, times: Option<f64>) {
        let (truth, other) = match self.claim {
            Claim::Is(truth) => (truth, None),
            Claim::Either(truth, other) => (truth, Some(other)),
            Claim::Open(why) => {
                verdict.status = ValidationStatus::Unclaimed;
                return verdict.add(Reason::InMesh(MeshReason::NoClaim(why)));
            }
            Claim::None => {
                verdict.status = ValidationStatus::Unclaimed;
                return;
            }
        };
        let is_near = |truth: Truth, value: f64| self.is_near(truth, value, run);
        let (real, value) = (verdict.real.unwrap_or(0.0), verdict.value.unwrap_or(0.0));
        if real == 0.0 && value == 0.0 {
            verdict.status = ValidationStatus::Nothing;
            return;
        }
        let (Some(_), Some(value)) = (verdict.real, verdict.value) else { return };
        let (one, two) = (is_near(truth, value), other.and_then(|other| is_near(other, value)));
        verdict.status = match (one == Some(true), two) {
            (true, None | Some(true)) => ValidationStatus::Right,
            (false, None | Some(false)) => ValidationStatus::Off,
            (true, Some(false)) | (false, Some(true)) => {
                let names = (truth.name(), other.map_or("", Truth::name));
                verdict.add(Reason::InMesh(MeshReason::TwoReadings(names.0, names.1)));
                ValidationStatus::Unclaimed
            }
        };
        if verdict.status != ValidationStatus::Off {
            verdict.rest = Some(value - real);
            return;
        }
        // What is left without the factor has a reason of its own.
        let value = value / times.unwrap_or(1.0);
        let fits = |truth: Truth| times.is_some() && is_near(truth, value) == Some(true);
        match other.filter(|other| fits(*other)) {
            Some(other) if !fits(truth) => {
                let reason = MeshReason::TwoReadings(truth.name(), other.name());
                return verdict.add(Reason::InMesh(reason));
            }
            _ if fits(truth) => return,
            _ => {}
        }
        let tolerance = self.tolerance.of(truth, real, &run.truths);
        verdict.add(explain::difference(truth, value - real, tolerance, run));
    }
}

/// Returns the times that a unit makes a value too large.
fn times_too_large(reason: &Reason) -> Option<f64> {
    match reason {
        Reason::InMesh(MeshReason::UnitFactor { times, .. }) => Some(*times),
        _ => None,
    }
}

fn machine(run: &MeshEvidence) -> Machine {
    Machine::neoverse_n2(run.patch, run.cores)
}

/// Returns the groups of parts that do not make up a whole, with the position of the first member
/// that has an event too many. For a check without a run.
pub fn lint_groups(validators: &[MeshValidator<'_>]) -> Vec<(usize, Reason)> {
    let named = |(members, reason): (Vec<usize>, MeshReason)| {
        let MeshReason::NotWhole { extra, lacking, .. } = &reason else { return None };
        let has = |at: &&usize| {
            let events = structure::counted(&validators[**at].formula);
            events.iter().any(|event| extra.contains(&event.name) || lacking.contains(&event.name))
        };
        let first = members.iter().find(has).or(members.first())?;
        Some((*first, Reason::InMesh(reason)))
    };
    broken_groups(validators).into_iter().filter_map(named).collect()
}

/// Adds the groups that do not make up a whole to the verdicts of their members on one run, which
/// are in the order of the validators.
pub fn judge_groups(validators: &[MeshValidator<'_>], verdicts: &mut [&mut Verdict]) {
    for (members, reason) in broken_groups(validators) {
        let MeshReason::NotWhole { group, extra, lacking, .. } = reason else { continue };
        // What the parts lack may be in one that was not asked for.
        if !lacking.is_empty() {
            continue;
        }
        // A member without a value makes the sum unknown.
        let share = |at: &usize| match validators[*at].truth() {
            Some(_) => verdicts[*at].value,
            None => verdicts[*at].value.map(|value| value / percent(validators[*at].metric)),
        };
        let shares: Option<Vec<f64>> = members.iter().map(share).collect();
        let sum = shares.map(|shares| shares.iter().sum());
        for at in members {
            let (group, extra, lacking) = (group.clone(), extra.clone(), lacking.clone());
            let reason = MeshReason::NotWhole { group, extra, lacking, sum };
            let finding = Finding { reason: Reason::InMesh(reason), shift: None };
            // The sum comes first: it holds whatever the parts mean.
            verdicts[at].explained();
            verdicts[at].findings.insert(0, finding);
        }
    }
}

/// Returns 100 for a value in percent, otherwise 1.
fn percent(metric: &MetricFormula) -> f64 {
    let unit = metric.scale.unit.to_ascii_lowercase();
    if unit.contains("percent") || unit.contains('%') { 100.0 } else { 1.0 }
}

fn broken_groups(validators: &[MeshValidator<'_>]) -> Vec<(Vec<usize>, MeshReason)> {
    let parts: Vec<structure::Part<'_>> =
        validators.iter().map(|own| (own.metric, &own.formula)).collect();
    structure::broken_groups(&parts)
}
