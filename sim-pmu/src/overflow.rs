//! Sampling by counter overflow. Each counter is preset so that it overflows after a period. Every
//! interrupt samples the instruction that raised the last event (Arm ARM D11.4; the Linux PMU
//! driver does the same).
//!
//! A real interrupt arrives some instructions late. On the Neoverse N2 it is exact here: the sample
//! belongs to the instruction that raised the event. The sample of a wrong-path event belongs to
//! the next instruction that retires. The Cortex-A53 chooses its samples itself (`sim-a53`).

mod counters;

use sim_core::{Cycle, EventSink, Notice, Operation, PmuEvent, Privilege};

use crate::call_stack::CallStack;
use crate::perf::PerfEvent;
use crate::pmu::Pmu;

pub use counters::{Completed, OverflowCounters, Sampled, TooManyEvents};

/// Largest number of callers in a sample.
pub const CALLERS_MAX: usize = 126;

/// Request to sample an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverflowRequest {
    /// Event and the levels at which it counts.
    pub event: PerfEvent,
    /// Events from one sample to the next, at least 1.
    pub period: u64,
}

/// Sample of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Index of the request.
    pub request: usize,
    /// Address of the instruction.
    pub pc: u64,
    /// Exception level of the instruction.
    pub level: u8,
    /// Cycle of the instruction: its rename, or its issue on a core in order.
    pub cycle: Cycle,
    /// Return addresses, innermost first.
    pub callers: Vec<u64>,
}

/// Overflow sampler of one core's PMU.
#[derive(Clone, Debug)]
pub struct OverflowSampler {
    counters: OverflowCounters,
    /// Samples of each request that wait for their instruction.
    pending: Vec<u64>,
    has_pending: bool,
    /// Call stacks of the application and of the levels above it.
    stacks: [CallStack; 2],
    /// Address, level and rename cycle of the last retired instruction.
    last: (u64, u8, Cycle),
    samples: Vec<Overflow>,
}

impl OverflowSampler {
    /// Assigns a counter to every request.
    ///
    /// # Errors
    /// If there are more requests than counters.
    pub fn new(requests: &[OverflowRequest]) -> Result<OverflowSampler, TooManyEvents> {
        let sampled = requests.iter().map(|OverflowRequest { event, period }| Sampled {
            code: event.event.code(),
            levels: event.levels,
            period: *period,
        });
        let sampled: Vec<Sampled> = sampled.collect();
        Ok(OverflowSampler {
            counters: OverflowCounters::new(Pmu::new(), &sampled)?,
            pending: vec![0; sampled.len()],
            has_pending: false,
            stacks: Default::default(),
            last: Default::default(),
            samples: Vec::new(),
        })
    }

    /// Takes the samples so far, in time order.
    pub fn take(&mut self) -> Vec<Overflow> {
        std::mem::take(&mut self.samples)
    }

    /// Returns the cycle of the last retired instruction.
    pub fn now(&self) -> Cycle {
        self.last.2
    }

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let pmu = self.counters.pmu_mut();
        pmu.count(event, n);
        if pmu.overflowed() != 0 {
            self.serve();
        }
    }

    #[cold]
    fn serve(&mut self) {
        let (pending, has_pending) = (&mut self.pending, &mut self.has_pending);
        self.counters.serve(|done| {
            pending[done.request] += done.samples;
            *has_pending = true;
        });
    }

    fn counting(&mut self, is_counted: bool) {
        self.counters.pmu_mut().control(is_counted, false);
        if !is_counted && self.has_pending {
            self.emit();
        }
    }

    fn privilege(&mut self, privilege: Privilege) {
        if privilege.level == 0 {
            self.stacks[1].clear();
        }
        self.counters.pmu_mut().set_state(privilege.into());
        if privilege.e2h {
            self.counters.kernel_is_host();
        }
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        let timeline = &operation.timeline;
        if timeline.retired {
            self.last = (timeline.pc, operation.privilege.level, timeline.rename);
            if self.has_pending {
                self.emit();
            }
        }
        self.stacks[usize::from(operation.privilege.level > 0)].follow(operation);
    }

    /// Assigns the pending samples to the last retired instruction.
    #[cold]
    fn emit(&mut self) {
        let (pc, level, cycle) = self.last;
        let callers = self.stacks[usize::from(level > 0)].callers(CALLERS_MAX);
        for (request, pending) in self.pending.iter_mut().enumerate() {
            for _ in 0..std::mem::take(pending) {
                let callers = callers.clone();
                self.samples.push(Overflow { request, pc, level, cycle, callers });
            }
        }
        self.has_pending = false;
    }
}

/// Overflow samplers of all cores of a run, in one sink. They sample while the run is counted.
#[derive(Clone, Debug)]
pub struct OverflowSamplers {
    cores: Vec<OverflowSampler>,
    at: usize,
}

impl OverflowSamplers {
    /// Creates samplers with the same requests on each of `cores` cores.
    ///
    /// # Errors
    /// If there are more requests than counters.
    pub fn new(
        requests: &[OverflowRequest],
        cores: usize,
    ) -> Result<OverflowSamplers, TooManyEvents> {
        let sampler = OverflowSampler::new(requests)?;
        Ok(OverflowSamplers { cores: vec![sampler; cores.max(1)], at: 0 })
    }

