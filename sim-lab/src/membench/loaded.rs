//! Latency and bandwidth of memory under the load of many cores. The cores are generators of
//! requests without pipelines: streams with a pause between two lines, and beside them a chase,
//! each of whose reads waits for the previous one.
//!
//! The core whose next read is due first goes first, so requests come in time order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sim_cache::MemorySystem;
use sim_cache::config::BusUnit;
use sim_core::{
    Counts, Cycle, DataSource, LINE_BYTES, MemKind, MemReply, MemRequest, MemoryPort, PmuEvent,
    VirtAddr,
};
use sim_machine::config::MachineConfig;

use super::latency::Setting;

/// Cores of the machine; those that run are spread over them evenly.
pub const CORES: usize = 128;
/// Lines of a stream between the oldest that has not come and the next one. Assumed: the reorder
/// buffer holds about as many, at ten operations a line.
const LINES_AHEAD: usize = 32;
/// Cycles between two lines of a stream that does not pause: four loads of 16 bytes, two a cycle.
pub const NO_PAUSE: Cycle = 2;
/// Bytes of the chase that the system level cache holds.
const CHASED_BYTES: u64 = 4 << 20;
/// Bytes of the chase in memory, which no cache holds at the start.
const CHASED_BYTES_OF_MEMORY: u64 = 64 << 20;
/// Cycles before each measurement in which the load becomes steady, and cycles of the measurement.
const WINDOW: (Cycle, Cycle) = (20_000, 60_000);

/// Stores to each line of a stream that writes.
const STORES_OF_A_LINE: u64 = LINE_BYTES / 16;
/// Line at which the copy of a buffer begins, 2 GiB after the buffer.
const COPY_BEGINS: u64 = (2 << 30) / LINE_BYTES;

/// Lines that each pair of cores hands over, so that several home nodes take part.
const LINES_OF_A_PAIR: u64 = 8;

/// Supplier of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// The system level cache: each stream reads a buffer of this many bytes again and again.
    Slc(u64),
    /// Memory: no stream reads a line twice.
    Dram,
}

/// Accesses of a stream to each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Reads it.
    Read,
    /// Writes a word of each 16 bytes, as `wr` of lmbench's `bw_mem` does: the line is read from
    /// memory, and written back later.
    Update,
    /// Writes all of its bytes, 16 with each store.
    Write,
    /// Reads it and writes all bytes of a line of a second buffer.
    Copy,
}

/// One load of the memory system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Cycles between two lines of each stream.
    pub pause: Cycle,
    /// Bytes of the lines that streams read, wrote or copied, in GB/s. The L2 of a core may supply
    /// a part of them.
    pub gigabytes_per_second: f64,
    /// Bytes that come to cores over the mesh, prefetches too, in GB/s.
    pub over_the_mesh: f64,
    /// Mean time of a read of the chase, in nanoseconds; 0 without a chase.
    pub nanoseconds: f64,
}

/// Time of an atomic on a line that another core has just modified, over all pairs of cores, in
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    /// Shortest.
    pub least: f64,
    /// Mean.
    pub mean: f64,
    /// Longest.
    pub most: f64,
}

/// Stream of one core.
#[derive(Debug)]
struct Stream {
    core: usize,
    work: Work,
    lines: u64,
    next: u64,
    /// Times at which the accesses to the last lines were done, by number of the line.
    done: [Cycle; LINES_AHEAD],
}

/// Core whose reads wait for each other.
#[derive(Debug)]
struct Chase {
    core: usize,
    lines: u64,
    state: u64,
    source: DataSource,
    reads: u64,
    cycles: Cycle,
}

/// Machine under load.
#[derive(Debug)]
struct Bench {
    memory: MemorySystem,
    counts: Counts,
    streams: Vec<Stream>,
    chase: Option<Chase>,
    now: Cycle,
    clock_hz: f64,
    /// Bytes that `BUS_ACCESS_RD` counts once.
    bus_bytes: u64,
    /// Lines that streams have passed.
    lines: u64,
}

/// Returns the load-to-use latency of a chase beside `cores - 1` streams, for each pause of these.
pub fn curve(config: &MachineConfig, cores: usize, supply: Supply, pauses: &[Cycle]) -> Vec<Point> {
    let mut bench = Bench::new(config, cores, supply, Work::Read, true);
    pauses.iter().map(|pause| bench.measure(*pause)).collect()
}

/// Returns the bandwidth of so many cores, none of which pauses, in GB/s: the bytes that they read,
/// write or copy, however often memory moves them.
pub fn bandwidth(config: &MachineConfig, cores: usize, supply: Supply, work: Work) -> f64 {
    Bench::new(config, cores, supply, work, false).measure(NO_PAUSE).gigabytes_per_second
}

