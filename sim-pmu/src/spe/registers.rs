//! System registers of the profiling extension: names, encodings, implemented bits and
//! identification values (SPE supplement 4.1 and 4.3).

use crate::register::Encoding;

use super::config::SpeConfig;

/// Register of the Statistical Profiling Extension.
#[allow(
    non_camel_case_types,
    clippy::upper_case_acronyms,
    reason = "Arm's names are the identifiers"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpeRegister {
    /// Sampling enables of EL1, and the fields to collect.
    PMSCR_EL1,
    /// Interval counters.
    PMSICR_EL1,
    /// Interval, and its random bit.
    PMSIRR_EL1,
    /// Enabled filters, and the operation types to collect.
    PMSFCR_EL1,
    /// Events that a collected sample must have.
    PMSEVFR_EL1,
    /// Smallest latency of a collected sample.
    PMSLATFR_EL1,
    /// Capabilities of the unit, read-only.
    PMSIDR_EL1,
    /// End of the buffer, and its enable.
    PMBLIMITR_EL1,
    /// Address of the next record.
    PMBPTR_EL1,
    /// Reason why the buffer stopped.
    PMBSR_EL1,
    /// Alignment of records and the program's access to the buffer, read-only.
    PMBIDR_EL1,
    /// Sampling enables of EL2, and the fields to collect.
    PMSCR_EL2,
    /// `PMSCR_EL1` as a host at EL2 accesses it.
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
    /// Returns every register.
    pub fn all() -> impl Iterator<Item = SpeRegister> {
        ROWS.into_iter().map(|(register, ..)| register)
    }

    /// Returns the register with this encoding, if it belongs to the extension.
    pub fn from_encoding(encoding: Encoding) -> Option<SpeRegister> {
        ROWS.iter().find(|(.., own)| *own == encoding).map(|(register, ..)| *register)
    }

    /// Returns the register with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<SpeRegister> {
        let named = |(_, own, _): &&(_, &str, _)| own.eq_ignore_ascii_case(name);
        ROWS.iter().find(named).map(|(register, ..)| *register)
    }

    /// Returns Arm's name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Returns the fields that name the register in an instruction.
    pub fn encoding(self) -> Encoding {
        self.row().2
    }

    fn row(self) -> &'static (SpeRegister, &'static str, Encoding) {
        let row = ROWS.iter().find(|(register, ..)| *register == self);
        row.expect("every register has a row")
    }

    /// Returns whether `MSR` cannot write the register.
    pub fn is_read_only(self) -> bool {
        matches!(self, PMSIDR_EL1 | PMBIDR_EL1)
    }
}

/// Bits of `PMSCR_EL1` and `PMSCR_EL2`.
pub mod pmscr {
    /// Enables sampling at EL0: `E0SPE`, or `E0HSPE` in `PMSCR_EL2`.
    pub const E0: u64 = 1 << 0;
    /// Enables sampling at the level of the register: `E1SPE`, `E2SPE`.
    pub const OWN: u64 = 1 << 1;
    /// Collects the level's `CONTEXTIDR`.
    pub const CX: u64 = 1 << 3;
    /// Collects physical addresses.
    pub const PA: u64 = 1 << 4;
    /// Collects timestamps.
    pub const TS: u64 = 1 << 5;
    /// Takes timestamps from the physical counter.
    pub const PCT: u64 = 1 << 6;
    /// All bits of the register.
    pub const ALL: u64 = E0 | OWN | CX | PA | TS | PCT;
}

/// Bits of `PMSIRR_EL1`.
pub mod pmsirr {
    /// Makes the interval random.
    pub const RND: u64 = 1 << 0;
    /// `INTERVAL` at its position: the interval in operations, a multiple of 256.
    pub const INTERVAL: u64 = 0xFFFF_FF00;
}

/// Bits of `PMSICR_EL1`.
pub mod pmsicr {
    /// Interval counter.
    pub const COUNT: u64 = 0xFFFF_FFFF;
    /// Shift of the second counter, on a unit that has one.
    pub const ECOUNT_SHIFT: u32 = 56;
}

/// Bits of `PMSFCR_EL1`.
pub mod pmsfcr {
    /// Enables the event filter.
    pub const FE: u64 = 1 << 0;
    /// Enables the type filter.
    pub const FT: u64 = 1 << 1;
    /// Enables the latency filter.
    pub const FL: u64 = 1 << 2;
    /// Collects branches.
    pub const B: u64 = 1 << 16;
    /// Collects loads.
    pub const LD: u64 = 1 << 17;
    /// Collects stores.
    pub const ST: u64 = 1 << 18;
    /// All bits of the register.
    pub const ALL: u64 = FE | FT | FL | B | LD | ST;
}

