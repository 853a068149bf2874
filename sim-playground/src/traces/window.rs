//! Operations of a window of the trace.

use serde::Serialize;
use sim_machine::RunOptions;
use sim_machine::observe::OpWindow;

use super::{Part, session};
use crate::fault::Fault;
use crate::operations::Drawn;

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
    let options = RunOptions { warmup: 0, limit: Some(end + 1), roi: None };
    let mut program = session.program().map_err(|error| Fault::of("trace", error))?;
    let mut watch = OpWindow::new(0, from..end, &mut program);
    session
        .run_with_sink(&options, &mut |_| {}, &mut watch)
        .map_err(|error| Fault::of("trace", error))?;
    let ops = watch.finish().ops.into_iter().map(Drawn::from).collect();
    Ok(Window { instructions, ops })
}
