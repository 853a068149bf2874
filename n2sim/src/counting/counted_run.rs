//! Runs whose events share the counters of a core, as `perf stat` would count them.
//!
//! No counter observes the run: counters get its totals at the end, and those whose counts depend
//! on time get sums at their deadlines.

use sim_core::{Counts, DeferredSink, EventSink, Notice, PmuEvent, Privilege};
use sim_machine::{CoreOutcome, Level, MachineError, Outcome, RunOptions, Session};
use sim_pmu::CoreEvent;
use sim_pmu::counter::CounterCount;
use sim_pmu::perf::{Group, Passes, PerfEvent, PerfSession, PerfSetup, Reading, Status};
use sim_report::{Selected, stat};

use crate::counting::event_list::{self, EventGroup, ListedEvent};

/// The way of counting events without a counter of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// They are multiplexed with this number of nanoseconds between rotations.
    Multiplexed(u64),
    /// Each has a counter for the whole run, as in repeated runs.
    Passes,
}

/// The requested events, and those that the trace can answer.
pub(crate) struct Request<E = PmuEvent> {
    /// The events, one after another.
    pub(crate) events: Vec<Selected<E>>,
    /// The counted groups, without the events of a kernel that is not in the trace.
    pub(crate) groups: Vec<Group<E>>,
    /// Event counters of the machine.
    pub(crate) counters: CounterCount,
    is_supported: Vec<bool>,
    /// The trace has other exception levels than EL0, so filters and the security state matter.
    has_kernel: bool,
}

/// A run to count.
#[derive(Clone, Copy)]
pub(crate) struct Replay<'a> {
    pub(crate) session: &'a Session,
    pub(crate) options: &'a RunOptions,
    pub(crate) request: &'a Request,
    /// The revision counts one stalled slot too many in every cycle.
    pub(crate) has_stall_slot_erratum: bool,
}

/// The counts of a run.
pub(crate) struct Measured {
    /// The run.
    pub(crate) outcome: Outcome,
    /// For each core the reading of each event.
    pub(crate) readings: Vec<Vec<Reading>>,
    /// The readings of exclusive counters, for each core.
    pub(crate) truth: Vec<Vec<Reading>>,
    /// Rotations on all cores together.
    pub(crate) rotations: u64,
    /// The number of runs that a machine would have needed.
    pub(crate) passes: usize,
}

impl Measured {
    /// Returns the exact counts of all events of a run.
    pub(crate) fn of_all(outcome: Outcome) -> Measured {
        let (readings, truth) = (Vec::new(), Vec::new());
        Measured { outcome, readings, truth, rotations: 0, passes: 1 }
    }
}

impl<E: ListedEvent> Request<E> {
    /// Returns the groups of the command line for a trace with or without its kernel.
    pub(crate) fn new(groups: &[EventGroup<E>], has_kernel: bool) -> Request<E> {
        let is_supported = |selected: &Selected<E>| {
            !event_list::is_nowhere(selected) && (has_kernel || selected.event.levels.user)
        };
        let events: Vec<Selected<E>> =
            groups.iter().flat_map(|group| group.events.clone()).collect();
        let mut requested = Vec::new();
        for group in groups {
            let events = group.events.iter().filter(|selected| is_supported(selected));
            let events: Vec<Selected<E>> = events.cloned().collect();
            if !events.is_empty() {
                requested.push(EventGroup { events, ..group.clone() }.request());
            }
        }
        Request {
            is_supported: events.iter().map(is_supported).collect(),
            has_kernel,
            groups: requested,
            counters: CounterCount::default(),
            events,
        }
    }

    /// Returns the request on a machine with other counters.
    pub(crate) fn on(self, counters: CounterCount) -> Request<E> {
        Request { counters, ..self }
    }

    /// Returns whether an event of the core cannot be counted because the trace has no kernel.
    pub(crate) fn lacks_kernel(&self) -> bool {
        let mut events = self.events.iter().zip(&self.is_supported);
        events.any(|(event, is_supported)| !is_supported && !event_list::is_nowhere(event))
    }

