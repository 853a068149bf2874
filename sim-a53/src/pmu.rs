//! PMU of the core: counts the events of a run in the registers that software programs.
//!
//! The registers and counters are those of `sim-pmu`, with the Cortex-A53's description. Events of
//! an instruction count at the level and with the counters that were set when it ran. Cycles that
//! an instruction waits belong to it. A cycle counts when a later step of the program needs it.

use crate::event::{A53Condition, A53Counts, A53Event, A53Note, A53Sink};
use crate::levels::Levels;
use sim_pmu::{A53Routes, PeState, Pmu, PmuDescription, ProgramAccess, ProgramUnit};

/// PMU of a Cortex-A53.
pub type A53Pmu = Pmu<A53Routes>;

/// Returns the PMU of a Cortex-A53 after reset.
pub fn new() -> A53Pmu {
    Pmu::of_core(PmuDescription::cortex_a53())
}

/// PMU of one core in a run, with the totals of the run's events.
#[derive(Clone, Debug)]
pub struct PmuSink {
    core: usize,
    counts: A53Counts,
    unit: ProgramUnit<A53Routes>,
    levels: Levels,
    /// Cycles that were counted so far.
    cycles: u64,
    accesses: Vec<ProgramAccess>,
}

impl PmuSink {
    /// Gives core number `core` a PMU.
    pub fn new(core: usize, pmu: A53Pmu) -> PmuSink {
        PmuSink {
            core,
            counts: A53Counts::default(),
            unit: ProgramUnit::new(pmu),
            levels: Levels::default(),
            cycles: 0,
            accesses: Vec::new(),
        }
    }

    /// Returns the PMU.
    pub fn pmu(&self) -> &A53Pmu {
        self.unit.pmu()
    }

    /// Returns the number of overflow interrupt requests.
    pub fn requests(&self) -> u64 {
        self.unit.requests()
    }

    /// Returns the accesses of the program to registers of the PMU, in order.
    pub fn accesses(&self) -> &[ProgramAccess] {
        &self.accesses
    }

    /// Counts the cycles up to `cycle`.
    fn settle(&mut self, cycle: u64) {
        let n = cycle.saturating_sub(self.cycles);
        self.cycles += n;
        for event in [A53Event::CPU_CYCLES, A53Event::BUS_CYCLES] {
            self.unit.increment(self.unit.pmu().routes().of(event), n);
        }
    }
}

impl AsRef<A53Counts> for PmuSink {
    fn as_ref(&self) -> &A53Counts {
        &self.counts
    }
}

impl A53Sink for PmuSink {
    #[inline]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64) {
        self.counts.raise(event, cycle, times);
        match event {
            // The end of the run gives all cycles at once.
            A53Event::CPU_CYCLES | A53Event::BUS_CYCLES => return self.settle(times),
            A53Event::INST_RETIRED => self.unit.retire(times),
            _ => {}
        }
        self.unit.increment(self.unit.pmu().routes().of(event), times);
    }

    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64) {
        // No counter can count it.
        self.counts.signal(condition, cycle, times);
    }

    fn note(&mut self, note: A53Note, cycle: u64) {
        self.settle(cycle);
        if let Some(level) = self.levels.follow(note) {
            self.unit.set_state(PeState::from(level));
        }
        if let A53Note::Register(access) = note {
            let done = self.unit.access(self.core, access);
            self.accesses.push(done);
        }
    }
}
