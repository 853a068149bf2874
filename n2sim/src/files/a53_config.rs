//! Configuration of a Cortex-A53 cluster from the options of the machine.

use sim_a53::A53Config;
use sim_a53::cluster::EMBEDDED;
use sim_core::config::Document;

use crate::shared_args::MachineArgs;

/// Returns the configuration: the built-in file or the given one, and single values over it.
pub(crate) fn of(machine: &MachineArgs) -> anyhow::Result<A53Config> {
    Ok(A53Config::from_document(&document(machine)?)?)
}

/// Returns the configuration before it is checked, so that more values can be set.
pub(crate) fn document(machine: &MachineArgs) -> anyhow::Result<Document> {
    let mut document = match &machine.config {
        Some(path) => Document::load(path, &EMBEDDED)?,
        None => Document::from_embedded(EMBEDDED[0].name, &EMBEDDED)?,
    };
    let seed = machine.seed.map(|seed| format!("cluster.seed={seed}"));
    for assignment in machine.set.iter().chain(&seed) {
        document = document.set(assignment)?;
    }
    Ok(document)
}
