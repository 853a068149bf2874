//! Structure of the slot tree: the causes in each part of top-down, with descriptions (PMU guide
//! 4.7, 4.12).

use sim_core::PmuEvent::{self, *};
use sim_core::RootCause;
use sim_core::StallCause::{self, *};
use sim_machine::observe::SlotClass;

/// Node of the tree without counts.
pub(super) enum Shape {
    /// Sum of other nodes.
    Part {
        /// Last part of its place in the tree.
        id: &'static str,
        /// Name.
        name: &'static str,
        /// Description.
        meaning: &'static str,
        /// Events that count it.
        events: &'static [PmuEvent],
        /// Nodes of the sum.
        parts: &'static [Shape],
    },
    /// Single cause.
    Cause(SlotClass),
}

const fn empty(cause: StallCause) -> Shape {
    Shape::Cause(SlotClass::Empty(cause))
}

const fn stalled(root: RootCause) -> Shape {
    Shape::Cause(SlotClass::Stalled(root))
}

/// Root of the tree: all slots.
pub(super) const TREE: Shape = Shape::Part {
    id: "slots",
    name: "all rename slots",
    meaning: "Rename accepts five operations in each cycle. Every one of these slots is used or has a cause.",
    events: &[CPU_CYCLES],
    parts: &[RETIRING, BAD_SPECULATION, FRONTEND, BACKEND],
};

const RETIRING: Shape = Shape::Part {
    id: "retiring",
    name: "retiring",
    meaning: "Slots of operations that retired.",
    events: &[OP_RETIRED],
    parts: &[Shape::Cause(SlotClass::Retired)],
};

const BAD_SPECULATION: Shape = Shape::Part {
    id: "bad_speculation",
    name: "bad speculation",
    meaning: "Slots of squashed operations, and slots that stayed empty while the correct path was fetched. \
              The events count the latter for the front end.",
    events: &[OP_SPEC, OP_RETIRED],
    parts: &[
        Shape::Part {
            id: "mispredicts",
            name: "mispredicted branches",
            meaning: "A branch was mispredicted.",
            events: &[BR_MIS_PRED, BR_MIS_PRED_RETIRED],
            parts: &[
                Shape::Cause(SlotClass::SquashedByBranch),
                empty(FetchMispredict),
                empty(FetchNoTarget),
            ],
        },
        Shape::Part {
            id: "other_flushes",
            name: "other flushes",
            meaning: "Operations were executed again, or did not complete, without a mispredicted branch.",
            events: &[],
            parts: &[Shape::Cause(SlotClass::SquashedOther), empty(FetchMemoryOrder)],
        },
    ],
};

const FRONTEND: Shape = Shape::Part {
    id: "frontend",
    name: "front end bound",
    meaning: "Slots for which the front end delivered no operation, without the refill after a flush.",
    events: &[STALL_SLOT_FRONTEND, STALL_FRONTEND],
    parts: &[
        Shape::Part {
            id: "latency",
            name: "fetch latency",
            meaning: "Fetch waited for code, a translation or a redirect.",
            events: &[STALL_FRONTEND],
            parts: &[
                empty(FetchL1iMiss),
                empty(FetchItlbMiss),
                empty(FetchResteer),
                empty(FetchBtbBubble),
                empty(FetchMopSwitch),
                empty(FetchSerialize),
                empty(FetchException),
            ],
        },
        Shape::Part {
            id: "bandwidth",
            name: "fetch bandwidth",
            meaning: "Fetch delivered fewer operations in a cycle than rename accepts.",
            events: &[STALL_SLOT_FRONTEND],
            parts: &[empty(FetchPredictWidth), empty(FetchWidth)],
        },
        Shape::Part {
            id: "idle",
            name: "idle: nothing to fetch",
            meaning: "No instruction was available to fetch.",
            events: &[STALL_SLOT_FRONTEND],
            parts: &[empty(FetchAsleep), empty(FetchEnd)],
        },
    ],
};

