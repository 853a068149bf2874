//! The bus as a compact binary file: one zstd frame.
//!
//! Inside is a line of JSON, the [`Header`], and then three numbers for each cycle and core in
//! which a bit is set: cycles since the previous entry (the first counts from cycle 0), core, bits.
//! A number has seven bits in each byte, the lowest first; the highest bit of a byte means that
//! another byte follows (LEB128).

use std::io::{self, Write};

use serde::Serialize;
use sim_core::Cycle;

use super::head::{BusHead, name};

/// Name of the format, with its version.
const FORMAT: &str = "n2sim-event-bus-1";

/// First line of the file.
#[derive(Serialize)]
struct Header<'a> {
    format: &'static str,
    core: &'a str,
    trace: &'a str,
    /// Thread of each core.
    threads: &'a [u32],
    bits: Vec<Bit>,
}

/// A bit of the bus.
#[derive(Serialize)]
struct Bit {
    bit: u8,
    event: &'static str,
    title: &'static str,
}

/// Writer of the file.
pub(super) struct Binary<W: Write> {
    out: zstd::stream::Encoder<'static, W>,
    last: Cycle,
}

impl<W: Write> std::fmt::Debug for Binary<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binary").field("last", &self.last).finish_non_exhaustive()
    }
}

impl<W: Write> Binary<W> {
    pub(super) fn begin(out: W, head: &BusHead<'_>) -> io::Result<Binary<W>> {
        let bits = head.wires.iter().map(|wire| Bit {
            bit: wire.bit,
            event: name(wire),
            title: wire.title,
        });
        let header = Header {
            format: FORMAT,
            core: head.core,
            trace: head.source,
            threads: head.streams,
            bits: bits.collect(),
        };
        let mut out = zstd::stream::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
        serde_json::to_writer(&mut out, &header)?;
        out.write_all(b"\n")?;
        Ok(Binary { out, last: 0 })
    }

    pub(super) fn cycle(&mut self, cycle: Cycle, core: usize, bits: u32) -> io::Result<()> {
        /// Three numbers of at most ten bytes.
        const MOST: usize = 30;
        let (mut entry, mut length) = ([0; MOST], 0);
        for number in [cycle - self.last, core as u64, u64::from(bits)] {
            let mut rest = number;
            while rest >= 0x80 {
                entry[length] = rest as u8 | 0x80;
                (rest, length) = (rest >> 7, length + 1);
            }
            entry[length] = rest as u8;
            length += 1;
        }
        self.last = cycle;
        self.out.write_all(&entry[..length])
    }

    pub(super) fn finish(self) -> io::Result<W> {
        self.out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_a_header_and_its_entries() {
        let head = BusHead { wires: Vec::new(), streams: &[7], core: "cortex-a53", source: "a" };
        let mut file = Binary::begin(Vec::new(), &head).expect("memory");
        file.cycle(5, 0, 0x80).expect("memory");
        file.cycle(305, 1, 0x1FF).expect("memory");
        let bytes = file.finish().expect("memory");
        let content = zstd::stream::decode_all(&bytes[..]).expect("a frame");
        let line = content.iter().position(|byte| *byte == b'\n').expect("a header");
        let header: serde_json::Value = serde_json::from_slice(&content[..line]).expect("JSON");
        assert_eq!((&header["format"], &header["threads"][0]), (&FORMAT.into(), &7.into()));
        let entries = [5, 0, 0x80, 0x01, 0xAC, 0x02, 1, 0xFF, 0x03];
        assert_eq!(content[line + 1..], entries);
    }
}
