//! Configuration of a whole machine: the two built-in profiles, files and overrides on top of them,
//! and the checks that involve several values.

use std::path::Path;

use crate::machines::Machine;
use crate::threads_config::ThreadsConfig;
use serde::Deserialize;
use sim_core::config::{ConfigError, Document, Embedded, Problem};

/// Built-in configuration files.
pub const EMBEDDED: [Embedded; 2] = [
    Embedded {
        name: "neoverse-n2.toml",
        text: include_str!("../../configs/neoverse-n2/machine.toml"),
    },
    Embedded {
        name: "neoverse-n2-silicon.toml",
        text: include_str!("../../configs/neoverse-n2-silicon.toml"),
    },
];

/// Valid clocks of the core.
const CLOCK_HZ_RANGE: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000;
/// Valid rates of the system counter, from the slowest in use to the core's fastest clock.
const COUNTER_HZ_RANGE: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000;

/// Reference to follow where the PMU guide and measured silicon disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The PMU guide, to the letter.
    #[default]
    Guide,
    /// Arm's published counts of an N2, and published measurements.
    Silicon,
}

/// Source of a configuration: a profile or a file, then a machine, then single values.
#[derive(Clone, Debug, Default)]
pub struct ConfigSource<'a> {
    /// Profile to start from, if no file is given.
    pub profile: Profile,
    /// Machine around the core.
    pub machine: Machine,
    /// Configuration file: a complete one, or one with a `base`.
    pub file: Option<&'a Path>,
    /// Overrides `table.key=value`, in order.
    pub overrides: &'a [String],
}

/// Complete configuration of a machine and its run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineConfig {
    /// Revision and clocks of the core.
    pub core: CoreConfig,
    /// Seed and random generator.
    pub run: RunConfig,
    /// Order of threads.
    pub threads: ThreadsConfig,
    /// Out-of-order engine.
    pub pipeline: sim_pipeline::PipelineConfig,
    /// Caches, TLBs, walks, mesh and memory.
    pub memory: sim_cache::MemoryConfig,
    /// Counting rules where sources disagree.
    pub semantics: sim_cache::SemanticsConfig,
    /// Statistical Profiling Extension.
    pub spe: sim_pmu::SpeConfig,
}

/// Version of the warm state. It increases when units save other words or other meanings, and when
/// functional warming reaches another state: clock, wrong paths, prefetchers.
const WARM_LAYOUT: u32 = 5;

impl MachineConfig {
    /// Returns the hash of all settings that shape the state after functional warming: caches,
    /// TLBs, prefetchers, predictors. Cores that differ in other settings can start in the same
    /// state.
    pub fn warm_hash(&self) -> u64 {
        let sim_pipeline::PipelineConfig { branch, wrong_path, front_end, .. } = &self.pipeline;
        // Width of a wrong path in functional warming, in instructions per cycle.
        let width = (front_end.mop_width, self.pipeline.ideal.fetch);
        let shapes = (WARM_LAYOUT, branch, wrong_path, width);
        let text = format!("{:?}", (shapes, &self.memory, &self.semantics, &self.run));
        xxhash_rust::xxh3::xxh3_64(text.as_bytes())
    }
}

/// Identity of the core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CoreConfig {
    /// Revision, for errata.
    pub revision: Revision,
    /// Core clock in Hz, for seconds in reports.
    pub clock_hz: u64,
    /// Rate of the system counter (CNTPCT_EL0) in Hz, for `CNT_CYCLES`.
    pub counter_hz: u64,
    /// Version of the PMU architecture, which sets the width of event counters.
    pub pmu: sim_pmu::PmuVersion,
}

/// Revision of the core, as in MIDR_EL1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Revision {
    /// Revision with MIDR_EL1 0x410FD490.
    R0p0,
    /// Revision with MIDR_EL1 0x410FD491.
    R0p1,
    /// Revision with MIDR_EL1 0x410FD492.
    R0p2,
    /// Revision with MIDR_EL1 0x410FD493.
    R0p3,
}

impl Revision {
    /// Returns the N of r0pN.
    pub fn patch(self) -> u8 {
        self as u8
    }

    /// Returns MIDR_EL1 of the core.
    pub fn midr(self) -> u64 {
        0x410f_d490 | u64::from(self.patch())
    }

