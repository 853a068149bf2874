//! Which cases the program has, and what their rounds count besides the claim.
//!
//! A case is admitted only if the model, replaying the compiled program, gives the claim back. A
//! step leaves lines in caches, and the preparation of the next round takes them out again: these
//! invalidations and write-backs are counted too. They are listed with the case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use sim_core::PmuEvent::*;
use sim_scenario::Expected;

use crate::counts::CountedCase;
use crate::program::Litmus;

/// Admitted cases of n2sim, one JSON object a line.
const ADMITTED: &str = include_str!("../admitted.jsonl");
/// Largest distance of a mean from a claim, in counts.
pub const TOLERANCE: f64 = 0.05;
/// Further distance as a part of the claim.
pub const TOLERANCE_OF_CLAIM: f64 = 0.03;

/// Events that the preparation of the next round may count because of what the steps left.
const OF_PREPARATION: [PmuEvent; 14] = [
    L1D_CACHE_INVAL,
    L1D_CACHE_WB,
    L1D_CACHE_WB_VICTIM,
    L1D_CACHE_WB_CLEAN,
    L2D_CACHE,
    L2D_CACHE_WR,
    L2D_CACHE_INVAL,
    L2D_CACHE_WB,
    L2D_CACHE_WB_VICTIM,
    L2D_CACHE_WB_CLEAN,
    BUS_ACCESS,
    BUS_ACCESS_WR,
    // A line that was dropped may still be in the system level cache.
    LL_CACHE_MISS_RD,
    LL_CACHE_RD,
];

/// An admitted case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    /// Name of the case.
    pub case: String,
    /// Counts of the preparation because of what the steps left, by event.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left: BTreeMap<String, i64>,
}

/// All admitted cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    /// Admitted cases in the order of the scenario files.
    pub cases: Vec<Admitted>,
}

/// A count that a replay does not give back.
#[derive(Clone, Debug, PartialEq)]
pub struct NotGivenBack {
    /// The event and its claim.
    pub expected: Expected,
    /// The count of the replay; `None` if the case did not run.
    pub counted: Option<f64>,
}

impl Admission {
    /// Returns the admitted cases of n2sim.
    ///
    /// # Panics
    ///
    /// If the file in the program is damaged, which a test excludes.
    pub fn builtin() -> Admission {
        let read = |line| serde_json::from_str(line).expect("a test reads the file too");
        Admission { cases: ADMITTED.lines().map(read).collect() }
    }

    /// Returns the text of the file of these cases.
    pub fn text(&self) -> String {
        let line = |case| serde_json::to_string(case).expect("names and numbers") + "\n";
        self.cases.iter().map(line).collect()
    }

    /// Returns the entry of a case.
    pub fn of(&self, id: &str) -> Option<&Admitted> {
        self.cases.iter().find(|admitted| admitted.case == id)
    }
}

impl Admitted {
    /// Returns what the preparation adds to an event.
    pub fn left(&self, event: PmuEvent) -> i64 {
        self.left.get(event.mnemonic()).copied().unwrap_or(0)
    }
}

/// Judges a case by its replay on the model.
///
/// # Errors
///
/// The counts that the replay does not give back.
pub fn admit(
    litmus: &Litmus,
    replayed: Option<&CountedCase>,
) -> Result<Admitted, Vec<NotGivenBack>> {
    let mut admitted = Admitted { case: litmus.id.clone(), left: BTreeMap::new() };
    let mut wrong = Vec::new();
    let mut shows_something = false;
    for expected in litmus.claims() {
        let sample = replayed.and_then(|case| case.sample(expected.event));
        let Some(mean) = sample.map(|sample| sample.mean) else {
            wrong.push(NotGivenBack { expected, counted: None });
            continue;
        };
        if sample.is_some_and(|sample| sample.deviation > TOLERANCE) {
            wrong.push(NotGivenBack { expected, counted: Some(mean) });
            continue;
        }
        if distance(&expected, 0, mean) <= 0.0 {
            shows_something |= expected.bound.min > 0;
            continue;
        }
        match left(&expected, mean) {
            Some(left) => {
                admitted.left.insert(expected.event.mnemonic().to_owned(), left);
            }
            None => wrong.push(NotGivenBack { expected, counted: Some(mean) }),
        }
    }
    if wrong.is_empty() && shows_something { Ok(admitted) } else { Err(wrong) }
}

/// Returns how far `mean` is outside the claim and what is left, beyond the tolerance; 0 or less if
/// it is not.
pub(crate) fn distance(expected: &Expected, left: i64, mean: f64) -> f64 {
    let least = expected.bound.min as f64 + left as f64;
    let most = match expected.bound.max {
        u64::MAX => f64::INFINITY,
        max => max as f64 + left as f64,
    };
    let outside = (least - mean).max(mean - most);
    outside - TOLERANCE - TOLERANCE_OF_CLAIM * least.abs().max(0.0)
}

/// Returns the whole number that a preparation adds to an exact claim, if the event is one that it
/// may count.
fn left(expected: &Expected, mean: f64) -> Option<i64> {
    let claim = expected.bound.exact()? as i64;
    let left = mean.round() as i64 - claim;
    let is_whole = distance(expected, left, mean) <= 0.0;
    (is_whole && OF_PREPARATION.contains(&expected.event)).then_some(left)
}

impl Litmus {
    /// Returns the claims that are compared.
    pub fn claims(&self) -> impl Iterator<Item = Expected> + '_ {
        let compared = |expected: &&Expected| {
            self.plan.compares(expected.event) && !expected.event.never_counts()
        };
        self.case.expect.events.iter().filter(compared).copied()
    }
}
