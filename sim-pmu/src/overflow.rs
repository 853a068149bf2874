//! Sampling by counter overflow. Each counter is preset so that it overflows after a period. Every
//! interrupt samples the instruction that raised the last event (Arm ARM D11.4; the Linux PMU
//! driver does the same).
//!
//! A real interrupt arrives some instructions late. Here it is exact: the sample belongs to the
//! instruction that raised the event. The sample of a wrong-path event belongs to the next
//! instruction that retires.

use sim_core::{Cycle, EventSink, Notice, Operation, PmuEvent, Privilege};

use crate::call_stack::CallStack;
use crate::counter::{CYCLE_BIT, CounterIndex, EVENT_COUNTERS};
use crate::pe_state::{ExceptionLevel, PeState};
use crate::perf::PerfEvent;
use crate::pmu::Pmu;
use crate::register::Register;

/// Largest number of events from the preset value to the overflow: half the counter's range. A late
/// service can then still read how far the counter went.
const PRESET_MAX: u64 = 1 << 31;
/// Largest number of callers in a sample.
const CALLERS_MAX: usize = 126;

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
    /// Rename cycle of the instruction.
    pub cycle: Cycle,
    /// Return addresses, innermost first.
    pub callers: Vec<u64>,
}

/// Error: the requests need more than the six event counters and the cycle counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{asked} events need a counter each, and the core has {EVENT_COUNTERS} besides the cycle counter"
)]
pub struct TooManyEvents {
    /// Number of requested events other than `CPU_CYCLES`.
    pub asked: usize,
}

/// Request assigned to a counter.
#[derive(Clone, Copy, Debug)]
struct Slot {
    event: PerfEvent,
    /// Assigned event counter; `None` for the cycle counter.
    counter: Option<CounterIndex>,
    period: u64,
    /// Events until the next sample, at the time when the counter was preset.
    left: u64,
    /// Events from the preset value to the overflow.
    preset: u64,
    /// Samples that wait for their instruction.
    pending: u64,
}

impl Slot {
    fn bit(&self) -> u32 {
        self.counter.map_or(CYCLE_BIT, CounterIndex::bit)
    }

    /// Presets the counter for the next sample.
    fn arm(&mut self, pmu: &mut Pmu) {
        self.preset = self.left.min(PRESET_MAX);
        let value = (1 << 32) - self.preset;
        match self.counter {
            Some(counter) => pmu.write(counter, value as u32),
            None => pmu.write_cycles(value),
        }
    }

    /// Serves an overflow. The counter may be far past it.
    fn serve(&mut self, pmu: &mut Pmu) {
        let value = match self.counter {
            Some(counter) => pmu.read(counter),
            None => pmu.read_cycles() as u32,
        };
        let passed = self.preset + u64::from(value);
        if passed < self.left {
            self.left -= passed;
        } else {
            let beyond = passed - self.left;
            self.pending += 1 + beyond / self.period;
            self.left = self.period - beyond % self.period;
        }
        pmu.clear_overflowed(self.bit());
        self.arm(pmu);
    }
}

/// Overflow sampler of one core's PMU.
#[derive(Clone, Debug)]
pub struct OverflowSampler {
    pmu: Pmu,
    slots: Vec<Slot>,
    /// Exception level of the kernel.
    kernel: ExceptionLevel,
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
        let mut free = CounterIndex::all();
        let mut slots: Vec<Slot> = Vec::new();
        for OverflowRequest { event, period } in requests {
            let is_cycles = event.event == PmuEvent::CPU_CYCLES;
            let takes_cycle_counter = is_cycles && slots.iter().all(|slot| slot.counter.is_some());
            let counter = if takes_cycle_counter { None } else { free.next() };
            if !takes_cycle_counter && counter.is_none() {
                let is_other = |other: &&OverflowRequest| other.event.event != PmuEvent::CPU_CYCLES;
                return Err(TooManyEvents { asked: requests.iter().filter(is_other).count() });
            }
            let period = (*period).max(1);
            slots.push(Slot {
                event: *event,
                counter,
                period,
                left: period,
                preset: 0,
                pending: 0,
            });
        }
        let mut sampler = OverflowSampler {
            pmu: Pmu::new(),
            slots,
            kernel: ExceptionLevel::El1,
            has_pending: false,
            stacks: Default::default(),
            last: Default::default(),
            samples: Vec::new(),
        };
        sampler.program();
        for slot in &mut sampler.slots {
            slot.arm(&mut sampler.pmu);
        }
        Ok(sampler)
    }

    /// Programs the events and filters of the counters, starts them and enables their interrupts.
    fn program(&mut self) {
        let state = self.pmu.state();
        self.pmu.set_state(PeState::non_secure(ExceptionLevel::El1));
        for slot in &self.slots {
            let filter = slot.event.levels.filter(self.kernel).bits();
            let code = u64::from(slot.event.event.code());
            match slot.counter {
                Some(counter) => {
                    let register = Register::PMEVTYPER_EL0(counter.index() as u8);
                    write(&mut self.pmu, register, filter | code);
                }
                None => write(&mut self.pmu, Register::PMCCFILTR_EL0, filter),
            }
        }
        let all = self.slots.iter().fold(0, |mask, slot| mask | slot.bit());
        write(&mut self.pmu, Register::PMINTENSET_EL1, all.into());
        write(&mut self.pmu, Register::PMCNTENSET_EL0, all.into());
        self.pmu.set_state(state);
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
        self.pmu.count(event, n);
        if self.pmu.overflowed() != 0 {
            self.serve();
        }
    }

    #[cold]
    fn serve(&mut self) {
        let overflowed = self.pmu.overflowed();
        for slot in self.slots.iter_mut().filter(|slot| overflowed & slot.bit() != 0) {
            slot.serve(&mut self.pmu);
            self.has_pending |= slot.pending > 0;
        }
    }

    fn counting(&mut self, is_counted: bool) {
        self.pmu.control(is_counted, false);
        if !is_counted && self.has_pending {
            self.emit();
        }
    }

    fn privilege(&mut self, privilege: Privilege) {
        if privilege.level == 0 {
            self.stacks[1].clear();
        }
        self.pmu.set_state(privilege.into());
        if privilege.e2h && self.kernel != ExceptionLevel::El2 {
            self.kernel = ExceptionLevel::El2;
            self.program();
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
        for (request, slot) in self.slots.iter_mut().enumerate() {
            for _ in 0..std::mem::take(&mut slot.pending) {
                let callers = callers.clone();
                self.samples.push(Overflow { request, pc, level, cycle, callers });
            }
        }
        self.has_pending = false;
    }
}

/// Writes a register as the driver does, at EL1 and without traps.
fn write(pmu: &mut Pmu, register: Register, value: u64) {
    pmu.msr(register, value)
        .expect("EL1 may write every register of the PMU but those of EL2 and EL3");
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
