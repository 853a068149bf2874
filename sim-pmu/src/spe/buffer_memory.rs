//! Memory of the profiling buffer as the unit writes it: pages, faults and aborts (SPE supplement
//! 3.5.3 and 3.5.4).

use std::collections::BTreeMap;

const PAGE_SHIFT: u32 = 12;
const PAGE_BYTES: usize = 1 << PAGE_SHIFT;
/// Number of virtual address bits that are translated.
const ADDRESS_BITS: u32 = 48;

/// Fault or abort of a record write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The address has more bits than implemented, at this level of the walk.
    AddressSize(u8),
    /// There is no translation at this level.
    Translation(u8),
    /// The access flag is clear at this level.
    AccessFlag(u8),
    /// Write permission is missing at this level.
    Permission(u8),
    /// The pointer does not have the alignment of records.
    Alignment,
    /// The write itself aborts.
    ExternalAbort,
    /// A descriptor read aborts at this level.
    WalkAbort(u8),
    /// The write aborts after it appeared complete.
    LateAbort,
    /// Two TLB entries match.
    TlbConflict,
    /// The page would first have to be marked dirty or accessed.
    UnsupportedAccess,
}

impl FaultKind {
    /// Returns the status code for `PMBSR_EL1.FSC`.
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

    /// Returns whether this is an external abort. External aborts are reported differently from
    /// translation faults.
    pub fn is_external(self) -> bool {
        matches!(self, FaultKind::ExternalAbort | FaultKind::WalkAbort(_) | FaultKind::LateAbort)
    }
}

/// Fault and the translation stage that reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// The fault is reported for stage 2.
    pub stage_2: bool,
}

/// Memory by virtual address. Bytes that were never written are 0.
#[derive(Clone, Debug, Default)]
pub struct BufferMemory {
    pages: BTreeMap<u64, Box<[u8; PAGE_BYTES]>>,
    faults: BTreeMap<u64, BufferFault>,
}

impl BufferMemory {
    /// Makes every write of the byte at `at` end in `fault`.
    pub fn inject_fault(&mut self, at: u64, fault: BufferFault) {
        self.faults.insert(at, fault);
    }

    /// Makes the byte at `at` writable again.
    pub fn clear_fault(&mut self, at: u64) {
        self.faults.remove(&at);
    }

    /// Returns `bytes` bytes from address `at`.
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

    /// Discards the contents of whole pages below `end`, which a reader no longer needs.
    pub fn discard_below(&mut self, end: u64) {
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

    /// Returns the first byte of a write that faults, and the fault.
    pub(crate) fn first_fault(&self, at: u64, bytes: u64) -> Option<(u64, BufferFault)> {
        if !is_translated(at) {
            return Some((at, BufferFault { kind: FaultKind::Translation(0), stage_2: false }));
        }
        let is_early = |(_, fault): &(&u64, &BufferFault)| fault.kind != FaultKind::LateAbort;
        let found = self.within(at, bytes).find(is_early);
        found.map(|(addr, fault)| (*addr, *fault))
    }

    /// Returns the late abort of a write, if it has one.
    pub(crate) fn late_abort(&self, at: u64, bytes: u64) -> Option<BufferFault> {
        let is_late = |(_, fault): &(&u64, &BufferFault)| fault.kind == FaultKind::LateAbort;
        self.within(at, bytes).find(is_late).map(|(_, fault)| *fault)
    }

    fn within(&self, at: u64, bytes: u64) -> impl Iterator<Item = (&u64, &BufferFault)> {
        self.faults.range(at..at.saturating_add(bytes))
    }
}

/// Returns whether the address lies in one of the two halves of the address space.
fn is_translated(at: u64) -> bool {
    matches!(at >> ADDRESS_BITS, 0 | 0xFFFF)
}
