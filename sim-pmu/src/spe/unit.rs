//! Sampling unit of one core: observes every operation, samples some, and writes their records (SPE
//! supplement 2.2, 3.1, 3.2). It has no effect on the core.

use std::collections::VecDeque;

use sim_core::{Cycle, EventSink, Operation, OperationKind, PmuEvent, Privilege};

use super::buffer::ProfilingBuffer;
use super::buffer_memory::BufferMemory;
use super::collect::{self, RecordSources, address, record_of};
use super::config::SpeConfig;
use super::context::{Owner, SpeContext};
use super::events::Events;
use super::interval::{IntervalCounter, RandomBytes};
use super::layout::{N2_RECORD_BYTES, encode_n2};
use super::packet::Packet;
use super::record::SpeRecord;
use super::registers::{Registers, pmbsr};
use super::sample_filter::FilterType;

/// Outcome of a sampled operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOutcome {
    /// The maximum number of samples was in flight.
    Collided,
    /// The operation ran on a wrong path, and such operations leave no record.
    Squashed,
    /// A filter removed the sample.
    Filtered,
    /// The sample passed the filters, but the buffer did not accept it.
    Dropped,
    /// The record is in the buffer.
    Written,
}

/// Sampled operation and its outcome, kept on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledOp {
    /// Number of the operation in the population, from 1.
    pub number: u64,
    /// Outcome of the sample.
    pub outcome: SampleOutcome,
    /// Contents of the record; `None` for a collision.
    pub record: Option<SpeRecord>,
}

/// Sampled operation in flight.
#[derive(Clone, Copy, Debug)]
struct Sample {
    number: u64,
    /// Cycle in which the operation retired or was squashed.
    done: Cycle,
    record: SpeRecord,
    kind: FilterType,
    is_squashed: bool,
    /// The operation is a branch whose target is the address of the next operation.
    awaits_target: bool,
}

/// Statistical Profiling Extension of one core.
#[derive(Clone, Debug)]
pub struct Spe {
    pub(crate) config: SpeConfig,
    pub(crate) state: SpeContext,
    pub(crate) registers: Registers,
    pub(crate) interval: IntervalCounter,
    pub(crate) buffer: ProfilingBuffer,
    sources: RecordSources,
    /// Profiling is enabled at the program's level and state.
    is_on: bool,
    in_flight: VecDeque<Sample>,
    /// Operations of the population so far.
    population: u64,
    /// The previous operation was sampled, so its sample is the youngest.
    sampled_previous: bool,
    sampled_ops: Option<Vec<SampledOp>>,
}

impl Spe {
    /// Creates the unit of core number `core` in its reset state: nothing is enabled.
    pub fn new(config: &SpeConfig, core: usize) -> Spe {
        let random = RandomBytes::seeded(config.seed ^ (core as u64) << 32);
        Spe {
            config: config.clone(),
            state: SpeContext::default(),
            registers: Registers::default(),
            interval: IntervalCounter::new(config.random_after_interval, random),
            buffer: ProfilingBuffer::new(config),
            sources: RecordSources::default(),
            is_on: false,
            in_flight: VecDeque::new(),
            population: 0,
            sampled_previous: false,
            sampled_ops: None,
        }
    }

    /// Sets the rates of the core clock and of the system counter, for timestamps, and the value of
    /// `CNTPCT_EL0` in cycle 0.
    pub fn set_clocks(&mut self, core_hz: u64, counter_hz: u64, counter_start: u64) {
        (self.sources.core_hz, self.sources.counter_hz) = (core_hz, counter_hz);
        self.sources.counter_start = counter_start;
    }

    /// Sets `CNTVOFF_EL2`.
    pub fn set_virtual_offset(&mut self, offset: u64) {
        self.sources.virtual_offset = offset;
    }

    /// Sets `CONTEXTIDR_EL1` and `CONTEXTIDR_EL2`.
    pub fn set_contextidr(&mut self, el1: u32, el2: u32) {
        self.sources.contextidr = [el1, el2];
    }

    /// Sets `CPUECTLR.EXTLLC`. Events of the last level cache are recorded only when it is set.
    pub fn set_external_llc(&mut self, is_set: bool) {
        self.sources.has_external_llc = is_set;
    }

    /// Replaces the random generator for intervals with a repeated sequence of bytes.
    pub fn set_random(&mut self, bytes: Vec<u8>) {
        self.interval.set_random(RandomBytes::Given(bytes, 0));
    }

    /// Keeps every sampled operation and its outcome from now on.
    pub fn keep_sampled_ops(&mut self) {
        self.sampled_ops.get_or_insert_default();
    }

    /// Returns the sampled operations so far, in the order of their outcomes.
    pub fn sampled_ops(&self) -> &[SampledOp] {
        self.sampled_ops.as_deref().unwrap_or_default()
    }

