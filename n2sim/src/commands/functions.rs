//! `n2sim functions`: exact counts for each function of the program.
//!
//! The run passes the sums of its counts whenever an operation of another function begins
//! ([`DeferredSink::ATTRIBUTES`]), on the correct path and on wrong paths.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args as ClapArgs;
use sim_core::{Counts, DeferredSink, EventSink, InstId, Notice, PartOfInst, PmuEvent};
use sim_machine::{Mode, Outcome};
use sim_pmu::perf::{Levels, Reading, Status};
use sim_report::functions::{self, FunctionCosts, FunctionRow};
use sim_report::perf_stat::Columns;
use sim_report::stat::{self, Counted, StatOptions};
use sim_report::{Owner, Selected, StatReport, Symbols, perf_stat};

use super::functions_a53;
use crate::counting::counted_run::Replay;
use crate::counting::event_list;
use crate::counting::notes::write_unknown_words;
use crate::counting::print::write_header;
use crate::counting::setup::Setup;
use crate::files::output::Output;
use crate::files::symbols;
use crate::host::call;
use crate::host::progress::{expected, with_progress};
use crate::host::signals::Keeper;
use crate::host::speed;
use crate::shared_args::{CoreName, FormatArgs, MachineArgs, RegionArgs};
use crate::verdict::Verdict;

/// Print exact counts for each function of the program
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim functions traces/hash.n2t\n          \
    n2sim functions traces/hash.n2t -e l1d_cache_refill,br_mis_pred_retired -x,\n          \
    n2sim functions traces/hash.n2t --core cortex-a53")]
pub(crate) struct FunctionsArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    /// Events to count (default: a table of the most important ones)
    ///
    /// Each is a mnemonic or a perf name in any case, or rNN.
    #[arg(short, long, value_name = "EVENT,...", help_heading = "What to count")]
    pub(super) event: Vec<String>,
    /// A program, library or debug file of the recording, for names (repeat for more)
    #[arg(long, value_name = "FILE")]
    pub(super) elf: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) format: FormatArgs,
    /// Print column names (-x) or the origin of the counts (-j) first
    #[arg(long, requires = "for_programs", help_heading = "Output")]
    pub(super) header: bool,
    /// Print speed and memory of the simulation to stderr
    #[arg(short, long, help_heading = "Output")]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) region: RegionArgs,
    /// Simulated core
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Counts attributed to functions.
#[derive(Clone, Debug)]
struct FunctionCounts<'a> {
    symbols: &'a Symbols,
    /// The counts of each function, then those of code without a name.
    functions: Vec<Counts>,
    /// The function of each static instruction.
    of_inst: PartOfInst,
    cores: Vec<Core>,
    current: usize,
}

/// State of one core.
#[derive(Clone, Debug)]
struct Core {
    is_counted: bool,
    /// The function whose operations the next events belong to, on the correct path or a wrong one.
    function: u32,
    /// The function that the correct path is in.
    correct: u32,
}

impl<'a> FunctionCounts<'a> {
    /// Returns a sink that has counted nothing.
    fn new(symbols: &'a Symbols) -> FunctionCounts<'a> {
        let functions = vec![Counts::default(); symbols.functions().len() + 1];
        let mut sink = FunctionCounts {
            symbols,
            functions,
            of_inst: PartOfInst::default(),
            cores: Vec::new(),
            current: 0,
        };
        sink.notify(Notice::Core(0));
        sink
    }

    /// Returns the functions that counted anything, those with most cycles first.
    fn finish(self) -> Vec<FunctionRow> {
        let names = self.symbols.functions().iter().map(|function| function.name.clone());
        let names = names.chain([String::from("[unknown]")]);
        let functions =
            names.zip(self.functions).map(|(name, counts)| FunctionRow { name, counts });
        let counted = |function: &FunctionRow| {
            PmuEvent::ALL.into_iter().any(|event| function.counts.raised(event) > 0)
        };
        let mut functions: Vec<FunctionRow> = functions.filter(counted).collect();
        // A stable sort keeps functions with equal cycles in the order of their addresses.
        functions
            .sort_by_key(|function| std::cmp::Reverse(function.counts.value(PmuEvent::CPU_CYCLES)));
        functions
    }
}

/// Returns the number of the function at this address.
fn function_at(symbols: &Symbols, pc: u64) -> u32 {
    let all = symbols.functions();
    let number = symbols.function(pc).and_then(|place| {
        all.binary_search_by_key(&place.function.addr, |function| function.addr).ok()
    });
    number.unwrap_or(all.len()) as u32
}

impl EventSink for FunctionCounts<'_> {
    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &self.cores[self.current];
        // Stalls and cycles of a squashed path belong to its branch.
        let owner = if STALLS.contains(&event) { core.correct } else { core.function };
        if core.is_counted {
            self.functions[owner as usize].count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                let none = self.symbols.functions().len() as u32;
                let new = Core { is_counted: false, function: none, correct: none };
                self.cores.resize(self.cores.len().max(core + 1), new);
                self.current = core;
            }
            Notice::Counting(is_counted) => self.cores[self.current].is_counted = is_counted,
            Notice::Part { part, on_wrong_path } => {
                let core = &mut self.cores[self.current];
                core.function = part;
                core.correct = if on_wrong_path { core.correct } else { part };
            }
            _ => {}
        }
    }
}