    /// Refuses the events that find no counter even when their group is alone on a core.
    pub(crate) fn refuse_what_never_fits(&mut self)
    where
        E: CoreEvent,
    {
        let mut fits = Vec::new();
        for group in &mut self.groups {
            let accepted = PerfSetup::new(std::slice::from_ref(group), self.counters).accepted();
            let mut is_accepted = accepted.iter();
            group.events.retain(|_| is_accepted.next() == Some(&true));
            fits.extend(accepted);
        }
        let supported = self.is_supported.iter_mut().filter(|is_supported| **is_supported);
        supported.zip(fits).for_each(|(is_supported, fits)| *is_supported = fits);
    }

    /// Returns the readings of all events, with unsupported ones at their positions.
    pub(crate) fn all(&self, cores: usize, counted: Vec<Vec<Reading>>) -> Vec<Vec<Reading>> {
        let refused = Reading { status: Status::NotSupported, ..Reading::default() };
        let of_core = |core: usize| {
            let mut counted = counted.get(core).into_iter().flatten();
            let reading = |is_supported: &bool| {
                if *is_supported { counted.next().copied().unwrap_or_default() } else { refused }
            };
            self.is_supported.iter().map(reading).collect()
        };
        (0..cores).map(of_core).collect()
    }
}

impl Request {
    /// Runs the trace and counts.
    pub(crate) fn measure(
        &self,
        session: &Session,
        options: &RunOptions,
        method: Method,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Measured, MachineError> {
        let interval_ns = match method {
            Method::Multiplexed(interval_ns) => interval_ns,
            Method::Passes => return self.repeat(session, options, progress),
        };
        let mut turns = self.session(interval_ns, session.clock_hz());
        if self.has_kernel {
            // The run's own totals have no filters.
            let mut passes = Passes::new(&self.groups, self.counters);
            let outcome =
                session.run_deferred(options, progress, &mut (&mut turns, &mut passes))?;
            let truth = self.all(outcome.cores.len(), passes.readings_by_core());
            return Ok(self.measured(outcome, turns, truth));
        }
        let takes_turns = turns.is_multiplexed();
        let outcome = self.count(session, options, takes_turns, progress, &mut turns)?;
        let truth = stat::exact(&outcome, &self.events);
        Ok(self.measured(outcome, turns, truth))
    }

    /// Runs the trace for these counters. With `depends_on_time`, they get their counts during the
    /// run, because these depend on the time of an event.
    pub(crate) fn count<C: DeferredSink>(
        &self,
        session: &Session,
        options: &RunOptions,
        depends_on_time: bool,
        progress: &mut dyn FnMut(u64),
        counters: &mut C,
    ) -> Result<Outcome, MachineError> {
        if depends_on_time || self.has_kernel || self.groups.iter().any(has_internal) {
            return session.run_deferred(options, progress, counters);
        }
        let outcome = session.run(options, progress)?;
        let levels = outcome.cores.iter().flat_map(|core| &core.levels);
        if levels.into_iter().any(|part| part.level != Level::default()) {
            // The trace claims to be an application's but has exceptions.
            return session.run_deferred(options, progress, counters);
        }
        pass_totals(&outcome, counters);
        Ok(outcome)
    }

    /// Returns counters that rotate every `interval_ns` nanoseconds of modeled time.
    pub(crate) fn session(&self, interval_ns: u64, clock_hz: u64) -> PerfSession {
        let cycles = u128::from(interval_ns) * u128::from(clock_hz) / 1_000_000_000;
        let cycles = u64::try_from(cycles).unwrap_or(u64::MAX);
        PerfSession::new(PerfSetup::new(&self.groups, self.counters), cycles)
    }

    fn measured(
        &self,
        outcome: Outcome,
        mut turns: PerfSession,
        truth: Vec<Vec<Reading>>,
    ) -> Measured {
        let readings = self.all(outcome.cores.len(), turns.readings_by_core());
        Measured { outcome, readings, truth, rotations: turns.rotations(), passes: 1 }
    }

    /// Counts in one run with the counters of all passes: each repetition would be the same to the
    /// bit.
    fn repeat(
        &self,
        session: &Session,
        options: &RunOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Measured, MachineError> {
        let mut passes = Passes::new(&self.groups, self.counters);
        let outcome = self.count(session, options, false, progress, &mut passes)?;
        let readings = self.all(outcome.cores.len(), passes.readings_by_core());
        let truth = match self.has_kernel {
            true => readings.clone(),
            false => stat::exact(&outcome, &self.events),
        };
        Ok(Measured { outcome, readings, truth, rotations: 0, passes: passes.len() })
    }

    /// Returns the readings of exclusive counters in a run that was put together from parts.
    pub(crate) fn of(&self, outcome: Outcome) -> Measured {
        if self.events.is_empty() {
            return Measured::of_all(outcome);
        }
        let of_core = |core: &CoreOutcome| {
            let events = self.events.iter().zip(&self.is_supported).filter(|(_, is)| **is);
            let counts = core.counts.unpack();
            let value = |event: &PerfEvent| {
                let value = self.value(core, &counts, event);
                stat::reading(outcome.header.mode, &counts, event.event, value)
            };
            events.map(|(selected, _)| value(&selected.event)).collect()
        };
        let readings = outcome.cores.iter().map(of_core).collect();
        let readings = self.all(outcome.cores.len(), readings);
        Measured { outcome, truth: readings.clone(), readings, rotations: 0, passes: 1 }
    }

    /// Returns what a core counted at the levels of an event; `counts` are those of all its levels.
    fn value(&self, core: &CoreOutcome, counts: &Counts, selected: &PerfEvent) -> u64 {
        let PerfEvent { event, levels, .. } = selected;
        if !self.has_kernel {
            return counts.value(*event);
        }
        // A kernel at EL2 is the hypervisor.
        let has_el1 = core.levels.iter().any(|part| part.level.level == 1);
        let is_counted = |level: Level| match level.level {
            0 => levels.user,
            2 if has_el1 => levels.hypervisor,
            1 | 2 => levels.kernel,
            _ => false,
        };
        let parts = core.levels.iter().filter(|part| is_counted(part.level));
        parts.map(|part| part.counts.value(*event)).sum()
    }
}

/// Returns whether the count of an event depends on the counters: writes of `PMSWINC_EL0` name one,
/// and `CHAIN` counts the overflows of another.
fn has_internal(group: &Group) -> bool {
    group.events.iter().any(|event| matches!(event.event, PmuEvent::SW_INCR | PmuEvent::CHAIN))
}

/// Passes the counts of each core of an application to the counters, as one part of the run.
fn pass_totals(outcome: &Outcome, counters: &mut impl EventSink) {
    for (number, core) in outcome.cores.iter().enumerate() {
        counters.notify(Notice::Core(number));
        counters.notify(Notice::Privilege(Privilege::default()));
        if !core.is_counted {
            continue;
        }
        counters.notify(Notice::Counting(true));
        let counts = core.counts.unpack();
        for event in PmuEvent::ALL {
            let n = counts.raised(event);
            if n > 0 {
                counters.count(event, n);
            }
        }
        counters.notify(Notice::Counting(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::{ConfigSource, MachineConfig, RunHeader};
    use sim_trace::{Meta, StreamEvent, TraceWriter};
    use std::path::Path;

    fn committed(trace: &str, revision: &str) -> Session {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(trace);
        session(&path, revision)
    }

    fn session(trace: &Path, revision: &str) -> Session {
        let overrides = [format!("core.revision={revision}")];
        let source = ConfigSource { overrides: &overrides, ..ConfigSource::default() };
        let document = source.document().expect("the default machine");
        let config = MachineConfig::from_document(&document).expect("the default machine");
        Session::open(trace, config, RunHeader::default()).expect("a trace")
    }

    /// Returns the readings of counters that get the totals, core by core. They equal the readings
    /// of counters that observe the run.
    fn totaled_and_observed(
        session: &Session,
        options: &RunOptions,
        list: &str,
    ) -> Vec<Vec<Reading>> {
        let groups = event_list::parse_all(&[list.to_owned()]).expect("a list of events");
        let request = Request::new(&groups, session.trace().meta().machine.full_system);
        let mut totaled = request.session(4_000_000, session.clock_hz());
        let mut observed = totaled.clone();
        assert!(!totaled.is_multiplexed(), "{list} fits");
        let outcome = request.count(session, options, false, &mut |_| {}, &mut totaled);
        let observing = session.run_with_sink(options, &mut |_| {}, &mut observed);
        let mut summed = request.session(4_000_000, session.clock_hz());
        let deferred = request.count(session, options, true, &mut |_| {}, &mut summed);
        let text = |outcome: Result<Outcome, _>| format!("{:?}", outcome.expect("it runs"));
        let (outcome, deferred) = (text(outcome), text(deferred));
        assert_eq!((&outcome, outcome.as_str()), (&deferred, text(observing).as_str()), "{list}");
        let readings = totaled.readings_by_core();
        assert_eq!(readings, observed.readings_by_core(), "{list}");
        assert_eq!(readings, summed.readings_by_core(), "{list}");
        readings
    }

    #[test]
    fn counters_that_get_the_totals_read_the_same_as_counters_that_observe_the_run() {
        let options = RunOptions { warmup: 3_000, limit: Some(60_000), roi: None };
        for (trace, revision) in [("sort.n2t", "r0p3"), ("atomics.n2t", "r0p0")] {
            let session = committed(trace, revision);
            for list in [
                "cycles,instructions,l1d_cache_refill,stall_slot,stall_backend_mem",
                "{mem_access,l1d_tlb,bus_access}:u,op_spec,cycles:u",
                "{br_mis_pred,ld_spec,st_spec,dp_spec,ase_spec,vfp_spec,crypto_spec}",
                "{instructions,cycles}:D,{l1d_cache,l1d_cache_refill}:e",
                "sw_incr,chain,instructions",
            ] {
                totaled_and_observed(&session, &options, list);
            }
        }
    }

    #[test]
    fn a_thread_that_ends_in_the_warm_up_is_not_counted() {
        let session = committed("atomics.n2t", "r0p3");
        let lengths: Vec<u64> = session.trace().streams().iter().map(|s| s.instructions).collect();
        let (shorter, longer) = (lengths[0].min(lengths[1]), lengths[0].max(lengths[1]));
        assert!(shorter + 100 < longer, "{lengths:?}");
        let options = RunOptions { warmup: shorter + 50, limit: None, roi: None };
        let readings = totaled_and_observed(&session, &options, "instructions");
        let statuses: Vec<Status> = readings.iter().map(|core| core[0].status).collect();
        assert!(statuses.contains(&Status::Counted) && statuses.contains(&Status::NotCounted));
    }

    #[test]
    fn exceptions_in_the_trace_of_an_application_are_observed() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("exception.n2t");
        let mut writer = TraceWriter::create(&path, Meta::default()).expect("a new file");
        let (add, svc) = (0x9100_0421, 0xd400_0001);
        let call = writer.define_block(0x40_0000, &[add, svc]).expect("a block");
        let kernel = writer.define_block(0xffff_8000_0000_0400, &[add; 9]).expect("a block");
        let event = StreamEvent::Exception {
            vector: 0x400,
            abandoned: false,
            level: 0,
            syndrome: 0,
            state: 0,
        };
        writer.push_block(0, call, 2, &[], Some(event)).expect("a known block");
        writer.push_block(0, kernel, 9, &[], None).expect("a known block");
        writer.finish().expect("a whole trace");
        let session = session(&path, "r0p3");
        let readings = totaled_and_observed(&session, &RunOptions::default(), "instructions:u");
        assert_eq!(readings[0][0].value, 2, "the handler runs at EL1");
    }
}
