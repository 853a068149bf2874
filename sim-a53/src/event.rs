//! PMU events of the Cortex-A53 that have a number, and their totals.
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

        /// Number of events.
        pub(crate) const COUNT: usize = [$($code),*].len();

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

impl A53Event {
    /// Returns why a run of a trace never raises the event; `None` if it can.
    pub fn never_raised(self) -> Option<&'static str> {
        match self {
            A53Event::SW_INCR => Some("a trace does not say which counters PMSWINC selects"),
            A53Event::CHAIN => Some("a counter raises it when the counter below overflows"),
            A53Event::EXT_MEM_REQ_NC => Some("all memory of the model is cacheable"),
            A53Event::PRE_DECODE_ERR | A53Event::DECODE_DEP_STALL => {
                Some("A64 has one size of instruction, so that pre-decode makes no error")
            }
            _ => None,
        }
    }
}

/// A condition that the event bus has a bit for, and the table no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum A53Condition {
    /// Memory error in the L2 cache, found by an access of the core.
    L2Error,
    /// Memory error in the snoop filter, found by an access of the core.
    SnoopFilterError,
    /// A cycle in which the vector unit is in retention.
    VectorRetention,
}

/// Number of conditions.
const CONDITIONS: usize = 3;

impl A53Condition {
    /// Every condition.
    pub const ALL: [A53Condition; CONDITIONS] =
        [A53Condition::L2Error, A53Condition::SnoopFilterError, A53Condition::VectorRetention];

    /// Returns its name on the bus.
    pub fn name(self) -> &'static str {
        match self {
            A53Condition::L2Error => "L2_CACHE_ERR",
            A53Condition::SnoopFilterError => "SNOOP_FILTER_ERR",
            A53Condition::VectorRetention => "SIMD_RETENTION",
        }
    }
}

/// Receiver of events.
pub trait A53Sink {
    /// Receives `times` occurrences of `event` in the cycle `cycle`. Cycles do not always ascend.
    ///
    /// A sink may ask for its caller: the place in the model that raises the event.
    #[track_caller]
    fn raise(&mut self, event: A53Event, cycle: u64, times: u64);

    /// Receives `times` cycles of `condition` from the cycle `cycle` on.
    #[track_caller]
    fn signal(&mut self, condition: A53Condition, cycle: u64, times: u64);
}

/// Total of each event and condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct A53Counts {
    events: [u64; COUNT],
    conditions: [u64; CONDITIONS],
}

impl Default for A53Counts {
    fn default() -> A53Counts {
        A53Counts { events: [0; COUNT], conditions: [0; CONDITIONS] }
    }
}

impl AsRef<A53Counts> for A53Counts {
    fn as_ref(&self) -> &A53Counts {
        self
    }
}

impl A53Counts {
    /// Returns the total of an event.
    pub fn value(&self, event: A53Event) -> u64 {
        self.events[event as usize]
    }

    /// Returns the cycles of a condition.
    pub fn cycles_of(&self, condition: A53Condition) -> u64 {
        self.conditions[condition as usize]
    }

    /// Returns what was counted since these totals.
    #[must_use]
    pub fn since(&self, before: &A53Counts) -> A53Counts {
        A53Counts {
            events: std::array::from_fn(|at| self.events[at] - before.events[at]),
            conditions: std::array::from_fn(|at| self.conditions[at] - before.conditions[at]),
        }
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &A53Counts) {
        self.events.iter_mut().zip(&other.events).for_each(|(own, more)| *own += more);
        let conditions = self.conditions.iter_mut().zip(&other.conditions);
        conditions.for_each(|(own, more)| *own += more);
    }
}

impl A53Sink for A53Counts {
    #[inline]
    fn raise(&mut self, event: A53Event, _: u64, times: u64) {
        self.events[event as usize] += times;
    }

    #[inline]
    fn signal(&mut self, condition: A53Condition, _: u64, times: u64) {
        self.conditions[condition as usize] += times;
    }
}
