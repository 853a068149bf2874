//! Results of a run: counts, lost slots, and the header that makes it repeatable.

use crate::levels::{Level, LevelCounts, add_at, packed};
use crate::mode::Mode;
use crate::quanta_report::QuantaReport;
use crate::thread_scheduler::OrderOfRun;
use crate::threads_config::{ThreadOrder, ThreadsConfig};
use sim_cache::{MemoryStats, PrefetchStats};
use sim_core::mesh_counts::MeshCounts;
use sim_core::{Counts, LostSlots, Packed, PmuEvent};
use sim_trace::MissingData;

/// A word that the decoder does not know, with its executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// Address of its first occurrence.
    pub pc: u64,
    /// The instruction word.
    pub word: u32,
    /// Number of executions.
    pub executions: u64,
}

/// Results of one core, which ran one thread of the trace.
#[derive(Clone, Debug, Default)]
pub struct CoreOutcome {
    /// Stream number of the thread in the trace.
    pub stream: u32,
    /// Counting began on this core.
    pub is_counted: bool,
    /// Counts of the measured window.
    pub counts: Packed<Counts>,
    /// Counts of the measured window by exception level and security state, lowest level first.
    pub levels: Box<[LevelCounts<Packed<Counts>>]>,
    /// Empty rename slots of the measured window, by cause and root.
    pub stalls: Packed<LostSlots>,
    /// Statistics of prefetched lines in the measured window. A line prefetched before the window
    /// may be used or evicted inside it.
    pub prefetches: PrefetchStats,
    /// Statistics of the core's private memory in the measured window.
    pub memory: MemoryStats,
    /// Time spent waiting for other threads.
    pub waits: Waits,
    /// Words that the decoder does not know, most executed first.
    pub unknown_words: Box<[UnknownWord]>,
    /// Instructions of the thread that ran, counted or not.
    pub instructions: u64,
}

impl CoreOutcome {
    /// Returns the heap memory of the results in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let levels = self.levels.iter().map(|part| size_of_val(part) + part.counts.bytes());
        let words = size_of_val(&*self.unknown_words);
        levels.sum::<usize>() + self.counts.bytes() + self.stalls.bytes() + words
    }

    /// Applies a change to the counts of the window and to those of each level.
    pub fn change_counts(&mut self, change: impl Fn(&mut Counts)) {
        let all = self.levels.iter_mut().map(|part| &mut part.counts);
        for packed in all.chain([&mut self.counts]) {
            let mut counts = packed.unpack();
            change(&mut counts);
            *packed = Packed::from(&counts);
        }
    }

    /// Adds the counts, the counts by level and the lost slots of another part of the thread.
    pub fn add_counts(&mut self, more: &CoreOutcome) {
        let mut counts = self.counts.unpack();
        counts.add(&more.counts.unpack());
        self.counts = Packed::from(&counts);
        let mut levels = Vec::new();
        for LevelCounts { level, counts } in self.levels.iter().chain(&more.levels) {
            add_at(&mut levels, *level, &counts.unpack());
        }
        self.levels = packed(&levels);
        let mut stalls = self.stalls.unpack();
        stalls.plus(&more.stalls.unpack());
        self.stalls = Packed::from(&stalls);
    }
}

/// Time that a thread waited for another thread that synchronized first in the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Cycles of the measured window in which the thread waited on its core.
    pub on_core: u64,
    /// Cycles after system calls and before the first instruction, spent on no core and uncounted.
    /// If threads share cores, all cycles in which the thread waited for another one and then got
    /// its core back or a new one.
    pub away: u64,
    /// Cycles in which the thread could have run but had no core, uncounted.
    pub queued: u64,
    /// Cycles of `queued` in which a core changed to the thread.
    pub switching: u64,
    /// Times that the thread got a core that another one had before.
    pub switches: u64,
    /// Times that the thread continued on another core than before.
    pub migrations: u64,
    /// First cycle of the measured windows; `None` if none was opened.
    pub first_counted: Option<u64>,
    /// Last cycle of the measured windows.
    pub last_counted: u64,
    /// Last cycle of the thread.
    pub end: u64,
}

impl Waits {
    /// Returns the shares of time that the thread waited for other threads, in percent: in all, and
    /// on its core.
    pub fn shares(&self) -> (f64, f64) {
        (self.percent(self.on_core + self.away), self.percent(self.on_core))
    }

    fn percent(&self, cycles: u64) -> f64 {
        cycles as f64 * 100.0 / self.end.max(1) as f64
    }
}

