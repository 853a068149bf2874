//! A parsed case.

use super::action::Step;
use super::expect::Expectation;
use super::flows::Way;
use super::given::Given;
use super::mesh::MeshExpectation;
use super::on_machines::OnMachines;
use super::place::Place;

/// One case of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name of the case.
    pub test: String,
    /// Section of the PMU guide.
    pub guide: String,
    /// Claim that the counts prove, in one sentence.
    pub claim: String,
    /// Place of the case in its file.
    pub place: Place,
    /// State before the first step.
    pub given: Given,
    /// Steps in order.
    pub steps: Vec<Step>,
    /// Expected counts.
    pub expect: Expectation,
    /// Expected counts of the mesh, in every profile.
    pub mesh: MeshExpectation,
    /// Expected paths of accesses through the flows of guide chapter 5.
    pub ways: Vec<Way>,
    /// Expected counts in profile silicon.
    pub silicon: Expectation,
    /// Publisher of the counts in profile silicon, if the case states them itself.
    pub source: Option<String>,
    /// Statements about real machines, which the model ignores.
    pub on_machines: OnMachines,
}
