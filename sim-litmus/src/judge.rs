//! Compares the counts of a machine with the claims of the cases.

use sim_core::PmuEvent;
use sim_scenario::{Bound, Expected, Tolerance};

use crate::admission::{Admission, Admitted, TOLERANCE, outside, tolerance};
use crate::counts::{Counted, CountedCase, Sample};
use crate::machine::Midr;
use crate::program::Litmus;

/// Least number of standard deviations of a difference, by the number of counts from 2: Student's t
/// for a chance of one in a thousand on both sides.
const DEVIATIONS: [f64; 9] = [636.6, 31.6, 12.92, 8.61, 6.87, 5.96, 5.41, 5.04, 4.78];

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
    /// Count that the case expects of this machine instead, with the machines as the case names
    /// them.
    pub exception: Option<(String, Bound)>,
    /// Added by the preparation of the next round.
    pub left: u64,
    /// Distance that the mean may have.
    pub tolerance: f64,
    /// Count of the machine.
    pub counted: Option<Sample>,
    /// All counts of the machine, in the order of the repetitions.
    pub repeats: Vec<f64>,
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

impl JudgedClaim {
    /// Returns the count that this machine should have, without what is left.
    pub fn expected(&self) -> Bound {
        self.exception.as_ref().map_or(self.claim, |(_, bound)| *bound)
    }
}

/// Compares a result with the claims of the admitted cases. A case that expects other counts of the
/// machine of the result is compared with those.
pub fn judge(cases: &[Litmus], admission: &Admission, counted: &Counted) -> Vec<JudgedCase> {
    let admitted = cases.iter().filter_map(|litmus| Some((litmus, admission.of(&litmus.id)?)));
    let midr = counted.machine.number();
    let judged =
        |(litmus, left): (&Litmus, _)| judge_case(litmus, left, midr, counted.case(&litmus.id));
    admitted.map(judged).collect()
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

fn judge_case(
    litmus: &Litmus,
    admitted: &Admitted,
    midr: Option<Midr>,
    counted: Option<&CountedCase>,
) -> JudgedCase {
    let claims = litmus.claims().filter(|expected| admitted.judges(expected.event));
    let steps: Vec<&str> = litmus.plan.steps.iter().map(|step| step.text.as_str()).collect();
    JudgedCase {
        id: litmus.id.clone(),
        guide: litmus.case.guide.clone(),
        claim: litmus.case.claim.clone(),
        steps: steps.join(" ; "),
        claims: claims.map(|claim| judge_claim(litmus, admitted, claim, midr, counted)).collect(),
    }
}

fn judge_claim(
    litmus: &Litmus,
    admitted: &Admitted,
    claim: Expected,
    midr: Option<Midr>,
    counted: Option<&CountedCase>,
) -> JudgedClaim {
    let event = claim.event;
    let on_machines = &litmus.case.on_machines;
    let exception = midr.and_then(|midr| on_machines.exception(midr.0, event));
    let expected = exception.map_or(claim, |(_, expected)| expected);
    let left = admitted.left(event);
    let tolerance = match on_machines.tolerance(event) {
        None => tolerance(&expected, left),
        Some(Tolerance::Counts(counts)) => counts,
        Some(Tolerance::Percent(percent)) => {
            TOLERANCE + percent / 100.0 * (expected.bound.min as f64 + left as f64)
        }
    };
    // What a core lacks, its counters count as 0.
    let is_there = midr.is_none_or(|midr| !midr.lacks(event));
    let counted = counted.filter(|_| is_there);
    let sample = counted.and_then(|case| case.sample(event));
    let answer = sample.map_or(Answer::NotCounted, |sample| {
        answer(outside(&expected, left, sample.mean), tolerance, sample)
    });
    let repeats = counted.and_then(|case| case.counts.get(event.mnemonic())).cloned();
    JudgedClaim {
        event,
        claim: claim.bound,
        exception: exception.map(|(exception, own)| (exception.on.clone(), own.bound)),
        left,
        tolerance,
        counted: sample,
        repeats: repeats.unwrap_or_default(),
        answer,
    }
}

/// Returns the answer for counts whose mean is `outside` the claim by so much.
fn answer(outside: f64, tolerance: f64, sample: Sample) -> Answer {
    if outside <= tolerance {
        return if sample.deviation > tolerance { Answer::Unclear } else { Answer::Agrees };
    }
    let least = DEVIATIONS[sample.counts.saturating_sub(2).min(DEVIATIONS.len() - 1)];
    let deviations = outside / sample.deviation;
    if deviations > least { Answer::Differs { deviations } } else { Answer::Unclear }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(outside: f64, tolerance: f64, deviation: f64, counts: usize) -> Answer {
        answer(outside, tolerance, Sample { mean: 1.0, deviation, counts })
    }

    #[test]
    fn an_answer_weighs_the_distance_and_the_spread() {
        assert_eq!(answered(0.0, 0.05, 0.0, 5), Answer::Agrees);
        assert_eq!(answered(0.05, 0.05, 0.01, 5), Answer::Agrees);
        assert_eq!(answered(0.0, 0.05, 0.06, 5), Answer::Unclear);
        // A large claim may vary more.
        assert_eq!(answered(0.0, 6.0, 0.06, 5), Answer::Agrees);
        assert_eq!(answered(1.0, 0.05, 0.0, 2), Answer::Differs { deviations: f64::INFINITY });
        assert_eq!(answered(1.0, 0.05, 0.1, 5), Answer::Differs { deviations: 10.0 });
        assert_eq!(answered(1.0, 0.05, 0.125, 5), Answer::Unclear);
        // Two counts say little about the spread.
        assert_eq!(answered(1.0, 0.05, 0.1, 2), Answer::Unclear);
        assert_eq!(answered(1.0, 0.05, 0.2, 100), Answer::Differs { deviations: 5.0 });
        assert_eq!(answered(1.0, 0.05, 0.25, 100), Answer::Unclear);
    }
}
