//! Data of a run for the validation of metrics of the mesh.

use std::collections::BTreeMap;

use sim_core::Counts;

use crate::formula::event_use::Time;
use crate::formula::{EventUse, Quantity};
use crate::truth::Truths;

/// Count of a name of the mesh in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshCount {
    /// Value.
    Value(f64),
    /// The model never raises the event, for this reason.
    Never(String),
    /// The name has no count, for this reason.
    Unknown(String),
}

/// Counts and ground truth of a run.
#[derive(Clone, Debug, Default)]
pub struct MeshEvidence {
    /// Name of the trace.
    pub trace: String,
    /// Ground-truth values of the mesh.
    pub truths: Truths,
    /// Counts by the names of formulas.
    pub counts: BTreeMap<String, MeshCount>,
    /// Counts of all cores, for formulas with events of both.
    pub of_cores: Counts,
    /// Modeled time in seconds.
    pub seconds: f64,
    /// Number of cores.
    pub cores: u32,
    /// Revision `r0pN` of the cores.
    pub patch: u8,
}

impl MeshEvidence {
    /// Returns the count of a name, or a time in seconds.
    pub fn count(&self, event: &EventUse) -> Option<f64> {
        match &event.quantity {
            Quantity::Time(Time::Duration) => Some(self.seconds),
            Quantity::Event(event) => Some(self.of_cores.value(*event) as f64),
            Quantity::Mesh => match self.counts.get(&event.name)? {
                MeshCount::Value(value) => Some(*value),
                MeshCount::Never(_) => Some(0.0),
                MeshCount::Unknown(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the reason why a name has no count.
    pub(super) fn unknown(&self, event: &EventUse) -> Option<String> {
        match (&event.quantity, self.counts.get(&event.name)) {
            (Quantity::Mesh, Some(MeshCount::Unknown(why))) => Some(why.clone()),
            (Quantity::Mesh, None) => Some(format!("{} was not counted", event.name)),
            (Quantity::Mesh | Quantity::Event(_) | Quantity::Time(Time::Duration), _) => None,
            _ => Some(format!(
                "{} is neither an event of the mesh nor one of a core, or not counted here",
                event.name
            )),
        }
    }

    /// Returns the reason for which the model never raises an event.
    pub(super) fn never(&self, event: &EventUse) -> Option<&str> {
        match self.counts.get(&event.name) {
            Some(MeshCount::Never(why)) => Some(why),
            _ => None,
        }
    }
}
