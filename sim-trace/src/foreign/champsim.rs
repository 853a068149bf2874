//! ChampSim traces: records of 64 bytes, or of 96 (`cloudsuite`), without header, words and sizes.
//!
//! A record has an address, the flags "is a branch" and "taken", register numbers (0: none) and
//! data addresses (0: none). The kind of a branch follows from its reads and writes of instruction
//! pointer (26), stack pointer (6) and flags (25). Its target is the address of the next record.
//!
//! Most published traces are of x86 programs. The import lays out their code again, in the order of
//! the addresses. Each instruction takes four bytes, or four for each access and four for the rest.

use std::io::{Read, Seek, Write};

use rustc_hash::FxHashMap;

use super::builder::Builder;
use super::stop::Stop;
use super::unpack::read_up_to;
use super::words::{Class, Reg, Sketch, word};
use crate::missing_data::MissingData;

/// Largest number of distinct instructions in a trace.
const SITES_MAX: usize = 1 << 22;
/// Size of the longest x86 instruction, in bytes.
const X86_BYTES_MAX: u64 = 15;

/// Assumed distance by which an access updates its base register. The real distance is unknown and
/// does not affect the model.
const BASE_STEP: i64 = 8;

const SP: u8 = 6;
const FLAGS: u8 = 25;
const IP: u8 = 26;

/// Layout of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Record with 2 written and 4 read registers, and as many addresses.
    Short,
    /// Record with 4 written and 4 read registers, as many addresses, and an address space.
    Long,
}

impl Shape {
    /// Returns the size of a record, in bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Shape::Short => 64,
            Shape::Long => 96,
        }
    }

    /// Returns the number of written registers, which equals the number of written addresses.
    fn written(self) -> usize {
        match self {
            Shape::Short => 2,
            Shape::Long => 4,
        }
    }
}

/// A record of the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) ip: u64,
    pub(super) branches: u8,
    pub(super) taken: u8,
    writes: Vec<u8>,
    reads: Vec<u8>,
    stores: Vec<u64>,
    loads: Vec<u64>,
}

impl Record {
    /// Parses the bytes of a record.
    pub(super) fn parse(bytes: &[u8], shape: Shape) -> Record {
        let written = shape.written();
        let registers = |from: usize, n: usize| {
            bytes.iter().skip(from).take(n).copied().filter(|reg| *reg != 0).collect()
        };
        let addresses = |from: usize, n: usize| {
            let words = bytes.get(from..from + 8 * n).unwrap_or_default().chunks_exact(8);
            words.map(long).filter(|addr| *addr != 0).collect()
        };
        let memory = if shape == Shape::Short { 16 } else { 24 };
        Record {
            ip: long(bytes),
            branches: bytes.get(8).copied().unwrap_or(0),
            taken: bytes.get(9).copied().unwrap_or(0),
            writes: registers(10, written),
            reads: registers(10 + written, 4),
            stores: addresses(memory, written),
            loads: addresses(memory + 8 * written, 4),
        }
    }

    /// Returns the class of a branch, derived from its use of the three special registers.
    fn branch(&self) -> Option<Class> {
        if self.branches == 0 {
            return None;
        }
        let (reads, writes) = (|reg| self.reads.contains(&reg), |reg| self.writes.contains(&reg));
        let reads_other = self.reads.iter().any(|reg| ![SP, FLAGS, IP].contains(reg));
        let (reads_sp, reads_flags, reads_ip) = (reads(SP), reads(FLAGS), reads(IP));
        let (writes_sp, writes_ip) = (writes(SP), writes(IP));
        Some(match (reads_sp, writes_sp, reads_ip, writes_ip) {
            (false, _, false, true) if !reads_flags && !reads_other => Class::Jump,
            (false, _, false, true) if !reads_flags => Class::IndirectJump,
            (false, false, true, true) if reads_flags || reads_other => Class::Conditional,
            (true, true, true, true) if !reads_flags && !reads_other => Class::Call,
            (true, true, true, true) if !reads_flags => Class::IndirectCall,
            (true, true, false, true) => Class::Return,
            (_, _, _, true) if self.taken == 0 => Class::Conditional,
            (_, _, _, true) => Class::IndirectJump,
            _ => Class::Conditional,
        })
    }

    /// Returns the number of A64 instructions that replace the record: one for each access and one
    /// for a branch, at least one.
    fn parts(&self) -> usize {
        (self.loads.len() + self.stores.len() + usize::from(self.branches != 0)).max(1)
    }
}

