//! `n2sim capture`: records an AArch64 program that runs under QEMU's user mode into a trace.
//!
//! The plugin `sim-capture` writes into shared memory, this side encodes; so the trace is complete
//! when the program aborts, closes all of its files, forks, or is stopped with Ctrl-C.

mod a64;
mod account;
mod addressing;
mod code;
mod elements;
mod elf;
mod ending;
pub(crate) mod engine;
mod known_memory;
pub(crate) mod plugin;
pub(crate) mod program;
mod rebuild;
mod recorder;
mod region;
mod registers;
mod second_run;
mod session;
mod shared_memory;
mod stream;
pub(crate) mod system;
// Where operands are, for engines with register values and for those without.
#[path = "../../sim-capture/src/system_words.rs"]
mod system_words;
// One layout for both sides of the shared memory; the plugin is a crate that nothing links.
#[path = "../../sim-capture/src/wire.rs"]
mod wire;

use crate::args::{instructions, instructions_from_one};
use crate::command_line;
use crate::signals::Keeper;
use account::{PluginTally, Stopwatch};
use anyhow::{Context, Result, bail};
use clap::Args;
use engine::Engine;
use program::Program;
use recorder::Recorder;
use region::{Place, Region};
use session::End;
use shared_memory::SharedMemory;
use sim_trace::{MachineInfo, Meta, Summary, TraceError, TraceWriter, WriterOptions};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use stream::Output;
use system::SystemArgs;
use wire::control;

/// Record an AArch64 Linux program into a trace
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples: n2sim capture -o gzip.n2t --sysroot DIR -- gzip -9 -c FILE\n          \
    n2sim capture --from main -- ./prog\n          \
    n2sim capture --from 40 --to 41 -- ./prog     (N2SIM_BEGIN and N2SIM_END of n2sim.h)\n\n\
    The program's own input and output are untouched. The exit code is 0 when the trace is \
    written, whatever the program's exit status was."
)]
pub(crate) struct CaptureArgs {
    /// Trace to write [default: PROGRAM.n2t]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Folder with the AArch64 libraries that the program needs
    #[arg(long, value_name = "DIR")]
    sysroot: Option<PathBuf>,
    /// Processor that the engine plays [default: the nearest to the N2 that it has]
    #[arg(long)]
    cpu: Option<String>,
    /// The qemu-aarch64 to use [default: the first in PATH]
    #[arg(long, value_name = "PATH")]
    engine: Option<PathBuf>,
    /// Record from here on: a function, the number of a HINT instruction, or an address of the
    /// program's file (0x...); after --to, again when control comes here again
    #[arg(long, value_name = "PLACE", conflicts_with = "system")]
    from: Option<Place>,
    /// Record up to here; without --from, the program is ended here
    #[arg(long, value_name = "PLACE", conflicts_with = "system")]
    to: Option<Place>,
    /// Instructions to leave out at the start, over all threads (k, M and G are powers of 1000)
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    skip: u64,
    /// Instructions after which the program is ended; some more are recorded until it stops
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    limit: Option<u64>,
    /// zstd level: 1 to record fast, 9 or 19 to keep
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
    level: i32,
    /// How to make this trace again, kept in the trace
    #[arg(long, value_name = "TEXT")]
    recipe: Option<String>,
    /// Run the program a second time under the engine's debugger interface, which shows what its plugin
    /// interface does not: SVE accesses and predicates, operands of DC, IC and PRFM. The program must have
    /// one thread and do the same each time
    #[arg(long, conflicts_with_all = ["from", "to", "skip", "limit", "system", "count_only"])]
    second_run: bool,
    /// Only count instructions, with the engine's own counter; writes no trace
    #[arg(long, conflicts_with_all = ["output", "skip", "limit", "level", "from", "to", "system"])]
    count_only: bool,
    #[command(flatten)]
    system: SystemArgs,
    /// Program and its arguments
    #[arg(
        required_unless_present = "initrd",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<String>,
}

