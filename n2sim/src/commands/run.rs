//! `n2sim run`: records a program, replays the recording and prints its counts.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;
use sim_core::Shown;
use sim_files::ScratchDirectory;
use sim_trace::TraceWriter;

use super::capture::{self, Begin, Cut};
use super::stat::{self, ReplayArgs};
use crate::capture::account::{Title, thousands};
use crate::capture::args::{CaptureArgs, ProgramArgs};
use crate::files::open_trace::NamedTrace;
use crate::host::signals;
use crate::shared_args::instructions_from_one;

/// Record a program and print its counts, in one step
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim run -- ./prog args\n          \
    n2sim run -e cycles,instructions,l1d_cache_refill --from main -- ./prog\n          \
    n2sim run --core cortex-a53 --keep prog.n2t -- ./prog\n\n\
    The program's own input and output are untouched: use -o FILE where its output and the counts \
    must not mix. The exit code is 0 when the counts are printed, whatever the program's exit \
    status was. With --core cortex-a53, the engine has that core too, unless --cpu names another. Ctrl-C ends the program; the counts are then those of the part that ran.")]
#[command(mut_arg("second_run", |arg| arg.conflicts_with("record_limit")))]
pub(crate) struct RunArgs {
    /// Keep the recorded trace in FILE
    #[arg(long, value_name = "FILE", help_heading = "Recording")]
    keep: Option<PathBuf>,
    /// Number of instructions to record, over all threads
    ///
    /// The program is then ended. The suffixes k, M and G are powers of 1000.
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    #[arg(help_heading = "Recording")]
    record_limit: Option<u64>,
    #[command(flatten)]
    replay: ReplayArgs,
    #[command(flatten, next_help_heading = "Recording")]
    program: ProgramArgs,
}

/// Records the program and prints the requested counts.
///
/// # Errors
/// If an option is wrong, the program cannot be recorded, or the output cannot be written.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<u8> {
    // A wrong option is refused before the program has run.
    stat::check(&args.replay)?;
    check_files(args)?;
    let words: Vec<String> =
        args.program.command.iter().map(|word| word.shown().to_string()).collect();
    let name = words.join(" ");
    let program = program_name(&args.program.command);
    if let Some(path) = &args.keep {
        record(args, path, &name, TraceWriter::record)?;
        return count(args, path, name, program);
    }
    let context = || format!("cannot make a directory in {}", std::env::temp_dir().shown());
    let directory = ScratchDirectory::new().with_context(context)?;
    let path = directory.path().join("program.n2t");
    let recorded = record(args, &path, &name, TraceWriter::create_with);
    recorded.map_err(|error| without_file(error, directory.path()))?;
    count(args, &path, name, program)
}

/// Refuses two outputs in one file.
fn check_files(args: &RunArgs) -> anyhow::Result<()> {
    let counts = &args.replay.counts;
    let files = [
        ("--keep", args.keep.as_ref()),
        ("-o", counts.format.output.as_ref()),
        ("--perf-data", counts.perf_data.as_ref()),
    ];
    for (at, (option, file)) in files.iter().enumerate() {
        let same = |(_, other): &&(&str, Option<&PathBuf>)| file.is_some() && other == file;
        if let (Some(file), Some((other, _))) = (file, files[at + 1..].iter().find(same)) {
            anyhow::bail!("{option} and {other} name the same file, {}: give two", file.shown());
        }
    }
    Ok(())
}

/// Returns the program with the engine's model of the simulated core, by which libraries choose
/// their code. A second run needs the engine's own model.
fn program(args: &RunArgs) -> ProgramArgs {
    let mut program = args.program.clone();
    if args.replay.is_on_a53() && !program.second_run {
        program.cpu.get_or_insert_with(|| String::from("cortex-a53"));
    }
    program
}

fn record(args: &RunArgs, path: &Path, name: &str, begin: Begin) -> anyhow::Result<()> {
    let capture = CaptureArgs::of(&program(args), path.to_owned(), args.record_limit);
    let title = Title { name: name.to_owned(), is_brief: true };
    capture::record(&capture, Some(&title), begin)?;
    // The signal that ended the program does not end the replay too.
    signals::forget();
    Ok(())
}

fn count(args: &RunArgs, path: &Path, name: String, program: String) -> anyhow::Result<u8> {
    let trace = NamedTrace { path, name, program: Some(program) };
    Ok(stat::count(trace, &args.replay)?.into())
}

/// Returns the name of a program without its directories, as `perf` shows it.
fn program_name(command: &[String]) -> String {
    let path = Path::new(command.first().map_or("", String::as_str));
    Path::new(path.file_name().unwrap_or_default()).shown().to_string()
}

/// Returns the error of a recording whose file is removed with its directory.
fn without_file(error: anyhow::Error, directory: &Path) -> anyhow::Error {
    match error.downcast::<Cut>() {
        Ok(Cut { refusal, instructions }) => anyhow::anyhow!(
            "{refusal}; the temporary trace ended after {} instructions and is removed: record less \
             (--record-limit), or name another place than {} (--keep FILE, or TMPDIR)",
            thousands(instructions),
            directory.shown()
        ),
        Err(error) => error,
    }
}
