//! Traces of the first Championship Value Prediction: A64 instructions as classes with registers
//! and sizes.
//!
//! A record consists of:
//!
//! * address u64, class u8;
//! * for loads and stores: data address u64, size of one register u8;
//! * for branches: taken u8 and, if taken, target u64;
//! * number of sources u8, and their register numbers;
//! * number of results u8, their register numbers, and their values (16 bytes for a vector
//!   register, else 8).
//!
//! Registers 0 to 30 are general registers, 31 is SP, 32 to 63 are vector registers, 64 is the
//! flags.

use std::io::{Read, Seek, Write};

use rustc_hash::FxHashMap;

use super::builder::Builder;
use super::stop::Stop;
use super::unpack::read_up_to;
use super::words::{Class, Reg, Sketch, word};
use crate::missing_data::MissingData;

/// Largest distance between the address of an access and the updated value of its base register.
const BASE_STEP_MAX: i64 = 4096;
/// Largest distance between an address and its base register: the range of a scaled offset of
/// 16-byte accesses.
const BASE_DISTANCE_MAX: u64 = 65_520;
/// Largest number of branches whose targets are stored.
const BRANCHES_MAX: usize = 1 << 22;

/// Number of the first class, of loads.
const LOAD: u8 = 1;
const STORE: u8 = 2;
const CONDITIONAL: u8 = 3;
const JUMP: u8 = 4;
const INDIRECT: u8 = 5;
const FLOAT: u8 = 6;
const SLOW: u8 = 7;
const UNDEFINED: u8 = 8;

/// A record of the trace.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) pc: u64,
    pub(super) class: u8,
    addr: u64,
    bytes: u8,
    pub(super) target: Option<u64>,
    reads: Vec<u8>,
    /// Register number and low 64 bits of the value, for each result.
    writes: Vec<(u8, u64)>,
}

/// Reader of records that counts bytes.
pub(super) struct Records<R> {
    bytes: R,
    offset: u64,
}

impl<R: Read> Records<R> {
    pub(super) fn new(bytes: R) -> Records<R> {
        Records { bytes, offset: 0 }
    }

    /// Returns the next record, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record>, Stop> {
        let start = self.offset;
        let mut pc = [0; 8];
        match read_up_to(&mut self.bytes, &mut pc).map_err(Stop::Input)? {
            0 => return Ok(None),
            8 => self.offset += 8,
            _ => return Err(Stop::at_byte(start, "the trace ends inside a record")),
        }
        let mut record =
            Record { pc: u64::from_le_bytes(pc), class: self.byte()?, ..Record::default() };
        match record.class {
            LOAD | STORE => (record.addr, record.bytes) = (self.long()?, self.byte()?),
            CONDITIONAL | JUMP | INDIRECT => match self.byte()? {
                0 => {}
                1 => record.target = Some(self.long()?),
                other => {
                    return Err(Stop::at_byte(
                        start,
                        format!("a branch is taken or not, not {other}"),
                    ));
                }
            },
            0 | FLOAT | SLOW | UNDEFINED => {}
            other => return Err(Stop::at_byte(start, format!("there is no class {other}"))),
        }
        for _ in 0..self.byte()? {
            record.reads.push(self.byte()?);
        }
        for _ in 0..self.byte()? {
            record.writes.push((self.byte()?, 0));
        }
        for at in 0..record.writes.len() {
            let register = record.writes[at].0;
            if register > 64 {
                return Err(Stop::at_byte(start, format!("there is no register {register}")));
            }
            record.writes[at].1 = self.long()?;
            if (32..64).contains(&register) {
                self.long()?;
            }
        }
        Ok(Some(record))
    }

    /// Returns true if the reader has read records almost up to byte `end`.
    pub(super) fn is_near(&self, end: u64) -> bool {
        end - self.offset.min(end) < 32 && self.offset > 0
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let mut byte = [0];
        self.fill(&mut byte)?;
        Ok(byte[0])
    }

    fn long(&mut self) -> Result<u64, Stop> {
        let mut long = [0; 8];
        self.fill(&mut long)?;
        Ok(u64::from_le_bytes(long))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Stop> {
        if read_up_to(&mut self.bytes, buffer).map_err(Stop::Input)? != buffer.len() {
            return Err(Stop::at_byte(self.offset, "the trace ends inside a record"));
        }
        self.offset += buffer.len() as u64;
        Ok(())
    }
}