/// Bits of `PMBLIMITR_EL1`.
pub mod pmblimitr {
    /// Enables the buffer.
    pub const E: u64 = 1 << 0;
    /// Action when the buffer is full. Every value stops collection.
    pub const FM: u64 = 0b11 << 1;
    /// First address after the buffer.
    pub const LIMIT: u64 = !0xFFF;
}

/// Bits of `PMBSR_EL1`.
pub mod pmbsr {
    /// Fault status, or the status of the buffer.
    pub const MSS: u64 = 0x3F;
    /// A sample collided.
    pub const COLL: u64 = 1 << 16;
    /// Service request: the interrupt is asserted.
    pub const S: u64 = 1 << 17;
    /// External abort.
    pub const EA: u64 = 1 << 18;
    /// Part of a record was lost.
    pub const DL: u64 = 1 << 19;
    /// Class of the event.
    pub const EC: u64 = 0x3F << 26;
    /// Shift of the class.
    pub const EC_SHIFT: u32 = 26;
    /// EC of a stage 1 fault.
    pub const STAGE_1: u64 = 0b10_0100;
    /// EC of a stage 2 fault.
    pub const STAGE_2: u64 = 0b10_0101;
    /// MSS of a full buffer.
    pub const FULL: u64 = 1;
    /// All bits of the register.
    pub const ALL: u64 = MSS | COLL | S | EA | DL | EC;
}

/// Bits of `PMBIDR_EL1` other than `Align`.
pub mod pmbidr {
    /// The buffer belongs to a higher level or to the other security state.
    pub const P: u64 = 1 << 4;
}

/// Events that the core supports and can filter by, as `E[n]`: retired, L1D refill, walk,
/// mispredicted. The SPEv1p1 events alignment, partial predicate and empty predicate follow.
pub const FILTERABLE_EVENTS: u64 = 1 << 1 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 11 | 1 << 17 | 1 << 18;
/// Field `MINLAT` of `PMSLATFR_EL1`.
pub const MINLAT: u64 = 0xFFF;
/// Bit `PMSIDR_EL1.ERnd`.
const ERND: u64 = 1 << 5;
/// `PMSIDR_EL1` of N2: 12-bit counters, records of 64 bytes, an interval of 1024 or more, data
/// sources, micro-operations, all three filters.
const PMSIDR: u64 = 0x2_6417;

/// Registers as written by software. Bits that do not exist are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) pmscr_el1: u64,
    pub(crate) pmscr_el2: u64,
    pub(crate) pmsirr: u64,
    pub(crate) pmsfcr: u64,
    pub(crate) pmsevfr: u64,
    pub(crate) pmslatfr: u64,
}

/// Returns `PMSIDR_EL1` of a unit with these choices.
pub(crate) fn pmsidr(config: &SpeConfig) -> u64 {
    PMSIDR | if config.random_after_interval { ERND } else { 0 }
}

/// Returns `PMBIDR_EL1` of a unit with these choices, without `P`. `F` is 0: the buffer's
/// translations do not update flags.
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

    /// Instruction words assembled by GNU as 2.40 with -march=armv8.2-a+profile.
    #[test]
    fn assembled_words_name_their_registers() {
        for (word, name) in [
            (0xD538_9900u32, "PMSCR_EL1"),
            (0xD518_9941, "PMSICR_EL1"),
            (0xD538_99E0, "PMSIDR_EL1"),
            (0xD518_9A01, "PMBLIMITR_EL1"),
            (0xD538_9A60, "PMBSR_EL1"),
            (0xD538_9AE0, "PMBIDR_EL1"),
            (0xD53C_9900, "PMSCR_EL2"),
            (0xD53D_9900, "PMSCR_EL12"),
        ] {
            let found = SpeRegister::from_encoding(Encoding::of_bits((word >> 5) as u16));
            assert_eq!(found.map(SpeRegister::name), Some(name), "{word:#x}");
        }
    }

    #[test]
    fn identification_values_match_the_core() {
        let mut config = SpeConfig::default();
        assert_eq!((pmsidr(&config), pmbidr(&config)), (0x26417, 6));
        (config.random_after_interval, config.align_bytes) = (true, 1);
        assert_eq!((pmsidr(&config), pmbidr(&config)), (0x26437, 0));
    }
}
