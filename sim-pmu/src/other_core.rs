//! PMU events that the documents of other Arm cores describe. This is data without a model.
//!
//! Sources: the event table of the Cortex-A53 manual (section 12.9, with the bits of the exported
//! event bus and of the trace bus); the description of PMCEID1 of a Cortex-A32 class core (C9.4).

mod cortex_a53;

use crate::identification::CommonEventWord;

/// Event of another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherEvent {
    /// Event number; `None` for a bus condition that no counter can count.
    pub code: Option<u16>,
    /// Arm's mnemonic; `None` if the event has none.
    pub mnemonic: Option<&'static str>,
    /// Bit on the bus that leaves the core.
    pub bus_bit: Option<u8>,
    /// Bit on the bus to the trace unit.
    pub trace_bit: Option<u8>,
    /// Short description of the event.
    pub title: &'static str,
}

/// Presence of an event number according to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The core has it.
    There(&'static OtherEvent),
    /// The core does not have it.
    Absent,
    /// The document does not cover the number.
    Unknown,
}

/// Core other than the Neoverse N2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherCore {
    /// Name on the command line.
    pub name: &'static str,
    /// Document that describes its events.
    pub source: &'static str,
    /// Events of the core. Those with numbers are in ascending order.
    pub events: &'static [OtherEvent],
    /// First and last event number that the source covers.
    known: (u16, u16),
    /// Common events that the source names although the core does not have them.
    absent: &'static [(u16, &'static str)],
}

/// Cortex-A53 with all of its events.
pub const CORTEX_A53: OtherCore = OtherCore {
    name: "cortex-a53",
    source: "Cortex-A53 manual, 12.9",
    events: cortex_a53::EVENTS,
    known: (0, u16::MAX),
    absent: &[
        (0x1B, "INST_SPEC"),
        (0x1C, "TTBR_WRITE_RETIRED"),
        (0x1F, "L1D_CACHE_ALLOCATE"),
        (0x20, "L2D_CACHE_ALLOCATE"),
    ],
};

/// Cortex-A32 class core. Only its PMCEID1 is known, and it has none of those events.
pub const CORTEX_A32: OtherCore = OtherCore {
    name: "cortex-a32",
    source: "PMCEID1 of a Cortex-A32 class core, C9.4",
    events: &[],
    known: (0x20, 0x30),
    absent: &A32_PMCEID1,
};

/// Events of the bits of `PMCEID1` of a Cortex-A32 class core, bit 0 first (table C9-3).
const A32_PMCEID1: [(u16, &str); 17] = [
    (0x20, "L2D_CACHE_ALLOCATE"),
    (0x21, "BR_RETIRED"),
    (0x22, "BR_MIS_PRED_RETIRED"),
    (0x23, "STALL_FRONTEND"),
    (0x24, "STALL_BACKEND"),
    (0x25, "L1D_TLB"),
    (0x26, "L1I_TLB"),
    (0x27, "L2I_CACHE"),
    (0x28, "L2I_CACHE_REFILL"),
    (0x29, "L3D_CACHE_ALLOCATE"),
    (0x2A, "L3D_CACHE_REFILL"),
    (0x2B, "L3D_CACHE"),
    (0x2C, "L3D_CACHE_WB"),
    (0x2D, "L2D_TLB_REFILL"),
    (0x2E, "L2I_TLB_REFILL"),
    (0x2F, "L2D_TLB"),
    (0x30, "L2I_TLB"),
];

/// All cores other than the Neoverse N2.
pub const ALL: [OtherCore; 2] = [CORTEX_A32, CORTEX_A53];

impl OtherEvent {
    /// Returns whether this is the bus condition that two instructions retired in one cycle.
    pub fn is_two_retired(&self) -> bool {
        self.title == cortex_a53::TWO_RETIRED
    }
}

impl OtherCore {
    /// Returns the core with this name.
    pub fn from_name(name: &str) -> Option<OtherCore> {
        ALL.into_iter().find(|core| core.name.eq_ignore_ascii_case(name))
    }

    /// Returns whether the core has the event with this number.
    pub fn presence(&self, code: u16) -> Presence {
        let (first, last) = self.known;
        match self.events.iter().find(|event| event.code == Some(code)) {
            Some(event) => Presence::There(event),
            None if (first..=last).contains(&code) => Presence::Absent,
            None => Presence::Unknown,
        }
    }