/// Records, and says on stderr what was recorded.
///
/// # Errors
/// If the engine, the plugin or the program is missing or unfit, or the trace cannot be written.
pub(crate) fn run(args: &CaptureArgs) -> Result<ExitCode> {
    if args.system.is_wanted() {
        return system::run(args);
    }
    let setup = Setup::of(args)?;
    if args.second_run {
        return second_run::run(args, &setup);
    }
    let Setup { program, engine, cpu, .. } = &setup;
    let mut memory = SharedMemory::create()?;
    let region = Region { from: args.from.clone(), to: args.to.clone() };
    region.announce(program, &memory)?;
    let mut command = setup.command(args, &memory, &[])?;
    if args.count_only {
        return count(&mut command, &mut memory);
    }
    let stopwatch = Stopwatch::start();
    let path = args.output.clone().unwrap_or_else(|| default_output(&program.path));
    command_line::refuse_input(&path)?;
    let meta = meta(args, engine, cpu);
    let options = WriterOptions { level: args.level, ..WriterOptions::default() };
    // Up to the end, so that a signal loses nothing of the trace.
    let _keeper = Keeper::for_all();
    let trace = TraceWriter::record(&path, meta, options)?;
    let mut output = Output { trace, skip: args.skip };
    let mut recorder = Recorder::default();
    recorder.shared.ends_for_good = region.ends_for_good();
    let limit = args.limit.unwrap_or(u64::MAX);
    let recorded = session::record(&mut command, &mut memory, &mut recorder, &mut output, limit);
    let end = match recorded.map_err(|error| error.downcast::<TraceError>()) {
        Ok(end) => end,
        Err(Ok(refusal)) => return keep_cut(output, refusal, program, &mut memory),
        Err(Err(error)) => return Err(error),
    };
    let is_empty = output.trace.instructions() == 0;
    if is_empty && memory.control(control::MAGIC)? != wire::MAGIC {
        bail!(
            "{} did not start the recording plugin ({})",
            engine.path.display(),
            account::ending(&end)
        );
    }
    if is_empty {
        bail!("nothing was recorded: {}", nothing_recorded(args, &end));
    }
    let (written, plugin, gaps) = finish(program, &region, output, &recorder, &mut memory, &end)?;
    let tally = &recorder.shared.tally;
    let times = stopwatch.elapsed();
    say(&account::summary(&path, tally, &plugin, &written, &end, times, &gaps));
    say(&account::advice(tally, &end, cpu));
    Ok(ExitCode::SUCCESS)
}

/// What is recorded, and with what.
struct Setup {
    program: Program,
    sysroot: Option<PathBuf>,
    engine: Engine,
    cpu: String,
}

impl Setup {
    fn of(args: &CaptureArgs) -> Result<Setup> {
        let program = Program::open(&args.command[0], args.sysroot.as_deref())?;
        let sysroot = program.sysroot(args.sysroot.as_deref())?;
        let engine = Engine::find(args.engine.as_deref())?;
        let default_cpu = match args.second_run {
            true => second_run::SHORT_VECTORS,
            false => engine.default_cpu(),
        };
        // The longest vectors of `max` are longer than those of the core.
        let asked = args.cpu.as_deref().filter(|cpu| !(args.second_run && *cpu == "max"));
        let cpu = asked.unwrap_or(default_cpu).to_owned();
        Ok(Setup { program, sysroot, engine, cpu })
    }

    /// The command that runs the program and records it, with further `options` of the engine.
    fn command(
        &self,
        args: &CaptureArgs,
        memory: &SharedMemory,
        options: &[&OsStr],
    ) -> Result<Command> {
        let mut command = self.engine.command(&self.cpu, memory, args.count_only)?;
        command.args(options);
        if let Some(root) = self.sysroot.as_deref().filter(|root| *root != Path::new("/")) {
            command.arg("-L").arg(root);
        }
        // The engine would otherwise show the program its file's full path.
        command.arg("-0").arg(&args.command[0]).arg(&self.program.path).args(&args.command[1..]);
        Ok(command)
    }
}

/// What is left when not even one chunk could be kept.
const NO_FILE: &str = "the trace could not be written and no file is left";

/// The system took no more of the trace: keeps what it took.
fn keep_cut(
    mut output: Output,
    refusal: TraceError,
    program: &Program,
    memory: &mut SharedMemory,
) -> Result<ExitCode> {
    let start = memory.control(control::START_CODE)?;
    output.trace.meta_mut().symbols = program.symbols_at(start);
    let (written, refusal) = output.trace.cut(refusal).context(NO_FILE)?;
    Err(cut(&refusal, &written))
}

