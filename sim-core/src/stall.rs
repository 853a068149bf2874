//! Causes of empty rename slots: a closed list, front end first. A back-end cause is a symptom;
//! [`crate::root_cause`] names its root.

/// One cause of an empty rename slot. Every empty slot has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum StallCause {
    /// Front end: waiting for a line that missed the L1 I-cache.
    FetchL1iMiss,
    /// Front end: waiting for an instruction address translation.
    FetchItlbMiss,
    /// Front end: refilling after a mispredicted branch.
    FetchMispredict,
    /// Front end: waiting for an indirect branch without a predicted target, then refilling.
    FetchNoTarget,
    /// Front end: refilling after a load that passed the older store it reads from.
    FetchMemoryOrder,
    /// Front end: a taken branch that missed all BTBs; decode detected it and resteered fetch.
    FetchResteer,
    /// Front end: a taken branch whose region came from the main BTB.
    FetchBtbBubble,
    /// Front end: limit of the branch predictor, in windows or taken branches per cycle.
    FetchPredictWidth,
    /// Front end: the code misses the MOP cache, and instructions switch to the longer path through
    /// decode.
    FetchMopSwitch,
    /// Front end: fewer instructions per cycle than slots (line end, 4-wide decode).
    FetchWidth,
    /// Front end: refilling after a serializing instruction.
    FetchSerialize,
    /// Front end: refilling after an exception, or after a gap in the trace.
    FetchException,
    /// Front end: the core sleeps (`WFI`, `WFE`).
    FetchAsleep,
    /// Front end: the trace starts or has ended; the pipeline fills or drains.
    FetchEnd,
    /// Back end: no reorder buffer entry.
    ReorderBuffer,
    /// Back end: the issue queues of the branch and integer pipes are full.
    IssueQueueInt,
    /// Back end: the issue queues of the load/store pipes are full.
    IssueQueueMem,
    /// Back end: the issue queues of the vector pipes are full.
    IssueQueueVec,
    /// Back end: no load queue entry.
    LoadQueue,
    /// Back end: no store queue entry.
    StoreQueue,
    /// Back end: no general physical register.
    IntRegisters,
    /// Back end: no vector or predicate physical register.
    VecRegisters,
    /// Back end: no flags physical register.
    FlagRegisters,
    /// Back end: the branch order buffer is full.
    BranchQueue,
    /// Back end: more operations of one type than dispatch takes in a cycle.
    DispatchWidth,
    /// Back end: a barrier or serializing operation holds rename.
    Serialize,
}

impl StallCause {
    /// Number of causes.
    pub const COUNT: usize = 26;

    /// Number of front-end causes, which come first.
    pub const FRONT_END: usize = StallCause::FetchEnd as usize + 1;

    /// Every cause, in the order of the enum.
    pub const ALL: [StallCause; StallCause::COUNT] = [
        StallCause::FetchL1iMiss,
        StallCause::FetchItlbMiss,
        StallCause::FetchMispredict,
        StallCause::FetchNoTarget,
        StallCause::FetchMemoryOrder,
        StallCause::FetchResteer,
        StallCause::FetchBtbBubble,
        StallCause::FetchPredictWidth,
        StallCause::FetchMopSwitch,
        StallCause::FetchWidth,
        StallCause::FetchSerialize,
        StallCause::FetchException,
        StallCause::FetchAsleep,
        StallCause::FetchEnd,
        StallCause::ReorderBuffer,
        StallCause::IssueQueueInt,
        StallCause::IssueQueueMem,
        StallCause::IssueQueueVec,
        StallCause::LoadQueue,
        StallCause::StoreQueue,
        StallCause::IntRegisters,
        StallCause::VecRegisters,
        StallCause::FlagRegisters,
        StallCause::BranchQueue,
        StallCause::DispatchWidth,
        StallCause::Serialize,
    ];

    /// Returns true for a cause of the front end.
    #[inline]
    pub fn is_frontend(self) -> bool {
        self <= StallCause::FetchEnd
    }

    /// Returns a short name for reports.
    pub fn label(self) -> &'static str {
        match self {
            StallCause::FetchL1iMiss => "L1I miss",
            StallCause::FetchItlbMiss => "ITLB miss",
            StallCause::FetchMispredict => "misprediction recovery",
            StallCause::FetchNoTarget => "no indirect target predicted",
            StallCause::FetchMemoryOrder => "memory-order violation recovery",
            StallCause::FetchResteer => "decode resteer",
            StallCause::FetchBtbBubble => "main BTB bubble",
            StallCause::FetchPredictWidth => "prediction bandwidth",
            StallCause::FetchMopSwitch => "switch from MOP cache to decode",
            StallCause::FetchWidth => "fetch bandwidth",
            StallCause::FetchSerialize => "refetch after serialization",
            StallCause::FetchException => "refetch after exception",
            StallCause::FetchAsleep => "WFI/WFE sleep",
            StallCause::FetchEnd => "trace start or end",
            StallCause::ReorderBuffer => "reorder buffer full",
            StallCause::IssueQueueInt => "integer issue queues full",
            StallCause::IssueQueueMem => "load/store issue queues full",
            StallCause::IssueQueueVec => "vector issue queues full",
            StallCause::LoadQueue => "load queue full",
            StallCause::StoreQueue => "store queue full",
            StallCause::IntRegisters => "no free general register",
            StallCause::VecRegisters => "no free vector register",
            StallCause::FlagRegisters => "no free flag register",
            StallCause::BranchQueue => "branch order buffer full",
            StallCause::DispatchWidth => "dispatch limit per op type",
            StallCause::Serialize => "serializing operation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StallCause;

    #[test]
    fn the_list_is_complete_and_in_order() {
        for (i, cause) in StallCause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, i);
        }
    }
}
