//! One step: what it does, how it starts, on which path it runs.

use sim_core::{ExceptionKind, RootCause, Snoop, StallCause};

use super::elements::Elements;
use super::place::Place;

/// How a step starts relative to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// After everything before it is complete.
    After,
    /// While the one before it may still wait.
    With,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One instruction fetch inside one line, outside the pipeline.
    Fetch {
        /// Address of the first word.
        addr: u64,
    },
    /// One instruction.
    Execute {
        /// The A64 word.
        word: u32,
        /// What its operand register holds, for those that address memory or manage it.
        operand: Option<Xt>,
        /// A branch that goes to its target.
        taken: bool,
        /// A store-exclusive that does not store, whatever the monitor says.
        exclusive_fails: bool,
        /// The elements that a governing predicate lets it work on.
        elements: Elements,
    },
    /// An agent outside this core wants the line.
    Snoop {
        /// What it wants.
        snoop: Snoop,
        /// Address in the line.
        addr: u64,
    },
    /// An I/O agent puts the line into this core's L2.
    Stash {
        /// Address in the line.
        addr: u64,
    },
    /// One A32 instruction, of those that the guide names.
    ExecuteA32 {
        /// The word.
        word: u32,
        /// Its data address, if it has one.
        operand: Option<Xt>,
    },
    /// An interrupt is raised.
    Interrupt(ExceptionKind),
    /// The core stays awake with nothing to do.
    Idle {
        /// Cycles since the counters were cleared at which the step ends.
        until: u64,
    },
    /// One cycle of the rename slots.
    Rename {
        /// Operations that the front end gives.
        offered: u8,
        /// How many of them the back end takes.
        accepted: u8,
        /// What is full when it takes no more, or would be, and what that waits for.
        blocked: Option<(StallCause, RootCause)>,
    },
}

/// The value of the register that an instruction takes its operand from (X1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xt {
    /// A virtual address.
    Address(u64),
    /// The level, set and way that hold an address now.
    SetAndWay {
        /// Address that is held there.
        addr: u64,
        /// Level 2 instead of level 1.
        level2: bool,
    },
    /// The page number of an address with an ASID; `None` for the current one.
    Page {
        /// Address in the page.
        addr: u64,
        /// Address space.
        asid: Option<u16>,
    },
    /// An ASID in the upper bits.
    Asid(u16),
    /// A plain value.
    Value(u64),
}

impl Xt {
    pub(super) fn moved(self, by: u64) -> Xt {
        match self {
            Xt::Address(addr) => Xt::Address(addr.wrapping_add(by)),
            Xt::SetAndWay { addr, level2 } => Xt::SetAndWay { addr: addr.wrapping_add(by), level2 },
            Xt::Page { addr, asid } => Xt::Page { addr: addr.wrapping_add(by), asid },
            Xt::Asid(_) | Xt::Value(_) => self,
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// As written.
    pub text: String,
    /// Where it is written.
    pub place: Place,
    /// How it starts.
    pub join: Join,
    /// It runs on a wrong path.
    pub wrong_path: bool,
    /// What it does.
    pub action: Action,
    /// For a branch: what stands in the direction that it does not take.
    pub other_path: Vec<Step>,
}

/// A step with its offset in the file instead of its place.
#[derive(Clone)]
pub(super) struct RawStep {
    pub(super) offset: usize,
    pub(super) text: String,
    pub(super) join: Join,
    pub(super) wrong_path: bool,
    pub(super) action: Action,
    pub(super) other_path: Vec<RawStep>,
}

/// Where a step stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    Right,
    /// In brackets.
    Wrong,
    /// In the `else` of a branch.
    Other,
}