/// That a trace is shorter than the run, and why.
fn cut(refusal: &TraceError, written: &Summary) -> anyhow::Error {
    anyhow::anyhow!(
        "{refusal}; a whole trace of the first {} instructions is left",
        account::thousands(written.instructions)
    )
}

/// Why a recording is empty, as far as that can be known.
fn nothing_recorded(args: &CaptureArgs, end: &End) -> String {
    let ending = account::ending(end);
    match (args.skip, &args.from) {
        (0, None) => format!("the engine ended before the program began ({ending})"),
        (0, Some(from)) => format!("the program never came to --from {from} ({ending})"),
        (skip, _) => format!("the program ended before --skip {skip} instructions ({ending})"),
    }
}

/// Completes what the trace says about itself, and the file.
fn finish(
    program: &Program,
    region: &Region,
    mut output: Output,
    recorder: &Recorder,
    memory: &mut SharedMemory,
    end: &End,
) -> Result<(Summary, PluginTally, Vec<String>)> {
    let plugin = PluginTally::read(memory)?;
    let gaps = account::gaps(&recorder.shared.tally, &plugin, end);
    let meta = output.trace.meta_mut();
    meta.symbols = program.symbols_at(memory.control(control::START_CODE)?);
    meta.gaps.clone_from(&gaps);
    meta.lacks = account::lacks(&recorder.shared.tally);
    meta.notes.extend([account::operands(&recorder.shared.tally)]);
    meta.notes.insert("program-end".to_owned(), account::ending(end));
    if let Some(text) = region.describe() {
        meta.notes.insert("region".to_owned(), text);
    }
    if let Some(count) = plugin.engine_count.filter(|_| plugin.streams <= 1) {
        meta.notes.insert("engine-instruction-count".to_owned(), count.to_string());
    }
    match output.trace.finish_or_cut().context(NO_FILE)? {
        (written, None) => Ok((written, plugin, gaps)),
        (written, Some(refusal)) => Err(cut(&refusal, &written)),
    }
}

fn meta(args: &CaptureArgs, engine: &Engine, cpu: &str) -> Meta {
    let (oldest, newest) = engine.api;
    Meta {
        producer: concat!("n2sim capture ", env!("CARGO_PKG_VERSION")).to_owned(),
        command: args.command.clone(),
        engine: format!("{}, user mode, plugin API {oldest} to {newest}", engine.version),
        cpu: cpu.to_owned(),
        recipe: args.recipe.clone(),
        machine: machine_of(cpu),
        ..Meta::default()
    }
}

/// What the processor model `cpu` of the engine does otherwise than others.
fn machine_of(cpu: &str) -> MachineInfo {
    let is_n2 = cpu.starts_with("neoverse-n2");
    let is_n1 = cpu.starts_with("neoverse-n1");
    let midr = if is_n2 {
        0x410f_d493
    } else if is_n1 {
        0x414f_d0c1
    } else {
        0
    };
    MachineInfo {
        vector_bytes: if is_n2 { 16 } else { 0 },
        // QEMU's `max` clears 512 bytes at a time.
        dc_zva_bytes: if cpu.starts_with("max") { 512 } else { 64 },
        midr,
        ..MachineInfo::default()
    }
}

fn default_output(program: &Path) -> PathBuf {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("{name}.n2t"))
}

/// Runs with the engine's counter only and prints the count on stderr.
fn count(command: &mut Command, memory: &mut SharedMemory) -> Result<ExitCode> {
    let status = command.status().context("cannot run the engine")?;
    let plugin = PluginTally::read(memory)?;
    let Some(count) = plugin.engine_count else {
        bail!("the program did not end by itself ({status}), so the engine's count is not final");
    };
    say(&format!("engine count: {count}\n"));
    Ok(ExitCode::SUCCESS)
}

#[allow(
    clippy::print_stderr,
    reason = "the program's messages; stdout belongs to the recorded one"
)]
fn say(text: &str) {
    eprint!("{text}");
}
