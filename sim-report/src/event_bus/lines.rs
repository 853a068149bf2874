//! The bus as text: one line per cycle and core in which a bit is set.

use std::io::{self, Write};

use sim_core::Cycle;
use sim_pmu::event_bus::Wire;

use super::head::{BusHead, name};

/// Writer of lines.
#[derive(Debug)]
pub(super) struct Lines<W> {
    out: W,
    wires: Vec<Wire>,
}

impl<W: Write> Lines<W> {
    pub(super) fn begin(mut out: W, head: BusHead<'_>) -> io::Result<Lines<W>> {
        let BusHead { wires, streams, core, source } = head;
        writeln!(out, "# event bus as a {core} exports it, of {source}")?;
        for wire in &wires {
            writeln!(out, "# bit {:2}  {:<18} {}", wire.bit, name(wire), wire.title)?;
        }
        let threads: Vec<String> = streams.iter().map(ToString::to_string).collect();
        writeln!(out, "# cores run threads {}; cycle, core, bits, events", threads.join(", "))?;
        Ok(Lines { out, wires })
    }

    pub(super) fn cycle(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
        write!(self.out, "{cycle} {core} 0x{bits:08x}")?;
        for wire in self.wires.iter().filter(|wire| bits >> wire.bit & 1 == 1) {
            write!(self.out, " {}", name(wire))?;
        }
        writeln!(self.out)
    }

    pub(super) fn finish(self) -> W {
        self.out
    }
}
