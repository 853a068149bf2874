//! The part of the program that each static instruction belongs to, for sinks that attribute
//! counts.

use crate::trace_inst::InstId;

/// An instruction that is not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// Parts of static instructions, each looked up once.
#[derive(Clone, Debug, Default)]
pub struct PartOfInst {
    parts: Vec<u32>,
}

impl PartOfInst {
    /// Returns the part of an instruction. `look_up` finds it the first time; it must not return
    /// [`u32::MAX`].
    #[inline]
    pub fn get(&mut self, inst: InstId, look_up: impl FnOnce() -> u32) -> u32 {
        match self.parts.get(inst as usize) {
            Some(&part) if part != UNKNOWN => part,
            _ => self.insert(inst, look_up()),
        }
    }

    #[cold]
    fn insert(&mut self, inst: InstId, part: u32) -> u32 {
        let inst = inst as usize;
        if self.parts.len() <= inst {
            self.parts.resize(inst + 1, UNKNOWN);
        }
        self.parts[inst] = part;
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_is_looked_up_once() {
        let mut parts = PartOfInst::default();
        assert_eq!(parts.get(5, || 7), 7);
        assert_eq!(parts.get(5, || unreachable!("it is known")), 7);
        assert_eq!(parts.get(2, || 0), 0);
    }
}
