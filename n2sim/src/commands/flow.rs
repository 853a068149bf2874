//! `n2sim flow`: shows the flows of the PMU guide as declared, for one access, a scenario or a
//! trace.

mod a53;
mod state;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{ArgGroup, Args};
use sim_a53::flow::FLOWS;
use sim_core::Counts;
use sim_core::flow::{Account, Flow, FlowCounts, FlowGraph, account};
use sim_lab::FlowWatch;
use sim_machine::{Outcome, caveats};
use sim_report::flow::page::WalkedCase;
use sim_report::flow::{self, Chart, steps, svg, text};
use sim_report::header;
use sim_scenario::{self as scenario, Action, Case, Step, Walked, Xt, configure, walk_case};

use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::progress;
use crate::shared_args::{CoreName, MachineArgs, PartArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Most cases of a page: more columns than that are too narrow.
const CASES_MAX: usize = 8;

/// Show the guide's flows through TLBs and caches of an access, a scenario or a trace
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("form").args(["dot", "svg", "html"]))]
#[command(after_help = "Examples: n2sim flow --flow 5.4\n          \
    n2sim flow --access 'LD8 0x8000' --state cold\n          \
    n2sim flow --access 'LD8 0x8000 ; ST8 0x8008' --state 'dirty victim' --html -o way.html\n          \
    n2sim flow tests/scenarios/500-flows-dtlb.toml\n          \
    n2sim flow traces/hash.n2t --svg -o hash.svg\n          \
    n2sim flow --core cortex-a53 traces/hash.n2t --flow load,line\n          \
    n2sim flow --core cortex-a53 --access 'ldr x0, [x1] @ 0x8000' --state warm")]
pub(crate) struct FlowArgs {
    /// A trace, or scenarios (*.toml)
    ///
    /// Without it and --access, the flows are shown as the guide declares them.
    input: Option<PathBuf>,
    /// Steps of a scenario to follow: 'LD8 0x8000' (docs/scenarios.md)
    #[arg(long, value_name = "STEPS", conflicts_with_all = ["input", "warmup", "limit"])]
    access: Option<String>,
    /// State before the steps [default: cold]
    ///
    /// One of cold, TLB warm, L2 hit, L1 hit, L1 hit dirty, TLB miss, L1 TLB miss, SLC hit, peer,
    /// dirty victim, or any `given` of a scenario. On a Cortex-A53: a `given` alone.
    #[arg(long, value_name = "STATE", requires = "access")]
    state: Option<String>,
    /// The case to show, from a file of scenarios (repeat for more)
    #[arg(long, value_name = "NAME", requires = "input")]
    case: Vec<String>,
    /// Only the flows of these sections of the guide: 5.1,5.4
    ///
    /// On a Cortex-A53: of translation, fetch, load, store, line, victim, uncached.
    #[arg(long, value_name = "SECTION,...", value_delimiter = ',', value_parser = Named::parse)]
    flow: Vec<Named>,
    /// Core whose flows are shown
    #[arg(long, value_enum, value_name = "CORE", default_value_t)]
    core: CoreName,
    /// Write a graph in the DOT language
    #[arg(long)]
    dot: bool,
    /// Write a figure (SVG)
    #[arg(long)]
    svg: bool,
    /// Write an HTML page that explains each event, with several cases beside one another
    #[arg(long)]
    html: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) part: PartArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

/// A flow of one of the cores.
#[derive(Clone, Copy, Debug)]
enum Named {
    N2(Flow),
    A53(&'static str),
}

impl Named {
    fn parse(name: &str) -> Result<Named, String> {
        let of_a53 = || FLOWS.iter().find(|flow| flow.name == name);
        let flow = Flow::of_section(name).map(Named::N2);
        flow.or_else(|| of_a53().map(|flow| Named::A53(flow.name))).ok_or_else(|| {
            String::from("give a section from 5.1 to 5.8, or a name with --core cortex-a53")
        })
    }
}

/// Shows the requested flows.
pub(crate) fn run(args: &FlowArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    let is_a53 = args.core == CoreName::CortexA53;
    for flow in &args.flow {
        match flow {
            Named::N2(flow) if is_a53 => anyhow::bail!(
                "--flow {} is a flow of the Neoverse N2; those of the Cortex-A53 are {}",
                flow.info().section,
                FLOWS.iter().map(|flow| flow.name).collect::<Vec<_>>().join(", ")
            ),
            Named::A53(name) if !is_a53 => {
                anyhow::bail!("--flow {name} is a flow of the Cortex-A53; give --core cortex-a53")
            }
            _ => {}
        }
    }
    if is_a53 {
        return a53::run(args);
    }
    match (&args.input, &args.access) {
        (_, Some(access)) => show_access(args, access)?,
        (Some(path), _) if is_scenario(path) => show_scenario(args, path)?,
        (Some(path), _) => show_trace(args, path)?,
        (None, None) => show_declared(args)?,
    }
    Ok(Verdict::Good)
}

fn is_scenario(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"))
}

impl FlowArgs {
    fn shows(&self, flow: Flow) -> bool {
        let is_it = |own: &Named| matches!(own, Named::N2(own) if *own == flow);
        self.flow.is_empty() || self.flow.iter().any(is_it)
    }

