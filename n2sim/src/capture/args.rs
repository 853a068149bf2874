//! The arguments of `n2sim capture`, which the parts of the recorder read.

use std::path::PathBuf;

use clap::Args;

use super::region::Place;
use super::wire::MAX_PROCESSORS;
use crate::shared_args::{instructions, instructions_from_one};

/// zstd level of a recording without --level.
const DEFAULT_LEVEL: i32 = 3;
/// Most processors of a recorded system.
const MOST_PROCESSORS: i64 = MAX_PROCESSORS as i64;

/// Record an AArch64 Linux program into a trace
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples: n2sim capture -o gzip.n2t --sysroot DIR -- gzip -9 -c FILE\n          \
    n2sim capture --from main -- ./prog\n          \
    n2sim capture --from 40 --to 41 -- ./prog     (N2SIM_BEGIN and N2SIM_END of n2sim.h)\n\n\
    The program's own input and output are untouched. The exit code is 0 when the trace is \
    written, whatever the program's exit status was."
)]
#[command(mut_arg("from", |arg| arg.conflicts_with_all(["system", "count_only"])))]
#[command(mut_arg("to", |arg| arg.conflicts_with_all(["system", "count_only"])))]
#[command(mut_arg("second_run", |arg| arg.conflicts_with_all(["system", "count_only"])))]
#[command(mut_arg("command", |arg| arg.required(false).required_unless_present("initrd")))]
pub(crate) struct CaptureArgs {
    /// Trace to write [default: PROGRAM.n2t]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// Instructions to skip at the start, over all threads
    ///
    /// The suffixes k, M and G are powers of 1000.
    #[arg(long, value_name = "N", value_parser = instructions, default_value = "0")]
    #[arg(conflicts_with_all = ["second_run", "count_only"])]
    pub(crate) skip: u64,
    /// Number of instructions to record
    ///
    /// The program is then ended. Instructions that it runs until it stops are recorded too.
    #[arg(long, value_name = "N", value_parser = instructions_from_one)]
    #[arg(conflicts_with_all = ["second_run", "count_only"])]
    pub(crate) limit: Option<u64>,
    /// zstd level: 1 to record fast, 9 or 19 to keep
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LEVEL)]
    #[arg(value_parser = clap::value_parser!(i32).range(1..=22))]
    pub(crate) level: i32,
    /// Recipe to reproduce this trace, stored in it
    #[arg(long, value_name = "TEXT")]
    pub(crate) recipe: Option<String>,
    /// Only count instructions with the engine's own counter, and write no trace
    #[arg(long, conflicts_with_all = ["output", "level", "system"])]
    pub(crate) count_only: bool,
    #[command(flatten)]
    pub(crate) system: SystemArgs,
}

impl CaptureArgs {
    /// Returns the arguments that record `program` to the file `output`.
    pub(crate) fn of(program: &ProgramArgs, output: PathBuf, limit: Option<u64>) -> CaptureArgs {
        CaptureArgs {
            output: Some(output),
            program: program.clone(),
            skip: 0,
            limit,
            level: DEFAULT_LEVEL,
            recipe: None,
            count_only: false,
            system: SystemArgs::default(),
        }
    }
}

/// The program to record, the engine that runs it, and the places that bound the recording.
#[derive(Args, Clone, Debug)]
pub(crate) struct ProgramArgs {
    /// Directory with the AArch64 libraries that the program needs
    #[arg(long, value_name = "DIR")]
    pub(crate) sysroot: Option<PathBuf>,
    /// CPU model of the engine [default: the nearest to the N2 that it has]
    #[arg(long)]
    pub(crate) cpu: Option<String>,
    /// The qemu-aarch64 to use [default: the first in PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) engine: Option<PathBuf>,
    /// Start of the recording
    ///
    /// A function, the number of a HINT instruction, or an address of the program's file (0x...).
    /// After --to, the recording starts again at this place.
    #[arg(long, value_name = "PLACE")]
    #[arg(conflicts_with = "second_run")]
    pub(crate) from: Option<Place>,
    /// End of the recording; without --from, the program ends here
    #[arg(long, value_name = "PLACE")]
    #[arg(conflicts_with = "second_run")]
    pub(crate) to: Option<Place>,
    /// Run the program a second time under the engine's debugger interface
    ///
    /// The debugger interface shows SVE accesses and predicates, and operands of DC, IC and PRFM;
    /// the plugin interface does not. The program must have one thread and do the same each time.
    #[arg(long)]
    pub(crate) second_run: bool,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<String>,
}

/// The options of `--system`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SystemArgs {
    /// Record a whole system: the kernel too, with exceptions and physical pages
    #[arg(long, requires = "kernel", help_heading = "Whole system")]
    pub(crate) system: bool,
    /// Linux kernel for arm64, as in /boot/vmlinuz of Debian
    #[arg(long, value_name = "IMAGE", requires = "system", help_heading = "Whole system")]
    pub(crate) kernel: Option<PathBuf>,
    /// Initial file system of your own, in place of one made for PROGRAM
    #[arg(long, value_name = "CPIO", requires = "system", help_heading = "Whole system")]
    #[arg(conflicts_with_all = ["file", "stdin", "command"])]
    pub(crate) initrd: Option<PathBuf>,
    /// Words to append to the kernel's command line
    #[arg(long, value_name = "TEXT", requires = "system", help_heading = "Whole system")]
    pub(crate) append: Option<String>,
    /// Main memory of the system in MiB
    #[arg(long, value_name = "MIB", requires = "system", help_heading = "Whole system")]
    #[arg(default_value_t = 512, value_parser = clap::value_parser!(u32).range(64..=3072))]
    pub(crate) memory: u32,
    /// Number of processors of the system, each of which becomes a thread of the trace
    #[arg(long, value_name = "N", requires = "system", help_heading = "Whole system")]
    #[arg(default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_PROCESSORS))]
    pub(crate) processors: u32,
    /// A file that PROGRAM needs, and its name in the system [default: the same]
    #[arg(long, value_name = "FILE[=NAME]", requires = "system", help_heading = "Whole system")]
    pub(crate) file: Vec<String>,
    /// Standard input of PROGRAM [default: nothing]
    #[arg(long, value_name = "FILE", requires = "system", help_heading = "Whole system")]
    pub(crate) stdin: Option<PathBuf>,
    /// Start of the recording: boot, marker, an address or a kernel function
    ///
    /// `marker` is the start of PROGRAM, or `movz xzr, #0x4e31` in an initial file system of your
    /// own.
    #[arg(long, value_name = "WHERE", requires = "system", help_heading = "Whole system")]
    #[arg(default_value = "marker")]
    pub(crate) start: String,
    /// Functions of the kernel: System.map, a copy of /proc/kallsyms, or vmlinux
    #[arg(long, value_name = "FILE", requires = "system", help_heading = "Whole system")]
    pub(crate) kernel_symbols: Option<PathBuf>,
}

impl SystemArgs {
    /// Returns whether a whole system is recorded.
    pub(crate) fn is_wanted(&self) -> bool {
        self.system
    }
}
