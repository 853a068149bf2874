//! The address space of a core, and how TLB entries distinguish address spaces: ASID, VMID, size.
//! PMU guide 3.2.18; Arm architecture, "TLB matching".
//!
//! A request becomes a key of one word, an entry a tag and a mask. An entry for a block, or for
//! every ASID, has fewer mask bits. VMIDs are numbered by slots, because a key has 8 bits for them.
//! Not modeled: translation regimes of other exception levels.

use sim_core::{StateVisitor, Stored, WarmState};

use crate::config::TableBaseRegister;
use crate::units::mapping::{FRAME_SHIFT, PAGE_BITS};

const ASID_SHIFT: u32 = PAGE_BITS;
const ASID_FIELD: u64 = 0xFFFF << ASID_SHIFT;
const PAGE_FIELD: u64 = (1 << PAGE_BITS) - 1;
const SLOT_SHIFT: u32 = 56;
/// Position of the ASID or VMID in table base registers and `TLBI` operands.
const OPERAND_ID_SHIFT: u32 = 48;

/// Page, ASID and VMID slot of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) u64);

/// Tag and mask of an entry, which matches a key if `key & mask == tag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryTag {
    tag: u64,
    mask: u64,
}

/// Current address space of a core.
#[derive(Clone, Debug)]
pub(crate) struct AddressSpace {
    /// ASID and VMID slot, at their positions in a key.
    context: u64,
    asid_from: TableBaseRegister,
    /// VMID of each slot: keys have room for 256 at a time.
    vmids: Vec<u16>,
}

impl Key {
    /// Returns the number of the 4 KiB page.
    #[inline]
    pub(crate) fn page(self) -> u64 {
        self.0 & PAGE_FIELD
    }

    /// Returns the ASID.
    pub(crate) fn asid(self) -> u16 {
        (self.0 >> ASID_SHIFT) as u16
    }
}

impl EntryTag {
    /// Tag of an empty entry; matches no key.
    pub(crate) const EMPTY: EntryTag = EntryTag { tag: 1, mask: 0 };

    /// Creates the tag of an entry for `1 << shift` bytes around the key's page, for its ASID or
    /// for all ASIDs.
    pub(crate) fn new(key: Key, shift: u32, global: bool) -> EntryTag {
        let within = (1 << (shift - FRAME_SHIFT)) - 1;
        let mask = !within & if global { !ASID_FIELD } else { u64::MAX };
        EntryTag { tag: key.0 & mask, mask }
    }

    /// Returns whether the entry serves the key.
    #[inline(always)]
    pub(crate) fn matches(self, key: Key) -> bool {
        key.0 & self.mask == self.tag
    }

    /// Returns whether the entry covers this page, in any address space.
    pub(crate) fn covers(self, page: u64) -> bool {
        (page ^ self.tag) & self.mask & PAGE_FIELD == 0
    }

    /// Returns whether the entry covers this intermediate page.
    pub(crate) fn covers_intermediate(self, page: u64) -> bool {
        (page ^ self.tag) & self.mask & ((1 << SLOT_SHIFT) - 1) == 0
    }

    /// Returns the ASID; `None` for all.
    pub(crate) fn asid(self) -> Option<u16> {
        (self.mask & ASID_FIELD != 0).then_some((self.tag >> ASID_SHIFT) as u16)
    }

    /// Returns the VMID slot.
    pub(crate) fn vmid_slot(self) -> u64 {
        self.tag >> SLOT_SHIFT
    }
}

impl Default for EntryTag {
    fn default() -> EntryTag {
        EntryTag::EMPTY
    }
}

impl Stored for EntryTag {
    const WORDS: usize = 2;

    fn store(self, words: &mut [u64]) {
        (words[0], words[1]) = (self.tag, self.mask);
    }

    fn load(words: &[u64]) -> EntryTag {
        EntryTag { tag: words[0], mask: words[1] }
    }
}

/// VMID slots of a key.
const VMID_SLOTS: usize = 1 << (u64::BITS - SLOT_SHIFT);

impl WarmState for AddressSpace {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        let mut vmids = [0; VMID_SLOTS];
        vmids[..self.vmids.len()].copy_from_slice(&self.vmids);
        let mut count = self.vmids.len() as u32;
        visitor.words(&mut vmids);
        visitor.one(&mut count);
        visitor.one(&mut self.context);
        self.vmids.clear();
        self.vmids.extend_from_slice(&vmids[..(count as usize).clamp(1, VMID_SLOTS)]);
        if self.vmid_slot() >= self.vmids.len() as u64 {
            self.context &= !(u64::MAX << SLOT_SHIFT);
        }
    }
}

/// Returns the upper 16 bits of a table base register or of a `TLBI` operand.
pub(crate) fn id_of(operand: u64) -> u16 {
    (operand >> OPERAND_ID_SHIFT) as u16
}

impl AddressSpace {
    /// Creates the address space with ASID 0 and VMID 0.
    pub(crate) fn new(asid_from: TableBaseRegister) -> AddressSpace {
        AddressSpace { context: 0, asid_from, vmids: vec![0] }
    }