impl DeferredSink for FunctionCounts<'_> {
    const ATTRIBUTES: bool = true;

    fn cycles_to_deadline(&self) -> u64 {
        u64::MAX
    }

    #[inline]
    fn part_of(&mut self, inst: InstId, pc: u64) -> u32 {
        let symbols = self.symbols;
        self.of_inst.get(inst, || function_at(symbols, pc))
    }

    fn count_all(&mut self, sum: &Counts) {
        let core = &self.cores[self.current];
        if !core.is_counted {
            return;
        }
        let (function, correct) = (core.function as usize, core.correct as usize);
        if function == correct {
            return self.functions[function].add(sum);
        }
        let is_stall = |event| STALLS.contains(&event);
        let (own, stalls) = (
            sum.map_events(|event, n| if is_stall(event) { 0 } else { n }),
            sum.map_events(|event, n| if is_stall(event) { n } else { 0 }),
        );
        self.functions[function].add(&own);
        self.functions[correct].add(&stalls);
    }
}

/// Events that count stalled cycles and slots.
const STALLS: [PmuEvent; 7] = [
    PmuEvent::STALL_FRONTEND,
    PmuEvent::STALL_BACKEND,
    PmuEvent::STALL_BACKEND_MEM,
    PmuEvent::STALL,
    PmuEvent::STALL_SLOT_FRONTEND,
    PmuEvent::STALL_SLOT_BACKEND,
    PmuEvent::STALL_SLOT,
];

/// Refuses events of single exception levels: functions count all levels together.
fn check_levels(replay: &Replay<'_>) -> anyhow::Result<()> {
    let has_kernel = replay.session.trace().meta().machine.full_system;
    let is_partial =
        |event: &&Selected| event.event.levels != Levels::ALL && !event_list::is_nowhere(event);
    match replay.request.events.iter().find(is_partial) {
        Some(event) if has_kernel => anyhow::bail!(
            "'{}': functions are counted at all levels together; leave the modifier out",
            event.name
        ),
        _ => Ok(()),
    }
}

/// Counts and prints function by function.
pub(crate) fn run(args: &FunctionsArgs) -> anyhow::Result<Verdict> {
    args.core.require_timing_model()?;
    if args.core == CoreName::CortexA53 {
        return functions_a53::run(args);
    }
    let groups = event_list::parse_all(&args.event)?;
    let options = args.region.run_options()?;
    let setup = Setup::open(&args.trace, &args.machine, Mode::Full, false)?;
    let request = setup.request(&groups)?;
    // From the first file on, a signal ends the run with its results.
    let keeper = Keeper::for_first();
    let out = Output::create(args.format.output.as_deref())?;
    let replay = Replay {
        session: &setup.session,
        options: &options,
        request: &request,
        has_stall_slot_erratum: setup.has_stall_slot_erratum,
    };
    let start = Instant::now();
    let instructions = count(out, args, &replay)?;
    if args.verbose {
        speed::write_speed(&mut call::stderr(), instructions, start.elapsed())?;
    }
    keeper.end(instructions, expected(&setup.session, &options))?;
    Ok(Verdict::Good)
}

