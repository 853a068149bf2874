//! The text of a grid (TOML), and its values.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::Deserialize;
use sim_core::config::units;
use sim_machine::{Machine, Profile, RunOptions};

use crate::error::RunsError;
use crate::grid::Axis;
use crate::run_core::SweepCore;

/// Numbers of parts that a trace can be cut into.
const PARTS: RangeInclusive<u32> = 1..=256;

/// The grid file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct GridFile {
    pub(crate) traces: Vec<String>,
    #[serde(default)]
    pub(crate) core: SweepCore,
    #[serde(default)]
    profile: Option<FileProfile>,
    #[serde(default)]
    machine: Option<String>,
    pub(crate) config: Option<PathBuf>,
    #[serde(default)]
    pub(crate) set: Vec<String>,
    warmup: Option<Amount>,
    limit: Option<Amount>,
    parts: Option<u32>,
    pub(crate) regions: Option<Vec<String>>,
    pub(crate) events: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) metrics: Vec<String>,
    #[serde(default)]
    vary: Vec<VaryFile>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileProfile {
    Guide,
    Silicon,
}

/// A number of instructions: `500000` or `"500k"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(u64),
    Text(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VaryFile {
    key: String,
    values: Vec<toml::Value>,
}

impl GridFile {
    /// Refuses the keys of a grid that only the Neoverse N2 has.
    pub(crate) fn refuse_other_keys(&self) -> Result<(), RunsError> {
        let refused = [
            (self.profile.is_some(), "profile"),
            (self.machine.is_some(), "machine"),
            (self.regions.is_some(), "regions"),
        ];
        match refused.iter().find(|(is_given, _)| *is_given && self.core == SweepCore::CortexA53) {
            Some((_, key)) => {
                Err(RunsError::Wrong(format!("{key}: works with core = \"neoverse-n2\" only")))
            }
            None => Ok(()),
        }
    }

    /// Returns the varied keys, each once.
    pub(crate) fn axes(&mut self) -> Result<Vec<Axis>, RunsError> {
        let axes = std::mem::take(&mut self.vary).into_iter().map(axis);
        let axes = axes.collect::<Result<Vec<Axis>, RunsError>>()?;
        for (number, axis) in axes.iter().enumerate() {
            if axes[..number].iter().any(|other| other.key == axis.key) {
                let key = &axis.key;
                return wrong(format!("{key} varies twice: give all of its values in one list"));
            }
        }
        Ok(axes)
    }

    /// Returns the number of parts that each trace is cut into, each a run of its own.
    pub(crate) fn parts(&self) -> Result<u32, RunsError> {
        let parts = self.parts.unwrap_or(1);
        let given = [(self.warmup.is_some(), "warmup"), (self.limit.is_some(), "limit")];
        let given = given.iter().find(|(is_given, _)| *is_given);
        match (given, self.regions.is_some()) {
            _ if !PARTS.contains(&parts) => {
                wrong(format!("parts: {parts} is not from {} to {}", PARTS.start(), PARTS.end()))
            }
            (Some((_, key)), true) => {
                wrong(format!("{key}: does not work with regions, which name the windows to count"))
            }
            (Some((_, key)), _) if parts > 1 => {
                wrong(format!("{key}: does not work with parts, which cover the whole trace"))
            }
            _ => Ok(parts),
        }
    }

    /// Returns the part of each trace that runs.
    pub(crate) fn options(&self) -> Result<RunOptions, RunsError> {
        let amount = |amount: &Option<Amount>, key, least| {
            amount.as_ref().map(|amount| amount.instructions(key, least)).transpose()
        };
        Ok(RunOptions {
            warmup: amount(&self.warmup, "warmup", 0)?.unwrap_or(0),
            limit: amount(&self.limit, "limit", 1)?,
            roi: None,
        })
    }

    /// Returns the profile.
    pub(crate) fn profile(&self) -> Profile {
        match self.profile {
            None | Some(FileProfile::Guide) => Profile::Guide,
            Some(FileProfile::Silicon) => Profile::Silicon,
        }
    }

    /// Returns the machine around the core.
    pub(crate) fn machine(&self) -> Result<Machine, RunsError> {
        let machine = self.machine.as_deref().map(Machine::from_name).transpose();
        let machine = machine.map_err(|error| RunsError::Wrong(format!("machine: {error}")))?;
        Ok(machine.unwrap_or_default())
    }
}

impl Amount {
    fn instructions(&self, key: &str, least: u64) -> Result<u64, RunsError> {
        let number = match self {
            Amount::Number(number) => Ok(*number),
            Amount::Text(text) => units::instructions(text),
        };
        match number {
            Ok(number) if number >= least => Ok(number),
            Ok(_) => wrong(format!("{key}: give at least one instruction")),
            Err(error) => wrong(format!("{key}: {error}")),
        }
    }
}

fn axis(file: VaryFile) -> Result<Axis, RunsError> {
    let key = file.key;
    let spelled = |value: &toml::Value| match value {
        // The table shows the number without its unit.
        toml::Value::String(text) => {
            Ok(units::resolve(&key, text).map_or_else(|| text.clone(), |number| number.to_string()))
        }
        toml::Value::Table(_) | toml::Value::Array(_) => {
            wrong(format!("vary {key}: {value} is not a single value"))
        }
        value => Ok(value.to_string()),
    };
    let values = file.values.iter().map(spelled).collect::<Result<Vec<String>, RunsError>>()?;
    if values.is_empty() {
        return wrong(format!("vary {key}: it has no values"));
    }
    for (number, value) in values.iter().enumerate() {
        if values[..number].contains(value) {
            return wrong(format!("vary {key}: the value {value} is there twice"));
        }
    }
    Ok(Axis { key, values })
}

fn wrong<T>(text: String) -> Result<T, RunsError> {
    Err(RunsError::Wrong(text))
}
