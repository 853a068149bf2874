//! The cores that n2sim knows, each described by a file of its folder in `configs`.
//!
//! Cores with the event table of the Neoverse N2 have its events under the same numbers and
//! mnemonics, or some of them.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::PmuEvent;
use crate::pmu_event::{NOT_MODELED, UnmodeledEvent};

/// Name of the core whose event table several cores share.
const NEOVERSE_N2: &str = "neoverse-n2";

/// Names and descriptions, in the order of lists.
const FILES: [(&str, &str); 6] = [
    (NEOVERSE_N2, include_str!("../../configs/neoverse-n2/core.toml")),
    ("cortex-a53", include_str!("../../configs/cortex-a53/core.toml")),
    ("neoverse-n1", include_str!("../../configs/neoverse-n1/core.toml")),
    ("neoverse-v1", include_str!("../../configs/neoverse-v1/core.toml")),
    ("neoverse-v2", include_str!("../../configs/neoverse-v2/core.toml")),
    ("cortex-a32", include_str!("../../configs/cortex-a32/core.toml")),
];

static CORES: LazyLock<Vec<CoreDescription>> = LazyLock::new(|| FILES.map(parse).into());

/// A core as a whole. What a field does not say is not known.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CoreDescription {
    /// Name on the command line: that of the folder.
    #[serde(skip)]
    pub name: &'static str,
    /// Name in sentences.
    pub title: String,
    /// Part number, as in MIDR_EL1; 0 if unknown.
    #[serde(default)]
    pub part: u32,
    /// Pipeline of the model; `None` if the core has no timing model yet.
    pub pipeline: Option<PipelineKind>,
    /// Rename or issue slots per cycle; 0 if unknown.
    #[serde(default)]
    pub slots_per_cycle: u32,
    /// Name of the core that has its event table.
    pub events: String,
    /// Numbers of the events of this table that the core lacks, in ascending order.
    #[serde(default)]
    lacks: Vec<u16>,
}

/// Kind of pipeline that runs a trace on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PipelineKind {
    /// Renames registers and executes operations when their operands are ready.
    OutOfOrder,
    /// Issues instructions in program order.
    InOrder,
}

fn parse((name, text): (&'static str, &str)) -> CoreDescription {
    let core: Result<CoreDescription, _> = toml::from_str(text);
    match core {
        Ok(core) => CoreDescription { name, ..core },
        // The files are part of the program, and a test reads them all.
        Err(error) => unreachable!("configs/{name}/core.toml: {error}"),
    }
}

/// Returns every core.
pub fn all() -> &'static [CoreDescription] {
    &CORES
}

/// Returns the core with this name.
pub fn by_name(name: &str) -> Option<&'static CoreDescription> {
    all().iter().find(|core| core.name == name)
}

/// Returns the cores with the event table of the Neoverse N2, itself first.
pub fn related() -> impl Iterator<Item = &'static CoreDescription> {
    all().iter().filter(|core| core.is_related())
}

/// Returns the Neoverse N2.
pub fn neoverse_n2() -> &'static CoreDescription {
    &all()[0]
}

impl CoreDescription {
    /// Returns whether it has the event table of the Neoverse N2.
    pub fn is_related(&self) -> bool {
        self.events == NEOVERSE_N2
    }

    /// Returns whether this is the Neoverse N2.
    pub fn is_n2(&self) -> bool {
        self.name == NEOVERSE_N2
    }

    /// Returns whether the core has the event of the Neoverse N2.
    pub fn has(&self, event: PmuEvent) -> bool {
        !self.lacks.contains(&event.code())
    }

    /// Returns the trace and trigger events of the core, which n2sim does not model on any.
    pub fn unmodeled(&self) -> impl Iterator<Item = &'static UnmodeledEvent> {
        NOT_MODELED.iter().filter(|event| !self.lacks.contains(&event.code))
    }

    /// Returns the events of the Neoverse N2 that the core lacks.
    pub fn lacking(&self) -> impl Iterator<Item = PmuEvent> {
        PmuEvent::ALL.into_iter().filter(|event| !self.has(*event))
    }
}

/// Returns true if MIDR_EL1 is that of a core with such a part number: of Arm, or of Microsoft,
/// whose Azure Cobalt 100 is a Neoverse N2 and has its part number (Linux, `cputype.h`).
pub fn is_part(midr: u64, part: u64) -> bool {
    const ARM: u64 = 0x41;
    const MICROSOFT: u64 = 0x6d;
    const NEOVERSE_N2: u64 = 0xd49;
    let implementer = midr >> 24 & 0xff;
    let is_known = implementer == ARM || implementer == MICROSOFT && part == NEOVERSE_N2;
    is_known && midr >> 4 & 0xfff == part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static CoreDescription {
        by_name(name).expect("a core")
    }

    /// Numbers of events in the telemetry data: 155, 132 and 110. The guide of the Neoverse N2 has
    /// one more.
    #[test]
    fn every_core_has_as_many_events_as_its_telemetry_data() {
        let number = |name: &str| {
            let core = named(name);
            PmuEvent::ALL.into_iter().filter(|event| core.has(*event)).count()
                + core.unmodeled().count()
        };
        let cores = ["neoverse-n2", "neoverse-n1", "neoverse-v1", "neoverse-v2"];
        assert_eq!(cores.map(number), [156, 110, 132, 155]);
        assert_eq!(related().map(|core| core.name).collect::<Vec<_>>(), cores);
        let v2: Vec<PmuEvent> = named("neoverse-v2").lacking().collect();
        assert_eq!(v2, [PmuEvent::LDST_SPEC]);
        assert!(!named("neoverse-n1").has(PmuEvent::STALL_SLOT));
        assert!(named("neoverse-v1").has(PmuEvent::STALL_SLOT));
    }

    #[test]
    fn lists_are_ascending_and_of_known_events() {
        for core in all() {
            assert!(core.lacks.is_sorted_by(|a, b| a < b), "{}", core.name);
            let unknown = |code: &&u16| {
                PmuEvent::from_code(u32::from(**code)).is_err()
                    && !NOT_MODELED.iter().any(|event| event.code == **code)
            };
            assert_eq!(core.lacks.iter().find(unknown), None, "{}", core.name);
            assert!(by_name(&core.events).is_some(), "{}", core.name);
        }
    }

    #[test]
    fn two_cores_have_a_timing_model() {
        let kind = |name: &str| named(name).pipeline;
        assert_eq!(kind("neoverse-n2"), Some(PipelineKind::OutOfOrder));
        assert_eq!(kind("cortex-a53"), Some(PipelineKind::InOrder));
        assert_eq!(all().iter().filter(|core| core.pipeline.is_some()).count(), 2);
    }
}
