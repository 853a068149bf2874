//! `n2sim perf-stat`: a stand-in for `perf stat` that gives tools the counts of a simulated run.
//! When the program is called `perf`, it does nothing else.

mod a53;
mod control;
mod counters;
mod options;
mod print;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args as ClapArgs, Parser};
use sim_machine::{MachineConfig, RunHeader, Session};
use sim_pmu::perf::Reading;
use sim_report::stat::{Counted, StatOptions};
use sim_report::{Owner, Selected, StatReport};

use crate::counting::counted_run::{Replay, Request};
use crate::counting::event_list::{self, EventGroup, ListedEvent};
use crate::counting::interval::{self, Interval};
use crate::counting::mesh_events::MeshEvents;
use crate::files::open_trace;
use crate::host::call;
use crate::shared_args::{CoreName, CountersArgs, MachineArgs, PartArgs, time_slice};
use control::Control;
use counters::IndependentGroups;
use options::PerfOptions;
use print::{Destination, Print};
use sim_core::Shown;

/// The variable that names the trace, for tools without a way to pass options.
const TRACE_VARIABLE: &str = "N2SIM_TRACE";
/// Further options of the stand-in, separated by blanks.
const ARGS_VARIABLE: &str = "N2SIM_ARGS";

#[derive(Debug, ClapArgs)]
/// Act as `perf stat` for a tool that calls it, with the counts of a simulated run
#[command(
    after_help = "Examples: n2sim perf-stat --trace traces/hash.n2t -- -x, -e '{r8,r11}' -- ./hash\n          \
    ln -s $(command -v n2sim) perf; N2SIM_TRACE=traces/hash.n2t ./perf stat -e r8 -- ./hash"
)]
pub(crate) struct PerfStatArgs {
    /// Trace of the measured program, or a directory of traces named after programs
    ///
    /// The default is the environment variable N2SIM_TRACE.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Multiplex groups of events with this modeled time between rotations
    ///
    /// Without it, each group counts as if it were alone.
    #[arg(long, alias = "tick", value_name = "TIME", value_parser = time_slice)]
    #[arg(allow_negative_numbers = true)]
    mux_interval: Option<u64>,
    #[command(flatten)]
    counters: CountersArgs,
    #[command(flatten)]
    pub(super) part: PartArgs,
    /// Simulated core
    #[arg(long, value_enum, default_value_t, help_heading = "Machine")]
    core: CoreName,
    #[command(flatten)]
    machine: MachineArgs,
    /// Arguments of `perf stat` on the tool's command line
    #[arg(last = true, value_name = "OPTIONS OF PERF STAT")]
    perf: Vec<OsString>,
}

/// The options of the stand-in in the environment.
#[derive(Debug, Parser)]
#[command(name = "N2SIM_ARGS")]
struct Environment {
    #[command(flatten)]
    args: PerfStatArgs,
}

/// Returns the rest of the command line if the program was called `perf`.
pub(crate) fn called_as_perf(words: &[OsString]) -> Option<&[OsString]> {
    let (name, words) = words.split_first()?;
    (Path::new(name).file_name()? == "perf").then_some(words)
}

/// Runs a command line of perf: `perf stat ...`, or a request for its version.
pub(crate) fn play(words: &[OsString]) -> anyhow::Result<()> {
    match words.first().and_then(|word| word.to_str()) {
        Some("stat") => {
            let variable = std::env::var(ARGS_VARIABLE).unwrap_or_default();
            let own = ["N2SIM_ARGS"].into_iter().chain(variable.split_whitespace());
            let environment = Environment::try_parse_from(own)?;
            run(&PerfStatArgs { perf: words[1..].to_vec(), ..environment.args })
        }
        Some("-v" | "--version" | "version") => {
            writeln!(call::stdout(), "perf version 6.12 (n2sim {})", env!("CARGO_PKG_VERSION"))?;
            Ok(())
        }
        Some(word) => anyhow::bail!("'perf {word}': n2sim acts as `perf stat` only"),
        None => anyhow::bail!("n2sim acts as `perf stat`; call it as perf stat -e ... -- COMMAND"),
    }
}

/// Counts and prints as `perf stat` would.
pub(crate) fn run(args: &PerfStatArgs) -> anyhow::Result<()> {
    args.core.require_timing_model()?;
    let words = [OsString::from("perf stat")].into_iter().chain(args.perf.iter().cloned());
    let options = PerfOptions::try_parse_from(words)?;
    match args.core {
        CoreName::CortexA53 => a53::run(args, &options),
        _ => run_n2(args, &options),
    }
}

