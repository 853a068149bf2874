//! Population that an event counts: its unit, stage, side and structure. A quotient of two counts
//! is meaningful only if one belongs to the population of the other.

use sim_core::A53Event;
use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::{Group, Unit};

/// Unit of one count in an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// Instruction, including branches.
    Instruction,
    /// Rename slot, used by an operation or empty.
    Slot,
    /// Cycle of the core clock.
    Cycle,
    /// Tick of the system counter.
    Tick,
    /// Access to a cache, a TLB, the bus or memory, or an outcome of an access.
    Access,
    /// Exception, sample, or write by software.
    Occurrence,
    /// Operation on one element of a vector.
    Element,
    /// Second.
    Second,
}

impl Base {
    /// Every base.
    pub const ALL: [Base; 8] = [
        Base::Instruction,
        Base::Slot,
        Base::Cycle,
        Base::Tick,
        Base::Access,
        Base::Occurrence,
        Base::Element,
        Base::Second,
    ];

    /// Returns the plural name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Base::Instruction => "instructions",
            Base::Slot => "slots",
            Base::Cycle => "cycles",
            Base::Tick => "counter ticks",
            Base::Access => "accesses",
            Base::Occurrence => "occurrences",
            Base::Element => "element operations",
            Base::Second => "seconds",
        }
    }
}

/// Pipeline stage of the counted instructions or operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Executed, including wrong paths.
    Speculative,
    /// Retired.
    Retired,
    /// Counts neither instructions nor operations.
    Neither,
}

/// Purpose of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Data access.
    Data,
    /// Fetch.
    Fetch,
    /// Both: the L2 and all lower levels.
    Both,
}

/// Structure that is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// Cache.
    Cache,
    /// TLB, or a table walk after a TLB miss.
    Tlb,
    /// Any other structure.
    Other,
}

/// Direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Both, or no direction.
    Any,
}

/// Population that an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// Unit of the count.
    pub base: Base,
    /// Speculative or retired.
    pub stage: Stage,
    /// Data or fetches; only accesses have a side.
    pub side: Option<Side>,
    /// Cache or TLB.
    pub structure: Structure,
    /// Reads or writes.
    pub direction: Direction,
    /// Counts all instructions or all operations rather than a class of them.
    pub is_total: bool,
}

/// Returns the population of an event.
pub fn population(event: PmuEvent) -> Population {
    let info = event.info();
    let name = info.mnemonic;
    let base = base(event);
    let counts_work =
        matches!(base, Base::Instruction | Base::Element) || matches!(event, OP_SPEC | OP_RETIRED);
    let is_retired = name.ends_with("_RETIRED");
    Population {
        base,
        stage: match (counts_work, is_retired) {
            (false, _) => Stage::Neither,
            (true, true) => Stage::Retired,
            (true, false) => Stage::Speculative,
        },
        side: (base == Base::Access).then(|| side(event, info.group)),
        structure: match info.group {
            Group::Tlb => Structure::Tlb,
            Group::L1d | Group::L1i | Group::L2 | Group::Llc => Structure::Cache,
            _ => Structure::Other,
        },
        direction: direction(name),
        is_total: matches!(event, INST_SPEC | INST_RETIRED | OP_SPEC | OP_RETIRED),
    }
}

/// Returns the population of an event of a Cortex-A53.
pub fn of_a53(event: A53Event) -> Population {
    let name = event.mnemonic();
    let has = |word: &str| name.split('_').any(|part| part == word);
    let base = a53_base(event);
    Population {
        base,
        stage: match base {
            Base::Instruction if name.ends_with("_RETIRED") => Stage::Retired,
            // What is counted at issue may be of a wrong path.
            _ => Stage::Neither,
        },
        side: (base == Base::Access).then(|| match () {
            () if name.starts_with("L1I") => Side::Fetch,
            () if name.starts_with("L1D") || has("MEM") && !has("EXT") => Side::Data,
            () => Side::Both,
        }),
        structure: match () {
            () if has("TLB") => Structure::Tlb,
            () if has("CACHE") => Structure::Cache,
            () => Structure::Other,
        },
        direction: match () {
            () if has("LD") => Direction::Read,
            () if has("ST") => Direction::Write,
            () => Direction::Any,
        },
        is_total: event == A53Event::INST_RETIRED,
    }
}

fn a53_base(event: A53Event) -> Base {
    use A53Event as E;
    let name = event.mnemonic();
    match event {
        E::CPU_CYCLES | E::BUS_CYCLES | E::READ_ALLOC => Base::Cycle,
        _ if name.contains("STALL") => Base::Cycle,
        E::SW_INCR | E::CHAIN | E::CID_WRITE_RETIRED | E::READ_ALLOC_ENTER | E::PRE_DECODE_ERR => {
            Base::Occurrence
        }
        _ if name.starts_with("EXC") || name.ends_with("ERR") || name.ends_with("ERROR") => {
            Base::Occurrence
        }
        _ if name.starts_with("BR_") || name.ends_with("_RETIRED") => Base::Instruction,
        _ => Base::Access,
    }
}

