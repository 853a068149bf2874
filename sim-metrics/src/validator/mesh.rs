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
use crate::mesh_truth::{Basis, basis};
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
        let times = self.shared_factor(&faults);
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
        if matches!(verdict.status, ValidationStatus::Right | ValidationStatus::Off) {
            verdict.add(Reason::InMesh(MeshReason::Basis(self.basis())));
        }
        if let (Some(times), Some(value)) = (times, verdict.value)
            && self.truth().is_some()
            && verdict.status != ValidationStatus::Nothing
            && self.fit(value / times, run) == Fit::All
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

    /// Returns the relation of the truth to the events: that of the reading which depends most on
    /// them.
    fn basis(&self) -> Basis {
        let events = structure::counted(&self.formula);
        let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
        let all = self.claim.readings().into_iter().map(|own| basis(own, &names));
        all.max().unwrap_or(Basis::SameCounts)
    }

    /// Returns the least and the largest value that a reading allows in a run, if it has a value.
    fn bounds(&self, truth: Truth, run: &MeshEvidence) -> Option<(f64, f64)> {
        let least = run.truths.value(truth)?;
        Some((least, run.truths.value(claims::most(truth))?.max(least)))
    }

    /// Returns whether a value is within the tolerance of a truth, if that has a value.
    fn is_near(&self, truth: Truth, value: f64, run: &MeshEvidence) -> Option<bool> {
        let (least, most) = self.bounds(truth, run)?;
        let within = |real: f64| self.tolerance.of(truth, real, &run.truths);
        Some(value >= least - within(least) && value <= most + within(most))
    }

    /// Compares a value with every reading of the claim.
    fn fit(&self, value: f64, run: &MeshEvidence) -> Fit {
        let readings = self.claim.readings();
        let near: Vec<_> = readings.iter().map(|own| self.is_near(*own, value, run)).collect();
        match () {
            () if near.iter().all(|own| *own == Some(true)) => Fit::All,
            () if near.iter().all(|own| *own == Some(false)) => Fit::None,
            () => Fit::Some,
        }
    }

    /// Compares the value with the truth and finds the reasons of a difference.
    fn compare(&self, run: &MeshEvidence, verdict: &mut Verdict, times: Option<f64>) {
        let readings = self.claim.readings();
        let Some(first) = readings.first() else {
            verdict.status = ValidationStatus::Unclaimed;
            if let Claim::Open(why) = self.claim {
                verdict.add(Reason::InMesh(MeshReason::NoClaim(why)));
            }
            return;
        };
        let most = |truth: &Truth| self.bounds(*truth, run).map(|(_, most)| most);
        if verdict.value.unwrap_or(0.0) == 0.0
            && readings.iter().all(|own| most(own).unwrap_or(0.0) == 0.0)
        {
            verdict.status = ValidationStatus::Nothing;
            return;
        }
        let Some(value) = verdict.value else { return };
        if readings.iter().all(|own| most(own).is_none()) {
            verdict.status = ValidationStatus::Missing;
            verdict.missing = Some(format!("{} has no value in this run", first.name()));
            return;
        }
        match self.fit(value, run) {
            Fit::All => {
                verdict.status = ValidationStatus::Right;
                verdict.rest = verdict.real.map(|real| value - real);
            }
            Fit::Some => {
                verdict.status = ValidationStatus::Unclaimed;
                self.add_readings(verdict);
            }
            Fit::None => {
                verdict.status = ValidationStatus::Off;
                self.explain(value, run, verdict, times);
            }
        }
    }

    /// Adds the reason of a value that fits only one of two readings.
    fn add_readings(&self, verdict: &mut Verdict) {
        if let Claim::Either(one, other) = self.claim {
            verdict.add(Reason::InMesh(MeshReason::TwoReadings(one.name(), other.name())));
        }
    }

    /// Finds the reasons for a value that fits no reading. What is left without the factor of its
    /// unit has a reason of its own.
    fn explain(&self, value: f64, run: &MeshEvidence, verdict: &mut Verdict, times: Option<f64>) {
        let value = value / times.unwrap_or(1.0);
        if times.is_some() {
            match self.fit(value, run) {
                Fit::All => return,
                Fit::Some => return self.add_readings(verdict),
                Fit::None => {}
            }
        }
        let uses_look_ups = self.uses_look_ups(run);
        let explained = |truth: &Truth| {
            let real = run.truths.value(*truth)?;
            let tolerance = self.tolerance.of(*truth, real, &run.truths);
            explain::difference(*truth, value, tolerance, uses_look_ups, run)
        };
        match self.claim.readings().iter().find_map(explained) {
            Some(reason) => verdict.add(Reason::InMesh(reason)),
            // A factor of a part of the formula is known, and the rest cannot be judged alone.
            None if verdict.has("unit-factor") && times.is_none() => {}
            None => verdict.add(Reason::Unexplained),
        }
    }

    /// Returns whether the value depends on the look-ups of home nodes.
    fn uses_look_ups(&self, run: &MeshEvidence) -> bool {
        let value = |times: f64| {
            let count = |event: &EventUse| {
                let times = if explain::is_look_up(&event.name) { times } else { 1.0 };
                Some(run.count(event)? * times)
            };
            self.formula.evaluate(&machine(run), count).value
        };
        value(1.0) != value(2.0)
    }

    /// Returns the factor of the unit that all events of the formula share. A formula with one
    /// right event is not too large as a whole.
    fn shared_factor(&self, faults: &[Reason]) -> Option<f64> {
        let found = faults.iter().find_map(|fault| match fault {
            Reason::InMesh(MeshReason::UnitFactor { times, event, given, .. }) => {
                Some((*times, event, *given))
            }
            _ => None,
        });
        let (times, event, given) = found?;
        let counted = structure::counted(&self.formula);
        let adds = |name: &str| {
            let count = |event: &EventUse| match counted.contains(&event) {
                true => Some(f64::from(u8::from(event.name == name))),
                false => Some(1.0),
            };
            self.formula.evaluate(&Machine::neoverse_n2(3, 1), count).value
        };
        let bytes = given / adds(event) / times;
        let is_right = |event: &&EventUse| {
            let moved = (adds(&event.name) * bytes).abs();
            moved == 0.0 || [64.0, 32.0].iter().any(|right| (moved - right).abs() < 1e-6 * right)
        };
        counted.iter().all(is_right).then_some(times)
    }
}

/// Readings of a claim that a value fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// Every one.
    All,
    /// Some of them, or some have no value in the run.
    Some,
    /// No one.
    None,
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
