//! Configuration of a Cortex-A53 cluster from the options of the machine.

use sim_a53::A53Config;
use sim_core::config::Document;

use crate::shared_args::MachineArgs;

/// Returns the configuration: the built-in file or the given one, and single values over it.
pub(crate) fn of(machine: &MachineArgs) -> anyhow::Result<A53Config> {
    Ok(A53Config::from_document(&document(machine)?)?)
}

/// Returns the built-in configuration.
pub(crate) fn built_in() -> anyhow::Result<A53Config> {
    Ok(A53Config::from_document(&A53Config::document(None, &[])?)?)
}

/// Returns the merged document. Refuses the options that only the Neoverse N2 has.
pub(crate) fn document(machine: &MachineArgs) -> anyhow::Result<Document> {
    let refused = [
        (machine.is_chosen(), "--machine and --profile work"),
        (machine.order.is_some(), "--order works"),
    ];
    if let Some((_, option)) = refused.iter().find(|(is_given, _)| *is_given) {
        anyhow::bail!("{option} with the Neoverse N2 only; use --config or --set on a Cortex-A53");
    }
    let seed = machine.seed.map(|seed| format!("cluster.seed={seed}"));
    let overrides: Vec<String> = machine.set.iter().cloned().chain(seed).collect();
    Ok(A53Config::document(machine.config.as_deref(), &overrides)?)
}