/// Origin of a result: everything needed to repeat it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunHeader {
    /// Version of n2sim.
    pub version: String,
    /// Name of the configuration (file or profile), with the overrides in order.
    pub config: String,
    /// Hash of the merged configuration.
    pub config_hash: u64,
    /// Trace as named on the command line, or the command whose run was recorded for this result.
    pub trace: String,
    /// Name of the recorded program, if `trace` is not a file that is named after it.
    pub program: Option<String>,
    /// Hash of the trace's content.
    pub trace_hash: u64,
    /// Seed of random choices.
    pub seed: u64,
    /// Simulated part of the machine.
    pub mode: Mode,
    /// Missing data of the trace, which makes counts doubtful ([`crate::caveats`]).
    pub lacks: Vec<MissingData>,
    /// Order of the threads; `None` for a single thread.
    pub order: Option<OrderOfRun>,
    /// Store-exclusives to lines that another core took since the load-exclusive; known after the
    /// run.
    pub contended_exclusives: u64,
}

/// Results of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Origin of the results.
    pub header: RunHeader,
    /// Results by core, for cores that ran.
    pub cores: Vec<CoreOutcome>,
    /// Counts of the mesh, while any core counted; zero unless the session counts them.
    pub mesh: MeshCounts,
    /// Clock of the modeled core in Hz, for times in reports.
    pub clock_hz: u64,
    /// Notes for readers of the counts, one sentence each.
    pub notes: Vec<String>,
    /// Threads shared cores.
    pub shares_cores: bool,
    /// Statistics of the quanta, if cores ran at the same time on CPUs of the host.
    pub quanta: Option<QuantaReport>,
}

/// Largest number of threads that a note names.
const MOST_NAMED: usize = 8;

impl Outcome {
    /// Adds notes on the order of several threads, on their waits, and on contended exclusives.
    pub(crate) fn note_order(&mut self) {
        let Some(order) = self.header.order else { return };
        let name = order.kept().name();
        let note = match order.kept() {
            ThreadOrder::Free => format!("threads in {name} order: {}", order.describe()),
            _ => format!(
                "threads in {name} order; waiting for what another thread had to do first: {}",
                self.shares_waited()
            ),
        };
        self.notes.push(note);
        self.note_exclusives();
    }

    /// Makes the scaled sum of windows of several threads describe all of them: the number of
    /// contended exclusives, a note on these, and no waits, whose cycles are those of one window.
    pub fn describe_windows(&mut self) {
        let contended = self.cores.iter().map(|core| core.memory.contended_exclusives).sum();
        self.header.contended_exclusives = contended;
        self.cores.iter_mut().for_each(|core| core.waits = Waits::default());
        self.note_exclusives();
    }

    fn note_exclusives(&mut self) {
        if self.header.contended_exclusives > 0 {
            self.notes.push(format!(
                "{} store-exclusives stored as recorded to a line that another core had taken since the one before: \
                 hardware may have failed some and tried again",
                self.header.contended_exclusives
            ));
        }
    }

    /// Adds a note on threads that shared cores.
    pub(crate) fn note_sharing(&mut self, sharing: &ThreadsConfig) {
        self.shares_cores = true;
        let sum =
            |of: fn(&Waits) -> u64| self.cores.iter().map(|core| of(&core.waits)).sum::<u64>();
        let (switches, migrations) = (sum(|waits| waits.switches), sum(|waits| waits.migrations));
        let queued = |core: &CoreOutcome| core.waits.percent(core.waits.queued);
        let longest = self.cores.iter().max_by(|a, b| queued(a).total_cmp(&queued(b)));
        let longest = longest.map_or_else(String::new, |core| {
            format!(
                "; thread {} was ready without a core for {:.1} % of its time, no other longer",
                core.stream,
                queued(core)
            )
        });
        self.notes.push(format!(
            "{} threads shared {}: {switches} switches, {migrations} migrations{longest}",
            self.cores.len(),
            if sharing.cores == 1 {
                "1 core".to_owned()
            } else {
                format!("{} cores", sharing.cores)
            }
        ));
    }

    /// Adds a note on threads that ran at the same time on CPUs of the host.
    pub(crate) fn note_quanta(&mut self, report: QuantaReport) {
        self.quanta = Some(report);
        let all: u64 = self.cores.iter().map(|core| core.instructions).sum();
        let percent = report.instructions as f64 * 100.0 / all.max(1) as f64;
        let QuantaReport { quanta, grouped, crowded, memory, broadcasts, .. } = report;
        let mut note = format!(
            "{percent:.1} % of the instructions ran at the same time as others, in {quanta} quanta"
        );
        if grouped.0 > 0 {
            note += &format!(
                "; in {} of them some cores used one line and ran in exact order",
                grouped.0
            );
        }
        if report.taken_back() > 0 {
            note += &format!(
                "; {} more were run again in exact order, because cores used one line ({crowded}), waited for one channel \
                 of memory ({memory}) or one sent maintenance to all ({broadcasts})",
                report.taken_back(),
            );
        }
        self.notes.push(note);
    }

