//! What the stages of an operation do not show: why slots were lost before it, where its data came from,
//! what it waited for.

use sim_core::{DataSource, Happened, Lost, OperationKind};

use super::{PipeView, TracedOp};
use crate::stalls;

/// Cycles of waiting for an operand that are worth a note: shorter waits are the way to the pipes.
const WAIT_LEAST: u64 = 10;
/// Cycles from the retirement of a store to its write that are worth one.
const WRITE_LEAST: u64 = 10;

/// What an operation that is no wrong path's is called: its number, or what it is.
fn name_of(op: &TracedOp) -> String {
    op.number().map_or_else(|| String::from("the wrong path"), |number| number.to_string())
}

/// The notes, the most telling first. Empty for an operation of which there is nothing to say.
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
        notes.push(String::from("one operation with the one before"));
    } else if life.mops > 1 {
        notes.push(format!("{} slots", life.mops));
    }
    notes
}

/// The access: what it met, where its data was, how long it took.
fn memory(view: &PipeView, op: &TracedOp, notes: &mut Vec<String>) {
    let OperationKind::Access(_) = op.operation.kind else { return };
    let life = &op.operation.life;
    if life.happened.has(Happened::FAULT) {
        notes.push(String::from("fault"));
    }
    if life.translation_cycles > 1 {
        let walk = if life.happened.has(Happened::WALK) { "table walk" } else { "L1 TLB miss" };
        notes.push(format!("{walk}: {} cycles", life.translation_cycles));
    }
    if life.wrong_path && life.complete > op.end() {
        // What it would have met is known only to the model.
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
    } else if life.source > DataSource::L1 || life.happened.has(Happened::L1_MISS) {
        let cycles = life.complete.saturating_sub(life.issue);
        let (source, mut way) = (life.source.label(), "");
        if life.happened.has(Happened::L1_MISS) && !life.happened.has(Happened::L1_REFILL) {
            way = ", line was on its way";
        }
        let queued = match op.operation.wait.buffer {
            0 => String::new(),
            buffer => format!(", {buffer} of them for a free refill buffer"),
        };
        notes.push(format!("data from {source} after {cycles} cycles{queued}{way}"));
    }
}
