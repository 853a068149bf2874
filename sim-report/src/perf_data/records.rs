//! Records of a perf.data file, one method for each type. Records of the kernel end with a
//! [`Stamp`].

use super::PerfData;
use super::words::Words;

/// Bytes of the header of every record.
const HEAD_BYTES: usize = 8;
/// Bytes of a thread's name.
const COMM_BYTES: usize = 16;
/// Bytes of the longest path that is written.
const PATH_BYTES: usize = 4095;
/// CPUs of the longest list that is written.
const CPUS_MAX: u16 = 4096;
/// `prot` of mapped code.
const PROT_READ_EXECUTE: u32 = 5;
/// `prot` of mapped data.
const PROT_READ_WRITE: u32 = 3;
/// `flags` of a private mapping.
const MAP_PRIVATE: u32 = 2;
/// CONTEXT before the user part of a call chain.
const CONTEXT_USER: u64 = 0xffff_ffff_ffff_fe00;
/// CONTEXT before the kernel part of a call chain.
const CONTEXT_KERNEL: u64 = 0xffff_ffff_ffff_ff80;

/// Record types.
mod kind {
    pub(super) const COMM: u32 = 3;
    pub(super) const EXIT: u32 = 4;
    pub(super) const FORK: u32 = 7;
    pub(super) const SAMPLE: u32 = 9;
    pub(super) const MMAP2: u32 = 10;
    pub(super) const AUX: u32 = 11;
    pub(super) const ITRACE_START: u32 = 12;
    pub(super) const FINISHED_ROUND: u32 = 68;
    pub(super) const ID_INDEX: u32 = 69;
    pub(super) const AUXTRACE_INFO: u32 = 70;
    pub(super) const AUXTRACE: u32 = 71;
    pub(super) const THREAD_MAP: u32 = 73;
    pub(super) const CPU_MAP: u32 = 74;
    pub(super) const TIME_CONV: u32 = 79;
    pub(super) const FINISHED_INIT: u32 = 82;
}

/// Bits of `misc` in the header of a record.
mod misc {
    pub(super) const KERNEL: u16 = 1;
    pub(super) const USER: u16 = 2;
    /// The name was set by the start of a program.
    pub(super) const COMM_EXEC: u16 = 1 << 13;
    /// The mapping holds data.
    pub(super) const MMAP_DATA: u16 = 1 << 13;
}

/// Time, CPU, thread and event of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Time, in nanoseconds.
    pub time: u64,
    /// CPU.
    pub cpu: u32,
    /// Number of the event that the record belongs to.
    pub id: u64,
}

/// Part of a file mapped into a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Whether it holds code.
    pub is_code: bool,
    /// Path of the file, or `//anon`.
    pub path: String,
}

/// Sample of an event that overflowed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Address of the instruction.
    pub ip: u64,
    /// Whether the instruction ran above EL0.
    pub is_kernel: bool,
    /// Events since the previous sample.
    pub period: u64,
    /// Return addresses, innermost first.
    pub callers: Vec<u64>,
}

/// Part of an SPE buffer that one interrupt drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aux<'a> {
    /// Offset of the first byte in everything that the CPU has recorded.
    pub offset: u64,
    /// Bits of [`aux_flag`].
    pub flags: u64,
    /// Content.
    pub bytes: &'a [u8],
}

/// Flags of an AUX record.
pub mod aux_flag {
    /// Data after this record was lost.
    pub const TRUNCATED: u64 = 1 << 0;
    /// Samples collided.
    pub const COLLISION: u64 = 1 << 3;
}

impl PerfData {
    /// Adds a record of the tool. Its body fits 16 bits of length.
    pub(super) fn record(&mut self, kind: u32, misc: u16, body: &Words) {
        let bytes = u16::try_from(body.0.len() + HEAD_BYTES).expect("the callers bound every body");
        let mut head = Words::default();
        head.u32(kind).u16(misc).u16(bytes);
        self.data.extend_from_slice(&head.0);
        self.data.extend_from_slice(&body.0);
    }

    /// Adds a record of the kernel: the body, followed by its stamp.
    fn stamped(&mut self, kind: u32, misc: u16, mut body: Words, stamp: &Stamp) {
        body.u32(stamp.pid).u32(stamp.tid).u64(stamp.time).u32(stamp.cpu).u32(0).u64(stamp.id);
        self.record(kind, misc, &body);
    }