/// Returns the time to take a line from another core, over all pairs of `cores` cores.
pub fn pairs(config: &MachineConfig, cores: usize) -> Pairs {
    let mut bench = Bench::new(config, cores, Supply::Dram, Work::Read, false);
    let numbers: Vec<usize> = bench.streams.iter().map(|stream| stream.core).collect();
    let mut all = Vec::new();
    for (at, one) in numbers.iter().enumerate() {
        all.extend(numbers[at + 1..].iter().map(|other| bench.hand_over(*one, *other)));
    }
    let sum: f64 = all.iter().sum();
    Pairs {
        least: all.iter().copied().fold(f64::INFINITY, f64::min),
        mean: sum / all.len().max(1) as f64,
        most: all.iter().copied().fold(0.0, f64::max),
    }
}

impl Bench {
    fn new(
        config: &MachineConfig,
        cores: usize,
        supply: Supply,
        work: Work,
        with_chase: bool,
    ) -> Bench {
        let setting = Setting { page_bytes: 2 << 20, prefetch: true };
        let config = setting.applied_to(config);
        let mut memory =
            MemorySystem::asleep(&config.memory, &config.semantics, CORES, config.run.seed);
        memory.leave_mesh_uncounted();
        let number = |core: usize| core * CORES / cores;
        (0..cores).for_each(|core| memory.wake(number(core)));
        let stream = |core| Stream {
            core: number(core),
            work,
            lines: match supply {
                Supply::Slc(bytes) => bytes / LINE_BYTES,
                Supply::Dram => u64::MAX,
            },
            next: 0,
            done: [0; LINES_AHEAD],
        };
        let chase = with_chase.then(|| Chase::new(number(0), supply));
        let mut bench = Bench {
            memory,
            counts: Counts::default(),
            streams: (usize::from(with_chase)..cores).map(stream).collect(),
            chase,
            now: 10_000,
            clock_hz: config.core.clock_hz as f64,
            bus_bytes: match config.semantics.bus_unit {
                BusUnit::Transaction => LINE_BYTES,
                BusUnit::Beats => config.memory.bus.beat_bytes.into(),
            },
            lines: 0,
        };
        match supply {
            Supply::Slc(bytes) => bench.fill(bytes / LINE_BYTES),
            Supply::Dram if work != Work::Read => {
                let slc = &config.memory.slc;
                let shared = u64::from(slc.slices) * slc.slice_bytes;
                // Streams may pass the sets of the system level cache in step. Then each passes all
                // of them.
                let of_sets = cores as u64 * shared / u64::from(slc.ways);
                let private = cores as u64 * config.memory.l2.size_bytes;
                bench.fill_with_modified(shared.max(of_sets) + private);
            }
            Supply::Dram => {}
        }
        bench
    }

    /// Passes once over every line that streams pass again later.
    fn fill(&mut self, lines: u64) {
        if let Some(chase) = &self.chase {
            let (core, lines) = (chase.core, chase.lines);
            for line in 0..lines {
                self.now = self.read(core, line, self.now).done;
            }
        }
        for _ in 0..lines {
            // No line waits for those of earlier rounds, whatever memory can give.
            let begin = self.now;
            for stream in 0..self.streams.len() {
                let done = self.pass_next(stream, begin);
                self.now = self.now.max(done);
            }
        }
        self.now += 100_000;
    }

    /// Passes over as many lines as all caches hold, so that afterwards each new modified line
    /// replaces another one.
    fn fill_with_modified(&mut self, bytes: u64) {
        let passed = |bench: &Bench| bench.streams.iter().map(|stream| stream.next).sum::<u64>();
        while passed(self) * LINE_BYTES < bytes {
            self.run(self.now + WINDOW.0, NO_PAUSE);
        }
    }

    /// Runs all cores for a window of time.
    fn measure(&mut self, pause: Cycle) -> Point {
        let (settle, measured) = WINDOW;
        self.run(self.now + settle, pause);
        self.lines = 0;
        let before = self.counts.value(PmuEvent::BUS_ACCESS_RD);
        if let Some(chase) = &mut self.chase {
            (chase.reads, chase.cycles) = (0, 0);
        }
        self.run(self.now + measured, pause);
        let seconds = measured as f64 / self.clock_hz;
        let accesses = self.counts.value(PmuEvent::BUS_ACCESS_RD) - before;
        let chased = self.chase.as_ref().map_or(0.0, |chase| {
            chase.cycles as f64 / chase.reads.max(1) as f64 * 1e9 / self.clock_hz
        });
        Point {
            pause,
            gigabytes_per_second: (self.lines * LINE_BYTES) as f64 / seconds / 1e9,
            over_the_mesh: (accesses * self.bus_bytes) as f64 / seconds / 1e9,
            nanoseconds: chased,
        }
    }

