//! One line per instruction in the layout of QEMU's execlog plugin, which several tools read:
//! `THREAD, 0xADDRESS, 0xWORD, "kind", load, 0xADDRESS, store, 0xADDRESS`.

use std::io::{self, Write};

use sim_isa::{BranchKind, MemOp, Special};

use super::Step;

/// Writes one line.
pub(super) fn write(step: &Step<'_>, out: &mut impl Write) -> io::Result<()> {
    let Step { stream, pc, word, .. } = step;
    write!(out, "{stream}, 0x{pc:x}, 0x{word:x}, \"{}\"", class(step))?;
    for (is, name) in [(step.loads(), "load"), (step.stores(), "store")] {
        if let Some(addr) = step.addr.filter(|_| is) {
            write!(out, ", {name}, 0x{addr:08x}")?;
        }
    }
    writeln!(out)
}

/// Returns the kind of the instruction, in place of a disassembly.
fn class(step: &Step<'_>) -> &'static str {
    let inst = step.inst;
    match (inst.branch, inst.mem.op, inst.special) {
        (BranchKind::Direct, ..) => "jump",
        (BranchKind::Conditional, ..) => "conditional branch",
        (BranchKind::Call, ..) => "call",
        (BranchKind::Indirect, ..) => "indirect jump",
        (BranchKind::IndirectCall, ..) => "indirect call",
        (BranchKind::Return, ..) => "return",
        (BranchKind::ExceptionReturn, ..) => "exception return",
        (_, MemOp::Load, _) => "load",
        (_, MemOp::Store, _) => "store",
        (_, MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap, _) => "atomic",
        (_, MemOp::PrefetchLoad | MemOp::PrefetchStore | MemOp::PrefetchInst, _) => "prefetch",
        (_, MemOp::ZeroLine | MemOp::Maintenance, _) => "cache",
        (.., Special::SupervisorCall) => "system call",
        (.., Special::Unknown) => "unknown",
        _ => "operation",
    }
}