    /// Returns the key of a page in the current address space.
    #[inline(always)]
    pub(crate) fn key(&self, page: u64) -> Key {
        Key(page | self.context)
    }

    /// Returns the key of an intermediate page, without an ASID. Pages of descriptors may lie above
    /// all other addresses.
    pub(crate) fn intermediate_key(&self, page: u64) -> Key {
        Key(page | self.vmid_slot() << SLOT_SHIFT)
    }

    /// Returns the current ASID.
    pub(crate) fn asid(&self) -> u16 {
        Key(self.context).asid()
    }

    /// Returns the current VMID.
    pub(crate) fn vmid(&self) -> u16 {
        self.vmids[self.vmid_slot() as usize]
    }

    fn vmid_slot(&self) -> u64 {
        self.context >> SLOT_SHIFT
    }

    /// Returns the slot of a VMID that this core has used.
    pub(crate) fn slot_of(&self, vmid: u16) -> Option<u64> {
        self.vmids.iter().position(|known| *known == vmid).map(|slot| slot as u64)
    }

    /// Writes a table base register; one of the two provides the ASID.
    pub(crate) fn write_table_base(&mut self, upper: bool, value: u64) {
        if upper == (self.asid_from == TableBaseRegister::Upper) {
            self.context = self.context & !ASID_FIELD | u64::from(id_of(value)) << ASID_SHIFT;
        }
    }

    /// Writes the stage 2 table base register. Returns whether the VMID slots were exhausted: every
    /// entry must then be removed, because slots are reused.
    #[must_use]
    pub(crate) fn write_stage2_table_base(&mut self, value: u64) -> bool {
        let vmid = id_of(value);
        let known = self.slot_of(vmid);
        let is_full = known.is_none() && self.vmids.len() == VMID_SLOTS;
        if is_full {
            self.vmids.clear();
        }
        let slot = known.filter(|_| !is_full).unwrap_or(self.vmids.len() as u64);
        if known.is_none() {
            self.vmids.push(vmid);
        }
        self.context = self.context & !(u64::MAX << SLOT_SHIFT) | slot << SLOT_SHIFT;
        is_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> AddressSpace {
        AddressSpace::new(TableBaseRegister::Lower)
    }

    #[test]
    fn a_tag_compares_page_asid_and_vmid_slot_under_its_mask() {
        let mut space = space();
        space.write_table_base(false, 5 << 48 | 0x1000);
        let key = space.key(0x1234);
        let (own, all) = (EntryTag::new(key, 12, false), EntryTag::new(key, 12, true));
        let block = EntryTag::new(key, 21, false);
        assert!([own, all, block].iter().all(|entry| entry.matches(key)));
        assert!(!own.matches(space.key(0x1235)) && block.matches(space.key(0x13FF)));
        assert!(!block.matches(space.key(0x1400)));
        space.write_table_base(false, 6 << 48);
        let other = space.key(0x1234);
        assert!(!own.matches(other) && all.matches(other) && !block.matches(other));
        assert_eq!((own.asid(), all.asid()), (Some(5), None));
        assert!(!space.write_stage2_table_base(9 << 48));
        assert!(!all.matches(space.key(0x1234)), "another virtual machine");
        assert!(!EntryTag::EMPTY.matches(Key(0)) && !EntryTag::EMPTY.matches(key));
    }

    #[test]
    fn vmid_slots_are_reused_only_after_all_entries_are_removed() {
        let mut space = space();
        for vmid in 1..256u64 {
            assert!(!space.write_stage2_table_base(vmid << 48));
        }
        assert!(!space.write_stage2_table_base(3 << 48), "known");
        assert_eq!((space.vmid(), space.slot_of(3)), (3, Some(3)));
        assert!(space.write_stage2_table_base(999 << 48));
        assert_eq!((space.vmid(), space.slot_of(3)), (999, None));
    }

    #[test]
    fn the_other_table_base_register_changes_no_asid() {
        let mut space = space();
        space.write_table_base(true, 7 << 48);
        assert_eq!(space.asid(), 0);
        space.write_table_base(false, 7 << 48);
        assert_eq!(space.asid(), 7);
    }

    #[test]
    fn a_saved_address_space_keeps_its_vmid_and_a_damaged_one_uses_the_first() {
        use sim_core::{StateLoader, StateSaver};
        let mut space = AddressSpace::new(TableBaseRegister::Lower);
        for vmid in [5, 7] {
            assert!(!space.write_stage2_table_base(vmid << OPERAND_ID_SHIFT));
        }
        let mut words = StateSaver::save(&mut space);
        let loaded = |words: &[u64]| {
            let mut other = AddressSpace::new(TableBaseRegister::Lower);
            other.visit(&mut StateLoader::new(words));
            other
        };
        assert_eq!((loaded(&words).vmid(), loaded(&words).key(9)), (7, space.key(9)));
        // Slots 0 to 2 are used; later ones are not.
        let context = words.len() - 1;
        for slot in [3, 200] {
            words[context] = slot << SLOT_SHIFT | 4 << ASID_SHIFT;
            assert_eq!((loaded(&words).vmid(), loaded(&words).asid()), (0, 4));
        }
    }
}