    /// Runs all cores until `end`; afterwards each begins again.
    fn run(&mut self, end: Cycle, pause: Cycle) {
        let chase = self.streams.len();
        let all = chase + usize::from(self.chase.is_some());
        // Streams begin one after another, so that they do not move in step.
        let first = |core: usize| Reverse((self.now + core as Cycle * 7 % pause.max(64), core));
        let mut due: BinaryHeap<Reverse<(Cycle, usize)>> = (0..all).map(first).collect();
        while let Some(Reverse((at, core))) = due.pop() {
            if at >= end {
                break;
            }
            let next =
                if core == chase { self.chase_next(at) } else { self.stream_next(core, at, pause) };
            due.push(Reverse((next, core)));
        }
        self.now = end;
    }

    /// Passes the next line of a stream. Returns when the one after it can be passed.
    fn stream_next(&mut self, stream: usize, at: Cycle, pause: Cycle) -> Cycle {
        self.pass_next(stream, at);
        self.lines += 1;
        let Stream { work, done, next, .. } = &self.streams[stream];
        let stores = if *work == Work::Read { 0 } else { STORES_OF_A_LINE };
        (at + pause.max(stores)).max(done[*next as usize % LINES_AHEAD])
    }

    /// Passes the next line of a stream. Returns when that is done.
    fn pass_next(&mut self, stream: usize, at: Cycle) -> Cycle {
        let Stream { core, work, lines, next, .. } = self.streams[stream];
        let line = next % lines;
        let done = match work {
            Work::Read => self.read(core, line, at).done,
            Work::Update => self.store(core, line, 4, at),
            Work::Write => self.store(core, line, 16, at),
            Work::Copy => {
                let read = self.read(core, line, at).done;
                // The oldest line ahead has come, so its copy can be written.
                let ready = line.checked_sub(LINES_AHEAD as u64);
                let copied = ready.map(|line| self.store(core, COPY_BEGINS + line, 16, at));
                read.max(copied.unwrap_or(0))
            }
        };
        let stream = &mut self.streams[stream];
        stream.done[next as usize % LINES_AHEAD] = done;
        stream.next += 1;
        done
    }

    /// Writes so many bytes of each 16 of a line. Returns when all are written.
    fn store(&mut self, core: usize, line: u64, bytes: u32, at: Cycle) -> Cycle {
        let stores = (0..STORES_OF_A_LINE).map(|store| {
            let addr = VirtAddr(address(core, line).0 + 16 * store);
            // One store leaves the store queue in a cycle.
            self.access_at(core, addr, bytes, MemKind::Store, at + store).done
        });
        stores.max().unwrap_or(at)
    }

    /// Reads a random line. Returns when it is there.
    fn chase_next(&mut self, at: Cycle) -> Cycle {
        let Some(chase) = &mut self.chase else { return at + 1 };
        // Constants of Knuth's MMIX generator.
        chase.state = chase.state.wrapping_mul(6_364_136_223_846_793_005);
        chase.state = chase.state.wrapping_add(1_442_695_040_888_963_407);
        let (core, line) = (chase.core, (chase.state >> 33) % chase.lines);
        let reply = self.read(core, line, at);
        if let Some(chase) = self.chase.as_mut().filter(|chase| chase.source == reply.source) {
            chase.reads += 1;
            chase.cycles += reply.done - at;
        }
        reply.done
    }

    fn read(&mut self, core: usize, line: u64, at: Cycle) -> MemReply {
        self.access_at(core, address(core, line), 8, MemKind::Load, at)
    }

    fn access_at(
        &mut self,
        core: usize,
        addr: VirtAddr,
        bytes: u32,
        kind: MemKind,
        at: Cycle,
    ) -> MemReply {
        let request = MemRequest::new(VirtAddr(0x40_0000), addr, bytes, kind);
        self.memory.port(core).access(request, at, &mut self.counts)
    }

    /// Returns the mean time in which the second core takes lines that the first one has modified,
    /// and the first takes them back.
    fn hand_over(&mut self, one: usize, other: usize) -> f64 {
        let mut cycles = 0;
        for line in 0..LINES_OF_A_PAIR {
            let addr = VirtAddr((1 << 45) + line * LINE_BYTES);
            for (core, counts) in [(one, false), (other, false), (one, true), (other, true)] {
                self.now += 10_000;
                let done = self.access_at(core, addr, 8, MemKind::AtomicLoad, self.now).done;
                cycles += if counts { done - self.now } else { 0 };
            }
        }
        cycles as f64 / (2 * LINES_OF_A_PAIR) as f64 * 1e9 / self.clock_hz
    }
}

/// Returns the address of a line of a core's buffer. Buffers begin at other eighths of a page: if
/// all began at its start, short ones would share a part of the sets of the system level cache and
/// leave the others empty.
fn address(core: usize, line: u64) -> VirtAddr {
    let begin = ((core as u64 + 1) << 32) + ((core as u64 * 5 % 8) << 18);
    VirtAddr(begin + line * LINE_BYTES)
}

