//! Why a rename slot stayed empty: the closed list of causes, front end first. A cause of the back end
//! is a symptom; [`crate::root_cause`] has what it waits for.

/// One cause of an empty rename slot. Every empty slot has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum StallCause {
    /// Front end: waiting for a line that missed the L1 I-cache.
    FetchL1iMiss,
    /// Front end: waiting for an instruction translation.
    FetchItlbMiss,
    /// Front end: refilling after a branch resolved against its prediction.
    FetchMispredict,
    /// Front end: waiting for an indirect branch of which no target was known, and refilling.
    FetchNoTarget,
    /// Front end: refilling after a load that had passed the older store it reads from.
    FetchMemoryOrder,
    /// Front end: a taken branch that no BTB knew; decode found it and sent fetch on.
    FetchResteer,
    /// Front end: a taken branch whose region the main BTB had to bring.
    FetchBtbBubble,
    /// Front end: prediction is no further: its windows or taken branches per cycle.
    FetchPredictWidth,
    /// Front end: the MOP cache no longer has the code, the longer way through decode begins.
    FetchMopSwitch,
    /// Front end: fewer instructions per cycle than slots (line end, 4-wide decode).
    FetchWidth,
    /// Front end: refilling after a serializing instruction.
    FetchSerialize,
    /// Front end: refilling after an exception, or where the trace has a gap.
    FetchException,
    /// Front end: the core sleeps (`WFI`, `WFE`).
    FetchAsleep,
    /// Front end: the stream starts or has ended, the window fills or drains.
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

    /// Number of causes of the front end, which come first.
    pub const FRONT_END: usize = StallCause::FetchEnd as usize + 1;

    /// Every cause, in the order of the list.
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

    /// True for a cause of the front end.
    #[inline]
    pub fn is_frontend(self) -> bool {
        self <= StallCause::FetchEnd
    }

    /// A short name for reports.
    pub fn label(self) -> &'static str {
        match self {
            StallCause::FetchL1iMiss => "L1I miss",
            StallCause::FetchItlbMiss => "ITLB miss",
            StallCause::FetchMispredict => "mispredicted branch",
            StallCause::FetchNoTarget => "indirect target unknown",
            StallCause::FetchMemoryOrder => "load passed an older store",
            StallCause::FetchResteer => "branch found by decode",
            StallCause::FetchBtbBubble => "taken branch, main BTB",
            StallCause::FetchPredictWidth => "prediction width",
            StallCause::FetchMopSwitch => "MOP cache to decode",
            StallCause::FetchWidth => "fetch width",
            StallCause::FetchSerialize => "restart after serialization",
            StallCause::FetchException => "restart after exception",
            StallCause::FetchAsleep => "asleep in WFI or WFE",
            StallCause::FetchEnd => "start and end of stream",
            StallCause::ReorderBuffer => "reorder buffer full",
            StallCause::IssueQueueInt => "integer issue queues full",
            StallCause::IssueQueueMem => "load/store issue queues full",
            StallCause::IssueQueueVec => "vector issue queues full",
            StallCause::LoadQueue => "load queue full",
            StallCause::StoreQueue => "store queue full",
            StallCause::IntRegisters => "general registers used up",
            StallCause::VecRegisters => "vector registers used up",
            StallCause::FlagRegisters => "flag registers used up",
            StallCause::BranchQueue => "branch order buffer full",
            StallCause::DispatchWidth => "dispatch width of one type",
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
