//! Reasons why an execution did not raise events that one might expect: rules by kind of
//! instruction, each with a check of its evidence. An event that no rule explains is left out.

use serde::Serialize;
use sim_core::PmuEvent::{self, *};
use sim_core::access::AccessOutcome;
use sim_core::operation::{AccessKind, AccessShape, BranchCourse};
use sim_core::{Activity, DataSource, FlowEdge, Operation, OperationKind};

use super::reasons::is_squashed;
use super::{Execution, Setting};

/// Event that was not raised.
#[derive(Clone, Debug, Serialize)]
pub struct Absent {
    /// Mnemonic.
    pub event: String,
    /// Reason.
    pub because: String,
}

/// Collector of the rules that apply.
struct Rules<'a> {
    execution: &'a Execution,
    found: Vec<Absent>,
}

/// Returns every event that one might expect and that has a reason to be absent.
pub(super) fn all(execution: &Execution, setting: Setting) -> Vec<Absent> {
    let mut rules = Rules { execution, found: Vec::new() };
    rules.fetch(setting);
    if let Some(operation) = &execution.operation {
        rules.retirement(operation);
        match operation.kind {
            OperationKind::Access(shape) => rules.access(operation, &shape),
            OperationKind::Branch(course) => rules.branch(operation, &course),
            OperationKind::Other => {}
        }
    }
    rules.preload();
    rules.beyond_l1();
    rules.found
}