fn long(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reader of records.
pub(super) struct Records<R> {
    bytes: R,
    shape: Shape,
    offset: u64,
    buffer: [u8; 96],
}

impl<R: Read> Records<R> {
    pub(super) fn new(bytes: R, shape: Shape) -> Records<R> {
        Records { bytes, shape, offset: 0, buffer: [0; 96] }
    }

    /// Returns the next record, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record>, Stop> {
        let buffer = &mut self.buffer[..self.shape.bytes()];
        match read_up_to(&mut self.bytes, buffer).map_err(Stop::Input)? {
            0 => return Ok(None),
            n if n < buffer.len() => {
                return Err(Stop::at_byte(self.offset, "the trace ends inside a record"));
            }
            _ => {}
        }
        let record = Record::parse(buffer, self.shape);
        if record.branches > 1 || record.taken > 1 {
            return Err(Stop::at_byte(self.offset, "a branch is neither taken nor not taken"));
        }
        self.offset += self.shape.bytes() as u64;
        Ok(Some(record))
    }
}

/// Summary of all executions of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Site {
    /// Address of the first A64 instruction that replaces it.
    pc: u64,
    /// Number of A64 instructions that replace it.
    parts: u8,
    /// Last target of a taken branch.
    target: Option<u64>,
}

/// Layout of all instructions of a trace.
struct Layout {
    sites: FxHashMap<u64, Site>,
    is_a64: bool,
}

impl Layout {
    /// Reads the trace once and collects its instructions and the targets of its branches.
    fn of(mut records: Records<impl Read>, limit: u64) -> Result<Layout, Stop> {
        let mut sites: FxHashMap<u64, Site> = FxHashMap::default();
        let mut taken_at = None;
        let (mut is_a64, mut read) = (true, 0);
        while read < limit {
            let Some(record) = records.next()? else { break };
            read += 1;
            is_a64 &= record.ip.is_multiple_of(4);
            if let Some(site) = taken_at.and_then(|ip| sites.get_mut(&ip)) {
                site.target = Some(record.ip);
            }
            let site = sites.entry(record.ip).or_default();
            site.parts = site.parts.max(record.parts() as u8);
            taken_at = (record.branches == 1 && record.taken == 1).then_some(record.ip);
            if sites.len() > SITES_MAX {
                let what = format!(
                    "more than {SITES_MAX} different instructions: this is not such a trace"
                );
                return Err(Stop::at_byte(records.offset, what));
            }
        }
        let mut layout = Layout { sites, is_a64 };
        layout.place();
        Ok(layout)
    }

    /// Assigns an address to each instruction.
    fn place(&mut self) {
        let mut ips: Vec<u64> = self.sites.keys().copied().collect();
        ips.sort_unstable();
        let mut last: Option<(u64, u64, u8)> = None;
        for ip in ips {
            let Some(site) = self.sites.get_mut(&ip) else { continue };
            site.pc = match last {
                _ if self.is_a64 => ip,
                None => (ip & !3).min(u64::MAX >> 2),
                Some((before, pc, parts)) => {
                    let end = pc.saturating_add(4 * u64::from(parts));
                    let gap = ip - before;
                    // Place it next to the previous instruction, unless there is a gap.
                    if gap <= X86_BYTES_MAX { end } else { end.max(pc.saturating_add(gap & !3)) }
                }
            };
            last = Some((ip, site.pc, site.parts));
        }
    }

    /// Returns the target of a branch at `ip`, as laid out.
    fn target(&self, ip: u64) -> Option<u64> {
        let site = self.sites.get(&self.sites.get(&ip)?.target?)?;
        Some(site.pc)
    }
}

/// Mapping of register numbers of the trace to general registers, in order of first use.
struct Names {
    names: [Option<u8>; 256],
    next: u8,
}

impl Names {
    /// Number of general registers to assign. X30 is reserved for calls.
    const GENERAL: u8 = 30;

    fn reg(&mut self, number: u8) -> Option<Reg> {
        match number {
            SP => Some(Reg::Sp),
            FLAGS => Some(Reg::Flags),
            IP => None,
            _ => {
                let name = *self.names[usize::from(number)].get_or_insert_with(|| {
                    self.next = (self.next + 1) % Names::GENERAL;
                    self.next
                });
                Some(Reg::X(name))
            }
        }
    }

    fn regs(&mut self, numbers: &[u8]) -> Vec<Reg> {
        numbers.iter().filter_map(|number| self.reg(*number)).collect()
    }
}

