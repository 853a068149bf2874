//! `n2sim record --core cortex-a53`: overflow samples of a Cortex-A53.

use std::io::Write;

use anyhow::bail;
use sim_a53::A53Event;
use sim_a53::overflow::{SampledCore, run_sampled};
use sim_pmu::overflow::Sampled;
use sim_pmu::perf::Levels;
use sim_report::perf_data::machine::Cpu;
use sim_report::perf_data::overflow::{OverflowEvent, OverflowProfile, OverflowSample};
use sim_report::perf_data::records::Sample;
use sim_trace::TraceFile;

use super::args::{AUX_BUFFER, DEFAULT_EVENT, MetadataName, RecordArgs};
use super::file::{self, PID, START_SECONDS, absent_levels, comm};
use super::forms::Destination;
use super::request::{EVENT_PERIOD, excluded, is_spe};
use crate::commands::stat_a53::note_instructions;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// `MIDR_EL1` of the last revision, r0p4.
const MIDR: u64 = 0x410f_d034;
/// The core as Linux names it and its PMU. It has no sampling unit.
const CPU: Cpu = Cpu { name: "Cortex-A53", pmu: "armv8_cortex_a53", has_spe: false };
const NANOSECONDS: u64 = 1_000_000_000;

/// A requested event.
struct Request {
    /// The name of the event, as the user wrote it.
    name: String,
    sampled: Sampled,
}

/// Runs the trace and writes the profile.
pub(super) fn run(args: &RecordArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let requests = requests(args)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    let sampled: Vec<Sampled> = requests.iter().map(|request| request.sampled).collect();
    let destination = Destination::open(args, &trace, requests.len())?;
    let cores = run_sampled(&trace, &config, args.region.part.limit, &sampled)?;
    let profile = profile(args, &trace, &requests, config.cluster.clock_hz, &cores);
    let machine = file::machine(MIDR, CPU, cores.len());
    for note in destination.write(profile, &trace, &machine)? {
        writeln!(call::stderr(), "n2sim: {note}")?;
    }
    let outcomes: Vec<_> = cores.into_iter().map(|core| core.outcome).collect();
    note_instructions(&outcomes)?;
    Ok(Verdict::Good)
}

fn requests(args: &RecordArgs) -> anyhow::Result<Vec<Request>> {
    let period = args.count.unwrap_or(EVENT_PERIOD);
    if let Some(list) = args.event.iter().find(|list| is_spe(list)) {
        bail!(
            "-e {list}: a Cortex-A53 has no Statistical Profiling Extension; name events, such as \
             -e cycles,l1d_cache_refill"
        );
    }
    let names = args.event.iter().flat_map(|list| list.split(',')).map(str::trim);
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        names.push(DEFAULT_EVENT);
    }
    names.into_iter().map(|name| request(name, period)).collect()
}

/// Reads an event with its levels, such as `cycles:u`.
fn request(name: &str, period: u64) -> anyhow::Result<Request> {
    let (event, modifiers) = name.split_once(':').unwrap_or((name, ""));
    let found =
        A53Event::from_name(event).map_err(|error| anyhow::anyhow!("-e {name}: {error}"))?;
    if let Some(why) = sim_a53::event::never_raised(found) {
        bail!("-e {name}: it never overflows: {why}");
    }
    if let Some(other) = modifiers.chars().find(|modifier| !"ukhpP".contains(*modifier)) {
        bail!("-e {name}: unknown modifier '{other}'; use u (user), k (kernel) or h (hypervisor)");
    }
    let levels = match modifiers.contains(['u', 'k', 'h']) {
        false => Levels::ALL,
        true => Levels {
            user: modifiers.contains('u'),
            kernel: modifiers.contains('k'),
            hypervisor: modifiers.contains('h'),
        },
    };
    Ok(Request { name: name.to_owned(), sampled: Sampled { code: found.code(), levels, period } })
}

fn profile(
    args: &RecordArgs,
    trace: &TraceFile,
    requests: &[Request],
    clock_hz: u64,
    cores: &[SampledCore],
) -> OverflowProfile {
    let time = |cycle: u64| {
        let passed = u128::from(cycle) * u128::from(NANOSECONDS) / u128::from(clock_hz.max(1));
        START_SECONDS * NANOSECONDS + passed as u64
    };
    let mut samples = Vec::new();
    for (thread, core) in cores.iter().enumerate() {
        samples.extend(core.samples.iter().map(|overflow| OverflowSample {
            event: overflow.request,
            thread,
            time: time(overflow.cycle.min(core.cycles)),
            sample: Sample {
                ip: overflow.pc,
                is_kernel: overflow.level > 0,
                period: requests[overflow.request].sampled.period,
                callers: overflow.callers.clone(),
            },
        }));
    }
    samples.sort_by_key(|sample| sample.time);
    let event = |request: &Request| OverflowEvent {
        name: request.name.clone(),
        code: request.sampled.code,
        period: request.sampled.period,
        excluded: excluded(request.sampled.levels) | absent_levels(trace),
    };
    let last = cores.iter().map(|core| core.cycles).max().unwrap_or_default();
    OverflowProfile {
        events: requests.iter().map(event).collect(),
        comm: comm(&args.trace, trace),
        tids: (0..cores.len() as u32).map(|core| PID + core).collect(),
        times: (time(0), time(last) + 1),
        samples,
        ..OverflowProfile::default()
    }
}

/// Refuses the options that only the Neoverse N2 has.
fn refuse_others(args: &RecordArgs) -> anyhow::Result<()> {
    let refused = [
        (args.raw, "--raw"),
        (args.metadata != MetadataName::V1, "--metadata"),
        (args.aux_buffer != AUX_BUFFER, "--aux-buffer"),
        (args.region.part.warmup > 0, "--warmup"),
        (args.region.roi.is_some(), "--roi"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use -e, -c, -o, \
             --format, --elf, --limit, --config, --set or --seed"
        ),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_have_levels() {
        let levels = |name| request(name, 1).map(|request| request.sampled.levels).ok();
        assert_eq!(levels("cycles"), Some(Levels::ALL));
        let user = Levels { user: true, kernel: false, hypervisor: false };
        assert_eq!(levels("rE7:u"), Some(user));
        assert_eq!(levels("cycles:x"), None);
    }
}