/// Counts on a Neoverse N2.
fn run_n2(args: &PerfStatArgs, options: &PerfOptions) -> anyhow::Result<()> {
    let events = Events::parse(options)?;
    if options.interval_print.is_some() {
        events.mesh.refuse("-I", "events of the mesh are counted over the whole run")?;
    }
    let control = Begin::open(options)?;
    let trace = trace(args, options)?;
    let (mut session, has_stall_slot_erratum) = open(args, &trace)?;
    events.mesh.check(&session)?;
    if !events.mesh.is_empty() {
        session = session.with_mesh();
    }
    let interval = time_of(options, session.clock_hz(), session.instructions())?;
    let output = Destination::open(options)?;
    let was_on = control.wait()?;
    if options.verbose > 0 {
        let midr = session.config().core.revision.midr();
        writeln!(call::stderr(), "Using CPUID {midr:#018x}")?;
    }
    let request = Request::new(&events.groups, session.trace().meta().machine.full_system);
    let request = request.on(args.counters.counters);
    let run_options = args.part.run_options();
    let replay = Replay {
        session: &session,
        options: &run_options,
        request: &request,
        has_stall_slot_erratum,
    };
    let progress = &mut |_| {};
    let (outcome, intervals) = match args.mux_interval {
        Some(ns) => {
            let counters = request.session(ns, session.clock_hz());
            interval::count(&replay, interval, counters, progress)?
        }
        None => interval::count(
            &replay,
            interval,
            IndependentGroups::new(&request.groups, request.counters),
            progress,
        )?,
    };
    let report = |events: &[Selected], readings: &[Vec<Reading>], owners: Option<&[Owner]>| {
        let counted = Some(Counted { events, readings, truth: None });
        let options = StatOptions { counted, owners, has_stall_slot_erratum, errors: None };
        StatReport::new(&outcome, &options)
    };
    // Of a part of the run, as with --timeout, the mesh has no counts.
    let mesh = match intervals.len() {
        0 | 1 => events.mesh.rows(&outcome, false)?.values(),
        _ => Vec::new(),
    };
    let print = Print {
        options,
        events: &events,
        request: &request,
        threads: Owner::threads(&outcome),
        origin: print::origin(&outcome.header),
        mesh,
        report: &report,
    };
    print.write(output, &intervals, was_on)
}

/// The start of counting: at once, or at a command.
struct Begin {
    control: Option<Control>,
    /// Counting is on before any command.
    is_on: bool,
    /// Time after which it ends by itself.
    time: Option<Duration>,
}

impl Begin {
    fn open(options: &PerfOptions) -> anyhow::Result<Begin> {
        let is_on = options.delay.is_none_or(|delay| delay >= 0);
        let control = options.control.as_deref().map(Control::open).transpose()?;
        let time = options.timeout.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok());
        Ok(Begin { control, is_on, time })
    }

    /// Answers commands at once, until counting has ended: then the run starts. Returns whether
    /// counting was on at any time.
    fn wait(self) -> anyhow::Result<bool> {
        match self.control {
            Some(control) => control.obey(self.is_on, self.time),
            None => Ok(self.is_on),
        }
    }
}

/// Returns the trace of the command.
fn trace(args: &PerfStatArgs, options: &PerfOptions) -> anyhow::Result<PathBuf> {
    let variable = std::env::var_os(TRACE_VARIABLE).filter(|value| !value.is_empty());
    let given = args.trace.clone().or(variable.map(PathBuf::from)).with_context(|| {
        format!("which trace? give --trace FILE, or set {TRACE_VARIABLE} to a trace or a directory")
    })?;
    if !given.is_dir() {
        return Ok(given);
    }
    let program = options.command.first().map(Path::new).and_then(Path::file_name);
    let Some(program) = program else {
        anyhow::bail!(
            "{}: a directory needs a command that names one of its traces",
            given.shown()
        );
    };
    Ok(given.join(program).with_extension("n2t"))
}

/// Opens the trace on the machine. Returns whether the machine counts one stalled slot too many.
fn open(args: &PerfStatArgs, trace: &Path) -> anyhow::Result<(Session, bool)> {
    let overrides = args.machine.overrides();
    let document = args.machine.source(&overrides).document()?;
    let config = MachineConfig::from_document(&document)?;
    let has_stall_slot_erratum = config.core.revision.has_stall_slot_erratum();
    let header = RunHeader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: document.name(),
        config_hash: document.hash(),
        trace: trace.shown().to_string(),
        ..RunHeader::default()
    };
    let session = open_trace::session(trace, config, header)?.without_roots();
    Ok((session, has_stall_slot_erratum))
}

/// Returns the intervals of the counted part of a run of about this number of instructions.
fn time_of(options: &PerfOptions, clock_hz: u64, instructions: u64) -> anyhow::Result<Interval> {
    let milliseconds = options.interval_print.or(options.timeout);
    let interval = match milliseconds {
        Some(ms) => Interval::new(ms, clock_hz, instructions)?,
        None => Interval::whole(clock_hz),
    };
    let delay_ms = options.delay.and_then(|delay| u64::try_from(delay).ok()).unwrap_or(0);
    Ok(interval.delayed(delay_ms.saturating_mul(1_000_000)))
}

/// The events in the order of the request.
struct Events<E> {
    groups: Vec<EventGroup<E>>,
    order: Vec<Requested>,
    mesh: MeshEvents,
}

/// A requested event.
enum Requested {
    /// The next event of the core.
    Core,
    /// An event of the kernel, with its name.
    Kernel(String),
    /// The next event of the mesh, with its name.
    Mesh(String),
}

impl<E: ListedEvent> Events<E> {
    fn parse(options: &PerfOptions) -> anyhow::Result<Events<E>> {
        let default = [options::DEFAULT_EVENTS.to_owned()];
        let lists = if options.event.is_empty() { &default } else { options.event.as_slice() };
        let (mesh, _) = MeshEvents::take(lists)?;
        let mut events = Events { groups: Vec::new(), order: Vec::new(), mesh };
        for list in lists {
            for item in event_list::split(list)? {
                if event_list::is_software(item) {
                    events.order.push(Requested::Kernel(item.trim().to_owned()));
                    continue;
                }
                let (of_mesh, _) = MeshEvents::take(&[item.to_owned()])?;
                if !of_mesh.is_empty() {
                    events.order.extend(of_mesh.names().map(Requested::Mesh));
                    continue;
                }
                let groups = event_list::parse_all::<E>(&[item.to_owned()])?;
                let count = groups.iter().map(|group| group.events.len()).sum();
                events.order.extend((0..count).map(|_| Requested::Core));
                events.groups.extend(groups);
            }
        }
        Ok(events)
    }
}