    /// Returns true if `STALL_SLOT` and `STALL_SLOT_FRONTEND` count one too many per cycle.
    pub fn has_stall_slot_erratum(self) -> bool {
        self < Revision::R0p3
    }
}

/// Settings of the run, which do not belong to the machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunConfig {
    /// Seed of every random choice.
    pub seed: u64,
    /// Generator that the seed initializes.
    pub generator: Generator,
}

/// Pseudo-random generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Generator {
    /// The generator `rand_xoshiro::Xoshiro256PlusPlus`.
    #[serde(rename = "xoshiro256++")]
    Xoshiro256PlusPlus,
}

impl Profile {
    /// Returns the name of the profile's built-in file.
    pub fn file_name(self) -> &'static str {
        match self {
            Profile::Guide => "neoverse-n2.toml",
            Profile::Silicon => "neoverse-n2-silicon.toml",
        }
    }
}

impl ConfigSource<'_> {
    /// Returns the merged document.
    ///
    /// # Errors
    /// If a file cannot be read, or if an overlay or override does not fit its base.
    pub fn document(&self) -> Result<Document, ConfigError> {
        let mut document = match self.file {
            Some(path) => Document::load(path, &EMBEDDED)?,
            None => Document::from_embedded(self.profile.file_name(), &EMBEDDED)?,
        };
        if let Some(differences) = self.machine.differences() {
            document = document.with_overlay(differences.name, differences.text)?;
        }
        for assignment in self.overrides {
            document = document.set(assignment)?;
        }
        Ok(document)
    }
}

impl MachineConfig {
    /// Reads and checks a merged document.
    ///
    /// # Errors
    /// Unknown or missing keys, values of a wrong type, or sizes that no machine can have.
    pub fn from_document(document: &Document) -> Result<MachineConfig, ConfigError> {
        let config: MachineConfig = document.parse()?;
        document.refuse(&config.problems())?;
        Ok(config)
    }

    /// Returns all faults of the values.
    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.core.problems();
        problems.extend(self.threads.problems());
        problems.extend(self.pipeline.problems());
        problems.extend(self.memory.problems());
        problems.extend(self.spe.problems());
        problems
    }
}

