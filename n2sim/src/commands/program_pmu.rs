//! `n2sim program-pmu`: what the traced program's own accesses to the PMU do on the modeled one.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use sim_pmu::ProgramPmu;
use sim_report::program_pmu;

use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::progress::with_progress;
use crate::shared_args::{MachineArgs, RegionArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Show what the traced program's own PMU accesses do on the modeled PMU
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example: n2sim program-pmu traces/pmu.n2t")]
pub(crate) struct ProgramPmuArgs {
    /// The trace to replay
    trace: PathBuf,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    region: RegionArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Replays the trace on PMUs that only the program drives, and prints its accesses.
pub(crate) fn run(args: &ProgramPmuArgs) -> anyhow::Result<Verdict> {
    let options = args.region.run_options()?;
    let session = open_trace::with(&args.trace, &args.machine)?.without_roots();
    let mut output = Output::create(args.output.as_deref())?;
    let mut program = ProgramPmu::new(session.config().core.pmu);
    with_progress(&session, &options, |progress| {
        Ok(session.run_with_sink(&options, progress, &mut program)?)
    })?;
    if program.accesses().is_empty() {
        writeln!(
            io::stderr(),
            "n2sim: {}: the trace has no accesses to registers (Register events of \
             docs/trace-format.md); the PMU stayed as after reset",
            args.trace.shown()
        )?;
    }
    program_pmu::write(&mut output, &program)?;
    output.finish()?;
    Ok(Verdict::Good)
}
