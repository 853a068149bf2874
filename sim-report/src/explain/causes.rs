//! Explanations of the stall causes of empty rename slots. PMU guide 4.7; the finer causes are the
//! model's.

use sim_core::StallCause;

use super::{EventRelation, Explanation, Index, Kind, Origin, Pitfall};

/// Explains a stall cause.
pub fn cause(cause: StallCause) -> Explanation {
    let (_, meaning, remedy) = WORDS[cause as usize];
    let evidence = Index::get().cause(cause.label()).cloned().unwrap_or_default();
    let (side, events): (_, &[&str]) = match cause.is_frontend() {
        true => ("front end", &["STALL_SLOT_FRONTEND", "STALL_SLOT", "STALL_FRONTEND", "STALL"]),
        false => ("back end", &["STALL_SLOT_BACKEND", "STALL_SLOT", "STALL_BACKEND", "STALL"]),
    };
    let counted = EventRelation {
        label: String::from("its slots are in"),
        origin: Origin::Printed,
        others: events.iter().map(|name| (*name).to_owned()).collect(),
    };
    let related = EventRelation {
        label: String::from("see also"),
        origin: Origin::Inferred,
        others: related_events(cause).iter().map(|name| (*name).to_owned()).collect(),
    };
    let relations = [counted, related];
    Explanation {
        kind: Kind::Cause,
        name: cause.label().to_owned(),
        code: None,
        title: format!("{side}: an empty rename slot"),
        section: String::from("4.7"),
        unit: String::from("rename slots, five in each cycle"),
        formula: None,
        counts: vec![meaning.to_owned()],
        excludes: vec![String::from(
            "slots with another cause: each empty slot has exactly one cause",
        )],
        relations: relations.into_iter().filter(|relation| !relation.others.is_empty()).collect(),
        other_names: Vec::new(),
        pitfalls: vec![
            Pitfall::new(
                "no event of its own",
                "the PMU separates only front end and back end; the model alone knows the cause: n2sim stat --stalls",
            ),
            Pitfall::new("remedy", remedy),
        ],
        raised: evidence.raised,
        scenarios: evidence.scenarios,
        more_scenarios: evidence.more_scenarios,
        example: evidence.example,
    }
}

/// Reason for the wait and remedy in the program, one row for each cause in order.
#[rustfmt::skip]
const WORDS: [(StallCause, &str, &str); StallCause::COUNT] = [
    (StallCause::FetchL1iMiss, "the line of the next instruction was not in the L1 I-cache", "smaller or better ordered code: hot functions next to each other"),
    (StallCause::FetchItlbMiss, "the page of the next instruction was not in the L1 I-side TLB", "large pages for code, or hot functions on fewer pages"),
    (StallCause::FetchMispredict, "a branch was mispredicted: the front end restarts on the correct path", "fewer branches that depend on data: conditional selects, sorted data"),
    (StallCause::FetchNoTarget, "an indirect branch had no predicted target: fetch waited until it executed", "fewer targets for one indirect branch"),
    (StallCause::FetchMemoryOrder, "a load was executed before an older store to its address: it and all younger instructions were fetched again", "stores and loads of one address further apart"),
    (StallCause::FetchResteer, "no branch target buffer knew a taken branch: decode found it and redirected fetch", "less code between the uses of a branch"),
    (StallCause::FetchBtbBubble, "only the large, slower branch target buffer knew the target of a taken branch", "fewer taken branches: likely paths that fall through"),
    (StallCause::FetchPredictWidth, "prediction names two windows and one taken branch a cycle, and was not ahead of fetch", "longer runs of code between taken branches"),
    (StallCause::FetchMopSwitch, "code left the MOP cache for the longer path through decode", "hot loops that fit the MOP cache"),
    (StallCause::FetchWidth, "fewer instructions arrived in a cycle than there are slots: the end of a line, or four-wide decode", "loops aligned to lines; code that stays in the MOP cache"),
    (StallCause::FetchSerialize, "fetch restarts after an instruction that serializes, such as ISB", "fewer ISB and writes of system registers"),
    (StallCause::FetchException, "fetch restarts after an exception or its return, or at a gap in the trace", "fewer system calls and faults"),
    (StallCause::FetchAsleep, "the core sleeps in WFI or WFE", "none: the program waits"),
    (StallCause::FetchEnd, "the window begins or ends here, without instructions to fetch", "none: it is negligible in long windows"),
    (StallCause::ReorderBuffer, "every entry of the reorder buffer is in use; the stall table shows the wait of its oldest operation", "depends on the wait of the oldest operation: fewer misses, shorter chains"),
    (StallCause::IssueQueueInt, "the issue queues of the branch and integer pipes are full", "shorter chains of integer operations, more independent work"),
    (StallCause::IssueQueueMem, "the issue queues of the load and store pipes are full", "addresses that are known early, fewer accesses"),
    (StallCause::IssueQueueVec, "the issue queues of the vector pipes are full", "more accumulators: independent chains of vector operations"),
    (StallCause::LoadQueue, "every entry of the load queue holds a load that has not retired", "fewer loads after a long miss; wider loads"),
    (StallCause::StoreQueue, "every entry of the store queue holds a store that is not written yet", "fewer stores to lines that miss; whole lines written at once"),
    (StallCause::IntRegisters, "no physical register is free for a general result", "fewer results in flight after a long miss"),
    (StallCause::VecRegisters, "no physical register is free for a vector or predicate result", "fewer vector results in flight after a long miss"),
    (StallCause::FlagRegisters, "no physical register is free for the condition flags", "fewer flag-setting instructions"),
    (StallCause::BranchQueue, "too many branches have not retired", "fewer branches after a long miss"),
    (StallCause::DispatchWidth, "more operations of one type are ready than dispatch takes in a cycle", "a better mix of loads, integer and vector work"),
    (StallCause::Serialize, "a barrier or a serializing operation blocks younger operations", "weaker barriers: load-acquire and store-release in place of DMB and DSB"),
];

/// Returns events that increase with the cause.
fn related_events(cause: StallCause) -> &'static [&'static str] {
    match cause {
        StallCause::FetchL1iMiss => &["L1I_CACHE_REFILL"],
        StallCause::FetchItlbMiss => &["L1I_TLB_REFILL", "ITLB_WALK"],
        StallCause::FetchMispredict | StallCause::FetchNoTarget => &["BR_MIS_PRED_RETIRED"],
        StallCause::FetchResteer => &["BR_MIS_PRED"],
        StallCause::FetchException => &["EXC_TAKEN"],
        StallCause::ReorderBuffer | StallCause::BranchQueue | StallCause::LoadQueue => {
            &["STALL_BACKEND_MEM", "L1D_CACHE_REFILL"]
        }
        StallCause::StoreQueue => &["L1D_CACHE_REFILL_WR"],
        StallCause::FetchSerialize => &["ISB_SPEC"],
        StallCause::Serialize => &["DSB_SPEC", "DMB_SPEC"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_own_row() {
        assert!(WORDS.iter().zip(StallCause::ALL).all(|(row, cause)| row.0 == cause));
    }
}
