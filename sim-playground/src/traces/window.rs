//! Operations of a window of the trace.

use serde::Serialize;
use sim_core::{EventSink, Lost, Notice, Operation, PmuEvent};
use sim_isa::Program;
use sim_machine::RunOptions;

use super::{Part, session};
use crate::fault::Fault;
use crate::operations::{Drawn, Follower};

/// Most instructions of a window.
const MOST: u64 = 4000;

/// Operations in rename order.
#[derive(Debug, Serialize)]
pub(crate) struct Window {
    /// Instructions of the thread.
    instructions: u64,
    ops: Vec<Drawn>,
}

/// Runs the trace to the end of the window and returns the operations in it.
pub(crate) fn pipeline(trace: &[u8], part: &Part, from: u64, n: u64) -> Result<Window, Fault> {
    if n == 0 || n > MOST {
        let text = format!("a window has 1 to {MOST} instructions, not {n}");
        return Err(Fault::of("count", text));
    }
    let session = session(trace, &part.machine)?;
    let instructions = session.trace().streams().first().map_or(0, |stream| stream.instructions);
    if from >= instructions {
        let text =
            format!("the first thread has {instructions} instructions: begin before the last");
        return Err(Fault::of("from", text));
    }
    let end = from.saturating_add(n);
    let mut watch = Watch { from, end, core: 0, lost: Vec::new(), ops: Vec::new() };
    let options = RunOptions { warmup: 0, limit: Some(end + 1), roi: None };
    let ran = session.run_with_sink(&options, &mut |_| {}, &mut watch);
    ran.map_err(|error| Fault::of("trace", error))?;
    let mut program = session.program().map_err(|error| Fault::of("trace", error))?;
    let program: &mut Program = &mut program;
    let known = program.len();
    let mut follower = Follower::new();
    let mut ops = Vec::new();
    for (operation, lost) in &watch.ops {
        let id = operation.timeline.inst;
        let id =
            if (id as usize) < known { Some(id) } else { program.fetch(operation.timeline.pc) };
        let word = id.map(|id| program.inst(id).word);
        ops.push(follower.draw(operation, word, None, lost));
    }
    Ok(Window { instructions, ops })
}

/// Sink that keeps the operations of the window on the first core.
struct Watch {
    from: u64,
    end: u64,
    core: usize,
    lost: Vec<Lost>,
    ops: Vec<(Operation, Vec<Lost>)>,
}

impl EventSink for Watch {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core,
            Notice::Lost(lost) if self.core == 0 => self.lost.push(lost),
            Notice::Squashed if self.core == 0 => self.lost.clear(),
            Notice::Operation(operation) if self.core == 0 => {
                let lost = std::mem::take(&mut self.lost);
                if (self.from..self.end).contains(&operation.number) {
                    self.ops.push((*operation, lost));
                }
            }
            _ => {}
        }
    }
}
