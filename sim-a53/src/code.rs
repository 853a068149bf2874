//! Static instructions with their timing, by number and by address.

use sim_core::Reserved;
use sim_isa::{BranchKind, Program};
use sim_trace::{TraceError, TraceFile};

use crate::config::PipelineConfig;
use crate::error::A53Error;
use crate::timing::Timing;

/// Most instructions of a wrong path that look up the data cache: one beside the branch, two in the
/// next cycle.
pub(crate) const WRONG_PATH: usize = 3;

/// Code that runs.
pub(crate) struct Code {
    program: Program,
    timings: Vec<Timing>,
    /// Its memory in the trace's budget.
    _memory: Vec<Reserved>,
}

impl Code {
    /// Returns code without instructions.
    pub(crate) fn new() -> Code {
        Code { program: Program::new(), timings: Vec::new(), _memory: Vec::new() }
    }

    /// Returns the static instructions of a trace, by their numbers there, and those of its code
    /// image that follow a branch whichever way it goes.
    ///
    /// # Errors
    /// If the trace has an instruction twice, or the code exceeds the memory budget.
    pub(crate) fn of_trace(trace: &TraceFile, config: &PipelineConfig) -> Result<Code, A53Error> {
        let mut code = Code { _memory: vec![reserve_trace(trace)?], ..Code::new() };
        for (address, bytes) in trace.image().pages() {
            code.program.attach_image(address, bytes);
        }
        let insts = trace.statics().insts();
        for (number, inst) in insts.iter().enumerate() {
            let id = code.program.intern(inst.pc, inst.word);
            if id as usize != number {
                let trace = trace.path().to_string_lossy().into_owned();
                return Err(A53Error::DoubledInstruction { trace, id });
            }
        }
        for id in 0..insts.len() as u32 {
            code.fetch_both_ways(id);
        }
        code._memory.push(reserve(trace, (code.program.len() - insts.len()) as u64, 0, 0)?);
        let all = 0..code.program.len() as u32;
        code.timings = all.map(|id| Timing::of(&code.program, id, config)).collect();
        Ok(code)
    }

    /// Decodes the words that may run as a wrong path after a branch.
    fn fetch_both_ways(&mut self, id: u32) {
        let (pc, branch) = (self.program.pc(id), self.program.inst(id).branch);
        let is_direct = matches!(branch, BranchKind::Direct | BranchKind::Call);
        let starts = match branch {
            BranchKind::Conditional => [Some(pc.wrapping_add(4)), Some(self.program.target(id))],
            _ if is_direct => [None, Some(self.program.target(id))],
            _ => return,
        };
        for start in starts.into_iter().flatten() {
            for at in 0..WRONG_PATH as u64 {
                self.program.fetch(start.wrapping_add(4 * at));
            }
        }
    }

    /// Adds a word, if it is new, and returns its number.
    pub(crate) fn place(&mut self, pc: u64, word: u32, config: &PipelineConfig) -> u32 {
        let id = self.program.intern(pc, word);
        if id as usize == self.timings.len() {
            self.timings.push(Timing::of(&self.program, id, config));
        }
        id
    }

    /// Returns the timing of an instruction.
    #[inline(always)]
    pub(crate) fn timing(&self, id: u32) -> &Timing {
        &self.timings[id as usize]
    }

    /// Returns the address and the word of an instruction.
    pub(crate) fn place_of(&self, id: u32) -> (u64, u32) {
        (self.program.pc(id), self.program.inst(id).word)
    }

    /// Returns the number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.timings.len()
    }

    /// Returns the number and the timing of the instruction at an address.
    pub(crate) fn at(&self, pc: u64) -> Option<(u32, &Timing)> {
        let id = self.program.at(pc)?;
        self.timings.get(id as usize).map(|timing| (id, timing))
    }
}

/// Reserves the memory of the static instructions and the code image of a trace.
fn reserve_trace(trace: &TraceFile) -> Result<Reserved, TraceError> {
    let page = |address: u64| address / Program::PAGE_BYTES;
    let insts = trace.statics().insts();
    let mut images = Vec::new();
    for (address, bytes) in trace.image().pages() {
        let last = address.saturating_add((bytes.len() as u64).saturating_sub(1));
        images.extend(page(address)..=page(last));
    }
    let mut pages: Vec<u64> = insts.iter().map(|code| page(code.pc)).collect();
    pages.extend(&images);
    for list in [&mut pages, &mut images] {
        list.sort_unstable();
        list.dedup();
    }
    reserve(trace, insts.len() as u64, pages.len() as u64, images.len() as u64)
}

/// Reserves the memory of instructions, of their pages and of pages of the code image.
fn reserve(trace: &TraceFile, insts: u64, pages: u64, images: u64) -> Result<Reserved, TraceError> {
    let timings = insts.saturating_mul(size_of::<Timing>() as u64);
    let bytes = Program::bytes(insts, pages, images).saturating_add(timings);
    let reserved = trace.budget().reserve(bytes, "the decoded instructions of the trace");
    reserved.map_err(|problem| TraceError::Memory { path: trace.path().to_owned(), problem })
}
