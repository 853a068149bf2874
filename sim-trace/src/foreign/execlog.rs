//! Text of the `execlog` plugin of QEMU: one line per executed instruction.
//!
//! A line is `CPU, 0xADDRESS, 0xWORD, "disassembly"`, then `, load, 0xADDRESS` or `, store,
//! 0xADDRESS` for each access. In full-system mode addresses are physical, and the name of the
//! device follows.
//!
//! Lines of other QEMU logs may come in between. Threads that write at the same time may share a
//! line: `..., load, 0x10` and `1, 0x400, ...` become `..., load, 0x101, 0x400, ...`.

use std::io::{BufReader, Read, Seek, Write};

use super::builder::Builder;
use super::lines::{Lines, hex, hex_word};
use super::stop::Stop;
use crate::event::StreamEvent;
use crate::missing_data::MissingData;

/// An executed instruction.
pub(super) struct Line<'a> {
    cpu: u64,
    pc: u64,
    word: u32,
    /// Text after the disassembly.
    accesses: &'a str,
}

/// Parses a line. Returns `None` for a line of another kind.
pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    take(&mut &*line)
}

/// Takes the first instruction from `rest` and leaves the text of another thread after it.
fn take<'a>(rest: &mut &'a str) -> Option<Line<'a>> {
    let (cpu, after) = rest.split_once(", 0x")?;
    let (pc, after) = after.split_once(", 0x")?;
    let (word, after) = after.split_once(", \"")?;
    // The disassembly contains commas, but no quotation mark.
    let (_, after) = after.split_once('"')?;
    let own = length_of_accesses(after);
    let (accesses, next) = after.split_at_checked(own)?;
    *rest = next;
    Some(Line { cpu: cpu.parse().ok()?, pc: hex(pc)?, word: hex_word(word)?, accesses })
}

/// Returns the length of the accesses in the text after a disassembly. The next instruction begins
/// with one digit, its CPU, two fields before the next quotation mark.
fn length_of_accesses(after: &str) -> usize {
    let Some(quote) = after.find(", \"") else { return after.len() };
    let head = &after[..quote];
    let pc = head.rfind(", ").and_then(|word| head[..word].rfind(", "));
    match pc {
        Some(pc) if head[..pc].ends_with(|c: char| c.is_ascii_digit()) => pc - 1,
        _ => after.len(),
    }
}

/// Returns each access, and whether a device name follows it.
fn accesses(text: &str) -> impl Iterator<Item = (u64, bool)> {
    let mut fields = text.split(", ").map(str::trim).peekable();
    std::iter::from_fn(move || {
        loop {
            let field = fields.next()?;
            if field != "load" && field != "store" {
                continue;
            }
            if let Some(addr) = fields.next().and_then(hex) {
                let is_other = |field: &&str| {
                    *field == "load"
                        || *field == "store"
                        || field.is_empty()
                        || field.contains("->")
                };
                let has_device = fields.peek().is_some_and(|field| !is_other(field));
                return Some((addr, has_device));
            }
        }
    })
}

/// Returns true if the trace is of a whole system: an access in `head` names a device.
pub(super) fn is_full_system(head: &str) -> bool {
    head.lines().filter_map(parse).any(|line| accesses(line.accesses).any(|(_, device)| device))
}

/// Reads the whole text.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    let mut lines = Lines::new(BufReader::new(bytes));
    while let Some(line) = lines.next()? {
        let mut rest = line;
        while !rest.is_empty() {
            let Some(inst) = take(&mut rest) else {
                to.skip();
                break;
            };
            push(&inst, to)?;
        }
    }
    Ok(())
}

fn push<W: Write + Seek>(inst: &Line<'_>, to: &mut Builder<W>) -> Result<(), Stop> {
    let stream = to.thread(inst.cpu)?;
    // A faulting instruction has a line without its access, and control goes elsewhere.
    if to.unaccessed(stream).is_some_and(|pc| inst.pc != pc + 4) {
        to.event(stream, StreamEvent::Signal { number: 0, abandoned: true })?;
    }
    to.inst(stream, inst.pc, inst.word)?;
    for (addr, has_device) in accesses(inst.accesses) {
        to.access(stream, addr);
        if has_device {
            to.note_missing(MissingData::VirtualAddresses);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed() {
        let text = r#"3, 0x40071c, 0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!", store, 0x7ff0, store, 0x7ff8"#;
        let line = parse(text).expect("a line");
        assert_eq!((line.cpu, line.pc, line.word), (3, 0x40_071c, 0xa9bf_7bfd));
        let all: Vec<_> = accesses(line.accesses).collect();
        assert_eq!(all, [(0x7ff0, false), (0x7ff8, false)]);
    }

    #[test]
    fn a_device_or_a_register_may_follow_an_access() {
        let text = ", load, 0x4000_0000".replace('_', "") + ", mach-virt ram, x3 -> 0x1";
        assert_eq!(accesses(&text).collect::<Vec<_>>(), [(0x4000_0000, true)]);
        let text = ", store, 0x10, x3 -> 0x1";
        assert_eq!(accesses(text).collect::<Vec<_>>(), [(0x10, false)]);
    }

    #[test]
    fn instructions_of_threads_that_share_a_line_are_separated() {
        let text = r#"0, 0x400104, 0xf9400041, "ldr x1, [x2]", load, 0x7ff81, 0x400108, 0xd503201f, "nop"0, 0x40010c, 0xd503201f, "nop""#;
        let mut rest = text;
        let found: Vec<_> = std::iter::from_fn(|| take(&mut rest)).collect();
        let heads: Vec<_> = found.iter().map(|line| (line.cpu, line.pc)).collect();
        assert_eq!(heads, [(0, 0x40_0104), (1, 0x40_0108), (0, 0x40_010c)]);
        assert_eq!(accesses(found[0].accesses).collect::<Vec<_>>(), [(0x7ff8, false)]);
        assert_eq!((found[1].accesses, rest), ("", ""));
    }

    #[test]
    fn lines_of_other_kinds_are_not_parsed() {
        for other in [
            "",
            "Linking TBs 0x7f",
            "0, 0x10, 0x12345678",
            "x, 0x10, 0x1, \"nop\"",
            "0, 0x10, 0x123456789, \"nop\"",
        ] {
            assert!(parse(other).is_none(), "{other}");
        }
    }
}
