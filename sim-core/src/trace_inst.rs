//! One record of the instruction stream: the static instruction and the facts of its execution.

/// Index of a static instruction (one word at one program location) in the program's table.
pub type InstId = u32;

/// Largest number of addresses of one instruction after its first. A gather into a 128-bit vector
/// has four words.
pub const MAX_FURTHER: usize = 3;

/// Activity of the elements of an SVE operation under its governing predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// All elements; also used when the recording does not contain the predicate.
    #[default]
    All,
    /// No element.
    None,
    /// Some elements, but not all.
    Partial,
}

/// Facts of one execution, as a bit set. The upper half holds the active elements of a predicate
/// that is neither all TRUE nor all FALSE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstFlags(pub u32);

impl InstFlags {
    /// `TraceInst::addr` is the data address.
    pub const HAS_ADDR: InstFlags = InstFlags(1);
    /// The store-exclusive did not store.
    pub const EXCLUSIVE_FAILED: InstFlags = InstFlags(1 << 1);
    /// The instruction was not completed (fault or signal): it does not retire at this record.
    pub const ABANDONED: InstFlags = InstFlags(1 << 2);
    /// The next record does not follow architecturally (system call return elsewhere, signal, gap).
    pub const DISCONTINUITY: InstFlags = InstFlags(1 << 3);
    /// No element of the governing predicate was TRUE.
    const NO_ELEMENT: InstFlags = InstFlags(1 << 4);
    /// Some elements of the governing predicate were TRUE, not all.
    const PART_OF_ELEMENTS: InstFlags = InstFlags(1 << 5);
    /// Lowest bit of the number of further addresses.
    const FURTHER_SHIFT: u32 = 6;
    /// Lowest bit of the active elements.
    const ELEMENTS_SHIFT: u32 = 16;

    /// Returns true when all bits of `other` are set.
    #[inline]
    pub fn has(self, other: InstFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[inline]
    #[must_use]
    pub fn with(self, other: InstFlags) -> InstFlags {
        InstFlags(self.0 | other.0)
    }

    /// Returns true if the record does not affect how the instruction executes: all elements
    /// active, no failed exclusive, only one address.
    #[inline]
    pub fn executes_as_always(self) -> bool {
        const OTHERWISE: u32 = InstFlags::EXCLUSIVE_FAILED.0
            | InstFlags::NO_ELEMENT.0
            | InstFlags::PART_OF_ELEMENTS.0
            | (MAX_FURTHER as u32) << InstFlags::FURTHER_SHIFT;
        self.0 & OTHERWISE == 0
    }

    /// Returns the activity of the elements under the governing predicate.
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

    /// Returns the active elements of a predicate with [`Activity::Partial`], with bit 0 for the
    /// first. Returns 0 if they are not known.
    #[inline]
    pub fn active_elements(self) -> u16 {
        (self.0 >> InstFlags::ELEMENTS_SHIFT) as u16
    }

    /// Returns these flags with a governing predicate. `elements` gives the active elements and is
    /// used only with [`Activity::Partial`].
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

    /// Returns the number of addresses after [`TraceInst::addr`]. They are stored outside the
    /// record.
    #[inline]
    pub fn further(self) -> usize {
        (self.0 >> InstFlags::FURTHER_SHIFT) as usize & MAX_FURTHER
    }

    /// Returns these flags with `count` further addresses, at most [`MAX_FURTHER`].
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
    /// Facts of this execution.
    pub flags: InstFlags,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_and_further_addresses_are_stored_independently() {
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
