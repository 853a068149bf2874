//! `n2sim functions --core cortex-a53`: exact counts for each function on a Cortex-A53.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::time::Instant;

use sim_a53::{A53Counts, A53Event, run_by_group};
use sim_core::Shown;
use sim_pmu::perf::{Reading, Status};
use sim_report::a53_stat::A53Counted;
use sim_report::functions::{self, FunctionCosts};
use sim_report::{Owner, Selected, Symbols, perf_stat};
use sim_trace::TraceFile;

use super::functions::{FunctionsArgs, note_missing_names};
use super::stat_a53;
use crate::counting::a53_run;
use crate::counting::event_list;
use crate::files::output::Output;
use crate::files::{a53_config, open_trace, symbols};
use crate::host::call;
use crate::host::{memory, speed};
use crate::verdict::Verdict;

/// Runs the trace and prints the counts of each function.
pub(super) fn run(args: &FunctionsArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let requested = event_list::parse_all::<A53Event>(&args.event)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    a53_run::refuse_levels(&requested, trace.meta().machine.full_system)?;
    let requested: Vec<Selected<A53Event>> =
        requested.into_iter().flat_map(|group| group.events).collect();
    let symbols = symbols::load(&trace, &args.elf)?;
    let mut out = Output::create(args.format.output.as_deref())?;
    let start = Instant::now();
    let groups = groups(&trace, &symbols);
    let (cores, counts) = run_by_group(&trace, &config, args.region.part.limit, &groups)?;
    if args.verbose {
        let instructions = cores.iter().map(|core| core.instructions).sum();
        speed::write_speed(&mut call::stderr(), instructions, start.elapsed())?;
    }
    let rows = rows(&symbols, counts);
    let clock_hz = config.cluster.clock_hz;
    write(&mut out, args, &rows, &requested, clock_hz)?;
    out.finish()?;
    stat_a53::note_instructions(&cores)?;
    note_missing_names(&symbols)?;
    Ok(Verdict::Good)
}

/// Returns the function of each static instruction; code without a name comes last.
fn groups(trace: &TraceFile, symbols: &Symbols) -> Vec<u32> {
    let all = symbols.functions();
    let function = |pc: u64| {
        let place = symbols.function(pc)?;
        all.binary_search_by_key(&place.function.addr, |function| function.addr).ok()
    };
    let insts = trace.statics().insts().iter();
    insts.map(|inst| function(inst.pc).unwrap_or(all.len()) as u32).collect()
}

/// Returns the names and counts of the functions that counted anything, those with most cycles
/// first.
fn rows(symbols: &Symbols, counts: Vec<A53Counts>) -> Vec<(&str, A53Counts)> {
    let names = symbols.functions().iter().map(|function| function.name.as_str());
    let mut rows: Vec<(&str, A53Counts)> = names.chain(["[unknown]"]).zip(counts).collect();
    rows.retain(|(_, counts)| A53Event::ALL.into_iter().any(|event| counts.value(event) > 0));
    rows.sort_by_key(|(_, counts)| Reverse(counts.value(A53Event::CPU_CYCLES)));
    rows
}

fn write(
    out: &mut Output,
    args: &FunctionsArgs,
    rows: &[(&str, A53Counts)],
    requested: &[Selected<A53Event>],
    clock_hz: u64,
) -> io::Result<()> {
    let trace = args.trace.shown().to_string();
    if requested.is_empty() && !args.format.is_for_programs() {
        let costs = rows.iter().map(|(name, counts)| FunctionCosts::of_a53(name, counts));
        let costs: Vec<FunctionCosts> = costs.collect();
        return functions::write_table(out, &trace, &costs);
    }
    let all: Vec<Selected<A53Event>> = A53Event::ALL.map(stat_a53::selected).to_vec();
    let events = if requested.is_empty() { &all } else { requested };
    let reading = |counts: &A53Counts, one: &Selected<A53Event>| match one.event.levels.user {
        true => Reading::exact(counts.value(one.event.event), counts.value(A53Event::CPU_CYCLES)),
        false => Reading { status: Status::NotSupported, ..Reading::default() },
    };
    let of_function = |counts| events.iter().map(|one| reading(counts, one)).collect();
    let readings: Vec<Vec<Reading>> = rows.iter().map(|(_, counts)| of_function(counts)).collect();
    let owners: Vec<Owner> =
        rows.iter().map(|(name, _)| Owner::Function((*name).to_owned())).collect();
    let names = a53_run::names(events);
    let (owners, truth) = (Some(owners.as_slice()), None);
    let counted = A53Counted { names: &names, readings: &readings, truth, owners, clock_hz };
    let report = counted.report(&trace, 0);
    match args.format.separator() {
        Some(separator) => perf_stat::write_csv(out, &report, &separator),
        None if args.format.json => perf_stat::write_json(out, &report),
        None => {
            writeln!(out, "\n Exact counts by function for '{trace}' (Cortex-A53):")?;
            perf_stat::write_sections(out, &functions::by_function(report))
        }
    }
}

/// Refuses the options that only the Neoverse N2 has.
fn refuse_others(args: &FunctionsArgs) -> anyhow::Result<()> {
    let refused = [
        (args.header, "--header"),
        (args.region.part.warmup > 0, "--warmup"),
        (args.region.roi.is_some(), "--roi"),
    ];
    match refused.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => anyhow::bail!("{option} works with --core neoverse-n2 only"),
        None => Ok(()),
    }
}
