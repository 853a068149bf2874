//! Gate that records only regions of a run: all threads from a begin mark to an end mark. Outside,
//! code runs unrecorded, and the plugin only checks for marks.
//!
//! A region consists of whole blocks, so it may contain instructions before and after the marks.

use crate::memory::SharedMemory;
use crate::wire::{self, control};
use std::sync::atomic::{AtomicBool, Ordering};

/// Effect of a block on the gate, as bits; 0 for nearly all blocks.
pub(crate) type Marks = u32;
/// Mark of a block that contains the place where recording begins.
pub(crate) const OPENS: Marks = 1;
/// Mark of a block that starts at the place where recording ends.
pub(crate) const CLOSES_BEFORE: Marks = 2;
/// Mark of a block that contains the place where recording ends.
pub(crate) const CLOSES_AFTER: Marks = 4;

/// A place in the program where recording begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An instruction word: an architectural no-op that occurs nowhere else.
    Word(u32),
    /// An address; for a position-independent program, as in its file.
    Address(u64),
}

impl Place {
    /// Reads the place in control words `index` and `index + 1`. Returns `None` without a place.
    fn read(memory: SharedMemory, index: usize) -> Option<Place> {
        let value = memory.control(index + 1).load(Ordering::Relaxed);
        match memory.control(index).load(Ordering::Relaxed) {
            wire::MARK_WORD => Some(Place::Word(value as u32)),
            wire::MARK_ADDRESS => Some(Place::Address(value)),
            _ => None,
        }
    }

    fn is_at(self, addr: u64, word: u32) -> bool {
        match self {
            Place::Word(wanted) => word == wanted,
            Place::Address(wanted) => addr == wanted,
        }
    }
}

/// State of recording, and the two places that change it.
#[derive(Debug)]
pub(crate) struct Gate {
    from: Option<Place>,
    to: Option<Place>,
    /// Lowest executable address in the file of a position-independent program.
    file_start: Option<u64>,
    is_open: AtomicBool,
}

impl Gate {
    /// Creates the gate that the reader requested. It starts open unless a place opens it.
    pub(crate) fn new(memory: SharedMemory) -> Gate {
        let from = Place::read(memory, control::MARK_FROM);
        let is_movable = memory.control(control::IS_MOVABLE).load(Ordering::Relaxed) == 1;
        let start = memory.control(control::FILE_START).load(Ordering::Relaxed);
        Gate {
            from,
            to: Place::read(memory, control::MARK_TO),
            file_start: is_movable.then_some(start),
            is_open: AtomicBool::new(from.is_none()),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Returns the marks of the block of `words` at `pc`, in a program loaded at `start`.
    pub(crate) fn marks(&self, pc: u64, words: &[u32], start: u64) -> Marks {
        let moved_by = self.file_start.map_or(0, |file_start| start.wrapping_sub(file_start));
        let in_file = pc.wrapping_sub(moved_by);
        let mut marks = 0;
        for (addr, &word) in (in_file..).step_by(4).zip(words) {
            let is_at = |place: Option<Place>| place.is_some_and(|place| place.is_at(addr, word));
            if is_at(self.to) {
                let is_excluded = addr == in_file && matches!(self.to, Some(Place::Address(_)));
                // A region that opened earlier in this block closes after the block.
                marks |= if is_excluded { CLOSES_BEFORE } else { CLOSES_AFTER };
            }
            if is_at(self.from) {
                marks = marks & !CLOSES_AFTER | OPENS;
            }
        }
        marks
    }

    /// Applies the marks of a block that begins. Returns whether the block is recorded.
    #[inline]
    pub(crate) fn admits(&self, marks: Marks) -> bool {
        if marks == 0 { self.is_open() } else { self.change(marks) }
    }

    #[cold]
    fn change(&self, marks: Marks) -> bool {
        let was_open = self.is_open() && marks & CLOSES_BEFORE == 0;
        let is_recorded = was_open || marks & OPENS != 0;
        self.is_open.store(is_recorded && marks & CLOSES_AFTER == 0, Ordering::Relaxed);
        is_recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0xd503_201f;
    const BEGIN: u32 = 0xd503_251f;
    const END: u32 = 0xd503_253f;

    fn gate(from: Option<Place>, to: Option<Place>) -> Gate {
        Gate { from, to, file_start: None, is_open: AtomicBool::new(from.is_none()) }
    }

    #[test]
    fn blocks_from_one_hint_to_the_other_are_recorded() {
        let gate = gate(Some(Place::Word(BEGIN)), Some(Place::Word(END)));
        let blocks: [&[u32]; 6] =
            [&[NOP], &[NOP, BEGIN], &[NOP], &[END, NOP], &[NOP], &[BEGIN, END]];
        let recorded = blocks.map(|words| gate.admits(gate.marks(0x1000, words, 0)));
        assert_eq!(recorded, [false, true, true, true, false, true]);
        assert!(!gate.is_open());
    }

    #[test]
    fn a_region_that_begins_after_the_end_of_another_stays_open() {
        let gate = gate(Some(Place::Word(BEGIN)), Some(Place::Word(END)));
        assert!(gate.admits(gate.marks(0, &[BEGIN], 0)));
        assert!(gate.admits(gate.marks(4, &[END, BEGIN], 0)));
        assert!(gate.is_open());
    }

    #[test]
    fn a_function_where_recording_ends_is_not_recorded() {
        let gate = gate(None, Some(Place::Address(0x2000)));
        assert!(gate.is_open(), "nothing opens it, so it is open");
        assert!(gate.admits(gate.marks(0x1000, &[NOP], 0)));
        assert!(!gate.admits(gate.marks(0x2000, &[NOP], 0)));
        assert!(!gate.admits(gate.marks(0x1000, &[NOP], 0)));
    }

    #[test]
    fn addresses_follow_the_load_address_of_the_program() {
        let from = Some(Place::Address(0x7c4));
        let gate = Gate { file_start: Some(0x600), ..gate(from, None) };
        assert_eq!(gate.marks(0x55_0000_07c4, &[NOP], 0x55_0000_0600), OPENS);
        assert_eq!(gate.marks(0x7c4, &[NOP], 0x55_0000_0600), 0);
    }
}
