//! The system registers of the profiling extension: names, encodings, the bits that exist, identities
//! (SPE supplement 4.1 and 4.3).

use crate::register::Encoding;

use super::config::SpeConfig;

/// A register of the Statistical Profiling Extension.
#[allow(
    non_camel_case_types,
    clippy::upper_case_acronyms,
    reason = "Arm's names are the identifiers"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpeRegister {
    /// Where EL1 lets operations be sampled, and what may be collected.
    PMSCR_EL1,
    /// The interval counters.
    PMSICR_EL1,
    /// The interval, and whether it is random.
    PMSIRR_EL1,
    /// Which filters are on, and the types that one of them collects.
    PMSFCR_EL1,
    /// Events that a collected sample must have.
    PMSEVFR_EL1,
    /// Least latency of a collected sample.
    PMSLATFR_EL1,
    /// What this unit can do; it cannot be written.
    PMSIDR_EL1,
    /// End of the buffer, and its enable.
    PMBLIMITR_EL1,
    /// Where the next record goes.
    PMBPTR_EL1,
    /// Why the buffer stopped.
    PMBSR_EL1,
    /// Alignment of records, and whether the buffer is the program's; it cannot be written.
    PMBIDR_EL1,
    /// Where EL2 lets operations be sampled, and what may be collected.
    PMSCR_EL2,
    /// `PMSCR_EL1` as a host at EL2 reaches it.
    PMSCR_EL12,
}

use SpeRegister::*;

/// Every register with its name and encoding.
const ROWS: [(SpeRegister, &str, Encoding); 13] = [
    (PMSCR_EL1, "PMSCR_EL1", Encoding::new(0, 9, 9, 0)),
    (PMSICR_EL1, "PMSICR_EL1", Encoding::new(0, 9, 9, 2)),
    (PMSIRR_EL1, "PMSIRR_EL1", Encoding::new(0, 9, 9, 3)),
    (PMSFCR_EL1, "PMSFCR_EL1", Encoding::new(0, 9, 9, 4)),
    (PMSEVFR_EL1, "PMSEVFR_EL1", Encoding::new(0, 9, 9, 5)),
    (PMSLATFR_EL1, "PMSLATFR_EL1", Encoding::new(0, 9, 9, 6)),
    (PMSIDR_EL1, "PMSIDR_EL1", Encoding::new(0, 9, 9, 7)),
    (PMBLIMITR_EL1, "PMBLIMITR_EL1", Encoding::new(0, 9, 10, 0)),
    (PMBPTR_EL1, "PMBPTR_EL1", Encoding::new(0, 9, 10, 1)),
    (PMBSR_EL1, "PMBSR_EL1", Encoding::new(0, 9, 10, 3)),
    (PMBIDR_EL1, "PMBIDR_EL1", Encoding::new(0, 9, 10, 7)),
    (PMSCR_EL2, "PMSCR_EL2", Encoding::new(4, 9, 9, 0)),
    (PMSCR_EL12, "PMSCR_EL12", Encoding::new(5, 9, 9, 0)),
];

impl SpeRegister {
    /// Every register.
    pub fn all() -> impl Iterator<Item = SpeRegister> {
        ROWS.into_iter().map(|(register, ..)| register)
    }

    /// The register with this encoding, if it belongs to the extension.
    pub fn from_encoding(encoding: Encoding) -> Option<SpeRegister> {
        ROWS.iter().find(|(.., own)| *own == encoding).map(|(register, ..)| *register)
    }

    /// The register with this name, in any case.
    pub fn from_name(name: &str) -> Option<SpeRegister> {
        let named = |(_, own, _): &&(_, &str, _)| own.eq_ignore_ascii_case(name);
        ROWS.iter().find(named).map(|(register, ..)| *register)
    }

    /// Arm's name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The fields that name it in an instruction.
    pub fn encoding(self) -> Encoding {
        self.row().2
    }

    fn row(self) -> &'static (SpeRegister, &'static str, Encoding) {
        let row = ROWS.iter().find(|(register, ..)| *register == self);
        row.expect("every register has a row")
    }

    /// True for a register that `MSR` cannot write.
    pub fn is_read_only(self) -> bool {
        matches!(self, PMSIDR_EL1 | PMBIDR_EL1)
    }
}

/// Bits of `PMSCR_EL1` and `PMSCR_EL2`.
pub mod pmscr {
    /// Sampling at EL0: `E0SPE`, in `PMSCR_EL2` `E0HSPE`.
    pub const E0: u64 = 1 << 0;
    /// Sampling at the level that the register belongs to: `E1SPE`, `E2SPE`.
    pub const OWN: u64 = 1 << 1;
    /// Collect `CONTEXTIDR` of the level.
    pub const CX: u64 = 1 << 3;
    /// Collect physical addresses.
    pub const PA: u64 = 1 << 4;
    /// Collect timestamps.
    pub const TS: u64 = 1 << 5;
    /// Timestamps are of the physical counter.
    pub const PCT: u64 = 1 << 6;
    /// All of them.
    pub const ALL: u64 = E0 | OWN | CX | PA | TS | PCT;
}

/// Bits of `PMSIRR_EL1`.
pub mod pmsirr {
    /// The interval is random.
    pub const RND: u64 = 1 << 0;
    /// `INTERVAL`, in its place: the interval in operations, a multiple of 256.
    pub const INTERVAL: u64 = 0xFFFF_FF00;
}

