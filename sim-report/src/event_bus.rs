//! Exported event bus of a run, cycle by cycle, in four forms: a value change dump for wave
//! viewers, a compact binary file, one line of text per cycle, and the counts of each bit. The bits
//! are those of the Cortex-A53 manual, 12.9.

mod binary;
mod counts;
mod dump;
mod head;
mod lines;

use std::io::{self, Write};

use sim_core::Cycle;

pub use head::BusHead;

/// Output format of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusFormat {
    /// Value change dump (IEEE 1364, clause 18); one unit of its time is one cycle.
    Vcd,
    /// Compressed binary file: a header of JSON, then numbers of variable length.
    Binary,
    /// One line per cycle and core in which a bit is set.
    Text,
    /// One line per bit: in how many cycles it is set.
    Counts,
}

/// Writer of the bus cycles of all cores, in order of time.
#[derive(Debug)]
pub struct BusWriter<W: Write> {
    form: Form<W>,
    /// Bits that have a wire.
    mask: u32,
    /// Cycles of all cores in which a bit was set.
    cycles: u64,
}

#[derive(Debug)]
enum Form<W: Write> {
    Vcd(dump::Dump<W>),
    Binary(binary::Binary<W>),
    Text(lines::Lines<W>),
    Counts(counts::Counts<W>),
}

impl<W: Write> BusWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn begin(out: W, format: BusFormat, head: BusHead<'_>) -> io::Result<BusWriter<W>> {
        let mask = head.wires.iter().fold(0, |mask, wire| mask | 1 << wire.bit);
        let form = match format {
            BusFormat::Vcd => Form::Vcd(dump::Dump::begin(out, head)?),
            BusFormat::Binary => Form::Binary(binary::Binary::begin(out, &head)?),
            BusFormat::Text => Form::Text(lines::Lines::begin(out, head)?),
            BusFormat::Counts => Form::Counts(counts::Counts::begin(out, head)),
        };
        Ok(BusWriter { form, mask, cycles: 0 })
    }

    /// Writes the bus of a core in one cycle, if a bit with a wire is set. Cycles come in order,
    /// and so do the cores of one cycle.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn cycle(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
        let bits = bits & self.mask;
        if bits == 0 {
            return Ok(());
        }
        self.cycles += 1;
        match &mut self.form {
            Form::Vcd(form) => form.cycle(cycle, core, bits),
            Form::Binary(form) => form.cycle(cycle, core, bits),
            Form::Text(form) => form.cycle(cycle, core, bits),
            Form::Counts(form) => {
                form.cycle(cycle, core, bits);
                Ok(())
            }
        }
    }

    /// Ends the output. Returns it and the number of cycles written.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self) -> io::Result<(W, u64)> {
        let out = match self.form {
            Form::Vcd(form) => form.finish()?,
            Form::Binary(form) => form.finish()?,
            Form::Text(form) => form.finish(),
            Form::Counts(form) => form.finish()?,
        };
        Ok((out, self.cycles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_bus::dump::code;
    use sim_pmu::event_bus::Wire;

    fn wires() -> Vec<Wire> {
        let wire = |bit, event| Wire { bit, event, title: "a title" };
        vec![wire(7, Some("INST_RETIRED")), wire(8, None)]
    }

    fn written(format: BusFormat, cycles: &[(Cycle, usize, u32)]) -> String {
        let out = bytes(format, cycles);
        String::from_utf8(out).expect("text")
    }

    fn bytes(format: BusFormat, cycles: &[(Cycle, usize, u32)]) -> Vec<u8> {
        let head =
            BusHead { wires: wires(), streams: &[3, 4], core: "cortex-a53", source: "a.n2t" };
        let mut writer = BusWriter::begin(Vec::new(), format, head).expect("memory");
        for (cycle, core, bits) in cycles {
            writer.cycle(*cycle, *core, *bits).expect("memory");
        }
        let (out, count) = writer.finish().expect("memory");
        assert_eq!(count as usize, cycles.len());
        out
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
    fn a_table_has_the_cycles_of_each_bit() {
        let text = written(BusFormat::Counts, &[(0, 0, 0x80), (3, 0, 0x180), (1200, 1, 0x80)]);
        assert!(
            text.contains(
                "of a.n2t: cycles in which each bit is set; the last one is cycle 1,200\n"
            ),
            "{text}"
        );
        let rows: Vec<&str> = text.lines().skip(3).collect();
        let row = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(row(rows[0]), ["7", "INST_RETIRED", "2", "1"]);
        assert_eq!(row(rows[1]), ["8", "TWO_INST_RETIRED", "1", "0"]);
    }

    #[test]
    fn bits_without_a_wire_are_left_out() {
        let head = BusHead { wires: wires(), streams: &[0], core: "c", source: "s" };
        let mut writer = BusWriter::begin(Vec::new(), BusFormat::Text, head).expect("memory");
        writer.cycle(1, 0, 0x1).expect("memory");
        writer.cycle(2, 0, 0x81).expect("memory");
        let (out, cycles) = writer.finish().expect("memory");
        assert!(String::from_utf8(out).expect("text").ends_with("\n2 0 0x00000080 INST_RETIRED\n"));
        assert_eq!(cycles, 1);
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
