//! `n2sim trace regions`: writes the windows that stand for a long trace.

use std::io::Write;

use sim_machine::{ConfigSource, RegionOptions, Regions};
use sim_report::perf_stat::grouped;

use crate::args::RegionsArgs;
use crate::opened;
use crate::output::Output;
use crate::stat::with_bar;

/// Reads the trace, writes the file and says what is in it.
pub(crate) fn run(out: &mut impl Write, args: &RegionsArgs) -> anyhow::Result<()> {
    let session = opened::on(&args.file, &ConfigSource::default().document()?)?;
    let options = RegionOptions {
        interval: args.interval,
        windows: args.windows as usize,
        clusters: args.clusters as usize,
        warmup: args.warmup,
        lesson: args.lesson,
        seed: args.seed,
    };
    let mut file = Output::create(Some(&args.output))?;
    let find = |progress: &mut dyn FnMut(u64)| Ok(Regions::find(&session, &options, progress)?);
    let ((regions, found), _) = with_bar(session.instructions(), find)?;
    write!(file, "{regions}")?;
    file.finish()?;
    let windows = regions.windows.len();
    let counted: u64 = regions.windows.iter().map(|window| window.length).sum();
    writeln!(
        out,
        "{}: {windows} windows of {} clusters in {} intervals: {} of {} instructions ({:.2} %), {} each to \
         warm up",
        args.output.display(),
        found.clusters,
        found.intervals,
        grouped(counted),
        grouped(regions.instructions),
        100.0 * counted as f64 / regions.instructions as f64,
        grouped(regions.warmup)
    )?;
    Ok(())
}
