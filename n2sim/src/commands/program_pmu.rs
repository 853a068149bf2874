//! `n2sim program-pmu`: what the traced program's own accesses to the PMU do on the modeled one.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use sim_core::{PmuEvent, Shown};
use sim_pmu::ProgramPmu;
use sim_report::program_pmu::{self, CoreEnd};

use super::program_pmu_a53;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::call;
use crate::host::progress::with_progress;
use crate::shared_args::{CoreName, MachineArgs, RegionArgs};
use crate::verdict::Verdict;

/// Show what the traced program's own PMU accesses do on the modeled PMU
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim program-pmu traces/system.n2t\n          \
    n2sim program-pmu traces/system.n2t --core cortex-a53 --limit 100k")]
pub(crate) struct ProgramPmuArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) region: RegionArgs,
    /// Simulated core
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Replays the trace on PMUs that only the program drives, and prints its accesses.
pub(crate) fn run(args: &ProgramPmuArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    if args.core == CoreName::CortexA53 {
        return program_pmu_a53::run(args);
    }
    let options = args.region.run_options()?;
    let session = open_trace::with(&args.trace, &args.machine)?.without_roots();
    let mut output = Output::create(args.output.as_deref())?;
    let mut program = ProgramPmu::new(session.config().core.pmu);
    with_progress(&session, &options, |progress| {
        Ok(session.run_with_sink(&options, progress, &mut program)?)
    })?;
    note_without_accesses(&args.trace, program.accesses().is_empty())?;
    let mnemonic = |code: u16| PmuEvent::from_code(code.into()).ok().map(PmuEvent::mnemonic);
    let ends = program.ends().map(|end| CoreEnd::of(end.pmu, end.requests, mnemonic));
    program_pmu::write(&mut output, program.accesses(), ends)?;
    output.finish()?;
    Ok(Verdict::Good)
}

/// Notes that a trace has no accesses to registers, if it has none.
pub(super) fn note_without_accesses(trace: &Path, has_none: bool) -> io::Result<()> {
    if !has_none {
        return Ok(());
    }
    writeln!(
        call::stderr(),
        "n2sim: {}: the trace has no accesses to registers (Register events of \
         docs/trace-format.md); the PMU stayed as after reset",
        trace.shown()
    )
}
