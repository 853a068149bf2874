//! What an event is a count of: the unit, the stage, the side and the structure. Two counts can be
//! divided in a meaningful way only if one is of the other's population.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::{Group, Unit};

/// What one count stands for in an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// An instruction; branches are such.
    Instruction,
    /// A rename slot, used by an operation or empty.
    Slot,
    /// A cycle of the core clock.
    Cycle,
    /// A tick of the system counter.
    Tick,
    /// An access to a cache, a TLB, the bus or memory, or what it led to.
    Access,
    /// An exception, a sample, a write by software.
    Occurrence,
    /// An operation on one element of a vector.
    Element,
    /// A second.
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

    /// One of it, for messages.
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

/// Which instructions or operations are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Those of wrong paths too.
    Speculative,
    /// Those that retired.
    Retired,
    /// It counts neither instructions nor operations.
    Neither,
}

/// What an access was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Data.
    Data,
    /// Fetches.
    Fetch,
    /// Both: the L2 and what is behind it.
    Both,
}

/// Where the access went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A cache.
    Cache,
    /// A TLB, or the walks behind it.
    Tlb,
    /// Neither.
    Other,
}

/// Which direction an access has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both, or it has none.
    Any,
}

/// What an event is a count of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// The unit.
    pub base: Base,
    /// Speculative or retired.
    pub stage: Stage,
    /// Data or fetches; only accesses have a side.
    pub side: Option<Side>,
    /// Cache or TLB.
    pub structure: Structure,
    /// Reads or writes.
    pub direction: Direction,
    /// True for all instructions or all operations, not a class of them.
    pub is_total: bool,
}

/// The population of an event.
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

fn base(event: PmuEvent) -> Base {
    let info = event.info();
    match (info.unit, info.group) {
        (Unit::Slot, _) => Base::Slot,
        _ if matches!(event, OP_SPEC | OP_RETIRED) => Base::Slot,
        _ if event == CNT_CYCLES => Base::Tick,
        (Unit::Cycle, _) => Base::Cycle,
        _ if matches!(event, FP_SCALE_OPS_SPEC | FP_FIXED_OPS_SPEC) => Base::Element,
        // Loads and stores by how their addresses lie, counted where they access.
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
    fn events_are_of_their_population() {
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

    /// A new event must find its place here: each of the table has a unit that its group allows.
    #[test]
    fn every_speculative_event_counts_work() {
        for event in PmuEvent::ALL {
            let name = event.mnemonic();
            if name.ends_with("_SPEC") {
                assert_eq!(population(event).stage, Stage::Speculative, "{name}");
            }
        }
    }
}