    fn note_time(&mut self, time: u64) {
        self.first_time.get_or_insert(time);
        self.last_time = self.last_time.max(time);
    }

    /// Adds the index of events and CPUs by id.
    pub fn id_index(&mut self) {
        // A record holds more than 2000 entries, and a trace has fewer threads.
        for attr in 0..self.attrs.len() {
            for first in (0..self.attrs[attr].ids.len()).step_by(1024) {
                let ids = &self.attrs[attr].ids[first..];
                let ids = &ids[..ids.len().min(1024)];
                let mut body = Words::default();
                body.u64(ids.len() as u64);
                for (id, cpu) in ids.iter().zip(first as u64..) {
                    body.u64(*id).u64(cpu).u64(cpu).u64(u64::MAX);
                }
                self.record(kind::ID_INDEX, 0, &body);
            }
        }
    }

    /// Adds the conversion of the generic timer at this rate to nanoseconds.
    pub fn time_conv(&mut self, counter_hz: u64) {
        let (shift, mult) = time_factors(counter_hz);
        let mut body = Words::default();
        body.u64(shift.into()).u64(mult.into()).u64(0).u64(0).u64((1 << 56) - 1);
        body.bytes(&[1, 0, 0, 0, 0, 0, 0, 0]);
        self.record(kind::TIME_CONV, 0, &body);
    }

    /// Adds the description of SPE's AUX data, with the words of its metadata version.
    pub fn auxtrace_info(&mut self, words: &[u64]) {
        let mut body = Words::default();
        body.u32(super::spe::AUXTRACE_ARM_SPE).u32(0);
        for word in words {
            body.u64(*word);
        }
        self.record(kind::AUXTRACE_INFO, 0, &body);
    }

    /// Adds the profiled process.
    pub fn thread_map(&mut self, pid: u32, comm: &str) {
        let mut body = Words::default();
        body.u64(1).u64(pid.into()).field(comm, COMM_BYTES);
        self.record(kind::THREAD_MAP, 0, &body);
    }

    /// Adds the profiled CPUs.
    pub fn cpu_map(&mut self, cpus: u16) {
        let mut body = Words::default();
        let cpus = cpus.min(CPUS_MAX);
        body.u16(0).u16(cpus);
        for cpu in 0..cpus {
            body.u16(cpu);
        }
        let padded = body.0.len().next_multiple_of(8);
        body.0.resize(padded, 0);
        self.record(kind::CPU_MAP, 0, &body);
    }

    /// Adds a CPU map for tasks that are profiled on any CPU.
    pub(super) fn no_cpu_map(&mut self) {
        let mut body = Words::default();
        body.u16(0).u16(1).u16(u16::MAX).u16(0);
        self.record(kind::CPU_MAP, 0, &body);
    }

    /// Adds a thread's name. `is_exec` marks the start of a program.
    pub fn comm(&mut self, name: &str, is_exec: bool, stamp: &Stamp) {
        let mut short = Words::default();
        short.field(name, COMM_BYTES);
        let mut body = Words::default();
        body.u32(stamp.pid).u32(stamp.tid).bytes(&short.0);
        self.stamped(kind::COMM, if is_exec { misc::COMM_EXEC } else { 0 }, body, stamp);
    }

    /// Adds a mapping of a process. A path longer than Linux allows is cut.
    pub fn mmap2(&mut self, mapping: &Mapping, stamp: &Stamp) {
        let prot = if mapping.is_code { PROT_READ_EXECUTE } else { PROT_READ_WRITE };
        let path = &mapping.path.as_bytes()[..mapping.path.len().min(PATH_BYTES)];
        let mut body = Words::default();
        body.u32(stamp.pid).u32(stamp.tid);
        body.u64(mapping.start).u64(mapping.bytes).u64(mapping.offset);
        // Device and inode: readers identify files by their names.
        body.u32(0).u32(0).u64(0).u64(0).u32(prot).u32(MAP_PRIVATE).name(path);
        let data = if mapping.is_code { 0 } else { misc::MMAP_DATA };
        self.stamped(kind::MMAP2, misc::USER | data, body, stamp);
    }

    /// Adds the start of a thread.
    pub fn fork(&mut self, parent: u32, stamp: &Stamp) {
        self.task(kind::FORK, parent, stamp);
    }

    /// Adds the end of a thread.
    pub fn exit(&mut self, parent: u32, stamp: &Stamp) {
        self.task(kind::EXIT, parent, stamp);
    }

