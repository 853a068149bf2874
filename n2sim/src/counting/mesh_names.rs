//! Counts of the names of the mesh in metric formulas, such as `PMU_HNF_CACHE_MISS` and
//! `arm_cmn_0/hnf_cache_miss/`.

use std::collections::BTreeMap;

use sim_core::Shown;
use sim_core::mesh_counts::MeshCounts;
use sim_machine::{MachineConfig, Outcome};
use sim_metrics::formula::EventUse;
use sim_metrics::formula::event_use::{MESH_CYCLES, MESH_FREQUENCY};
use sim_metrics::validator::MeshCount;
use sim_pmu::cmn::{Nodes, Selector, Target, count};

/// Returns the frequency of the mesh in Hz.
pub(crate) fn frequency(config: &MachineConfig) -> f64 {
    let percent = config.memory.mesh.core_clock_percent;
    config.core.clock_hz as f64 * f64::from(percent) / 100.0
}

/// Returns the counts of some names in a run on a mesh of a frequency in Hz.
pub(crate) fn counts<'a>(
    names: impl Iterator<Item = &'a EventUse>,
    outcome: &Outcome,
    hz: f64,
) -> BTreeMap<String, MeshCount> {
    let of_mesh = names.filter(|name| name.is_of_mesh());
    of_mesh.map(|name| (name.name.clone(), value(&name.name, outcome, hz))).collect()
}

/// Returns the count of a name in a run on a mesh of a frequency in Hz.
pub(crate) fn value(name: &str, outcome: &Outcome, hz: f64) -> MeshCount {
    match name {
        MESH_FREQUENCY => MeshCount::Value(hz),
        MESH_CYCLES => MeshCount::Value(outcome.mesh.cycles as f64),
        text => selected(text, &Nodes::new(&outcome.mesh.plan), &outcome.mesh),
    }
}

/// Refuses names that the PMU of the mesh does not have, and filters that the model does not have.
///
/// # Errors
/// A name is wrong; the message says which are right.
pub(crate) fn check<'a>(names: impl Iterator<Item = &'a EventUse>) -> anyhow::Result<()> {
    for name in events(names) {
        selector(name).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}

/// Returns why the PMU of the mesh does not have one of some names.
pub(crate) fn wrong<'a>(names: impl Iterator<Item = &'a EventUse>) -> Option<String> {
    events(names).find_map(|name| known(name).err())
}

/// Returns the names of the mesh that are not clocks.
fn events<'a>(names: impl Iterator<Item = &'a EventUse>) -> impl Iterator<Item = &'a str> {
    let is_event = |name: &&EventUse| {
        name.is_of_mesh() && ![MESH_CYCLES, MESH_FREQUENCY].contains(&name.name.as_str())
    };
    names.filter(is_event).map(|name| name.name.as_str())
}

fn selected(text: &str, nodes: &Nodes, mesh: &MeshCounts) -> MeshCount {
    let selector = match selector(text) {
        Ok(selector) => selector,
        Err(why) => return MeshCount::Unknown(why),
    };
    match count(&selector, nodes, mesh) {
        Err(error) => MeshCount::Unknown(error.to_string()),
        Ok(counted) => match counted.zero {
            Some(reason) => MeshCount::Never(reason.text().to_owned()),
            None => MeshCount::Value(counted.value as f64),
        },
    }
}

/// Reads a name as a selector of the PMU of the mesh that the model can count.
fn selector(text: &str) -> Result<Selector, String> {
    let selector = known(text)?;
    match selector.target {
        Target::Event { event, occupid } if occupid != 0 && event.filter.is_none() => Err(format!(
            "'{}': the model does not filter this event: it would count all of it",
            text.shown()
        )),
        _ => Ok(selector),
    }
}

/// Reads a name as a selector of the PMU of the mesh.
///
/// # Errors
/// The name is wrong; the message says which are right.
fn known(text: &str) -> Result<Selector, String> {
    let selector: Selector = text.parse().map_err(|error| format!("{error}"))?;
    match selector.mesh {
        0 => Ok(selector),
        _ => Err(format!("'{}': the machine has one mesh, arm_cmn_0", text.shown())),
    }
}
