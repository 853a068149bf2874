//! `n2sim record`: replays a trace and writes the profile that `perf record` would have written:
//! samples of the Statistical Profiling Extension, or of counters that overflow.

mod a53;
mod overflow;
mod program;
mod request;
mod spe;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use sim_core::EventSink;
use sim_machine::{MachineConfig, Outcome, RunHeader, RunOptions, Session};
use sim_report::header;
use sim_report::perf_data::attr::flag;
use sim_report::perf_data::machine::Cpu;
use sim_report::perf_data::{Machine, PerfData};
use sim_trace::TraceFile;

use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::progress::{expected, with_progress};
use crate::host::signals::{self, Keeper};
use crate::shared_args::{CoreName, MachineArgs, RegionArgs, instructions};
use crate::verdict::Verdict;

use request::Request;
use sim_core::Shown;

/// Process number in the files, because traces do not keep it.
const PID: u32 = 1000;
/// Reading of the system counter when the trace begins, in seconds. It is not 0, because readers
/// take 0 for "no time".
const START_SECONDS: u64 = 1;
/// Bytes of the SPE buffer without `--aux-buffer`.
const AUX_BUFFER: u64 = 4_000_000;
/// Memory size of the modeled machine in the file in bytes: all that 48 bits can address.
const MEMORY_BYTES: u64 = 1 << 48;

/// Replay a trace and write a profile that Linux' perf reads
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: n2sim record traces/hash.n2t -e arm_spe_0/load_filter=1,min_latency=30/ -c 4096\n          \
    perf report --itrace=i1i; perf mem report --itrace=M; perf c2c report\n          \
    n2sim record traces/btree.n2t -e l1d_cache_refill -c 1000; perf report -g\n          \
    n2sim record traces/btree.n2t --core cortex-a53 -e cycles,ld_dep_stall -c 10000"
)]
pub(crate) struct RecordArgs {
    /// The trace to replay
    trace: PathBuf,
    /// Events to sample
    ///
    /// Either arm_spe_0/OPTION=VALUE,.../ with perf's options, or events whose overflows are
    /// sampled. The default is arm_spe_0/jitter=1,pa_enable=1/, on a Cortex-A53 cycles.
    #[arg(short, long, value_name = "EVENT,...")]
    event: Vec<String>,
    /// Operations or events between two samples
    ///
    /// The default is 1024 for SPE, else 100000. With 1, every one is sampled.
    #[arg(short, long, value_name = "N", value_parser = period, allow_negative_numbers = true)]
    count: Option<u64>,
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    output: PathBuf,
    /// Write only the bytes of the SPE buffer
    ///
    /// With several threads, each has a file of its own: FILE.0, FILE.1 ...
    #[arg(long)]
    raw: bool,
    /// Description of SPE data: v1 is read by every perf, v2 only by perf 6.13 and later
    #[arg(long, value_enum, default_value_t = MetadataName::V1, conflicts_with = "raw")]
    metadata: MetadataName,
    /// The recorded program or a library of it, for names and source lines (repeat for more)
    #[arg(long, value_name = "FILE")]
    elf: Vec<PathBuf>,
    /// Bytes of the SPE buffer of each CPU (k, M and G are powers of 1000)
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "4M")]
    #[arg(allow_negative_numbers = true)]
    aux_buffer: u64,
    #[command(flatten)]
    region: RegionArgs,
    /// Simulated core
    ///
    /// The Cortex-A53 has its own events and no SPE (docs/record.md).
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MetadataName {
    V1,
    V2,
}

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
    if args.core == CoreName::CortexA53 {
        return a53::run(args);
    }
    let request = Request::parse(&args.event, args.count)?;
    if args.output.as_os_str() == "-" {
        anyhow::bail!("--output -: perf reads a profile in many places at once; give a file");
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
    let recording = Recording { args, config, session, options };
    let (notes, instructions) = match request {
        Request::Spe(request) => spe::record(&recording, &request)?,
        Request::Overflow(events) => overflow::record(&recording, &events)?,
    };
    let stderr = &mut io::stderr();
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
        absent_levels(self.session.trace())
    }

    /// Returns the name of the traced program.
    fn comm(&self) -> String {
        comm(&self.args.trace, self.session.trace())
    }

    /// Returns the description of the machine in a perf.data file.
    fn machine(&self) -> Machine {
        machine(self.config.core.revision.midr(), Cpu::default(), self.cores())
    }

    /// Runs the trace under a sink, up to the first signal. Returns also the instructions that ran.
    fn replay(&self, sink: &mut impl EventSink) -> anyhow::Result<(Outcome, u64)> {
        with_progress(&self.session, &self.options, |progress| {
            Ok(self.session.run_with_sink(&self.options, progress, sink)?)
        })
    }
}

/// Returns the exception levels that no instruction of the trace runs at, as bits of
/// `perf_event_attr`, so that a reader does not miss samples of them.
fn absent_levels(trace: &TraceFile) -> u64 {
    match trace.meta().machine.full_system {
        true => 0,
        false => flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV,
    }
}

/// Returns the name of the traced program.
fn comm(path: &Path, trace: &TraceFile) -> String {
    let path = trace.meta().command.first().map_or(path, Path::new);
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Returns the description of a machine with this core in a perf.data file.
fn machine(midr: u64, cpu: Cpu, cores: usize) -> Machine {
    let command = std::env::args_os().map(readable).collect();
    Machine {
        midr,
        cpu,
        cpus: cores as u32,
        memory: MEMORY_BYTES,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
    }
}

/// Writes the file of a profile, and puts it in its place together with the one `beside` it.
fn write(output: Output, beside: Option<Output>, file: &PerfData) -> anyhow::Result<()> {
    let mut output = output;
    file.write(&mut output)?;
    Output::finish_all(beside.into_iter().chain([output]).collect())
}

/// Reads a number of operations or events.
fn period(text: &str) -> Result<u64, String> {
    instructions(text)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| String::from("give a number from 1, such as 4096 or 100k"))
}

/// Reads a size. The suffixes k, M and G are powers of 1000; the driver rounds the size to pages.
fn bytes(text: &str) -> Result<u64, String> {
    period(text).map_err(|_| String::from("give a number of bytes, such as 65536 or 4M"))
}

fn readable(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}
