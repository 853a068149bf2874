//! Observation of one core: the instruction charged with each slot, and the events of each
//! instruction.
//!
//! * Events raised since the last operation belong to the operation that is reported now.
//! * A slot on a wrong path is charged to the mispredicted branch, or to the flushed load.
//! * A slot lost to the refill after a branch, or to a branch unknown to prediction, is charged to
//!   that branch.
//! * A slot lost because an entry is freed only at retirement (reorder buffer, load queue,
//!   registers) is charged to the instruction for which retirement waited.
//! * Any other slot is charged to the operation that came late or could not proceed.

use sim_core::operation::AccessKind;
use sim_core::{InstId, LINE_SHIFT, Lost, Operation, OperationKind, StallCause};

use super::Seen;
use super::calls::Position;
use super::column::Column;
use super::profile::{Profile, cycles_of};
use super::reuse::{MOST_LINES, MOST_PAGES, Reuse, Stack};
use super::slot_class::SlotClass;
use super::timeline::Recorder;

/// State of one observed core.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) is_counted: bool,
    pub(crate) timeline: Recorder,
    /// `INST_RETIRED` since the last operation, which nearly every operation has.
    instructions: u64,
    /// Other events raised since the last operation.
    columns: [u64; Column::COUNT],
    has_columns: bool,
    /// Slots lost since the last operation.
    lost: Vec<Lost>,
    /// Cycles before the first operation.
    cycles: u64,
    /// Last reported instruction of the correct path.
    last: Option<InstId>,
    /// Whether `last` is a mispredicted branch.
    after_branch: bool,
    /// Load that was flushed together with all younger operations.
    flushed: Option<InstId>,
    calls: Position,
    page_shift: u32,
    used: Reuse<Stack>,
}

impl Core {
    /// Creates the state before the first operation.
    pub(crate) fn new(page_shift: u32) -> Core {
        Core {
            is_counted: false,
            timeline: Recorder::default(),
            instructions: 0,
            columns: [0; Column::COUNT],
            has_columns: false,
            lost: Vec::new(),
            cycles: 0,
            last: None,
            after_branch: false,
            flushed: None,
            calls: Position::default(),
            page_shift,
            used: Reuse {
                data_lines: Stack::new(MOST_LINES),
                code_lines: Stack::new(MOST_LINES),
                data_pages: Stack::new(MOST_PAGES),
                code_pages: Stack::new(MOST_PAGES),
            },
        }
    }

