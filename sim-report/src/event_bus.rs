//! Exported event bus of a run, cycle by cycle: as a value change dump (IEEE 1364, clause 18) for
//! wave viewers, or as one line of text per cycle. The bits are those of the Cortex-A53 manual,
//! 12.9.

use std::io::{self, Write};

use sim_core::Cycle;
use sim_pmu::event_bus::Wire;

/// Output format of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusFormat {
    /// Value change dump; one unit of its time is one cycle.
    Vcd,
    /// One line per cycle and core in which a bit is set.
    Text,
}

/// Writer of the bus cycles of all cores, in order of time.
#[derive(Debug)]
pub struct BusWriter<W> {
    out: W,
    format: BusFormat,
    wires: Vec<Wire>,
    /// Bits on the bus of each core in the previous cycle.
    shown: Vec<u32>,
    /// Bits known so far for the present cycle.
    present: Vec<u32>,
    now: Cycle,
    /// Cycles of all cores in which a bit was set.
    cycles: u64,
}

/// Returns the name of a wire in the dump: its event, or the condition that two instructions
/// retired.
fn name(wire: &Wire) -> &'static str {
    wire.event.unwrap_or("TWO_INST_RETIRED")
}

/// Returns the short name of a wire inside the dump: printable characters, unique for each core and
/// bit.
fn code(core: usize, bit: u8) -> String {
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

impl<W: Write> BusWriter<W> {
    /// Writes the header. `streams` are the threads of the cores, `core` names the CPU that exports
    /// the bus, and `source` is the trace.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn begin(
        out: W,
        format: BusFormat,
        wires: Vec<Wire>,
        streams: &[u32],
        (core, source): (&str, &str),
    ) -> io::Result<BusWriter<W>> {
        let (shown, present) = (vec![0; streams.len()], vec![0; streams.len()]);
        let mut writer = BusWriter { out, format, wires, shown, present, now: 0, cycles: 0 };
        match format {
            BusFormat::Vcd => writer.head_of_dump(streams, core, source)?,
            BusFormat::Text => writer.head_of_text(streams, core, source)?,
        }
        Ok(writer)
    }

    fn head_of_dump(&mut self, streams: &[u32], core: &str, source: &str) -> io::Result<()> {
        let BusWriter { out, wires, .. } = self;
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

    fn head_of_text(&mut self, streams: &[u32], core: &str, source: &str) -> io::Result<()> {
        let BusWriter { out, wires, .. } = self;
        writeln!(out, "# event bus as a {core} exports it, of {source}")?;
        for wire in wires.iter() {
            writeln!(out, "# bit {:2}  {:<18} {}", wire.bit, name(wire), wire.title)?;
        }
        let threads: Vec<String> = streams.iter().map(ToString::to_string).collect();
        writeln!(out, "# cores run threads {}; cycle, core, bits, events", threads.join(", "))
    }

    /// Writes the bus of a core in one cycle. Cycles come in order, and so do the cores of one
    /// cycle.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn cycle(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
        self.cycles += 1;
        match self.format {
            BusFormat::Vcd => self.change(cycle, core, bits),
            BusFormat::Text => self.line(cycle, core, bits),
        }
    }

    fn line(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
        let BusWriter { out, wires, .. } = self;
        write!(out, "{cycle} {core} 0x{bits:08x}")?;
        for wire in wires.iter().filter(|wire| bits >> wire.bit & 1 == 1) {
            write!(out, " {}", name(wire))?;
        }
        writeln!(out)
    }

    fn change(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
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

    /// Ends the dump one cycle after the last one. Returns the output and the number of cycles
    /// written.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        if self.format == BusFormat::Vcd {
            self.write_present()?;
            self.now += 1;
            self.write_present()?;
            writeln!(self.out, "#{}", self.now + 1)?;
        }
        Ok((self.out, self.cycles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wires() -> Vec<Wire> {
        let wire = |bit, event| Wire { bit, event, title: "a title" };
        vec![wire(7, Some("INST_RETIRED")), wire(8, None)]
    }

    fn written(format: BusFormat, cycles: &[(Cycle, usize, u32)]) -> String {
        let source = ("cortex-a53", "a.n2t");
        let mut writer =
            BusWriter::begin(Vec::new(), format, wires(), &[3, 4], source).expect("memory");
        for (cycle, core, bits) in cycles {
            writer.cycle(*cycle, *core, *bits).expect("memory");
        }
        let (out, count) = writer.finish().expect("memory");
        assert_eq!(count as usize, cycles.len());
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_wire_is_high_only_in_its_cycle() {
        let cycles = [(0, 0, 0x80), (1, 0, 0x180), (1, 1, 0x80), (2, 1, 0x80), (9, 0, 0x80)];
        let text = written(BusFormat::Vcd, &cycles);
        let (_, changes) = text.split_once("$dumpvars\n").expect("a dump");
        let ((a, b), (c, d)) = ((code(0, 7), code(0, 8)), (code(1, 7), code(1, 8)));
        let expected = format!(
            "0{a}\n0{b}\n0{c}\n0{d}\n$end\n1{a}\n#1\n1{b}\n1{c}\n#2\n0{a}\n0{b}\n#3\n0{c}\n#9\n1{a}\n#10\n0{a}\n#11\n"
        );
        assert_eq!(changes, expected);
        assert!(text.contains("$scope module thread4 $end"));
        assert!(text.contains(&format!("$var wire 1 {b} TWO_INST_RETIRED $end")));
    }

    #[test]
    fn a_line_names_the_events_of_its_bits() {
        let text = written(BusFormat::Text, &[(12, 1, 0x180)]);
        assert!(text.ends_with("\n12 1 0x00000180 INST_RETIRED TWO_INST_RETIRED\n"), "{text}");
    }

    #[test]
    fn no_two_wires_share_a_code() {
        let mut codes: Vec<String> =
            (0..40).flat_map(|core| (0..32).map(move |bit| code(core, bit))).collect();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), 40 * 32);
    }
}
