//! `perf_event_attr`: what an event of a perf.data file counts and what its samples hold.

use super::words::Words;

/// Bytes of the attribute in the form of its fifth version, which every later reader takes.
const ATTR_BYTES: u32 = 112;
/// Bytes of an entry of the file: the attribute, and where its ids are.
pub(crate) const ENTRY_BYTES: u64 = ATTR_BYTES as u64 + 16;

/// What kind of event an attribute is.
pub mod kind {
    /// One of the events that every processor has.
    pub const HARDWARE: u32 = 0;
    /// An event of the kernel.
    pub const SOFTWARE: u32 = 1;
    /// The core's PMU, by number.
    pub const RAW: u32 = 4;
    /// The PMU `armv8_pmuv3_0`, as this file numbers it.
    pub const CORE_PMU: u32 = 8;
    /// The PMU `arm_spe_0`, as this file numbers it.
    pub const SPE: u32 = 9;
}

/// `config` of the software event that counts nothing and carries side records.
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
    /// Processor.
    pub const CPU: u64 = 1 << 7;
    /// Events since the sample before.
    pub const PERIOD: u64 = 1 << 8;
    /// A cost.
    pub const WEIGHT: u64 = 1 << 14;
    /// Where the data came from.
    pub const DATA_SRC: u64 = 1 << 15;
    /// The event, at the same place in every record.
    pub const IDENTIFIER: u64 = 1 << 16;
    /// Physical address of the data.
    pub const PHYS_ADDR: u64 = 1 << 19;
    /// What every record of the kernel ends with in our files.
    pub const TRAILER: u64 = TID | TIME | CPU | IDENTIFIER;
}

/// Bits of the word of flags.
pub mod flag {
    /// Off until told otherwise.
    pub const DISABLED: u64 = 1 << 0;
    /// Threads that are started later count too.
    pub const INHERIT: u64 = 1 << 1;
    /// Not at EL0.
    pub const EXCLUDE_USER: u64 = 1 << 4;
    /// Not at EL1.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// Not at EL2.
    pub const EXCLUDE_HV: u64 = 1 << 6;
    /// Mappings of code are told.
    pub const MMAP: u64 = 1 << 8;
    /// Names of threads are told.
    pub const COMM: u64 = 1 << 9;
    /// On when the program begins.
    pub const ENABLE_ON_EXEC: u64 = 1 << 12;
    /// Starts and ends of threads are told.
    pub const TASK: u64 = 1 << 13;
    /// Mappings of data are told.
    pub const MMAP_DATA: u64 = 1 << 17;
    /// Every record of the kernel says when, where and of whom it is.
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// Mappings are told with their file.
    pub const MMAP2: u64 = 1 << 23;
    /// A name that comes of starting a program is marked so.
    pub const COMM_EXEC: u64 = 1 << 24;
    /// Changes of thread are told.
    pub const CONTEXT_SWITCH: u64 = 1 << 26;
}

/// An event of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attr {
    /// Its name as readers print it.
    pub name: String,
    /// One of [`kind`].
    pub kind: u32,
    /// `config`, `config1` and `config2`.
    pub config: [u64; 3],
    /// Events from one sample to the next.
    pub period: u64,
    /// Bits of [`sample_type`].
    pub sample_type: u64,
    /// Which values a reading holds.
    pub read_format: u64,
    /// Bits of [`flag`].
    pub flags: u64,
    /// Numbers that records name it by, one for each processor.
    pub ids: Vec<u64>,
}

impl Attr {
    /// As the file holds it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let [config, config1, config2] = self.config;
        let mut words = Words::default();
        words.u32(self.kind).u32(ATTR_BYTES).u64(config).u64(self.period);
        words.u64(self.sample_type).u64(self.read_format).u64(self.flags);
        // Wakeup and kind of breakpoint, then what breakpoints and branch stacks would use.
        words.u32(0).u32(0).u64(config1).u64(config2);
        words.0.resize(ATTR_BYTES as usize, 0);
        words.0
    }
}

/// The feature that names the events.
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
