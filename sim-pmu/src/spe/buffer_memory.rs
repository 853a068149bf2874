//! The memory that the profiling buffer lies in, as the unit's writes meet it: pages, faults, aborts
//! (SPE supplement 3.5.3 and 3.5.4).

use std::collections::BTreeMap;

const PAGE_SHIFT: u32 = 12;
const PAGE_BYTES: usize = 1 << PAGE_SHIFT;
/// Bits of a virtual address that take part in its translation.
const ADDRESS_BITS: u32 = 48;

/// What a write of a record can meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An address of more bits than there are, at this level of the walk.
    AddressSize(u8),
    /// No translation at this level.
    Translation(u8),
    /// Access flag clear at this level.
    AccessFlag(u8),
    /// No leave to write at this level.
    Permission(u8),
    /// The pointer is not aligned as records are.
    Alignment,
    /// The write itself is aborted.
    ExternalAbort,
    /// A read of a descriptor is aborted at this level.
    WalkAbort(u8),
    /// The write is aborted, and that comes out when it was thought done.
    LateAbort,
    /// Two entries of a TLB answer.
    TlbConflict,
    /// A page that would have to be marked dirty or accessed first.
    UnsupportedAccess,
}

impl FaultKind {
    /// `PMBSR_EL1.FSC`.
    pub fn status(self) -> u8 {
        match self {
            FaultKind::AddressSize(level) => level & 3,
            FaultKind::Translation(level) => 0b00_0100 | level & 3,
            FaultKind::AccessFlag(level) => 0b00_1000 | level & 3,
            FaultKind::Permission(level) => 0b00_1100 | level & 3,
            FaultKind::ExternalAbort => 0b01_0000,
            FaultKind::LateAbort => 0b01_0001,
            FaultKind::WalkAbort(level) => 0b01_0100 | level & 3,
            FaultKind::Alignment => 0b10_0001,
            FaultKind::TlbConflict => 0b11_0000,
            FaultKind::UnsupportedAccess => 0b11_0101,
        }
    }

    /// True for aborts, which are told apart from faults of a translation.
    pub fn is_external(self) -> bool {
        matches!(self, FaultKind::ExternalAbort | FaultKind::WalkAbort(_) | FaultKind::LateAbort)
    }
}

/// A fault, and the stage of the translation that it is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFault {
    /// What it is.
    pub kind: FaultKind,
    /// Stage 2 refuses the access.
    pub stage_2: bool,
}

/// Memory by virtual address: 0 where nothing was written.
#[derive(Clone, Debug, Default)]
pub struct BufferMemory {
    pages: BTreeMap<u64, Box<[u8; PAGE_BYTES]>>,
    faults: BTreeMap<u64, BufferFault>,
}

impl BufferMemory {
    /// A write of the byte at `at` ends in `fault`.
    pub fn spoil(&mut self, at: u64, fault: BufferFault) {
        self.faults.insert(at, fault);
    }

    /// The byte at `at` can be written again.
    pub fn mend(&mut self, at: u64) {
        self.faults.remove(&at);
    }

    /// What lies at `at`.
    pub fn read(&self, at: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        for (offset, byte) in out.iter_mut().enumerate() {
            let addr = at.wrapping_add(offset as u64);
            if let Some(page) = self.pages.get(&(addr >> PAGE_SHIFT)) {
                *byte = page[addr as usize % PAGE_BYTES];
            }
        }
        out
    }

    /// Gives up what was written in whole pages below `end`: a reader is done with it.
    pub fn forget_below(&mut self, end: u64) {
        self.pages = self.pages.split_off(&(end >> PAGE_SHIFT));
    }

    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) {
        let mut rest = bytes;
        let mut addr = at;
        while !rest.is_empty() {
            let offset = addr as usize % PAGE_BYTES;
            let (now, later) = rest.split_at(rest.len().min(PAGE_BYTES - offset));
            let page = self.pages.entry(addr >> PAGE_SHIFT);
            let page = page.or_insert_with(|| Box::new([0; PAGE_BYTES]));
            page[offset..offset + now.len()].copy_from_slice(now);
            (rest, addr) = (later, addr.wrapping_add(now.len() as u64));
        }
    }

    /// The first byte of a write that is refused, and why.
    pub(crate) fn first_fault(&self, at: u64, bytes: u64) -> Option<(u64, BufferFault)> {
        if !is_translated(at) {
            return Some((at, BufferFault { kind: FaultKind::Translation(0), stage_2: false }));
        }
        let is_early = |(_, fault): &(&u64, &BufferFault)| fault.kind != FaultKind::LateAbort;
        let found = self.within(at, bytes).find(is_early);
        found.map(|(addr, fault)| (*addr, *fault))
    }

    /// The abort that a write meets when it was thought done.
    pub(crate) fn late_abort(&self, at: u64, bytes: u64) -> Option<BufferFault> {
        let is_late = |(_, fault): &(&u64, &BufferFault)| fault.kind == FaultKind::LateAbort;
        self.within(at, bytes).find(is_late).map(|(_, fault)| *fault)
    }

    fn within(&self, at: u64, bytes: u64) -> impl Iterator<Item = (&u64, &BufferFault)> {
        self.faults.range(at..at.saturating_add(bytes))
    }
}

/// In one of the two halves of the address space.
fn is_translated(at: u64) -> bool {
    matches!(at >> ADDRESS_BITS, 0 | 0xFFFF)
}
