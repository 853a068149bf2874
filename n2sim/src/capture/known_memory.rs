//! The known content of the program's memory: pointers that it stored, or loaded and used.

/// Number of pointers remembered.
const SLOTS: usize = 4096;
/// Bytes of a pointer.
const BYTES: u64 = 8;

/// A pointer in memory, with the generation in which it was noted.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    addr: u64,
    value: u64,
    generation: u64,
}

/// Aligned pointers, each in the one slot that its address has.
#[derive(Clone, Debug)]
pub(crate) struct KnownMemory {
    slots: Vec<Slot>,
    /// Current generation; slots of other generations are empty.
    generation: u64,
}

impl Default for KnownMemory {
    fn default() -> KnownMemory {
        KnownMemory { slots: Vec::new(), generation: 1 }
    }
}

impl KnownMemory {
    /// Returns the pointer at `addr`.
    pub(crate) fn get(&self, addr: u64) -> Option<u64> {
        let slot = self.slots.get(place(addr))?;
        (slot.addr == addr && slot.generation == self.generation).then_some(slot.value)
    }

    /// Notes a pointer unless it is not aligned.
    pub(crate) fn set(&mut self, addr: u64, value: u64) {
        if !addr.is_multiple_of(BYTES) {
            return;
        }
        if self.slots.is_empty() {
            self.slots = vec![Slot::default(); SLOTS];
        }
        self.slots[place(addr)] = Slot { addr, value, generation: self.generation };
    }

    /// Forgets pointers that overlap the `bytes` from `addr` on.
    pub(crate) fn forget(&mut self, addr: u64, bytes: u64) {
        if self.slots.is_empty() {
            return;
        }
        let first = addr & !(BYTES - 1);
        let last = addr.saturating_add(bytes.saturating_sub(1)) & !(BYTES - 1);
        for aligned in (first..=last).step_by(BYTES as usize) {
            let slot = &mut self.slots[place(aligned)];
            if slot.addr == aligned {
                slot.generation = 0;
            }
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.generation += 1;
    }
}

fn place(addr: u64) -> usize {
    (addr / BYTES) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_known_until_a_byte_of_it_is_written() {
        let mut memory = KnownMemory::default();
        memory.set(0x1000, 7);
        memory.set(0x1008, 8);
        memory.set(0x1011, 9);
        assert_eq!((memory.get(0x1000), memory.get(0x1008)), (Some(7), Some(8)));
        assert_eq!(memory.get(0x1011), None, "not aligned");
        memory.forget(0x1007, 1);
        assert_eq!((memory.get(0x1000), memory.get(0x1008)), (None, Some(8)));
        memory.forget(0x1001, 8);
        assert_eq!(memory.get(0x1008), None);
        memory.set(0x1008, 8);
        memory.clear();
        assert_eq!(memory.get(0x1008), None);
    }

    #[test]
    fn pointers_of_one_slot_are_not_taken_for_each_other() {
        let mut memory = KnownMemory::default();
        let other = 0x1000 + BYTES * SLOTS as u64;
        memory.set(0x1000, 7);
        memory.forget(other, 8);
        assert_eq!((memory.get(0x1000), memory.get(other)), (Some(7), None));
        memory.set(other, 8);
        assert_eq!((memory.get(0x1000), memory.get(other)), (None, Some(8)));
    }
}
