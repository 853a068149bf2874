//! What each static instruction cost. Grows with the code that runs.

use sim_core::operation::{AccessKind, BranchCourse};
use sim_core::{InstId, OpLife, Operation, OperationKind};

use super::column::Column;
use super::latency::SOURCES;
use super::slot_class::ClassSlots;

/// Kind of a branch instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BranchKind {
    /// `B.cond`, `CBZ`, `TBZ`.
    Conditional,
    /// `B`.
    Direct,
    /// `BL`.
    Call,
    /// `BR`.
    Indirect,
    /// `BLR`.
    IndirectCall,
    /// `RET`.
    Return,
}

impl BranchKind {
    /// Every kind.
    pub const ALL: [BranchKind; 6] = [
        BranchKind::Conditional,
        BranchKind::Direct,
        BranchKind::Call,
        BranchKind::Indirect,
        BranchKind::IndirectCall,
        BranchKind::Return,
    ];

    fn of(course: BranchCourse) -> BranchKind {
        match course {
            BranchCourse { conditional: true, .. } => BranchKind::Conditional,
            BranchCourse { function_return: true, .. } => BranchKind::Return,
            BranchCourse { indirect: true, call: true, .. } => BranchKind::IndirectCall,
            BranchCourse { indirect: true, .. } => BranchKind::Indirect,
            BranchCourse { call: true, .. } => BranchKind::Call,
            _ => BranchKind::Direct,
        }
    }
}

/// What an instruction is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeKind {
    /// Neither of the others.
    #[default]
    Other,
    /// A load.
    Load,
    /// A store, or `DC ZVA`.
    Store,
    /// An atomic.
    Atomic,
    /// A branch, but no exception return.
    Branch(BranchKind),
}

impl CodeKind {
    fn of(kind: OperationKind) -> CodeKind {
        match kind {
            OperationKind::Branch(course) if course.exception_return => CodeKind::Other,
            OperationKind::Branch(course) => CodeKind::Branch(BranchKind::of(course)),
            OperationKind::Access(access) => match access.kind {
                AccessKind::Load => CodeKind::Load,
                AccessKind::Store | AccessKind::ZeroLine => CodeKind::Store,
                AccessKind::AtomicLoad | AccessKind::AtomicStore | AccessKind::AtomicSwap => {
                    CodeKind::Atomic
                }
            },
            OperationKind::Other => CodeKind::Other,
        }
    }
}

/// What one static instruction cost.
#[derive(Clone, Debug, Default)]
pub struct InstCost {
    /// Where it is.
    pub pc: u64,
    /// What it is.
    pub kind: CodeKind,
    /// How often it retired.
    pub retired: u64,
    /// How often it was executed and thrown away.
    pub squashed: u64,
    /// Cycles up to the rename of what comes behind it.
    pub cycles: u64,
    /// Events (index: `Column as usize`).
    pub columns: [u64; Column::COUNT],
    /// Rename slots that it is charged with (index: [`super::slot_class::SlotClass::index`]).
    pub slots: ClassSlots,
    /// Of an access that retired: where its data was (index: place in [`SOURCES`]).
    pub sources: [u64; SOURCES.len()],
    /// Of a load that retired: cycles from issue to data.
    pub load_cycles: u64,
    /// Of a branch that retired: how often it was taken.
    pub taken: u64,
    /// Of a branch that retired: how often it was mispredicted.
    pub mispredicted: u64,
    is_met: bool,
}

impl InstCost {
    /// All slots that it is charged with.
    pub fn all_slots(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// Adds the cost of other code; what it is and where stays.
    pub fn add(&mut self, other: &InstCost) {
        let pairs = [
            (&mut self.retired, other.retired),
            (&mut self.squashed, other.squashed),
            (&mut self.cycles, other.cycles),
            (&mut self.load_cycles, other.load_cycles),
            (&mut self.taken, other.taken),
            (&mut self.mispredicted, other.mispredicted),
        ];
        pairs.into_iter().for_each(|(sum, n)| *sum += n);
        add_all(&mut self.columns, &other.columns);
        add_all(&mut self.slots, &other.slots);
        add_all(&mut self.sources, &other.sources);
    }

    /// It went through the core.
    #[inline]
    pub(crate) fn execute(&mut self, operation: &Operation) {
        let life = &operation.life;
        if !life.retired {
            self.squashed += 1;
            return;
        }
        self.retired += 1;
        match operation.kind {
            OperationKind::Branch(course) => {
                self.taken += u64::from(course.taken);
                self.mispredicted += u64::from(life.mispredicted);
            }
            OperationKind::Access(access) => {
                self.sources[life.source as usize] += 1;
                if access.kind == AccessKind::Load {
                    self.load_cycles += cycles_of(life);
                }
            }
            OperationKind::Other => {}
        }
    }
}

/// Cycles of a load from issue to data.
#[inline]
pub(crate) fn cycles_of(life: &OpLife) -> u64 {
    life.complete.saturating_sub(life.issue)
}

fn add_all<const N: usize>(sums: &mut [u64; N], others: &[u64; N]) {
    sums.iter_mut().zip(others).for_each(|(sum, n)| *sum += n);
}

/// The costs of all code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    costs: Vec<InstCost>,
    pub(crate) elsewhere: InstCost,
}

impl Profile {
    /// Makes sure that this instruction has a row.
    #[inline]
    pub(crate) fn meet(&mut self, operation: &Operation) {
        let number = operation.life.inst as usize;
        if number >= self.costs.len() {
            self.costs.resize_with((number + 1).next_power_of_two(), InstCost::default);
        }
        let cost = &mut self.costs[number];
        if !cost.is_met {
            *cost = InstCost {
                pc: operation.life.pc,
                kind: CodeKind::of(operation.kind),
                is_met: true,
                ..InstCost::default()
            };
        }
    }

    /// The row of an instruction that was met; of none, what is charged to nobody.
    #[inline]
    pub(crate) fn of(&mut self, inst: Option<InstId>) -> &mut InstCost {
        match inst {
            Some(inst) => &mut self.costs[inst as usize],
            None => &mut self.elsewhere,
        }
    }

    /// The rows of all that were met.
    pub(crate) fn met(&self) -> impl Iterator<Item = (InstId, &InstCost)> {
        (0..).zip(&self.costs).filter(|(_, cost)| cost.is_met)
    }
}
