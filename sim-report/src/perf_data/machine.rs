//! Features of a perf.data file that describe the machine and the recording.

use super::PerfData;
use super::words::Words;

/// `e_machine` of AArch64.
const E_MACHINE_AARCH64: u32 = 183;
/// Bytes of a cache line.
const LINE_BYTES: u32 = 64;
/// Block of memory that belongs to one node, large enough to keep the map of blocks short.
const MEMORY_BLOCK_BYTES: u64 = 4 << 30;

/// Numbers of features.
pub mod feature {
    /// Host name.
    pub const HOSTNAME: u8 = 3;
    /// Release of the operating system.
    pub const OSRELEASE: u8 = 4;
    /// Version of the tool.
    pub const VERSION: u8 = 5;
    /// Architecture.
    pub const ARCH: u8 = 6;
    /// Number of CPUs.
    pub const NRCPUS: u8 = 7;
    /// Name of the CPU.
    pub const CPUDESC: u8 = 8;
    /// Identity of the CPU: `MIDR_EL1`.
    pub const CPUID: u8 = 9;
    /// Memory, in kilobytes.
    pub const TOTAL_MEM: u8 = 10;
    /// Command line of the recording.
    pub const CMDLINE: u8 = 11;
    /// Names of the events.
    pub const EVENT_DESC: u8 = 12;
    /// CPUs of cores and sockets.
    pub const CPU_TOPOLOGY: u8 = 13;
    /// Memory and CPUs of nodes.
    pub const NUMA_TOPOLOGY: u8 = 14;
    /// Numbers of PMUs.
    pub const PMU_MAPPINGS: u8 = 16;
    /// Locations of AUX data.
    pub const AUXTRACE: u8 = 18;
    /// Marks a file with counts and no samples.
    pub const STAT: u8 = 19;
    /// Times of the first and the last record.
    pub const SAMPLE_TIME: u8 = 21;
    /// Blocks of memory by node.
    pub const MEM_TOPOLOGY: u8 = 22;
    /// `e_machine` of the programs.
    pub const E_MACHINE: u8 = 33;
    /// Bytes of a cache line.
    pub const CACHE_LINE: u8 = 34;
}

/// Core of a machine, as Linux names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Name of the core.
    pub name: &'static str,
    /// Name of its PMU.
    pub pmu: &'static str,
    /// It has the Statistical Profiling Extension.
    pub has_spe: bool,
}

impl Default for Cpu {
    fn default() -> Cpu {
        Cpu { name: "Neoverse-N2", pmu: "armv8_pmuv3_0", has_spe: true }
    }
}

/// Machine that a file was recorded on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// `MIDR_EL1`.
    pub midr: u64,
    /// Kind of its cores.
    pub cpu: Cpu,
    /// Number of CPUs, one for each thread of the trace.
    pub cpus: u32,
    /// Memory, in bytes.
    pub memory: u64,
    /// Version of n2sim.
    pub version: String,
    /// Command line of n2sim.
    pub command: Vec<String>,
}

impl PerfData {
    /// Adds the features that describe the machine.
    pub fn describe(&mut self, machine: &Machine) {
        let text = |text: &str| {
            let mut words = Words::default();
            words.string(text);
            words.0
        };
        let version = format!("n2sim {}", machine.version);
        self.feature(feature::HOSTNAME, text("n2sim"));
        self.feature(feature::OSRELEASE, text(&version));
        self.feature(feature::VERSION, text(&machine.version));
        self.feature(feature::ARCH, text("aarch64"));
        self.feature(feature::CPUDESC, text(machine.cpu.name));
        self.feature(feature::CPUID, text(&format!("{:#018x}", machine.midr)));
        self.describe_sizes(machine);
        self.describe_topology(machine);
        self.describe_pmus(&machine.cpu);
    }

    fn describe_sizes(&mut self, machine: &Machine) {
        let mut words = Words::default();
        words.u32(machine.cpus).u32(machine.cpus);
        self.feature(feature::NRCPUS, words.0);
        self.feature(feature::TOTAL_MEM, (machine.memory >> 10).to_le_bytes().to_vec());
        let mut words = Words::default();
        words.u32(machine.command.len() as u32);
        for word in &machine.command {
            words.string(word);
        }
        self.feature(feature::CMDLINE, words.0);
        let mut words = Words::default();
        words.u32(E_MACHINE_AARCH64).u32(0);
        self.feature(feature::E_MACHINE, words.0);
        self.feature(feature::CACHE_LINE, LINE_BYTES.to_le_bytes().to_vec());
    }

    /// Adds the topology: one socket, one node, one thread per core.
    fn describe_topology(&mut self, machine: &Machine) {
        let last = machine.cpus.saturating_sub(1);
        let all = if last == 0 { "0".to_owned() } else { format!("0-{last}") };
        let mut words = Words::default();
        words.u32(1).string(&all).u32(machine.cpus);
        for cpu in 0..machine.cpus {
            words.string(&cpu.to_string());
        }
        for cpu in 0..machine.cpus {
            words.u32(cpu).u32(0);
        }
        self.feature(feature::CPU_TOPOLOGY, words.0);
        let kilobytes = machine.memory >> 10;
        let mut words = Words::default();
        words.u32(1).u32(0).u64(kilobytes).u64(kilobytes).string(&all);
        self.feature(feature::NUMA_TOPOLOGY, words.0);
        let blocks = machine.memory.div_ceil(MEMORY_BLOCK_BYTES).max(1);
        let mut words = Words::default();
        words.u64(1).u64(MEMORY_BLOCK_BYTES).u64(1).u64(0).u64(blocks).u64(blocks);
        for first in (0..blocks).step_by(64) {
            let left = blocks - first;
            words.u64(if left >= 64 { u64::MAX } else { (1 << left) - 1 });
        }
        self.feature(feature::MEM_TOPOLOGY, words.0);
    }

    fn describe_pmus(&mut self, cpu: &Cpu) {
        let pmus = [
            (super::attr::kind::SOFTWARE, "software"),
            (super::attr::kind::CORE_PMU, cpu.pmu),
            (super::attr::kind::SPE, "arm_spe_0"),
        ];
        let pmus = &pmus[..if cpu.has_spe { 3 } else { 2 }];
        let mut words = Words::default();
        words.u32(pmus.len() as u32);
        for (number, name) in pmus {
            words.u32(*number).string(name);
        }
        self.feature(feature::PMU_MAPPINGS, words.0);
    }
}
