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
use super::records::Fixed;
use super::stop::Stop;
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

/// At most four registers or addresses.
#[derive(Clone, Copy, Debug, Default)]
struct Few<T> {
    items: [T; 4],
    count: u8,
}

impl<T: Copy + Default + PartialEq> Few<T> {
    /// Returns those of at most four items that are not zero.
    #[inline]
    fn of(items: impl Iterator<Item = T>) -> Few<T> {
        let mut few = Few::default();
        for item in items.take(4) {
            few.items[usize::from(few.count & 3)] = item;
            few.count += u8::from(item != T::default());
        }
        few
    }
}

impl<T> std::ops::Deref for Few<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.count)]
    }
}

/// A record of the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) ip: u64,
    pub(super) branches: u8,
    pub(super) taken: u8,
    writes: Few<u8>,
    reads: Few<u8>,
    stores: Few<u64>,
    loads: Few<u64>,
}

impl Record {
    /// Parses the bytes of a record.
    #[inline]
    pub(super) fn parse(bytes: &[u8], shape: Shape) -> Record {
        let written = shape.written();
        let registers = |from: usize, n: usize| {
            Few::of(bytes.get(from..from + n).unwrap_or_default().iter().copied())
        };
        let addresses = |from: usize, n: usize| {
            Few::of(bytes.get(from..from + 8 * n).unwrap_or_default().chunks_exact(8).map(long))
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

    /// Returns a number that two records of one instruction share only if the same words replace
    /// them: flags, registers, and the numbers of accesses.
    #[inline]
    fn form(&self) -> Form {
        let registers = |few: &Few<u8>| u128::from(u32::from_le_bytes(few.items));
        let counts = [self.writes.count, self.reads.count, self.loads.count, self.stores.count];
        let counts = counts.into_iter().fold(1, |form, count| form << 3 | u128::from(count));
        let flags = u128::from(self.branches) << 1 | u128::from(self.taken);
        counts << 66 | flags << 64 | registers(&self.writes) << 32 | registers(&self.reads)
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

/// Flags, registers and numbers of accesses of a record; never 0.
type Form = u128;

#[inline]
fn long(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reader of records.
pub(super) struct Records<R> {
    bytes: Fixed<R>,
    shape: Shape,
}

impl<R: Read> Records<R> {
    pub(super) fn new(bytes: R, shape: Shape) -> Records<R> {
        Records { bytes: Fixed::new(bytes, shape.bytes()), shape }
    }

    /// Returns the next record, or `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Record>, Stop> {
        let offset = self.bytes.offset();
        let Some(bytes) = self.bytes.next()? else { return Ok(None) };
        let record = Record::parse(bytes, self.shape);
        if record.branches > 1 || record.taken > 1 {
            return Err(Stop::at_byte(offset, "a branch is neither taken nor not taken"));
        }
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
    /// Form of the last record, 0 before the first.
    form: Form,
    /// Index of the words that replace that record.
    words: u32,
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
                return Err(Stop::at_byte(records.bytes.offset(), what));
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

    /// Stores the words that replace `record`, the last one of `site`. Returns the site with them.
    fn remember(&mut self, record: &Record, site: Site, new: &[u32], words: &mut Vec<u32>) -> Site {
        let at = if site.form == 0 { words.len() } else { site.words as usize };
        words.resize(words.len().max(at + new.len()), 0);
        words[at..at + new.len()].copy_from_slice(new);
        let site = Site { form: record.form(), words: at as u32, ..site };
        self.sites.insert(record.ip, site);
        site
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
    let mut layout = Layout::of(Records::new(open().map_err(Stop::Input)?, shape), limit)?;
    for missing in [MissingData::Words, MissingData::Sizes, MissingData::Threads] {
        to.note_missing(missing);
    }
    if !layout.is_a64 {
        to.note_missing(MissingData::InstructionSet);
    }
    let stream = to.thread(0)?;
    let mut names = Names { names: [None; 256], next: 0 };
    let mut records = Records::new(open().map_err(Stop::Input)?, shape);
    let is_a64 = layout.is_a64;
    let parts = |site: Site| if is_a64 { 1 } else { usize::from(site.parts) };
    // The words of all sites. Those of a site keep their place, because they keep their number.
    let mut words = Vec::new();
    let mut read = 0;
    while read < limit {
        let Some(record) = records.next()? else { break };
        read += 1;
        let mut site = layout.sites.get(&record.ip).copied().unwrap_or_default();
        if site.form != record.form() {
            let target = layout.target(record.ip);
            let (reads, writes) = (names.regs(&record.reads), names.regs(&record.writes));
            let instruction = Instruction { record: &record, target, reads, writes };
            let new = match layout.is_a64 {
                true => vec![instruction.whole(site.pc)],
                false => instruction.parts(site),
            };
            site = layout.remember(&record, site, &new[..parts(site)], &mut words);
        }
        let mut addresses = record.loads.iter().chain(&*record.stores);
        for (n, word) in words[site.words as usize..][..parts(site)].iter().enumerate() {
            to.inst(stream, site.pc.saturating_add(4 * n as u64), *word)?;
            if let Some(addr) = addresses.next() {
                to.access(stream, *addr);
            }
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

    /// Returns the word of the instruction at `pc` of an A64 program.
    fn whole(&self, pc: u64) -> u32 {
        let (load, store) = (self.record.loads.first(), self.record.stores.first());
        let class = match (self.record.branch(), load, store) {
            (Some(branch), ..) => branch,
            (_, Some(_), Some(_)) => Class::ReadModifyWrite,
            (_, Some(_), None) => Class::Load(8),
            (_, None, Some(_)) => Class::Store(8),
            _ => Class::Integer,
        };
        self.whole_word(class, pc)
    }

    /// Returns the words of an x86 instruction: one for each load, then for each store, and one for
    /// its branch.
    fn parts(&self, site: Site) -> Vec<u32> {
        let branch = self.record.branch();
        let loads = self.record.loads.iter().map(|_| Class::Load(8));
        let stores = self.record.stores.iter().map(|_| Class::Store(8));
        let mut parts: Vec<Class> = loads.chain(stores).collect();
        let count = usize::from(site.parts).saturating_sub(branch.is_some().into());
        // Fill up parts that this execution does not use, because the code contains them.
        parts.resize(count.max(parts.len()), Class::Integer);
        parts.extend(branch);
        let pc = |n: usize| site.pc.saturating_add(4 * n as u64);
        parts.iter().enumerate().map(|(n, class)| self.part_word(*class, pc(n))).collect()
    }
}