    /// Returns the event with this mnemonic, ignoring case.
    pub fn from_mnemonic(&self, name: &str) -> Option<&'static OtherEvent> {
        let is_named = |own: &str| own.eq_ignore_ascii_case(name);
        self.events.iter().find(|event| event.mnemonic.is_some_and(is_named))
    }

    /// Returns the mnemonic of a common event that the source names, whether or not the core has
    /// the event.
    pub fn common_event_name(&self, code: u16) -> Option<&'static str> {
        let absent = || self.absent.iter().find(|(own, _)| *own == code).map(|(_, name)| *name);
        match self.presence(code) {
            Presence::There(event) => event.mnemonic,
            Presence::Absent | Presence::Unknown => absent(),
        }
    }

    /// Returns the first and the last event number that the source covers.
    pub fn known(&self) -> (u16, u16) {
        self.known
    }

    /// Returns one of the PMCEID words. The bit of an unknown event is 0.
    pub fn common_events(&self, word: CommonEventWord) -> u32 {
        word.of(|code| matches!(self.presence(code), Presence::There(_)))
    }

    /// Returns the exported event bus in one cycle from the count of each event number in that
    /// cycle. Conditions that no counter can count are left out, except the bit of two retired
    /// instructions.
    pub fn event_bus(&self, count: impl Fn(u16) -> u64) -> u32 {
        let is_raised = |event: &&OtherEvent| match event.code {
            Some(code) => count(code) > 0,
            None => event.is_two_retired() && count(INST_RETIRED) >= 2,
        };
        let raised = self.events.iter().filter(is_raised);
        raised.filter_map(|event| event.bus_bit).fold(0, |bus, bit| bus | 1 << bit)
    }
}

/// Number of `INST_RETIRED` on every core.
const INST_RETIRED: u16 = 0x08;

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::PmuEvent;

    #[test]
    fn bus_bits_are_ascending_and_unique() {
        let bits: Vec<u8> = CORTEX_A53.events.iter().filter_map(|event| event.bus_bit).collect();
        assert_eq!(bits, (0..29).collect::<Vec<u8>>());
        let trace: Vec<u8> = CORTEX_A53.events.iter().filter_map(|event| event.trace_bit).collect();
        assert_eq!(
            trace,
            (0..26).collect::<Vec<u8>>(),
            "the last three are on the exported bus only"
        );
    }

    /// X.A53.1, X.A53.2
    #[test]
    fn two_retired_instructions_have_a_bit_of_their_own() {
        let bus =
            |retired| CORTEX_A53.event_bus(|code| if code == INST_RETIRED { retired } else { 0 });
        assert_eq!([bus(0), bus(1), bus(2)], [0, 1 << 7, 1 << 7 | 1 << 8]);
    }

    /// X.A53.3
    #[test]
    fn bus_reads_and_writes_have_different_names_on_the_cortex_a53() {
        for (code, name, own) in [
            (0x60, "BUS_ACCESS_LD", PmuEvent::BUS_ACCESS_RD),
            (0x61, "BUS_ACCESS_ST", PmuEvent::BUS_ACCESS_WR),
        ] {
            let event = CORTEX_A53.from_mnemonic(name).expect("the table has it");
            assert_eq!((event.code, own.code()), (Some(code), code));
            assert_eq!((event.bus_bit, event.trace_bit), (None, None));
        }
    }

    /// X.A53.4
    #[test]
    fn six_common_events_of_the_cortex_a53_are_missing_on_the_n2() {
        let only_there: Vec<u16> = (0..0x40)
            .filter(|code| matches!(CORTEX_A53.presence(*code), Presence::There(_)))
            .filter(|code| PmuEvent::from_code(u32::from(*code)).is_err())
            .collect();
        assert_eq!(only_there, [0x06, 0x07, 0x0C, 0x0D, 0x0E, 0x0F]);
    }

    #[test]
    fn shared_numbers_have_shared_names_with_two_exceptions() {
        let renamed: Vec<u16> = CORTEX_A53
            .events
            .iter()
            .filter_map(|event| Some((event.code?, event.mnemonic?)))
            .filter(|(code, name)| {
                PmuEvent::from_code(u32::from(*code)).is_ok_and(|own| own.mnemonic() != *name)
            })
            .map(|(code, _)| code)
            .collect();
        assert_eq!(renamed, [0x60, 0x61]);
    }

    /// R.PMCEID.2
    #[test]
    fn a_cortex_a32_has_no_event_of_pmceid1() {
        assert_eq!(CORTEX_A32.common_events(CommonEventWord::Pmceid1), 0);
        assert_eq!(CORTEX_A32.presence(0x30), Presence::Absent);
        assert_eq!(CORTEX_A32.presence(0x31), Presence::Unknown);
        assert_eq!(CORTEX_A32.presence(0x11), Presence::Unknown);
    }
}
