//! Tarmac text of Arm in both dialects: `IT`/`R`/`MR` of models (and gem5), `ES`/`LD`/`ST` of RTL.
//!
//! A line is `[time [unit]] [cpu] EVENT ...`. Depending on the producer, accesses follow their
//! instruction or precede it; the first access of the text decides.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Seek, Write};

use sim_isa::is_load_or_store;

use super::builder::Builder;
use super::lines::{Lines, hex, hex_word};
use super::stop::Stop;
use crate::event::StreamEvent;

/// Possible units of a time.
const UNITS: [&str; 7] = ["clk", "ns", "cs", "cyc", "tic", "ps", "us"];
/// Number of bytes that an access line of the RTL dialect shows.
const WINDOW: u64 = 16;

/// Relevant content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// An A64 instruction; privileged outside EL0.
    Inst { pc: u64, word: u32, is_privileged: bool },
    /// An instruction of another instruction set.
    Other,
    /// A data address.
    Access(u64),
    /// An exception taken.
    Exception,
    /// Nothing relevant: registers, caches, table walks.
    Nothing,
}

/// Parses a line. Returns the name of the CPU and the content, or `None` if the line is not Tarmac
/// text.
pub(super) fn parse(line: &str) -> Option<(&str, Entry)> {
    let mut words = line.split_whitespace().peekable();
    if words.next_if(|word| is_time(word)).is_some() {
        words.next_if(|word| UNITS.contains(word));
    }
    let cpu = words.next_if(|word| word.starts_with("cpu")).unwrap_or("");
    let event = words.next()?;
    let rest: Vec<&str> = words.collect();
    let entry = match event {
        "IT" | "IF" | "IS" => inst_of_model(&rest)?,
        "ES" if rest.first() == Some(&"EXC") => Entry::Exception,
        "ES" => inst_of_rtl(&rest)?,
        "E" | "EXC" => Entry::Exception,
        "LD" | "ST" => Entry::Access(window(&rest)?),
        "R" if rest.len() >= 2 => Entry::Nothing,
        "BR" | "CADI" | "TTW" | "CACHE" | "P" | "SIGNAL" => Entry::Nothing,
        "Tarmac" if rest.first() == Some(&"Text") => Entry::Nothing,
        _ => access_of_model(event, &rest)?,
    };
    Some((cpu, entry))
}

/// Returns true for digits, optionally with a unit after them.
fn is_time(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &word[digits.len()..];
    !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (unit.is_empty() || UNITS.contains(&unit))
}

fn is_set(word: &str) -> bool {
    matches!(word, "O" | "A" | "T" | "T16" | "T32" | "J" | "X")
}

/// Parses `(INDEX) ADDRESS[:PHYSICAL] WORD SET MODE :` or `(ADDRESS[:INDEX]) WORD SET MODE :`.
fn inst_of_model(rest: &[&str]) -> Option<Entry> {
    let inner = rest.first()?.strip_prefix('(')?.strip_suffix(')')?;
    let (addr, rest) = if rest.get(2).is_some_and(|word| is_set(word)) {
        (inner, &rest[1..])
    } else {
        (*rest.get(1)?, rest.get(2..)?)
    };
    let pc = hex(addr.split(':').next()?)?;
    inst(pc, rest.first()?, rest.get(1)?, rest.get(2).copied().unwrap_or(""))
}

/// Parses `(ADDRESS:WORD) SET MODE: disassembly`.
fn inst_of_rtl(rest: &[&str]) -> Option<Entry> {
    let (pc, word) = rest.first()?.strip_prefix('(')?.strip_suffix(')')?.split_once(':')?;
    if word.starts_with('-') {
        // The fetch failed.
        return Some(Entry::Nothing);
    }
    inst(hex(pc)?, word, rest.get(1)?, rest.get(2).copied().unwrap_or(""))
}

fn inst(pc: u64, word: &str, set: &str, mode: &str) -> Option<Entry> {
    let word = hex_word(word)?;
    if !is_set(set) {
        return None;
    }
    let is_privileged = mode.get(..3).is_some_and(|level| !level.eq_ignore_ascii_case("el0"));
    Some(if set == "O" { Entry::Inst { pc, word, is_privileged } } else { Entry::Other })
}

/// Parses `MR4 ADDRESS[:PHYSICAL] DATA`, `MW8X ...`, `R08 ...` or `W01 ...`.
fn access_of_model(event: &str, rest: &[&str]) -> Option<Entry> {
    let kind = event.strip_prefix('M').unwrap_or(event);
    let size = kind.strip_prefix(['R', 'W'])?;
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse::<u8>().ok().filter(|bytes| matches!(bytes, 1..=64))?;
    let addr = hex(rest.first()?.split(':').next()?)?;
    let is_aborted = rest.get(1).is_some_and(|word| word.starts_with("(ABORT"));
    Some(if is_aborted { Entry::Nothing } else { Entry::Access(addr) })
}

/// Returns the address of the lowest accessed byte of a window of 16 bytes. The window has four
/// words, the highest first, with two points for each byte that was not accessed.
fn window(rest: &[&str]) -> Option<u64> {
    let base = hex(rest.first()?.split(':').next()?)?;
    let digits: String = rest.get(1..5)?.concat();
    let free = digits.bytes().rev().take_while(|byte| *byte == b'.').count() as u64 / 2;
    (digits.len() == 32 && free < WINDOW).then(|| base.wrapping_add(free))
}

