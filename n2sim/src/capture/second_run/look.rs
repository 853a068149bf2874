//! The effects of the next instruction, computed from the registers before it. They are the
//! governing predicate of an SVE instruction with the addresses of its active elements (Arm ARM,
//! SVE addressing), and the operand of `DC`, `IC` and `PRFM`.

use super::super::a64::Unreported;
use super::super::block::BlockInfo;
use super::super::system_words::Operand;
use super::debugger::Debugger;
use anyhow::{Context, Result, bail};
use sim_core::{Activity, PmuEvent};
use sim_isa::{Governing, Inst, MemOp, Reg, decode};
use std::collections::BTreeMap;

/// The instructions of the program at which it is stopped, by address.
pub(super) type Places = BTreeMap<u64, Inst>;

/// The effects of one instruction.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) pc: u64,
    pub(super) activity: Activity,
    /// Active elements, bit 0 the first.
    pub(super) active: u16,
    /// Address of each active element of a gather or scatter; of any other access, the address of
    /// the first active element.
    pub(super) addrs: Vec<u64>,
}

/// The records of a run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) records: Vec<Record>,
    /// Reads of the FFR that found a bit clear.
    pub(super) ended_early: u64,
}

/// Returns whether a record of the instruction is needed.
pub(super) fn is_wanted(inst: &Inst) -> bool {
    is_sve_access(inst)
        || inst.is_sve && inst.events.contains(PmuEvent::SVE_PRED_FULL_SPEC)
        || Unreported::of(inst.word).is_some() && Operand::of(inst.word).is_some()
}

/// Returns whether the instruction is an SVE load or store. Targets of prefetches are not recorded.
fn is_sve_access(inst: &Inst) -> bool {
    let is_silent = matches!(
        inst.mem.op,
        MemOp::None | MemOp::PrefetchLoad | MemOp::PrefetchStore | MemOp::PrefetchInst
    );
    inst.is_sve && !is_silent
}

fn reads_ffr(inst: &Inst) -> bool {
    inst.mem.op == MemOp::None && inst.srcs().contains(&Reg::FFR)
}

/// Returns the places of blocks at which the program is to be stopped.
pub(super) fn places(blocks: &[BlockInfo]) -> Places {
    let words = blocks.iter().flat_map(|block| {
        (0..block.len()).map(|index| (block.pc_of(index), decode(block.word(index))))
    });
    words.filter(|(_, inst)| is_wanted(inst) || reads_ffr(inst)).collect()
}

/// Runs the program and records the effects of every instruction of `places`.
pub(super) fn watch(debugger: &mut Debugger, places: &Places) -> Result<Seen> {
    debugger.z(0)?;
    for pc in places.keys() {
        debugger.stop_at(*pc)?;
    }
    let mut seen = Seen::default();
    loop {
        let mut pc = debugger.pc()?;
        while debugger.has_signal() || !places.contains_key(&pc) {
            if !debugger.resume()? {
                return Ok(seen);
            }
            pc = debugger.pc()?;
        }
        let Some(inst) = places.get(&pc) else { bail!("stopped at {pc:#x}, where nothing is") };
        if reads_ffr(inst) {
            seen.ended_early += u64::from(debugger.ffr()? != u16::MAX);
        }
        if is_wanted(inst) {
            let record =
                look(debugger, pc, inst).with_context(|| format!("word {:08x}", inst.word));
            seen.records.push(record?);
        }
        if !debugger.step()? {
            return Ok(seen);
        }
    }
}

/// Returns the instruction at `pc`, which is about to run.
fn look(debugger: &mut Debugger, pc: u64, inst: &Inst) -> Result<Record> {
    let mut record = Record { pc, ..Record::default() };
    if let Some(operand) = Operand::of(inst.word).filter(|_| !inst.is_sve) {
        record.addrs = vec![value(debugger, pc, operand)?];
        return Ok(record);
    }
    let (mut elements, mut active) = (1, 1);
    if inst.events.contains(PmuEvent::SVE_PRED_FULL_SPEC) {
        let governing =
            Governing::of(inst.word).context("this predicated operation is not supported")?;
        elements = governing.elements();
        (record.activity, active) = governing.activity(debugger.p(u32::from(governing.register))?);
        record.active = active;
    }
    if is_sve_access(inst) && active != 0 {
        record.addrs = addresses(debugger, inst, elements, active)?;
    }
    Ok(record)
}

