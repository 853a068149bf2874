//! Cores whose PMU events are events of the Neoverse N2, under the same numbers and mnemonics.
//!
//! Source: Arm's telemetry data of each core (telemetry-solution, `data/pmu/cpu/neoverse/`, commit
//! 917257c7): its list of events, part number and slots per cycle.

use crate::PmuEvent;
use crate::pmu_event::{NOT_MODELED, UnmodeledEvent};

/// Core with the events of the Neoverse N2, or some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelatedCore {
    /// Name on the command line.
    pub name: &'static str,
    /// Name in sentences.
    pub title: &'static str,
    /// Part number, as in MIDR_EL1.
    pub part: u32,
    /// Rename slots per cycle.
    pub slots: u32,
    /// Numbers of the events of the Neoverse N2 that the core lacks, in ascending order.
    lacks: &'static [u16],
}

/// The Neoverse N2 itself.
pub const NEOVERSE_N2: RelatedCore =
    RelatedCore { name: "neoverse-n2", title: "Neoverse N2", part: 0xD49, slots: 5, lacks: &[] };

/// The Neoverse V2, which lacks only an event that stays 0 on the Neoverse N2.
pub const NEOVERSE_V2: RelatedCore = RelatedCore {
    name: "neoverse-v2",
    title: "Neoverse V2",
    part: 0xD4F,
    slots: 8,
    lacks: &[0x0072],
};

/// The Neoverse V1: no trace and trigger events, no tag checks, no counts by element size.
pub const NEOVERSE_V1: RelatedCore = RelatedCore {
    name: "neoverse-v1",
    title: "Neoverse V1",
    part: 0xD40,
    slots: 8,
    lacks: &[
        0x0072, 0x400C, 0x4010, 0x4011, 0x4012, 0x4013, 0x4018, 0x4019, 0x401A, 0x401B, 0x4020,
        0x4021, 0x4022, 0x4024, 0x4025, 0x4026, 0x8014, 0x8018, 0x801C, 0x8079, 0x80E3, 0x80E7,
        0x80EB, 0x80EF,
    ],
};

/// The Neoverse N1, which has no SVE and does not count slots. The slots are those of its telemetry
/// data.
pub const NEOVERSE_N1: RelatedCore = RelatedCore {
    name: "neoverse-n1",
    title: "Neoverse N1",
    part: 0xD0C,
    slots: 5,
    lacks: &[
        0x0039, 0x003A, 0x003B, 0x003C, 0x003D, 0x003E, 0x003F, 0x0072, 0x4004, 0x4005, 0x4006,
        0x4009, 0x400B, 0x400C, 0x4010, 0x4011, 0x4012, 0x4013, 0x4018, 0x4019, 0x401A, 0x401B,
        0x4020, 0x4021, 0x4022, 0x4024, 0x4025, 0x4026, 0x8005, 0x8006, 0x8014, 0x8018, 0x801C,
        0x8074, 0x8075, 0x8076, 0x8077, 0x8079, 0x80BC, 0x80BD, 0x80C0, 0x80C1, 0x80E3, 0x80E7,
        0x80EB, 0x80EF,
    ],
};

/// Every such core.
pub static ALL: [RelatedCore; 4] = [NEOVERSE_N2, NEOVERSE_N1, NEOVERSE_V1, NEOVERSE_V2];

impl RelatedCore {
    /// Returns the core with this name.
    pub fn from_name(name: &str) -> Option<&'static RelatedCore> {
        ALL.iter().find(|core| core.name == name)
    }

    /// Returns whether the core has the event.
    pub fn has(&self, event: PmuEvent) -> bool {
        !self.lacks.contains(&event.code())
    }

    /// Returns the trace and trigger events of the core, which n2sim does not model on any.
    pub fn unmodeled(&self) -> impl Iterator<Item = &'static UnmodeledEvent> {
        let lacks = self.lacks;
        NOT_MODELED.iter().filter(move |event| !lacks.contains(&event.code))
    }

    /// Returns the events of the Neoverse N2 that the core lacks.
    pub fn lacking(&self) -> impl Iterator<Item = PmuEvent> {
        let core = *self;
        PmuEvent::ALL.into_iter().filter(move |event| !core.has(*event))
    }

    /// Returns whether this is the Neoverse N2.
    pub fn is_n2(&self) -> bool {
        self.part == NEOVERSE_N2.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of events in the telemetry data: 155, 132 and 110. The guide of the Neoverse N2 has
    /// one more.
    #[test]
    fn every_core_has_as_many_events_as_its_telemetry_data() {
        let number = |core: &RelatedCore| {
            PmuEvent::ALL.into_iter().filter(|event| core.has(*event)).count()
                + core.unmodeled().count()
        };
        assert_eq!(ALL.each_ref().map(number), [156, 110, 132, 155]);
        assert_eq!(NEOVERSE_V2.lacking().collect::<Vec<_>>(), [PmuEvent::LDST_SPEC]);
        assert!(!NEOVERSE_N1.has(PmuEvent::STALL_SLOT) && NEOVERSE_V1.has(PmuEvent::STALL_SLOT));
    }

    #[test]
    fn lists_are_ascending_and_of_known_events() {
        for core in &ALL {
            assert!(core.lacks.is_sorted_by(|a, b| a < b), "{}", core.name);
            let unknown = |code: &&u16| {
                PmuEvent::from_code(u32::from(**code)).is_err()
                    && !NOT_MODELED.iter().any(|event| event.code == **code)
            };
            assert_eq!(core.lacks.iter().find(unknown), None, "{}", core.name);
            assert_eq!(RelatedCore::from_name(core.name), Some(core));
        }
    }
}
