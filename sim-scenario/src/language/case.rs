//! A case as the parser gives it to the runner.

use super::action::Step;
use super::expect::Expectation;
use super::flows::Way;
use super::given::Given;
use super::place::Place;

/// One case of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name of the case.
    pub test: String,
    /// Section of the PMU guide.
    pub guide: String,
    /// What the counts prove, in one sentence.
    pub claim: String,
    /// Where the case begins in its file.
    pub place: Place,
    /// State before the first step.
    pub given: Given,
    /// What is done.
    pub steps: Vec<Step>,
    /// What the counters must show.
    pub expect: Expectation,
    /// Which ways the accesses take through the flows of guide chapter 5.
    pub ways: Vec<Way>,
    /// What the counters must show in profile silicon.
    pub silicon: Expectation,
    /// Who published what profile silicon shows, where the case says it itself.
    pub source: Option<String>,
}
