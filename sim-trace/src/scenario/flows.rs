//! The numbered event lists of the guide's flows 5.1 to 5.8, for the `path` of a case.
//!
//! 5.2 and 5.3 have no printed list: they mirror 5.1 and keep its numbers. A path says which steps
//! an access took: their events count at least once, those of the flow's other steps not at all.

use sim_core::PmuEvent;
use sim_core::PmuEvent::*;

use super::cursor::Cursor;
use super::error::{Fault, Problem};

/// One flow: its steps in the order in which an access takes them.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Section of the guide.
    pub section: &'static str,
    /// Number and events of each step.
    pub steps: &'static [(u64, &'static [PmuEvent])],
}

/// Every flow of chapter 5.
#[rustfmt::skip]
pub const FLOWS: [Flow; 8] = [
    Flow { section: "5.1", steps: &[
        (1, &[LD_SPEC, MEM_ACCESS_RD]),
        (2, &[L1D_TLB_RD]),
        (3, &[L2D_TLB_RD]),
        (5, &[DTLB_WALK]),
        (6, &[L2D_TLB_REFILL_RD]),
        (4, &[L1D_TLB_REFILL_RD]),
    ] },
    Flow { section: "5.2", steps: &[
        (1, &[ST_SPEC, MEM_ACCESS_WR]),
        (2, &[L1D_TLB_WR]),
        (3, &[L2D_TLB_WR]),
        (5, &[DTLB_WALK]),
        (6, &[L2D_TLB_REFILL_WR]),
        (4, &[L1D_TLB_REFILL_WR]),
    ] },
    Flow { section: "5.3", steps: &[
        (1, &[L1I_TLB]),
        (3, &[L2D_TLB_RD]),
        (5, &[ITLB_WALK]),
        (6, &[L2D_TLB_REFILL_RD]),
        (4, &[L1I_TLB_REFILL]),
    ] },
    Flow { section: "5.4", steps: &[
        (1, &[L1D_CACHE_RD, MEM_ACCESS_RD]),
        (2, &[L1D_CACHE_REFILL_RD]),
        (3, &[L1D_CACHE_REFILL_OUTER]),
        (4, &[L1D_CACHE_WB_VICTIM]),
    ] },
    Flow { section: "5.5", steps: &[
        (1, &[L1D_CACHE_WR, MEM_ACCESS_WR]),
        (2, &[L1D_CACHE_REFILL_WR]),
        (3, &[L1D_CACHE_REFILL_OUTER]),
        (4, &[L1D_CACHE_WB_VICTIM]),
    ] },
    Flow { section: "5.6", steps: &[
        (1, &[L1I_CACHE]),
        (2, &[L1I_CACHE_REFILL]),
    ] },
    Flow { section: "5.7", steps: &[
        (1, &[L2D_CACHE_RD]),
        (2, &[BUS_ACCESS_RD]),
        (3, &[REMOTE_ACCESS]),
        (4, &[L2D_CACHE_REFILL_RD, L2D_CACHE_REFILL]),
        (5, &[L2D_CACHE_WB_VICTIM]),
    ] },
    Flow { section: "5.8", steps: &[
        (1, &[L2D_CACHE_WR]),
        (2, &[BUS_ACCESS_WR]),
        (3, &[REMOTE_ACCESS]),
        (4, &[L2D_CACHE_REFILL_RD, L2D_CACHE_REFILL]),
        (5, &[L2D_CACHE_WB_VICTIM]),
    ] },
];

/// What a path says of an event.
pub(super) struct PathEvent {
    pub(super) event: PmuEvent,
    /// The event is on the path (at least one), else beside it (none).
    pub(super) taken: bool,
}

/// Reads `"5.1: 1,2,3; 5.4: 1"` and says which events are on the paths and which beside them.
pub(super) fn parse_path(cursor: &mut Cursor) -> Result<Vec<PathEvent>, Fault> {
    let mut events: Vec<PathEvent> = Vec::new();
    loop {
        for step in parse_flow(cursor)? {
            match events.iter_mut().find(|known| known.event == step.event) {
                // Two flows share an event: one of them taking it is enough.
                Some(known) => known.taken |= step.taken,
                None => events.push(step),
            }
        }
        if cursor.is_done() {
            return Ok(events);
        }
        if !cursor.take(";") {
            return Err(cursor.expected("';' before the next flow"));
        }
    }
}

fn parse_flow(cursor: &mut Cursor) -> Result<Vec<PathEvent>, Fault> {
    let mut ahead = cursor.clone();
    let section = ahead.word();
    let flow = FLOWS.iter().find(|flow| Some(flow.section) == section);
    let Some(flow) = flow else {
        return Err(cursor.expected("a flow from 5.1 to 5.8, as in \"5.1: 1,2\""));
    };
    *cursor = ahead;
    if !cursor.take(":") {
        return Err(cursor.expected("':' after the flow"));
    }
    let mut taken = vec![false; flow.steps.len()];
    let mut from = 0;
    loop {
        let offset = cursor.offset();
        let number = cursor.need_number("the number of a step")?;
        let found = flow.steps[from..].iter().position(|(step, _)| *step == number);
        let Some(skipped) = found else {
            return Err(Fault::new(offset, bad_path(flow, number)));
        };
        taken[from + skipped] = true;
        from += skipped + 1;
        if !cursor.take(",") {
            break;
        }
    }
    let of_step = |((_, events), taken): (&(u64, &'static [PmuEvent]), bool)| {
        events.iter().map(move |event| PathEvent { event: *event, taken })
    };
    Ok(flow.steps.iter().zip(taken).flat_map(of_step).collect())
}

fn bad_path(flow: &Flow, step: u64) -> Problem {
    let order: Vec<String> = flow.steps.iter().map(|(number, _)| number.to_string()).collect();
    Problem::BadPath { flow: flow.section.to_owned(), step, order: order.join(",") }
}
