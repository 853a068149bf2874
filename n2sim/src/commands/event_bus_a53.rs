//! `n2sim event-bus` of a trace that runs on a Cortex-A53: all 29 bits.

use std::io;

use sim_a53::event_bus::WIRES;
use sim_a53::{A53Error, run_with_bus};
use sim_pmu::event_bus::Wire;
use sim_pmu::other_core::CORTEX_A53;
use sim_trace::{TraceError, TraceFile};

use super::event_bus::{EventBusArgs, write_notes};
use crate::files::output::Output;
use crate::files::{a53_config, open_trace};
use crate::host::call;
use crate::host::memory;
use crate::verdict::Verdict;

/// Failure of the run, or of the output.
#[derive(Debug, thiserror::Error)]
enum BusError {
    #[error(transparent)]
    Run(#[from] A53Error),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Runs the trace and writes the bus.
pub(super) fn run(args: &EventBusArgs) -> anyhow::Result<Verdict> {
    if args.part.warmup > 0 {
        anyhow::bail!("--warmup works with --run-on neoverse-n2 only");
    }
    let config = a53_config::of(&args.machine)?;
    let trace = TraceFile::open_within(&args.trace, &memory::budget())?;
    open_trace::write_lacks(&mut call::stderr(), &args.trace, &trace)?;
    let streams: Vec<u32> = trace.streams().iter().map(|thread| thread.stream).collect();
    let output = Output::create(args.output.as_deref())?;
    let mut out = args.begin(output, wires(), &streams)?;
    run_with_bus(&trace, &config, args.part.limit, |cycle, core, bits| {
        out.cycle(cycle, core, bits).map_err(BusError::from)
    })?;
    let (output, cycles) = out.finish()?;
    output.finish()?;
    write_notes(cycles, 0)?;
    Ok(Verdict::Good)
}

/// Returns the wires with the titles of the manual's table.
fn wires() -> Vec<Wire> {
    let title = |bit: u8| {
        let row = CORTEX_A53.events.iter().find(|row| row.bus_bit == Some(bit));
        row.map_or("", |row| row.title)
    };
    WIRES.map(|(bit, name)| Wire { bit, event: Some(name), title: title(bit) }).to_vec()
}
