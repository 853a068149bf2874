//! One record of the instruction stream: which static instruction ran, and what only the run knows.

/// Index of a static instruction (one word at one program location) in the program's table.
pub type InstId = u32;

/// Most addresses that one instruction has behind its first: a vector of 128 bits gathers four words.
pub const MAX_FURTHER: usize = 3;

/// How many elements a governing predicate lets an SVE operation work on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// All of them; also where the recording does not tell.
    #[default]
    All,
    /// None.
    None,
    /// Some, not all.
    Partial,
}

/// What the run adds to the static instruction, as a bit set; the upper half holds the active elements
/// of a predicate that is neither all TRUE nor all FALSE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstFlags(pub u32);

impl InstFlags {
    /// `TraceInst::addr` is the data address.
    pub const HAS_ADDR: InstFlags = InstFlags(1);
    /// The store-exclusive did not store.
    pub const EXCLUSIVE_FAILED: InstFlags = InstFlags(1 << 1);
    /// The instruction was not completed (fault or signal): it does not retire here.
    pub const ABANDONED: InstFlags = InstFlags(1 << 2);
    /// The next record does not follow by the architecture (system call return elsewhere, signal, gap).
    pub const DISCONTINUITY: InstFlags = InstFlags(1 << 3);
    /// No element of the governing predicate was TRUE.
    const NO_ELEMENT: InstFlags = InstFlags(1 << 4);
    /// Some elements of the governing predicate were TRUE, not all.
    const PART_OF_ELEMENTS: InstFlags = InstFlags(1 << 5);
    /// Lowest bit of the number of further addresses.
    const FURTHER_SHIFT: u32 = 6;
    /// Lowest bit of the active elements.
    const ELEMENTS_SHIFT: u32 = 16;

    /// True when all bits of `other` are set.
    #[inline]
    pub fn has(self, other: InstFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[inline]
    #[must_use]
    pub fn with(self, other: InstFlags) -> InstFlags {
        InstFlags(self.0 | other.0)
    }

    /// True where the run says nothing of how the instruction executes: no element was inactive, no exclusive failed, no
    /// address comes behind the first.
    #[inline]
    pub fn executes_as_always(self) -> bool {
        const OTHERWISE: u32 = InstFlags::EXCLUSIVE_FAILED.0
            | InstFlags::NO_ELEMENT.0
            | InstFlags::PART_OF_ELEMENTS.0
            | (MAX_FURTHER as u32) << InstFlags::FURTHER_SHIFT;
        self.0 & OTHERWISE == 0
    }

    /// How many elements the governing predicate lets work.
    #[inline]
    pub fn activity(self) -> Activity {
        if self.has(InstFlags::PART_OF_ELEMENTS) {
            Activity::Partial
        } else if self.has(InstFlags::NO_ELEMENT) {
            Activity::None
        } else {
            Activity::All
        }
    }

    /// Which elements of a predicate with [`Activity::Partial`] were active, bit 0 the first; 0 if that is
    /// not known.
    #[inline]
    pub fn active_elements(self) -> u16 {
        (self.0 >> InstFlags::ELEMENTS_SHIFT) as u16
    }

    /// The same flags with a governing predicate; `elements` says which are active and means nothing
    /// but with [`Activity::Partial`].
    #[must_use]
    pub fn with_predicate(self, activity: Activity, elements: u16) -> InstFlags {
        match activity {
            Activity::All => self,
            Activity::None => self.with(InstFlags::NO_ELEMENT),
            Activity::Partial => self
                .with(InstFlags::PART_OF_ELEMENTS)
                .with(InstFlags(u32::from(elements) << InstFlags::ELEMENTS_SHIFT)),
        }
    }

    /// How many addresses the instruction has behind [`TraceInst::addr`]; they are kept beside the
    /// record.
    #[inline]
    pub fn further(self) -> usize {
        (self.0 >> InstFlags::FURTHER_SHIFT) as usize & MAX_FURTHER
    }

    /// The same flags with `count` further addresses, at most [`MAX_FURTHER`].
    #[must_use]
    pub fn with_further(self, count: usize) -> InstFlags {
        self.with(InstFlags((count.min(MAX_FURTHER) as u32) << InstFlags::FURTHER_SHIFT))
    }
}

/// One executed instruction of a thread's stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TraceInst {
    /// First data address in bytes (virtual), 0 without [`InstFlags::HAS_ADDR`].
    pub addr: u64,
    /// The static instruction.
    pub id: InstId,
    /// What the run adds.
    pub flags: InstFlags,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_and_further_addresses_come_back_and_disturb_nothing() {
        let flags = InstFlags::HAS_ADDR.with(InstFlags::DISCONTINUITY);
        assert_eq!(
            (flags.activity(), flags.active_elements(), flags.further()),
            (Activity::All, 0, 0)
        );
        for (activity, elements) in [(Activity::Partial, 0x8001), (Activity::None, 0)] {
            let full = flags.with_predicate(activity, elements).with_further(3);
            assert_eq!((full.activity(), full.active_elements()), (activity, elements));
            assert_eq!((full.further(), full.0 & 0xf), (3, flags.0));
            assert!(!full.executes_as_always());
        }
        assert!(flags.with(InstFlags::ABANDONED).executes_as_always());
        assert!(!flags.with_further(1).executes_as_always());
        assert!(!flags.with(InstFlags::EXCLUSIVE_FAILED).executes_as_always());
        assert_eq!(
            flags.with_predicate(Activity::None, 7),
            flags.with_predicate(Activity::None, 0)
        );
    }

    #[test]
    fn a_record_stays_at_sixteen_bytes() {
        assert_eq!(size_of::<TraceInst>(), 16);
    }
}
