//! Root causes of empty rename slots, and counts of slots by stall cause and root.
//!
//! A full structure is a symptom ([`StallCause`]). The root is at the end of the chain of
//! dependences that the next entry to be freed waits for: a load that misses, a divide, a store
//! that drains.

use crate::access::DataSource;
use crate::packed::Numbers;
use crate::stall::StallCause;
use crate::trace_inst::InstId;

/// Root of an empty rename slot. Every slot lost to the back end has exactly one root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum RootCause {
    /// None: the front end lost the slot, and its [`StallCause`] says why.
    FrontEnd,
    /// Memory: a load whose data comes from the L2.
    LoadL2,
    /// Memory: a load whose data comes from the system level cache.
    LoadSlc,
    /// Memory: a load whose data comes from the cache of another core.
    LoadPeer,
    /// Memory: a load whose data comes from another chip.
    LoadRemote,
    /// Memory: a load whose data comes from DRAM.
    LoadDram,
    /// Memory: a load from a device or from non-cacheable memory.
    LoadDevice,
    /// Memory: the translation of an access that missed the L1 TLB.
    Translation,
    /// Memory: a retired store that the cache does not have yet.
    StoreDrain,
    /// Core: the latency of a load that hits the L1 D-cache.
    LoadL1,
    /// Core: the data or the address of an older store that forwards to a load.
    Forwarding,
    /// Core: an operation that occupies its pipe for several cycles (divide, square root).
    Unpipelined,
    /// Core: the latency of pipelined operations.
    #[default]
    Latency,
    /// Core: a pipe that other operations occupy.
    Pipe,
    /// Core: a barrier, or an access that orders others.
    Barrier,
    /// Core: a system register or a maintenance operation.
    System,
    /// Core: more operations of one type than dispatch takes in a cycle.
    Dispatch,
    /// Core: another thread with which this one synchronizes.
    OtherThread,
}

impl RootCause {
    /// Number of roots.
    pub const COUNT: usize = 18;

    /// Every root, in the order of the list.
    pub const ALL: [RootCause; RootCause::COUNT] = [
        RootCause::FrontEnd,
        RootCause::LoadL2,
        RootCause::LoadSlc,
        RootCause::LoadPeer,
        RootCause::LoadRemote,
        RootCause::LoadDram,
        RootCause::LoadDevice,
        RootCause::Translation,
        RootCause::StoreDrain,
        RootCause::LoadL1,
        RootCause::Forwarding,
        RootCause::Unpipelined,
        RootCause::Latency,
        RootCause::Pipe,
        RootCause::Barrier,
        RootCause::System,
        RootCause::Dispatch,
        RootCause::OtherThread,
    ];

    /// Returns the roots of the back end.
    pub fn back_end() -> impl Iterator<Item = RootCause> {
        RootCause::ALL.into_iter().skip(1)
    }

    /// Returns whether the back end waits for memory: for data beyond the L1 D-cache, for a
    /// translation, or for a store to be written.
    #[inline]
    pub fn is_memory(self) -> bool {
        (RootCause::LoadL2..=RootCause::StoreDrain).contains(&self)
    }

    /// Returns the root of a load whose data has this source.
    #[inline]
    pub fn of_load(source: DataSource) -> RootCause {
        match source {
            DataSource::StoreQueue => RootCause::Forwarding,
            DataSource::L1 => RootCause::LoadL1,
            DataSource::L2 => RootCause::LoadL2,
            DataSource::Slc => RootCause::LoadSlc,
            DataSource::Peer => RootCause::LoadPeer,
            DataSource::Remote => RootCause::LoadRemote,
            DataSource::Dram => RootCause::LoadDram,
            DataSource::Device => RootCause::LoadDevice,
        }
    }

    /// Returns a short name for reports.
    pub fn label(self) -> &'static str {
        match self {
            RootCause::FrontEnd => "front end",
            RootCause::LoadL2 => "load from the L2",
            RootCause::LoadSlc => "load from the system level cache",
            RootCause::LoadPeer => "load from another core",
            RootCause::LoadRemote => "load from another chip",
            RootCause::LoadDram => "load from DRAM",
            RootCause::LoadDevice => "load from a device",
            RootCause::Translation => "address translation",
            RootCause::StoreDrain => "store drain",
            RootCause::LoadL1 => "load latency, L1 hit",
            RootCause::Forwarding => "store-to-load forwarding",
            RootCause::Unpipelined => "divide or square root",
            RootCause::Latency => "execution latency",
            RootCause::Pipe => "busy pipe",
            RootCause::Barrier => "barrier",
            RootCause::System => "system register or maintenance",
            RootCause::Dispatch => "dispatch limit per type",
            RootCause::OtherThread => "another thread",
        }
    }
}

