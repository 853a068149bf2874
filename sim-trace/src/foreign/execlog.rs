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

/// Largest number of accesses of a usual line.
const USUAL_ACCESSES: usize = 4;

/// A line of one thread with few accesses, none of which names a device or a register.
struct Usual {
    cpu: u64,
    pc: u64,
    word: u32,
    addrs: [u64; USUAL_ACCESSES],
    count: usize,
}

impl Usual {
    /// Parses a usual line. Returns `None` for any other, which [`take`] may know.
    #[inline]
    fn parse(line: &[u8]) -> Option<Usual> {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (cpu, rest) = line.split_at_checked(digits).filter(|_| (1..=9).contains(&digits))?;
        let cpu = cpu.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        let (pc, rest) = hex_digits(rest.strip_prefix(b", 0x")?, 16)?;
        let (word, rest) = hex_digits(rest.strip_prefix(b", 0x")?, 8)?;
        let rest = rest.strip_prefix(b", \"")?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        let mut usual = Usual { cpu, pc, word: word as u32, addrs: [0; USUAL_ACCESSES], count: 0 };
        let mut rest = &rest[end + 1..];
        while !rest.is_empty() {
            let access =
                rest.strip_prefix(b", load, 0x").or_else(|| rest.strip_prefix(b", store, 0x"))?;
            (*usual.addrs.get_mut(usual.count)?, rest) = hex_digits(access, 16)?;
            usual.count += 1;
        }
        Some(usual)
    }

    fn addresses(&self) -> &[u64] {
        &self.addrs[..self.count]
    }
}

/// Splits 1 to `longest` hexadecimal digits from the rest of the text, which begins with none.
#[inline]
fn hex_digits(text: &[u8], longest: usize) -> Option<(u64, &[u8])> {
    let (mut number, mut length) = (0, 0);
    while let Some(digit) = text.get(length).and_then(|byte| char::from(*byte).to_digit(16)) {
        number = number << 4 | u64::from(digit);
        length += 1;
        if length > longest {
            return None;
        }
    }
    (length > 0).then(|| (number, &text[length..]))
}

/// Returns true if the trace is of a whole system: an access in `head` names a device.
pub(super) fn is_full_system(head: &str) -> bool {
    head.lines().filter_map(parse).any(|line| accesses(line.accesses).any(|(_, device)| device))
}

/// Reads the whole text.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    let mut lines = Lines::new(BufReader::new(bytes));
    while let Some(line) = lines.next()? {
        if let Some(inst) = Usual::parse(line.as_bytes()) {
            let stream = begin(inst.cpu, inst.pc, inst.word, to)?;
            inst.addresses().iter().for_each(|addr| to.access(stream, *addr));
            continue;
        }
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

/// Writes an instruction without its accesses. Returns its stream.
#[inline]
fn begin<W: Write + Seek>(cpu: u64, pc: u64, word: u32, to: &mut Builder<W>) -> Result<u32, Stop> {
    let stream = to.thread(cpu)?;
    // A faulting instruction has a line without its access, and control goes elsewhere.
    if to.unaccessed(stream).is_some_and(|before| pc != before + 4) {
        to.event(stream, StreamEvent::Signal { number: 0, abandoned: true })?;
    }
    to.inst(stream, pc, word)?;
    Ok(stream)
}

fn push<W: Write + Seek>(inst: &Line<'_>, to: &mut Builder<W>) -> Result<(), Stop> {
    let stream = begin(inst.cpu, inst.pc, inst.word, to)?;
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
    fn a_usual_line_reads_as_any_line_does() {
        for text in [
            r#"3, 0x40071c, 0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!", store, 0x7ff0, store, 0x7ff8"#,
            r#"0, 0xFFFF000000000000, 0xd503201f, "nop""#,
            r#"12, 0x400104, 0xf9400041, "ldr x1, [x2]", load, 0xffff000000007ff8"#,
        ] {
            let (usual, line) =
                (Usual::parse(text.as_bytes()).expect(text), parse(text).expect(text));
            assert_eq!((usual.cpu, usual.pc, usual.word), (line.cpu, line.pc, line.word));
            let all: Vec<_> = accesses(line.accesses).map(|(addr, _)| addr).collect();
            assert_eq!(usual.addresses(), all);
        }
    }

    #[test]
    fn a_line_with_anything_more_is_not_usual() {
        for text in [
            r#"0, 0x10, 0xf9400041, "ldr x1, [x2]", load, 0x40000000, mach-virt ram"#,
            r#"0, 0x10, 0xf9400041, "ldr x1, [x2]", load, 0x7ff81, 0x14, 0xd503201f, "nop""#,
            r#"0, 0x10, 0xf9400041, "ldr x1, [x2]", store, 0x10, x3 -> 0x1"#,
            r#"0, 0x10, 0x1f9400041, "ldr x1, [x2]""#,
            r#"0, 0x10000000000000000, 0xd503201f, "nop""#,
            r#"+1, 0x10, 0xd503201f, "nop""#,
            r#"0, 0x10, 0xd503201f, "nop"#,
            r#"0, 0x, 0xd503201f, "nop""#,
        ] {
            assert!(Usual::parse(text.as_bytes()).is_none(), "{text}");
        }
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
