//! TLB maintenance: `TLBI`, and writes of table base registers. PMU guide 4.1.3, 4.1.7 to 4.1.10:
//! none of it is counted. `AT` is in `translate` (decision A16).
//!
//! A write of a table base register changes the address space and removes nothing: entries of other
//! address spaces and global entries stay. Other cores remove their entries at once; `dvm` has the
//! time until they have answered a broadcast. Not modeled: ranges; the level hint.

use sim_core::mesh_counts::DvmEvent;
use sim_core::{Cycle, EventSink, Maintenance, MemReply, TlbScope};

use crate::core_memory::CoreMemory;
use crate::memory_system::CorePort;
use crate::units::address_space::{EntryTag, id_of};
use crate::units::l2_tlb::EntryKind;
use crate::units::mapping::{FRAME_SHIFT, PAGE_BITS};

/// `TLBI` operation as it reaches a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlbInvalidation {
    scope: TlbScope,
    /// ASID of the operand.
    asid: u16,
    /// Virtual page of the operand, in the page numbers of the TLBs.
    page: u64,
    /// Intermediate page of the operand.
    intermediate_page: u64,
    /// VMID of the core that executes it.
    vmid: u16,
}

/// Bits of the operand that hold the page number: address bits 55 to 12.
const OPERAND_PAGE_BITS: u32 = 44;
/// Bits of an intermediate page number: intermediate addresses have 48 bits.
const INTERMEDIATE_PAGE_BITS: u32 = 48 - FRAME_SHIFT;

impl TlbInvalidation {
    fn new(scope: TlbScope, operand: u64, vmid: u16) -> TlbInvalidation {
        let page = operand & ((1 << OPERAND_PAGE_BITS) - 1);
        TlbInvalidation {
            scope,
            asid: id_of(operand),
            page: page & ((1 << PAGE_BITS) - 1),
            intermediate_page: page & ((1 << INTERMEDIATE_PAGE_BITS) - 1),
            vmid,
        }
    }

    /// Returns whether an entry has to be removed. `slot` is the slot of this operation's VMID at
    /// the core.
    fn removes(self, slot: u64, kind: EntryKind, entry: EntryTag) -> bool {
        if self.scope == TlbScope::All {
            return true;
        }
        if entry.vmid_slot() != slot {
            return false;
        }
        let own_asid = entry.asid() == Some(self.asid);
        let is_global = entry.asid().is_none();
        match self.scope {
            TlbScope::All => true,
            TlbScope::Vmid { stage2 } => stage2 || kind != EntryKind::Stage2,
            TlbScope::Asid => kind != EntryKind::Stage2 && own_asid,
            TlbScope::Page { last_level } => {
                (own_asid || is_global) && self.is_of_page(last_level, kind, entry)
            }
            TlbScope::PageAnyAsid { last_level } => self.is_of_page(last_level, kind, entry),
            TlbScope::IntermediatePage => {
                kind == EntryKind::Stage2 && entry.covers_intermediate(self.intermediate_page)
            }
        }
    }

    fn is_of_page(self, last_level: bool, kind: EntryKind, entry: EntryTag) -> bool {
        let is_wanted = match kind {
            EntryKind::Final => true,
            EntryKind::Partial(_) => !last_level,
            EntryKind::Stage2 => false,
        };
        is_wanted && entry.covers(self.page)
    }
}

impl CoreMemory {
    /// Removes the entries that a `TLBI` of this or another core names. Counts nothing.
    pub(crate) fn invalidate_tlbs(&mut self, invalidation: TlbInvalidation) {
        // A core that never ran this virtual machine holds no entries for it, so only `All` removes
        // any.
        let slot = self.space.slot_of(invalidation.vmid).unwrap_or(u64::MAX);
        self.itlb.remove(|entry| invalidation.removes(slot, EntryKind::Final, entry));
        self.dtlb.remove(|entry| invalidation.removes(slot, EntryKind::Final, entry));
        self.l2_tlb.remove(|kind, entry| invalidation.removes(slot, kind, entry));
    }

    /// Switches to another stage 2 table and VMID.
    fn enter_virtual_machine(&mut self, table_base: u64) {
        let vmid = self.space.vmid();
        if self.space.write_stage2_table_base(table_base) {
            self.invalidate_tlbs(TlbInvalidation::new(TlbScope::All, 0, vmid));
        }
    }
}

impl CorePort<'_> {
    /// Performs `TLBI`, `AT`, or a write of a table base register. `operand` is the value of Xt.
    pub(crate) fn maintain_translation<S: EventSink>(
        &mut self,
        maintenance: Maintenance,
        operand: sim_core::VirtAddr,
        now: Cycle,
        sink: &mut S,
    ) -> MemReply {
        let mut reply = MemReply { done: now + 1, ..MemReply::default() };
        match maintenance {
            Maintenance::Translate { write } => {
                return self.core.address_translate(write, operand, now, self.uncore, sink);
            }
            Maintenance::Tlb { scope, broadcast } => {
                let vmid = self.core.space.vmid();
                let invalidation = TlbInvalidation::new(scope, operand.0, vmid);
                self.core.invalidate_tlbs(invalidation);
                if broadcast {
                    self.uncore.count_broadcast(self.core.number, DvmEvent::Tlbi);
                    reply = self.core.send_dvm_operation(now, self.uncore).unwrap_or(reply);
                    self.peers().for_each(|peer| peer.invalidate_tlbs(invalidation));
                }
            }
            Maintenance::TableBase { upper } => self.core.space.write_table_base(upper, operand.0),
            Maintenance::Stage2TableBase => self.core.enter_virtual_machine(operand.0),
            _ => {}
        }
        reply
    }
}
