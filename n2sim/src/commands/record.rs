//! `n2sim record`: replays a trace and writes the profile that `perf record` would have written:
//! samples of the Statistical Profiling Extension, or of counters that overflow. The latter also in
//! the forms of other viewers.

mod a53;
mod args;
mod file;
mod forms;
mod overflow;
mod program;
mod request;
mod spe;

use std::io::Write;

use sim_core::{EventSink, Shown};
use sim_machine::{MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_report::header;
use sim_report::perf_data::Machine;
use sim_report::perf_data::machine::Cpu;

use crate::files::open_trace;
use crate::host::call;
use crate::host::progress::{expected, with_progress};
use crate::host::signals::{self, Keeper};
use crate::shared_args::CoreName;
use crate::verdict::Verdict;

pub(crate) use args::RecordArgs;
use file::START_SECONDS;
use request::Request;

/// A trace ready to run, with the options of its profile.
struct Recording<'a> {
    args: &'a RecordArgs,
    config: MachineConfig,
    session: Session,
    options: RunOptions,
}

/// Runs the trace and writes the profile.
pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    forms::check(args)?;
    if args.core == CoreName::CortexA53 {
        return a53::run(args);
    }
    let request = Request::parse(&args.events(), args.count)?;
    if matches!(request, Request::Spe(_)) {
        forms::refuse_spe(args)?;
    }
    if args.raw && !matches!(request, Request::Spe(_)) {
        anyhow::bail!("--raw: only SPE has raw data; record arm_spe_0// or leave --raw out");
    }
    let options = args.region.run_options()?;
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let config = MachineConfig::from_document(&document)?;
    let about = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: args.trace.shown().to_string(),
        ..RunHeader::default()
    };
    let keeper = Keeper::for_first();
    let session =
        open_trace::session(&args.trace, config.clone(), about)?.stopped_by(signals::flag());
    // Samples have no root causes.
    let session = session.without_roots();
    let recording = Recording { args, config, session, options };
    let (notes, instructions) = match request {
        Request::Spe(request) => spe::record(&recording, &request)?,
        Request::Overflow(events) => overflow::record(&recording, &events)?,
    };
    let stderr = &mut call::stderr();
    header::write(stderr, recording.session.header())?;
    for note in notes {
        writeln!(stderr, "n2sim: {note}")?;
    }
    keeper.end(instructions, expected(&recording.session, &recording.options))?;
    Ok(Verdict::Good)
}

impl Recording<'_> {
    /// Returns the number of threads that run, one on each core.
    fn cores(&self) -> usize {
        let streams = self.session.trace().streams();
        streams.iter().filter(|stream| stream.instructions > 0).count()
    }

    /// Returns the reading of the system counter in cycle 0.
    fn counter_start(&self) -> u64 {
        self.config.core.counter_hz.saturating_mul(START_SECONDS)
    }

    /// Returns the exception levels that no instruction of the trace runs at.
    fn absent_levels(&self) -> u64 {
        file::absent_levels(self.session.trace())
    }

    /// Returns the name of the traced program.
    fn comm(&self) -> String {
        file::comm(&self.args.trace, self.session.trace())
    }

    /// Returns the description of the machine in a perf.data file.
    fn machine(&self) -> Machine {
        file::machine(self.config.core.revision.midr(), Cpu::default(), self.cores())
    }

    /// Runs the trace under a sink, up to the first signal. Returns also the instructions that ran.
    fn replay(&self, sink: &mut impl EventSink) -> anyhow::Result<(Outcome, u64)> {
        with_progress(&self.session, &self.options, |progress| {
            Ok(self.session.run_with_sink(&self.options, progress, sink)?)
        })
    }
}
