//! One step: its action, its start, and its path.

use sim_core::{ExceptionKind, RootCause, Snoop, StallCause};

use super::elements::Elements;
use super::place::Place;

/// Start of a step relative to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Starts after everything before it is complete.
    After,
    /// Starts while the one before it may still wait.
    With,
}

/// Action of a step.
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
        /// Value of the operand register, for instructions that address or manage memory.
        operand: Option<Xt>,
        /// The branch is taken.
        taken: bool,
        /// Bytes from the branch to its target, which is in a register. `None` if the word has the
        /// target, or for two instructions after it.
        distance: Option<i64>,
        /// The store-exclusive does not store, whatever the state of the monitor.
        exclusive_fails: bool,
        /// Active elements by the governing predicate.
        elements: Elements,
    },
    /// A snoop by an agent outside this core.
    Snoop {
        /// Kind of the snoop.
        snoop: Snoop,
        /// Address in the line.
        addr: u64,
    },
    /// A write by an I/O agent into this core's L2.
    Stash {
        /// Address in the line.
        addr: u64,
    },
    /// A load or store of eight bytes by another core, outside any pipeline. That core counts
    /// nothing.
    OtherCore {
        /// Number of the core, from 1.
        core: u32,
        /// It stores.
        writes: bool,
        /// Address.
        addr: u64,
    },
    /// One of the A32 instructions that the guide names.
    ExecuteA32 {
        /// The A32 word.
        word: u32,
        /// Data address, if it has one.
        operand: Option<Xt>,
    },
    /// An interrupt.
    Interrupt(ExceptionKind),
    /// Time in which the core is awake and has nothing to do.
    Idle {
        /// Cycle of the case at which the step ends.
        until: u64,
    },
    /// One cycle of the rename slots.
    Rename {
        /// Number of operations from the front end.
        offered: u8,
        /// Number of operations that the back end accepts.
        accepted: u8,
        /// Full resource that limits the back end, and what it waits for.
        blocked: Option<(StallCause, RootCause)>,
    },
}

/// Value of the operand register X1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xt {
    /// A virtual address.
    Address(u64),
    /// Level, set and way that hold an address.
    SetAndWay {
        /// Address in the cache.
        addr: u64,
        /// Level 2 instead of level 1.
        level2: bool,
    },
    /// Page number of an address with an ASID; `None` for the current one.
    Page {
        /// Address in the page.
        addr: u64,
        /// Address space.
        asid: Option<u16>,
    },
    /// ASID in the upper bits.
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
    /// Text of the step.
    pub text: String,
    /// Place of the text.
    pub place: Place,
    /// Start relative to the step before.
    pub join: Join,
    /// The step runs on a wrong path.
    pub wrong_path: bool,
    /// Action of the step.
    pub action: Action,
    /// For a branch: the code in the direction that it does not take.
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

/// Path of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    Right,
    /// In brackets.
    Wrong,
    /// In the `else` of a branch.
    Other,
}