const BACKEND: Shape = Shape::Part {
    id: "backend",
    name: "back end bound",
    meaning: "Slots whose operation was delivered and not accepted.",
    events: &[STALL_SLOT_BACKEND, STALL_BACKEND],
    parts: &[
        Shape::Part {
            id: "memory",
            name: "memory",
            meaning: "The back end waited for data beyond the L1 D-cache, a translation or a store.",
            events: &[STALL_BACKEND_MEM],
            parts: &[
                stalled(RootCause::LoadL2),
                stalled(RootCause::LoadSlc),
                stalled(RootCause::LoadPeer),
                stalled(RootCause::LoadRemote),
                stalled(RootCause::LoadDram),
                stalled(RootCause::LoadDevice),
                stalled(RootCause::Translation),
                stalled(RootCause::StoreDrain),
            ],
        },
        Shape::Part {
            id: "core",
            name: "core",
            meaning: "The back end waited for something other than memory.",
            events: &[STALL_SLOT_BACKEND],
            parts: &[
                stalled(RootCause::LoadL1),
                stalled(RootCause::Forwarding),
                stalled(RootCause::Unpipelined),
                stalled(RootCause::Latency),
                stalled(RootCause::Pipe),
                stalled(RootCause::Barrier),
                stalled(RootCause::System),
                stalled(RootCause::Dispatch),
                stalled(RootCause::OtherThread),
            ],
        },
    ],
};

/// Returns the places of all nodes of a tree.
#[cfg(test)]
pub(super) fn places(shape: &Shape) -> Vec<String> {
    match shape {
        Shape::Cause(class) => vec![super::names::class_names(*class).0],
        Shape::Part { id, parts, .. } => {
            let inner = parts.iter().flat_map(places).map(|place| format!("{id}.{place}"));
            std::iter::once((*id).to_owned()).chain(inner).collect()
        }
    }
}

/// Returns the description of a slot class.
pub(super) fn meaning_of(class: SlotClass) -> &'static str {
    match class {
        SlotClass::Retired => "The operation in the slot retired.",
        SlotClass::SquashedByBranch => {
            "The operation followed a mispredicted branch and was squashed."
        }
        SlotClass::SquashedOther => {
            "The operation was squashed and executed again, or ended in an exception before it completed."
        }
        SlotClass::Empty(cause) => meaning_of_cause(cause),
        SlotClass::Stalled(root) => meaning_of_root(root),
    }
}

fn meaning_of_root(root: RootCause) -> &'static str {
    match root {
        RootCause::FrontEnd => "The front end delivered no operation.",
        RootCause::LoadL2 => "A load missed the L1 D-cache and got its data from the L2.",
        RootCause::LoadSlc => "A load missed the L2 and got its data from the system level cache.",
        RootCause::LoadPeer => "A load missed the L2 and got its data from another core.",
        RootCause::LoadRemote => "A load missed the L2 and got its data from another chip.",
        RootCause::LoadDram => "A load missed every cache and got its data from DRAM.",
        RootCause::LoadDevice => "A load read a device or non-cacheable memory.",
        RootCause::Translation => {
            "An access missed the L1 TLB and waited for the L2 TLB or a table walk."
        }
        RootCause::StoreDrain => "A retired store waited to be written to the cache.",
        RootCause::LoadL1 => "A load that hits the L1 D-cache takes four cycles or more.",
        RootCause::Forwarding => "A load waited for an older store from which it reads.",
        RootCause::Unpipelined => "A divide or a square root occupied its pipe for several cycles.",
        RootCause::Latency => "An operation executed, or moved through the pipeline.",
        RootCause::Pipe => "An operation had its inputs, and other operations used its pipes.",
        RootCause::Barrier => "A barrier, an acquire or a release delayed younger accesses.",
        RootCause::System => {
            "A system register or maintenance operation delayed younger operations."
        }
        RootCause::Dispatch => {
            "Dispatch accepts a limited number of operations of one type in a cycle."
        }
        RootCause::OtherThread => "The thread waited for a thread with which it synchronizes.",
    }
}

