//! ChampSim's record of 64 bytes: address, branch, taken, 2 registers written and 4 read, 2
//! addresses written and 4 read. All fields are little-endian, and 0 if unused.
//!
//! Registers: 6 is the stack pointer, 25 the flags, 26 the program counter; together they encode
//! the kinds of branches. X0 is 64, V0 is 97. An access that crosses into another line of 64 bytes
//! has both addresses.

use std::io::{self, Write};

use sim_isa::{BranchKind, Reg};

use super::Step;

const SP: u8 = 6;
const FLAGS: u8 = 25;
const IP: u8 = 26;
/// Register other than these three.
const ANY: u8 = 64;
/// Bytes of a cache line in ChampSim.
const LINE: u64 = 64;

/// Writes one record.
pub(super) fn write(step: &Step<'_>, out: &mut impl Write) -> io::Result<()> {
    let branch = step.inst.branch;
    let taken = match branch {
        BranchKind::None => false,
        BranchKind::Conditional => step.next != step.pc.wrapping_add(4),
        _ => true,
    };
    let (reads, writes) = registers(step);
    let mut record = [0; 64];
    record[..8].copy_from_slice(&step.pc.to_le_bytes());
    record[8] = u8::from(branch != BranchKind::None);
    record[9] = u8::from(taken);
    put(&mut record[10..12], &writes);
    put(&mut record[12..16], &reads);
    for (is, at) in [(step.stores(), 16), (step.loads(), 32)] {
        for (slot, addr) in lines(step).filter(|_| is).enumerate() {
            record[at + 8 * slot..][..8].copy_from_slice(&addr.to_le_bytes());
        }
    }
    out.write_all(&record)
}

/// Stores as many registers as fit.
fn put(room: &mut [u8], registers: &[u8]) {
    for (slot, register) in room.iter_mut().zip(registers) {
        *slot = *register;
    }
}

/// Returns the address of the access, and the address of the second line if it crosses into one.
fn lines(step: &Step<'_>) -> impl Iterator<Item = u64> {
    let last = u64::from(step.inst.mem.bytes).saturating_sub(1);
    let second = step.addr.and_then(|addr| {
        let end = addr.checked_add(last)?;
        (end / LINE != addr / LINE).then_some(end & !(LINE - 1))
    });
    step.addr.into_iter().chain(second)
}

/// Returns the registers read and written. For a branch they encode its kind.
fn registers(step: &Step<'_>) -> (Vec<u8>, Vec<u8>) {
    let numbers = |regs: &[Reg]| -> Vec<u8> { regs.iter().copied().map(number).collect() };
    let (reads, writes) = (numbers(step.inst.srcs()), numbers(step.inst.dsts()));
    let other = reads.iter().copied().find(|reg| *reg >= ANY).unwrap_or(ANY);
    match step.inst.branch {
        BranchKind::None => (reads, writes),
        BranchKind::Direct => (vec![], vec![IP]),
        BranchKind::Conditional => {
            let source = if reads.contains(&FLAGS) { FLAGS } else { other };
            (vec![IP, source], vec![IP])
        }
        BranchKind::Call => (vec![IP, SP], vec![IP, SP]),
        BranchKind::IndirectCall => (vec![IP, SP, other], vec![IP, SP]),
        BranchKind::Return => (vec![SP], vec![IP, SP]),
        BranchKind::Indirect | BranchKind::ExceptionReturn => (vec![other], vec![IP]),
    }
}

fn number(reg: Reg) -> u8 {
    match reg {
        Reg::SP => SP,
        Reg::NZCV => FLAGS,
        Reg(other) => ANY + other,
    }
}
