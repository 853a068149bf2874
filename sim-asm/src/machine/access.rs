//! Loads, stores, atomics, prefetches.

use sim_isa::encode::{Address, AtomicKind, Instruction, PairAddress, Transfer, Width};

use super::integer::{extended, sign};
use super::memory::{Memory, check};
use super::registers::Registers;
use crate::error::RunFault;

/// Bytes of a line that `DC ZVA` clears.
const LINE: u64 = 64;

/// Executes an access and returns its address, or `None` for other instructions.
pub(super) fn execute(
    registers: &mut Registers,
    memory: &mut Memory,
    instruction: &Instruction,
) -> Result<Option<u64>, RunFault> {
    use Instruction as I;
    Ok(Some(match *instruction {
        I::Access { transfer, t, base, address } => {
            let start = registers.get_sp(Width::X, base);
            let (at, new_base) = resolve(registers, start, transfer, address);
            let value = transfer_value(registers, transfer, t);
            let loaded = perform(memory, transfer, at, value)?;
            if let Some(new_base) = new_base {
                registers.set_sp(Width::X, base, new_base);
            }
            write_back(registers, transfer, t, loaded);
            at
        }
        I::Pair { transfer, t, t2, base, address } => {
            pair(registers, memory, transfer, [t, t2, base], address)?
        }
        I::ZeroLine { t } => {
            let at = registers.get(Width::X, t) & !(LINE - 1);
            for part in 0..LINE / 16 {
                memory.store(at.wrapping_add(16 * part), 16, 0)?;
            }
            at
        }
        _ => return synchronized(registers, memory, instruction),
    }))
}

/// The address of an access, and the new value of a changed base.
fn resolve(
    registers: &Registers,
    base: u64,
    transfer: Transfer,
    address: Address,
) -> (u64, Option<u64>) {
    match address {
        Address::Scaled(offset) | Address::Unscaled(offset) => {
            (base.wrapping_add_signed(offset), None)
        }
        Address::Pre(offset) => {
            let at = base.wrapping_add_signed(offset);
            (at, Some(at))
        }
        Address::Post(offset) => (base, Some(base.wrapping_add_signed(offset))),
        Address::Register { m, extend, is_scaled } => {
            let by = if is_scaled { transfer.bytes().trailing_zeros() } else { 0 };
            let index = extended(registers.get(Width::X, m), extend) << by;
            (base.wrapping_add(index), None)
        }
    }
}

/// The value that a store writes.
fn transfer_value(registers: &Registers, transfer: Transfer, t: u8) -> u128 {
    match transfer {
        Transfer::Store { .. } => u128::from(registers.get(Width::X, t)),
        Transfer::StoreVector { bytes } => registers.vector(t, bytes),
        _ => 0,
    }
}

/// Accesses memory: returns the value of a load, 0 for others.
fn perform(
    memory: &mut Memory,
    transfer: Transfer,
    at: u64,
    value: u128,
) -> Result<u128, RunFault> {
    match transfer {
        Transfer::Store { bytes } | Transfer::StoreVector { bytes } => {
            memory.store(at, bytes, value)?;
            Ok(0)
        }
        // A prefetch of any address does nothing that a program could see.
        Transfer::Prefetch => Ok(0),
        _ => memory.load(at, transfer.bytes()),
    }
}

/// Writes the register of a load.
fn write_back(registers: &mut Registers, transfer: Transfer, t: u8, loaded: u128) {
    match transfer {
        Transfer::Load { .. } => registers.set(Width::X, t, loaded as u64),
        Transfer::LoadSigned { bytes, to } => {
            registers.set(to, t, sign(loaded as u64, 8 * u32::from(bytes)));
        }
        Transfer::LoadVector { .. } => registers.set_vector(t, loaded),
        _ => {}
    }
}

fn pair(
    registers: &mut Registers,
    memory: &mut Memory,
    transfer: Transfer,
    [t, t2, base]: [u8; 3],
    address: PairAddress,
) -> Result<u64, RunFault> {
    let start = registers.get_sp(Width::X, base);
    let (at, new_base) = match address {
        PairAddress::Offset(offset) => (start.wrapping_add_signed(offset), None),
        PairAddress::Pre(offset) => {
            let at = start.wrapping_add_signed(offset);
            (at, Some(at))
        }
        PairAddress::Post(offset) => (start, Some(start.wrapping_add_signed(offset))),
    };
    let second = at.wrapping_add(u64::from(transfer.bytes()));
    // Both halves are checked before one is written.
    check(at, 2 * transfer.bytes())?;
    let values = [t, t2].map(|t| transfer_value(registers, transfer, t));
    let loaded =
        [perform(memory, transfer, at, values[0])?, perform(memory, transfer, second, values[1])?];
    if let Some(new_base) = new_base {
        registers.set_sp(Width::X, base, new_base);
    }
    write_back(registers, transfer, t, loaded[0]);
    write_back(registers, transfer, t2, loaded[1]);
    Ok(at)
}

/// Exclusive, ordered and atomic accesses. With one thread, a store-exclusive always succeeds.
fn synchronized(
    registers: &mut Registers,
    memory: &mut Memory,
    instruction: &Instruction,
) -> Result<Option<u64>, RunFault> {
    use Instruction as I;
    let (I::LoadExclusive { bytes, base, .. }
    | I::StoreExclusive { bytes, base, .. }
    | I::Ordered { bytes, base, .. }
    | I::Atomic { bytes, base, .. }
    | I::CompareSwap { bytes, base, .. }) = *instruction
    else {
        return Ok(None);
    };
    let at = registers.get_sp(Width::X, base);
    if !at.is_multiple_of(u64::from(bytes)) {
        return Err(RunFault::Unaligned { address: at, bytes: u64::from(bytes) });
    }
    let old = memory.load(at, bytes)? as u64;
    let width = if bytes == 8 { Width::X } else { Width::W };
    match *instruction {
        I::LoadExclusive { t, .. } | I::Ordered { is_load: true, t, .. } => {
            registers.set(width, t, old);
        }
        I::Ordered { t, .. } => memory.store(at, bytes, registers.get(Width::X, t).into())?,
        I::StoreExclusive { s, t, .. } => {
            memory.store(at, bytes, registers.get(Width::X, t).into())?;
            registers.set(Width::W, s, 0);
        }
        I::Atomic { kind, s, t, .. } => {
            let new = combined(kind, old, registers.get(Width::X, s));
            memory.store(at, bytes, new.into())?;
            registers.set(width, t, old);
        }
        I::CompareSwap { s, t, .. } => {
            if registers.get(width, s) == old {
                memory.store(at, bytes, registers.get(Width::X, t).into())?;
            }
            registers.set(width, s, old);
        }
        _ => {}
    }
    Ok(Some(at))
}

fn combined(kind: AtomicKind, old: u64, value: u64) -> u64 {
    match kind {
        AtomicKind::Add => old.wrapping_add(value),
        AtomicKind::Clear => old & !value,
        AtomicKind::Eor => old ^ value,
        AtomicKind::Set => old | value,
        AtomicKind::Swap => value,
    }
}
