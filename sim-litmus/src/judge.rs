//! Compares the counts of a machine with the claims of the cases.

use sim_core::PmuEvent;
use sim_scenario::Bound;

use crate::admission::{Admission, Admitted, TOLERANCE, distance};
use crate::counts::{Counted, CountedCase, Sample};
use crate::program::Litmus;

/// Least number of standard deviations of a difference.
const DEVIATIONS: f64 = 4.0;

/// Answer of a machine to one claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The count is what the claim says.
    Agrees,
    /// The count is something else.
    Differs {
        /// Distance from the claim in standard deviations of the mean; infinite if the counts
        /// do not vary.
        deviations: f64,
    },
    /// The counts vary too much.
    Unclear,
    /// The machine did not count the event.
    NotCounted,
}

/// One claim beside the count of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedClaim {
    /// The event.
    pub event: PmuEvent,
    /// Claim of the guide.
    pub claim: Bound,
    /// Added by the preparation of the next round.
    pub left: i64,
    /// Count of the machine.
    pub counted: Option<Sample>,
    /// Answer.
    pub answer: Answer,
}

/// One case beside the counts of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCase {
    /// Name of the case.
    pub id: String,
    /// Section of the guide.
    pub guide: String,
    /// Claim in a sentence.
    pub claim: String,
    /// Steps.
    pub steps: String,
    /// Claims about single events.
    pub claims: Vec<JudgedClaim>,
}

/// Number of cases by their answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Every claim holds.
    pub agree: usize,
    /// A claim does not hold.
    pub differ: usize,
    /// A count varies too much, and no claim fails.
    pub unclear: usize,
    /// An event was not counted, and the rest holds.
    pub not_counted: usize,
}

impl JudgedCase {
    /// Returns the answer of the case: that of its worst claim.
    pub fn answer(&self) -> Answer {
        let rank = |answer: &Answer| match answer {
            Answer::Agrees => 0,
            Answer::NotCounted => 1,
            Answer::Unclear => 2,
            Answer::Differs { .. } => 3,
        };
        let answers = self.claims.iter().map(|claim| claim.answer);
        answers.max_by_key(rank).unwrap_or(Answer::NotCounted)
    }

    /// Returns the claims that do not hold.
    pub fn differences(&self) -> impl Iterator<Item = &JudgedClaim> {
        self.claims.iter().filter(|claim| matches!(claim.answer, Answer::Differs { .. }))
    }
}

/// Compares a result with the claims of the admitted cases.
pub fn judge(cases: &[Litmus], admission: &Admission, counted: &Counted) -> Vec<JudgedCase> {
    let admitted = cases.iter().filter_map(|litmus| Some((litmus, admission.of(&litmus.id)?)));
    admitted.map(|(litmus, left)| judge_case(litmus, left, counted.case(&litmus.id))).collect()
}

/// Counts the cases by their answer.
pub fn totals(cases: &[JudgedCase]) -> Totals {
    let mut totals = Totals::default();
    for case in cases {
        let total = match case.answer() {
            Answer::Agrees => &mut totals.agree,
            Answer::Differs { .. } => &mut totals.differ,
            Answer::Unclear => &mut totals.unclear,
            Answer::NotCounted => &mut totals.not_counted,
        };
        *total += 1;
    }
    totals
}

fn judge_case(litmus: &Litmus, admitted: &Admitted, counted: Option<&CountedCase>) -> JudgedCase {
    let claims = litmus.claims().map(|expected| {
        let left = admitted.left(expected.event);
        let sample = counted.and_then(|case| case.sample(expected.event));
        let answer = match sample {
            None => Answer::NotCounted,
            Some(sample) => answer(distance(&expected, left, sample.mean), sample.deviation),
        };
        let (event, claim) = (expected.event, expected.bound);
        JudgedClaim { event, claim, left, counted: sample, answer }
    });
    let steps: Vec<&str> = litmus.plan.steps.iter().map(|step| step.text.as_str()).collect();
    JudgedCase {
        id: litmus.id.clone(),
        guide: litmus.case.guide.clone(),
        claim: litmus.case.claim.clone(),
        steps: steps.join(" ; "),
        claims: claims.collect(),
    }
}

/// Returns the answer for a distance beyond the tolerance and a standard deviation of the mean.
fn answer(distance: f64, deviation: f64) -> Answer {
    if distance <= 0.0 {
        return if deviation > TOLERANCE { Answer::Unclear } else { Answer::Agrees };
    }
    let deviations = (distance + TOLERANCE) / deviation;
    if deviations > DEVIATIONS { Answer::Differs { deviations } } else { Answer::Unclear }
}
