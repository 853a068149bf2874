//! ChampSim's traces: records of 64 bytes, or of 96 (`cloudsuite`), without header, words and sizes.
//!
//! Each has address, whether it branches and was taken, register numbers (0: none) and data addresses
//! (0: none). What kind of branch it is follows from whether it reads and writes the instruction pointer
//! (26), the stack pointer (6) and the flags (25). The target is the address of the next record.
//!
//! Most published ones are of x86 programs. Then the code is laid out anew: every instruction takes four
//! bytes, or four for each access and for the rest of it, in the order of the addresses.

use std::io::{Read, Seek, Write};

use rustc_hash::FxHashMap;

use super::builder::Builder;
use super::stop::Stop;
use super::unpack::read_up_to;
use super::words::{Class, Reg, Sketch, word};
use crate::missing_data::MissingData;

/// Different instructions that a trace may have.
const SITES_MAX: usize = 1 << 22;
/// Longest x86 instruction.
const X86_BYTES_MAX: u64 = 15;

/// What stands for the distance by which an access moves its base register: it is not known, and of no
/// consequence.
const BASE_STEP: i64 = 8;

const SP: u8 = 6;
const FLAGS: u8 = 25;
const IP: u8 = 26;

/// Which of the two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// 2 registers and addresses written, 4 read.
    Short,
    /// 4 and 4, and an address space.
    Long,
}

impl Shape {
    /// Bytes of a record.
    pub(super) fn bytes(self) -> usize {
        match self {
            Shape::Short => 64,
            Shape::Long => 96,
        }
    }

    /// Registers and addresses written.
    fn written(self) -> usize {
        match self {
            Shape::Short => 2,
            Shape::Long => 4,
        }
    }
}

/// One record.
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
    /// Takes the bytes of a record apart.
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

    /// What kind of branch it is, by what it does to the three special registers.
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

    /// A64 instructions that stand for it: one for each access and one for a branch, at least one.
    fn parts(&self) -> usize {
        (self.loads.len() + self.stores.len() + usize::from(self.branches != 0)).max(1)
    }
}

fn long(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Records, one after the other.
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

    /// The next record; `None` at the end.
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

/// What is known of an instruction from the whole trace.
#[derive(Clone, Copy, Debug, Default)]
struct Site {
    /// Where its first A64 instruction stands.
    pc: u64,
    /// A64 instructions that stand for it.
    parts: u8,
    /// Where it went when it was taken.
    target: Option<u64>,
}

/// All instructions of a trace.
struct Layout {
    sites: FxHashMap<u64, Site>,
    is_a64: bool,
}

impl Layout {
    /// Reads the trace once: which instructions there are, and where their branches go.
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
                let what =
                    format!("more than {SITES_MAX} different instructions: this is no such trace");
                return Err(Stop::at_byte(records.offset, what));
            }
        }
        let mut layout = Layout { sites, is_a64 };
        layout.place();
        Ok(layout)
    }

    /// Gives every instruction its place.
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
                    let behind = pc.saturating_add(4 * u64::from(parts));
                    let gap = ip - before;
                    // The next instruction, unless there is a hole.
                    if gap <= X86_BYTES_MAX {
                        behind
                    } else {
                        behind.max(pc.saturating_add(gap & !3))
                    }
                }
            };
            last = Some((ip, site.pc, site.parts));
        }
    }

    /// Where a branch at `ip` goes, as laid out.
    fn target(&self, ip: u64) -> Option<u64> {
        let site = self.sites.get(&self.sites.get(&ip)?.target?)?;
        Some(site.pc)
    }
}

/// Gives register numbers of the trace to general registers, in the order in which they come.
struct Names {
    names: [Option<u8>; 256],
    next: u8,
}

impl Names {
    /// General registers that are given away: X30 belongs to calls.
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

/// Reads the trace, which `open` opens, twice.
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

/// A record with its registers and target in A64's terms.
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

    /// The word of a part. Of the registers that an x86 instruction reads, nothing says which make the
    /// address of its load: one is taken, so that a running sum does not seem to wait for its loads.
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

    /// The base register of an access of A64 that moves it: read, and written beside what is loaded.
    fn moved_base(&self, class: Class) -> Option<Reg> {
        let others = match class {
            Class::Load(_) => 1,
            Class::Store(_) => 0,
            _ => return None,
        };
        let is_moved = |reg: &&Reg| **reg != Reg::Flags && self.writes.contains(reg);
        self.reads.iter().find(is_moved).filter(|_| self.writes.len() > others).copied()
    }

    /// The word of an instruction of A64.
    fn whole_word(&self, class: Class, pc: u64) -> u32 {
        let Some(base) = self.moved_base(class) else { return self.word(class, pc) };
        let is_other = |reg: &Reg| *reg != base;
        let others = self.reads.iter().copied().filter(is_other);
        let reads: Vec<Reg> = std::iter::once(base).chain(others).collect();
        let writes: Vec<Reg> = self.writes.iter().copied().filter(is_other).collect();
        let base_step = Some(BASE_STEP);
        word(&Sketch { class, pc, target: None, reads: &reads, writes: &writes, base_step })
    }

    /// One A64 instruction for one of A64.
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

    /// An A64 instruction for each access of one of x86, and one for the branch.
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
        let behind = usize::from(site.parts).saturating_sub(branch.is_some().into());
        // What has no part in this execution still stands in the code.
        while parts.len() < behind {
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
