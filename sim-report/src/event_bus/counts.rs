//! The number of cycles in which each bit of the bus is set.

use std::io::{self, Write};

use sim_core::Cycle;
use sim_pmu::event_bus::Wire;

use super::head::{BusHead, name};
use crate::perf_stat::grouped;

/// Bits of a bus.
const BITS: usize = 32;

/// Counter of each bit of each core.
#[derive(Debug)]
pub(super) struct Counts<W> {
    out: W,
    wires: Vec<Wire>,
    title: String,
    streams: Vec<u32>,
    /// Cycles by core and bit.
    cycles: Vec<[u64; BITS]>,
    last: Cycle,
}

impl<W: Write> Counts<W> {
    pub(super) fn begin(out: W, head: BusHead<'_>) -> Counts<W> {
        let title = format!("event bus as a {} exports it, of {}", head.core, head.source);
        let (streams, cycles) = (head.streams.to_vec(), vec![[0; BITS]; head.streams.len()]);
        Counts { out, wires: head.wires, title, streams, cycles, last: 0 }
    }

    pub(super) fn cycle(&mut self, cycle: Cycle, core: usize, bits: u32) {
        self.last = self.last.max(cycle);
        for (bit, count) in self.cycles[core].iter_mut().enumerate() {
            *count += u64::from(bits >> bit & 1);
        }
    }

    /// Writes the table: one column for each thread.
    pub(super) fn finish(mut self) -> io::Result<W> {
        let Counts { out, wires, title, streams, cycles, last } = &mut self;
        let last = grouped(*last);
        writeln!(out, " {title}: cycles in which each bit is set; the last one is cycle {last}\n")?;
        write!(out, " {:>3}  {:<24}", "bit", "event")?;
        for stream in streams.iter() {
            write!(out, " {:>16}", format!("thread {stream}"))?;
        }
        writeln!(out)?;
        for wire in wires.iter() {
            write!(out, " {:>3}  {:<24}", wire.bit, name(wire))?;
            for core in cycles.iter() {
                write!(out, " {:>16}", grouped(core[usize::from(wire.bit)]))?;
            }
            writeln!(out)?;
        }
        Ok(self.out)
    }
}
