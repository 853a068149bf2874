//! The bus as a value change dump (IEEE 1364, clause 18).

use std::io::{self, Write};

use sim_core::Cycle;
use sim_pmu::event_bus::Wire;

use super::head::{BusHead, name};

/// Writer of a dump.
#[derive(Debug)]
pub(super) struct Dump<W> {
    out: W,
    wires: Vec<Wire>,
    /// Bits on the bus of each core in the previous cycle.
    shown: Vec<u32>,
    /// Bits known so far for the present cycle.
    present: Vec<u32>,
    now: Cycle,
}

/// Returns the short name of a wire inside the dump: printable characters, unique for each core and
/// bit.
pub(super) fn code(core: usize, bit: u8) -> String {
    const FIRST: usize = 33;
    const CODES: usize = 94;
    let mut number = core * 32 + usize::from(bit);
    let mut text = String::new();
    loop {
        text.push(char::from((FIRST + number % CODES) as u8));
        number /= CODES;
        if number == 0 {
            return text;
        }
    }
}

impl<W: Write> Dump<W> {
    pub(super) fn begin(out: W, head: BusHead<'_>) -> io::Result<Dump<W>> {
        let cores = head.streams.len();
        let (shown, present) = (vec![0; cores], vec![0; cores]);
        let mut dump = Dump { out, wires: head.wires, shown, present, now: 0 };
        dump.write_head(head.streams, head.core, head.source)?;
        Ok(dump)
    }

    fn write_head(&mut self, streams: &[u32], core: &str, source: &str) -> io::Result<()> {
        let Dump { out, wires, .. } = self;
        writeln!(out, "$version n2sim {} $end", env!("CARGO_PKG_VERSION"))?;
        writeln!(
            out,
            "$comment event bus as a {core} exports it, of {source}; 1 ns is 1 cycle $end"
        )?;
        writeln!(out, "$timescale 1 ns $end")?;
        for (number, stream) in streams.iter().enumerate() {
            writeln!(out, "$scope module thread{stream} $end")?;
            for wire in wires.iter() {
                writeln!(out, "$comment bit {}: {} $end", wire.bit, wire.title)?;
                writeln!(out, "$var wire 1 {} {} $end", code(number, wire.bit), name(wire))?;
            }
            writeln!(out, "$upscope $end")?;
        }
        writeln!(out, "$enddefinitions $end\n#0\n$dumpvars")?;
        for number in 0..streams.len() {
            for wire in wires.iter() {
                writeln!(out, "0{}", code(number, wire.bit))?;
            }
        }
        writeln!(out, "$end")
    }

    pub(super) fn cycle(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
        if cycle > self.now {
            self.write_present()?;
            if cycle > self.now + 1 {
                // No bit is set in the cycle in between: all wires fall.
                self.now += 1;
                self.write_present()?;
            }
            self.now = cycle;
        }
        self.present[core] = bits;
        Ok(())
    }

    /// Writes the changes on all buses since the previous cycle.
    fn write_present(&mut self) -> io::Result<()> {
        if self.present == self.shown {
            self.present.fill(0);
            return Ok(());
        }
        if self.now > 0 {
            writeln!(self.out, "#{}", self.now)?;
        }
        for core in 0..self.shown.len() {
            let bits = std::mem::take(&mut self.present[core]);
            self.set(core, bits)?;
        }
        Ok(())
    }

    fn set(&mut self, core: usize, bits: u32) -> io::Result<()> {
        let changed = self.shown[core] ^ bits;
        for wire in self.wires.iter().filter(|wire| changed >> wire.bit & 1 == 1) {
            writeln!(self.out, "{}{}", bits >> wire.bit & 1, code(core, wire.bit))?;
        }
        self.shown[core] = bits;
        Ok(())
    }

    /// Ends the dump one cycle after the last one.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.write_present()?;
        self.now += 1;
        self.write_present()?;
        writeln!(self.out, "#{}", self.now + 1)?;
        Ok(self.out)
    }
}