    /// Adds cycles to the last instruction, which the clock waited for.
    #[inline]
    pub(crate) fn pass(&mut self, cycles: u64, profile: &mut Profile) {
        self.timeline.pass(cycles);
        self.calls.pass(cycles);
        match self.last {
            Some(last) => profile.of(Some(last)).cycles += cycles,
            None => self.cycles += cycles,
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, column: Column, n: u64) {
        if column == Column::Instructions {
            self.instructions += n;
        } else {
            self.columns[column as usize] += n;
            self.has_columns = true;
        }
    }

    #[inline]
    pub(crate) fn lost(&mut self, lost: Lost) {
        if self.is_counted {
            self.timeline.slots(SlotClass::of(&lost), lost.slots);
            self.lost.push(lost);
        }
    }

    /// Starts or stops counting. Pending slots and events are charged to no instruction, the cycles
    /// since the last call or return to the call that has not returned.
    pub(crate) fn set_counted(&mut self, is_counted: bool, seen: &mut Seen) {
        self.calls.charge(&mut seen.calls);
        let profile = &mut seen.profile;
        self.charge_lost(None, profile);
        self.give_columns(None, profile);
        profile.of(None).cycles += std::mem::take(&mut self.cycles);
        self.is_counted = is_counted;
    }

    /// Ends a squashed path: its pending events belong to no later operation.
    pub(crate) fn squashed(&mut self, profile: &mut Profile) {
        let culprit = self.flushed.or(self.last);
        self.charge_lost(culprit, profile);
        self.give_columns(None, profile);
        self.after_branch = false;
        self.flushed = None;
    }

    #[inline]
    pub(crate) fn operation(&mut self, operation: &Operation, seen: &mut Seen) {
        let timeline = &operation.timeline;
        seen.profile.ensure_row(operation);
        let own = timeline.inst;
        // The instruction charged with the slots of a wrong path.
        let culprit = match (timeline.retired, self.after_branch, self.last) {
            (true, ..) => own,
            (false, true, Some(branch)) => branch,
            (false, ..) => *self.flushed.get_or_insert(own),
        };
        if self.is_counted {
            let profile = &mut seen.profile;
            let class = match (timeline.retired, culprit == own || !self.after_branch) {
                (true, _) => SlotClass::Retired,
                (false, true) => SlotClass::SquashedOther,
                (false, false) => SlotClass::SquashedByBranch,
            };
            self.timeline.slots(class, timeline.mops.into());
            self.timeline.charge(Some(culprit), timeline.mops.into());
            profile.of(Some(culprit)).slots[class.index()] += u64::from(timeline.mops);
            self.blame(operation, culprit, profile);
            self.give_columns(Some(own), profile);
            let row = profile.of(Some(own));
            row.cycles += std::mem::take(&mut self.cycles);
            row.execute(operation);
        }
        if timeline.retired {
            self.retire(operation, seen);
        }
    }

    /// Charges the slots lost since the last operation.
    #[inline]
    fn blame(&mut self, operation: &Operation, culprit: InstId, profile: &mut Profile) {
        if self.lost.is_empty() {
            return;
        }
        for lost in self.lost.drain(..) {
            let before =
                self.last.filter(|_| operation.timeline.retired && is_of_branch(lost.cause));
            let owner = lost.owner.or(before).unwrap_or(culprit);
            self.timeline.charge(Some(owner), lost.slots);
            profile.of(Some(owner)).slots[SlotClass::of(&lost).index()] += lost.slots;
        }
    }

    fn charge_lost(&mut self, owner: Option<InstId>, profile: &mut Profile) {
        for lost in self.lost.drain(..) {
            let owner = lost.owner.or(owner);
            self.timeline.charge(owner, lost.slots);
            profile.of(owner).slots[SlotClass::of(&lost).index()] += lost.slots;
        }
    }

    #[inline]
    fn give_columns(&mut self, owner: Option<InstId>, profile: &mut Profile) {
        let row = profile.of(owner);
        row.columns[Column::Instructions as usize] += std::mem::take(&mut self.instructions);
        if std::mem::take(&mut self.has_columns) {
            for (sum, n) in row.columns.iter_mut().zip(std::mem::take(&mut self.columns)) {
                *sum += n;
            }
        }
    }

    /// Records a retired operation of the correct path.
    #[inline]
    fn retire(&mut self, operation: &Operation, seen: &mut Seen) {
        let timeline = &operation.timeline;
        self.last = Some(timeline.inst);
        self.after_branch = timeline.mispredicted;
        self.flushed = None;
        self.fetched(timeline.pc, seen);
        if let OperationKind::Branch(branch) = operation.kind {
            self.calls.branch(timeline.pc, branch, self.is_counted, &mut seen.calls);
        }
        let OperationKind::Access(access) = operation.kind else { return };
        let addr = match access.kind {
            // `DC ZVA` clears the line that contains its address.
            AccessKind::ZeroLine => timeline.addr >> LINE_SHIFT << LINE_SHIFT,
            _ => timeline.addr,
        };
        // Imported traces may lack the address of an access.
        if addr != 0 {
            self.accessed(addr, u64::from(access.bytes), seen);
        }
        if self.is_counted && access.kind == AccessKind::Load {
            seen.latencies.add(timeline.source, cycles_of(timeline), operation.wait);
        }
    }

    #[inline]
    fn fetched(&mut self, pc: u64, seen: &mut Seen) {
        let line = pc >> LINE_SHIFT;
        if self.used.code_lines.last() == Some(line) {
            return;
        }
        let curves = &mut seen.curves;
        self.used.code_lines.touch(line, self.is_counted.then_some(&mut curves.code_lines));
        let page = pc >> self.page_shift;
        if self.used.code_pages.last() != Some(page) {
            self.used.code_pages.touch(page, self.is_counted.then_some(&mut curves.code_pages));
        }
    }

    #[inline]
    fn accessed(&mut self, addr: u64, bytes: u64, seen: &mut Seen) {
        let last = addr.saturating_add(bytes.max(1) - 1);
        for line in addr >> LINE_SHIFT..=last >> LINE_SHIFT {
            let curve = self.is_counted.then_some(&mut seen.curves.data_lines);
            self.used.data_lines.touch(line, curve);
        }
        for page in addr >> self.page_shift..=last >> self.page_shift {
            let curve = self.is_counted.then_some(&mut seen.curves.data_pages);
            self.used.data_pages.touch(page, curve);
        }
    }
}

/// Returns whether a slot with this cause is charged to the branch before the late operation.
fn is_of_branch(cause: StallCause) -> bool {
    use StallCause::{
        FetchBtbBubble, FetchException, FetchMispredict, FetchNoTarget, FetchResteer,
        FetchSerialize,
    };
    matches!(
        cause,
        FetchMispredict
            | FetchNoTarget
            | FetchResteer
            | FetchBtbBubble
            | FetchSerialize
            | FetchException
    )
}
