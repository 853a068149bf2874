//! The effects of the next instruction, computed from the registers before it. They are the
//! governing predicate of an SVE instruction with the addresses of its active elements (Arm ARM,
//! SVE addressing), and the operand of `DC`, `IC` and `PRFM`.

use super::super::block::BlockInfo;
use super::super::unreported::Unreported;
use super::debugger::Debugger;
use anyhow::{Context, Result, bail};
use sim_core::{Activity, PmuEvent};
use sim_isa::{AddressOperand, Governing, Inst, MemOp, Reg, SveAddressing, decode};
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
        || Unreported::of(inst.word).is_some() && AddressOperand::of(inst.word).is_some()
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
    if let Some(operand) = AddressOperand::of(inst.word).filter(|_| !inst.is_sve) {
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
fn value(debugger: &mut Debugger, pc: u64, operand: AddressOperand) -> Result<u64> {
    let mut values = [None; 32];
    let (base, index) = match operand {
        AddressOperand::Register(n) => (Some(n), None),
        AddressOperand::Offset(base, _) => (Some(base), None),
        AddressOperand::Indexed { base, index, .. } => (Some(base), Some(index)),
        AddressOperand::Literal(_) => (None, None),
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
    let form = SveAddressing::of(inst).context("this addressing mode is not supported")?;
    if !inst.mem.scattered {
        let of_one = u64::from(inst.mem.bytes) / u64::from(elements);
        let first = u64::from(active.trailing_zeros());
        return Ok(vec![contiguous(debugger, form)?.wrapping_add(first * of_one)]);
    }
    let all = scattered(debugger, form, elements)?;
    Ok((0..elements).filter(|i| active >> i & 1 == 1).map(|i| all[i as usize]).collect())
}

/// Returns the address of element 0 of a contiguous access.
fn contiguous(debugger: &mut Debugger, form: SveAddressing) -> Result<u64> {
    match form {
        SveAddressing::Offset { base, offset } => Ok(debugger.x(base)?.wrapping_add_signed(offset)),
        SveAddressing::Indexed { base, index, scale } => {
            let index = if index == 31 { 0 } else { debugger.x(index)? };
            Ok(debugger.x(base)?.wrapping_add(index << scale))
        }
        SveAddressing::VectorBase { .. } | SveAddressing::VectorOffsets { .. } => {
            bail!("this addressing mode has an address in each element")
        }
    }
}

/// Returns the addresses of all elements of a gather or scatter.
fn scattered(debugger: &mut Debugger, form: SveAddressing, elements: u32) -> Result<Vec<u64>> {
    match form {
        SveAddressing::VectorBase { vector, offset } => {
            let bases = lanes(debugger.z(vector)?, elements);
            Ok(bases.map(|base| base.wrapping_add(offset)).collect())
        }
        SveAddressing::VectorOffsets { base, vector, offset, scale } => {
            let base = debugger.x(base)?;
            let offsets = lanes(debugger.z(vector)?, elements);
            Ok(offsets.map(|value| base.wrapping_add(offset.of(value) << scale)).collect())
        }
        SveAddressing::Offset { .. } | SveAddressing::Indexed { .. } => {
            bail!("this addressing mode has one address")
        }
    }
}

/// Returns the elements of a vector as numbers.
fn lanes(vector: [u8; 16], elements: u32) -> impl Iterator<Item = u64> {
    let bytes = vector.len() / elements as usize;
    (0..elements as usize).map(move |i| {
        let lane = &vector[i * bytes..(i + 1) * bytes];
        lane.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
    })
}
