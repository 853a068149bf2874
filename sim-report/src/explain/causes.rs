//! Why a rename slot stayed empty: the causes of the stall ledger. Guide: 4.7; the finer causes are the model's.

use sim_core::StallCause;

use super::{EventRelation, Explanation, Index, Kind, Origin, Pitfall};

/// Explains a cause.
pub fn cause(cause: StallCause) -> Explanation {
    let (_, meaning, remedy) = WORDS[cause as usize];
    let evidence = Index::get().cause(cause.label()).cloned().unwrap_or_default();
    let (end, events): (_, &[&str]) = match cause.is_frontend() {
        true => ("front end", &["STALL_SLOT_FRONTEND", "STALL_SLOT", "STALL_FRONTEND", "STALL"]),
        false => ("back end", &["STALL_SLOT_BACKEND", "STALL_SLOT", "STALL_BACKEND", "STALL"]),
    };
    let counted = EventRelation {
        label: String::from("its slots are in"),
        origin: Origin::Printed,
        others: events.iter().map(|name| (*name).to_owned()).collect(),
    };
    let events_beside = EventRelation {
        label: String::from("look also at"),
        origin: Origin::Inferred,
        others: beside(cause).iter().map(|name| (*name).to_owned()).collect(),
    };
    let relations = [counted, events_beside];
    Explanation {
        kind: Kind::Cause,
        name: cause.label().to_owned(),
        code: None,
        title: format!("{end}: an empty rename slot"),
        section: String::from("4.7"),
        unit: String::from("rename slots, five in each cycle"),
        formula: None,
        counts: vec![meaning.to_owned()],
        excludes: vec![String::from(
            "slots that another cause explains: each empty slot has exactly one",
        )],
        relations: relations.into_iter().filter(|relation| !relation.others.is_empty()).collect(),
        other_names: Vec::new(),
        pitfalls: vec![
            Pitfall::new(
                "no event of its own",
                "the PMU tells only the two ends apart; the cause is known to the model alone: n2sim stat --stalls",
            ),
            Pitfall::new("what helps", remedy),
        ],
        raised: evidence.raised,
        scenarios: evidence.scenarios,
        more_scenarios: evidence.more_scenarios,
        example: evidence.example,
    }
}

/// What the slot waited for, and what a program can do about it: one row for each cause, in their order.
#[rustfmt::skip]
const WORDS: [(StallCause, &str, &str); StallCause::COUNT] = [
    (StallCause::FetchL1iMiss, "the line of the next instruction was not in the L1 I-cache", "smaller or better ordered code: hot functions side by side"),
    (StallCause::FetchItlbMiss, "the page of the next instruction was not in the L1 I-side TLB", "large pages for code, or hot functions on fewer pages"),
    (StallCause::FetchMispredict, "a branch went against its prediction: the front end begins anew on the right path", "fewer branches that depend on data: conditional selects, sorted data"),
    (StallCause::FetchNoTarget, "an indirect branch had no predicted target: fetch waited until it executed", "fewer targets for one indirect branch"),
    (StallCause::FetchMemoryOrder, "a load had passed an older store to its own address and was executed again, with all behind it", "stores and loads of one address further apart"),
    (StallCause::FetchResteer, "a taken branch that no branch target buffer knew: decode found it and sent fetch on", "less code between the uses of a branch"),
    (StallCause::FetchBtbBubble, "a taken branch whose target only the large, slower buffer knew", "fewer taken branches: likely paths that fall through"),
    (StallCause::FetchPredictWidth, "prediction names two windows and one taken branch a cycle, and was no further", "longer runs of code between taken branches"),
    (StallCause::FetchMopSwitch, "code left the cache of decoded operations and goes through decode, which is longer", "hot loops that fit the cache of decoded operations"),
    (StallCause::FetchWidth, "fewer instructions arrived in a cycle than there are slots: the end of a line, or four-wide decode", "loops aligned to lines; code that stays in the cache of decoded operations"),
    (StallCause::FetchSerialise, "fetch begins anew behind an instruction that serializes, such as ISB", "fewer ISB and writes of system registers"),
    (StallCause::FetchException, "fetch begins anew behind an exception or its return, or where the trace has a gap", "fewer system calls and faults"),
    (StallCause::FetchAsleep, "the core sleeps in WFI or WFE", "nothing: the program waits"),
    (StallCause::FetchEnd, "the window begins or ends here: nothing is there yet, or nothing comes any more", "nothing: it vanishes in long windows"),
    (StallCause::ReorderBuffer, "every entry of the reorder buffer is taken; the stall table says what its oldest operation waits for", "what the oldest operation waits for: fewer misses, shorter chains"),
    (StallCause::IssueQueueInt, "the queues in front of the branch and integer pipes are full", "shorter chains of integer operations, more independent work"),
    (StallCause::IssueQueueMem, "the queues in front of the load and store pipes are full", "addresses that are known early, fewer accesses"),
    (StallCause::IssueQueueVec, "the queues in front of the vector pipes are full", "more accumulators: independent chains of vector operations"),
    (StallCause::LoadQueue, "every entry for a load that has not retired is taken", "fewer loads behind a long miss; wider loads"),
    (StallCause::StoreQueue, "every entry for a store that is not written yet is taken", "fewer stores to lines that miss; whole lines written at once"),
    (StallCause::IntRegisters, "no free physical register for a general result", "fewer results in flight behind a long miss"),
    (StallCause::VecRegisters, "no free physical register for a vector or predicate result", "fewer vector results in flight behind a long miss"),
    (StallCause::FlagRegisters, "no free physical register for the condition flags", "fewer flag-setting instructions"),
    (StallCause::BranchQueue, "too many branches that have not resolved", "fewer branches behind a long miss"),
    (StallCause::DispatchWidth, "more operations of one type than dispatch takes in a cycle", "a better mix of loads, integer and vector work"),
    (StallCause::Serialise, "a barrier or an operation that serializes lets nothing behind it pass", "weaker barriers: load-acquire and store-release in place of DMB and DSB"),
];

/// Events that rise with the cause.
fn beside(cause: StallCause) -> &'static [&'static str] {
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
        StallCause::FetchSerialise => &["ISB_SPEC"],
        StallCause::Serialise => &["DSB_SPEC", "DMB_SPEC"],
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