fn base(event: PmuEvent) -> Base {
    let info = event.info();
    match (info.unit, info.group) {
        (Unit::Slot, _) => Base::Slot,
        _ if matches!(event, OP_SPEC | OP_RETIRED) => Base::Slot,
        _ if event == CNT_CYCLES => Base::Tick,
        (Unit::Cycle, _) => Base::Cycle,
        _ if matches!(event, FP_SCALE_OPS_SPEC | FP_FIXED_OPS_SPEC) => Base::Element,
        // Unaligned loads and stores count as accesses.
        _ if matches!(event, TTBR_WRITE_RETIRED | CID_WRITE_RETIRED | MEMORY_ERROR) => {
            Base::Occurrence
        }
        (_, Group::Instruction | Group::Branch | Group::LoadStore | Group::Simd) => {
            Base::Instruction
        }
        (_, Group::Exception | Group::Cpu | Group::Spe) => Base::Occurrence,
        _ => Base::Access,
    }
}

fn side(event: PmuEvent, group: Group) -> Side {
    match group {
        Group::L1i => Side::Fetch,
        Group::L1d => Side::Data,
        Group::Tlb => match event {
            L1I_TLB | L1I_TLB_REFILL | ITLB_WALK => Side::Fetch,
            _ if event.mnemonic().starts_with("L2D_TLB") => Side::Both,
            _ => Side::Data,
        },
        _ if event.mnemonic().starts_with("MEM_ACCESS") => Side::Data,
        _ if event.mnemonic().contains("ALIGN_LAT") => Side::Data,
        _ => Side::Both,
    }
}

fn direction(name: &str) -> Direction {
    let has = |word: &str| name.split('_').any(|part| part == word);
    match (has("RD"), has("WR")) {
        (true, false) => Direction::Read,
        (false, true) => Direction::Write,
        _ => Direction::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_their_population() {
        let base = |event| population(event).base;
        assert_eq!(
            (base(OP_SPEC), base(STALL_SLOT), base(STALL)),
            (Base::Slot, Base::Slot, Base::Cycle)
        );
        assert_eq!((base(BR_MIS_PRED), base(LD_SPEC)), (Base::Instruction, Base::Instruction));
        assert_eq!((base(CNT_CYCLES), base(BUS_CYCLES)), (Base::Tick, Base::Cycle));
        assert_eq!((base(EXC_TAKEN), base(FP_FIXED_OPS_SPEC)), (Base::Occurrence, Base::Element));
        assert_eq!((base(DTLB_WALK), base(LL_CACHE_RD)), (Base::Access, Base::Access));
        let side = |event| population(event).side;
        assert_eq!((side(L2D_TLB_REFILL), side(L1D_TLB)), (Some(Side::Both), Some(Side::Data)));
        assert_eq!((side(ITLB_WALK), side(INST_SPEC)), (Some(Side::Fetch), None));
        assert_eq!(population(LL_CACHE_MISS_RD).direction, Direction::Read);
        assert_eq!(population(L1D_CACHE_WR).direction, Direction::Write);
        let stage = |event| population(event).stage;
        assert_eq!((stage(BR_MIS_PRED), stage(BR_RETIRED)), (Stage::Speculative, Stage::Retired));
        assert_eq!((stage(OP_RETIRED), stage(STALL_SLOT)), (Stage::Retired, Stage::Neither));
    }

    #[test]
    fn events_of_the_cortex_a53_have_their_population() {
        use A53Event as E;
        let base = |event| of_a53(event).base;
        assert_eq!((base(E::LD_DEP_STALL), base(E::STALL_SB_FULL)), (Base::Cycle, Base::Cycle));
        assert_eq!((base(E::BR_PRED), base(E::LD_RETIRED)), (Base::Instruction, Base::Instruction));
        assert_eq!((base(E::L2D_CACHE), base(E::EXT_SNOOP)), (Base::Access, Base::Access));
        assert_eq!((base(E::MEMORY_ERROR), base(E::TLB_ERR)), (Base::Occurrence, Base::Occurrence));
        let side = |event| of_a53(event).side;
        assert_eq!(
            (side(E::L1I_CACHE), side(E::MEM_ACCESS)),
            (Some(Side::Fetch), Some(Side::Data))
        );
        assert_eq!(
            (side(E::L2D_CACHE), side(E::EXT_MEM_REQ)),
            (Some(Side::Both), Some(Side::Both))
        );
        assert_eq!(of_a53(E::BUS_ACCESS_ST).direction, Direction::Write);
    }

    /// Every event of the table must have a unit that its group allows, so a new event needs an
    /// entry here.
    #[test]
    fn every_event_has_a_unit_of_its_group() {
        for event in PmuEvent::ALL {
            let name = event.mnemonic();
            if name.ends_with("_SPEC") {
                assert_eq!(population(event).stage, Stage::Speculative, "{name}");
            }
        }
    }
}
