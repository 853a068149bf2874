//! Text of gem5's out-of-order core (its debug flag `O3PipeView`): seven lines for each operation.
//! A cycle is 1000 ticks. Tick 0 means "not reached", so cycle 0 is tick 1000.

use std::io::{self, Write};

use sim_core::Cycle;

use super::{PipeView, TracedOp};

/// Ticks of a cycle, as in gem5 at 1 GHz, so that viewers detect the cycle.
const TICKS: u64 = 1000;

/// Writes the operations in the order of their fetch.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, view: &PipeView) -> io::Result<()> {
    let mut ops: Vec<&TracedOp> = view.ops.iter().collect();
    ops.sort_by_key(|op| op.operation.timeline.fetch);
    for (number, op) in ops.into_iter().enumerate() {
        write_op(out, number, op)?;
    }
    Ok(())
}

fn write_op(out: &mut impl Write, number: usize, op: &TracedOp) -> io::Result<()> {
    let timeline = &op.operation.timeline;
    // Stages that a flushed operation did not reach have tick 0. An aborted fetch never reached
    // rename.
    let reached =
        |cycle: Cycle| if cycle < op.end() && timeline.rename > 0 { tick(cycle) } else { 0 };
    let (pc, text) = (timeline.pc, op.instruction());
    let dispatch = (timeline.rename + 1).min(timeline.issue.max(timeline.rename));
    let retired = if op.is_flushed() { 0 } else { tick(timeline.retire) };
    let stored = if timeline.written > 0 { tick(timeline.written) } else { 0 };
    writeln!(out, "O3PipeView:fetch:{}:0x{pc:016x}:0:{number}:  {text}", tick(timeline.fetch))?;
    let decoded = match &op.in_order {
        Some(own) => own.spans.first().map_or(timeline.fetch, |fetch| fetch.to),
        None => (timeline.fetch + 1).min(timeline.front_end.max(timeline.fetch)),
    };
    writeln!(out, "O3PipeView:decode:{}", reached(decoded))?;
    writeln!(out, "O3PipeView:rename:{}", reached(timeline.rename))?;
    writeln!(out, "O3PipeView:dispatch:{}", reached(dispatch))?;
    writeln!(out, "O3PipeView:issue:{}", reached(timeline.issue))?;
    writeln!(out, "O3PipeView:complete:{}", reached(timeline.complete))?;
    writeln!(out, "O3PipeView:retire:{retired}:store:{stored}")
}

fn tick(cycle: Cycle) -> u64 {
    cycle.saturating_add(1).saturating_mul(TICKS)
}