/// Rename slots that stayed empty for one stall cause and root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Symptom: the structure that was full or late.
    pub cause: StallCause,
    /// Root of the symptom.
    pub root: RootCause,
    /// The static instruction that is the root, if one is known.
    pub owner: Option<InstId>,
    /// Number of slots.
    pub slots: u64,
}

/// Lost rename slots by cause and root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostSlots {
    slots: [[u64; RootCause::COUNT]; StallCause::COUNT],
}

impl Default for LostSlots {
    fn default() -> LostSlots {
        LostSlots { slots: [[0; RootCause::COUNT]; StallCause::COUNT] }
    }
}

impl Numbers for LostSlots {
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().flatten().copied()
    }

    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.slots.iter_mut().flatten()
    }
}

impl LostSlots {
    /// Adds slots of one cause and root.
    #[inline]
    pub fn add(&mut self, cause: StallCause, root: RootCause, slots: u64) {
        self.slots[cause as usize][root as usize] += slots;
    }

    /// Returns the slots of a cause, whatever its root.
    pub fn of(&self, cause: StallCause) -> u64 {
        self.slots[cause as usize].iter().sum()
    }

    /// Returns the slots of a root, whatever structure was full.
    pub fn of_root(&self, root: RootCause) -> u64 {
        self.slots.iter().map(|roots| roots[root as usize]).sum()
    }

    /// Returns the slots of a cause with this root.
    pub fn at(&self, cause: StallCause, root: RootCause) -> u64 {
        self.slots[cause as usize][root as usize]
    }

    /// Returns all slots of the front end, or all of the back end.
    pub fn end(&self, is_frontend: bool) -> u64 {
        let causes = StallCause::ALL.into_iter().filter(|cause| cause.is_frontend() == is_frontend);
        causes.map(|cause| self.of(cause)).sum()
    }

    /// Returns the slots for which the back end waits for memory.
    pub fn memory(&self) -> u64 {
        RootCause::ALL.into_iter().filter(|root| root.is_memory()).map(|r| self.of_root(r)).sum()
    }

    /// Returns the number of all slots.
    pub fn total(&self) -> u64 {
        self.slots.iter().flatten().sum()
    }

    /// Adds the slots of another core or window.
    pub fn plus(&mut self, more: &LostSlots) {
        for (sum, more) in self.slots.iter_mut().flatten().zip(more.slots.iter().flatten()) {
            *sum += more;
        }
    }

    /// Returns the slots lost after the snapshot `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &LostSlots) -> LostSlots {
        let mut since = self.clone();
        for (sum, less) in since.slots.iter_mut().flatten().zip(earlier.slots.iter().flatten()) {
            *sum -= less;
        }
        since
    }

    /// Applies `change` to each number.
    pub fn change(&mut self, change: impl Fn(u64) -> u64) {
        self.slots.iter_mut().flatten().for_each(|slots| *slots = change(*slots));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_and_in_order() {
        for (i, root) in RootCause::ALL.iter().enumerate() {
            assert_eq!(*root as usize, i);
        }
    }

    #[test]
    fn memory_roots_exclude_hits_in_the_l1_data_cache() {
        let memory: Vec<RootCause> = RootCause::ALL.into_iter().filter(|r| r.is_memory()).collect();
        assert_eq!(memory.first(), Some(&RootCause::LoadL2));
        assert_eq!(memory.last(), Some(&RootCause::StoreDrain));
        assert_eq!(memory.len(), 8);
    }

    #[test]
    fn slots_are_kept_by_cause_and_by_root() {
        let mut lost = LostSlots::default();
        lost.add(StallCause::BranchQueue, RootCause::LoadDram, 7);
        lost.add(StallCause::LoadQueue, RootCause::LoadDram, 3);
        lost.add(StallCause::LoadQueue, RootCause::Latency, 1);
        lost.add(StallCause::FetchWidth, RootCause::FrontEnd, 5);
        assert_eq!((lost.of(StallCause::LoadQueue), lost.of_root(RootCause::LoadDram)), (4, 10));
        assert_eq!((lost.memory(), lost.end(false), lost.end(true)), (10, 11, 5));
        let more = lost.clone();
        lost.plus(&more);
        assert_eq!((lost.since(&more), lost.total()), (more, 32));
    }
}
