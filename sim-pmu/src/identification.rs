//! Identification of the PMU: `PMCEID0` and `PMCEID1` with their views, `PMMIR`, and the fixed
//! fields of `PMCR` (Arm ARM D13.5; PMU guide, Appendix B). The event bits come from the event
//! table.

use sim_core::PmuEvent;

/// Rename slots per cycle: `PMMIR_EL1.SLOTS`. The other fields are not implemented.
pub const PMMIR: u64 = 5;
/// `PMCR_EL0.IMP` (Arm) and `IDCODE` (the core's part number ends in 0x49).
pub const PMCR_ID: u64 = 0x41 << 24 | 0x49 << 16;

/// Number of events in one word.
const WORD_EVENTS: u16 = 32;

/// One of the four 32-bit words that identify the implemented common events.
///
/// AArch64 reads two words in one register: `PMCEID0_EL0` is `PMCEID2:PMCEID0`, `PMCEID1_EL0` is
/// `PMCEID3:PMCEID1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommonEventWord {
    /// Events 0x0000 to 0x001F.
    Pmceid0,
    /// Events 0x0020 to 0x003F.
    Pmceid1,
    /// Events 0x4000 to 0x401F.
    Pmceid2,
    /// Events 0x4020 to 0x403F.
    Pmceid3,
}

impl CommonEventWord {
    /// All four words.
    pub const ALL: [CommonEventWord; 4] = [
        CommonEventWord::Pmceid0,
        CommonEventWord::Pmceid1,
        CommonEventWord::Pmceid2,
        CommonEventWord::Pmceid3,
    ];

    /// Returns the event number of bit 0.
    pub fn first_event(self) -> u16 {
        match self {
            CommonEventWord::Pmceid0 => 0x0000,
            CommonEventWord::Pmceid1 => 0x0020,
            CommonEventWord::Pmceid2 => 0x4000,
            CommonEventWord::Pmceid3 => 0x4020,
        }
    }

    /// Returns the word and the bit of an event, or `None` for an event outside the common ranges.
    pub fn place(code: u16) -> Option<(CommonEventWord, u32)> {
        CommonEventWord::ALL.into_iter().find_map(|word| {
            let bit = code.checked_sub(word.first_event())?;
            (bit < WORD_EVENTS).then_some((word, u32::from(bit)))
        })
    }

    /// Returns the AArch64 register that holds the word, and the position of the word's bit `bit`
    /// in it.
    pub fn aarch64_place(self, bit: u32) -> (&'static str, u32) {
        match self {
            CommonEventWord::Pmceid0 => ("PMCEID0_EL0", bit),
            CommonEventWord::Pmceid1 => ("PMCEID1_EL0", bit),
            CommonEventWord::Pmceid2 => ("PMCEID0_EL0", 32 + bit),
            CommonEventWord::Pmceid3 => ("PMCEID1_EL0", 32 + bit),
        }
    }

    /// Returns Arm's name without the AArch64 suffix.
    pub fn name(self) -> &'static str {
        match self {
            CommonEventWord::Pmceid0 => "PMCEID0",
            CommonEventWord::Pmceid1 => "PMCEID1",
            CommonEventWord::Pmceid2 => "PMCEID2",
            CommonEventWord::Pmceid3 => "PMCEID3",
        }
    }

    /// Returns the offset of the word in the external debug interface.
    pub fn external_offset(self) -> u16 {
        match self {
            CommonEventWord::Pmceid0 => 0xE20,
            CommonEventWord::Pmceid1 => 0xE24,
            CommonEventWord::Pmceid2 => 0xE28,
            CommonEventWord::Pmceid3 => 0xE2C,
        }
    }

    /// Returns CRm and op2 of the AArch32 read, `MRC p15, 0, Rt, c9, CRm, op2`.
    pub fn aarch32_encoding(self) -> (u8, u8) {
        match self {
            CommonEventWord::Pmceid0 => (12, 6),
            CommonEventWord::Pmceid1 => (12, 7),
            CommonEventWord::Pmceid2 => (14, 4),
            CommonEventWord::Pmceid3 => (14, 5),
        }
    }

    /// Returns the word of a core that can count the events accepted by `is_implemented`.
    pub fn of(self, is_implemented: impl Fn(u16) -> bool) -> u32 {
        (0..WORD_EVENTS)
            .filter(|bit| is_implemented(self.first_event() + bit))
            .fold(0, |word, bit| word | 1 << bit)
    }

    /// Returns the word of the Neoverse N2.
    pub fn value(self) -> u32 {
        self.of(is_countable)
    }
}

/// Returns whether a counter can count this event. An event that never counts is not implemented.
pub fn is_countable(code: u16) -> bool {
    PmuEvent::from_code(u32::from(code)).is_ok_and(|event| !event.never_counts())
}

/// Returns `PMCEID0_EL0` and `PMCEID1_EL0`.
pub fn pmceid() -> [u64; 2] {
    use CommonEventWord::*;
    let both = |high: CommonEventWord, low: CommonEventWord| {
        u64::from(high.value()) << 32 | u64::from(low.value())
    };
    [both(Pmceid2, Pmceid0), both(Pmceid3, Pmceid1)]
}
