//! What the PMU says of itself: `PMCEID0` and `PMCEID1` with their views, `PMMIR`, the fixed fields
//! of `PMCR` (Arm ARM D13.5; PMU guide, Appendix B). The event bits come from the event table.

use sim_core::PmuEvent;

/// Rename slots per cycle: `PMMIR_EL1.SLOTS`. The other fields are not implemented.
pub const PMMIR: u64 = 5;
/// `PMCR_EL0.IMP` (Arm) and `IDCODE` (the core's part number ends in 0x49).
pub const PMCR_ID: u64 = 0x41 << 24 | 0x49 << 16;

/// Events in one word.
const WORD_EVENTS: u16 = 32;

/// One of the four 32-bit words that say which common events are there.
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
    /// All four.
    pub const ALL: [CommonEventWord; 4] = [
        CommonEventWord::Pmceid0,
        CommonEventWord::Pmceid1,
        CommonEventWord::Pmceid2,
        CommonEventWord::Pmceid3,
    ];

    /// The event of bit 0.
    pub fn first_event(self) -> u16 {
        match self {
            CommonEventWord::Pmceid0 => 0x0000,
            CommonEventWord::Pmceid1 => 0x0020,
            CommonEventWord::Pmceid2 => 0x4000,
            CommonEventWord::Pmceid3 => 0x4020,
        }
    }

    /// The word and bit of an event; `None` for events outside the common ranges.
    pub fn place(code: u16) -> Option<(CommonEventWord, u32)> {
        CommonEventWord::ALL.into_iter().find_map(|word| {
            let bit = code.checked_sub(word.first_event())?;
            (bit < WORD_EVENTS).then_some((word, u32::from(bit)))
        })
    }

    /// The register of AArch64 that has the word, and which of its bits is `bit` of the word.
    pub fn aarch64_place(self, bit: u32) -> (&'static str, u32) {
        match self {
            CommonEventWord::Pmceid0 => ("PMCEID0_EL0", bit),
            CommonEventWord::Pmceid1 => ("PMCEID1_EL0", bit),
            CommonEventWord::Pmceid2 => ("PMCEID0_EL0", 32 + bit),
            CommonEventWord::Pmceid3 => ("PMCEID1_EL0", 32 + bit),
        }
    }

    /// Arm's name, without the suffix of AArch64.
    pub fn name(self) -> &'static str {
        match self {
            CommonEventWord::Pmceid0 => "PMCEID0",
            CommonEventWord::Pmceid1 => "PMCEID1",
            CommonEventWord::Pmceid2 => "PMCEID2",
            CommonEventWord::Pmceid3 => "PMCEID3",
        }
    }

    /// Where the external debug interface has the word.
    pub fn external_offset(self) -> u16 {
        match self {
            CommonEventWord::Pmceid0 => 0xE20,
            CommonEventWord::Pmceid1 => 0xE24,
            CommonEventWord::Pmceid2 => 0xE28,
            CommonEventWord::Pmceid3 => 0xE2C,
        }
    }

    /// CRm and op2 of the AArch32 read, `MRC p15, 0, Rt, c9, CRm, op2`.
    pub fn aarch32_encoding(self) -> (u8, u8) {
        match self {
            CommonEventWord::Pmceid0 => (12, 6),
            CommonEventWord::Pmceid1 => (12, 7),
            CommonEventWord::Pmceid2 => (14, 4),
            CommonEventWord::Pmceid3 => (14, 5),
        }
    }

    /// The word of a core on which the events that `is_there` names can be counted.
    pub fn of(self, is_there: impl Fn(u16) -> bool) -> u32 {
        (0..WORD_EVENTS)
            .filter(|bit| is_there(self.first_event() + bit))
            .fold(0, |word, bit| word | 1 << bit)
    }

    /// The word of the Neoverse N2.
    pub fn value(self) -> u32 {
        self.of(is_countable)
    }
}

/// True if a counter can be made to count this event: an event that never counts is not there.
pub fn is_countable(code: u16) -> bool {
    PmuEvent::from_code(u32::from(code)).is_ok_and(|event| !event.never_counts())
}

/// `PMCEID0_EL0` and `PMCEID1_EL0`.
pub fn pmceid() -> [u64; 2] {
    use CommonEventWord::*;
    let both = |high: CommonEventWord, low: CommonEventWord| {
        u64::from(high.value()) << 32 | u64::from(low.value())
    };
    [both(Pmceid2, Pmceid0), both(Pmceid3, Pmceid1)]
}
