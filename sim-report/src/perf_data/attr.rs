//! `perf_event_attr`: the event that an attribute of a perf.data file counts, and the fields of its
//! samples.

use super::words::Words;

/// Bytes of the fifth version of the attribute, which every later reader accepts.
const ATTR_BYTES: u32 = 112;
/// Bytes of an entry of the file: the attribute, and the location of its ids.
pub(crate) const ENTRY_BYTES: u64 = ATTR_BYTES as u64 + 16;

/// Kinds of events.
pub mod kind {
    /// Event that every CPU has.
    pub const HARDWARE: u32 = 0;
    /// Event of the kernel.
    pub const SOFTWARE: u32 = 1;
    /// Event of the core's PMU, by number.
    pub const RAW: u32 = 4;
    /// Event of the PMU `armv8_pmuv3_0`, by its number in the file.
    pub const CORE_PMU: u32 = 8;
    /// Event of the PMU `arm_spe_0`, by its number in the file.
    pub const SPE: u32 = 9;
}

/// `config` of the software event that counts nothing and owns side records.
pub const DUMMY: u64 = 9;

/// Bits of `sample_type`: the fields of a sample.
pub mod sample_type {
    /// Address of the instruction.
    pub const IP: u64 = 1 << 0;
    /// Process and thread.
    pub const TID: u64 = 1 << 1;
    /// Time in nanoseconds.
    pub const TIME: u64 = 1 << 2;
    /// Address of the data.
    pub const ADDR: u64 = 1 << 3;
    /// Chain of calls.
    pub const CALLCHAIN: u64 = 1 << 5;
    /// CPU.
    pub const CPU: u64 = 1 << 7;
    /// Events since the previous sample.
    pub const PERIOD: u64 = 1 << 8;
    /// Cost.
    pub const WEIGHT: u64 = 1 << 14;
    /// Source of the data.
    pub const DATA_SRC: u64 = 1 << 15;
    /// Event, at the same position in every record.
    pub const IDENTIFIER: u64 = 1 << 16;
    /// Physical address of the data.
    pub const PHYS_ADDR: u64 = 1 << 19;
    /// Fields at the end of every record of the kernel in the files of n2sim.
    pub const TRAILER: u64 = TID | TIME | CPU | IDENTIFIER;
}

/// Bits of the word of flags.
pub mod flag {
    /// Disabled until enabled.
    pub const DISABLED: u64 = 1 << 0;
    /// Threads that start later count too.
    pub const INHERIT: u64 = 1 << 1;
    /// Does not count at EL0.
    pub const EXCLUDE_USER: u64 = 1 << 4;
    /// Does not count at EL1.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// Does not count at EL2.
    pub const EXCLUDE_HV: u64 = 1 << 6;
    /// Mappings of code are recorded.
    pub const MMAP: u64 = 1 << 8;
    /// Names of threads are recorded.
    pub const COMM: u64 = 1 << 9;
    /// Enabled when the program starts.
    pub const ENABLE_ON_EXEC: u64 = 1 << 12;
    /// Starts and ends of threads are recorded.
    pub const TASK: u64 = 1 << 13;
    /// Mappings of data are recorded.
    pub const MMAP_DATA: u64 = 1 << 17;
    /// Every record of the kernel ends with time, CPU, thread and event.
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// Mappings are recorded with their file.
    pub const MMAP2: u64 = 1 << 23;
    /// A name set by the start of a program is marked.
    pub const COMM_EXEC: u64 = 1 << 24;
    /// Context switches are recorded.
    pub const CONTEXT_SWITCH: u64 = 1 << 26;
}

/// Event of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attr {
    /// Name that readers print.
    pub name: String,
    /// One of [`kind`].
    pub kind: u32,
    /// `config`, `config1` and `config2`.
    pub config: [u64; 3],
    /// Events between two samples.
    pub period: u64,
    /// Bits of [`sample_type`].
    pub sample_type: u64,
    /// Values of a reading.
    pub read_format: u64,
    /// Bits of [`flag`].
    pub flags: u64,
    /// Numbers that identify it in records, one for each CPU.
    pub ids: Vec<u64>,
}

impl Attr {
    /// Returns the attribute as stored in the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let [config, config1, config2] = self.config;
        let mut words = Words::default();
        words.u32(self.kind).u32(ATTR_BYTES).u64(config).u64(self.period);
        words.u64(self.sample_type).u64(self.read_format).u64(self.flags);
        // Wakeup and kind of breakpoint, then fields of breakpoints and branch stacks.
        words.u32(0).u32(0).u64(config1).u64(config2);
        words.0.resize(ATTR_BYTES as usize, 0);
        words.0
    }
}

/// Returns the feature that names the events.
pub(crate) fn descriptions(attrs: &[Attr]) -> Vec<u8> {
    let mut words = Words::default();
    words.u32(attrs.len() as u32).u32(ATTR_BYTES);
    for attr in attrs {
        words.bytes(&attr.encode()).u32(attr.ids.len() as u32).string(&attr.name);
        for id in &attr.ids {
            words.u64(*id);
        }
    }
    words.0
}
