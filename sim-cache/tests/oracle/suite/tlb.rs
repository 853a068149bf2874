//! TLB entries of every size, for one address space or for all, in least-recently-used order.

use std::collections::VecDeque;

use super::world::Region;

/// Address space of a requester: ASID and virtual machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) asid: u64,
    pub(crate) vmid: u64,
}

/// Content of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Translation of a region, or of a page of it.
    Region(Region),
    /// Address of the table of this level.
    Table(u32),
}

/// Entry: the bytes that it covers, and its address spaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) first: u64,
    pub(crate) bytes: u64,
    /// ASID; `None` for all.
    pub(crate) asid: Option<u64>,
    pub(crate) vmid: u64,
    pub(crate) known: Known,
}

impl Entry {
    pub(crate) fn covers(&self, addr: u64) -> bool {
        (self.first..self.first + self.bytes).contains(&addr)
    }

    pub(crate) fn serves(&self, space: Space, addr: u64) -> bool {
        let is_own = self.asid.is_none_or(|asid| asid == space.asid) && self.vmid == space.vmid;
        is_own && self.covers(addr)
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.known, Known::Table(_))
    }
}

/// Least-recently-used list: the front is replaced first.
pub(crate) struct LruList {
    entries: VecDeque<Entry>,
    size: usize,
}

impl LruList {
    pub(crate) fn new(size: u32) -> LruList {
        LruList { entries: VecDeque::new(), size: size as usize }
    }

    /// Returns the wanted entry. A hit counts as a use.
    pub(crate) fn find(&mut self, is_wanted: impl Fn(&Entry) -> bool) -> Option<Entry> {
        let at = self.entries.iter().position(is_wanted)?;
        let entry = self.entries.remove(at)?;
        self.entries.push_back(entry);
        Some(entry)
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        if self.entries.len() == self.size {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    pub(crate) fn remove(&mut self, goes: impl Fn(&Entry) -> bool) {
        self.entries.retain(|entry| !goes(entry));
    }
}
