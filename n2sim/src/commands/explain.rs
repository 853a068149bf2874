//! `n2sim explain`: explains an event, a metric, a section of the guide or a stall cause, with its
//! value on a trace. Also explains why a single instruction raised its events.

mod a53_metric;
mod on_trace;
mod other_core;
mod why;

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs};
use sim_core::PmuEvent;
use sim_report::explain::{self, Topic, graph, markdown, text};

use crate::files::metric_files;
use crate::files::output::Output;
use crate::shared_args::{CoreName, MachineArgs, PartArgs};
use crate::verdict::Verdict;

/// Default number of shown variants of an instruction.
const VARIANTS: usize = 2;

/// Explain an event, a metric, a section of the guide or a stall cause
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("subject").args(["name", "why"]).required(true))]
#[command(group = ArgGroup::new("form").args(["json", "markdown", "dot", "svg"]))]
#[command(after_help = "Examples: n2sim explain ll_cache_rd\n          \
    n2sim explain l1d_mpki --trace traces/hash.n2t --limit 1M\n          \
    n2sim explain 5.4; n2sim explain 'L1I miss'\n          \
    n2sim explain l1d_cache_refill --svg -o refill.svg\n          \
    n2sim explain BUS_ACCESS_LD --core cortex-a53\n          \
    n2sim explain load_miss_cycles --core cortex-a53\n          \
    n2sim explain --why traces/hash.n2t@main+0x10 --limit 1M\n          \
    n2sim explain --why tests/scenarios/410-l1d-refill.toml:T.L1D_CACHE_REFILL.2:2")]
pub(crate) struct ExplainArgs {
    /// An event, a metric, a section of the PMU guide or a stall cause
    ///
    /// Events are names, rNN or 0xNN; sections are 4.2, 4.2.1 or 5.4; a cause is 'L1I miss'.
    pub(crate) name: Option<String>,
    /// Explain why one instruction raised its events, and why not others
    ///
    /// The place is TRACE@PC or TRACE@FUNCTION+0xN; or FILE:CASE:STEP for a step of a scenario,
    /// counted from 1.
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["core", "trace", "metrics"])]
    pub(crate) why: Option<String>,
    /// With --why: number of variants of the instruction to show
    ///
    /// Executions of one variant raise the same events on the same path.
    #[arg(long, alias = "ways", value_name = "N", default_value_t = VARIANTS, requires = "why")]
    pub(crate) max_variants: usize,
    /// With --why: print every event of every variant
    #[arg(short, long, requires = "why", conflicts_with = "json")]
    pub(crate) verbose: bool,
    /// Print the places in the model that raise each event: source file and function
    #[arg(long, conflicts_with_all = ["core", "dot", "svg"])]
    pub(crate) code: bool,
    /// Print whether another core has the event, its name and its event bus bit there
    ///
    /// A metric of the Cortex-A53 is explained with its events and its claim.
    #[arg(long, value_enum, value_name = "CORE", conflicts_with = "trace")]
    pub(crate) core: Option<CoreName>,
    /// Print the value on a trace too
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["dot", "svg"])]
    pub(crate) trace: Option<PathBuf>,
    /// Metric files, or directories of them, with further metrics
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Vec<PathBuf>,
    /// Print JSON
    #[arg(short, long, help_heading = "Form", conflicts_with = "core")]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long, help_heading = "Form", conflicts_with_all = ["why", "core"])]
    pub(crate) markdown: bool,
    /// Print the relations as a graph in the DOT language
    #[arg(long, help_heading = "Form", conflicts_with_all = ["why", "core"])]
    pub(crate) dot: bool,
    /// Print the relations as a figure (SVG)
    #[arg(long, help_heading = "Form", conflicts_with_all = ["why", "core"])]
    pub(crate) svg: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) part: PartArgs,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
}

/// Explains the requested name or place.
pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Verdict> {
    let mut out = Output::create(args.output.as_deref())?;
    match (&args.why, &args.name, &args.core) {
        (Some(place), ..) => why::write(&mut out, args, place)?,
        (None, Some(name), Some(CoreName::CortexA53))
            if a53_metric::is_metric(&args.metrics, name)? =>
        {
            a53_metric::write(&mut out, &args.metrics, name)?;
        }
        (None, Some(name), Some(core)) if *core != CoreName::NeoverseN2 => {
            other_core::write(&mut out, name, *core)?;
        }
        (None, name, _) => write_topic(&mut out, args, name.as_deref().unwrap_or_default())?,
    }
    out.finish()?;
    Ok(Verdict::Good)
}

fn write_topic(out: &mut impl Write, args: &ExplainArgs, name: &str) -> anyhow::Result<()> {
    let catalog = metric_files::catalog(&args.metrics)?;
    let topic = explain::find(name, &catalog)?;
    let mut explanation = topic.explain(&catalog);
    if args.dot {
        return Ok(out.write_all(graph::dot(&explanation).as_bytes())?);
    }
    if args.svg {
        return Ok(out.write_all(graph::svg(&explanation).as_bytes())?);
    }
    let values = match &args.trace {
        Some(trace) => Some(on_trace::values(args, trace, &topic, &catalog)?),
        None => None,
    };
    if !args.code && !args.json {
        explanation.raised.clear();
    }
    if args.json {
        let document = on_trace::Document { explanation, on_trace: values };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        return Ok(writeln!(out)?);
    }
    if args.markdown {
        out.write_all(markdown::page(&explanation).as_bytes())?;
    } else {
        text::write(out, &explanation)?;
        if let Topic::Event(event) = topic {
            write_bit(out, event)?;
        }
    }
    if let Some(values) = values {
        on_trace::write(out, &values, args.markdown)?;
    }
    Ok(())
}

fn write_bit(out: &mut impl Write, event: PmuEvent) -> anyhow::Result<()> {
    writeln!(out)?;
    Ok(other_core::write_identification(out, event.code())?)
}
