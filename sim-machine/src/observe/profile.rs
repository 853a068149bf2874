//! Costs of static instructions. The table grows with the code that runs.

use sim_core::operation::{AccessKind, BranchCourse};
use sim_core::{InstId, OpTimeline, Operation, OperationKind};

use super::column::Column;
use super::latency::SOURCES;
use super::slot_class::ClassSlots;

/// Type of a branch instruction.
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
    /// All branch types.
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

/// Type of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeKind {
    /// Any other instruction, exception returns included.
    #[default]
    Other,
    /// Load.
    Load,
    /// Store or `DC ZVA`.
    Store,
    /// Atomic access.
    Atomic,
    /// Branch other than an exception return.
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

/// Cost of one static instruction.
#[derive(Clone, Debug, Default)]
pub struct InstCost {
    /// Address.
    pub pc: u64,
    /// Type.
    pub kind: CodeKind,
    /// Number of retired executions.
    pub retired: u64,
    /// Number of squashed executions.
    pub squashed: u64,
    /// Cycles up to the rename of the next instruction.
    pub cycles: u64,
    /// Events (index: `Column as usize`).
    pub columns: [u64; Column::COUNT],
    /// Rename slots charged to the instruction (index: [`super::slot_class::SlotClass::index`]).
    pub slots: ClassSlots,
    /// Data sources of retired accesses (index: position in [`SOURCES`]).
    pub sources: [u64; SOURCES.len()],
    /// Cycles of retired loads from issue to data.
    pub load_cycles: u64,
    /// Number of taken executions of a retired branch.
    pub taken: u64,
    /// Number of mispredicted executions of a retired branch.
    pub mispredicted: u64,
    has_run: bool,
}

impl InstCost {
    /// Returns all slots charged to the instruction.
    pub fn all_slots(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// Adds the cost of other code. Type and address stay.
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

    /// Counts one execution.
    #[inline]
    pub(crate) fn execute(&mut self, operation: &Operation) {
        let timeline = &operation.timeline;
        if !timeline.retired {
            self.squashed += 1;
            return;
        }
        self.retired += 1;
        match operation.kind {
            OperationKind::Branch(course) => {
                self.taken += u64::from(course.taken);
                self.mispredicted += u64::from(timeline.mispredicted);
            }
            OperationKind::Access(access) => {
                self.sources[timeline.source as usize] += 1;
                if access.kind == AccessKind::Load {
                    self.load_cycles += cycles_of(timeline);
                }
            }
            OperationKind::Other => {}
        }
    }
}

/// Returns the cycles of a load from issue to data.
#[inline]
pub(crate) fn cycles_of(timeline: &OpTimeline) -> u64 {
    timeline.complete.saturating_sub(timeline.issue)
}

fn add_all<const N: usize>(sums: &mut [u64; N], others: &[u64; N]) {
    sums.iter_mut().zip(others).for_each(|(sum, n)| *sum += n);
}

/// Costs of all code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    costs: Vec<InstCost>,
    /// Costs that belong to no instruction.
    pub(crate) elsewhere: InstCost,
}

impl Profile {
    /// Creates the row of an instruction at its first execution.
    #[inline]
    pub(crate) fn ensure_row(&mut self, operation: &Operation) {
        let number = operation.timeline.inst as usize;
        if number >= self.costs.len() {
            self.costs.resize_with((number + 1).next_power_of_two(), InstCost::default);
        }
        let cost = &mut self.costs[number];
        if !cost.has_run {
            *cost = InstCost {
                pc: operation.timeline.pc,
                kind: CodeKind::of(operation.kind),
                has_run: true,
                ..InstCost::default()
            };
        }
    }

    /// Returns the row of an instruction that has run, or, for `None`, the row of costs that belong
    /// to no instruction.
    #[inline]
    pub(crate) fn of(&mut self, inst: Option<InstId>) -> &mut InstCost {
        match inst {
            Some(inst) => &mut self.costs[inst as usize],
            None => &mut self.elsewhere,
        }
    }

    /// Returns the rows of all instructions that have run.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (InstId, &InstCost)> {
        (0..).zip(&self.costs).filter(|(_, cost)| cost.has_run)
    }
}
