//! Export of a trace for other simulators: ChampSim's records, and text with one line per
//! instruction.

mod champsim;
mod text;

use std::io::{self, Read, Seek, Write};

use sim_core::InstFlags;
use sim_isa::{Inst, MemOp};
use sim_trace::{TraceError, TraceFile};

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// ChampSim's records of 64 bytes.
    Champsim,
    /// One line per instruction, in the layout of QEMU's execlog plugin.
    Text,
}

/// Error while exporting a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The trace is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Executed instruction with its decoded form.
pub(crate) struct Step<'a> {
    pub(crate) stream: u32,
    pub(crate) pc: u64,
    pub(crate) word: u32,
    pub(crate) inst: &'a Inst,
    pub(crate) addr: Option<u64>,
    /// Address of the next executed instruction, or for the last one of the next instruction in the
    /// code.
    pub(crate) next: u64,
}

impl Step<'_> {
    /// Returns whether it reads memory at a known address.
    pub(crate) fn loads(&self) -> bool {
        let op = self.inst.mem.op;
        let atomic = [MemOp::AtomicLoad, MemOp::AtomicStore, MemOp::AtomicSwap].contains(&op);
        self.addr.is_some() && (op == MemOp::Load || atomic)
    }

    /// Returns whether it writes memory at a known address.
    pub(crate) fn stores(&self) -> bool {
        let writers = [
            MemOp::Store,
            MemOp::AtomicLoad,
            MemOp::AtomicStore,
            MemOp::AtomicSwap,
            MemOp::ZeroLine,
        ];
        self.addr.is_some() && writers.contains(&self.inst.mem.op)
    }
}

/// Writes the instructions of one thread.
///
/// # Errors
/// Fails if the trace is damaged or `out` cannot be written.
pub fn write<R: Read + Seek>(
    trace: &TraceFile<R>,
    stream: u32,
    target: Target,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let codes = trace.statics().insts();
    let decoded: Vec<Inst> = codes.iter().map(|code| sim_isa::decode(code.word)).collect();
    let mut reader = trace.reader(stream)?;
    let (mut batch, mut waiting) = (Vec::new(), None::<sim_core::TraceInst>);
    let mut write_step = |one: sim_core::TraceInst, next: Option<sim_core::TraceInst>| {
        let code = codes[one.id as usize];
        let step = Step {
            stream,
            pc: code.pc,
            word: code.word,
            inst: &decoded[one.id as usize],
            addr: one.flags.has(InstFlags::HAS_ADDR).then_some(one.addr),
            next: next.map_or(code.pc.wrapping_add(4), |next| codes[next.id as usize].pc),
        };
        match target {
            Target::Champsim => champsim::write(&step, out),
            Target::Text => text::write(&step, out),
        }
    };
    while reader.next_batch(&mut batch)? {
        for inst in &batch {
            if let Some(before) = waiting.replace(*inst) {
                write_step(before, Some(*inst))?;
            }
        }
    }
    if let Some(last) = waiting {
        write_step(last, None)?;
    }
    Ok(())
}
