//! `n2sim functions --core cortex-a53`: exact counts for each function on a Cortex-A53.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::time::Instant;

use sim_a53::{A53Counts, A53Event, run_by_group};
use sim_core::Shown;
use sim_report::Symbols;
use sim_report::a53_stat::{self, A53Format, A53Owner};
use sim_report::functions::{self, FunctionCosts};
use sim_trace::TraceFile;

use super::functions::{FunctionsArgs, note_missing_names};
use super::stat_a53;
use crate::files::output::Output;
use crate::files::{a53_config, open_trace, symbols};
use crate::host::{memory, speed};
use crate::verdict::Verdict;

/// Runs the trace and prints the counts of each function.
pub(super) fn run(args: &FunctionsArgs) -> anyhow::Result<Verdict> {
    refuse_others(args)?;
    let requested = stat_a53::events(&args.event)?;
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut io::stderr(), &args.trace, &trace)?;
    let symbols = symbols::load(&trace, args.elf.as_deref())?;
    let mut out = Output::create(args.format.output.as_deref())?;
    let start = Instant::now();
    let groups = groups(&trace, &symbols);
    let (cores, counts) = run_by_group(&trace, &config, args.region.part.limit, &groups)?;
    if args.verbose {
        let instructions = cores.iter().map(|core| core.instructions).sum();
        speed::write_speed(&mut io::stderr(), instructions, start.elapsed())?;
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
    requested: &[(String, A53Event)],
    clock_hz: u64,
) -> io::Result<()> {
    if requested.is_empty() && !args.format.is_for_programs() {
        let costs = rows.iter().map(|(name, counts)| FunctionCosts::of_a53(name, counts));
        let costs: Vec<FunctionCosts> = costs.collect();
        return functions::write_table(out, &args.trace.shown().to_string(), &costs);
    }
    let all = stat_a53::named(&A53Event::ALL);
    let events = if requested.is_empty() { &all } else { requested };
    let owners =
        rows.iter().map(|(name, counts)| A53Owner::of_function(name, counts, events, clock_hz));
    let owners: Vec<A53Owner> = owners.collect();
    let format = match args.format.separator() {
        Some(separator) => A53Format::Separated(separator),
        None if args.format.json => A53Format::Json,
        None => A53Format::Text,
    };
    if format == A53Format::Text {
        writeln!(out, "\n Exact counts by function for '{}' (Cortex-A53):\n", args.trace.shown())?;
    }
    a53_stat::write_counts(out, &owners, &format)
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
