//! Text of the `Exec` debug flag of gem5. It has addresses only; words come from the program file.
//!
//! A line is `TICK: CPU: [A0 ][T0 : ]0xADDRESS[ @symbol+offset][.uop] : disassembly : OpClass :
//! A=0x... flags=(..)`. An instruction of several micro-operations has one line for each. It may
//! have a line of its own, which ends after the disassembly.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Seek, Write};

use super::builder::Builder;
use super::lines::{Lines, hex};
use super::stop::{Stop, no_word};

/// A line of an executed instruction or micro-operation.
pub(super) struct Line<'a> {
    cpu: &'a str,
    thread: u64,
    pc: u64,
    /// Number of the micro-operation, if the instruction has several.
    uop: Option<u64>,
    /// Data address.
    addr: Option<u64>,
    /// True for the line of an instruction whose micro-operations have their own lines.
    is_summary: bool,
}

/// Parses a line. Returns `None` for a line of another kind.
pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    let (tick, rest) = line.split_once(": ")?;
    tick.trim().parse::<u64>().ok()?;
    let (cpu, rest) = rest.split_once(": ")?;
    let (head, pc, rest) = {
        let at = rest.find("0x")?;
        let (digits, after) = rest[at + 2..].split_at(hex_digits(&rest[at + 2..]));
        (&rest[..at], hex(digits)?, after)
    };
    let thread = head.split_whitespace().find_map(|word| word.strip_prefix('T')?.parse().ok());
    let (place, rest) = rest.split_once(" : ")?;
    let mut fields = rest.split(" : ").skip(1).peekable();
    let is_summary = fields.peek().is_none_or(|class| class.trim().is_empty());
    let addr =
        fields.flat_map(str::split_whitespace).find_map(|field| hex(field.strip_prefix("A=")?));
    let (cpu, thread) = (cpu.trim(), thread.unwrap_or(0));
    Some(Line { cpu, thread, pc, uop: micro_op(place), addr, is_summary })
}

fn hex_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_hexdigit).count()
}

/// Returns the number after the last point of `@symbol+4. 0`.
fn micro_op(place: &str) -> Option<u64> {
    let (_, number) = place.trim_end().rsplit_once('.')?;
    number.trim().parse().ok()
}

/// Reads the whole text.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    let mut lines = Lines::new(BufReader::new(bytes));
    let mut cpus: BTreeMap<String, u64> = BTreeMap::new();
    // Address and last micro-operation of the current instruction of each stream.
    let mut open: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    while let Some(line) = lines.next()? {
        let Some(Line { cpu, thread, pc, uop, addr, is_summary }) = parse(line) else {
            to.skip();
            continue;
        };
        if is_summary {
            continue;
        }
        let next = cpus.len() as u64;
        let number = match cpus.get(cpu) {
            Some(number) => *number,
            None => *cpus.entry(cpu.to_owned()).or_insert(next),
        };
        let stream = to.thread(number << 32 | thread & 0xffff_ffff)?;
        let continues =
            |uop: u64| open.get(&stream).is_some_and(|&(at, last)| at == pc && uop > last);
        if !uop.is_some_and(continues) {
            match to.word_at(pc) {
                Some(word) => to.inst(stream, pc, word)?,
                None => return Err(lines.fault(no_word(pc))),
            }
        }
        match uop {
            Some(uop) => open.insert(stream, (pc, uop)),
            None => open.remove(&stream),
        };
        if let Some(addr) = addr {
            to.access(stream, addr);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_forms_are_parsed() {
        let line = "  77000: system.cpu: A0 T0 : 0x400598 @main+8    :   ldr   x0, [sp, #8] : MemRead :  D=0x0000000000000001 A=0x7ffeff8  flags=(IsInteger|IsLoad)";
        let found = parse(line).expect("a line");
        assert_eq!((found.cpu, found.thread, found.pc), ("system.cpu", 0, 0x40_0598));
        assert_eq!((found.uop, found.addr, found.is_summary), (None, Some(0x7ff_eff8), false));
        let line = "500: system.cpu1: T1 : 0x400. 2 :   stp_uop x29 : MemWrite :  A=0x10";
        let found = parse(line).expect("a micro-operation");
        assert_eq!((found.thread, found.uop, found.addr), (1, Some(2), Some(16)));
        let found = parse("500: cpu: 0x400 @f :   stp x29, x30").expect("a summary");
        assert!(found.is_summary);
        assert!(parse("warn: something 0x40 : x : y").is_none());
    }
}
