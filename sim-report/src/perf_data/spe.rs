//! A profile of the Statistical Profiling Extension as `perf record -e arm_spe_0//` writes it: the bytes of
//! each processor's buffer, and what is needed to decode them.

use super::attr::{Attr, DUMMY, flag, kind, sample_type};
use super::records::{Aux, Mapping, Stamp, aux_flag, nanoseconds};
use super::{Machine, PerfData};

/// Number of this kind of AUX data.
pub(crate) const AUXTRACE_ARM_SPE: u32 = 4;
/// Most bytes of an AUXTRACE record; no record of the stream straddles two, for it is a multiple of 64.
const AUX_BYTES: usize = 1 << 20;
/// First words of a processor's part of the metadata in its second version.
const METADATA_MAGIC: u64 = 0x1010_1010_1010_1010;
const METADATA_VERSION: u64 = 2;

/// Which form the description of the AUX data has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    /// Read by every version of perf.
    #[default]
    V1,
    /// Read by perf after 6.12 only; says the identity of each processor.
    V2,
}

/// What one service of the interrupt handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuxChunk {
    /// When, in ticks of the generic timer.
    pub time: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Something behind them was lost.
    pub truncated: bool,
    /// Samples have collided.
    pub collided: bool,
}

/// A thread, on its processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpeThread {
    /// Its number; that of the first is the process.
    pub tid: u32,
    /// What its unit wrote, in order.
    pub chunks: Vec<AuxChunk>,
}

/// A whole profile.
#[derive(Clone, Debug, Default)]
pub struct SpeProfile {
    /// The event as its user named it.
    pub event: String,
    /// `config`, `config1` and `config2` of `arm_spe_0`.
    pub config: [u64; 3],
    /// Operations from one sample to the next.
    pub period: u64,
    /// Bits of [`flag`]: levels that are left out.
    pub excluded: u64,
    /// Rate of the generic timer.
    pub counter_hz: u64,
    /// Its reading when the program began, and when it ended.
    pub times: (u64, u64),
    /// Shortest interval of the unit.
    pub min_interval: u64,
    /// Name of the program.
    pub comm: String,
    /// Number of its process.
    pub pid: u32,
    /// What is mapped.
    pub mappings: Vec<Mapping>,
    /// Its threads, processor by processor.
    pub threads: Vec<SpeThread>,
    /// Form of the metadata.
    pub metadata: Metadata,
}

impl SpeProfile {
    /// The profile as a perf.data file of this machine.
    pub fn perf_data(&self, machine: &Machine) -> PerfData {
        let mut file = PerfData::new(self.attrs());
        file.describe(machine);
        file.id_index();
        file.time_conv(self.counter_hz);
        file.auxtrace_info(&self.metadata_words(machine.midr));
        file.thread_map(self.pid, &self.comm);
        file.cpu_map(self.threads.len().try_into().unwrap_or(u16::MAX));
        self.begin(&mut file);
        for (cpu, thread) in (0..).zip(&self.threads) {
            self.chunks(thread, cpu, &mut file);
        }
        let end = nanoseconds(self.times.1, self.counter_hz);
        for (cpu, thread) in self.threads.iter().enumerate().rev() {
            file.exit(self.pid, &self.stamp(thread.tid, cpu as u32, end));
        }
        file.finished_round();
        file
    }

    fn attrs(&self) -> Vec<Attr> {
        let cpus = self.threads.len() as u64;
        let common = flag::INHERIT | flag::SAMPLE_ID_ALL | self.excluded;
        let samples = sample_type::TRAILER | sample_type::IP | sample_type::ADDR;
        let costs = sample_type::DATA_SRC | sample_type::WEIGHT | sample_type::PHYS_ADDR;
        let spe = Attr {
            name: self.event.clone(),
            kind: kind::SPE,
            config: self.config,
            period: self.period,
            sample_type: samples | costs,
            flags: common | flag::DISABLED | flag::ENABLE_ON_EXEC,
            ids: (1..=cpus).collect(),
            ..Attr::default()
        };
        let told = flag::MMAP | flag::MMAP_DATA | flag::MMAP2 | flag::COMM | flag::COMM_EXEC;
        let dummy = Attr {
            name: String::from("dummy:u"),
            kind: kind::SOFTWARE,
            config: [DUMMY, 0, 0],
            period: 1,
            sample_type: sample_type::TRAILER | sample_type::IP,
            flags: common | told | flag::TASK | flag::CONTEXT_SWITCH,
            ids: (cpus + 1..=2 * cpus).collect(),
            ..Attr::default()
        };
        vec![spe, dummy]
    }

    fn metadata_words(&self, midr: u64) -> Vec<u64> {
        let pmu = u64::from(kind::SPE);
        match self.metadata {
            Metadata::V1 => vec![pmu, 1],
            Metadata::V2 => {
                let cpus = self.threads.len() as u64;
                let mut words = vec![METADATA_VERSION, 4, pmu, cpus];
                for cpu in 0..cpus {
                    let (interval, filter) = (self.min_interval, self.config[1]);
                    words.extend([METADATA_MAGIC, cpu, 4, midr, pmu, interval, filter]);
                }
                words
            }
        }
    }

    /// Side records of the program's start are the second event's.
    fn stamp(&self, tid: u32, cpu: u32, time: u64) -> Stamp {
        let id = self.threads.len() as u64 + u64::from(cpu) + 1;
        Stamp { pid: self.pid, tid, time, cpu, id }
    }

    fn begin(&self, file: &mut PerfData) {
        let time = nanoseconds(self.times.0, self.counter_hz);
        let first = self.stamp(self.pid, 0, time);
        file.comm(&self.comm, true, &first);
        for mapping in &self.mappings {
            file.mmap2(mapping, &first);
        }
        for (cpu, thread) in (0..).zip(&self.threads) {
            let stamp = self.stamp(thread.tid, cpu, time);
            if thread.tid != self.pid {
                file.fork(self.pid, &stamp);
                file.comm(&self.comm, false, &stamp);
            }
            file.itrace_start(&Stamp { id: u64::from(cpu) + 1, ..stamp });
        }
        file.finished_init();
    }

    fn chunks(&self, thread: &SpeThread, cpu: u32, file: &mut PerfData) {
        let mut offset = 0;
        for chunk in &thread.chunks {
            let time = nanoseconds(chunk.time, self.counter_hz);
            let stamp = Stamp { id: u64::from(cpu) + 1, ..self.stamp(thread.tid, cpu, time) };
            let lost = if chunk.truncated { aux_flag::TRUNCATED } else { 0 };
            let flags = lost | if chunk.collided { aux_flag::COLLISION } else { 0 };
            for bytes in chunk.bytes.chunks(AUX_BYTES) {
                file.aux(&Aux { offset, flags, bytes }, &stamp);
                offset += bytes.len() as u64;
            }
        }
    }
}
