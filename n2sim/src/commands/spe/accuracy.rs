//! Runs the profiled trace, observes every operation, and samples with several intervals at once.
//! The result is the exact distribution, and what each interval would have shown.

use anyhow::Context;
use sim_core::{EventSink, Notice, NullSink, PmuEvent};
use sim_machine::{MachineConfig, Outcome, RunHeader};
use sim_pmu::spe::context::mdcr;
use sim_pmu::spe::registers::{pmblimitr, pmscr, pmsirr};
use sim_pmu::spe::{SampleOutcome, Spe, SpeConfig, SpeRecord, SpeRegister};
use sim_report::spe::profile::Profile;
use sim_report::spe::truth::{Funnel, Sampled};

use super::ComparisonArgs;
use crate::files::open_trace;
use sim_core::Shown;

/// The profiling buffer. It is too large to fill.
const BUFFER: u64 = 1 << 20;
const BUFFER_END: u64 = 1 << 48;
/// Operations between two emptyings of the buffers.
const BATCH: u32 = 4096;

/// The observations of a run.
pub(super) struct Observed {
    /// Every operation that retired, as if each had been sampled.
    pub(super) exact: Profile,
    /// The samples of each interval.
    pub(super) sampled: Vec<Sampled>,
    /// A sampled load that missed the L1 D-cache, or else any sampled operation.
    pub(super) example: Option<SpeRecord>,
    /// The duration of the counted part in seconds of modeled time, by its slowest core.
    pub(super) seconds: f64,
}

/// Runs the trace.
pub(super) fn run(trace: &std::path::Path, args: &ComparisonArgs) -> anyhow::Result<Observed> {
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let config = MachineConfig::from_document(&document)?;
    let mut sink = SamplingSink::new(&config, &intervals(args)?);
    let header = RunHeader { trace: trace.shown().to_string(), ..RunHeader::default() };
    let session = open_trace::session(trace, config, header)?;
    let options = args.part.run_options();
    let outcome = session.run_with_sink(&options, &mut |_| {}, &mut sink)?;
    Ok(sink.finish(seconds(&outcome)))
}

fn seconds(outcome: &Outcome) -> f64 {
    let cycles = outcome.cores.iter().map(|core| core.counts.value(PmuEvent::CPU_CYCLES)).max();
    cycles.unwrap_or(0).max(1) as f64 / outcome.clock_hz as f64
}

/// Returns the requested intervals: multiples of 256 that the register can hold.
fn intervals(args: &ComparisonArgs) -> anyhow::Result<Vec<u64>> {
    for interval in &args.intervals {
        let fits = *interval > 0 && interval & !pmsirr::INTERVAL == 0;
        let context =
            || format!("--intervals {interval}: give multiples of 256, such as 1024,4096");
        fits.then_some(()).with_context(context)?;
    }
    Ok(args.intervals.clone())
}

/// A sampling unit with its records so far.
struct Sampler {
    unit: Spe,
    funnel: Funnel,
    profile: Profile,
    example: Option<SpeRecord>,
}

impl Sampler {
    /// Returns a unit that samples everything below EL3 into a buffer that is never full. Interval
    /// 0 samples every operation.
    fn new(
        config: &SpeConfig,
        core: usize,
        interval: u64,
        jitter: bool,
        clocks: (u64, u64),
    ) -> Sampler {
        let mut unit = Spe::new(config, core);
        let (core_hz, counter_hz) = clocks;
        unit.set_clocks(core_hz, counter_hz, 0);
        // EL2 owns the buffer, so all levels below EL3 can be profiled.
        unit.set_mdcr_el3(mdcr::NSPB);
        unit.set_mdcr_el2(0);
        unit.set(SpeRegister::PMSIRR_EL1, interval | if jitter { pmsirr::RND } else { 0 });
        unit.set(SpeRegister::PMSCR_EL1, pmscr::E0 | pmscr::OWN);
        unit.set(SpeRegister::PMSCR_EL2, pmscr::E0 | pmscr::OWN | pmscr::PA | pmscr::TS);
        unit.set(SpeRegister::PMBPTR_EL1, BUFFER);
        unit.set(SpeRegister::PMBLIMITR_EL1, BUFFER_END | pmblimitr::E);
        unit.keep_sampled_ops();
        Sampler { unit, funnel: Funnel::default(), profile: Profile::default(), example: None }
    }