impl Chase {
    fn new(core: usize, supply: Supply) -> Chase {
        let (bytes, source) = match supply {
            Supply::Slc(_) => (CHASED_BYTES, DataSource::Slc),
            Supply::Dram => (CHASED_BYTES_OF_MEMORY, DataSource::Dram),
        };
        Chase { core, lines: bytes / LINE_BYTES, state: 1, source, reads: 0, cycles: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::{ConfigSource, Machine};

    fn config(overrides: &[&str]) -> MachineConfig {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let source = ConfigSource {
            machine: Machine::Yitian710,
            overrides: &overrides,
            ..ConfigSource::default()
        };
        let document = source.document().expect("the machine is embedded");
        MachineConfig::from_document(&document).expect("the machine is valid")
    }

    #[test]
    fn a_chase_waits_longer_as_memory_gets_busy_and_no_channel_gives_more_than_its_rate() {
        let points = curve(&config(&[]), 16, Supply::Dram, &[4000, NO_PAUSE]);
        let [idle, busy] = points[..] else { unreachable!("two pauses") };
        assert!(busy.nanoseconds > idle.nanoseconds, "{points:?}");
        // Eight channels, a line in five cycles of 2.98 GHz; a rate is accurate to 3 percent.
        assert!(busy.gigabytes_per_second < 8.0 * 64.0 / 5.0 * 2.98 * 1.03, "{points:?}");
        assert!(idle.gigabytes_per_second < busy.gigabytes_per_second / 4.0, "{points:?}");
        // No line is read twice: all come over the mesh. So do those of the chase, which are many
        // beside idle streams.
        let share = |point: &Point| point.over_the_mesh / point.gigabytes_per_second;
        assert!(share(&idle) > 1.0 && share(&idle) < 2.5, "{points:?}");
        assert!((0.97..1.05).contains(&share(&busy)), "{points:?}");
    }

    #[test]
    fn a_line_that_the_l2_has_does_not_come_over_the_mesh() {
        let point = curve(&config(&[]), 2, Supply::Slc(256 << 10), &[20])[0];
        assert!(point.over_the_mesh < point.gigabytes_per_second / 2.0, "{point:?}");
    }

    #[test]
    fn only_lines_that_are_not_wholly_written_are_read_first() {
        let small = ["memory.slc.slice-bytes=65536"];
        let accesses = |work| {
            let mut bench = Bench::new(&config(&small), 2, Supply::Dram, work, false);
            let events = [PmuEvent::L2D_CACHE_REFILL_RD, PmuEvent::L2D_CACHE_WB];
            let (before, lines) = (events.map(|event| bench.counts.value(event)), bench.lines);
            bench.run(bench.now + 100_000, NO_PAUSE);
            let lines = (bench.lines - lines) as f64;
            let after = events.map(|event| bench.counts.value(event));
            [0, 1].map(|at| (after[at] - before[at]) as f64 / lines)
        };
        let near = |value: f64, lines: f64| (value - lines).abs() < 0.05;
        let [reads, writes] = accesses(Work::Write);
        assert!(near(reads, 0.0) && near(writes, 1.0), "write: {reads}, {writes}");
        let [reads, writes] = accesses(Work::Update);
        assert!(near(reads, 1.0) && near(writes, 1.0), "update: {reads}, {writes}");
        let [reads, writes] = accesses(Work::Copy);
        assert!(near(reads, 1.0) && near(writes, 1.0), "copy: {reads}, {writes}");
    }

    #[test]
    fn modified_lines_take_their_part_of_memory() {
        let small = ["memory.slc.slice-bytes=65536", "memory.l2.size-bytes=262144"];
        // Eight channels, a line in five cycles of 2.98 GHz; a rate is accurate to 3 percent.
        let memory = 8.0 * 64.0 / 5.0 * 2.98 * 1.03;
        for work in [Work::Update, Work::Copy] {
            let moved = 2.0 * bandwidth(&config(&small), 32, Supply::Dram, work);
            assert!(moved > memory * 0.8 && moved < memory, "{work:?}: {moved} of {memory} GB/s");
        }
    }

    #[test]
    fn a_short_queue_of_home_nodes_limits_the_bandwidth() {
        let supply = Supply::Slc(3 << 19);
        let free = bandwidth(&config(&[]), 8, supply, Work::Read);
        let limited = config(&[
            "memory.slc.slices=1",
            "memory.slc.slice-bytes=67108864",
            "memory.slc.queue-entries=4",
        ]);
        let one = bandwidth(&limited, 8, supply, Work::Read);
        assert!(one < free / 4.0, "{one} and {free} GB/s");
    }
}
