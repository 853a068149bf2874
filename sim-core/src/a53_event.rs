//! PMU events of the Cortex-A53 that have a number, and their names in Linux.
//!
//! Numbers and mnemonics up to 0x87 are those of the Cortex-A53 manual, table 12.28. Higher numbers
//! have no mnemonic there; theirs are the names that Linux' `perf` uses.

/// Declares the enum [`A53Event`] from one list.
macro_rules! events {
    ($($code:literal $name:ident,)*) => {
        /// A numbered PMU event of the Cortex-A53.
        #[allow(non_camel_case_types, missing_docs, reason = "Arm's mnemonics are the identifiers")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum A53Event {
            $($name,)*
        }

        /// Number of events of the Cortex-A53.
        pub const COUNT: usize = [$($code),*].len();

        impl A53Event {
            /// Every event, in the order of the numbers.
            pub const ALL: [A53Event; COUNT] = [$(A53Event::$name),*];

            /// Returns the event number.
            pub fn code(self) -> u16 {
                [$($code),*][self as usize]
            }

            /// Returns the mnemonic.
            pub fn mnemonic(self) -> &'static str {
                [$(stringify!($name)),*][self as usize]
            }
        }
    };
}

events! {
    0x00 SW_INCR,
    0x01 L1I_CACHE_REFILL,
    0x02 L1I_TLB_REFILL,
    0x03 L1D_CACHE_REFILL,
    0x04 L1D_CACHE,
    0x05 L1D_TLB_REFILL,
    0x06 LD_RETIRED,
    0x07 ST_RETIRED,
    0x08 INST_RETIRED,
    0x09 EXC_TAKEN,
    0x0A EXC_RETURN,
    0x0B CID_WRITE_RETIRED,
    0x0C PC_WRITE_RETIRED,
    0x0D BR_IMMED_RETIRED,
    0x0E BR_RETURN_RETIRED,
    0x0F UNALIGNED_LDST_RETIRED,
    0x10 BR_MIS_PRED,
    0x11 CPU_CYCLES,
    0x12 BR_PRED,
    0x13 MEM_ACCESS,
    0x14 L1I_CACHE,
    0x15 L1D_CACHE_WB,
    0x16 L2D_CACHE,
    0x17 L2D_CACHE_REFILL,
    0x18 L2D_CACHE_WB,
    0x19 BUS_ACCESS,
    0x1A MEMORY_ERROR,
    0x1D BUS_CYCLES,
    0x1E CHAIN,
    0x60 BUS_ACCESS_LD,
    0x61 BUS_ACCESS_ST,
    0x7A BR_INDIRECT_SPEC,
    0x86 EXC_IRQ,
    0x87 EXC_FIQ,
    0xC0 EXT_MEM_REQ,
    0xC1 EXT_MEM_REQ_NC,
    0xC2 PREFETCH_LINEFILL,
    0xC3 PREFETCH_LINEFILL_DROP,
    0xC4 READ_ALLOC_ENTER,
    0xC5 READ_ALLOC,
    0xC6 PRE_DECODE_ERR,
    0xC7 STALL_SB_FULL,
    0xC8 EXT_SNOOP,
    0xC9 BR_COND,
    0xCA BR_INDIRECT_MISPRED,
    0xCB BR_INDIRECT_MISPRED_ADDR,
    0xCC BR_COND_MISPRED,
    0xD0 L1I_CACHE_ERR,
    0xD1 L1D_CACHE_ERR,
    0xD2 TLB_ERR,
    0xE0 OTHER_IQ_DEP_STALL,
    0xE1 IC_DEP_STALL,
    0xE2 IUTLB_DEP_STALL,
    0xE3 DECODE_DEP_STALL,
    0xE4 OTHER_INTERLOCK_STALL,
    0xE5 AGU_DEP_STALL,
    0xE6 SIMD_DEP_STALL,
    0xE7 LD_DEP_STALL,
    0xE8 ST_DEP_STALL,
}

impl A53Event {
    /// Returns the event with this number.
    pub fn from_code(code: u16) -> Option<A53Event> {
        A53Event::ALL.into_iter().find(|event| event.code() == code)
    }

    /// Returns the event with this mnemonic, ignoring case.
    pub fn from_mnemonic(name: &str) -> Option<A53Event> {
        A53Event::ALL.into_iter().find(|event| event.mnemonic().eq_ignore_ascii_case(name))
    }
}

