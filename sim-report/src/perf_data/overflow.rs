//! Profile of counter overflows, as `perf record -e EVENT -c PERIOD -g` writes it: one sample for
//! each overflow, with its call chain.

use super::attr::{Attr, flag, kind, sample_type};
use super::records::{Mapping, Sample, Stamp};
use super::{Machine, PerfData};

/// Fields of a sample.
pub(crate) const SAMPLE_TYPE: u64 =
    sample_type::TRAILER | sample_type::IP | sample_type::CALLCHAIN | sample_type::PERIOD;
/// Most callers of a chain: readers accept 127 addresses, one of them the instruction itself.
pub const CALLERS_MAX: usize = 126;

/// Event whose overflows were sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverflowEvent {
    /// Name as the user wrote it.
    pub name: String,
    /// Event number.
    pub code: u16,
    /// Events between two samples.
    pub period: u64,
    /// Bits of [`flag`] for excluded levels.
    pub excluded: u64,
}

/// Sample with its event, thread and time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverflowSample {
    /// Index of the event in the profile.
    pub event: usize,
    /// Index of the thread in the profile.
    pub thread: usize,
    /// Time, in nanoseconds.
    pub time: u64,
    /// Content of the sample.
    pub sample: Sample,
}

/// Profile of a run.
#[derive(Clone, Debug, Default)]
pub struct OverflowProfile {
    /// Events.
    pub events: Vec<OverflowEvent>,
    /// Name of the program.
    pub comm: String,
    /// Thread numbers, CPU by CPU; the first one is the process.
    pub tids: Vec<u32>,
    /// Mappings of files.
    pub mappings: Vec<Mapping>,
    /// Times of the program's start and end, in nanoseconds.
    pub times: (u64, u64),
    /// Samples, in order of time.
    pub samples: Vec<OverflowSample>,
}

impl OverflowProfile {
    /// Returns the profile as a perf.data file of this machine.
    pub fn perf_data(&self, machine: &Machine) -> PerfData {
        let mut file = PerfData::new(self.attrs());
        file.describe(machine);
        file.id_index();
        file.thread_map(self.pid(), &self.comm);
        file.cpu_map(self.tids.len().try_into().unwrap_or(u16::MAX));
        self.begin(&mut file);
        for OverflowSample { event, thread, time, sample } in &self.samples {
            file.sample(sample, &self.stamp(*event, *thread, *time));
        }
        for thread in (0..self.tids.len()).rev() {
            file.exit(self.pid(), &self.stamp(0, thread, self.times.1));
        }
        file.finished_round();
        file
    }

    fn pid(&self) -> u32 {
        self.tids.first().copied().unwrap_or_default()
    }

    fn attrs(&self) -> Vec<Attr> {
        let recorded =
            flag::MMAP | flag::MMAP_DATA | flag::MMAP2 | flag::COMM | flag::COMM_EXEC | flag::TASK;
        let common = flag::DISABLED | flag::INHERIT | flag::ENABLE_ON_EXEC | flag::SAMPLE_ID_ALL;
        let attr = |(index, event): (usize, &OverflowEvent)| Attr {
            name: event.name.clone(),
            kind: kind::CORE_PMU,
            config: [event.code.into(), 0, 0],
            period: event.period,
            sample_type: SAMPLE_TYPE,
            flags: common | event.excluded | if index == 0 { recorded } else { 0 },
            ids: (0..self.tids.len()).map(|thread| self.id(index, thread)).collect(),
            ..Attr::default()
        };
        self.events.iter().enumerate().map(attr).collect()
    }

    fn id(&self, event: usize, thread: usize) -> u64 {
        (event * self.tids.len() + thread) as u64 + 1
    }

    fn stamp(&self, event: usize, thread: usize, time: u64) -> Stamp {
        let tid = self.tids.get(thread).copied().unwrap_or_default();
        Stamp { pid: self.pid(), tid, time, cpu: thread as u32, id: self.id(event, thread) }
    }

    fn begin(&self, file: &mut PerfData) {
        let first = self.stamp(0, 0, self.times.0);
        file.comm(&self.comm, true, &first);
        for mapping in &self.mappings {
            file.mmap2(mapping, &first);
        }
        for thread in 1..self.tids.len() {
            let stamp = self.stamp(0, thread, self.times.0);
            file.fork(self.pid(), &stamp);
            file.comm(&self.comm, false, &stamp);
        }
        file.finished_init();
    }
}
