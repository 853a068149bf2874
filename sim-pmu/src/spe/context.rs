//! Context of profiling: the levels and states in which it is enabled, the owner of the buffer, and
//! the fields that may be collected (SPE supplement 3.2.1, 3.3, 3.4.2).

use sim_core::Privilege;

use super::registers::{Registers, pmscr};

/// Fields of `MDCR_EL2` and `MDCR_EL3` that control profiling.
pub mod mdcr {
    /// `MDCR_EL2.E2PB`: owner of the buffer below EL3, and EL1's access to the buffer registers.
    pub const E2PB: u64 = 0b11 << 12;
    /// `MDCR_EL2.TPMS`: traps EL1's accesses to the sampling registers.
    pub const TPMS: u64 = 1 << 14;
    /// `MDCR_EL3.NSPB`: security state that owns the buffer, and its access to the buffer
    /// registers.
    pub const NSPB: u64 = 0b11 << 12;
    /// Shift of both two-bit fields.
    pub const BUFFER_SHIFT: u32 = 12;
}

/// Owner of the profiling buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The owner is the secure state.
    pub secure: bool,
    /// Exception level of the owner, 1 or 2.
    pub level: u8,
}

/// Time source of a record's timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeStamp {
    /// No timestamp.
    #[default]
    None,
    /// Virtual time, `CNTVCT_EL0`.
    Virtual,
    /// Physical time, `CNTPCT_EL0`.
    Physical,
}

/// Optional fields that a record may contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) context_el1: bool,
    pub(crate) context_el2: bool,
    pub(crate) physical_address: bool,
    pub(crate) time: TimeStamp,
}

/// Context of profiling: the program's level and state, and the controls of higher levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpeContext {
    pub(crate) privilege: Privilege,
    /// The program is A32 code.
    pub(crate) aarch32: bool,
    /// The core is in Debug state.
    pub(crate) debug: bool,
    pub(crate) mdcr_el2: u64,
    pub(crate) mdcr_el3: u64,
}

impl SpeContext {
    pub(crate) fn e2pb(&self) -> u64 {
        (self.mdcr_el2 & mdcr::E2PB) >> mdcr::BUFFER_SHIFT
    }

    pub(crate) fn nspb(&self) -> u64 {
        (self.mdcr_el3 & mdcr::NSPB) >> mdcr::BUFFER_SHIFT
    }

    /// Returns the owner of the buffer.
    pub(crate) fn owner(&self) -> Owner {
        let secure = self.nspb() & 0b10 == 0;
        let level = if !secure && self.e2pb() == 0 { 2 } else { 1 };
        Owner { secure, level }
    }

    /// Returns whether the owner's security state is the state of the levels below EL3.
    pub(crate) fn is_owners_state(&self) -> bool {
        self.owner().secure == self.privilege.secure
    }

    /// Returns whether applications run under a host at EL2.
    fn is_hosted(&self) -> bool {
        !self.privilege.is_secure() && self.privilege.tge
    }

    /// Returns whether the levels and states permit that operations are sampled. The buffer's own
    /// enable is checked separately.
    pub(crate) fn samples(&self, registers: &Registers) -> bool {
        let (owner, level) = (self.owner(), self.privilege.level);
        let is_excluded = owner.level < level
            || owner.secure != self.privilege.is_secure()
            || self.is_hosted() && owner.level == 1;
        if self.aarch32 || self.debug || is_excluded {
            return false;
        }
        let enable = match level {
            0 if self.is_hosted() => registers.pmscr_el2 & pmscr::E0,
            0 => registers.pmscr_el1 & pmscr::E0,
            1 => registers.pmscr_el1 & pmscr::OWN,
            _ => registers.pmscr_el2 & pmscr::OWN,
        };
        enable != 0
    }