    /// Takes the sampled operations so far.
    pub fn take_sampled_ops(&mut self) -> Vec<SampledOp> {
        self.sampled_ops.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Sets the profiling fields of `MDCR_EL2`. Other bits of `value` are ignored.
    pub fn set_mdcr_el2(&mut self, value: u64) {
        self.state.mdcr_el2 = value;
        self.refresh();
    }

    /// Sets the profiling fields of `MDCR_EL3`. Other bits of `value` are ignored.
    pub fn set_mdcr_el3(&mut self, value: u64) {
        self.state.mdcr_el3 = value;
        self.refresh();
    }

    /// Sets the program's exception level and security state.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.state.privilege = privilege;
        self.refresh();
    }

    /// Sets whether the program is A32 code and whether the core is in Debug state. Neither is ever
    /// profiled.
    pub fn set_mode(&mut self, is_aarch32: bool, is_in_debug_state: bool) {
        (self.state.aarch32, self.state.debug) = (is_aarch32, is_in_debug_state);
        self.refresh();
    }

    /// Returns whether operations are sampled.
    pub fn is_profiling(&self) -> bool {
        self.is_on
    }

    /// Returns the owner of the buffer.
    pub fn owner(&self) -> Owner {
        self.state.owner()
    }

    /// Returns the level of `PMBIRQ`. The same signal is input trigger 2 of the cross-trigger
    /// interface.
    pub fn interrupt(&self) -> bool {
        self.buffer.requests_service()
    }

    /// Returns the memory of the buffer.
    pub fn memory(&self) -> &BufferMemory {
        &self.buffer.memory
    }

    /// Returns the memory of the buffer for changes.
    pub fn memory_mut(&mut self) -> &mut BufferMemory {
        &mut self.buffer.memory
    }

    /// Returns the number of operations of the population so far.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// Processes the next operation of the core, in rename order. Raises the four events of guide
    /// 4.14.
    pub fn operation<S: EventSink>(&mut self, operation: &Operation, sink: &mut S) {
        if operation.timeline.mops == 0 {
            self.join_pair(operation);
            return;
        }
        self.set_target(operation);
        self.advance(operation.timeline.rename, sink);
        if operation.privilege != self.state.privilege {
            self.set_privilege(operation.privilege);
        }
        self.sampled_previous = false;
        let is_squashed = !operation.timeline.retired && !operation.exception;
        if !self.is_on || is_squashed && !self.config.population_wrong_path {
            return;
        }
        sink.count(PmuEvent::SAMPLE_POP, operation.timeline.mops.into());
        for mop in 0..operation.timeline.mops {
            self.population += 1;
            if self.interval.step(self.registers.pmsirr) {
                self.sample(operation, mop, sink);
            }
        }
    }

    /// Returns how many of the next MOPs the unit does not need while the level stays: none of
    /// them is sampled, and no sample waits for one.
    pub fn unneeded_mops(&self) -> u64 {
        match (self.in_flight.is_empty(), self.is_on) {
            (true, false) => u64::MAX,
            (true, true) if self.config.population_wrong_path => self.interval.unsampled(),
            _ => 0,
        }
    }

    /// Processes MOPs that [`Spe::unneeded_mops`] left out.
    pub fn skip<S: EventSink>(&mut self, mops: u64, sink: &mut S) {
        self.sampled_previous = false;
        if self.is_on {
            sink.count(PmuEvent::SAMPLE_POP, mops);
            self.population += mops;
            self.interval.skip(mops);
        }
    }

    /// Sets the branch target of the previous sample from this operation. [`Spe::operation`] does
    /// the same. A driver that calls this first can then finish samples one by one and serve the
    /// interrupt between them.
    #[inline]
    pub fn resolve_target(&mut self, operation: &Operation) {
        if operation.timeline.mops > 0 {
            self.set_target(operation);
        }
    }

    /// Finishes the oldest sample if its operation is complete in cycle `now`. Returns whether it
    /// was.
    #[inline]
    pub fn finish_one<S: EventSink>(&mut self, now: Cycle, sink: &mut S) -> bool {
        let is_over = self.in_flight.front().is_some_and(|sample| sample.done <= now);
        if is_over {
            self.finish_oldest(sink);
        }
        is_over
    }

    /// Finishes every sample whose operation is complete in cycle `now`.
    #[inline]
    pub fn advance<S: EventSink>(&mut self, now: Cycle, sink: &mut S) {
        while self.finish_one(now, sink) {}
    }

    /// Performs `PSB CSYNC` after a context synchronization event: finishes every earlier sample.
    pub fn synchronize<S: EventSink>(&mut self, sink: &mut S) {
        self.advance(Cycle::MAX, sink);
        self.sampled_previous = false;
    }

