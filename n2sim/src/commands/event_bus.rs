//! `n2sim event-bus`: writes the event bus that another core would export in a run, cycle by cycle.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use sim_core::{Cycle, EventSink, Notice, PmuEvent};
use sim_pmu::event_bus::{EventBus, wires};
use sim_report::event_bus::{BusFormat, BusWriter};

use super::event_bus_a53;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::progress;
use crate::shared_args::{CoreName, MachineArgs, PartArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Operations between two attempts to write.
const GIVE_EVERY: u32 = 2048;

/// Replay a trace and write the event bus that another core would export
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim event-bus traces/hash.n2t --limit 10k\n          \
    n2sim event-bus traces/hash.n2t --limit 1M -o hash.vcd")]
pub(crate) struct EventBusArgs {
    /// The trace to replay
    pub(super) trace: PathBuf,
    /// Core whose event bus is written
    #[arg(long, value_enum, value_name = "CORE", default_value_t = CoreName::CortexA53)]
    pub(super) core: CoreName,
    /// Core that runs the trace
    ///
    /// A Cortex-A53 drives all bits of its bus. A Neoverse N2 drives those of the events that both
    /// cores have.
    #[arg(long, value_enum, value_name = "CORE", default_value_t = CoreName::CortexA53)]
    run_on: CoreName,
    /// Write to FILE instead of standard output
    ///
    /// A FILE that ends in .vcd is a value change dump; other files are text.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) part: PartArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
}

/// Replays the trace and writes the bus.
pub(crate) fn run(args: &EventBusArgs) -> anyhow::Result<Verdict> {
    let known = args.core.other().and_then(|core| Some((core, EventBus::new(&core)?)));
    let Some((core, bus)) = known else {
        anyhow::bail!("--core {}: its event bus is not known; use cortex-a53", args.core.name());
    };
    args.run_on.require_timing_model()?;
    if args.run_on == CoreName::CortexA53 {
        return event_bus_a53::run(args);
    }
    let session = open_trace::with(&args.trace, &args.machine)?;
    let threads = session.trace().streams().iter().filter(|thread| thread.instructions > 0);
    let streams: Vec<u32> = threads.map(|thread| thread.stream).collect();
    let output = Output::create(args.output.as_deref())?;
    let (name, trace) = (core.name, args.trace.shown().to_string());
    let format = format_of(args.output.as_deref());
    let out = BusWriter::begin(output, format, wires(&core), &streams, (name, &trace))?;
    let mut follower = Follower::new(bus, streams.len(), out);
    let options = args.part.run_options();
    progress::with_progress(&session, &options, |progress| {
        Ok(session.run_with_sink(&options, progress, &mut follower)?)
    })?;
    let (out, late) = follower.finish()?;
    let (output, cycles) = out.finish()?;
    output.finish()?;
    write_notes(cycles, late)?;
    Ok(Verdict::Good)
}

pub(super) fn write_notes(cycles: u64, late: u64) -> io::Result<()> {
    let mut stderr = io::stderr();
    writeln!(stderr, "n2sim: a bit is set in {cycles} cycles")?;
    if late > 0 {
        writeln!(
            stderr,
            "n2sim: note: {late} events are missing: another core caused them in cycles that were \
             written already"
        )?;
    }
    Ok(())
}

/// Returns the format of a file: a value change dump for `*.vcd`, text for other names.
pub(super) fn format_of(path: Option<&Path>) -> BusFormat {
    let is_dump = |path: &Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("vcd"));
    if path.is_some_and(is_dump) { BusFormat::Vcd } else { BusFormat::Text }
}

/// One core of the run.
struct Core {
    bus: EventBus,
    is_counted: bool,
    /// The counted window of this core has ended, so others do not wait for it.
    is_over: bool,
}

/// A sink that observes all cores and writes the cycles that can no longer change.
struct Follower<W> {
    cores: Vec<Core>,
    current: usize,
    out: BusWriter<W>,
    since: u32,
    ready: Vec<(Cycle, usize, u32)>,
    failed: Option<io::Error>,
}

impl<W: Write> Follower<W> {
    fn new(bus: EventBus, cores: usize, out: BusWriter<W>) -> Follower<W> {
        let core = || Core { bus: bus.clone(), is_counted: false, is_over: false };
        let cores = (0..cores).map(|_| core()).collect();
        Follower { cores, current: 0, out, since: 0, ready: Vec::new(), failed: None }
    }

    /// Writes the cycles before the one that every core has passed.
    fn give(&mut self) {
        let running = self.cores.iter().filter(|core| !core.is_over);
        let horizon = running.map(|core| core.bus.horizon()).min().unwrap_or(Cycle::MAX);
        for (number, core) in self.cores.iter_mut().enumerate() {
            core.bus.drain(horizon, |cycle, bits| self.ready.push((cycle, number, bits)));
        }
        self.ready.sort_unstable();
        for (cycle, core, bits) in self.ready.drain(..) {
            if self.failed.is_none() {
                self.failed = self.out.cycle(cycle, core, bits).err();
            }
        }
    }

    /// Writes the remaining cycles. Returns the writer and the number of events that came too late.
    fn finish(mut self) -> io::Result<(BusWriter<W>, u64)> {
        self.cores.iter_mut().for_each(|core| core.is_over = true);
        self.give();
        let late = self.cores.iter().map(|core| core.bus.late()).sum();
        match self.failed {
            Some(error) => Err(error),
            None => Ok((self.out, late)),
        }
    }
}

impl<W: Write> EventSink for Follower<W> {
    const OBSERVES_OPS: bool = true;

    #[inline]
    fn count(&mut self, event: PmuEvent, n: u64) {
        let core = &mut self.cores[self.current];
        if core.is_counted {
            core.bus.count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::At(cycle) => {
                self.cores[self.current].bus.notify(Notice::At(cycle));
            }
            Notice::Core(core) => {
                self.current = core;
            }
            Notice::Counting(is_counted) => {
                let core = &mut self.cores[self.current];
                core.is_counted = is_counted;
                core.is_over = !is_counted;
            }
            Notice::Operation(operation) => {
                self.cores[self.current].bus.notify(Notice::Operation(operation));
                self.since += 1;
                if self.since == GIVE_EVERY {
                    self.since = 0;
                    self.give();
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_chooses_the_form() {
        for (path, format) in [
            (Some("a.vcd"), BusFormat::Vcd),
            (Some("a.VCD"), BusFormat::Vcd),
            (Some("a.txt"), BusFormat::Text),
            (None, BusFormat::Text),
        ] {
            assert_eq!(format_of(path.map(Path::new)), format, "{path:?}");
        }
    }
}
