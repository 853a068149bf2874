//! `n2sim flow --core cortex-a53`: the ways of accesses through a Cortex-A53.

use std::io::{self, Write};
use std::path::Path;

use sim_a53::flow::{A53Account, FLOWS, FlowSink, Steps, accounts};
use sim_a53::{A53Counts, run_with_sinks};
use sim_core::Shown;
use sim_report::flow::{self, Chart, a53_chart, text};
use sim_trace::TraceFile;

use super::{FlowArgs, Named, is_scenario, write_figure};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::memory;
use crate::verdict::Verdict;

/// Shows the requested flows.
pub(super) fn run(args: &FlowArgs) -> anyhow::Result<Verdict> {
    if args.access.is_some() || args.input.as_deref().is_some_and(is_scenario) {
        anyhow::bail!(
            "--access and scenarios work with --core neoverse-n2 only; with --core cortex-a53 name a \
             trace, or nothing for the flows as declared"
        );
    }
    if args.part.warmup > 0 {
        anyhow::bail!("--warmup works with --core neoverse-n2 only");
    }
    match &args.input {
        Some(path) => show_trace(args, path)?,
        None => show_declared(args)?,
    }
    Ok(Verdict::Good)
}

fn charts(args: &FlowArgs, steps: Option<&Steps>) -> Vec<Chart> {
    let is_it = |name: &str, own: &Named| matches!(own, Named::A53(own) if *own == name);
    let shown = FLOWS
        .iter()
        .filter(|flow| args.flow.is_empty() || args.flow.iter().any(|own| is_it(flow.name, own)));
    shown.map(|flow| a53_chart(flow, steps)).collect()
}

fn show_declared(args: &FlowArgs) -> anyhow::Result<()> {
    anyhow::ensure!(!args.part.is_given(), "--limit is about a trace: name one");
    let mut out = Output::create(args.output.as_deref())?;
    let charts = charts(args, None);
    if !write_figure(args, &mut out, &charts)? {
        let lead = "The ways of accesses through a Cortex-A53, with the events of each step.";
        match args.html {
            true => write!(out, "{}", flow::page::a53_flows("Flows".into(), lead, &charts, &[]))?,
            false => charts.iter().try_for_each(|chart| text::write_chart(&mut out, chart))?,
        }
    }
    out.finish()
}

fn show_trace(args: &FlowArgs, path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.case.is_none(),
        "--case names a case of scenarios, and {} is not one (*.toml)",
        path.shown()
    );
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(path, &memory::budget())?;
    open_trace::write_lacks(&mut io::stderr(), path, &trace)?;
    let mut out = Output::create(args.output.as_deref())?;
    let runs = run_with_sinks(&trace, &config, args.part.limit, |_| FlowSink::default())?;
    let (mut steps, mut counts) = (Steps::default(), A53Counts::default());
    for (_, sink) in &runs {
        steps.join(&sink.steps);
        counts.add(&sink.counts);
    }
    let charts = charts(args, Some(&steps));
    let boxes = || charts.iter().flat_map(|chart| &chart.boxes);
    let is_shown = |account: &A53Account| {
        let mut events = boxes().flat_map(|own| own.a53_events);
        let is_raised = account.visits > 0 || account.counted > 0;
        is_raised && events.any(|(event, _)| *event == account.event)
    };
    let accounts: Vec<A53Account> =
        accounts(&steps, &counts).into_iter().filter(is_shown).collect();
    if !write_figure(args, &mut out, &charts)? {
        let title = format!("Flows of {} on a Cortex-A53", path.shown());
        match args.html {
            true => {
                let lead = "Edges have counts, with their share of the decisions of a box.";
                write!(out, "{}", flow::page::a53_flows(title, lead, &charts, &accounts))?;
            }
            false => {
                writeln!(out, "{title}\n")?;
                charts.iter().try_for_each(|chart| text::write_chart(&mut out, chart))?;
                text::write_a53_account(&mut out, &accounts)?;
            }
        }
    }
    out.finish()
}