impl CoreConfig {
    fn problems(&self) -> Vec<Problem> {
        let clocks = [
            ("core.clock-hz", "clock", self.clock_hz, CLOCK_HZ_RANGE),
            ("core.counter-hz", "system counter", self.counter_hz, COUNTER_HZ_RANGE),
        ];
        let wrong = clocks.into_iter().filter(|(_, _, hz, range)| !range.contains(hz));
        let problem = |(key, what, hz, range): (&str, _, _, std::ops::RangeInclusive<u64>)| {
            let (low, high) = (range.start(), range.end());
            let message = format!("a {what} of {hz} Hz: give it in Hz, from {low} to {high}");
            Problem::new(key, message)
        };
        wrong.map(problem).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(source: &ConfigSource<'_>) -> Result<MachineConfig, ConfigError> {
        MachineConfig::from_document(&source.document()?)
    }

    fn with(overrides: &[&str]) -> Result<MachineConfig, ConfigError> {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        config(&ConfigSource { overrides: &overrides, ..ConfigSource::default() })
    }

    #[test]
    fn both_profiles_describe_a_machine() {
        for profile in [Profile::Guide, Profile::Silicon] {
            let config = config(&ConfigSource { profile, ..ConfigSource::default() });
            let config = config.unwrap_or_else(|error| panic!("{profile:?}: {error}"));
            assert_eq!(config.core.revision, Revision::R0p3);
        }
    }

    /// Every value of every file ends with its source.
    #[test]
    fn every_value_has_its_source() {
        let machines = Machine::ALL.into_iter().filter_map(Machine::differences);
        for file in EMBEDDED.into_iter().chain(machines) {
            for (i, line) in file.text.lines().enumerate() {
                let is_value = line.contains('=') && !line.starts_with(['#', '[']);
                let is_base = line.starts_with("base = ");
                let has_source = line.contains("# [") && line.ends_with(']');
                assert!(
                    !is_value || is_base || has_source,
                    "{}:{}: no source: {line}",
                    file.name,
                    i + 1
                );
            }
        }
    }

    #[test]
    fn only_revisions_before_r0p3_have_the_slot_erratum() {
        let erratum = |revision: &str| {
            let config = with(&[&format!("core.revision={revision}")]).expect("a known revision");
            config.core.revision.has_stall_slot_erratum()
        };
        assert!(erratum("r0p0") && erratum("r0p1") && erratum("r0p2"));
        assert!(!erratum("r0p3"));
    }

    #[test]
    fn impossible_values_are_refused_with_the_remedy() {
        let message = with(&["core.clock-hz=3"]).expect_err("3 Hz is too slow").to_string();
        assert!(message.contains("a clock of 3 Hz: give it in Hz, from 1000000"), "{message}");
        for (wrong, remedy) in [
            ("pipeline.branch.btb-entries=1099511627776", "from 8 to 1048576"),
            ("pipeline.front-end.mop-cache-sets=1099511627776", "at most 1048576"),
            ("pipeline.branch.redirect-cycles=9223372036854775807", "more than 100000"),
            ("pipeline.branch.tagged-bits=14", "14 is outside 4 to 13"),
            ("pipeline.window.rob=2048", "2047"),
            ("pipeline.window.load-queue=512", "511"),
        ] {
            let message = with(&[wrong]).expect_err("too large for any host").to_string();
            assert!(message.contains(remedy), "{message}");
        }
        let message = with(&["core.revision=r1p0"]).expect_err("no such core").to_string();
        assert!(message.contains("expected one of `r0p0`, `r0p1`, `r0p2`, `r0p3`"), "{message}");
    }

    #[test]
    fn all_faults_of_a_configuration_are_reported_together() {
        let overrides = ["core.clock-hz=3", "pipeline.window.rob=0", "memory.dtlb.entries=0"];
        let message = with(&overrides).expect_err("no such machine").to_string();
        assert!(message.starts_with("3 faults in the configuration"), "{message}");
        for place in
            ["1 | core.clock-hz = 3", "1 | pipeline.window.rob = 0", "1 | memory.dtlb.entries = 0"]
        {
            assert!(message.contains(place), "{message}");
        }
    }

    #[test]
    fn a_machine_overrides_the_profile_and_single_values_override_both() {
        let overrides = ["memory.dram.channels=4".to_owned()];
        let source = ConfigSource {
            profile: Profile::Silicon,
            machine: Machine::Cobalt100,
            overrides: &overrides,
            ..ConfigSource::default()
        };
        let config = config(&source).expect("all three fit together");
        assert_eq!(config.memory.dtlb.entries, 44, "of the profile");
        assert_eq!(config.core.clock_hz, 3_400_000_000, "of the machine");
        assert!(config.core.revision.has_stall_slot_erratum(), "of the machine");
        assert_eq!(config.memory.dram.channels, 4, "of the command line");
    }

    #[test]
    fn a_machine_changes_nothing_inside_the_core() {
        for machine in Machine::ALL {
            let source = ConfigSource { machine, ..ConfigSource::default() };
            let (machine, plain) = (source.document(), ConfigSource::default().document());
            let (machine, plain) = (machine.expect("valid"), plain.expect("valid"));
            for setting in plain.settings() {
                let outside = ["core.", "memory.bus.", "memory.mesh.", "memory.slc."];
                let outside = [&outside[..], &["memory.snoop-filter.", "memory.dram."]].concat();
                let is_outside = outside.iter().any(|table| setting.key.starts_with(table));
                let value = machine.get(&setting.key);
                assert!(is_outside || value.as_deref() == Some(&setting.value), "{}", setting.key);
            }
            MachineConfig::from_document(&machine).expect("a machine that can be");
        }
    }

    #[test]
    fn the_silicon_profile_differs_in_tlb_sizes_and_counting_rules() {
        let silicon = ConfigSource { profile: Profile::Silicon, ..ConfigSource::default() };
        let (silicon, guide) = (config(&silicon).expect("valid"), with(&[]).expect("valid"));
        assert_eq!((guide.memory.dtlb.entries, silicon.memory.dtlb.entries), (40, 44));
        assert_eq!((guide.memory.l2_tlb.entries, silicon.memory.l2_tlb.entries), (2048, 1280));
        assert_ne!(guide.semantics, silicon.semantics);
    }
}
