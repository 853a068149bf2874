//! `n2sim flow --core cortex-a53`: the ways of accesses through a Cortex-A53.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use sim_a53::flow::{A53Account, FLOWS, FlowSink, Steps, accounts};
use sim_a53::{A53Counts, run_with_sinks};
use sim_core::Shown;
use sim_report::flow::{self, Chart, a53_chart, text};
use sim_scenario::a53::{self as scenario, Case, run_case_on};
use sim_trace::TraceFile;

use super::{FlowArgs, Named, is_scenario, write_figure};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// State before the steps of --access.
const COLD: &str = "cold";

/// Shows the requested flows.
pub(super) fn run(args: &FlowArgs) -> anyhow::Result<Verdict> {
    if args.part.warmup > 0 {
        anyhow::bail!("--warmup works with --core neoverse-n2 only");
    }
    match (&args.input, &args.access) {
        (_, Some(access)) => {
            let state = args.state.as_deref().unwrap_or(COLD);
            let case = scenario::parse_steps(("--state", state), ("--access", access))?;
            show_cases(args, "--access", vec![case])?;
        }
        (Some(path), _) if is_scenario(path) => show_scenario(args, path)?,
        (Some(path), _) => show_trace(args, path)?,
        (None, None) => show_declared(args)?,
    }
    Ok(Verdict::Good)
}

/// Shows the cases of a file.
fn show_scenario(args: &FlowArgs, path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        !args.part.is_given(),
        "--limit is about a trace, and {} is none",
        path.shown()
    );
    let name = path.shown().to_string();
    let text = sim_files::text(path).with_context(|| format!("cannot read the scenario {name}"))?;
    anyhow::ensure!(
        scenario::is_a53(&text),
        "{name}: these scenarios are of the Neoverse N2: leave --core cortex-a53 out"
    );
    let mut cases = scenario::parse(&name, &text)?;
    for wanted in &args.case {
        let listed = || cases.iter().map(|case| format!("'{}'", case.test)).collect::<Vec<_>>();
        anyhow::ensure!(
            cases.iter().any(|case| case.test == *wanted),
            "{name} has no case '{wanted}'; it has {}",
            listed().join(", ")
        );
    }
    cases.retain(|case| args.case.is_empty() || args.case.contains(&case.test));
    show_cases(args, &name, cases)
}

/// Shows the ways of the accesses of cases. `file` is where they stand.
fn show_cases(args: &FlowArgs, file: &str, cases: Vec<Case>) -> anyhow::Result<()> {
    let document = a53_config::document(&args.machine)?;
    let mut runs = Vec::new();
    for case in cases {
        let place = || format!("{file}:{}: {}", case.place.line, case.test);
        let config = scenario::configure(&case, document.clone()).with_context(place)?;
        let (_, sinks) = run_case_on(&case, &config, FlowSink::default).with_context(place)?;
        let run = Run::new(args, &case.test, &sinks);
        if !run.charts.is_empty() {
            runs.push((case.claim.clone(), run));
        }
    }
    anyhow::ensure!(!runs.is_empty(), "{file}: these steps go through none of the requested flows");
    let mut out = Output::create(args.output.as_deref())?;
    if args.dot || args.svg {
        let charts = runs.into_iter().flat_map(|(_, run)| run.charts).collect::<Vec<_>>();
        write_figure(args, &mut out, &charts)?;
        return out.finish();
    }
    if args.html {
        let [(claim, run)] = &runs[..] else {
            let listed: Vec<String> =
                runs.iter().map(|(_, run)| format!("'{}'", run.title)).collect();
            anyhow::bail!("a page is of one case: choose with --case {}", listed.join(", "));
        };
        let title = run.title.clone();
        write!(out, "{}", flow::page::a53_flows(title, claim, &run.charts, &run.accounts))?;
        return out.finish();
    }
    for (claim, run) in &runs {
        writeln!(out, "{}: {claim}\n", run.title)?;
        run.write_text(&mut out)?;
    }
    out.finish()
}

/// The charts that a run went through, with its events.
struct Run {
    title: String,
    charts: Vec<Chart>,
    accounts: Vec<A53Account>,
}

impl Run {
    /// Returns the requested charts of a case that it goes through, with the case as their subject.
    fn new(args: &FlowArgs, case: &str, sinks: &[FlowSink]) -> Run {
        let run = Run::of(args, case.to_owned(), sinks.iter());
        let taken = run.charts.into_iter().filter(Chart::was_taken);
        Run { charts: taken.map(|chart| chart.without_idle_entries().of(case)).collect(), ..run }
    }

    fn of<'a>(args: &FlowArgs, title: String, sinks: impl Iterator<Item = &'a FlowSink>) -> Run {
        let (mut steps, mut counts) = (Steps::default(), A53Counts::default());
        for sink in sinks {
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
        let accounts = accounts(&steps, &counts).into_iter().filter(is_shown).collect();
        Run { title, charts, accounts }
    }

    fn write_text(&self, out: &mut Output) -> io::Result<()> {
        self.charts.iter().try_for_each(|chart| text::write_chart(out, chart))?;
        text::write_a53_account(out, &self.accounts)
    }
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
        args.case.is_empty(),
        "--case names a case of scenarios, and {} is not one (*.toml)",
        path.shown()
    );
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(path, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), path, &trace)?;
    let mut out = Output::create(args.output.as_deref())?;
    let runs = run_with_sinks(&trace, &config, args.part.limit, |_| FlowSink::default())?;
    let title = format!("Flows of {} on a Cortex-A53", path.shown());
    let run = Run::of(args, title, runs.iter().map(|(_, sink)| sink));
    if !write_figure(args, &mut out, &run.charts)? {
        match args.html {
            true => {
                let lead = "Edges have counts, with their share of the decisions of a box.";
                let Run { title, charts, accounts } = &run;
                write!(out, "{}", flow::page::a53_flows(title.clone(), lead, charts, accounts))?;
            }
            false => {
                writeln!(out, "{}\n", run.title)?;
                run.write_text(&mut out)?;
            }
        }
    }
    out.finish()
}