/// Bits of `PMSICR_EL1`.
pub mod pmsicr {
    /// The interval counter.
    pub const COUNT: u64 = 0xFFFF_FFFF;
    /// Where the second counter begins, on a unit that has one.
    pub const ECOUNT_SHIFT: u32 = 56;
}

/// Bits of `PMSFCR_EL1`.
pub mod pmsfcr {
    /// Filter by events.
    pub const FE: u64 = 1 << 0;
    /// Filter by type.
    pub const FT: u64 = 1 << 1;
    /// Filter by latency.
    pub const FL: u64 = 1 << 2;
    /// Branches are collected.
    pub const B: u64 = 1 << 16;
    /// Loads are collected.
    pub const LD: u64 = 1 << 17;
    /// Stores are collected.
    pub const ST: u64 = 1 << 18;
    /// All of them.
    pub const ALL: u64 = FE | FT | FL | B | LD | ST;
}

/// Bits of `PMBLIMITR_EL1`.
pub mod pmblimitr {
    /// The buffer is enabled.
    pub const E: u64 = 1 << 0;
    /// What happens when it is full; every value means that collection stops.
    pub const FM: u64 = 0b11 << 1;
    /// The first address behind the buffer.
    pub const LIMIT: u64 = !0xFFF;
}

/// Bits of `PMBSR_EL1`.
pub mod pmbsr {
    /// Fault status, or the status of the buffer.
    pub const MSS: u64 = 0x3F;
    /// A sample collided.
    pub const COLL: u64 = 1 << 16;
    /// The unit asks for service: its interrupt is asserted.
    pub const S: u64 = 1 << 17;
    /// An external abort.
    pub const EA: u64 = 1 << 18;
    /// A part of a record was lost.
    pub const DL: u64 = 1 << 19;
    /// The class of the event.
    pub const EC: u64 = 0x3F << 26;
    /// Where it begins.
    pub const EC_SHIFT: u32 = 26;
    /// EC of a fault in stage 1.
    pub const STAGE_1: u64 = 0b10_0100;
    /// EC of a fault in stage 2.
    pub const STAGE_2: u64 = 0b10_0101;
    /// MSS of a full buffer.
    pub const FULL: u64 = 1;
    /// All of them.
    pub const ALL: u64 = MSS | COLL | S | EA | DL | EC;
}

/// Bits of `PMBIDR_EL1` beside `Align`.
pub mod pmbidr {
    /// The buffer belongs to a higher level or to the other security state.
    pub const P: u64 = 1 << 4;
}

/// `E[n]` of the events that the core has and can filter by: retired, L1D refill, walk, mispredicted, and
/// those of SPEv1p1: alignment, partial and empty predicate.
pub const FILTERABLE_EVENTS: u64 = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 11 | 1 << 17 | 1 << 18;
/// `MINLAT`.
pub const MINLAT: u64 = 0xFFF;
/// `PMSIDR_EL1.ERnd`.
const ERND: u64 = 1 << 5;
/// `PMSIDR_EL1` of N2: 12-bit counters, records of 64 bytes, an interval of 1024 or more, data
/// sources, micro-operations, all three filters.
const PMSIDR: u64 = 0x2_6417;

/// What software has written, with only the bits set that exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) pmscr_el1: u64,
    pub(crate) pmscr_el2: u64,
    pub(crate) pmsirr: u64,
    pub(crate) pmsfcr: u64,
    pub(crate) pmsevfr: u64,
    pub(crate) pmslatfr: u64,
}

/// `PMSIDR_EL1` of a unit with these choices.
pub(crate) fn pmsidr(config: &SpeConfig) -> u64 {
    PMSIDR | if config.random_after_interval { ERND } else { 0 }
}

/// `PMBIDR_EL1` of a unit with these choices, without `P`. `F` is 0: the buffer's translations leave
/// flags alone.
pub(crate) fn pmbidr(config: &SpeConfig) -> u64 {
    u64::from(config.align_bytes.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_is_found_by_name_and_by_encoding() {
        for register in SpeRegister::all() {
            assert_eq!(SpeRegister::from_encoding(register.encoding()), Some(register));
            let name = register.name().to_lowercase();
            assert_eq!(SpeRegister::from_name(&name), Some(register));
            assert_eq!(crate::Register::from_encoding(register.encoding()), None, "{name}");
        }
        assert_eq!(SpeRegister::from_name("PMSCR_EL3"), None);
    }

    /// Words as GNU as 2.40 assembles them with -march=armv8.2-a+profile.
    #[test]
    fn the_words_of_an_assembler_name_their_registers() {
        for (word, name) in [
            (0xD538_9900, "PMSCR_EL1"),
            (0xD518_9941, "PMSICR_EL1"),
            (0xD538_99E0, "PMSIDR_EL1"),
            (0xD518_9A01, "PMBLIMITR_EL1"),
            (0xD538_9A60, "PMBSR_EL1"),
            (0xD538_9AE0, "PMBIDR_EL1"),
            (0xD53C_9900, "PMSCR_EL2"),
            (0xD53D_9900, "PMSCR_EL12"),
        ] {
            let found = SpeRegister::from_encoding(Encoding::of_word(word));
            assert_eq!(found.map(SpeRegister::name), Some(name), "{word:#x}");
        }
    }

    #[test]
    fn the_identities_are_those_of_the_core() {
        let mut config = SpeConfig::default();
        assert_eq!((pmsidr(&config), pmbidr(&config)), (0x26417, 6));
        (config.random_after_interval, config.align_bytes) = (true, 1);
        assert_eq!((pmsidr(&config), pmbidr(&config)), (0x26437, 0));
    }
}