    /// Returns the optional fields of records in this context.
    pub(crate) fn collected(&self, registers: &Registers) -> Collected {
        let owner = self.owner();
        let el1 = |bit: u64| registers.pmscr_el1 & bit != 0;
        let el2 = |bit: u64| registers.pmscr_el2 & bit != 0;
        let both = |bit: u64| match owner {
            Owner { secure: true, .. } => el1(bit),
            Owner { level: 2, .. } => el2(bit),
            _ => el1(bit) && el2(bit),
        };
        let has_time = if owner.level == 2 { el2(pmscr::TS) } else { el1(pmscr::TS) };
        let is_secure = self.privilege.is_secure();
        Collected {
            context_el1: el1(pmscr::CX) && self.privilege.level != 2 && !self.is_hosted(),
            context_el2: el2(pmscr::CX) && !is_secure,
            physical_address: both(pmscr::PA),
            time: match (has_time, both(pmscr::PCT)) {
                (false, _) => TimeStamp::None,
                (true, true) => TimeStamp::Physical,
                (true, false) => TimeStamp::Virtual,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: Registers = Registers {
        pmscr_el1: pmscr::ALL,
        pmscr_el2: pmscr::ALL,
        pmsirr: 0,
        pmsfcr: 0,
        pmsevfr: 0,
        pmslatfr: 0,
    };

    fn at(level: u8, secure: bool, tge: bool, nspb: u64, e2pb: u64) -> SpeContext {
        let privilege = Privilege { level, e2h: tge, tge, secure };
        let shifted = |field: u64| field << mdcr::BUFFER_SHIFT;
        SpeContext {
            privilege,
            mdcr_el2: shifted(e2pb),
            mdcr_el3: shifted(nspb),
            ..SpeContext::default()
        }
    }

    /// Returns the enable bits that decide for one cell of table 3: 'a' E0SPE, 'b' E1SPE, 'c'
    /// E0HSPE, 'd' E2SPE, '-' none.
    fn decides(state: &SpeContext) -> String {
        let bits =
            [('a', 1, pmscr::E0), ('b', 1, pmscr::OWN), ('c', 2, pmscr::E0), ('d', 2, pmscr::OWN)];
        let with = |of: u8, bit: u64| Registers {
            pmscr_el1: if of == 1 { bit } else { 0 },
            pmscr_el2: if of == 2 { bit } else { 0 },
            ..EACH
        };
        let found: String = bits
            .iter()
            .filter(|(_, of, bit)| state.samples(&with(*of, *bit)))
            .map(|(name, ..)| *name)
            .collect();
        if found.is_empty() { "-".to_owned() } else { found }
    }

    /// Table 3 of the supplement, S.EN.1 to S.EN.7: the cells for EL3, EL2, EL1 and EL0.
    #[test]
    fn each_cell_of_the_table_has_its_own_enable() {
        type Row = (bool, &'static [u64], &'static [u64], &'static [bool], &'static str);
        let table: [Row; 7] = [
            (false, &[2, 3], &[2, 3], &[false], "--ba"),
            (false, &[2, 3], &[2, 3], &[true], "---- "),
            (false, &[2, 3], &[0], &[false], "-dba"),
            (false, &[2, 3], &[0], &[true], "-d-c"),
            (false, &[0, 1], &[0, 1, 2, 3], &[false, true], "----"),
            (true, &[2, 3], &[0, 1, 2, 3], &[false, true], "----"),
            (true, &[0, 1], &[0, 1, 2, 3], &[false, true], "--ba"),
        ];
        for (secure, nspb, e2pb, tge, cells) in table {
            for (nspb, e2pb, tge) in nspb
                .iter()
                .flat_map(|n| e2pb.iter().flat_map(move |e| tge.iter().map(move |t| (*n, *e, *t))))
            {
                let levels: Vec<u8> = (0..4).rev().collect();
                let cell = |level: &u8| decides(&at(*level, secure, tge, nspb, e2pb));
                // The secure state has no EL2, and under a host there is no EL1.
                let exists = |level: u8| !(secure && level == 2 || !secure && tge && level == 1);
                for (level, expected) in levels.iter().zip(cells.chars()) {
                    if exists(*level) {
                        let found = cell(level);
                        assert_eq!(found, expected.to_string(), "EL{level} {nspb} {e2pb} {tge}");
                    }
                }
            }
        }
    }

    #[test]
    fn a32_code_and_debug_state_are_never_sampled() {
        let state = at(0, false, false, 3, 3);
        assert!(state.samples(&EACH));
        assert!(!SpeContext { aarch32: true, ..state }.samples(&EACH));
        assert!(!SpeContext { debug: true, ..state }.samples(&EACH));
    }

    #[test]
    fn contexts_are_collected_where_they_are_valid() {
        let both = |state: SpeContext| {
            let Collected { context_el1, context_el2, .. } = state.collected(&EACH);
            (context_el1, context_el2)
        };
        assert_eq!(both(at(0, false, false, 3, 3)), (true, true));
        assert_eq!(both(at(0, false, true, 3, 0)), (false, true), "a host's application");
        assert_eq!(both(at(2, false, false, 3, 0)), (false, true), "EL2");
        assert_eq!(both(at(1, true, false, 1, 0)), (true, false), "the secure state");
    }

    #[test]
    fn an_owner_at_el1_needs_permission_of_el2_for_addresses_and_time() {
        let with = |pmscr_el1, pmscr_el2| Registers { pmscr_el1, pmscr_el2, ..EACH };
        let guest = at(0, false, false, 3, 3);
        let host = at(0, false, true, 3, 0);
        let secure = at(0, true, false, 1, 0);
        let collected = |state: SpeContext, registers: Registers| {
            let Collected { physical_address, time, .. } = state.collected(&registers);
            (physical_address, time)
        };
        use TimeStamp::{None, Physical, Virtual};
        let all = pmscr::ALL;
        assert_eq!(collected(guest, with(all, 0)), (false, Virtual));
        assert_eq!(collected(guest, with(all, all)), (true, Physical));
        assert_eq!(collected(guest, with(0, all)), (false, None));
        assert_eq!(collected(host, with(0, all)), (true, Physical));
        assert_eq!(collected(host, with(all, pmscr::TS)), (false, Virtual));
        assert_eq!(collected(secure, with(all, 0)), (true, Physical));
        assert_eq!(collected(secure, with(pmscr::TS, all)), (false, Virtual));
    }
}