/// Returns the description of a stall cause.
pub(super) fn meaning_of_cause(cause: StallCause) -> &'static str {
    match cause {
        FetchL1iMiss => "Fetch waited for a line that the L1 I-cache did not have.",
        FetchItlbMiss => "Fetch waited for a translation that the instruction TLB did not have.",
        FetchMispredict => "A branch was mispredicted, and the correct path was being fetched.",
        FetchNoTarget => {
            "An indirect branch had no predicted target, and fetch waited for its result."
        }
        FetchMemoryOrder => {
            "A load was executed before the older store that it reads from, and was fetched again."
        }
        FetchResteer => "No branch target buffer knew a taken branch, and decode redirected fetch.",
        FetchBtbBubble => {
            "The target of a taken branch came from the large, slower branch target buffer."
        }
        FetchPredictWidth => {
            "Prediction provides a limited number of code blocks and taken branches in a cycle."
        }
        FetchMopSwitch => "Fetch switched from the MOP cache to the longer path through decode.",
        FetchWidth => {
            "A fetch ended at the end of its line or at the decode width, with too few operations."
        }
        FetchSerialize => "A serializing instruction delayed the fetch of younger instructions.",
        FetchException => "An exception was taken or returned from, or the trace has a gap.",
        FetchAsleep => "The core slept in WFI or WFE.",
        FetchEnd => "The thread had not started or had ended.",
        ReorderBuffer => "No entry of the reorder buffer was free.",
        IssueQueueInt => "The issue queues of the branch and integer pipes were full.",
        IssueQueueMem => "The issue queues of the load and store pipes were full.",
        IssueQueueVec => "The issue queues of the vector pipes were full.",
        LoadQueue => "No entry of the load queue was free.",
        StoreQueue => "No entry of the store queue was free.",
        IntRegisters => "No physical register was free for a general result.",
        VecRegisters => "No physical register was free for a vector or predicate result.",
        FlagRegisters => "No physical register was free for the condition flags.",
        BranchQueue => "Too many branches had not retired.",
        DispatchWidth => "More operations of one type were ready than dispatch accepts in a cycle.",
        Serialize => "A barrier or another serializing operation blocked rename.",
    }
}

/// Returns the events that count a slot class; empty if there is none.
pub(super) fn events_of(class: SlotClass) -> &'static [PmuEvent] {
    match class {
        SlotClass::Retired => &[OP_RETIRED],
        SlotClass::SquashedByBranch => &[OP_SPEC, OP_RETIRED, BR_MIS_PRED],
        SlotClass::SquashedOther => &[OP_SPEC, OP_RETIRED],
        SlotClass::Empty(cause) => match cause {
            FetchL1iMiss => &[L1I_CACHE_REFILL],
            FetchItlbMiss => &[L1I_TLB_REFILL, ITLB_WALK],
            FetchMispredict => &[BR_MIS_PRED],
            FetchNoTarget | FetchResteer => &[BR_MIS_PRED, BR_PRED],
            FetchSerialize => &[ISB_SPEC],
            FetchException => &[EXC_TAKEN, EXC_RETURN],
            _ => &[],
        },
        SlotClass::Stalled(root) => match root {
            RootCause::LoadL2 => &[L1D_CACHE_REFILL],
            RootCause::LoadSlc => &[L2D_CACHE_REFILL, STALL_BACKEND_MEM, LL_CACHE_RD],
            RootCause::LoadPeer => &[L2D_CACHE_REFILL, STALL_BACKEND_MEM],
            RootCause::LoadRemote => &[REMOTE_ACCESS, STALL_BACKEND_MEM],
            RootCause::LoadDram => &[L2D_CACHE_REFILL, STALL_BACKEND_MEM, LL_CACHE_MISS_RD],
            RootCause::Translation => &[L1D_TLB_REFILL, DTLB_WALK],
            RootCause::StoreDrain => &[L1D_CACHE_REFILL_WR],
            RootCause::Barrier => &[DSB_SPEC, DMB_SPEC],
            _ => &[],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::observe::TopDownCategory;

    fn collect(shape: &Shape, above: &str, found: &mut Vec<(SlotClass, String)>) {
        match shape {
            Shape::Cause(class) => found.push((*class, above.to_owned())),
            Shape::Part { id, parts, .. } => {
                parts.iter().for_each(|part| collect(part, &format!("{above}/{id}"), found));
            }
        }
    }

    #[test]
    fn every_class_occurs_once_in_its_category() {
        let mut found = Vec::new();
        collect(&TREE, "", &mut found);
        assert_eq!(found.len(), SlotClass::COUNT);
        for class in SlotClass::all() {
            let (_, place) = found.iter().find(|(own, _)| *own == class).expect("it has a place");
            let category = match class.category() {
                TopDownCategory::Retiring => "/slots/retiring",
                TopDownCategory::BadSpeculation => "/slots/bad_speculation/",
                TopDownCategory::Frontend => "/slots/frontend/",
                TopDownCategory::Backend => "/slots/backend/",
            };
            assert!(place.starts_with(category), "{class:?} in {place}");
            assert!(meaning_of(class).ends_with('.'));
        }
    }
}
