//! The machine of a request: a profile, a machine around the core, and changed keys.

use serde::{Deserialize, Serialize};
use sim_machine::{ConfigSource, Machine, MachineConfig, Profile};

/// Choice of a machine, as on the command line.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Choice {
    /// `guide` or `silicon`; empty for `guide`.
    profile: String,
    /// Name of a commercial machine; empty for none.
    machine: String,
    /// Assignments `key=value`.
    set: Vec<String>,
}

impl Choice {
    /// The usual machine with changed keys.
    pub(crate) fn changed(set: Vec<String>) -> Choice {
        Choice { set, ..Choice::default() }
    }

    /// Returns the changed keys with their values.
    pub(crate) fn assignments(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let pair = |set: &String| {
            let (key, value) = set.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        };
        self.set.iter().filter_map(pair)
    }

    /// Runs `work` with the source of the configuration.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&ConfigSource<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let profile = match self.profile.as_str() {
            "" | "guide" => Profile::Guide,
            "silicon" => Profile::Silicon,
            other => return Err(format!("profile '{other}': write guide or silicon")),
        };
        let machine = match self.machine.as_str() {
            "" => Machine::default(),
            name => Machine::from_name(name)?,
        };
        work(&ConfigSource { profile, machine, file: None, overrides: &self.set })
    }

    /// Returns the complete configuration.
    pub(crate) fn config(&self) -> Result<MachineConfig, String> {
        self.with(|source| {
            let document = source.document().map_err(|error| error.to_string())?;
            MachineConfig::from_document(&document).map_err(|error| error.to_string())
        })
    }
}

/// A key of the configuration.
#[derive(Debug, Serialize)]
pub(crate) struct Key {
    key: String,
    value: String,
    source: String,
}

/// Returns every key with its value in force and its source.
pub(crate) fn settings(choice: &Choice) -> Result<Vec<Key>, String> {
    choice.config()?;
    choice.with(|source| {
        let document = source.document().map_err(|error| error.to_string())?;
        let key = |setting: sim_core::config::Setting| Key {
            key: setting.key,
            value: setting.value,
            source: setting.source,
        };
        Ok(document.settings().into_iter().map(key).collect())
    })
}
