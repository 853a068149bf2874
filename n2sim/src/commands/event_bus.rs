//! `n2sim event-bus`: writes the event bus that another core would export in a run, cycle by cycle.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use sim_a53::event_bus::TRACE_WIRES;
use sim_core::{Cycle, EventSink, Notice, PmuEvent};
use sim_pmu::event_bus::{EventBus, Wire, wires};
use sim_report::event_bus::{BusFormat, BusHead, BusWriter};

use super::event_bus_a53;
use crate::files::open_trace;
use crate::files::output::Output;
use crate::host::call;
use crate::host::progress;
use crate::shared_args::{CoreName, MachineArgs, PartArgs};
use crate::verdict::Verdict;
use sim_core::Shown;

/// Operations between two attempts to write.
const GIVE_EVERY: u32 = 2048;

/// Replay a trace and write the event bus that another core would export
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples: n2sim event-bus traces/hash.n2t --limit 10k\n          \
    n2sim event-bus traces/hash.n2t --limit 1M -o hash.vcd\n          \
    n2sim event-bus traces/hash.n2t --counts")]
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
    /// A FILE that ends in .vcd is a value change dump, one in .n2bus a compact binary file
    /// (docs/pmu.md); other files are text.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Print in how many cycles each bit is set
    #[arg(long)]
    counts: bool,
    /// Write the 26 bits of the bus to the trace unit
    #[arg(long)]
    trace_bus: bool,
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
    let out = args.begin(output, wires(&core), &streams)?;
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
    let mut stderr = call::stderr();
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

impl EventBusArgs {
    /// Begins the output with a bus of these wires.
    pub(super) fn begin(
        &self,
        out: Output,
        wires: Vec<Wire>,
        streams: &[u32],
    ) -> anyhow::Result<BusWriter<Output>> {
        let format = format_of(self.output.as_deref(), self.counts)?;
        let trace_bits = if self.trace_bus { TRACE_WIRES as u8 } else { u8::MAX };
        let wires = wires.into_iter().filter(|wire| wire.bit < trace_bits).collect();
        let source = self.trace.shown().to_string();
        let head = BusHead { wires, streams, core: self.core.name(), source: &source };
        Ok(BusWriter::begin(out, format, head)?)
    }
}

/// Returns the format of a file: by the end of its name, or counts if they are requested.
fn format_of(path: Option<&Path>, counts: bool) -> anyhow::Result<BusFormat> {
    let ends_in = |end: &str| {
        let own = path.and_then(Path::extension);
        own.is_some_and(|own| own.eq_ignore_ascii_case(end))
    };
    Ok(match (counts, ends_in("vcd"), ends_in("n2bus")) {
        (false, true, _) => BusFormat::Vcd,
        (false, _, true) => BusFormat::Binary,
        (false, ..) => BusFormat::Text,
        (true, false, false) => BusFormat::Counts,
        (true, ..) => anyhow::bail!("--counts prints a table: leave it out, or give a file *.txt"),
    })
}

/// One core of the run.
struct Core {
    bus: EventBus,
    is_counted: bool,
    /// The counted window of this core has ended, so others do not wait for it.
    is_over: bool,
}

/// A sink that observes all cores and writes the cycles that can no longer change.
struct Follower<W: Write> {
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
        for (path, counts, format) in [
            (Some("a.vcd"), false, BusFormat::Vcd),
            (Some("a.VCD"), false, BusFormat::Vcd),
            (Some("a.n2bus"), false, BusFormat::Binary),
            (Some("a.txt"), false, BusFormat::Text),
            (None, false, BusFormat::Text),
            (None, true, BusFormat::Counts),
        ] {
            assert_eq!(format_of(path.map(Path::new), counts).ok(), Some(format), "{path:?}");
        }
        assert!(format_of(Some(Path::new("a.vcd")), true).is_err());
    }
}
