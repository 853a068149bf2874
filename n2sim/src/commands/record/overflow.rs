//! `n2sim record -e EVENT`: the trace under counters that overflow.

use sim_pmu::overflow::{OverflowRequest, OverflowSampler, OverflowSamplers};
use sim_pmu::spe::Clocks;
use sim_report::perf_data::overflow::{OverflowEvent, OverflowProfile, OverflowSample};
use sim_report::perf_data::records::{Sample, nanoseconds};

use super::Recording;
use super::file::PID;
use super::forms::Destination;
use super::request::CounterEvent;

/// Runs the trace and writes the samples. Returns notes for the user and the number of instructions
/// that ran.
pub(super) fn record(
    recording: &Recording<'_>,
    events: &[CounterEvent],
) -> anyhow::Result<(Vec<String>, u64)> {
    let requests: Vec<OverflowRequest> = events.iter().map(|event| event.request).collect();
    let samplers = OverflowSamplers::new(&requests, recording.cores());
    let mut samplers = samplers.map_err(|error| {
        anyhow::anyhow!("{error}: record fewer at a time, or count them with n2sim stat")
    })?;
    let trace = recording.session.trace();
    let destination = Destination::open(recording.args, trace, events.len())?;
    let (outcome, instructions) = recording.replay(&mut samplers)?;
    let profile = profile(recording, events, samplers.into_cores());
    let mut notes = destination.write(profile, trace, &recording.machine())?;
    notes.extend(outcome.notes);
    Ok((notes, instructions))
}

fn profile(
    recording: &Recording<'_>,
    events: &[CounterEvent],
    mut cores: Vec<OverflowSampler>,
) -> OverflowProfile {
    let core = &recording.config.core;
    let (core_hz, counter_hz) = (core.clock_hz, core.counter_hz);
    let clocks = Clocks { core_hz, counter_hz, start: recording.counter_start() };
    let time = |cycle| nanoseconds(clocks.ticks(cycle), clocks.counter_hz);
    let last = cores.iter().map(OverflowSampler::now).max().unwrap_or_default();
    let mut samples = Vec::new();
    for (thread, core) in cores.iter_mut().enumerate() {
        samples.extend(core.take().into_iter().map(|overflow| OverflowSample {
            event: overflow.request,
            thread,
            time: time(overflow.cycle),
            sample: Sample {
                ip: overflow.pc,
                is_kernel: overflow.level > 0,
                period: events[overflow.request].request.period,
                callers: overflow.callers,
            },
        }));
    }
    samples.sort_by_key(|sample| sample.time);
    OverflowProfile {
        events: events.iter().map(|asked| event(asked, recording.absent_levels())).collect(),
        comm: recording.comm(),
        tids: (0..cores.len() as u32).map(|core| PID + core).collect(),
        times: (time(0), time(last) + 1),
        samples,
        ..OverflowProfile::default()
    }
}

fn event(event: &CounterEvent, absent: u64) -> OverflowEvent {
    OverflowEvent {
        name: event.name.clone(),
        code: event.request.event.event.code(),
        period: event.request.period,
        excluded: event.excluded() | absent,
    }
}