/// Counts and prints. Returns the number of instructions that ran.
fn count(mut out: Output, args: &FunctionsArgs, replay: &Replay<'_>) -> anyhow::Result<u64> {
    check_levels(replay)?;
    let symbols = symbols::load(replay.session.trace(), &args.elf)?;
    let mut sink = FunctionCounts::new(&symbols);
    let (outcome, instructions) = with_progress(replay.session, replay.options, |progress| {
        Ok(replay.session.run_deferred(replay.options, progress, &mut sink)?)
    })?;
    let rows = sink.finish();
    let columns = Columns { function: true, ..Columns::default() };
    write_header(&mut out, &args.format, args.header.then_some(columns), &outcome)?;
    if !args.format.is_for_programs() && replay.request.events.is_empty() {
        let costs: Vec<FunctionCosts> = rows.iter().map(FunctionCosts::of_n2).collect();
        functions::write_table(&mut out, &outcome.header.trace, &costs)?;
    } else {
        write_counts(&mut out, &args.format, replay, &outcome, &rows)?;
    }
    out.finish()?;
    write_unknown_words(&mut call::stderr(), &outcome)?;
    note_missing_names(&symbols)?;
    Ok(instructions)
}

/// Notes that no function has a name.
pub(super) fn note_missing_names(symbols: &Symbols) -> io::Result<()> {
    if symbols.functions().is_empty() {
        writeln!(
            call::stderr(),
            "n2sim: note: the trace names no functions; give its program with --elf FILE"
        )?;
    }
    Ok(())
}

/// Writes the chosen events, or all of them, of each function.
fn write_counts(
    out: &mut Output,
    format: &FormatArgs,
    replay: &Replay<'_>,
    outcome: &Outcome,
    rows: &[FunctionRow],
) -> io::Result<()> {
    let all = if replay.request.events.is_empty() { stat::every_event() } else { Vec::new() };
    let events = if all.is_empty() { &replay.request.events } else { &all };
    let readings = |row: &FunctionRow| {
        let cycles = row.counts.value(PmuEvent::CPU_CYCLES);
        let reading = |selected: &Selected| match selected.event.levels.user {
            true => Reading::exact(row.counts.value(selected.event.event), cycles),
            false => Reading { status: Status::NotSupported, ..Reading::default() },
        };
        events.iter().map(reading).collect()
    };
    let readings: Vec<Vec<Reading>> = rows.iter().map(readings).collect();
    let owners: Vec<Owner> = rows.iter().map(|row| Owner::Function(row.name.clone())).collect();
    let options = StatOptions {
        counted: Some(Counted { events, readings: &readings, truth: None }),
        owners: Some(&owners),
        has_stall_slot_erratum: replay.has_stall_slot_erratum,
        errors: None,
    };
    let report = StatReport::new(outcome, &options);
    if format.json {
        perf_stat::write_json(out, &report)
    } else if let Some(separator) = &format.separator() {
        perf_stat::write_csv(out, &report, separator)
    } else {
        perf_stat::write_text(out, &functions::by_function(report))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns counts of one event for each number.
    fn counts(all: &[(PmuEvent, u64)]) -> Counts {
        let mut counts = Counts::default();
        all.iter().for_each(|(event, n)| counts.count(*event, *n));
        counts
    }

    #[test]
    fn stalls_of_a_wrong_path_belong_to_the_function_of_its_branch() {
        use PmuEvent::{LD_SPEC, STALL_FRONTEND, STALL_SLOT_BACKEND};
        let symbols = Symbols::default();
        let mut sink = FunctionCounts::new(&symbols);
        sink.functions = vec![Counts::default(); 3];
        let sum = counts(&[(LD_SPEC, 5), (STALL_FRONTEND, 7), (STALL_SLOT_BACKEND, 9)]);
        sink.notify(Notice::Part { part: 1, on_wrong_path: false });
        sink.count_all(&sum);
        sink.notify(Notice::Counting(true));
        sink.count_all(&sum);
        sink.notify(Notice::Part { part: 2, on_wrong_path: true });
        sink.count_all(&sum);
        sink.count(STALL_FRONTEND, 100);
        sink.notify(Notice::Part { part: 1, on_wrong_path: false });
        sink.notify(Notice::Part { part: 0, on_wrong_path: false });
        sink.count_all(&sum);
        sink.notify(Notice::Counting(false));
        sink.count_all(&sum);
        let branch = counts(&[(LD_SPEC, 5), (STALL_FRONTEND, 114), (STALL_SLOT_BACKEND, 18)]);
        assert_eq!(sink.functions, [sum, branch, counts(&[(LD_SPEC, 5)])]);
    }
}
