//! Decoded code of a trace, by the numbers of its static instructions.

use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashSet;
use sim_core::Reserved;
use sim_isa::Program;
use sim_trace::{TraceError, TraceFile};

use crate::config::MachineConfig;
use crate::error::MachineError;

/// Decoded code with the reservation of its memory in the trace's budget.
pub struct Code {
    program: Program,
    _memory: Reserved,
}

impl Deref for Code {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}

impl DerefMut for Code {
    fn deref_mut(&mut self) -> &mut Program {
        &mut self.program
    }
}

/// Decodes the static instructions of the trace, in the order of their numbers, and attaches the
/// pages of its code. Without `has_shapes` every instruction takes the general path
/// ([`Program::without_path_classes`]). `name` names the trace in messages.
///
/// # Errors
/// If the trace contains an instruction twice, or if the code exceeds the memory budget.
pub(crate) fn decoded(
    trace: &TraceFile,
    config: &MachineConfig,
    has_shapes: bool,
    name: &str,
) -> Result<Code, MachineError> {
    let memory = reserve(trace)?;
    let mut program = Program::costing(config.pipeline.costs())
        .counting_structures(config.semantics.ase_structures_count);
    if !has_shapes {
        program = program.without_path_classes();
    }
    for (number, code) in trace.statics().insts().iter().enumerate() {
        let id = program.intern(code.pc, code.word);
        if id as usize != number {
            return Err(MachineError::DoubledInstruction { trace: name.to_owned(), id });
        }
    }
    for (address, bytes) in trace.image().pages() {
        program.attach_image(address, bytes);
    }
    Ok(Code { program, _memory: memory })
}

/// Reserves the memory of the decoded program.
fn reserve(trace: &TraceFile) -> Result<Reserved, MachineError> {
    let instructions = trace.statics().insts();
    let page = |address: u64| address / Program::PAGE_BYTES;
    let mut images = FxHashSet::default();
    for (address, bytes) in trace.image().pages() {
        images.extend(
            page(address)..=page(address.saturating_add((bytes.len() as u64).saturating_sub(1))),
        );
    }
    let mut pages: FxHashSet<u64> = instructions.iter().map(|code| page(code.pc)).collect();
    pages.extend(&images);
    let [instructions, pages, images] = [instructions.len(), pages.len(), images.len()];
    let bytes = Program::bytes(instructions as u64, pages as u64, images as u64);
    let reserved = trace.budget().reserve(bytes, "the decoded instructions of the trace");
    reserved.map_err(|problem| TraceError::Memory { path: trace.path().to_owned(), problem }.into())
}