    /// Returns the samplers after the run.
    pub fn into_cores(self) -> Vec<OverflowSampler> {
        self.cores
    }
}

impl EventSink for OverflowSamplers {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        self.cores[self.at].count(event, n);
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.at = core;
            }
            Notice::Counting(is_counted) => {
                self.cores[self.at].counting(is_counted);
            }
            Notice::Privilege(privilege) => {
                self.cores[self.at].privilege(privilege);
            }
            Notice::Operation(operation) => {
                self.cores[self.at].operation(operation);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::Levels;
    use sim_core::OpTimeline;

    fn request(event: PmuEvent, period: u64) -> OverflowRequest {
        OverflowRequest { event: PerfEvent::new(event), period }
    }

    fn retire(samplers: &mut OverflowSamplers, pc: u64, retired: bool) {
        let timeline = OpTimeline { pc, retired, rename: pc, mops: 1, ..OpTimeline::default() };
        samplers.notify(Notice::Operation(&Operation { timeline, ..Operation::default() }));
    }

    fn sampled(samplers: OverflowSamplers) -> Vec<(usize, u64)> {
        let mut core = samplers.into_cores().remove(0);
        core.take().into_iter().map(|sample| (sample.request, sample.pc)).collect()
    }

    fn started(requests: &[OverflowRequest]) -> OverflowSamplers {
        let mut samplers = OverflowSamplers::new(requests, 1).expect("enough counters");
        samplers.notify(Notice::Core(0));
        samplers.notify(Notice::Privilege(Privilege::default()));
        samplers.notify(Notice::Counting(true));
        samplers
    }

    #[test]
    fn every_period_samples_the_instruction_that_ends_it() {
        let mut samplers = started(&[request(PmuEvent::INST_RETIRED, 3)]);
        for pc in 1..=10 {
            samplers.raise(PmuEvent::INST_RETIRED);
            retire(&mut samplers, pc, true);
        }
        assert_eq!(sampled(samplers), [(0, 3), (0, 6), (0, 9)]);
    }

    #[test]
    fn an_increment_of_several_periods_takes_several_samples() {
        let requests = [request(PmuEvent::CPU_CYCLES, 100), request(PmuEvent::BUS_ACCESS_RD, 7)];
        let mut samplers = started(&requests);
        samplers.count(PmuEvent::CPU_CYCLES, 350);
        samplers.count(PmuEvent::BUS_ACCESS_RD, 6);
        retire(&mut samplers, 1, true);
        samplers.count(PmuEvent::CPU_CYCLES, 49);
        retire(&mut samplers, 2, true);
        samplers.count(PmuEvent::CPU_CYCLES, 1);
        samplers.count(PmuEvent::BUS_ACCESS_RD, 1);
        retire(&mut samplers, 3, true);
        assert_eq!(sampled(samplers), [(0, 1), (0, 1), (0, 1), (0, 3), (1, 3)]);
    }

    #[test]
    fn a_wrong_path_sample_belongs_to_the_next_retired_instruction() {
        let mut samplers = started(&[request(PmuEvent::L1D_CACHE_REFILL, 1)]);
        samplers.raise(PmuEvent::L1D_CACHE_REFILL_RD);
        retire(&mut samplers, 1, false);
        retire(&mut samplers, 2, true);
        samplers.raise(PmuEvent::L1D_CACHE_REFILL_WR);
        samplers.notify(Notice::Counting(false));
        samplers.raise(PmuEvent::L1D_CACHE_REFILL_WR);
        retire(&mut samplers, 3, true);
        assert_eq!(sampled(samplers), [(0, 2), (0, 2)], "events after the end are not counted");
    }

    /// A period of more than 32 bits takes several overflows of the counter.
    #[test]
    fn a_period_beyond_the_counter_range_is_exact() {
        let period = (1 << 33) + 5;
        let mut samplers = started(&[request(PmuEvent::INST_SPEC, period)]);
        for pc in 1..=9 {
            samplers.count(PmuEvent::INST_SPEC, 1 << 30);
            retire(&mut samplers, pc, true);
        }
        assert_eq!(sampled(samplers), [(0, 9)]);
    }

    #[test]
    fn filters_exclude_levels_and_the_number_of_counters_is_limited() {
        let levels = Levels { user: false, ..Levels::ALL };
        let event = PerfEvent { levels, ..PerfEvent::new(PmuEvent::INST_RETIRED) };
        let mut samplers = started(&[OverflowRequest { event, period: 1 }]);
        samplers.raise(PmuEvent::INST_RETIRED);
        retire(&mut samplers, 1, true);
        samplers.notify(Notice::Privilege(Privilege { level: 1, ..Privilege::default() }));
        samplers.raise(PmuEvent::INST_RETIRED);
        retire(&mut samplers, 2, true);
        assert_eq!(sampled(samplers), [(0, 2)]);
        let mut many = vec![request(PmuEvent::CPU_CYCLES, 9)];
        many.resize(8, request(PmuEvent::LD_SPEC, 9));
        assert!(OverflowSampler::new(&many[..7]).is_ok(), "six events and the cycles");
        let message = OverflowSampler::new(&many).expect_err("one too many").to_string();
        assert!(message.starts_with("7 events need a counter each"), "{message}");
    }
}