impl Rules<'_> {
    fn has(&self, event: PmuEvent) -> bool {
        self.execution.counts.raised(event) > 0
    }

    fn took(&self, edge: FlowEdge) -> bool {
        self.execution.flows.taken(edge) > 0
    }

    /// Records that an event is absent, unless it was raised.
    fn missing(&mut self, event: PmuEvent, because: &str) {
        if !self.has(event) {
            let event = event.mnemonic().to_owned();
            self.found.push(Absent { event, because: because.to_owned() });
        }
    }

    fn fetch(&mut self, setting: Setting) {
        if self.has(L1I_CACHE) {
            if self.took(FlowEdge::L1iHit) && !self.took(FlowEdge::L1iMiss) {
                self.missing(
                    L1I_CACHE_REFILL,
                    "its line was in the L1 I-cache, or a refill was pending",
                );
            }
            if self.took(FlowEdge::FetchTlbHit) && !self.took(FlowEdge::FetchTlbMiss) {
                self.missing(
                    L1I_TLB_REFILL,
                    "its page was in the L1 I-side TLB, or a refill was pending",
                );
            }
        } else if setting.is_step {
            if self.execution.operation.is_some() {
                self.missing(
                    L1I_CACHE,
                    "steps of a scenario are fetched for free unless the case has its own fetches",
                );
            }
        } else {
            self.missing(
                L1I_CACHE,
                "its line was fetched for an earlier instruction: one access serves a whole line",
            );
        }
    }

    fn retirement(&mut self, operation: &Operation) {
        if operation.timeline.mops == 0 {
            self.missing(
                OP_SPEC,
                "it shares the slot of the previous instruction: a fused pair is one operation",
            );
        }
        if operation.timeline.retired {
            return;
        }
        let because = match is_squashed(operation) {
            true => "its path was squashed: executed, never retired",
            false => {
                "it ended in an exception, whose handler returns to it: this time it did not retire"
            }
        };
        self.missing(INST_RETIRED, because);
        self.missing(OP_RETIRED, because);
    }

    fn access(&mut self, operation: &Operation, shape: &AccessShape) {
        let kind = shape.kind;
        let reads = kind != AccessKind::Store && kind != AccessKind::ZeroLine;
        let writes = kind != AccessKind::Load;
        if reads && kind != AccessKind::AtomicStore {
            self.translation(L1D_TLB_RD, L1D_TLB_REFILL_RD, READ_EDGES, operation);
            self.read(operation);
        }
        if writes {
            self.translation(L1D_TLB_WR, L1D_TLB_REFILL_WR, WRITE_EDGES, operation);
            self.write(operation);
        }
        if shape.exclusive && kind == AccessKind::Store {
            self.missing(STREX_PASS_SPEC, "it had lost its reservation and stored no data");
            self.missing(STREX_FAIL_SPEC, "it still had its reservation");
        }
        match (shape.aligned, reads) {
            (true, true) => {
                self.missing(UNALIGNED_LD_SPEC, "its address is a multiple of its size")
            }
            (true, false) => {
                self.missing(UNALIGNED_ST_SPEC, "its address is a multiple of its size")
            }
            (false, true) => {
                self.missing(LD_ALIGN_LAT, "unaligned, but within one line: no second cycle")
            }
            (false, false) => {
                self.missing(ST_ALIGN_LAT, "unaligned, but within one page: no second cycle")
            }
        }
    }

    fn translation(
        &mut self,
        lookup: PmuEvent,
        refill: PmuEvent,
        edges: Edges,
        operation: &Operation,
    ) {
        if !self.has(lookup) {
            return self.missing(lookup, no_access(operation));
        }
        if self.took(edges.walk_fault) {
            return self.missing(refill, "the walk found no translation: no entry is allocated");
        }
        if !self.took(edges.l1_miss) {
            self.missing(
                refill,
                "its page was in the L1 D-side TLB, or an earlier access had a refill pending",
            );
            self.missing(DTLB_WALK, "the L1 D-side TLB held the page");
        } else if self.took(edges.l2_hit) {
            self.missing(DTLB_WALK, "the L2 TLB held the page: a refill without a walk");
        }
    }

    fn read(&mut self, operation: &Operation) {
        let timeline = &operation.timeline;
        if !self.has(L1D_CACHE_RD) {
            let because = match timeline.source {
                DataSource::Device => "its memory is not cached: no cache is looked up",
                _ if timeline.outcome.has(AccessOutcome::FAULT) => {
                    "its translation failed: no cache is looked up"
                }
                _ => no_access(operation),
            };
            return self.missing(L1D_CACHE_RD, because);
        }
        let because = match timeline.source {
            DataSource::StoreQueue => {
                "an older store in the store queue had its data; the line was present or pending"
            }
            _ if timeline.outcome.has(AccessOutcome::L1_MISS) => {
                "its line was already pending: the refill counts for the earlier access or prefetch"
            }
            _ => "its line was in the L1 D-cache",
        };
        self.missing(L1D_CACHE_REFILL_RD, because);
        if self.took(FlowEdge::L1dReadNoVictim) && !self.took(FlowEdge::L1dReadVictim) {
            self.missing(L1D_CACHE_WB_VICTIM, "its set had room, or the evicted line was clean");
        }
    }

    fn write(&mut self, operation: &Operation) {
        if !self.has(L1D_CACHE_WR) {
            let timeline = &operation.timeline;
            let because = match timeline.source {
                _ if timeline.outcome.has(AccessOutcome::FAULT) => {
                    "its translation failed: no data is written"
                }
                _ if is_squashed(operation) => {
                    "a store writes after it retires, and this one never retired"
                }
                DataSource::Device => "its memory is not cached: no cache is looked up",
                _ => no_access(operation),
            };
            return self.missing(L1D_CACHE_WR, because);
        }
        let because = match () {
            () if self.took(FlowEdge::L1dWriteStream) => {
                "whole lines are written without a read: the write went to the L2 (write streaming)"
            }
            () if self.took(FlowEdge::L1dWriteHit) => {
                "its line was in the L1 D-cache, or a refill was pending"
            }
            // The read half of an atomic refills the line.
            () => return,
        };
        self.missing(L1D_CACHE_REFILL_WR, because);
    }

    fn branch(&mut self, operation: &Operation, course: &BranchCourse) {
        let timeline = &operation.timeline;
        if self.has(BR_MIS_PRED) {
            let because = match timeline.retired {
                true => "decode found its target: no younger instruction was squashed",
                false => "its own path was squashed",
            };
            self.missing(BR_MIS_PRED_RETIRED, because);
        } else if !course.exception_return {
            self.missing(BR_MIS_PRED, "it was predicted correctly");
        }
        if !course.taken {
            self.missing(PC_WRITE_SPEC, "it was not taken: the next PC was sequential");
        }
        if course.exception_return {
            self.missing(BR_RETIRED, "an exception return is not a branch here");
        } else if is_squashed(operation) {
            self.missing(BR_RETIRED, "its path was squashed");
        }
    }

    fn preload(&mut self) {
        if self.has(L1D_TLB_RD) || !self.took(FlowEdge::L1dFillNoVictim) {
            return;
        }
        if self.execution.operation.is_some_and(|operation| operation.kind == OperationKind::Other)
        {
            self.missing(MEM_ACCESS_RD, "a preload is not an access of a load");
            self.missing(
                L1D_CACHE_REFILL_RD,
                "lines that a preload brings in count neither then nor at their first use",
            );
        }
    }

    /// Explains events beyond an L1 cache that its refill did not raise.
    fn beyond_l1(&mut self) {
        let looked = self.has(L2D_CACHE_RD) || self.has(L2D_CACHE_WR);
        if !looked {
            return;
        }
        if self.took(FlowEdge::L2ReadHit) && !self.took(FlowEdge::L2ReadMiss) {
            self.missing(L2D_CACHE_REFILL_RD, "the L2 held the line, or a refill was pending");
            self.missing(BUS_ACCESS_RD, "no request had to leave the core");
        }
        if self.has(L2D_CACHE_REFILL_RD) {
            self.missing(LL_CACHE_RD, "CPUECTLR.EXTLLC is clear (semantics.extllc)");
            self.missing(
                L2D_CACHE_REFILL_WR,
                "never counts on this core: a store that misses reads its line",
            );
        }
        if self.has(LL_CACHE_RD) {
            self.missing(LL_CACHE_MISS_RD, "the system level cache held the line");
        }
    }
}

/// Edges that show the path of a translation.
#[derive(Clone, Copy)]
struct Edges {
    l1_miss: FlowEdge,
    l2_hit: FlowEdge,
    walk_fault: FlowEdge,
}

const READ_EDGES: Edges = Edges {
    l1_miss: FlowEdge::LoadTlbMiss,
    l2_hit: FlowEdge::LoadL2TlbHit,
    walk_fault: FlowEdge::LoadWalkFault,
};

const WRITE_EDGES: Edges = Edges {
    l1_miss: FlowEdge::StoreTlbMiss,
    l2_hit: FlowEdge::StoreL2TlbHit,
    walk_fault: FlowEdge::StoreWalkFault,
};

/// Returns the reason why an access never reached the memory system.
fn no_access(operation: &Operation) -> &'static str {
    match operation {
        _ if operation.predicated && operation.activity == Activity::None => {
            "its predicate disables every element: no access is made"
        }
        _ if is_squashed(operation) => {
            "its address on a wrong path is unknown, or its path was squashed before it could issue"
        }
        _ => "it made no access: the trace has no address for it",
    }
}
