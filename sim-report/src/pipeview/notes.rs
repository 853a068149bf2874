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
    let mut notes = Vec::new();
    for Lost { cause, root, slots, .. } in &op.lost {
        let noun = if *slots == 1 { "slot" } else { "slots" };
        notes.push(format!("{slots} {noun} lost: {}", stalls::reason(*cause, *root)));
    }
    memory(view, op, &mut notes);
    let life = &op.operation.life;
    if let Some(need) = view.waited_for(op) {
        let cycles = need.ready.min(op.end()).saturating_sub(life.rename + 1);
        if cycles >= WAIT_LEAST {
            notes.push(format!("waited {cycles} cycles for {}", name_of(&view.ops[need.place])));
        }
    }
    if life.mispredicted {
        notes.push(String::from("mispredicted"));
    }
    if op.operation.exception {
        notes.push(String::from("takes an exception"));
    } else if op.is_flushed() && !life.wrong_path {
        notes.push(String::from("not completed"));
    }
    if life.mops == 0 {
        notes.push(String::from("fused with the previous operation"));
    } else if life.mops > 1 {
        notes.push(format!("{} slots", life.mops));
    }
    notes
}

/// Adds notes on the access: outcome, source of the data, cycles.
fn memory(view: &PipeView, op: &TracedOp, notes: &mut Vec<String>) {
    let OperationKind::Access(_) = op.operation.kind else { return };
    let life = &op.operation.life;
    if life.outcome.has(AccessOutcome::FAULT) {
        notes.push(String::from("fault"));
    }
    if life.translation_cycles > 1 {
        let walk = if life.outcome.has(AccessOutcome::WALK) { "table walk" } else { "L1 TLB miss" };
        notes.push(format!("{walk}: {} cycles", life.translation_cycles));
    }
    if life.wrong_path && life.complete > op.end() {
        // The access was squashed before its result, which only the model knows.
        return;
    }
    if life.written > 0 {
        let cycles = life.written.saturating_sub(life.retire);
        if life.source > DataSource::L1 || cycles >= WRITE_LEAST {
            let source = life.source.label();
            notes.push(format!("written {cycles} cycles after it retired, line from {source}"));
        }
        return;
    }
    if life.source == DataSource::StoreQueue {
        let store = op.needs.iter().rev().map(|need| &view.ops[need.place]);
        let store = store.into_iter().find(|other| other.operation.life.written > 0);
        let from = store.map_or_else(|| String::from("an older store"), name_of);
        notes.push(format!("data forwarded from {from}"));
    } else if life.source > DataSource::L1 || life.outcome.has(AccessOutcome::L1_MISS) {
        let cycles = life.complete.saturating_sub(life.issue);
        let (source, mut pending) = (life.source.label(), "");
        if life.outcome.has(AccessOutcome::L1_MISS) && !life.outcome.has(AccessOutcome::L1_REFILL) {
            pending = ", line was pending";
        }
        let queued = match op.operation.wait.buffer {
            0 => String::new(),
            buffer => format!(", {buffer} of them for a free refill buffer"),
        };
        notes.push(format!("data from {source} after {cycles} cycles{queued}{pending}"));
    }
}
