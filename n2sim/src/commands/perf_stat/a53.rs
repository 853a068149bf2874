//! `n2sim perf-stat --core cortex-a53`: the counts of a run on a Cortex-A53.

use std::io::Write;

use sim_a53::{A53Config, A53Event, Part};
use sim_core::Shown;
use sim_machine::RunHeader;
use sim_pmu::perf::Reading;
use sim_report::a53_stat::{self, A53Counted};
use sim_report::stat::program_name;
use sim_report::{Owner, Selected};
use sim_trace::TraceFile;

use super::options::PerfOptions;
use super::print::{self, Destination, Print};
use super::{Begin, Events, PerfStatArgs};
use crate::commands::stat_a53::note_instructions;
use crate::counting::a53_run::{self, A53Run};
use crate::counting::counted_run::Request;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::shared_args::{CoreName, PartArgs};

/// Counts and prints as `perf stat` would.
pub(super) fn run(args: &PerfStatArgs, options: &PerfOptions) -> anyhow::Result<()> {
    let events = Events::<A53Event>::parse(options)?;
    events.mesh.refuse("--core cortex-a53", "its cluster has no mesh")?;
    let control = Begin::open(options)?;
    let path = super::trace(args, options)?;
    let document = a53_config::document(&args.machine)?;
    let config = A53Config::from_document(&document)?;
    let trace = TraceFile::open_within(&path, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &path, &trace)?;
    let clock_hz = config.cluster.clock_hz;
    let interval = super::time_of(options, clock_hz, trace.instructions())?;
    let output = Destination::open(options)?;
    let was_on = control.wait()?;
    if options.verbose > 0 {
        let part = CoreName::CortexA53.description().map_or(0, |core| core.part);
        // Arm, r0p4: the revision that Arm's description of the core is of.
        let midr = 0x410F_0004 | u64::from(part) << 4;
        writeln!(call::stderr(), "Using CPUID {midr:#018x}")?;
    }
    let request = Request::new(&events.groups, trace.meta().machine.full_system);
    let mut request = request.on(args.counters.counters);
    if args.mux_interval.is_none() {
        request.refuse_what_never_fits();
    }
    let PartArgs { warmup, limit } = args.part;
    let part = &Part { warmup, limit, ..Part::default() };
    let run = A53Run { trace: &trace, config: &config, part, request: &request };
    let measured = run.measure(args.mux_interval, interval)?;
    let name = path.shown().to_string();
    let report =
        |events: &[Selected<A53Event>], readings: &[Vec<Reading>], owners: Option<&[Owner]>| {
            let names = &a53_run::names(events);
            let counted = A53Counted { names, readings, truth: None, owners, clock_hz };
            counted.report(&name, measured.cycles())
        };
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: name.clone(),
        trace_hash: trace.hash(),
        ..RunHeader::default()
    };
    let print = Print {
        options,
        events: &events,
        request: &request,
        threads: a53_stat::threads(&program_name(&name), &measured.cores),
        origin: print::origin(&header),
        mesh: Vec::new(),
        report: &report,
    };
    print.write(output, &measured.intervals, was_on)?;
    Ok(note_instructions(&measured.cores)?)
}
