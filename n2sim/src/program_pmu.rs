//! `n2sim stat --program-pmu`: what the traced program's own accesses to the PMU do on the modeled one.

use std::io::{self, Write};

use sim_machine::{RunOptions, Session};
use sim_pmu::ProgramPmu;
use sim_report::program_pmu;

use crate::Verdict;
use crate::args::StatArgs;
use crate::output::Output;
use crate::stat;
use sim_core::Shown;

/// Replays the trace on PMUs that only the program drives, and prints its accesses.
pub(crate) fn run(
    mut output: Output,
    args: &StatArgs,
    session: &Session,
    options: &RunOptions,
) -> anyhow::Result<Verdict> {
    let mut program = ProgramPmu::new(session.config().core.pmu);
    stat::with_progress(session, options, |progress| {
        Ok(session.run_with_sink(options, progress, &mut program)?)
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
