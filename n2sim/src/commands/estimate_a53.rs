//! `n2sim estimate --core cortex-a53`: counts of a long trace from chunks that run in parallel.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use sim_lab::{A53Chunks, run_a53_chunks};
use sim_machine::only_thread;
use sim_trace::TraceFile;

use super::estimate::EstimateArgs;
use super::stat_a53::{A53Printer, Asked};
use crate::counting::a53_run::{self, A53Measured};
use crate::counting::counted_run::Request;
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::{memory, speed};
use crate::verdict::Verdict;

/// Runs the chunks and prints the sums of their counts.
pub(super) fn run(args: &EstimateArgs) -> anyhow::Result<Verdict> {
    let jobs = chunks(args)?;
    let counts = &args.counts;
    let asked = Asked::of(counts)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    a53_run::refuse_levels(&asked.groups, trace.meta().machine.full_system)?;
    let request = Request::new(&asked.groups, trace.meta().machine.full_system);
    let thread = only_thread(&trace)?;
    let thread = (thread.stream, thread.instructions);
    let mut out = Output::create(counts.format.output.as_deref())?;
    let start = Instant::now();
    let A53Chunks { core, parts } = run_a53_chunks(&trace, &config, thread, jobs)?;
    let clock_hz = config.cluster.clock_hz;
    let measured = A53Measured::exact(vec![core], &request.events);
    let (source, names) = ((&args.trace).into(), a53_run::names(&request.events));
    let (source, names, measured) = (&source, &names, &measured);
    A53Printer { source, counts, names, clock_hz, measured }.print(&mut out, &asked, false)?;
    out.finish()?;
    asked.note(&measured.cores, clock_hz)?;
    if parts > 1 {
        writeln!(
            call::stderr(),
            "n2sim: note: counted in {parts} parts at the same time: docs/regions.md says how far that is \
             from a run in one piece"
        )?;
    }
    if counts.verbose {
        speed::write_speed(&mut call::stderr(), thread.1, start.elapsed())?;
    }
    Ok(Verdict::Good)
}

/// Returns the number of chunks. Refuses the options that only the Neoverse N2 has.
fn chunks(args: &EstimateArgs) -> anyhow::Result<u32> {
    let counts = &args.counts;
    let refused = [
        (args.regions.is_some(), "--regions"),
        (args.samples.windows.is_some(), "--windows"),
        (args.samples.window_length.is_some(), "--window-length"),
        (args.samples.warmup.is_some(), "--warmup"),
        (counts.perf_data.is_some(), "--perf-data"),
        (counts.header, "--header"),
        (counts.prefetch, "--prefetch"),
    ];
    if let Some((_, option)) = refused.iter().find(|(is_given, _)| *is_given) {
        anyhow::bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use --jobs, -e, -M, \
             --all, --stalls, --config, --set, --seed, -x, -j or -o"
        )
    }
    args.jobs.context("a Cortex-A53 runs in chunks: give their number with --jobs N")
}