/// Names of Linux for this core that are no mnemonics, in lower case. Source: the maps of the
/// kernel's arm_pmuv3 driver, those of the Cortex-A53 included, and perf's list of its bus events.
const LINUX_NAMES: &[(&str, A53Event)] = &[
    ("cycles", A53Event::CPU_CYCLES),
    ("cpu-cycles", A53Event::CPU_CYCLES),
    ("instructions", A53Event::INST_RETIRED),
    // The core has no BR_RETIRED, so that the driver takes writes to the PC.
    ("branches", A53Event::PC_WRITE_RETIRED),
    ("branch-instructions", A53Event::PC_WRITE_RETIRED),
    ("branch-misses", A53Event::BR_MIS_PRED),
    ("bus-cycles", A53Event::BUS_CYCLES),
    ("cache-references", A53Event::L1D_CACHE),
    ("cache-misses", A53Event::L1D_CACHE_REFILL),
    ("l1-dcache-loads", A53Event::L1D_CACHE),
    ("l1-dcache-load-misses", A53Event::L1D_CACHE_REFILL),
    ("l1-dcache-prefetch-misses", A53Event::PREFETCH_LINEFILL),
    ("l1-icache-loads", A53Event::L1I_CACHE),
    ("l1-icache-load-misses", A53Event::L1I_CACHE_REFILL),
    ("dtlb-load-misses", A53Event::L1D_TLB_REFILL),
    ("itlb-load-misses", A53Event::L1I_TLB_REFILL),
    ("branch-loads", A53Event::BR_PRED),
    ("branch-load-misses", A53Event::BR_MIS_PRED),
    ("node-loads", A53Event::BUS_ACCESS_LD),
    ("node-stores", A53Event::BUS_ACCESS_ST),
    ("bus_access_rd", A53Event::BUS_ACCESS_LD),
    ("bus_access_wr", A53Event::BUS_ACCESS_ST),
];

impl A53Event {
    /// Returns the event with a name of Linux, ignoring case: a mnemonic, a generic name, or `rNN`.
    pub fn from_linux_name(name: &str) -> Option<A53Event> {
        let lower = name.to_ascii_lowercase();
        if let Some((_, event)) = LINUX_NAMES.iter().find(|(linux, _)| *linux == lower) {
            return Some(*event);
        }
        let digits = lower.strip_prefix("0x").or_else(|| lower.strip_prefix('r'));
        let code = digits.and_then(|hex| u16::from_str_radix(hex, 16).ok());
        code.and_then(A53Event::from_code).or_else(|| A53Event::from_mnemonic(&lower))
    }

    /// Returns the event that a user names, as [`A53Event::from_linux_name`] does.
    ///
    /// # Errors
    /// There is no such event. The text does not begin with the name.
    pub fn from_name(name: &str) -> Result<A53Event, String> {
        A53Event::from_linux_name(name).ok_or_else(|| {
            String::from(
                "the Cortex-A53 has no such event; `n2sim list events --core cortex-a53` lists them",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_mnemonic_and_a_number() {
        for name in ["rE7", "r0e7", "ld_dep_stall", "LD_DEP_STALL"] {
            assert_eq!(A53Event::from_name(name), Ok(A53Event::LD_DEP_STALL), "{name}");
        }
        assert!(
            A53Event::from_name("stall_slot").is_err_and(|error| error.contains("no such event"))
        );
    }

    #[test]
    fn every_linux_name_finds_its_event() {
        for (name, event) in [
            ("cycles", A53Event::CPU_CYCLES),
            ("L1-dcache-prefetch-misses", A53Event::PREFETCH_LINEFILL),
            ("branches", A53Event::PC_WRITE_RETIRED),
            ("ld_dep_stall", A53Event::LD_DEP_STALL),
            ("BUS_ACCESS_LD", A53Event::BUS_ACCESS_LD),
            ("bus_access_rd", A53Event::BUS_ACCESS_LD),
            ("rE7", A53Event::LD_DEP_STALL),
            ("r00c0", A53Event::EXT_MEM_REQ),
        ] {
            assert_eq!(A53Event::from_linux_name(name), Some(event), "{name}");
        }
        for absent in ["l1d_cache_rd", "stalled-cycles-frontend", "r3f", "LLC-loads", "read"] {
            assert_eq!(A53Event::from_linux_name(absent), None, "{absent}");
        }
        for event in A53Event::ALL {
            assert_eq!(A53Event::from_linux_name(event.mnemonic()), Some(event));
        }
    }
}
