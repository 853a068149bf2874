//! The code of a trace as pipelines read it: decoded, by the numbers of its static instructions.

use rustc_hash::FxHashSet;
use sim_core::Reserved;
use sim_isa::Program;
use sim_trace::{TraceError, TraceFile};

use crate::config::MachineConfig;
use crate::error::MachineError;

/// Bytes of a page of decoded code.
const PAGE_BYTES: u64 = 4096;

/// The static instructions of the trace, by their numbers, and the pages of its code. `name` is the trace in messages.
///
/// # Errors
/// If two instructions of the trace are the same.
pub(crate) fn decoded(
    trace: &TraceFile,
    config: &MachineConfig,
    name: &str,
) -> Result<Program, MachineError> {
    let mut program = Program::costing(config.pipeline.costs())
        .counting_structures(config.semantics.ase_structures_count);
    for (number, code) in trace.statics().insts().iter().enumerate() {
        let id = program.intern(code.pc, code.word);
        if id as usize != number {
            return Err(MachineError::DoubledInstruction { trace: name.to_owned(), id });
        }
    }
    for (address, bytes) in trace.image().pages() {
        program.attach_image(address, bytes);
    }
    Ok(program)
}

/// Reserves the memory of what [`decoded`] returns.
///
/// # Errors
/// If it does not fit the account of the trace.
pub(crate) fn reserve(trace: &TraceFile) -> Result<Reserved, MachineError> {
    let instructions = trace.statics().insts();
    let mut pages: FxHashSet<u64> = instructions.iter().map(|code| code.pc / PAGE_BYTES).collect();
    let mut images = 0;
    for (address, bytes) in trace.image().pages() {
        let first = address / PAGE_BYTES;
        let count = (bytes.len() as u64).div_ceil(PAGE_BYTES);
        pages.extend((0..count).map(|page| first.wrapping_add(page)));
        images += count;
    }
    let bytes = Program::bytes(instructions.len() as u64, pages.len() as u64, images);
    let reserved = trace.budget().reserve(bytes, "the decoded instructions of the trace");
    reserved.map_err(|problem| TraceError::Memory { path: trace.path().to_owned(), problem }.into())
}
