//! `n2sim membench`: measures the modeled memory with loops of real instructions. It measures
//! latency over the footprint, TLB knees, bandwidth of each level, and lines from core to core,
//! prints tables and draws figures.

mod a53;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use indicatif::ProgressStyle;
use sim_lab::membench::bandwidth::{self, Level};
use sim_lab::membench::latency::Effort;
use sim_lab::membench::{Kernel, core_to_core, knees, latency};
use sim_machine::MachineConfig;
use sim_report::figure;
use sim_report::ladder::{self, Form};

use crate::files::output::Output;
use crate::host::progress::{self, Lines};
use crate::shared_args::{CoreName, MachineArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Maximum number of loads in a saved trace; longer footprints are not covered completely.
const SAVED_LOADS_MOST: u64 = 1 << 20;
/// Numbers of pages of the saved traces of TLB knees.
const SAVED_PAGES: [u64; 4] = [32, 64, 1024, 4096];

/// Measure the modeled memory: latency, TLB knees, bandwidth, core to core
#[derive(Debug, Args)]
#[command(after_help = "Examples: n2sim membench -o ladder.svg\n          \
    n2sim membench tlb --profile silicon\n          \
    n2sim membench bandwidth --csv --set memory.l2.size-bytes=524288\n          \
    n2sim membench --core cortex-a53 -o a53-ladder.svg")]
pub(crate) struct MembenchArgs {
    /// Quantity to measure
    #[arg(value_enum, default_value_t = Quantity::Latency)]
    quantity: Quantity,
    /// Also draw a figure (SVG)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
    /// Measure fewer footprints with shorter loops, in a few seconds
    ///
    /// Latency only: the other quantities are measured in seconds anyway. Values differ by a few
    /// percent from those of the whole measurement.
    #[arg(long, conflicts_with = "save_traces")]
    quick: bool,
    /// Write the loops as traces into DIR and measure nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "csv"])]
    save_traces: Option<PathBuf>,
    /// Measured core
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Quantity {
    /// Cycles of a load over the footprint
    Latency,
    /// Cycles of a load over the number of pages
    Tlb,
    /// Bytes per cycle out of each level
    Bandwidth,
    /// Cycles to get a line that another core has just written
    CoreToCore,
}

/// Runs the measurement, prints the table and draws the figure.
pub(crate) fn run(args: &MembenchArgs) -> anyhow::Result<Verdict> {
    match args.core {
        CoreName::CortexA53 => {
            let config = a53::config(args)?;
            write(args, |form, out| a53::measure(args, &config, form, out))
        }
        _ => {
            args.core.require_timing_model()?;
            let overrides = args.machine.overrides();
            let document = args.machine.source(&overrides).document()?;
            let config = MachineConfig::from_document(&document)?;
            if let Some(directory) = &args.save_traces {
                save_traces(args.quantity, &config, directory)?;
                return Ok(Verdict::Good);
            }
            write(args, |form, out| measure(args, &config, form, out))
        }
    }
}

/// Writes the table of a measurement, and its figure if requested.
fn write(
    args: &MembenchArgs,
    measure: impl FnOnce(Form, &mut Output) -> anyhow::Result<String>,
) -> anyhow::Result<Verdict> {
    let figure = args.output.as_deref().map(|path| Output::create(Some(path))).transpose()?;
    let form = if args.csv { Form::Csv } else { Form::Text };
    let mut out = Output::create(None)?;
    let svg = measure(form, &mut out)?;
    out.finish()?;
    if let Some(mut figure) = figure {
        figure.write_all(svg.as_bytes())?;
        figure.finish()?;
    }
    Ok(Verdict::Good)
}

/// Measures a quantity on a Neoverse N2 and writes its table. Returns the figure.
fn measure(
    args: &MembenchArgs,
    config: &MachineConfig,
    form: Form,
    out: &mut impl Write,
) -> anyhow::Result<String> {
    Ok(match args.quantity {
        Quantity::Latency => {
            let effort = if args.quick { Effort::Quick } else { Effort::Full };
            let measure = |footprint| latency::footprint_row(config, footprint, effort);
            let rungs = each(&latency::footprints(effort), measure)?;
            ladder::write_latency(out, config, &rungs, form)?;
            figure::latency(config, &rungs)
        }
        Quantity::Tlb => {
            let knees = each(&knees::page_counts(config), |pages| knees::knee(config, pages))?;
            ladder::write_knees(out, config, &knees, form)?;
            figure::knees(config, &knees)
        }
        Quantity::Bandwidth => {
            let levels = Level::ALL.map(|level| [(level, true), (level, false)]).concat();
            let measure = |(level, prefetch)| bandwidth::read_rate(config, level, prefetch);
            let rates = each(&levels, measure)?;
            ladder::write_rates(out, &rates, form)?;
            figure::rates(config, &rates)
        }
        Quantity::CoreToCore => {
            let measure = |partner| core_to_core::handover(config, partner);
            let handovers = each(&core_to_core::PARTNERS, measure)?;
            ladder::write_handovers(out, &handovers, form)?;
            figure::handovers(config, &handovers)
        }
    })
}

/// Measures every point of a sweep, with a progress bar on a terminal and lines elsewhere.
fn each<P: Copy, T>(points: &[P], measure: impl Fn(P) -> T) -> anyhow::Result<Vec<T>> {
    let bar = progress::bar(points.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:40} {pos} of {len} points  {elapsed}")?);
    let mut lines = Lines::new(points.len() as u64, "points");
    let measured = points.iter().map(|point| {
        let value = measure(*point);
        bar.inc(1);
        lines.reached(bar.position());
        value
    });
    let measured = measured.collect();
    bar.finish_and_clear();
    Ok(measured)
}

/// Saves the loops of a measurement as traces, so that other simulators can run them.
fn save_traces(quantity: Quantity, config: &MachineConfig, directory: &Path) -> anyhow::Result<()> {
    let seed = config.run.seed;
    let kernels: Vec<Kernel> = match quantity {
        Quantity::Latency => {
            let powers = latency::footprints(Effort::Full)
                .into_iter()
                .filter(|bytes| bytes.is_power_of_two());
            powers.map(|bytes| Kernel::chase(bytes, seed)).collect()
        }
        Quantity::Tlb => SAVED_PAGES.map(|n| Kernel::one_per_page(n, 4096, seed)).to_vec(),
        Quantity::Bandwidth => {
            Level::ALL.map(|level| Kernel::stream(level.footprint_bytes(config))).to_vec()
        }
        Quantity::CoreToCore => {
            anyhow::bail!(
                "core-to-core uses two cores and cannot be saved as a trace; choose latency, tlb or bandwidth"
            )
        }
    };
    std::fs::create_dir_all(directory)
        .with_context(|| format!("cannot create the directory {}", directory.shown()))?;
    let mut out = Output::create(None)?;
    for kernel in kernels {
        let path = directory.join(format!("{}.n2t", kernel.name()));
        let loads = (3 * kernel.period()).clamp(1 << 14, SAVED_LOADS_MOST);
        let summary = kernel.save(&path, loads)?;
        writeln!(out, "{}: {} instructions", path.shown(), summary.instructions)?;
    }
    out.finish()
}