fn register(number: u8) -> Option<Reg> {
    match number {
        0..=30 => Some(Reg::X(number)),
        31 => Some(Reg::Sp),
        32..=63 => Some(Reg::V(number - 32)),
        64 => Some(Reg::Flags),
        _ => None,
    }
}

/// Returns the base register that a load or store updates, and the distance of its new value from
/// the data address.
fn base_step(record: &Record) -> Option<(u8, i64)> {
    let is_base = |(register, value): &(u8, u64)| {
        let step = value.wrapping_sub(record.addr).cast_signed();
        let is_near = step.unsigned_abs() <= BASE_STEP_MAX as u64;
        (*register < 32 && record.reads.contains(register) && is_near).then_some((*register, step))
    };
    record.writes.iter().find_map(is_base)
}

fn class_of(record: &Record) -> Class {
    match record.class {
        LOAD => Class::Load(record.bytes),
        STORE => Class::Store(record.bytes),
        CONDITIONAL => Class::Conditional,
        JUMP if record.writes.iter().any(|(register, _)| *register == 30) => Class::Call,
        JUMP => Class::Jump,
        INDIRECT if record.writes.iter().any(|(register, _)| *register == 30) => {
            Class::IndirectCall
        }
        INDIRECT if record.reads == [30] => Class::Return,
        INDIRECT => Class::IndirectJump,
        FLOAT => Class::Float,
        SLOW => Class::Multiply,
        _ => Class::Integer,
    }
}

/// Last known values of the general registers and SP.
#[derive(Default)]
struct Values([Option<u64>; 32]);

impl Values {
    fn update(&mut self, record: &Record) {
        for (register, value) in &record.writes {
            if let Some(known) = self.0.get_mut(usize::from(*register)) {
                *known = Some(*value);
            }
        }
    }

    /// Returns the base register of an access: the source whose value is nearest to the address.
    fn base(&self, record: &Record) -> Option<u8> {
        let distance = |register: &u8| {
            let value = (*self.0.get(usize::from(*register))?)?;
            let distance = value.wrapping_sub(record.addr).cast_signed().unsigned_abs();
            (distance <= BASE_DISTANCE_MAX).then_some((distance, *register))
        };
        let nearest = record.reads.iter().filter_map(distance).min()?;
        matches!(record.class, LOAD | STORE).then_some(nearest.1)
    }
}

/// Returns the word that replaces a record.
fn stand_in(record: &Record, target: Option<u64>, base: Option<u8>) -> u32 {
    let mut reads: Vec<Reg> = record.reads.iter().filter_map(|n| register(*n)).collect();
    let mut writes = record.writes.iter().map(|(n, _)| *n).collect::<Vec<u8>>();
    let is_access = matches!(record.class, LOAD | STORE);
    let step = base_step(record).filter(|_| is_access);
    if let Some((base, _)) = step {
        writes.retain(|number| *number != base);
    }
    if let Some(base) = step.map(|(base, _)| base).or(base).and_then(register) {
        // `Sketch` expects the base register first.
        reads.retain(|reg| *reg != base);
        reads.insert(0, base);
    }
    let writes: Vec<Reg> = writes.into_iter().filter_map(register).collect();
    let step = step.map(|(_, step)| step);
    let (class, pc) = (class_of(record), record.pc);
    word(&Sketch { class, pc, target, reads: &reads, writes: &writes, base_step: step })
}

/// Reads the whole trace.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    to.note_missing(MissingData::Words);
    to.note_missing(MissingData::Threads);
    let stream = to.thread(0)?;
    let mut targets: FxHashMap<u64, u64> = FxHashMap::default();
    let mut values = Values::default();
    let mut records = Records::new(bytes);
    while let Some(record) = records.next()? {
        let target = match record.target {
            Some(target) if targets.len() < BRANCHES_MAX => {
                targets.insert(record.pc, target);
                Some(target)
            }
            target => target.or_else(|| targets.get(&record.pc).copied()),
        };
        to.inst(stream, record.pc, stand_in(&record, target, values.base(&record)))?;
        values.update(&record);
        if matches!(record.class, LOAD | STORE) {
            to.access(stream, record.addr);
        }
    }
    Ok(())
}
