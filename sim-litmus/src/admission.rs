//! Admitted cases, and what their rounds count besides the claim.
//!
//! A case is admitted only if the model, replaying the compiled program, reproduces the claim. A
//! step leaves lines in caches, and the preparation of the next round takes them out again: these
//! invalidations and write-backs are counted too. They are listed with the case. Where the model
//! counts less than the claim, because the preparation does the same without the steps, the event
//! is hidden and not judged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sim_core::PmuEvent;
use sim_core::PmuEvent::*;
use sim_scenario::Expected;

use crate::counts::CountedCase;
use crate::program::Litmus;

/// Admitted cases of n2sim, one JSON object a line.
const ADMITTED: &str = include_str!("../admitted.jsonl");
/// Admitted cases of the kernel module.
const ADMITTED_EL1: &str = include_str!("../admitted-el1.jsonl");
/// Largest distance of a mean from a claim, in counts, and largest deviation of a mean.
pub const TOLERANCE: f64 = 0.05;
/// Further distance as a part of the claim.
pub const TOLERANCE_OF_CLAIM: f64 = 0.03;

/// Events that the preparation of the next round may count because of what the steps left.
const OF_PREPARATION: [PmuEvent; 13] = [
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
];

/// An admitted case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Admitted {
    /// Name of the case.
    pub case: String,
    /// Counts of the preparation because of what the steps left, by event.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left: BTreeMap<String, u64>,
    /// Events that are not judged, because the preparation counts them without the steps too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
}

/// All admitted cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    /// Admitted cases in the order of the scenario files.
    pub cases: Vec<Admitted>,
}

/// Reason why a case is not admitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The replay counts something else.
    NotReproduced(Vec<NotReproduced>),
    /// All that it claims is 0 or hidden.
    ShowsNothing,
}

/// A count that a replay does not reproduce.
#[derive(Clone, Debug, PartialEq)]
pub struct NotReproduced {
    /// The event and its claim.
    pub expected: Expected,
    /// The count of the replay; `None` if the case did not run.
    pub counted: Option<f64>,
}

impl Admission {
    /// Returns the admitted cases of the program of user mode.
    ///
    /// # Panics
    ///
    /// If the file in the program is damaged, which a test excludes.
    pub fn builtin() -> Admission {
        Admission::read(ADMITTED)
    }

    /// Returns the admitted cases of the kernel module.
    ///
    /// # Panics
    ///
    /// If the file in the program is damaged, which a test excludes.
    pub fn builtin_el1() -> Admission {
        Admission::read(ADMITTED_EL1)
    }

    fn read(text: &str) -> Admission {
        let read = |line| serde_json::from_str(line).expect("a test reads the file too");
        Admission { cases: text.lines().map(read).collect() }
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
    pub fn left(&self, event: PmuEvent) -> u64 {
        self.left.get(event.mnemonic()).copied().unwrap_or(0)
    }

    /// Returns true if the event is judged.
    pub fn judges(&self, event: PmuEvent) -> bool {
        !self.hidden.iter().any(|hidden| hidden == event.mnemonic())
    }
}

/// Judges a case by its replay on the model.
///
/// # Errors
///
/// The reason why it is not admitted.
pub fn admit(litmus: &Litmus, replayed: Option<&CountedCase>) -> Result<Admitted, Refused> {
    let mut admitted = Admitted { case: litmus.id.clone(), ..Admitted::default() };
    let mut wrong = Vec::new();
    let mut shows_something = false;
    for expected in litmus.claims() {
        let sample = replayed.and_then(|case| case.sample(expected.event));
        let Some(sample) = sample.filter(|sample| sample.deviation <= TOLERANCE) else {
            wrong.push(NotReproduced { expected, counted: sample.map(|sample| sample.mean) });
            continue;
        };
        let event = expected.event.mnemonic().to_owned();
        match Besides::of(&expected, sample.mean) {
            Besides::Nothing => shows_something |= expected.bound.min > 0,
            Besides::Left(left) => {
                admitted.left.insert(event, left);
            }
            Besides::Hidden => admitted.hidden.push(event),
            Besides::Other => {
                wrong.push(NotReproduced { expected, counted: Some(sample.mean) });
            }
        }
    }
    match (wrong.is_empty(), shows_something) {
        (true, true) => Ok(admitted),
        (true, false) => Err(Refused::ShowsNothing),
        (false, _) => Err(Refused::NotReproduced(wrong)),
    }
}

/// Difference between the count of a replay and a claim.
enum Besides {
    /// They agree.
    Nothing,
    /// The preparation adds a whole number.
    Left(u64),
    /// The preparation hides the event.
    Hidden,
    /// The preparation does not explain it.
    Other,
}

impl Besides {
    fn of(expected: &Expected, mean: f64) -> Besides {
        if outside(expected, 0, mean) <= tolerance(expected, 0) {
            return Besides::Nothing;
        }
        let claim = expected.bound.exact().filter(|_| OF_PREPARATION.contains(&expected.event));
        let Some(claim) = claim else { return Besides::Other };
        let left = mean.round() - claim as f64;
        if left < 0.0 || expected.event == LL_CACHE_MISS_RD {
            return Besides::Hidden;
        }
        let left = left as u64;
        let is_whole = outside(expected, left, mean) <= tolerance(expected, left);
        if is_whole { Besides::Left(left) } else { Besides::Other }
    }
}

/// Returns how far `mean` is outside the claim and what is left; 0 if it is not.
pub(crate) fn outside(expected: &Expected, left: u64, mean: f64) -> f64 {
    let least = expected.bound.min as f64 + left as f64;
    let most = match expected.bound.max {
        u64::MAX => f64::INFINITY,
        max => max as f64 + left as f64,
    };
    (least - mean).max(mean - most).max(0.0)
}

/// Returns how far a mean may be outside.
pub(crate) fn tolerance(expected: &Expected, left: u64) -> f64 {
    TOLERANCE + TOLERANCE_OF_CLAIM * (expected.bound.min as f64 + left as f64)
}

impl Litmus {
    /// Returns the claims that are compared.
    pub fn claims(&self) -> impl Iterator<Item = Expected> + '_ {
        let compared = |expected: &&Expected| {
            // A case for real machines also claims clocks and stalls.
            let is_compared =
                self.case.on_machines.in_user_mode || self.plan.compares(expected.event);
            is_compared && !expected.event.never_counts()
        };
        self.case.expect.events.iter().filter(compared).copied()
    }
}
