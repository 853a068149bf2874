//! Profile of the Statistical Profiling Extension, as `perf record -e arm_spe_0//` writes it: the
//! bytes of each CPU's buffer, and the records needed to decode them.

use super::attr::{Attr, DUMMY, flag, kind, sample_type};
use super::records::{Aux, Mapping, Stamp, aux_flag, nanoseconds};
use super::{Machine, PerfData};

/// Type number of SPE's AUX data.
pub(crate) const AUXTRACE_ARM_SPE: u32 = 4;
/// Most bytes of an AUXTRACE record. The value is a multiple of 64, so that no SPE record straddles
/// two.
const AUX_BYTES: usize = 1 << 20;
/// First word of a CPU's part of the metadata in its second version.
const METADATA_MAGIC: u64 = 0x1010_1010_1010_1010;
/// Second version of the metadata.
const METADATA_VERSION: u64 = 2;

/// Version of the description of the AUX data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metadata {
    /// Version that every perf reads.
    #[default]
    V1,
    /// Version that only perf after 6.12 reads; includes the identity of each CPU.
    V2,
}

/// Part of a buffer that one interrupt drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuxChunk {
    /// Time, in ticks of the generic timer.
    pub time: u64,
    /// Content.
    pub bytes: Vec<u8>,
    /// Whether data after it was lost.
    pub truncated: bool,
    /// Whether samples collided.
    pub collided: bool,
}

/// Thread on its CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpeThread {
    /// Thread number; the first thread's is the process number.
    pub tid: u32,
    /// Output of its SPE unit, in order.
    pub chunks: Vec<AuxChunk>,
}

/// Profile of a run.
#[derive(Clone, Debug, Default)]
pub struct SpeProfile {
    /// Event as the user named it.
    pub event: String,
    /// `config`, `config1` and `config2` of `arm_spe_0`.
    pub config: [u64; 3],
    /// Operations between two samples.
    pub period: u64,
    /// Bits of [`flag`] for excluded levels.
    pub excluded: u64,
    /// Frequency of the generic timer.
    pub counter_hz: u64,
    /// Readings of the generic timer at the start and the end of the program.
    pub times: (u64, u64),
    /// Shortest interval of the unit.
    pub min_interval: u64,
    /// Name of the program.
    pub comm: String,
    /// Process number.
    pub pid: u32,
    /// Mappings of files.
    pub mappings: Vec<Mapping>,
    /// Threads, CPU by CPU.
    pub threads: Vec<SpeThread>,
    /// Version of the metadata.
    pub metadata: Metadata,
}

impl SpeProfile {
    /// Returns the profile as a perf.data file of this machine.
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
        let recorded = flag::MMAP | flag::MMAP_DATA | flag::MMAP2 | flag::COMM | flag::COMM_EXEC;
        let dummy = Attr {
            name: String::from("dummy:u"),
            kind: kind::SOFTWARE,
            config: [DUMMY, 0, 0],
            period: 1,
            sample_type: sample_type::TRAILER | sample_type::IP,
            flags: common | recorded | flag::TASK | flag::CONTEXT_SWITCH,
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

    /// Returns the stamp of a side record, which belongs to the second event.
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
