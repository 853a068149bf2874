//! Protobuf instruction trace of gem5: the signature `gem5`, then messages, each after its length.
//!
//! The first message is the header: 1 object, 2 version, 3 tick frequency, 4 has accesses. Each
//! other message is an instruction: 1 address, 2 word (fixed32), 4 CPU, 8 accesses (1 address, 2
//! size), 9 bytes of the word. Elastic traces of gem5 have the same signature, but no words; they
//! are refused.

use std::io::{Read, Seek, Write};

use super::builder::Builder;
use super::stop::{Stop, no_word};
use super::unpack::read_up_to;
use crate::missing_data::MissingData;

/// Four bytes before the messages.
pub(super) const SIGNATURE: &[u8] = b"gem5";
/// Largest size of a message, in bytes.
const MESSAGE_MAX: u64 = 1 << 20;

/// Value of a field of a message.
#[derive(Clone, Copy)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Returns the fields of a message in order, and `None` at damage.
fn fields(message: &[u8]) -> impl Iterator<Item = Option<(u64, Value<'_>)>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = take_field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field)
    })
}

fn take_field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = take_varint(rest)?;
    let length = match key & 7 {
        0 => return Some((key >> 3, Value::Number(take_varint(rest)?))),
        1 => 8,
        2 => usize::try_from(take_varint(rest)?).ok()?,
        5 => 4,
        _ => return None,
    };
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    let number = || bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    Some((key >> 3, if key & 7 == 2 { Value::Bytes(bytes) } else { Value::Number(number()) }))
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Reader of messages.
struct Messages<R> {
    bytes: R,
    offset: u64,
    buffer: Vec<u8>,
}

impl<R: Read> Messages<R> {
    /// Returns the next message, or `None` at the end.
    fn next(&mut self) -> Result<Option<&[u8]>, Stop> {
        let start = self.offset;
        let Some(length) = self.length()? else { return Ok(None) };
        if length > MESSAGE_MAX {
            return Err(Stop::at_byte(
                start,
                format!("a message of {length} bytes is not an instruction"),
            ));
        }
        self.buffer.resize(length as usize, 0);
        let read = read_up_to(&mut self.bytes, &mut self.buffer).map_err(Stop::Input)?;
        if read as u64 != length {
            return Err(Stop::at_byte(start, "the trace ends inside a message"));
        }
        self.offset += length;
        Ok(Some(&self.buffer))
    }

    fn length(&mut self) -> Result<Option<u64>, Stop> {
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let mut byte = [0];
            if read_up_to(&mut self.bytes, &mut byte).map_err(Stop::Input)? == 0 {
                return match shift {
                    0 => Ok(None),
                    _ => Err(Stop::at_byte(self.offset, "the trace ends inside a length")),
                };
            }
            self.offset += 1;
            number |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                return Ok(Some(number));
            }
        }
        Err(Stop::at_byte(self.offset, "the length of a message has no end"))
    }
}

/// An executed instruction.
#[derive(Default)]
struct Inst {
    pc: u64,
    word: Option<u32>,
    cpu: u64,
    addr: Option<u64>,
}

fn parse(message: &[u8]) -> Option<Inst> {
    let mut inst = Inst::default();
    let mut has_pc = false;
    for field in fields(message) {
        match field? {
            (1, Value::Number(pc)) => (inst.pc, has_pc) = (pc, true),
            (2, Value::Number(word)) => inst.word = Some(u32::try_from(word).ok()?),
            (4, Value::Number(cpu)) => inst.cpu = cpu,
            (8, Value::Bytes(access)) => {
                let addr = fields(access).flatten().find_map(|field| match field {
                    (1, Value::Number(addr)) => Some(addr),
                    _ => None,
                });
                inst.addr = inst.addr.or(addr);
            }
            (9, Value::Bytes(bytes)) => inst.word = Some(u32::from_le_bytes(*bytes.first_chunk()?)),
            _ => {}
        }
    }
    has_pc.then_some(inst)
}

/// Returns true for a message of an elastic trace of gem5, which holds dependencies.
fn is_dependency_trace(first: &[u8]) -> bool {
    fields(first)
        .flatten()
        .any(|(number, value)| number == 2 && matches!(value, Value::Number(2..)))
}

/// Reads the whole trace.
pub(super) fn read<W: Write + Seek>(mut bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    let mut signature = [0; SIGNATURE.len()];
    read_up_to(&mut bytes, &mut signature).map_err(Stop::Input)?;
    if signature != SIGNATURE {
        return Err(Stop::at_byte(0, "the signature `gem5` is missing"));
    }
    let mut messages = Messages { bytes, offset: SIGNATURE.len() as u64, buffer: Vec::new() };
    let header = messages.next()?.ok_or_else(|| Stop::at_byte(4, "the header is missing"))?;
    let no_accesses = |field| matches!(field, Some((4, Value::Number(0))));
    if fields(header).any(no_accesses) {
        to.note_missing(MissingData::Addresses);
    }
    loop {
        let start = messages.offset;
        let Some(message) = messages.next()? else { return Ok(()) };
        let Some(Inst { pc, word, cpu, addr }) = parse(message) else {
            return Err(Stop::at_byte(start, "this message is not an instruction"));
        };
        let Some(word) = word.or_else(|| to.word_at(pc)) else {
            let what = if to.instructions() == 0 && is_dependency_trace(message) {
                "this is an elastic trace (of dependencies), which has no instruction words; record \
                 an instruction trace, or use the TarmacTracer of gem5"
                    .to_owned()
            } else {
                no_word(pc)
            };
            return Err(Stop::at_byte(start, what));
        };
        let stream = to.thread(cpu)?;
        to.inst(stream, pc, word)?;
        if let Some(addr) = addr {
            to.access(stream, addr);
        }
    }
}
