//! Notes on an operation beyond its stages: causes of lost slots before it, source of its data, and
//! operands that it waited for.

use sim_core::{AccessOutcome, DataSource, Lost, OperationKind};

use super::{PipeView, TracedOp};
use crate::stalls;

/// Fewest cycles of waiting for an operand that get a note: shorter waits are the latency to the
/// pipes.
const WAIT_LEAST: u64 = 10;
/// Fewest cycles from the retirement of a store to its write that get a note.
const WRITE_LEAST: u64 = 10;

/// Returns the number of an operation, or a name for the wrong path.
fn name_of(op: &TracedOp) -> String {
    op.number().map_or_else(|| String::from("the wrong path"), |number| number.to_string())
}

/// Returns the notes, the most important first. The list is empty for an operation without special
/// events.
pub fn notes(view: &PipeView, op: &TracedOp) -> Vec<String> {
    if let Some(own) = &op.in_order {
        return own.notes.clone();
    }
    let mut notes = Vec::new();
    for Lost { cause, root, slots, .. } in &op.lost {
        let noun = if *slots == 1 { "slot" } else { "slots" };
        notes.push(format!("{slots} {noun} lost: {}", stalls::reason(*cause, *root)));
    }
    memory(view, op, &mut notes);
    let timeline = &op.operation.timeline;
    if let Some(need) = view.waited_for(op) {
        let cycles = need.ready.min(op.end()).saturating_sub(timeline.rename + 1);
        if cycles >= WAIT_LEAST {
            notes.push(format!("waited {cycles} cycles for {}", name_of(&view.ops[need.place])));
        }
    }
    if timeline.mispredicted {
        notes.push(String::from("mispredicted"));
    }
    if op.operation.exception {
        notes.push(String::from("takes an exception"));
    } else if op.is_flushed() && !timeline.wrong_path {
        notes.push(String::from("not completed"));
    }
    if timeline.mops == 0 {
        notes.push(String::from("fused with the previous operation"));
    } else if timeline.mops > 1 {
        notes.push(format!("takes {} rename slots", timeline.mops));
    }
    notes
}

/// Adds notes on the access: outcome, source of the data, cycles.
fn memory(view: &PipeView, op: &TracedOp, notes: &mut Vec<String>) {
    let OperationKind::Access(_) = op.operation.kind else { return };
    let timeline = &op.operation.timeline;
    if timeline.outcome.has(AccessOutcome::FAULT) {
        notes.push(String::from("fault"));
    }
    if timeline.translation_cycles > 1 {
        let walk =
            if timeline.outcome.has(AccessOutcome::WALK) { "table walk" } else { "L1 TLB miss" };
        notes.push(format!("{walk}: {} cycles", timeline.translation_cycles));
    }
    if timeline.wrong_path && timeline.complete > op.end() {
        // The access was squashed before its result, which only the model knows.
        return;
    }
    if timeline.written > 0 {
        let cycles = timeline.written.saturating_sub(timeline.retire);
        if timeline.source > DataSource::L1 || cycles >= WRITE_LEAST {
            let source = timeline.source.label();
            notes.push(format!("written {cycles} cycles after it retired, line from {source}"));
        }
        return;
    }
    if timeline.source == DataSource::StoreQueue {
        let store = op.needs.iter().rev().map(|need| &view.ops[need.place]);
        let store = store.into_iter().find(|other| other.operation.timeline.written > 0);
        let from = store.map_or_else(|| String::from("an older store"), name_of);
        notes.push(format!("data forwarded from {from}"));
    } else if timeline.source > DataSource::L1 || timeline.outcome.has(AccessOutcome::L1_MISS) {
        let cycles = timeline.complete.saturating_sub(timeline.issue);
        let (source, mut pending) = (timeline.source.label(), "");
        if timeline.outcome.has(AccessOutcome::L1_MISS)
            && !timeline.outcome.has(AccessOutcome::L1_REFILL)
        {
            pending = ", line was pending";
        }
        let queued = match op.operation.wait.buffer {
            0 => String::new(),
            buffer => format!(", {buffer} of them for a free refill buffer"),
        };
        notes.push(format!("data from {source} after {cycles} cycles{queued}{pending}"));
    }
}