    fn task(&mut self, kind: u32, parent: u32, stamp: &Stamp) {
        let mut body = Words::default();
        body.u32(stamp.pid).u32(stamp.pid).u32(stamp.tid).u32(parent).u64(stamp.time);
        self.stamped(kind, 0, body, stamp);
    }

    /// Adds the start of a thread's AUX data on a CPU.
    pub fn itrace_start(&mut self, stamp: &Stamp) {
        let mut body = Words::default();
        body.u32(stamp.pid).u32(stamp.tid);
        self.stamped(kind::ITRACE_START, 0, body, stamp);
    }

    /// Adds the bytes that an interrupt drained, with the record of the interrupt.
    pub fn aux(&mut self, aux: &Aux<'_>, stamp: &Stamp) {
        let bytes = aux.bytes.len() as u64;
        let mut body = Words::default();
        body.u64(aux.offset).u64(bytes).u64(aux.flags);
        self.stamped(kind::AUX, 0, body, stamp);
        let mut body = Words::default();
        body.u64(bytes).u64(aux.offset).u64(self.auxtraces.len() as u64);
        body.u32(stamp.cpu).u32(u32::MAX).u32(stamp.cpu).u32(0);
        self.auxtraces.push((self.data.len() as u64, (body.0.len() + HEAD_BYTES) as u64));
        self.record(kind::AUXTRACE, 0, &body);
        self.data.extend_from_slice(aux.bytes);
        self.note_time(stamp.time);
    }

    /// Adds a sample with the fields of the overflow profile's `SAMPLE_TYPE`.
    pub fn sample(&mut self, sample: &Sample, stamp: &Stamp) {
        let context = if sample.is_kernel { CONTEXT_KERNEL } else { CONTEXT_USER };
        let callers = &sample.callers[..sample.callers.len().min(super::overflow::CALLERS_MAX)];
        let mut body = Words::default();
        body.u64(stamp.id).u64(sample.ip).u32(stamp.pid).u32(stamp.tid).u64(stamp.time);
        body.u32(stamp.cpu).u32(0).u64(sample.period);
        body.u64(callers.len() as u64 + 2).u64(context).u64(sample.ip);
        for caller in callers {
            body.u64(*caller);
        }
        let level = if sample.is_kernel { misc::KERNEL } else { misc::USER };
        self.record(kind::SAMPLE, level, &body);
        self.note_time(stamp.time);
    }

    /// Ends a round: no later record is older than the records before it.
    pub fn finished_round(&mut self) {
        self.record(kind::FINISHED_ROUND, 0, &Words::default());
    }

    /// Ends the synthesized records of the start.
    pub fn finished_init(&mut self) {
        self.record(kind::FINISHED_INIT, 0, &Words::default());
    }
}

/// Returns shift and factor that convert ticks to nanoseconds: `(ticks * factor) >> shift`, as
/// exact as 32 bits allow.
fn time_factors(counter_hz: u64) -> (u32, u32) {
    let hz = u128::from(counter_hz.max(1));
    let at = |shift: u32| ((1_000_000_000_u128 << shift) + hz / 2) / hz;
    let found = (0..32).rev().find_map(|shift| u32::try_from(at(shift)).ok().map(|m| (shift, m)));
    found.unwrap_or((0, u32::MAX))
}

/// Converts a reading of the generic timer to nanoseconds, as readers do with TIME_CONV.
pub fn nanoseconds(ticks: u64, counter_hz: u64) -> u64 {
    let (shift, mult) = time_factors(counter_hz);
    let low = ticks & ((1 << shift) - 1);
    (ticks >> shift).wrapping_mul(mult.into()).wrapping_add((low * u64::from(mult)) >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_nanoseconds() {
        assert_eq!(time_factors(25_000_000), (26, 2_684_354_560));
        assert_eq!(nanoseconds(1_000_001_000, 1_000_000_000), 1_000_001_000);
        assert_eq!(nanoseconds(25_000_001, 25_000_000), 1_000_000_040);
        assert_eq!(nanoseconds(5, 1), 5_000_000_000);
        for hz in [1_000_000, 54_000_000, 10_000_000_000] {
            let off = nanoseconds(hz * 1000, hz).abs_diff(1_000_000_000_000);
            assert!(off < 1000, "{hz}: {off} ns in 1000 s");
        }
    }
}