    /// Returns the shares of time that the threads waited. If there are many threads, returns only
    /// the largest shares.
    fn shares_waited(&self) -> String {
        let share = |core: &CoreOutcome| {
            let (all, on_core) = core.waits.shares();
            format!(
                "thread {} waited {all:.1} % of its time ({on_core:.1} % on its core)",
                core.stream
            )
        };
        let mut counted: Vec<&CoreOutcome> =
            self.cores.iter().filter(|core| core.is_counted).collect();
        let more = counted.len().saturating_sub(MOST_NAMED);
        if more > 0 {
            counted.sort_by(|a, b| b.waits.shares().0.total_cmp(&a.waits.shares().0));
        }
        let mut named: Vec<String> = counted.into_iter().take(MOST_NAMED).map(share).collect();
        match more {
            0 => {}
            1 => named.push("the other one waited for no larger part".to_owned()),
            _ => named.push(format!("the other {more} waited for no larger part")),
        }
        named.join(", ")
    }

    /// Returns the cycles of the counted part: those of the core that counted longest. If threads
    /// shared cores, those from the first counted instruction to the last.
    pub fn elapsed_cycles(&self) -> u64 {
        if !self.shares_cores {
            let cycles = self.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES));
            return cycles.max().unwrap_or(0);
        }
        let first = self.cores.iter().filter_map(|core| core.waits.first_counted).min();
        let last = self.cores.iter().map(|core| core.waits.last_counted).max();
        last.unwrap_or(0).saturating_sub(first.unwrap_or(0))
    }

    /// Returns the counts of all cores together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for core in &self.cores {
            total.add(&core.counts.unpack());
        }
        total
    }

    /// Returns the memory statistics of all cores together.
    pub fn memory(&self) -> MemoryStats {
        self.cores.iter().fold(MemoryStats::default(), |total, core| total.plus(&core.memory))
    }

    /// Returns the empty rename slots of all cores together, by cause and root.
    pub fn stalls(&self) -> LostSlots {
        let mut all = LostSlots::default();
        self.cores.iter().for_each(|core| all.plus(&core.stalls.unpack()));
        all
    }

    /// Returns the counts of all cores together by exception level and security state, lowest
    /// first.
    pub fn levels(&self) -> Vec<LevelCounts> {
        let mut total = Vec::new();
        for LevelCounts { level, counts } in self.cores.iter().flat_map(|core| &core.levels) {
            add_at(&mut total, *level, &counts.unpack());
        }
        total
    }

    /// Returns the counts of all cores at the levels for which `is_counted` holds, as a filter
    /// does.
    pub fn total_at(&self, is_counted: impl Fn(Level) -> bool) -> Counts {
        let mut total = Counts::default();
        for part in self.levels().iter().filter(|part| is_counted(part.level)) {
            total.add(&part.counts);
        }
        total
    }

    /// Returns the prefetch statistics of all cores together.
    pub fn prefetches(&self) -> PrefetchStats {
        let cores = self.cores.iter();
        cores.fold(PrefetchStats::default(), |total, core| total.plus(&core.prefetches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_on_many_threads_names_those_that_waited_longest() {
        let waited = |threads, on_core: fn(u32) -> u64| {
            let core = |stream| CoreOutcome {
                stream,
                is_counted: true,
                waits: Waits { on_core: on_core(stream), end: 100, ..Waits::default() },
                ..CoreOutcome::default()
            };
            let (header, cores) = (RunHeader::default(), (0..threads).map(core).collect());
            Outcome { header, cores, ..Outcome::default() }.shares_waited()
        };
        let eight = waited(8, u64::from);
        assert!(eight.starts_with("thread 0 waited 0.0 %") && eight.matches("thread").count() == 8);
        let many = waited(20, u64::from);
        assert!(many.starts_with("thread 19 waited 19.0 % of its time (19.0 % on its core), "));
        assert!(many.ends_with("(12.0 % on its core), the other 12 waited for no larger part"));
        let nine = waited(9, u64::from);
        assert!(nine.ends_with("(1.0 % on its core), the other one waited for no larger part"));
        let alike = waited(11, |_| 50);
        assert!(alike.starts_with("thread 0 waited 50.0 %"), "the first of those that are alike");
        assert!(alike.ends_with("(50.0 % on its core), the other 3 waited for no larger part"));
    }
}
