//! Options of `n2sim record`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::forms::Form;
use crate::shared_args::{CoreName, MachineArgs, RegionArgs, instructions};

/// Event without `-e` where SPE is not the default, as perf has it.
pub(super) const DEFAULT_EVENT: &str = "cycles";
/// Bytes of the SPE buffer without `--aux-buffer`.
pub(super) const AUX_BUFFER: u64 = 4_000_000;

/// Replay a trace and write a profile for Linux' perf or another viewer
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: n2sim record traces/hash.n2t -e arm_spe_0/load_filter=1,min_latency=30/ -c 4096\n          \
    perf report --itrace=i1i; perf mem report --itrace=M; perf c2c report\n          \
    n2sim record traces/btree.n2t -e l1d_cache_refill -c 1000; perf report -g\n          \
    n2sim record traces/btree.n2t --core cortex-a53 -e cycles,ld_dep_stall -c 10000\n          \
    n2sim record traces/btree.n2t --format firefox -e cycles,l1d_cache_refill -c 1000\n          \
    n2sim record traces/btree.n2t --format folded -o - | inferno-flamegraph > btree.svg"
)]
pub(crate) struct RecordArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    /// Events to sample
    ///
    /// Either arm_spe_0/OPTION=VALUE,.../ with perf's options, or events whose overflows are
    /// sampled. The default is arm_spe_0/jitter=1,pa_enable=1/; on a Cortex-A53, and with another
    /// --format than perf, cycles.
    #[arg(short, long, value_name = "EVENT,...")]
    pub(super) event: Vec<String>,
    /// Operations or events between two samples
    ///
    /// The default is 1024 for SPE, else 100000. With 1, every one is sampled.
    #[arg(short, long, value_name = "N", value_parser = period, allow_negative_numbers = true)]
    pub(super) count: Option<u64>,
    /// Form of the profile; all but perf hold samples of overflows only (docs/record.md)
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: Form,
    /// The file to write
    ///
    /// The default is perf.data, profile.firefox.json, profile.speedscope.json or profile.folded.
    /// All forms but perf.data go to standard output with -.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write only the bytes of the SPE buffer
    ///
    /// With several threads, each has a file of its own: FILE.0, FILE.1 ...
    #[arg(long)]
    pub(super) raw: bool,
    /// Description of SPE data: v1 is read by every perf, v2 only by perf 6.13 and later
    #[arg(long, value_enum, default_value_t = MetadataName::V1, conflicts_with = "raw")]
    pub(super) metadata: MetadataName,
    /// A program, library or debug file that was recorded, for names and lines (repeat for more)
    #[arg(long, value_name = "FILE")]
    pub(super) elf: Vec<PathBuf>,
    /// Bytes of the SPE buffer of each CPU (k, M and G are powers of 1000)
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "4M")]
    #[arg(allow_negative_numbers = true)]
    pub(super) aux_buffer: u64,
    #[command(flatten)]
    pub(super) region: RegionArgs,
    /// Simulated core
    ///
    /// The Cortex-A53 has its own events and no SPE (docs/record.md).
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    pub(super) core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

impl RecordArgs {
    /// Returns the lists of events, with the default of the form.
    pub(super) fn events(&self) -> Vec<String> {
        match self.event.is_empty() && self.format != Form::Perf {
            true => vec![DEFAULT_EVENT.to_owned()],
            false => self.event.clone(),
        }
    }
}

/// Description of SPE data, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MetadataName {
    V1,
    V2,
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
