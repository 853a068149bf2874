//! `n2sim program-pmu --core cortex-a53`: the traced program's accesses to the PMU of a Cortex-A53.

use sim_a53::{A53CoreOutcome, A53Event, PmuSink, pmu, run_with_pmu};
use sim_report::program_pmu::{self, CoreEnd};
use sim_trace::TraceFile;

use super::program_pmu::{ProgramPmuArgs, note_without_accesses};
use super::stat_a53::note_instructions;
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// Replays the trace on PMUs that only the program drives, and prints its accesses core by core.
pub(super) fn run(args: &ProgramPmuArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    let mut out = Output::create(args.output.as_deref())?;
    let runs = run_with_pmu(&trace, &config, args.region.part.limit, |_| pmu::new())?;
    let (cores, sinks): (Vec<A53CoreOutcome>, Vec<PmuSink>) = runs.into_iter().unzip();
    let accesses = || sinks.iter().flat_map(PmuSink::accesses);
    note_without_accesses(&args.trace, accesses().next().is_none())?;
    let mnemonic = |code: u16| A53Event::from_code(code).map(A53Event::mnemonic);
    let ends = sinks.iter().map(|sink| CoreEnd::of(sink.pmu(), sink.requests(), mnemonic));
    program_pmu::write(&mut out, accesses(), ends)?;
    out.finish()?;
    note_instructions(&cores)?;
    Ok(Verdict::Good)
}

/// Refuses the options that only the Neoverse N2 has: the program's own accesses before a part
/// decide what its counters count, so that a part of a run has another meaning.
fn refuse_others(args: &ProgramPmuArgs) -> anyhow::Result<()> {
    let refused = [(args.region.part.warmup > 0, "--warmup"), (args.region.roi.is_some(), "--roi")];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!(
            "{option} works with --core neoverse-n2 only; with --core cortex-a53 use --limit, -o, \
             --config, --set or --seed"
        ),
        None => Ok(()),
    }
}
