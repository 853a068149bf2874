//! Values of `#` literals and of `strcmp_cpuid_str` on the machine that counted.

use sim_core::cores::{self, CoreDescription};

use super::event_use::FormulaCore;

/// MIDR_EL1 of the Neoverse N2 without its variant and revision. Source: TRM, MIDR_EL1.
const NEOVERSE_N2: u64 = 0x410F_D490;
/// MIDR_EL1 of the Cortex-A53 at r0p4, the last revision. Source: Cortex-A53 manual, 4.3.1.
const CORTEX_A53: u64 = 0x410F_D034;
/// MIDR_EL1 of a core of Arm without its part number, variant and revision.
const ARM: u64 = 0x410F_0000;
/// Position and largest value of the part number.
const PART_SHIFT: u32 = 4;
const PART_MAX: u32 = 0xFFF;
/// Variant (bits 23:20) and revision (bits 3:0) of MIDR_EL1, compared in this order.
const VARIANT: u64 = 0x00F0_0000;
const REVISION: u64 = 0x0000_000F;
/// Rename slots per cycle, as PMMIR_EL1.SLOTS reports them to Linux. Source: Arm telemetry data.
const SLOTS: u32 = 5;
/// Issue slots per cycle of a Cortex-A53. It has no PMMIR_EL1, so that perf itself knows no number.
pub const A53_SLOTS: u32 = 2;

/// `#` literal of perf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Literal {
    /// Rename slots per cycle.
    Slots,
    /// 1 if cores run several threads.
    SmtOn,
    /// Number of existing CPUs.
    Cpus,
    /// Number of online CPUs.
    CpusOnline,
    /// Number of cores.
    Cores,
    /// Number of dies.
    Dies,
    /// Number of packages.
    Packages,
    /// Frequency of the time stamp counter. Arm has none, and perf returns 0.
    TscFrequency,
    /// 1 if whole cores are counted.
    CoreWide,
    /// 1 if selected CPUs are counted.
    TargetCpu,
    /// 1 with persistent memory.
    HasPmem,
}

impl Literal {
    /// Every literal with its name.
    pub const ALL: [(&'static str, Literal); 11] = [
        ("slots", Literal::Slots),
        ("smt_on", Literal::SmtOn),
        ("num_cpus", Literal::Cpus),
        ("num_cpus_online", Literal::CpusOnline),
        ("num_cores", Literal::Cores),
        ("num_dies", Literal::Dies),
        ("num_packages", Literal::Packages),
        ("system_tsc_freq", Literal::TscFrequency),
        ("core_wide", Literal::CoreWide),
        ("target_cpu", Literal::TargetCpu),
        ("has_pmem", Literal::HasPmem),
    ];

    /// Returns the literal for `#name`.
    pub fn from_name(name: &str) -> Option<Literal> {
        Literal::ALL.iter().find(|(own, _)| *own == name).map(|(_, literal)| *literal)
    }

    /// Returns the name without the `#`.
    pub fn name(self) -> &'static str {
        Literal::ALL.iter().find(|(_, own)| *own == self).map_or("", |(name, _)| name)
    }
}

/// Machine on which the counts of a formula were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// MIDR_EL1 of the cores.
    pub midr: u64,
    /// Rename slots per cycle, `#slots`.
    pub slots: u32,
    /// Number of cores; each runs one thread.
    pub cores: u32,
}

impl Machine {
    /// Returns a Neoverse N2 of revision `r0pN`.
    pub fn neoverse_n2(patch: u8, cores: u32) -> Machine {
        Machine { midr: NEOVERSE_N2 | u64::from(patch) & REVISION, slots: SLOTS, cores }
    }

    /// Returns a Cortex-A53.
    pub fn cortex_a53(cores: u32) -> Machine {
        Machine { midr: CORTEX_A53, slots: A53_SLOTS, cores }
    }

    /// Returns the core whose events a formula for this machine names.
    pub fn events_of(&self) -> FormulaCore {
        match (self.midr ^ CORTEX_A53) & !(VARIANT | REVISION) {
            0 => FormulaCore::CortexA53,
            _ => FormulaCore::NeoverseN2,
        }
    }

    /// Returns a core that has events of the Neoverse N2, at its first revision.
    pub fn of_core(core: &CoreDescription) -> Machine {
        Machine {
            midr: ARM | u64::from(core.part) << PART_SHIFT,
            slots: core.slots_per_cycle,
            cores: 1,
        }
    }

    /// Returns the core by its part number; the Neoverse N2 for an unknown part.
    pub fn core(&self) -> &'static CoreDescription {
        let part = (self.midr >> PART_SHIFT) as u32 & PART_MAX;
        let named = cores::related().find(|core| core.part == part);
        named.unwrap_or(cores::neoverse_n2())
    }

    /// Returns the value of a literal.
    pub fn literal(&self, literal: Literal) -> f64 {
        match literal {
            Literal::Slots => f64::from(self.slots),
            Literal::Cpus | Literal::CpusOnline | Literal::Cores => f64::from(self.cores),
            Literal::Dies | Literal::Packages | Literal::CoreWide => 1.0,
            Literal::SmtOn | Literal::TscFrequency | Literal::TargetCpu | Literal::HasPmem => 0.0,
        }
    }

    /// Returns whether this is the core `midr`, at its variant and revision or a later one.
    pub fn is_core_from(&self, midr: u64) -> bool {
        let part = |midr: u64| midr & !(VARIANT | REVISION);
        let version = |midr: u64| (midr & VARIANT, midr & REVISION);
        part(self.midr) == part(midr) && version(self.midr) >= version(midr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_compare_as_two_digits() {
        let r0p3 = Machine::neoverse_n2(3, 1);
        assert!(r0p3.is_core_from(0x410F_D490) && r0p3.is_core_from(0x410F_D493));
        assert!(!Machine::neoverse_n2(2, 1).is_core_from(0x410F_D493));
        assert!(!r0p3.is_core_from(0x411F_D490), "a later variant");
        assert!(Machine { midr: 0x411F_D490, ..r0p3 }.is_core_from(0x410F_D493));
        assert!(!r0p3.is_core_from(0x410F_D0C0), "another part");
    }

    #[test]
    fn a_machine_knows_its_core() {
        for core in cores::related() {
            let machine = Machine::of_core(core);
            assert_eq!((machine.core(), machine.slots), (core, core.slots_per_cycle));
        }
        assert_eq!(Machine::of_core(cores::neoverse_n2()), Machine::neoverse_n2(0, 1));
        assert_eq!(Machine::neoverse_n2(3, 1).core().name, "neoverse-n2");
    }

    #[test]
    fn a_cortex_a53_has_two_slots_and_its_own_events() {
        let machine = Machine::cortex_a53(4);
        assert_eq!(machine.events_of(), FormulaCore::CortexA53);
        assert_eq!(machine.literal(Literal::Slots), 2.0);
        assert_eq!(machine.literal(Literal::Cores), 4.0);
        assert!(machine.is_core_from(0x410F_D030) && !machine.is_core_from(0x410F_D490));
        assert_eq!(Machine::neoverse_n2(3, 1).events_of(), FormulaCore::NeoverseN2);
    }

    #[test]
    fn every_literal_has_a_unique_name() {
        for (name, literal) in Literal::ALL {
            assert_eq!((literal.name(), Literal::from_name(name)), (name, Some(literal)));
        }
        assert_eq!(Machine::neoverse_n2(3, 1).literal(Literal::Slots), 5.0);
    }
}