    fn charts(&self, counts: Option<&FlowCounts>) -> Vec<Chart> {
        let flows = Flow::ALL.into_iter().filter(|flow| self.shows(*flow));
        flows.map(|flow| Chart::new(&FlowGraph::new(flow), counts)).collect()
    }
}

/// Shows the flows without counts.
fn show_declared(args: &FlowArgs) -> anyhow::Result<()> {
    if args.part.is_given() {
        anyhow::bail!("--warmup and --limit are about a trace: name one");
    }
    let mut out = Output::create(args.output.as_deref())?;
    let charts = args.charts(None);
    let lead = "The flows of the PMU guide, chapter 5, as the model walks them.";
    if !write_figure(args, &mut out, &charts)? {
        match args.html {
            true => write!(out, "{}", flow::page::flows("Flows".into(), lead, &charts, &[], &[]))?,
            false => charts.iter().try_for_each(|chart| text::write_chart(&mut out, chart))?,
        }
    }
    out.finish()
}

/// Writes charts as DOT or SVG, if one of the two is requested.
fn write_figure(args: &FlowArgs, out: &mut Output, charts: &[Chart]) -> io::Result<bool> {
    match (args.dot, args.svg) {
        (true, _) => write!(out, "{}", flow::dot(charts))?,
        (_, true) => write!(out, "{}", svg::sheet(charts))?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Shows the flows of a trace, with counts on the edges.
fn show_trace(args: &FlowArgs, path: &Path) -> anyhow::Result<()> {
    if !args.case.is_empty() {
        anyhow::bail!("--case names a case of scenarios, and {} is none (*.toml)", path.shown());
    }
    let session = open_trace::with(path, &args.machine)?;
    let mut out = Output::create(args.output.as_deref())?;
    let options = args.part.run_options();
    let mut watch = FlowWatch::default();
    let (outcome, _) = progress::with_progress(&session, &options, |progress| {
        Ok(session.run_with_sink(&options, progress, &mut watch)?)
    })?;
    let (flows, counts) = (watch.total(), outcome.total());
    let charts = args.charts(Some(&flows)).into_iter();
    let charts: Vec<Chart> = charts.map(|chart| doubted(chart, &outcome)).collect();
    let accounts = accounts_of(&charts, &flows, &counts);
    if !write_figure(args, &mut out, &charts)? {
        match args.html {
            true => write!(out, "{}", trace_page(&outcome, &charts, &accounts))?,
            false => write_trace(&mut out, &outcome, &charts, &accounts)?,
        }
    }
    out.finish()
}

/// Returns the chart, marked as doubtful if missing data of the trace affects its counts.
fn doubted(chart: Chart, outcome: &Outcome) -> Chart {
    let events = chart.boxes.iter().flat_map(|part| part.events);
    let doubts = events.filter_map(|event| caveats::doubt(*event, &outcome.header.lacks));
    match doubts.min() {
        Some(lack) => chart.of(&format!("doubtful, {}", lack.label())),
        None => chart,
    }
}

/// Returns the accounts of the events of these charts.
fn accounts_of(charts: &[Chart], flows: &FlowCounts, counts: &Counts) -> Vec<Account> {
    let boxes = || charts.iter().flat_map(|chart| &chart.boxes);
    let is_shown = |account: &Account| boxes().any(|part| part.events.contains(&account.event));
    let accounts = account(flows, counts).into_iter();
    accounts.filter(is_shown).filter(|one| one.visits > 0 || one.counted > 0).collect()
}

fn write_trace(
    out: &mut impl Write,
    outcome: &Outcome,
    charts: &[Chart],
    accounts: &[Account],
) -> io::Result<()> {
    header::write(out, &outcome.header)?;
    writeln!(out)?;
    for chart in charts.iter().filter(|chart| chart.was_taken()) {
        text::write_chart(out, chart)?;
    }
    let idle: Vec<&str> = charts.iter().filter(|c| !c.was_taken()).map(|c| c.section).collect();
    if !idle.is_empty() {
        writeln!(out, "nothing went through: {}\n", idle.join(", "))?;
    }
    text::write_account(out, accounts, &outcome.header.lacks)
}

fn trace_page(outcome: &Outcome, charts: &[Chart], accounts: &[Account]) -> String {
    let run = &outcome.header;
    let threads = match outcome.cores.len() {
        1 => String::from("1 thread"),
        n => format!("{n} threads together"),
    };
    let lead = format!(
        "{}, {threads}, configuration {}. Counts stand on the edges, with their share of the decisions of a box.",
        run.trace, run.config
    );
    flow::page::flows(format!("Flows of {}", run.trace), &lead, charts, accounts, &run.lacks)
}

/// Shows the steps of the command line.
fn show_access(args: &FlowArgs, access: &str) -> anyhow::Result<()> {
    let overrides = args.machine.overrides();
    let source = args.machine.source(&overrides);
    let state = args.state.as_deref().unwrap_or("cold");
    let bare = scenario::parse_steps(("--state", "K0"), ("--access", access))?;
    let first = bare.steps.iter().find_map(address);
    let given = state::given(state, first, &configure(&bare, &source)?);
    let case =
        scenario::parse_steps(("--state", &given), ("--access", access)).with_context(|| {
            format!(
                "'{given}' is not a state; use {}, or a 'given' of docs/scenarios.md",
                state::words()
            )
        })?;
    let config = configure(&case, &source)?;
    let walked = walk_case(&case, &config)?;
    show_walks(args, &[(case, format!("given {given}"), walked)])
}

/// Returns the address of a step.
fn address(step: &Step) -> Option<u64> {
    match step.action {
        Action::Fetch { addr }
        | Action::Stash { addr }
        | Action::Snoop { addr, .. }
        | Action::OtherCore { addr, .. } => Some(addr),
        Action::Execute { operand: Some(Xt::Address(addr)), .. } => Some(addr),
        _ => None,
    }
}

/// Shows the cases of a file.
fn show_scenario(args: &FlowArgs, path: &Path) -> anyhow::Result<()> {
    if args.part.is_given() {
        anyhow::bail!("--warmup and --limit are about a trace, and {} is none", path.shown());
    }
    let name = path.shown().to_string();
    let text = sim_files::text(path).with_context(|| format!("cannot read the scenario {name}"))?;
    let cases = scenario::parse(&name, &text)?;
    for wanted in &args.case {
        if !cases.iter().any(|case| case.test == *wanted) {
            let listed: Vec<String> = cases.iter().map(|case| format!("'{}'", case.test)).collect();
            anyhow::bail!("{name} has no case '{wanted}'; it has {}", listed.join(", "));
        }
    }
    let mut chosen = cases;
    chosen.retain(|case| args.case.is_empty() || args.case.contains(&case.test));
    let overrides = args.machine.overrides();
    let source = args.machine.source(&overrides);
    let mut walks = Vec::new();
    for case in chosen {
        let place = || format!("{name}:{}: {}", case.place.line, case.test);
        let config = configure(&case, &source).with_context(place)?;
        let walked = walk_case(&case, &config).with_context(place)?;
        let claim = case.claim.clone();
        walks.push((case, claim, walked));
    }
    show_walks(args, &walks)
}

/// Returns the title of a page of several cases: the name of their file.
fn page_title(args: &FlowArgs) -> String {
    let name = args.input.as_deref().and_then(Path::file_stem);
    name.map_or_else(|| String::from("Cases"), |name| name.to_string_lossy().into_owned())
}

/// Writes cases with their descriptions and steps.
fn show_walks(args: &FlowArgs, walks: &[(Case, String, Vec<Walked>)]) -> anyhow::Result<()> {
    let mut out = Output::create(args.output.as_deref())?;
    let shown = |walked: &Walked| {
        let order = walked.order.iter().copied().filter(|flow| args.shows(*flow)).collect();
        Walked { order, ..walked.clone() }
    };
    if args.dot || args.svg {
        let walked = walks.iter().flat_map(|(_, _, walked)| walked).map(shown);
        let charts: Vec<Chart> = walked.flat_map(|walked| steps::charts(&walked)).collect();
        if charts.is_empty() {
            anyhow::bail!("these steps go through none of the requested flows");
        }
        write_figure(args, &mut out, &charts)?;
        return out.finish();
    }
    if args.html {
        let case = |(case, text, walked): &(Case, String, Vec<Walked>)| WalkedCase {
            name: case.test.clone(),
            text: text.clone(),
            steps: walked.iter().map(shown).collect(),
        };
        let cases: Vec<WalkedCase> = walks.iter().map(case).collect();
        match cases.as_slice() {
            [only] => write!(out, "{}", flow::page::walk(only))?,
            cases if cases.len() <= CASES_MAX => {
                write!(out, "{}", flow::page::walks(page_title(args), cases))?;
            }
            cases => anyhow::bail!(
                "a page has at most {CASES_MAX} cases, and these are {}: choose with --case {}",
                cases.len(),
                cases.iter().map(|case| format!("'{}'", case.name)).collect::<Vec<_>>().join(", ")
            ),
        }
        return out.finish();
    }
    for (case, text, walked) in walks {
        writeln!(out, "{}: {text}\n", case.test)?;
        for step in walked {
            steps::write_step(&mut out, &shown(step))?;
        }
        let note = steps::note(walked);
        note.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        if !note.is_empty() {
            writeln!(out)?;
        }
    }
    out.finish()
}