    /// Recomputes whether profiling is enabled. When it becomes enabled, an interval begins.
    pub(crate) fn refresh(&mut self) {
        let was_on = self.is_on;
        self.is_on = self.buffer.is_open() && self.state.samples(&self.registers);
        if self.is_on && !was_on {
            self.interval.start(self.registers.pmsirr);
        }
    }

    /// Samples an operation.
    fn sample<S: EventSink>(&mut self, operation: &Operation, mop: u8, sink: &mut S) {
        let timeline = &operation.timeline;
        if self.is_occupied(timeline.rename) {
            sink.raise(PmuEvent::SAMPLE_COLLISION);
            self.buffer.status |= pmbsr::COLL;
            self.remember(self.population, SampleOutcome::Collided, None);
            return;
        }
        sink.raise(PmuEvent::SAMPLE_FEED);
        let wanted = self.state.collected(&self.registers);
        let is_branch = matches!(operation.kind, OperationKind::Branch(_)) && mop == 0;
        let record = record_of(operation, mop, wanted, &self.sources);
        self.in_flight.push_back(Sample {
            number: self.population,
            done: timeline.retire,
            record,
            kind: if mop == 0 { FilterType::of(operation) } else { FilterType::Other },
            is_squashed: !timeline.retired && !operation.exception,
            awaits_target: is_branch && timeline.retired && record.branch_target.is_none(),
        });
        self.sampled_previous = true;
    }

    /// Returns whether the maximum number of samples is in flight.
    fn is_occupied(&self, now: Cycle) -> bool {
        let limit = self.config.samples_in_flight as usize;
        let is_in_flight = |sample: &&Sample| sample.done > now;
        limit > 0
            && self.in_flight.len() >= limit
            && self.in_flight.iter().filter(is_in_flight).count() >= limit
    }

    /// Adds the second half of a fused pair: if it is a branch, the MOP is recorded as one.
    fn join_pair(&mut self, operation: &Operation) {
        let is_branch = matches!(operation.kind, OperationKind::Branch(_));
        let Some(sample) = self.in_flight.back_mut().filter(|_| self.sampled_previous && is_branch)
        else {
            return;
        };
        collect::join_branch(operation, &mut sample.record);
        sample.kind = FilterType::Branch;
        sample.done = sample.done.max(operation.timeline.retire);
    }

    /// Sets the target of a sampled exception return to the address of the next operation.
    fn set_target(&mut self, operation: &Operation) {
        if !self.sampled_previous || !operation.timeline.retired && !operation.exception {
            return;
        }
        if let Some(sample) = self.in_flight.back_mut().filter(|sample| sample.awaits_target) {
            sample.awaits_target = false;
            sample.record.branch_target = Some(address(operation, operation.timeline.pc));
        }
    }

    /// Completes the oldest sample in flight: filters it and writes its record.
    fn finish_oldest<S: EventSink>(&mut self, sink: &mut S) {
        let Some(sample) = self.in_flight.pop_front() else { return };
        let Sample { number, record, kind, is_squashed, .. } = sample;
        let events: Events = record.events.unwrap_or_default();
        let total = record.total_latency.unwrap_or_default();
        let outcome = if is_squashed && !self.config.record_wrong_path {
            SampleOutcome::Squashed
        } else if !self.registers.collects(events, total, kind) {
            SampleOutcome::Filtered
        } else {
            sink.raise(PmuEvent::SAMPLE_FILTRATE);
            self.write(&record)
        };
        self.remember(number, outcome, Some(record));
    }

    fn write(&mut self, record: &SpeRecord) -> SampleOutcome {
        let slots = encode_n2(record);
        let written = match self.config.align_bytes as usize {
            N2_RECORD_BYTES => self.buffer.write(&slots),
            align => self.buffer.write(&packed(&slots, align)),
        };
        self.refresh();
        if written { SampleOutcome::Written } else { SampleOutcome::Dropped }
    }

    fn remember(&mut self, number: u64, outcome: SampleOutcome, record: Option<SpeRecord>) {
        if let Some(sampled_ops) = &mut self.sampled_ops {
            sampled_ops.push(SampledOp { number, outcome, record });
        }
    }
}

/// Returns the packets of a record without the padding between them, padded to a multiple of
/// `align`.
fn packed(slots: &[u8; N2_RECORD_BYTES], align: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N2_RECORD_BYTES);
    let mut rest = &slots[..];
    while let Ok((packet, taken)) = Packet::decode(rest) {
        if packet != Packet::Padding {
            bytes.extend_from_slice(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
    bytes.resize(bytes.len().next_multiple_of(align), 0);
    bytes
}