/// Returns true if code outside EL0 ran in `head`.
pub(super) fn is_full_system(head: &str) -> bool {
    let mut entries = head.lines().filter_map(parse).map(|(_, entry)| entry);
    entries.any(|entry| matches!(entry, Entry::Inst { is_privileged: true, .. }))
}

/// Reader state of one CPU.
#[derive(Default)]
struct Cpu {
    stream: Option<u32>,
    /// Lowest address of accesses before their instruction.
    waiting: Option<u64>,
    /// True if the last instruction is a load or store, so that accesses after it belong to it.
    is_memory: bool,
    exception: bool,
}

/// Reads the whole text.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    let mut lines = Lines::new(BufReader::new(bytes));
    let mut cpus: BTreeMap<String, Cpu> = BTreeMap::new();
    let mut accesses_come_first = None;
    while let Some(line) = lines.next()? {
        let Some((name, entry)) = parse(line) else {
            to.skip();
            continue;
        };
        if !cpus.contains_key(name) {
            cpus.insert(name.to_owned(), Cpu::default());
        }
        let number = cpus.len() as u64;
        let Some(cpu) = cpus.get_mut(name) else { continue };
        match entry {
            Entry::Nothing => {}
            Entry::Exception => cpu.exception = true,
            Entry::Other => {
                return Err(lines.fault("this is 32-bit code; only A64 can be replayed"));
            }
            Entry::Access(addr) => {
                let first = *accesses_come_first.get_or_insert(!cpu.is_memory);
                match cpu.stream {
                    Some(stream) if !first => to.lowest_access(stream, addr),
                    _ => cpu.waiting = Some(cpu.waiting.map_or(addr, |other| other.min(addr))),
                }
            }
            Entry::Inst { pc, word, .. } => cpu.inst(number, pc, word, to)?,
        }
    }
    Ok(())
}

impl Cpu {
    /// Adds the next instruction and the accesses before it.
    fn inst<W: Write + Seek>(
        &mut self,
        number: u64,
        pc: u64,
        word: u32,
        to: &mut Builder<W>,
    ) -> Result<(), Stop> {
        let stream = match self.stream {
            Some(stream) => stream,
            None => *self.stream.insert(to.thread(number)?),
        };
        if std::mem::take(&mut self.exception) {
            let vector = pc as u32 & 0x7ff;
            let unknown = StreamEvent::Exception {
                vector,
                abandoned: false,
                level: 0,
                syndrome: 0,
                state: 0,
            };
            to.event(stream, unknown)?;
        }
        to.inst(stream, pc, word)?;
        self.is_memory = is_load_or_store(word);
        if let Some(addr) = self.waiting.take().filter(|_| self.is_memory) {
            to.lowest_access(stream, addr);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: &str) -> Option<Entry> {
        parse(line).map(|(_, entry)| entry)
    }

    #[test]
    fn instructions_of_every_form_are_parsed() {
        let user = Entry::Inst { pc: 0x40_0580, word: 0xd280_0020, is_privileged: false };
        let kernel = Entry::Inst { pc: 0x8000_0000, word: 0xd538_00a0, is_privileged: true };
        let cases = [
            ("1 clk IT (1) 00400580 d2800020 O EL0t_n : MOVZ x0,#1", user),
            ("1000ns cpu0 IT (1) 400580:000080400580_NS d2800020 O EL0t_n : MOV x0,#1", user),
            ("IT (00400580) d2800020 O EL0t_n : MOV x0,#1", user),
            ("20 cs cpu1 IT (00400580:5) d2800020 O EL0t_n : MOV x0,#1", user),
            ("12 clk ES (0000000080000000:d53800a0) O EL3h_s: MRS x0,MPIDR_EL1", kernel),
            ("IT (7) 8000 e3a00001 A svc_s : MOV r0,#1", Entry::Other),
            ("ES (0000000080000000:--------) O EL3h_s: fetch failed", Entry::Nothing),
        ];
        for (line, expected) in cases {
            assert_eq!(entry(line), Some(expected), "{line}");
        }
        assert_eq!(parse("20 cs cpu1 R X0 1").expect("a register").0, "cpu1");
    }

    #[test]
    fn accesses_of_both_dialects_are_parsed() {
        let cases = [
            ("12 clk MR4 00001000 deadbeef", Some(Entry::Access(0x1000))),
            (
                "12 clk cpu0 MW8X 1008:000080001008_NS 00000000_00000001",
                Some(Entry::Access(0x1008)),
            ),
            ("R08 2000 1", Some(Entry::Access(0x2000))),
            ("MR4 00001000 (ABORTED)", Some(Entry::Nothing)),
            (
                "LD 0000000080001000 ........ ........ 01234567 89abcdef",
                Some(Entry::Access(0x8000_1000)),
            ),
            (
                "ST 0000000080001000 ........ ......12 ........ ........",
                Some(Entry::Access(0x8000_1008)),
            ),
            ("ST 1000 ........ ........ ........ ........", None),
            ("12 clk R X0 0000000000000001", Some(Entry::Nothing)),
            ("12 clk E 00400580 00000011 CoreEvent_LOWER_64_SYNC", Some(Entry::Exception)),
            ("hello world", None),
        ];
        for (line, expected) in cases {
            assert_eq!(entry(line), expected, "{line}");
        }
    }
}