/// Reads the trace twice, each time opened by `open`.
pub(super) fn read<W: Write + Seek, R: Read>(
    open: impl Fn() -> std::io::Result<R>,
    shape: Shape,
    limit: u64,
    to: &mut Builder<W>,
) -> Result<(), Stop> {
    let layout = Layout::of(Records::new(open().map_err(Stop::Input)?, shape), limit)?;
    for missing in [MissingData::Words, MissingData::Sizes, MissingData::Threads] {
        to.note_missing(missing);
    }
    if !layout.is_a64 {
        to.note_missing(MissingData::InstructionSet);
    }
    let stream = to.thread(0)?;
    let mut names = Names { names: [None; 256], next: 0 };
    let mut records = Records::new(open().map_err(Stop::Input)?, shape);
    let mut read = 0;
    while read < limit {
        let Some(record) = records.next()? else { break };
        read += 1;
        let site = layout.sites.get(&record.ip).copied().unwrap_or_default();
        let target = layout.target(record.ip);
        let (reads, writes) = (names.regs(&record.reads), names.regs(&record.writes));
        let instruction = Instruction { record: &record, target, reads, writes };
        if layout.is_a64 {
            instruction.whole(stream, site.pc, to)?;
        } else {
            instruction.in_parts(stream, site, to)?;
        }
    }
    Ok(())
}

/// A record with its registers and target in A64 terms.
struct Instruction<'a> {
    record: &'a Record,
    target: Option<u64>,
    reads: Vec<Reg>,
    writes: Vec<Reg>,
}

impl Instruction<'_> {
    fn word(&self, class: Class, pc: u64) -> u32 {
        let Instruction { target, reads, writes, .. } = self;
        word(&Sketch { class, pc, target: *target, reads, writes, base_step: None })
    }

    /// Returns the word of a part. The trace does not show which of the registers that an x86
    /// instruction reads form the address of its load. One of them is chosen, so that a running sum
    /// does not depend on its own loads.
    fn part_word(&self, class: Class, pc: u64) -> u32 {
        let Instruction { target, reads, writes, .. } = self;
        let reads: Vec<Reg> = match class {
            Class::Load(_) => {
                reads.iter().copied().find(|reg| *reg != Reg::Flags).into_iter().collect()
            }
            _ => reads.clone(),
        };
        word(&Sketch { class, pc, target: *target, reads: &reads, writes, base_step: None })
    }

    /// Returns the base register of an A64 access that updates it: it is read, and written in
    /// addition to the loaded registers.
    fn updated_base(&self, class: Class) -> Option<Reg> {
        let others = match class {
            Class::Load(_) => 1,
            Class::Store(_) => 0,
            _ => return None,
        };
        let is_updated = |reg: &&Reg| **reg != Reg::Flags && self.writes.contains(reg);
        self.reads.iter().find(is_updated).filter(|_| self.writes.len() > others).copied()
    }

    /// Returns the word of an A64 instruction.
    fn whole_word(&self, class: Class, pc: u64) -> u32 {
        let Some(base) = self.updated_base(class) else { return self.word(class, pc) };
        let is_other = |reg: &Reg| *reg != base;
        let others = self.reads.iter().copied().filter(is_other);
        let reads: Vec<Reg> = std::iter::once(base).chain(others).collect();
        let writes: Vec<Reg> = self.writes.iter().copied().filter(is_other).collect();
        let base_step = Some(BASE_STEP);
        word(&Sketch { class, pc, target: None, reads: &reads, writes: &writes, base_step })
    }

    /// Writes one A64 instruction for a record of an A64 program.
    fn whole<W: Write + Seek>(
        &self,
        stream: u32,
        pc: u64,
        to: &mut Builder<W>,
    ) -> Result<(), Stop> {
        let (load, store) = (self.record.loads.first(), self.record.stores.first());
        let class = match (self.record.branch(), load, store) {
            (Some(branch), ..) => branch,
            (_, Some(_), Some(_)) => Class::ReadModifyWrite,
            (_, Some(_), None) => Class::Load(8),
            (_, None, Some(_)) => Class::Store(8),
            _ => Class::Integer,
        };
        to.inst(stream, pc, self.whole_word(class, pc))?;
        if let Some(addr) = load.or(store) {
            to.access(stream, *addr);
        }
        Ok(())
    }

    /// Writes an A64 instruction for each access of an x86 instruction, and one for its branch.
    fn in_parts<W: Write + Seek>(
        &self,
        stream: u32,
        site: Site,
        to: &mut Builder<W>,
    ) -> Result<(), Stop> {
        let branch = self.record.branch();
        let loads = self.record.loads.iter().map(|addr| (Class::Load(8), Some(*addr)));
        let stores = self.record.stores.iter().map(|addr| (Class::Store(8), Some(*addr)));
        let mut parts: Vec<(Class, Option<u64>)> = loads.chain(stores).collect();
        let count = usize::from(site.parts).saturating_sub(branch.is_some().into());
        // Fill up parts that this execution does not use, because the code contains them.
        while parts.len() < count {
            parts.push((Class::Integer, None));
        }
        parts.extend(branch.map(|class| (class, None)));
        for (n, (class, addr)) in parts.into_iter().enumerate() {
            let pc = site.pc.saturating_add(4 * n as u64);
            to.inst(stream, pc, self.part_word(class, pc))?;
            if let Some(addr) = addr {
                to.access(stream, addr);
            }
        }
        Ok(())
    }
}