    /// Takes the finished samples and frees the written part of the buffer.
    fn collect(&mut self) {
        for op in self.unit.take_sampled_ops() {
            self.funnel.due += 1;
            *match op.outcome {
                SampleOutcome::Collided => &mut self.funnel.collided,
                SampleOutcome::Squashed => &mut self.funnel.abandoned,
                SampleOutcome::Filtered => &mut self.funnel.filtered,
                SampleOutcome::Dropped => &mut self.funnel.dropped,
                SampleOutcome::Written => &mut self.funnel.written,
            } += 1;
            if let (SampleOutcome::Written, Some(record)) = (op.outcome, &op.record) {
                self.profile.add(record);
                let is_far = |record: &SpeRecord| record.data_source.is_some_and(|it| it > 0);
                if self.example.is_none_or(|example| !is_far(&example) && is_far(record)) {
                    self.example = Some(*record);
                }
            }
        }
        let written = self.unit.get(SpeRegister::PMBPTR_EL1);
        self.unit.memory_mut().discard_below(written);
    }

    fn finish(&mut self) {
        self.unit.synchronize(&mut NullSink);
        self.collect();
        self.funnel.population = self.unit.population();
    }
}

/// A sink that samples a run: for each core one unit that samples everything, then one for each
/// interval.
struct SamplingSink {
    config: SpeConfig,
    has_external_llc: bool,
    clocks: (u64, u64),
    intervals: Vec<u64>,
    cores: Vec<Vec<Sampler>>,
    core: usize,
    is_counted: bool,
    operations: u32,
}

impl SamplingSink {
    fn new(config: &MachineConfig, intervals: &[u64]) -> SamplingSink {
        SamplingSink {
            config: config.spe.clone(),
            has_external_llc: config.semantics.extllc,
            clocks: (config.core.clock_hz, config.core.counter_hz),
            intervals: intervals.to_vec(),
            cores: Vec::new(),
            core: 0,
            is_counted: false,
            operations: 0,
        }
    }

    /// Returns the units of one core.
    fn samplers(&self, core: usize) -> Vec<Sampler> {
        let everything = SpeConfig { samples_in_flight: 0, ..self.config.clone() };
        let census = Sampler::new(&everything, core, 0, false, self.clocks);
        let sampling = self
            .intervals
            .iter()
            .map(|interval| Sampler::new(&self.config, core, *interval, true, self.clocks));
        let mut all: Vec<Sampler> = std::iter::once(census).chain(sampling).collect();
        all.iter_mut().for_each(|it| it.unit.set_external_llc(self.has_external_llc));
        all
    }

    /// Returns the sums over all cores.
    fn finish(self, seconds: f64) -> Observed {
        let intervals = std::iter::once(None).chain(self.intervals.iter().copied().map(Some));
        let mut sums: Vec<Sampled> = intervals
            .map(|interval| Sampled {
                interval,
                funnel: Some(Funnel::default()),
                ..Sampled::default()
            })
            .collect();
        let mut example = None;
        for samplers in self.cores {
            for (sum, mut sampler) in sums.iter_mut().zip(samplers) {
                sampler.finish();
                sum.profile.merge(&sampler.profile);
                sum.funnel = sum.funnel.map(|so_far| so_far.plus(&sampler.funnel));
                example = example.or(sampler.example.filter(|_| sum.interval.is_some()));
            }
        }
        let exact = sums.remove(0).profile;
        Observed { exact, sampled: sums, example, seconds }
    }
}

impl EventSink for SamplingSink {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.core = core;
                while self.cores.len() <= core {
                    let samplers = self.samplers(self.cores.len());
                    self.cores.push(samplers);
                }
            }
            Notice::Counting(is_counted) => {
                self.is_counted = is_counted;
            }
            Notice::Privilege(privilege) => {
                let samplers = self.cores.get_mut(self.core).into_iter().flatten();
                samplers.for_each(|sampler| sampler.unit.set_privilege(privilege));
            }
            Notice::Operation(operation) => {
                if !self.is_counted {
                    return;
                }
                let Some(samplers) = self.cores.get_mut(self.core) else { return };
                self.operations += 1;
                let is_batch = self.operations.is_multiple_of(BATCH);
                for sampler in samplers {
                    sampler.unit.operation(operation, &mut NullSink);
                    if is_batch {
                        sampler.collect();
                    }
                }
            }
            _ => {}
        }
    }
}