/// Returns the operand of an instruction at `pc` that is not an SVE instruction.
fn value(debugger: &mut Debugger, pc: u64, operand: Operand) -> Result<u64> {
    let mut values = [None; 32];
    let (base, index) = match operand {
        Operand::Register(n) => (Some(n), None),
        Operand::Offset(base, _) => (Some(base), None),
        Operand::Indexed { base, index, .. } => (Some(base), Some(index)),
        Operand::Literal(_) => (None, None),
    };
    for n in [base, index].into_iter().flatten() {
        values[n as usize & 31] = Some(debugger.x(n)?);
    }
    let x_or_sp = |n: u32| values[n as usize & 31];
    let x = |n: u32| if n == 31 { Some(0) } else { x_or_sp(n) };
    operand.value(pc, x, x_or_sp).context("its operand is unknown")
}

/// Returns the addresses of the active elements of a gather or scatter, or the first of another
/// access.
fn addresses(debugger: &mut Debugger, inst: &Inst, elements: u32, active: u16) -> Result<Vec<u64>> {
    if !inst.mem.scattered {
        let of_one = u64::from(inst.mem.bytes) / u64::from(elements);
        let first = u64::from(active.trailing_zeros());
        return Ok(vec![contiguous(debugger, inst)?.wrapping_add(first * of_one)]);
    }
    let all = scattered(debugger, inst, elements)?;
    Ok((0..elements).filter(|i| active >> i & 1 == 1).map(|i| all[i as usize]).collect())
}

fn field(word: u32, low: u32, bits: u32) -> u32 {
    word >> low & ((1 << bits) - 1)
}

fn signed(word: u32, low: u32, bits: u32) -> i64 {
    let value = i64::from(field(word, low, bits));
    if value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
}

/// Returns the address of element 0 of a contiguous access.
fn contiguous(debugger: &mut Debugger, inst: &Inst) -> Result<u64> {
    let word = inst.word;
    let base = debugger.x(field(word, 5, 5))?;
    let whole = i64::from(inst.mem.bytes);
    let offset = match (word >> 25, field(word, 13, 3)) {
        // LDR, STR of a vector or predicate: nine bits of offset in two fields.
        (0b100_0010 | 0b111_0010, _) if field(word, 22, 3) == 0b110 && inst.mem.elements == 0 => {
            (signed(word, 16, 6) * 8 + i64::from(field(word, 10, 3))) * whole
        }
        // LD1R.
        (0b100_0010, 0b100..) if field(word, 22, 1) == 1 => i64::from(field(word, 16, 6)) * whole,
        (0b101_0010, 0b101 | 0b111 | 0b001) | (0b111_0010, 0b111) => signed(word, 16, 4) * whole,
        (0b101_0010, 0b010 | 0b011 | 0b110 | 0b000) | (0b111_0010, 0b010 | 0b011) => {
            let index = match field(word, 16, 5) {
                31 => 0,
                m => debugger.x(m)?,
            };
            (index << inst.mem.align.trailing_zeros()).cast_signed()
        }
        _ => bail!("this addressing mode is not supported"),
    };
    Ok(base.wrapping_add_signed(offset))
}

/// Returns the addresses of all elements of a gather or scatter.
fn scattered(debugger: &mut Debugger, inst: &Inst, elements: u32) -> Result<Vec<u64>> {
    let word = inst.word;
    let (n, m) = (field(word, 5, 5), field(word, 16, 5));
    let form = field(word, 13, 3);
    let is_store = word >> 25 == 0b111_0010;
    let bytes = 16 / elements as usize;
    let lane = |vector: [u8; 16], i: u32| {
        let at = i as usize * bytes;
        vector[at..at + bytes].iter().rev().fold(0u64, |v, byte| v << 8 | u64::from(*byte))
    };
    let is_based_on_vector = if is_store {
        form == 0b101 && field(word, 22, 1) == 1
    } else {
        form >= 0b100 && field(word, 21, 2) == 0b01
    };
    if is_based_on_vector {
        let offset = u64::from(m) * u64::from(inst.mem.align);
        let bases = debugger.z(n)?;
        return Ok((0..elements).map(|i| lane(bases, i).wrapping_add(offset)).collect());
    }
    let is_wide = if is_store { form == 0b101 } else { form >= 0b100 };
    if form == 0b001 && is_store || !is_store && is_wide && field(word, 22, 1) == 0 {
        bail!("this gather or scatter is not supported");
    }
    let is_signed = field(word, if is_store { 14 } else { 22 }, 1) == 1;
    let scale = if field(word, 21, 1) == 1 { inst.mem.align.trailing_zeros() } else { 0 };
    let (base, offsets) = (debugger.x(n)?, debugger.z(m)?);
    let address = |i| {
        let offset = lane(offsets, i);
        let offset = match (is_wide, is_signed) {
            (true, _) => offset,
            (false, true) => i64::from(offset as u32 as i32).cast_unsigned(),
            (false, false) => u64::from(offset as u32),
        };
        base.wrapping_add(offset << scale)
    };
    Ok((0..elements).map(address).collect())
}
